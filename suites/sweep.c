/* sweep.c - drives the lanes over tiles: the candidate writes a chunk, the judge digests, compares and
 * measures it. */
#include "sweep.h"

#include "philox.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN_ROWS                                                                                          \
    32u /* rows per FP64 block: 64 KiB of doubles at width 256 stay in the second-level cache */

assay_code assay_domain_read(const assay_contract *contract, assay_domain *domain, assay_error *error) {
    json_t *intervals = json_object_iter_value(
        json_object_iter(json_object_get(contract->root, "domain"))); /* the row input's */
    size_t index = 0;
    json_t *pair = NULL;
    memset(domain, 0, sizeof *domain);
    json_array_foreach(intervals, index, pair) {
        const char *lo = json_string_value(json_array_get(pair, 0));
        const char *hi = json_string_value(json_array_get(pair, 1));
        if (lo == NULL || hi == NULL || index >= sizeof domain->interval / sizeof domain->interval[0]) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "contract %s: domain interval %zu is malformed",
                              contract->operator_name, index);
        }
        uint32_t first = (uint32_t)strtoul(lo, NULL, 16);
        uint32_t last = (uint32_t)strtoul(hi, NULL, 16);
        uint64_t rows = (uint64_t)last - first + 1;
        uint64_t tiles = (rows + ASSAY_TILE_ROWS - 1) / ASSAY_TILE_ROWS;
        domain->interval[index].lo = first;
        domain->interval[index].hi = last;
        domain->interval[index].first_tile = domain->tiles;
        domain->interval[index].tiles = tiles;
        domain->tiles += tiles;
        domain->rows += rows;
        domain->count = index + 1;
    }
    if (domain->count == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "operator %s: its contract has no domain to sweep",
                          contract->operator_name);
    }
    return ASSAY_CODE_OK;
}

assay_tile_place assay_domain_tile(const assay_domain *domain, uint64_t tile) {
    size_t i = 0;
    while (i + 1 < domain->count && tile >= domain->interval[i + 1].first_tile) {
        i++;
    }
    uint64_t offset = (tile - domain->interval[i].first_tile) * ASSAY_TILE_ROWS;
    uint64_t left = (uint64_t)domain->interval[i].hi - domain->interval[i].lo + 1 - offset;
    return (assay_tile_place){.first_bits = domain->interval[i].lo + (uint32_t)offset,
                              .rows = left < ASSAY_TILE_ROWS ? left : ASSAY_TILE_ROWS};
}

/* Index of an element inside a segment: (tile in segment * ASSAY_TILE_ROWS + row in tile) * channels +
 * channel. */
uint32_t assay_sweep_input_bits(const assay_sweep *sweep, const assay_segment *segment, uint64_t index) {
    uint64_t row = index / sweep->channels;
    assay_tile_place place = assay_domain_tile(sweep->domain, segment->first_tile + row / ASSAY_TILE_ROWS);
    return place.first_bits + (uint32_t)(row % ASSAY_TILE_ROWS);
}

/* State of one lane during a segment. */
typedef struct lane_state {
    assay_segment part; /* this lane's share, merged afterwards */
    assay_ulp_histogram parity_histogram, accuracy_histogram;
    assay_tensor input[2], output[2]; /* candidate, baseline */
    double *golden;
    bool placed;
} lane_state;

typedef struct sweep_job {
    const assay_sweep *sweep;
    const assay_segment *segment;
    lane_state *lanes;
    uint64_t chunks_per_tile;
    pthread_mutex_t mutex;
} sweep_job;

static uint32_t settle(void *context, uint64_t index, double golden) {
    const sweep_job *job = context;
    uint32_t bits = assay_sweep_input_bits(job->sweep, job->segment, index);
    (void)golden;
    return job->sweep->runner->context.op->exact(&job->sweep->attrs, assay_f32_from_bits(bits),
                                                 (size_t)(index % job->sweep->channels));
}

