/* adapter.c - cuda_model: the operator out of assay/cuda_math.h alone, one argument after the other.
 *
 * reference_c computes the same with vectors written by hand and is many times faster; this one is for
 * reading and for comparing with a GPU.
 */
#include "rows.h"

#define MODEL_LINEAGE "h3-cuda"

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &model_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &model_engine);
}

static const char *effective_path(void) {
    cpu_path path;
    (void)sinusoid_engine_rows(&model_engine, &path);
    return cpu_path_text(path);
}

static const char *effective_exp(void) {
    return model_engine.exp->name;
}

static const assay_operator operators[] = {
    {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward}};

static const assay_knob knobs[] = {
    {.name = "path", .requested = "auto", .effective = effective_path},
    {.name = "exp", .requested = "cuda", .effective = effective_exp},
};

static const assay_adapter_info info = {
    .abi_version = ASSAY_ABI_VERSION,
    .struct_bytes = sizeof info,
    .name = "cuda_model",
    .version = "1",
    .description = "bit-exact CPU model of the CUDA functions",
    .lineage = MODEL_LINEAGE,
    .memory = ASSAY_MEMORY_HOST,
    .operators = operators,
    .operator_count = sizeof operators / sizeof *operators,
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
};

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void);

const assay_adapter_info *assay_adapter(void) {
    return &info;
}
