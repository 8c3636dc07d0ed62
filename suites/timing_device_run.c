/* timing_device_run.c - what is timed on a GPU: buffers in device memory, calls, floors and roofs. Judges
 * nothing; timing_device.c does. */
#include "timing_device.h"

#include <stdlib.h>
#include <string.h>

const assay_device_kind assay_device_kinds[ASSAY_DEVICE_KIND_COUNT] = {
    [ASSAY_DEVICE_CANDIDATE] = {.name = "candidate", .scope = "forward"},
    [ASSAY_DEVICE_CHECKED] = {.name = "candidate_checked", .scope = "checked", .checked = true},
    [ASSAY_DEVICE_AGAIN] = {.name = "candidate_again", .scope = "forward", .again = true},
    [ASSAY_DEVICE_BASELINE] = {.name = "baseline", .scope = "forward", .baseline = true},
    [ASSAY_DEVICE_BACKWARD] = {.name = "candidate_backward", .scope = "backward_only", .backward = true},
    [ASSAY_DEVICE_BASELINE_BACKWARD] = {.name = "baseline_backward",
                                        .scope = "backward_only",
                                        .baseline = true,
                                        .backward = true},
};

#define SAMPLE_NS      100000.0 /* a sample of device time lasts so long where it can */
#define MOST_CALLS     100
#define GRAPH_LAUNCHES 2     /* the first warms up, the last is timed */
#define BLOCK_ROWS     4096u /* of upstream gradients, uploaded again and again: time does not see values */

/* ---- calls ---- */

uint64_t assay_device_slot_ns(const assay_device_slot *slot) {
    return slot->bench->figure == ASSAY_TIMING_FIGURE_HOST ? slot->reply.worker_ns : slot->reply.device_ns;
}

/* One call with these tensors. False for faults of the harness only. */
static bool send(assay_device_slot *slot, const assay_attrs *attrs, const assay_tensor *x,
                 const assay_tensor *y, assay_call_spec spec, assay_error *error) {
    const assay_device_side *side = slot->side;
    const assay_tensor *const forward[] = {x};
    const assay_tensor *const backward[] = {&side->upstream, &side->saved, x};
    const assay_tensor *const outputs[] = {y};
    spec.op = slot->bench->context->op->name;
    spec.backward = slot->kind->backward;
    spec.attrs = attrs->items;
    spec.attr_count = attrs->count;
    spec.inputs = spec.backward ? backward : forward;
    spec.input_count = spec.backward ? 3 : 1;
    spec.outputs = outputs;
    spec.output_count = 1;
    spec.resident = true;
    return assay_worker_call(side->worker, &spec, &slot->reply, error);
}

/* True when the reply is ok; else the trouble is set. */
static bool answered(assay_device_slot *slot) {
    if (assay_result_expect_ok(&slot->bench->trouble, &slot->reply, slot->kind->name)) {
        return true;
    }
    slot->bench->troubled = true;
    return false;
}

static const assay_tensor *output_of(const assay_device_slot *slot, uint64_t n) {
    return slot->kind->backward ? &slot->side->gradient : &slot->side->outputs[n % slot->side->output_count];
}

static const assay_attrs *attrs_of(const assay_device_slot *slot) {
    return slot->kind->checked ? &slot->bench->checked : &slot->bench->unchecked;
}

bool assay_device_slot_call(assay_device_slot *slot, unsigned repeat, unsigned graph, bool peak,
                            assay_error *error) {
    const uint64_t n = slot->calls++;
    return send(slot, attrs_of(slot), &slot->side->inputs[n % ASSAY_DEVICE_INPUTS], output_of(slot, n),
                (assay_call_spec){.repeat = repeat, .graph = graph, .peak = peak}, error) &&
           answered(slot);
}

static bool timed_call(void *user, uint64_t *own_ns, assay_error *error) {
    assay_device_slot *slot = user;
    if (!assay_device_slot_call(slot, slot->repeat, slot->graph, false, error)) {
        return false;
    }
    *own_ns = assay_device_slot_ns(slot);
    return true;
}

#define ROUND_TRIPS 20

