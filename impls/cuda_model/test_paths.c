/* test_paths.c - cuda_model: its paths, its checks, its gradient. */
#include "test_paths.h"
#include "rows.h"
#include "test_call.h"

#include <criterion/criterion.h>

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &model_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &model_engine);
}

Test(cuda_model, paths_agree) {
    cr_assert_gt(test_paths_sweep(&model_engine, 0, 0x3f800000u, 1009), 1000000);
    cr_assert_gt(test_paths_sweep(&model_engine, 0, 0xffffffffu, 20011), 200000);
}

Test(cuda_model, paths_agree_on_rows) {
    test_paths_rows(&model_engine, forward, backward, true);
}

Test(cuda_model, rejects_what_the_contract_forbids) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_rejections(&op);
}

Test(cuda_model, gradient_follows_the_tree) {
    const assay_operator op = {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward};
    test_gradients(&op, frequency_exp_cuda.evaluate);
}