static bool place(const assay_sweep *sweep, assay_worker *worker, assay_tensor *input, assay_tensor *output,
                  assay_error *error) {
    assay_arena *arena = assay_worker_arena(worker);
    assay_arena_reset(arena, false);
    assay_tensor_spec x = {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {ASSAY_SWEEP_CHUNK}};
    assay_tensor_spec y = {
        .dtype = ASSAY_DTYPE_F32, .ndim = 2, .shape = {ASSAY_SWEEP_CHUNK, (int64_t)sweep->channels}};
    if (assay_tensor_alloc(arena, &x, input, error) != ASSAY_CODE_OK ||
        assay_tensor_alloc(arena, &y, output, error) != ASSAY_CODE_OK) {
        return false;
    }
    assay_tensor_poison(input, ASSAY_POISON_A);
    assay_tensor_poison(output, ASSAY_POISON_A);
    return true;
}

/* A word per row that still holds poison after the call shows a row that was not written. */
static size_t sentinel(uint64_t chunk_key, size_t row, size_t channels) {
    return row * channels +
           (size_t)((chunk_key * 0x9e3779b97f4a7c15U + row * 0xbf58476d1ce4e5b9U) >> 33) % channels;
}

static void set_sentinels(uint32_t *out, uint64_t key, size_t rows, size_t channels) {
    for (size_t r = 0; r < rows; r++) {
        out[sentinel(key, r, channels)] = ASSAY_POISON_B;
    }
}

static bool sentinels_gone(const uint32_t *out, uint64_t key, size_t rows, size_t channels) {
    for (size_t r = 0; r < rows; r++) {
        if (out[sentinel(key, r, channels)] == ASSAY_POISON_B) {
            return false;
        }
    }
    return true;
}

/* Sends the chunk to one worker. */
static bool send_chunk(const assay_sweep *sweep, assay_worker *worker, const assay_tensor *input,
                       const assay_tensor *output, uint32_t first_bits, size_t rows, uint64_t key,
                       assay_error *error) {
    assay_tensor x = *input;
    assay_tensor y = *output;
    uint32_t *bits = x.data;
    x.shape[0] = y.shape[0] = (int64_t)rows;
    x.span_bytes = rows * sizeof(float);
    y.span_bytes = rows * sweep->channels * sizeof(float);
    for (size_t i = 0; i < rows; i++) {
        bits[i] = first_bits + (uint32_t)i;
    }
    set_sentinels(y.data, key, rows, sweep->channels);
    const assay_tensor *const inputs[] = {&x};
    const assay_tensor *const outputs[] = {&y};
    assay_call_spec spec = {.op = sweep->runner->context.op->name,
                            .attrs = sweep->attrs.items,
                            .attr_count = sweep->attrs.count,
                            .inputs = inputs,
                            .input_count = 1,
                            .outputs = outputs,
                            .output_count = 1};
    return assay_worker_send(worker, &spec, error);
}

static bool receive_chunk(assay_worker *worker, const char *who, const assay_tensor *input,
                          const assay_tensor *output, uint32_t first_bits, size_t rows, size_t channels,
                          uint64_t key, assay_segment *part, assay_error *error) {
    assay_call_reply reply;
    assay_result result = {.outcome = ASSAY_OUTCOME_PASS};
    if (!assay_worker_wait(worker, &reply, error)) {
        return false;
    }
    if (assay_result_expect_ok(&result, &reply, who)) {
        const uint32_t *bits = input->data;
        if (!sentinels_gone(output->data, key, rows, channels)) {
            assay_result_set(&result, ASSAY_OUTCOME_FAIL, "%s: rows from 0x%08x on were not all written", who,
                             first_bits);
        } else if (bits[0] != first_bits || bits[rows - 1] != first_bits + (uint32_t)(rows - 1)) {
            assay_result_set(&result, ASSAY_OUTCOME_FAIL, "%s: the input was changed at 0x%08x", who,
                             first_bits);
        } else if (assay_tensor_zone_damage(output, ASSAY_POISON_A, NULL) > 0) {
            assay_result_set(&result, ASSAY_OUTCOME_FAIL, "%s: wrote outside its output at 0x%08x", who,
                             first_bits);
        }
    }
    if (result.outcome != ASSAY_OUTCOME_PASS && part->trouble[0] == '\0') {
        part->trouble_outcome = result.outcome;
        (void)snprintf(part->trouble, sizeof part->trouble, "%s", result.reason);
    }
    return true;
}

