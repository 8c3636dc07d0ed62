/* adapter.c - reference_c: the FP32 replay of the CUDA provider on a CPU.
 *
 * expf, sinf, cosf and every product are CUDA's, bit for bit (assay/cuda_math.h), so its outputs are those of
 * a GPU.
 */
#include "rows.h"

#define REFERENCE_LINEAGE "h3-cuda"

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &reference_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &reference_engine);
}

static const char *effective_path(void) {
    cpu_path path;
    (void)sinusoid_engine_rows(&reference_engine, &path);
    return cpu_path_text(path);
}

static const char *effective_exp(void) {
    return reference_engine.exp->name;
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
    .name = "reference_c",
    .version = "1",
    .description = "FP32 replay of the CUDA provider in C",
    .lineage = REFERENCE_LINEAGE,
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
