/* sweep_device.c - a segment on the GPU: the candidate writes its rows into device memory that the judge
 * owns, and the judge's kernels digest, compare and measure them there. A slice of every chunk is judged a
 * second time on the host, by the scalar judge. */
#include "sweep.h"

#include "philox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_ROWS 64u /* judged twice, per chunk */

/* One side of the comparison. */
typedef struct device_side {
    assay_worker *worker;
    const char *who;
    assay_tensor input, output;
    char *arena; /* device address of offset 0 */
} device_side;

typedef struct device_sweep {
    const assay_sweep *sweep;
    assay_segment *segment;
    const assay_device_plugin *plugin;
    assay_device *device;
    device_side side[2];
    size_t sides;
    double *golden; /* of a slice */
    uint32_t *words[2];
} device_sweep;

static uint32_t settle(void *context, uint64_t index, double golden) {
    const device_sweep *d = context;
    const assay_sweep *sweep = d->sweep;
    uint32_t bits = assay_sweep_input_bits(sweep, d->segment, index);
    (void)golden;
    return sweep->runner->context.op->exact(&sweep->attrs, assay_f32_from_bits(bits),
                                            (size_t)(index % sweep->channels));
}

static void trouble(assay_segment *segment, assay_outcome outcome, const char *who, const char *what,
                    uint32_t first_bits) {
    if (segment->trouble[0] == '\0') {
        segment->trouble_outcome = outcome;
        (void)snprintf(segment->trouble, sizeof segment->trouble, "%s: %s at 0x%08x", who, what, first_bits);
    }
}

/* The parts of a segment that are mapped but hold no element. */
static bool zones(device_sweep *d, const device_side *side, bool fill, uint64_t *damage, assay_error *error) {
    const assay_tensor *t = &side->output;
    const size_t end = t->segment_offset + t->segment_bytes;
    const struct {
        size_t from, to;
    } parts[] = {{t->segment_offset, t->data_offset}, {t->data_offset + t->span_bytes, end}};
    *damage = 0;
    for (size_t i = 0; i < 2; i++) {
        const size_t bytes = parts[i].to - parts[i].from;
        uint64_t count = 0;
        uint64_t first = 0;
        if (bytes == 0) {
            continue;
        }
        assay_code code = fill ? d->plugin->fill(d->device, side->arena + parts[i].from, bytes,
                                                 ASSAY_POISON_A, parts[i].from, error)
                               : d->plugin->damage(d->device, side->arena + parts[i].from, bytes,
                                                   ASSAY_POISON_A, parts[i].from, &count, &first, error);
        if (code != ASSAY_CODE_OK) {
            return false;
        }
        *damage += count;
    }
    return true;
}

/* Lays out one side for chunks of at most `rows` rows. */
static bool place(device_sweep *d, device_side *side, uint64_t rows, assay_error *error) {
    assay_arena *arena = assay_worker_arena(side->worker);
    const size_t channels = d->sweep->channels;
    uint64_t damage = 0;
    assay_tensor_spec x = {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {(int64_t)rows}};
    assay_tensor_spec y = {.dtype = ASSAY_DTYPE_F32, .ndim = 2, .shape = {(int64_t)rows, (int64_t)channels}};
    assay_arena_reset(arena, false);
    if (assay_tensor_alloc(arena, &x, &side->input, error) != ASSAY_CODE_OK ||
        assay_tensor_alloc(arena, &y, &side->output, error) != ASSAY_CODE_OK) {
        return false;
    }
    const assay_device_arena *there = assay_worker_device_arena(
        side->worker, side->output.segment_offset + side->output.segment_bytes, error);
    if (there == NULL) {
        return false;
    }
    side->arena = there->address;
    return zones(d, side, true, &damage, error);
}

/* A view of the first `rows` rows. */
static void view(const device_sweep *d, const device_side *side, uint64_t rows, assay_tensor *x,
                 assay_tensor *y) {
    *x = side->input;
    *y = side->output;
    x->shape[0] = y->shape[0] = (int64_t)rows;
    x->span_bytes = rows * sizeof(float);
    y->span_bytes = rows * d->sweep->channels * sizeof(float);
}

/* Fresh inputs and marks, then the call. */
static bool send(device_sweep *d, device_side *side, uint32_t first_bits, uint64_t rows, uint64_t key,
                 assay_error *error) {
    assay_tensor x;
    assay_tensor y;
    view(d, side, rows, &x, &y);
    if (d->plugin->iota(d->device, side->arena + x.data_offset, rows, first_bits, error) != ASSAY_CODE_OK ||
        d->plugin->mark(d->device, side->arena + y.data_offset, rows, d->sweep->channels, key, ASSAY_POISON_B,
                        error) != ASSAY_CODE_OK) {
        return false;
    }
    const assay_tensor *const inputs[] = {&x};
    const assay_tensor *const outputs[] = {&y};
    assay_call_spec spec = {.op = d->sweep->runner->context.op->name,
                            .attrs = d->sweep->attrs.items,
                            .attr_count = d->sweep->attrs.count,
                            .inputs = inputs,
                            .input_count = 1,
                            .outputs = outputs,
                            .output_count = 1,
                            .resident = true};
    return assay_worker_send(side->worker, &spec, error);
}

