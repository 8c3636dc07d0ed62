/* determinism_state.c - what a candidate may remember between calls must not show: inputs changed in place
 * under the same pointers, different calls in changing order. Each answer is compared with that of a process
 * that has seen no other call. */
#include "determinism.h"
#include "invariance_batch.h"

#include "philox.h"

#include <stdlib.h>
#include <string.h>

bool assay_determinism_fresh(assay_context *context, const assay_direct_call *call, assay_answer *answer,
                             assay_findings *findings, uint64_t part, assay_error *error) {
    assay_exec exec = {0};
    assay_worker_restart(context->lanes[0].candidate);
    return assay_determinism_go(context, call, NULL, &exec, findings, part, "call in a fresh process",
                                error) &&
           assay_answer_keep(&exec, answer, error);
}

/* ---- in place ---- */

#define STEPS 5
static const char *const step_text[STEPS] = {
    "first call", "all inputs changed in place", "only the last row changed in place",
    "only the middle row changed in place", "only the first row changed in place"};

/* Step 1 takes all values from `fresh`; later steps move one row, and one element of its upstream. */
static void change_inputs(assay_direct_call *call, size_t step, const float *fresh) {
    const size_t rows[STEPS] = {0, 0, call->rows - 1, call->rows / 2, 0};
    if (step == 1) {
        memcpy(call->x, fresh, call->rows * sizeof *fresh);
        return;
    }
    size_t row = rows[step];
    float x = call->x[row] < 0.5F ? call->x[row] + 0.25F : call->x[row] - 0.25F;
    if (call->c.dtype != ASSAY_DTYPE_F32) {
        uint16_t narrow;
        assay_dtype_store_f32(call->c.dtype, &narrow, 0, x);
        x = assay_dtype_load_f32(call->c.dtype, &narrow, 0);
    }
    call->x[row] = x;
    if (call->backward) {
        call->upstream[row * call->channels + step % call->channels] += 1.0F;
    }
}

/* One process, one set of addresses, changing inputs. */
static bool steps_in_place(assay_context *context, assay_direct_call *call, const float *fresh,
                           assay_answer got[STEPS], assay_findings *findings, assay_error *error) {
    assay_exec exec = {0};
    bool good = true;
    for (size_t step = 0; good && step < STEPS; step++) {
        assay_exec_options options = {.keep_layout = step > 0};
        if (step > 0) {
            change_inputs(call, step, fresh);
        }
        good = assay_determinism_go(context, call, &options, &exec, findings, step, step_text[step], error) &&
               assay_answer_keep(&exec, &got[step], error);
    }
    return good;
}

/* The same inputs, each in a process of its own. */
static bool steps_fresh(assay_context *context, assay_direct_call *call, const float *fresh,
                        const assay_answer got[STEPS], assay_findings *findings, assay_error *error) {
    bool good = true;
    for (size_t step = 0; good && step < STEPS; step++) {
        assay_answer want = {0};
        if (step > 0) {
            change_inputs(call, step, fresh);
        }
        good = assay_determinism_fresh(context, call, &want, findings, step, error);
        if (good) {
            assay_answer_compare(got[step].bytes, &want, findings, step, step_text[step]);
        }
        assay_answer_free(&want);
    }
    return good;
}

bool assay_determinism_in_place(assay_context *context, const assay_check *check, assay_findings *findings,
                                assay_error *error) {
    assay_direct_call call;
    assay_direct_call again = {0};
    assay_answer got[STEPS] = {{0}};
    size_t rows = (size_t)check->c.rows;
    float *fresh = assay_direct_memory(rows, sizeof *fresh, error);
    bool backward = check->p[0] != 0;
    bool good = fresh != NULL && assay_direct_call_make(context, &check->c, backward, rows, &call, error) &&
                assay_direct_call_make(context, &check->c, backward, rows, &again, error);
    if (good) {
        for (size_t i = 0; i < rows; i++) {
            fresh[i] = 1.0F - call.x[i];
        }
        good = steps_in_place(context, &call, fresh, got, findings, error) &&
               steps_fresh(context, &again, fresh, got, findings, error);
    }
    for (size_t i = 0; i < STEPS; i++) {
        assay_answer_free(&got[i]);
    }
    if (fresh != NULL) {
        assay_direct_call_free(&call);
    }
    assay_direct_call_free(&again);
    free(fresh);
    return good;
}