bool assay_device_round_trip(assay_device_bench *bench, double *ns, assay_error *error) {
    assay_device_slot slot = {
        .bench = bench, .kind = &assay_device_kinds[ASSAY_DEVICE_CANDIDATE], .side = &bench->candidate};
    *ns = 0.0;
    for (int i = 0; i < ROUND_TRIPS; i++) {
        if (!send(&slot, &bench->unchecked, NULL, &bench->candidate.outputs[0],
                  (assay_call_spec){.repeat = 1}, error)) {
            return false;
        }
        if (slot.reply.result != ASSAY_CALL_ANSWERED || slot.reply.status != ASSAY_INVALID_ARGUMENT) {
            *ns = 0.0; /* validation's business */
            return true;
        }
        const double outer = (double)slot.reply.judge_ns;
        *ns = i == 0 || outer < *ns ? outer : *ns;
    }
    return true;
}

/* ---- layout ---- */

static bool upload(const assay_device_bench *bench, const assay_device_side *side, const assay_tensor *to,
                   size_t skip, const void *from, size_t bytes, assay_error *error) {
    return bench->context->plugin->upload(bench->context->device, side->arena + to->data_offset + skip, from,
                                          bytes, error) == ASSAY_CODE_OK;
}

/* Row input k: values of its own seed, narrowed. The host arena serves as the staging area. */
static bool fill_input(const assay_device_bench *bench, const assay_device_side *side, const assay_case *c,
                       size_t k, uint64_t seed, assay_error *error) {
    const assay_tensor *t = &side->inputs[k];
    assay_case other = *c;
    float *x = assay_direct_memory(bench->rows, sizeof *x, error);
    if (x == NULL) {
        return false;
    }
    other.values.key = assay_philox_key_of(bench->context->op->name, "uniform", "input", seed);
    assay_case_inputs(&other, 0, bench->rows, x);
    assay_direct_put(t, x);
    free(x);
    return upload(bench, side, t, 0, t->data, t->span_bytes, error);
}

static bool fill_upstream(const assay_device_bench *bench, const assay_device_side *side, const assay_case *c,
                          assay_error *error) {
    const size_t block = bench->rows < BLOCK_ROWS ? bench->rows : BLOCK_ROWS;
    const size_t row_bytes = bench->channels * sizeof(float);
    float *g = assay_direct_memory(block * bench->channels, sizeof *g, error);
    bool good = g != NULL;
    if (good) {
        assay_case_upstream(bench->context, c, bench->channels, 0, block, g);
    }
    for (size_t row = 0; good && row < bench->rows; row += block) {
        const size_t rows = bench->rows - row < block ? bench->rows - row : block;
        good = upload(bench, side, &side->upstream, row * row_bytes, g, rows * row_bytes, error);
    }
    free(g);
    return good;
}

/* Another tensor of the output's shape, when the arena has room for it. */
static bool matrix(const assay_device_bench *bench, assay_arena *arena, assay_tensor *t, assay_error *error) {
    return assay_direct_alloc(arena, ASSAY_DTYPE_F32, bench->rows, bench->channels, 0, 0, t, error);
}

/* How many outputs are written in turn: together they exceed the cache by far, so that none is found there.
 * One where even several lie in the cache, or where memory is short. */
static size_t outputs_wanted(const assay_device_bench *bench) {
    const assay_context *context = bench->context;
    const uint64_t cache = context->plugin->info(context->device)->l2_bytes;
    if (bench->fill_bytes * 2 < cache ||
        context->plugin->free_bytes(context->device) / 8 < bench->fill_bytes * ASSAY_DEVICE_OUTPUTS) {
        return 1;
    }
    return ASSAY_DEVICE_OUTPUTS;
}

static size_t end_of(const assay_tensor *t) {
    return t->segment_offset + t->segment_bytes;
}

