/* invariance_batch.c - a lane's whole batch and the comparison of sub-batches with it. Each lane computes its
 * own whole batch in its own worker, so nothing is compared across processes: that is the determinism suite's
 * business. */
#include "invariance_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool assay_whole_open(assay_whole *whole, const assay_context *context, const assay_check *check,
                      size_t part_rows, assay_error *error) {
    const assay_case *c = &check->c;
    *whole = (assay_whole){
        .context = context, .check = check, .c = c, .rows = (size_t)c->rows, .part_rows = part_rows};
    whole->channels = assay_direct_channels(context, c);
    whole->x = assay_direct_memory(whole->rows, sizeof *whole->x, error);
    whole->lanes = assay_direct_memory(context->lane_count, sizeof *whole->lanes, error);
    if (whole->x == NULL || whole->lanes == NULL) {
        return false;
    }
    assay_case_inputs(c, 0, whole->rows, whole->x);
    return true;
}

void assay_whole_close(assay_whole *whole) {
    for (unsigned i = 0; whole->lanes != NULL && i < whole->context->lane_count; i++) {
        free(whole->lanes[i].got_row);
        free(whole->lanes[i].want);
    }
    free(whole->lanes);
    free(whole->x);
    *whole = (assay_whole){0};
}

/* Sets the lane's trouble when the reply is not ok. */
static bool answered_ok(assay_whole_lane *state, const assay_call_reply *reply, const char *what) {
    if (!assay_result_expect_ok(&state->trouble, reply, what)) {
        state->troubled = true;
        return false;
    }
    return true;
}

/* The same for a sub-batch. The whole batch was answered by this very worker, so a candidate that is killed
 * now dies of how the rows are put together or where they lie: the promise is broken, not merely unverified.
 */
static bool part_answered_ok(assay_whole_lane *state, const assay_call_reply *reply, uint64_t first,
                             uint64_t n) {
    char what[96];
    (void)snprintf(what, sizeof what, "a batch of %llu (from %llu)", (unsigned long long)n,
                   (unsigned long long)first);
    if (answered_ok(state, reply, what)) {
        return true;
    }
    if (reply->result == ASSAY_CALL_LOST && strstr(reply->reason, "killed by SIG") != NULL) {
        state->trouble.outcome = ASSAY_OUTCOME_FAIL;
    }
    return false;
}

/* The candidate may write its output and nothing else: around the view, at most NEAR bytes on either side are
 * looked at, which hold poison B like everything of the tensor that the view leaves out. */
#define NEAR ((size_t)4096)

static bool wrote_beside(assay_whole_lane *state, const assay_tensor *view, uint64_t n) {
    assay_tensor near = *view;
    size_t start = view->data_offset & ~(size_t)3;
    size_t end = view->data_offset + view->span_bytes + NEAR;
    size_t last = view->segment_offset + view->segment_bytes;
    near.segment_offset = start - view->segment_offset > NEAR ? start - NEAR : view->segment_offset;
    near.segment_bytes = (end < last ? end : last) - near.segment_offset;
    size_t damage = assay_tensor_zone_damage(&near, ASSAY_POISON_B, NULL);
    if (damage > 0) {
        state->troubled = true;
        assay_result_set(&state->trouble, ASSAY_OUTCOME_FAIL,
                         "a batch of %llu: %zu bytes around the output were changed", (unsigned long long)n,
                         damage);
    }
    return damage > 0;
}

/* True when row i of the input no longer holds x[i]. */
static bool edited_input(assay_whole_lane *state, const assay_tensor *input, const float *x, uint64_t n) {
    size_t step = (size_t)input->strides[0];
    for (uint64_t i = 0; i < n; i++) {
        float now = assay_dtype_load_f32(input->dtype, input->data, step * i);
        if (assay_f32_bits(now) != assay_f32_bits(x[i])) {
            state->troubled = true;
            assay_result_set(&state->trouble, ASSAY_OUTCOME_FAIL, "a batch of %llu: its input was changed",
                             (unsigned long long)n);
            return true;
        }
    }
    return false;
}

