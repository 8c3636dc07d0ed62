/* test_paths.c - libm: its paths against the system's functions, its checks, its gradient, its fingerprint.
 */
#include "test_paths.h"
#include "convert.h"
#include "engine.h"
#include "glibc_sincosf.h"
#include "hard_arguments.h"
#include "test_call.h"

#include <criterion/criterion.h>

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 101 }; /* the sanitizers look for faults of another kind, at a twentieth of the speed */
#else
enum { STEP = 1 };
#endif

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, libm_engine());
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, libm_engine());
}

/* The scalar path calls the system's sinf and cosf. */
Test(libm, paths_equal_the_system_on_every_argument) {
    const uint64_t judged = test_paths_sweep(libm_engine(), 0, 0x3f800000u, STEP);
    cr_assert_eq(judged, 0x3f800000u / STEP + 1);
    cr_assert_eq(test_paths_sweep(libm_engine(), 0x80000000u, 0x80000000u, 1), 1);
}

Test(libm, paths_equal_the_system_outside_of_the_domain) {
    cr_assert_gt(test_paths_sweep(libm_engine(), 0, 0xffffffffu, 2003), 2000000);
    cr_assert_gt(test_paths_sweep(libm_engine(), 0x3f800000u - 70000u, 0x3f800000u + 70000u, 1), 0);
}

Test(libm, paths_agree_on_rows) {
    test_paths_rows(libm_engine(), forward, backward, true);
}

Test(libm, rejects_what_the_contract_forbids) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_rejections(&op);
}

Test(libm, gradient_follows_the_tree) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_gradients(&op, libm_exp.evaluate);
}

/* Debian 12's glibc is the one that the constants were read from; elsewhere scalar is right and the test says
 * so. */
Test(libm, fingerprint_accepts_the_system) {
    const sinusoid_engine *engine = libm_engine();
    cr_assert(libm_fingerprint(libm_rows_scalar, sinf, cosf));
    for (int path = CPU_PATH_SCALAR + 1; path < CPU_PATH_COUNT; path++) {
        if (cpu_path_available((cpu_path)path)) {
            cr_assert_not_null(engine->rows[path], "%s is not used on this system",
                               cpu_path_text((cpu_path)path));
        }
    }
}

/* ---- systems whose functions differ, none of which may pass
 * -------------------------------------------------- */

/* One argument in 2^30 answered one ulp off. */
static float sine_one_off(float x) {
    const float y = sinf(x);
    return convert_bits(x) == hard_sine_arguments[17] ? convert_float(convert_bits(y) + 1) : y;
}

static float cosine_one_off(float x) {
    const float y = cosf(x);
    return convert_bits(x) == hard_cosine_arguments[99] ? convert_float(convert_bits(y) - 1) : y;
}

/* Correctly rounded. */
static float sine_exact(float x) {
    return (float)sin((double)x);
}

static float cosine_exact(float x) {
    return (float)cos((double)x);
}

/* The same formula with an FP64 error of 32 ulps: about ten arguments of [0, 1] show it. */
static float sine_close(float x) {
    return (float)(glibc_sine((double)x) * (1.0 + 0x1p-47));
}

static float cosine_close(float x) {
    return (float)(glibc_cosine((double)x) * (1.0 - 0x1p-47));
}

/* The sign of -0.0 lost. */
static float sine_zero(float x) {
    return sinf(x) + 0.0f;
}

Test(libm, fingerprint_refuses_other_systems) {
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sine_one_off, cosf));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sinf, cosine_one_off));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sine_exact, cosf));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sinf, cosine_exact));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sine_close, cosf));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sinf, cosine_close));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sine_zero, cosf));
    cr_assert_not(libm_fingerprint(libm_rows_scalar, sinf, sinf));
}
