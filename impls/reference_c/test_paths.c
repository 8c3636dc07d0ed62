/* test_paths.c - reference_c: its paths, its checks, its gradient. */
#include "test_paths.h"
#include "rows.h"
#include "test_call.h"

#include <criterion/criterion.h>

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 101 }; /* the sanitizers look for faults of another kind, at a twentieth of the speed */
#else
enum { STEP = 1 };
#endif

#define LARGE 0x47ce4780u /* 105615, where the reduction changes */

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &reference_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &reference_engine);
}

Test(reference_c, paths_agree_on_every_argument) {
    const uint64_t judged = test_paths_sweep(&reference_engine, 0, 0x3f800000u, STEP);
    cr_assert_eq(judged, 0x3f800000u / STEP + 1);
    cr_assert_eq(test_paths_sweep(&reference_engine, 0x80000000u, 0x80000000u, 1), 1);
}

Test(reference_c, paths_agree_outside_of_the_domain) {
    cr_assert_gt(test_paths_sweep(&reference_engine, 0, 0xffffffffu, 2003), 2000000);
    cr_assert_gt(test_paths_sweep(&reference_engine, LARGE - 100000u, LARGE + 100000u, 1), 0);
}

Test(reference_c, paths_agree_on_rows) {
    test_paths_rows(&reference_engine, forward, backward, true);
}

Test(reference_c, rejects_what_the_contract_forbids) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_rejections(&op);
}

Test(reference_c, gradient_follows_the_tree) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_gradients(&op, frequency_exp_cuda.evaluate);
}