static bool allocate(assay_device_bench *bench, assay_device_side *side, const assay_case *c, size_t *end,
                     assay_error *error) {
    assay_arena *arena = assay_worker_arena(side->worker);
    const size_t wanted = outputs_wanted(bench);
    assay_tensor last;
    assay_arena_reset(arena, false);
    for (size_t k = 0; k < ASSAY_DEVICE_INPUTS; k++) {
        if (!assay_direct_alloc(arena, c->dtype, bench->rows, 0, 1, 0, &side->inputs[k], error)) {
            return false;
        }
    }
    if (!assay_direct_alloc(arena, c->dtype, bench->rows, 0, 1, 0, &side->gradient, error) ||
        !matrix(bench, arena, &side->outputs[0], error)) {
        return false;
    }
    side->output_count = 1;
    *end = end_of(&side->outputs[0]);
    side->saved = side->outputs[0];
    if (side->backward) {
        side->backward = matrix(bench, arena, &side->upstream, NULL);
        *end = side->backward ? end_of(&side->upstream) : *end;
    }
    if (side->backward && matrix(bench, arena, &last, NULL)) {
        side->saved = last;
        *end = end_of(&last);
    }
    while (side->output_count < wanted && matrix(bench, arena, &last, NULL)) {
        side->outputs[side->output_count++] = last;
        *end = end_of(&last);
    }
    return true;
}

/* Lays one side out and fills it. */
static bool lay_out(assay_device_bench *bench, assay_device_side *side, const assay_case *c,
                    assay_error *error) {
    size_t end = 0;
    side->backward = assay_worker_offers(side->worker, bench->context->op->name, true);
    if (!allocate(bench, side, c, &end, error)) {
        return false;
    }
    const assay_device_arena *there = assay_worker_device_arena(side->worker, end, error);
    if (there == NULL) {
        return false;
    }
    side->arena = there->address;
    for (size_t k = 0; k < ASSAY_DEVICE_INPUTS; k++) {
        if (!fill_input(bench, side, c, k, c->seed + k, error)) {
            return false;
        }
    }
    return !side->backward || fill_upstream(bench, side, c, error);
}

/* ---- callables ---- */

/* Makes sure that the callable answers, and finds out how often one sample calls it. */
static bool try_out(assay_device_slot *slot, assay_error *error) {
    const assay_device_bench *bench = slot->bench;
    slot->repeat = 1;
    slot->graph = 0;
    if (slot->kind->backward) { /* the saved output, by this side's own forward */
        assay_device_slot forward = *slot;
        forward.kind =
            &assay_device_kinds[slot->kind->baseline ? ASSAY_DEVICE_BASELINE : ASSAY_DEVICE_CANDIDATE];
        const bool sent = send(&forward, &bench->unchecked, &slot->side->inputs[0], &slot->side->saved,
                               (assay_call_spec){.repeat = 1}, error);
        if (!sent || !answered(&forward)) {
            return false;
        }
    }
    /* The second call: the first may load code and make tables. */
    for (int i = 0; i < 2; i++) {
        if (!assay_device_slot_call(slot, 1, 0, false, error)) {
            return false;
        }
    }
    if (bench->figure != ASSAY_TIMING_FIGURE_HOST && slot->reply.device_ns == 0) {
        slot->bench->troubled = true;
        assay_result_set(&slot->bench->trouble, ASSAY_OUTCOME_UNAVAILABLE,
                         "%s: its worker reports no device time", slot->kind->name);
        return false;
    }
    if (bench->figure != ASSAY_TIMING_FIGURE_DEVICE) {
        return true;
    }
    const assay_call_spec graph = {.repeat = 1, .graph = GRAPH_LAUNCHES};
    double one = (double)slot->reply.device_ns;
    if (!send(slot, attrs_of(slot), &slot->side->inputs[0], output_of(slot, 0), graph, error)) {
        return false;
    }
    if (slot->reply.result != ASSAY_CALL_ANSWERED || slot->reply.status != ASSAY_UNSUPPORTED) {
        if (!answered(slot)) {
            return false;
        }
        slot->graph = GRAPH_LAUNCHES;
        one = (double)slot->reply.device_ns;
    }
    slot->repeat = assay_timing_repeat(one, SAMPLE_NS, MOST_CALLS);
    if (slot->graph == 0 || slot->repeat == 1) {
        return true;
    }
    /* In a longer graph the calls follow each other more closely. */
    if (!assay_device_slot_call(slot, slot->repeat, slot->graph, false, error)) {
        return false;
    }
    slot->repeat = assay_timing_repeat((double)slot->reply.device_ns / slot->repeat, SAMPLE_NS, MOST_CALLS);
    return true;
}