static bool lay_out(const assay_whole *whole, assay_whole_lane *state, assay_arena *arena,
                    assay_error *error) {
    assay_dtype dtype = whole->c->dtype;
    assay_arena_reset(arena, false);
    state->got_row = assay_direct_memory(whole->channels, sizeof *state->got_row, error);
    state->want = assay_direct_memory(whole->rows * whole->channels, sizeof *state->want, error);
    return state->got_row != NULL && state->want != NULL &&
           assay_direct_alloc(arena, dtype, whole->rows, 0, 1, 0, &state->input, error) &&
           assay_direct_alloc(arena, ASSAY_DTYPE_F32, whole->rows, whole->channels, 0, 0, &state->output,
                              error) &&
           assay_direct_alloc(arena, dtype, whole->part_rows, 0, 1, 0, &state->part_input, error) &&
           assay_direct_alloc(arena, ASSAY_DTYPE_F32, whole->part_rows, whole->channels, 0, 0,
                              &state->part_output, error);
}

assay_whole_lane *assay_whole_prepare(assay_whole *whole, assay_lane *lane, assay_error *error) {
    assay_whole_lane *state = &whole->lanes[lane->index];
    assay_call_reply reply;
    if (state->ready) {
        return state;
    }
    if (state->troubled || !lay_out(whole, state, assay_worker_arena(lane->candidate), error)) {
        return NULL;
    }
    assay_direct_put(&state->input, whole->x);
    assay_tensor_poison(&state->output, ASSAY_POISON_B); /* the zones */
    assay_direct_fill(&state->output, ASSAY_POISON_A);
    assay_tensor_poison(&state->part_output, ASSAY_POISON_B);
    if (!assay_direct_forward(whole->context, lane->candidate, &whole->c->attrs, &state->input,
                              &state->output, &reply, error) ||
        !answered_ok(state, &reply, "whole batch") || wrote_beside(state, &state->output, whole->rows) ||
        edited_input(state, &state->input, whole->x, whole->rows)) {
        return NULL;
    }
    memcpy(state->want, state->output.data, whole->rows * whole->channels * sizeof *state->want);
    state->ready = true;
    return state;
}

/* Counts differing words of one row and keeps the first failure of the lowest part. */
static void compare_row(const assay_whole *whole, assay_whole_lane *state, uint64_t part, uint64_t row,
                        uint64_t batch, uint64_t position, const uint32_t *got) {
    size_t channels = whole->channels;
    const uint32_t *want = state->want + row * channels;
    state->elements += channels;
    if (memcmp(got, want, channels * sizeof *got) == 0) {
        return;
    }
    state->bad += assay_direct_count_differences(got, want, channels);
    if (state->first.any && state->first.part <= part) {
        return;
    }
    size_t channel = assay_direct_first_difference(got, want, channels);
    state->first = (assay_whole_failure){.any = true,
                                         .part = part,
                                         .row = row,
                                         .batch = batch,
                                         .position = position,
                                         .channel = channel,
                                         .got = got[channel],
                                         .want = want[channel]};
    memcpy(state->got_row, got, channels * sizeof *got);
}

bool assay_whole_window(assay_whole *whole, assay_lane *lane, uint64_t part, uint64_t first, uint64_t n,
                        assay_error *error) {
    assay_whole_lane *state = assay_whole_prepare(whole, lane, error);
    assay_tensor input;
    assay_tensor output;
    assay_call_reply reply;
    if (state == NULL) {
        return false;
    }
    assay_direct_rows(&state->input, (int64_t)first, (int64_t)n, &input);
    assay_direct_rows(&state->part_output, 0, (int64_t)n, &output);
    if (!assay_direct_forward(whole->context, lane->candidate, &whole->c->attrs, &input, &output, &reply,
                              error) ||
        !part_answered_ok(state, &reply, first, n) || wrote_beside(state, &output, n) ||
        edited_input(state, &input, whole->x + first, n)) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        compare_row(whole, state, part, first + i, n, i, (const uint32_t *)output.data + i * whole->channels);
    }
    assay_direct_fill(&output, ASSAY_POISON_B); /* for the next batch */
    return true;
}