/* Accuracy of a chunk in blocks; one block per chunk is judged a second time by the scalar judge. */
static void measure(const sweep_job *job, lane_state *state, const uint32_t *got, uint32_t first_bits,
                    size_t rows, uint64_t base) {
    const assay_sweep *sweep = job->sweep;
    const assay_operator_def *op = sweep->runner->context.op;
    size_t blocks = (rows + GOLDEN_ROWS - 1) / GOLDEN_ROWS;
    size_t again = (size_t)((base / sweep->channels * 0x9e3779b97f4a7c15U) >> 32) % blocks;
    float x[GOLDEN_ROWS];
    for (size_t b = 0; b < blocks; b++) {
        size_t row = b * GOLDEN_ROWS;
        size_t n = rows - row < GOLDEN_ROWS ? rows - row : GOLDEN_ROWS;
        const uint32_t *words = got + row * sweep->channels;
        uint64_t index = base + row * sweep->channels;
        for (size_t i = 0; i < n; i++) {
            x[i] = assay_f32_from_bits(first_bits + (uint32_t)(row + i));
        }
        op->golden(&sweep->attrs, x, n, state->golden);
        if (b == again) {
            assay_accuracy one = {.tolerance = state->part.accuracy.tolerance,
                                  .settle = settle,
                                  .settle_context = state->part.accuracy.settle_context};
            assay_accuracy two = one;
            assay_accuracy_add(&one, words, state->golden, n * sweep->channels, index);
            assay_scalar_accuracy(&two, words, state->golden, n * sweep->channels, index);
            state->part.judges_disagree |= one.outside != two.outside ||
                                           one.correctly_rounded != two.correctly_rounded ||
                                           one.not_comparable != two.not_comparable ||
                                           one.elements != two.elements || one.max_abs != two.max_abs;
        }
        assay_accuracy_add(&state->part.accuracy, words, state->golden, n * sweep->channels, index);
    }
}

static void compare(const assay_sweep *sweep, lane_state *state, const uint32_t *got, const uint32_t *want,
                    size_t rows, uint64_t base) {
    assay_parity_add_f32(&state->part.parity, got, want, rows * sweep->channels, base);
    size_t row = (size_t)((base * 0x9e3779b97f4a7c15U) >> 40) % rows;
    assay_parity one = {0};
    assay_parity two = {0};
    assay_parity_add_f32(&one, got + row * sweep->channels, want + row * sweep->channels, sweep->channels, 0);
    assay_scalar_parity_f32(&two, got + row * sweep->channels, want + row * sweep->channels, sweep->channels,
                            0);
    state->part.judges_disagree |=
        one.differing != two.differing || one.max_ulp != two.max_ulp || one.elements != two.elements;
}