/* ---- mixed ---- */

#define CALLS  10
#define ROUNDS 6

typedef struct mix {
    assay_direct_call calls[CALLS];
    assay_answer want[CALLS];
    size_t count;
} mix;

/* Calls that differ in one thing at a time: rows, width, period, dtype, values, direction. */
static bool make_mix(const assay_context *context, const assay_check *check, mix *m, assay_error *error) {
    static const struct {
        uint64_t rows;
        int64_t width;
        uint64_t seed;
        assay_dtype dtype;
        bool other_period, backward;
    } table[CALLS] = {{64, 0, 1, ASSAY_DTYPE_F32, false, false},  {64, 96, 1, ASSAY_DTYPE_F32, false, false},
                      {64, 0, 1, ASSAY_DTYPE_F32, true, false},   {64, 0, 2, ASSAY_DTYPE_F32, false, false},
                      {65, 0, 1, ASSAY_DTYPE_F32, false, false},  {1, 0, 1, ASSAY_DTYPE_F32, false, false},
                      {64, 0, 1, ASSAY_DTYPE_BF16, false, false}, {64, 320, 1, ASSAY_DTYPE_F16, true, false},
                      {64, 0, 1, ASSAY_DTYPE_F32, false, true},   {64, 96, 2, ASSAY_DTYPE_F32, true, true}};
    bool backward = assay_worker_offers(context->lanes[0].candidate, context->op->name, true);
    const json_t *periods = assay_direct_matrix(context, "max_periods", NULL);
    (void)check;
    for (size_t i = 0; i < CALLS; i++) {
        assay_case c;
        if (table[i].backward && !backward) {
            continue;
        }
        assay_direct_case(context, table[i].width, table[i].dtype, table[i].rows, table[i].seed, &c);
        if (table[i].other_period) {
            (void)assay_direct_attr_set(&c.attrs, "max_period", (double)assay_direct_number(periods, 0, 100));
        }
        if (!assay_direct_call_make(context, &c, table[i].backward, (size_t)c.rows, &m->calls[m->count++],
                                    error)) {
            return false;
        }
    }
    return true;
}

bool assay_determinism_mixed(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error) {
    mix *m = assay_direct_memory(1, sizeof *m, error);
    uint32_t order[CALLS];
    assay_exec exec = {0};
    bool good = m != NULL && make_mix(context, check, m, error);
    for (size_t i = 0; good && i < m->count; i++) {
        good = assay_determinism_fresh(context, &m->calls[i], &m->want[i], findings, i, error);
    }
    assay_worker_restart(context->lanes[0].candidate);
    for (uint64_t round = 0; good && round < ROUNDS; round++) {
        assay_shuffle(assay_philox_key_of(context->op->name, "mixed", "order", check->c.seed + round),
                      m->count, order);
        for (size_t i = 0; good && i < m->count; i++) {
            const assay_direct_call *call = &m->calls[order[i]];
            good = assay_determinism_go(context, call, NULL, &exec, findings, round * CALLS + i,
                                        "call between others", error);
            if (good) {
                assay_answer_compare(exec.output.data, &m->want[order[i]], findings, round * CALLS + i,
                                     call->backward ? "backward call between others" : "call between others");
            }
        }
    }
    for (size_t i = 0; m != NULL && i < m->count; i++) {
        assay_direct_call_free(&m->calls[i]);
        assay_answer_free(&m->want[i]);
    }
    free(m);
    return good;
}
