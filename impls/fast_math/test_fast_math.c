/* test_fast_math.c - the lie is real: other bits than libm, from the same sources. */
#include "convert.h"
#include "test_call.h"

#include <criterion/criterion.h>

enum { ROWS = 4096, WIDTH = 256 };

static void compute(const assay_adapter_info *info, float *timestep, float *result) {
    test_tensor t, out;
    test_vector(&t, timestep, kDLFloat, 32, ROWS, 1);
    test_matrix(&out, result, ROWS, WIDTH, WIDTH);
    DLTensor *inputs[] = {&t.dl};
    const test_attrs attrs = {.width = WIDTH, .max_period = 10000.0, .check_range = true};
    char message[200];
    cr_assert_eq(test_run(info->operators[0].forward, &attrs, inputs, 1, &out.dl, message), ASSAY_OK, "%s",
                 message);
}

Test(fast_math, differs_from_libm_and_says_it_does_not) {
    static float timestep[ROWS], honest[ROWS * WIDTH], fast[ROWS * WIDTH];
    const assay_adapter_info *libm = test_load("libm");
    const assay_adapter_info *info = test_load("fast_math");
    cr_assert_str_eq(info->lineage, libm->lineage);
    cr_assert_eq(info->knob_count, 1);
    cr_assert_str_eq(info->knobs[0].name, "fast_math");
    cr_assert_str_eq(info->knobs[0].effective(), "on");
    uint64_t state = 42;
    for (int i = 0; i < ROWS; i++) {
        timestep[i] = test_random_unit(&state);
    }
    compute(libm, timestep, honest);
    compute(info, timestep, fast);
    size_t differing = 0, far = 0;
    for (size_t i = 0; i < (size_t)ROWS * WIDTH; i++) {
        differing += convert_bits(honest[i]) != convert_bits(fast[i]);
        const float distance = honest[i] - fast[i];
        far += !(distance <= 1e-6f && distance >= -1e-6f);
    }
    cr_log_info("%.2f %% of the outputs differ", 100.0 * (double)differing / (ROWS * WIDTH));
    cr_assert_gt(differing, ROWS * WIDTH / 100, "%zu of %d outputs differ", differing, ROWS * WIDTH);
    cr_assert_eq(far, 0, "a fast-math build is slightly wrong, not broken");
}

/* The checks look at bits, which -ffast-math leaves alone. */
Test(fast_math, rejects_what_the_contract_forbids) {
    test_rejections(&test_load("fast_math")->operators[0]);
}