/* Adds the callable when it works. False ends the check. */
static bool add(assay_device_bench *bench, size_t k, assay_error *error) {
    const assay_device_kind *kind = &assay_device_kinds[k];
    const assay_device_side *side = kind->baseline ? &bench->baseline : &bench->candidate;
    assay_device_slot *slot = &bench->slots[bench->count];
    *slot = (assay_device_slot){.bench = bench,
                                .kind = kind,
                                .side = side,
                                .bytes = kind->backward ? bench->backward_bytes : bench->forward_bytes};
    if (try_out(slot, error)) {
        bench->callables[bench->count++] =
            (assay_timing_callable){.name = kind->name, .call = timed_call, .user = slot};
        return true;
    }
    if (!bench->troubled || !kind->baseline) {
        return false;
    }
    bench->dropped |= (uint64_t)1 << k;
    bench->troubled = false;
    bench->trouble = (assay_result){.outcome = ASSAY_OUTCOME_NOT_RUN};
    return true;
}

static bool add_all(assay_device_bench *bench, assay_error *error) {
    for (size_t k = 0; k < ASSAY_DEVICE_KIND_COUNT; k++) {
        const assay_device_kind *kind = &assay_device_kinds[k];
        const assay_device_side *side = kind->baseline ? &bench->baseline : &bench->candidate;
        if (side->worker == NULL || (kind->backward && !side->backward) ||
            (kind->again && bench->context->tier != ASSAY_TIER_FULL)) {
            continue;
        }
        if (!add(bench, k, error)) {
            return false;
        }
    }
    return true;
}

bool assay_device_bench_open(assay_device_bench *bench, assay_context *context, const assay_check *check,
                             assay_timing_figure figure, assay_error *error) {
    const assay_lane *lane = &context->lanes[0];
    const assay_device_info *info = context->plugin->info(context->device);
    *bench = (assay_device_bench){.context = context,
                                  .figure = figure,
                                  .rows = (size_t)check->c.rows,
                                  .floor_repeat = figure == ASSAY_TIMING_FIGURE_DEVICE ? MOST_CALLS : 1,
                                  .candidate = {.worker = lane->candidate},
                                  .trouble = {.outcome = ASSAY_OUTCOME_NOT_RUN}};
    bench->channels = assay_direct_channels(context, &check->c);
    bench->checked = bench->unchecked = check->c.attrs;
    (void)assay_direct_attr_set(&bench->unchecked, "check_range", 0.0);
    const uint64_t input = bench->rows * assay_dtype_bytes(check->c.dtype);
    bench->fill_bytes = bench->rows * bench->channels * sizeof(float);
    bench->forward_bytes = input + bench->fill_bytes;
    bench->backward_bytes = 2 * input + 2 * bench->fill_bytes;
    if (lane->baseline != NULL && assay_worker_get_info(lane->baseline)->memory == ASSAY_MEMORY_CUDA) {
        bench->baseline.worker = lane->baseline;
    } else if (lane->baseline != NULL) {
        bench->dropped |= (uint64_t)1 << ASSAY_DEVICE_BASELINE; /* host memory: another machine's time */
    }
    bench->watch.nvml =
        assay_nvml_open(NULL, info->uuid_sha256, info->ordinal, bench->watch.why, sizeof bench->watch.why);
    if (!lay_out(bench, &bench->candidate, &check->c, error)) {
        return false;
    }
    if (bench->baseline.worker != NULL && !lay_out(bench, &bench->baseline, &check->c, error)) {
        if (error->code != ASSAY_CODE_INCOMPLETE) {
            return false;
        }
        bench->baseline.worker = NULL; /* no memory for both */
        bench->dropped |= (uint64_t)1 << ASSAY_DEVICE_BASELINE;
    }
    if (bench->candidate.backward && figure != ASSAY_TIMING_FIGURE_HOST &&
        context->plugin->arena_create(context->device, bench->backward_bytes, &bench->read, NULL) !=
            ASSAY_CODE_OK) {
        bench->read.address = NULL; /* no read roof then */
    }
    return add_all(bench, error);
}

void assay_device_bench_close(assay_device_bench *bench) {
    if (bench->read.address != NULL) {
        bench->context->plugin->arena_destroy(bench->context->device, &bench->read);
    }
    assay_nvml_close(bench->watch.nvml);
    bench->watch.nvml = NULL;
}
