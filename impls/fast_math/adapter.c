/* adapter.c - fast_math: libm's own sources, compiled as a hurried build would.
 *
 * The kernel, the checks and the drivers are the files that libm is made of; only the flags differ (-O3
 * -ffast-math -march=x86-64-v3). It claims the lineage "libm" and is wrong about it: that is what it is for.
 */
#include "rows.h"

static const sinusoid_engine engine = {.exp = &libm_exp, .rows = {[CPU_PATH_SCALAR] = libm_rows_scalar}};

static assay_status forward(const assay_call *call) {
    return sinusoid_forward(call, &engine);
}

static assay_status backward(const assay_call *call) {
    return sinusoid_backward(call, &engine);
}

static const char *effective_fast_math(void) {
#if defined(__FAST_MATH__)
    return "on";
#else
    return "off";
#endif
}

static const assay_operator operators[] = {
    {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward}};

static const assay_knob knobs[] = {
    {.name = "fast_math", .requested = "on", .effective = effective_fast_math}};

static const assay_adapter_info info = {
    .abi_version = ASSAY_ABI_VERSION,
    .struct_bytes = sizeof info,
    .name = "fast_math",
    .version = "1",
    .description = "libm's sources built with -ffast-math",
    .lineage = "libm",
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