static bool sweep_chunk(assay_lane *lane, uint64_t chunk, void *user, assay_error *error) {
    sweep_job *job = user;
    const assay_sweep *sweep = job->sweep;
    lane_state *state = &job->lanes[lane->index];
    uint64_t tile = chunk / job->chunks_per_tile;
    uint64_t row = chunk % job->chunks_per_tile * ASSAY_SWEEP_CHUNK;
    assay_tile_place place_of = assay_domain_tile(sweep->domain, job->segment->first_tile + tile);
    if (row >= place_of.rows || state->part.trouble[0] != '\0') {
        return true;
    }
    size_t rows = place_of.rows - row < ASSAY_SWEEP_CHUNK ? (size_t)(place_of.rows - row) : ASSAY_SWEEP_CHUNK;
    uint32_t first_bits = place_of.first_bits + (uint32_t)row;
    uint64_t base = (tile * ASSAY_TILE_ROWS + row) * sweep->channels;
    assay_worker *workers[2] = {lane->candidate, sweep->parity ? lane->baseline : NULL};
    static const char *const who[2] = {"candidate", "baseline"};
    for (int i = 0; i < 2 && workers[i] != NULL; i++) {
        if (!state->placed && !place(sweep, workers[i], &state->input[i], &state->output[i], error)) {
            return false;
        }
        if (!send_chunk(sweep, workers[i], &state->input[i], &state->output[i], first_bits, rows, chunk,
                        error)) {
            return false;
        }
    }
    state->placed = true;
    for (int i = 0; i < 2 && workers[i] != NULL; i++) {
        if (!receive_chunk(workers[i], who[i], &state->input[i], &state->output[i], first_bits, rows,
                           sweep->channels, chunk, &state->part, error)) {
            return false;
        }
    }
    if (state->part.trouble[0] != '\0') {
        return true; /* nothing to judge: the outputs are not the candidate's answer */
    }
    const uint32_t *got = state->output[0].data;
    assay_tile_add(&state->part.digest[tile], got, sweep->channels, (uint32_t)row, rows);
    state->part.outputs += rows * sweep->channels;
    if (sweep->parity) {
        compare(sweep, state, got, state->output[1].data, rows, base);
    }
    if (sweep->accuracy) {
        measure(job, state, got, first_bits, rows, base);
    }
    return true;
}

static void merge_lane(const assay_sweep *sweep, assay_segment *segment, lane_state *state) {
    const assay_segment *part = &state->part;
    for (size_t i = 0; i < segment->tiles; i++) {
        assay_tile_merge(&segment->digest[i], &part->digest[i]);
    }
    segment->outputs += part->outputs;
    segment->judges_disagree |= part->judges_disagree;
    if (segment->trouble[0] == '\0' && part->trouble[0] != '\0') {
        memcpy(segment->trouble, part->trouble, sizeof segment->trouble);
        segment->trouble_outcome = part->trouble_outcome;
    }
    if (sweep->parity) {
        assay_parity_merge(&segment->parity, &part->parity);
    }
    if (sweep->accuracy) {
        assay_accuracy_merge(&segment->accuracy, &part->accuracy);
    }
}

bool assay_sweep_segment(const assay_sweep *sweep, assay_segment *segment, assay_error *error) {
    assay_context *context = &sweep->runner->context;
    sweep_job job = {
        .sweep = sweep, .segment = segment, .chunks_per_tile = ASSAY_TILE_ROWS / ASSAY_SWEEP_CHUNK};
    job.lanes = calloc(context->lane_count, sizeof *job.lanes);
    if (job.lanes == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
        return false;
    }
    for (unsigned i = 0; i < context->lane_count; i++) {
        lane_state *state = &job.lanes[i];
        state->part.parity.histogram = &state->parity_histogram;
        state->part.accuracy.histogram = &state->accuracy_histogram;
        state->part.accuracy.settle = settle;
        state->part.accuracy.settle_context = &job;
        if (sweep->accuracy) {
            state->part.accuracy.tolerance =
                (assay_tolerance_f64){sweep->tolerance->atol, sweep->tolerance->rtol};
            state->golden = malloc(GOLDEN_ROWS * sweep->channels * sizeof(double));
        }
    }
    bool ok = assay_context_parallel(context, segment->tiles * job.chunks_per_tile, sweep_chunk, &job, error);
    for (unsigned i = 0; i < context->lane_count; i++) {
        if (ok) {
            merge_lane(sweep, segment, &job.lanes[i]);
        }
        free(job.lanes[i].golden);
    }
    free(job.lanes);
    return ok;
}
