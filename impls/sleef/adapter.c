/* adapter.c - sleef: the contract's order of operations with libsleef's expf, cosf and sinf (1.0 ulp). */
#include "rows.h"

#define SLEEF_LINEAGE "sleef"

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &sleef_engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &sleef_engine);
}

static const char *effective_path(void) {
    cpu_path path;
    (void)sinusoid_engine_rows(&sleef_engine, &path);
    return cpu_path_text(path);
}

static const assay_operator operators[] = {
    {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward}};

static const assay_knob knobs[] = {
    {.name = "path", .requested = "auto", .effective = effective_path},
};

static const assay_adapter_info info = {
    .abi_version = ASSAY_ABI_VERSION,
    .struct_bytes = sizeof info,
    .name = "sleef",
    .version = "1",
    .description = "FP32 order of the contract with libsleef, u10 functions",
    .lineage = SLEEF_LINEAGE,
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