static bool receive(device_sweep *d, device_side *side, uint32_t first_bits, uint64_t rows, uint64_t key,
                    assay_error *error) {
    assay_call_reply reply;
    assay_result result = {.outcome = ASSAY_OUTCOME_PASS};
    bool intact = true;
    bool gone = true;
    uint64_t damage = 0;
    if (!assay_worker_wait(side->worker, &reply, error)) {
        return false;
    }
    d->segment->worker_ns += reply.device_ns;
    if (!assay_result_expect_ok(&result, &reply, side->who)) {
        if (d->segment->trouble[0] == '\0') {
            d->segment->trouble_outcome = result.outcome;
            (void)snprintf(d->segment->trouble, sizeof d->segment->trouble, "%s", result.reason);
        }
        return true;
    }
    if (d->plugin->marks_gone(d->device, side->arena + side->output.data_offset, rows, d->sweep->channels,
                              key, ASSAY_POISON_B, &gone, error) != ASSAY_CODE_OK ||
        d->plugin->iota_intact(d->device, side->arena + side->input.data_offset, rows, first_bits, &intact,
                               error) != ASSAY_CODE_OK ||
        !zones(d, side, false, &damage, error)) {
        return false;
    }
    if (!gone) {
        trouble(d->segment, ASSAY_OUTCOME_FAIL, side->who, "a row was not written", first_bits);
    } else if (!intact) {
        trouble(d->segment, ASSAY_OUTCOME_FAIL, side->who, "the input was changed", first_bits);
    } else if (damage > 0) {
        trouble(d->segment, ASSAY_OUTCOME_FAIL, side->who, "wrote outside its output", first_bits);
    }
    return true;
}

static assay_device_judgment judgment(const device_sweep *d, uint64_t row, uint64_t rows, uint32_t first_bits,
                                      uint64_t base) {
    const assay_sweep *sweep = d->sweep;
    const size_t skip = (size_t)row * sweep->channels * sizeof(float);
    return (assay_device_judgment){
        .got = d->side[0].arena + d->side[0].output.data_offset + skip,
        .other = d->sides > 1 ? d->side[1].arena + d->side[1].output.data_offset + skip : NULL,
        .rows = rows,
        .channels = sweep->channels,
        .first_bits = first_bits + (uint32_t)row,
        .base = base + row * sweep->channels,
        .op = sweep->runner->context.op->name,
        .attrs = sweep->attrs.items,
        .attr_count = sweep->attrs.count};
}

static bool same_parity(const assay_parity *a, const assay_parity *b) {
    return a->elements == b->elements && a->differing == b->differing && a->max_ulp == b->max_ulp;
}

static bool same_accuracy(const assay_accuracy *a, const assay_accuracy *b) {
    return a->elements == b->elements && a->outside == b->outside &&
           a->correctly_rounded == b->correctly_rounded && a->not_comparable == b->not_comparable &&
           a->max_abs == b->max_abs;
}

/* Judges `rows` rows from `row` on both ways: kernels here, plain C on a copy there. */
static bool judge_again(device_sweep *d, uint64_t row, uint64_t rows, uint32_t first_bits, uint64_t base,
                        assay_error *error) {
    const assay_sweep *sweep = d->sweep;
    const size_t words = (size_t)rows * sweep->channels;
    assay_device_judgment what = judgment(d, row, rows, first_bits, base);
    assay_tile tile[2] = {{{0, 0}}, {{0, 0}}};
    assay_parity parity[2] = {{0}, {0}};
    assay_accuracy accuracy[2] = {{0}, {0}};
    for (size_t i = 0; i < 2; i++) {
        accuracy[i].tolerance = d->segment->accuracy.tolerance;
        accuracy[i].settle = settle;
        accuracy[i].settle_context = d;
    }
    what.tiles = &tile[0];
    what.parity = sweep->parity ? &parity[0] : NULL;
    what.accuracy = sweep->accuracy ? &accuracy[0] : NULL;
    if (d->plugin->judge(d->device, &what, error) != ASSAY_CODE_OK ||
        d->plugin->download(d->device, d->words[0], what.got, words * sizeof(uint32_t), error) !=
            ASSAY_CODE_OK ||
        (sweep->parity && d->plugin->download(d->device, d->words[1], what.other, words * sizeof(uint32_t),
                                              error) != ASSAY_CODE_OK)) {
        return false;
    }
    assay_tile_add(&tile[1], d->words[0], sweep->channels, 0, rows);
    bool agree = memcmp(&tile[0], &tile[1], sizeof tile[0]) == 0;
    if (sweep->parity) {
        assay_scalar_parity_f32(&parity[1], d->words[0], d->words[1], words, what.base);
        agree = agree && same_parity(&parity[0], &parity[1]);
    }
    if (sweep->accuracy) {
        float x[SLICE_ROWS];
        for (size_t i = 0; i < rows; i++) {
            x[i] = assay_f32_from_bits(what.first_bits + (uint32_t)i);
        }
        sweep->runner->context.op->golden(&sweep->attrs, x, (size_t)rows, d->golden);
        assay_scalar_accuracy(&accuracy[1], d->words[0], d->golden, words, what.base);
        agree = agree && same_accuracy(&accuracy[0], &accuracy[1]);
    }
    d->segment->judges_disagree |= !agree;
    return true;
}

