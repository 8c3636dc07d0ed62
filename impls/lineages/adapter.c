/* adapter.c - a lineage as an implementation: forward only, in host memory, by the contract's rules. */
#include "lineage.h"

#include "sinusoid.h"

#include <stdlib.h>

static assay_status forward(const assay_call *call) {
    sinusoid_args args;
    const assay_status status = sinusoid_check_forward(call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    if (args.half == 1 && lineage_shifts(lineage_current)) {
        (void)assay_reject(call, "width 2 has no frequency in this lineage: half-1 is 0");
        return ASSAY_UNSUPPORTED;
    }
    double *f = malloc(args.half * sizeof *f);
    if (f == NULL) {
        (void)assay_reject(call, "no memory for the frequency table");
        return ASSAY_OUT_OF_MEMORY;
    }
    lineage_frequencies(lineage_current, args.max_period, args.half, f);
    for (size_t row = 0; row < args.rows; row++) {
        const float t = sinusoid_load(args.type, &args.timestep, row);
        lineage_row(lineage_current, t, f, args.half,
                    (float *)args.out.data + (ptrdiff_t)row * args.out.row_stride);
    }
    free(f);
    return ASSAY_OK;
}

const assay_adapter_info *lineage_adapter(void) {
    static const assay_operator operators[] = {{.name = SINUSOID_OPERATOR, .forward = forward}};
    static assay_adapter_info info;
    info = (assay_adapter_info){.abi_version = ASSAY_ABI_VERSION,
                                .struct_bytes = sizeof info,
                                .name = lineage_current->name,
                                .version = "1",
                                .description = lineage_current->text,
                                .memory = ASSAY_MEMORY_HOST,
                                .operators = operators,
                                .operator_count = 1};
    return &info;
}
