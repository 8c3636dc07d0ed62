/* direct_call.c - inputs of one forward or backward call, prepared in the judge. */
#include "direct.h"

#include <stdlib.h>

/* A saved output for a backward call: the golden, rounded once. */
static bool fill_saved(const assay_context *context, assay_direct_call *call, assay_error *error) {
    double *golden = assay_direct_memory(call->rows * call->channels, sizeof *golden, error);
    if (golden == NULL) {
        return false;
    }
    context->op->golden(&call->c.attrs, call->x, call->rows, golden);
    for (size_t i = 0; i < call->rows * call->channels; i++) {
        call->saved[i] = (float)golden[i];
    }
    free(golden);
    return true;
}

bool assay_direct_call_make(const assay_context *context, const assay_case *c, bool backward, size_t rows,
                            assay_direct_call *call, assay_error *error) {
    *call = (assay_direct_call){.c = *c, .backward = backward, .rows = rows};
    call->c.rows = call->c.values.count = rows;
    call->channels = assay_direct_channels(context, &call->c);
    call->x = assay_direct_memory(rows, sizeof *call->x, error);
    if (call->x == NULL) {
        return false;
    }
    assay_case_inputs(&call->c, 0, rows, call->x);
    if (!call->backward) {
        return true;
    }
    call->saved = assay_direct_memory(rows * call->channels, sizeof *call->saved, error);
    call->upstream = assay_direct_memory(rows * call->channels, sizeof *call->upstream, error);
    if (call->saved == NULL || call->upstream == NULL) {
        return false;
    }
    assay_case_upstream(context, &call->c, call->channels, 0, rows, call->upstream);
    return fill_saved(context, call, error);
}

void assay_direct_call_free(assay_direct_call *call) {
    free(call->x);
    free(call->saved);
    free(call->upstream);
    call->x = call->saved = call->upstream = NULL;
}

bool assay_direct_call_exec(const assay_context *context, assay_worker *worker, const assay_direct_call *call,
                            const assay_exec_options *options, assay_exec *exec, assay_error *error) {
    return call->backward
               ? assay_exec_backward(context, worker, &call->c, call->x, call->saved, call->upstream,
                                     call->rows, options, exec, error)
               : assay_exec_forward(context, worker, &call->c, call->x, call->rows, options, exec, error);
}