/* `rows` consecutive rows from tile `tile` of the segment on. */
static bool chunk(device_sweep *d, uint64_t tile, uint64_t rows, uint32_t first_bits, assay_error *error) {
    assay_segment *segment = d->segment;
    const uint64_t base = tile * ASSAY_TILE_ROWS * d->sweep->channels;
    const uint64_t key = (segment->first_tile + tile) * 0x9e3779b97f4a7c15U;
    for (size_t i = 0; i < d->sides; i++) {
        if (!send(d, &d->side[i], first_bits, rows, key, error) ||
            !receive(d, &d->side[i], first_bits, rows, key, error)) {
            return false;
        }
    }
    if (segment->trouble[0] != '\0') {
        return true; /* nothing to judge: the outputs are not the candidate's answer */
    }
    assay_device_judgment what = judgment(d, 0, rows, first_bits, base);
    what.tiles = &segment->digest[tile];
    what.parity = d->sweep->parity ? &segment->parity : NULL;
    what.accuracy = d->sweep->accuracy ? &segment->accuracy : NULL;
    if (d->plugin->judge(d->device, &what, error) != ASSAY_CODE_OK) {
        return false;
    }
    segment->outputs += rows * d->sweep->channels;
    const uint64_t slice = rows < SLICE_ROWS ? rows : SLICE_ROWS;
    const uint64_t row = rows == slice ? 0 : (key >> 20) % (rows - slice) / SLICE_ROWS * SLICE_ROWS;
    return judge_again(d, row, slice, first_bits, base, error);
}

/* How many tiles one call may cover: all of a segment where memory allows. */
static uint64_t tiles_per_call(const device_sweep *d) {
    const uint64_t tile_bytes = (uint64_t)ASSAY_TILE_ROWS * d->sweep->channels * sizeof(float);
    const uint64_t room = d->plugin->info(d->device)->memory_bytes / 4 / d->sides;
    const uint64_t host = assay_arena_bytes(assay_worker_arena(d->side[0].worker)) / 2;
    uint64_t tiles = ASSAY_SEGMENT_TILES;
    while (tiles > 1 && tiles * tile_bytes > (room < host ? room : host)) {
        tiles /= 2;
    }
    return tiles;
}

static bool sweep_all(device_sweep *d, assay_error *error) {
    assay_segment *segment = d->segment;
    const uint64_t most = tiles_per_call(d);
    for (size_t i = 0; i < d->sides; i++) {
        if (!place(d, &d->side[i], most * ASSAY_TILE_ROWS, error)) {
            return false;
        }
    }
    for (uint64_t tile = 0; tile < segment->tiles && segment->trouble[0] == '\0';) {
        assay_tile_place at = assay_domain_tile(d->sweep->domain, segment->first_tile + tile);
        uint64_t rows = at.rows;
        uint64_t count = 1;
        while (rows == count * ASSAY_TILE_ROWS && count < most && tile + count < segment->tiles) {
            assay_tile_place next = assay_domain_tile(d->sweep->domain, segment->first_tile + tile + count);
            if (next.first_bits != at.first_bits + rows) {
                break; /* another interval of the domain */
            }
            rows += next.rows;
            count++;
        }
        if (!chunk(d, tile, rows, at.first_bits, error)) {
            return false;
        }
        tile += count;
    }
    return true;
}

bool assay_sweep_segment_device(const assay_sweep *sweep, assay_segment *segment, assay_error *error) {
    const assay_context *context = &sweep->runner->context;
    const size_t words = SLICE_ROWS * sweep->channels;
    device_sweep d = {.sweep = sweep,
                      .segment = segment,
                      .plugin = context->plugin,
                      .device = context->device,
                      .side = {{.worker = context->lanes[0].candidate, .who = "candidate"},
                               {.worker = context->lanes[0].baseline, .who = "baseline"}},
                      .sides = sweep->parity ? 2 : 1};
    const uint64_t before = d.plugin->spent_ns(d.device);
    d.golden = malloc(words * sizeof *d.golden);
    d.words[0] = malloc(words * sizeof *d.words[0]);
    d.words[1] = malloc(words * sizeof *d.words[1]);
    bool good = d.golden != NULL && d.words[0] != NULL && d.words[1] != NULL;
    if (!good) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
    } else {
        segment->accuracy.settle = settle;
        segment->accuracy.settle_context = &d;
        good = sweep_all(&d, error);
        segment->judge_ns = d.plugin->spent_ns(d.device) - before;
        segment->accuracy.settle = NULL;
        segment->accuracy.settle_context = NULL;
    }
    free(d.golden);
    free(d.words[0]);
    free(d.words[1]);
    return good;
}