bool assay_whole_batch(assay_whole *whole, assay_lane *lane, uint64_t part, const float *x,
                       const uint32_t *map, uint64_t n, const assay_tensor *input, const assay_tensor *output,
                       assay_error *error) {
    assay_whole_lane *state = assay_whole_prepare(whole, lane, error);
    assay_tensor part_input;
    assay_tensor part_output;
    assay_call_reply reply;
    if (state == NULL) {
        return false;
    }
    assay_direct_rows(input != NULL ? input : &state->part_input, 0, (int64_t)n, &part_input);
    assay_direct_rows(output != NULL ? output : &state->part_output, 0, (int64_t)n, &part_output);
    assay_direct_put(&part_input, x);
    if (output != NULL) {
        assay_tensor_poison(output, ASSAY_POISON_B);
    }
    if (!assay_direct_forward(whole->context, lane->candidate, &whole->c->attrs, &part_input, &part_output,
                              &reply, error) ||
        !part_answered_ok(state, &reply, 0, n) || wrote_beside(state, &part_output, n) ||
        edited_input(state, &part_input, x, n)) {
        return false;
    }
    for (uint64_t j = 0; j < n; j++) {
        if (map[j] != UINT32_MAX) {
            compare_row(whole, state, part, map[j], n, j,
                        (const uint32_t *)part_output.data + j * whole->channels);
        }
    }
    assay_direct_fill(&part_output, ASSAY_POISON_B); /* for the next batch */
    return true;
}

static void fail_with(const assay_whole *whole, assay_context *context, const assay_check *check,
                      const assay_whole_lane *state, assay_result *result) {
    const assay_whole_failure *f = &state->first;
    const uint32_t *want = state->want + f->row * whole->channels;
    assay_result_set(result, ASSAY_OUTCOME_FAIL,
                     "row %llu (input %08x) in a batch of %llu at position %llu, channel %llu: %08x, in the "
                     "whole batch of %zu: "
                     "%08x; %llu of %llu elements differ",
                     (unsigned long long)f->row, assay_f32_bits(whole->x[f->row]),
                     (unsigned long long)f->batch, (unsigned long long)f->position,
                     (unsigned long long)f->channel, f->got, whole->rows, f->want,
                     (unsigned long long)result->bad, (unsigned long long)result->elements);
    assay_direct_witness(context, check, result->reason, whole->x[f->row], state->got_row, want,
                         whole->channels * sizeof *want);
}

void assay_whole_judge(assay_whole *whole, assay_context *context, const assay_check *check,
                       assay_result *result) {
    const assay_whole_lane *worst = NULL;
    const assay_whole_lane *troubled = NULL;
    for (unsigned i = 0; i < context->lane_count; i++) {
        const assay_whole_lane *state = &whole->lanes[i];
        result->elements += state->elements;
        result->bad += state->bad;
        if (state->first.any && (worst == NULL || state->first.part < worst->first.part)) {
            worst = state;
        }
        bool worse = troubled == NULL || (state->trouble.outcome == ASSAY_OUTCOME_FAIL &&
                                          troubled->trouble.outcome != ASSAY_OUTCOME_FAIL);
        troubled = state->troubled && worse ? state : troubled;
    }
    if (worst != NULL) {
        fail_with(whole, context, check, worst, result);
    } else if (troubled != NULL) {
        assay_result_set(result, troubled->trouble.outcome, "%s", troubled->trouble.reason);
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
    }
    assay_record_metric(context, "differing", (double)result->bad, "");
}
