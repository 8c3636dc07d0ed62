/* test_paths.c - sleef: its paths, its checks, its gradient. */
#include "test_paths.h"
#include "rows.h"
#include "scalar.h"
#include "test_call.h"

#include <criterion/criterion.h>

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &sleef_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &sleef_engine);
}

/* libsleef is tested by its authors; every 13th argument checks that we use one family of functions
 * throughout. */
Test(sleef, paths_agree_on_arguments) {
    cr_assert_gt(test_paths_sweep(&sleef_engine, 0, 0x3f800000u, 13), 80000000);
    cr_assert_gt(test_paths_sweep(&sleef_engine, 0x80000000u, 0xff800000u, 20011), 100000);
}

Test(sleef, paths_agree_on_rows) {
    test_paths_rows(&sleef_engine, forward, backward, false);
}

Test(sleef, rejects_what_the_contract_forbids) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_rejections(&op);
}

Test(sleef, gradient_follows_the_tree) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_gradients(&op, sleef_scalar()->exponential);
}
