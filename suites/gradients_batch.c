/* gradients_batch.c - one backward call: rows, upstream, saved output, gradient. Judges nothing. */
#include "gradients.h"

#include <stdlib.h>
#include <string.h>

void assay_gradient_open(const assay_context *context, const assay_case *c, size_t rows,
                         assay_gradient_batch *batch) {
    size_t channels = context->op->channels(&c->attrs);
    *batch =
        (assay_gradient_batch){.rows = rows, .channels = channels, .element = assay_dtype_bytes(c->dtype)};
    batch->x = assay_numeric_alloc(rows, sizeof *batch->x);
    batch->upstream = assay_numeric_alloc(rows * channels, sizeof *batch->upstream);
    batch->saved = assay_numeric_alloc(rows * channels, sizeof *batch->saved);
    batch->grad = assay_numeric_alloc(rows, batch->element);
}

void assay_gradient_close(assay_gradient_batch *batch) {
    free(batch->x);
    free(batch->upstream);
    free(batch->saved);
    free(batch->grad);
}

void assay_gradient_load(const assay_context *context, const assay_case *c, uint64_t first,
                         assay_gradient_batch *batch) {
    assay_case_inputs(c, first, batch->rows, batch->x);
    assay_case_upstream(context, c, batch->channels, first, batch->rows, batch->upstream);
}

void assay_gradient_copy_row(const assay_gradient_batch *source, size_t from, assay_gradient_batch *target,
                             size_t to) {
    size_t n = source->channels;
    target->x[to] = source->x[from];
    memcpy(target->upstream + to * n, source->upstream + from * n, n * sizeof *source->upstream);
    memcpy(target->saved + to * n, source->saved + from * n, n * sizeof *source->saved);
}

/* True when the call is answered ok and touched nothing but its output. */
static bool call_clean(const assay_exec *exec, bool ran, const assay_error *error, const char *what,
                       assay_result *result) {
    if (!ran) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error->text);
        return false;
    }
    if (!assay_result_expect_ok(result, &exec->reply, what)) {
        return false;
    }
    if (!assay_result_expect_clean(result, exec, what)) {
        if (exec->zone_damage > 0) {
            assay_result_set(
                result, ASSAY_OUTCOME_FAIL,
                "%s: %zu bytes around the output were changed (is the gradient of the timestep's "
                "dtype?)",
                what, exec->zone_damage);
        }
        return false;
    }
    return true;
}

bool assay_gradient_forward(const assay_context *context, assay_worker *worker, const assay_case *c,
                            assay_gradient_batch *batch, assay_result *result) {
    assay_exec exec = {0};
    assay_error error = {.code = ASSAY_CODE_OK};
    bool ran = assay_exec_forward(context, worker, c, batch->x, batch->rows, NULL, &exec, &error);
    if (!call_clean(&exec, ran, &error, "forward", result)) {
        return false;
    }
    memcpy(batch->saved, exec.output.data, batch->rows * batch->channels * sizeof *batch->saved);
    return true;
}

bool assay_gradient_backward(const assay_context *context, assay_worker *worker, const assay_case *c,
                             assay_gradient_batch *batch, assay_result *result) {
    assay_exec exec = {0};
    assay_error error = {.code = ASSAY_CODE_OK};
    bool ran = assay_exec_backward(context, worker, c, batch->x, batch->saved, batch->upstream, batch->rows,
                                   NULL, &exec, &error);
    if (!call_clean(&exec, ran, &error, "backward", result)) {
        return false;
    }
    memcpy(batch->grad, exec.output.data, batch->rows * batch->element);
    return true;
}

uint32_t assay_gradient_bits(const assay_gradient_batch *batch, size_t row) {
    if (batch->element == sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, batch->grad + row * sizeof word, sizeof word);
        return word;
    }
    uint16_t half;
    memcpy(&half, batch->grad + row * sizeof half, sizeof half);
    return half;
}
