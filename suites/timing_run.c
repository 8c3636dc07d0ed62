/* timing_run.c - what is timed, on real workers. The workers time themselves beside the candidate; timing.c
 * checks their claims. */
#include "timing_run.h"

#include "clock.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const assay_timing_text assay_timing_roles[ASSAY_TIMING_ROLE_COUNT] = {
    [ASSAY_TIMING_CANDIDATE] = {"candidate", "forward"},
    [ASSAY_TIMING_CHECKED] = {"candidate_checked", "checked"},
    [ASSAY_TIMING_BASELINE] = {"baseline", "forward"},
    [ASSAY_TIMING_BACKWARD] = {"candidate_backward", "backward_only"},
    [ASSAY_TIMING_BASELINE_BACKWARD] = {"baseline_backward", "backward_only"},
    [ASSAY_TIMING_FLOOR] = {"floor", "floor"},
    [ASSAY_TIMING_ROOF] = {"roof_memset", "roof"},
};

/* ---- calls ---- */

static bool answered_ok(assay_timing_bench *bench, const assay_call_reply *reply, const char *what) {
    if (assay_result_expect_ok(&bench->trouble, reply, what)) {
        return true;
    }
    bench->troubled = true;
    return false;
}

static bool is_backward(const assay_timing_slot *slot) {
    return slot->role == ASSAY_TIMING_BACKWARD || slot->role == ASSAY_TIMING_BASELINE_BACKWARD;
}

/* Changes one value of the row input (backward: of the upstream gradient), the same one for every callable's
 * n-th call: an answer that was kept from an earlier call is then not the answer. */
static void change_input(assay_timing_slot *slot) {
    const assay_timing_layout *l = slot->layout;
    uint64_t n = slot->calls++;
    float value = (float)(n * 0x9e3779b97f4a7c15U >> 40) * 0x1p-24F;
    if (is_backward(slot)) {
        assay_dtype_store_f32(ASSAY_DTYPE_F32, l->upstream.data,
                              n % (slot->bench->rows * slot->bench->channels), value - 0.5F);
    } else {
        assay_dtype_store_f32(l->input.dtype, l->input.data, n % slot->bench->rows, value);
    }
}

/* The floor's call has no input and is refused at once; where a candidate does not survive that, it is one
 * row. */
static bool make_call(assay_timing_slot *slot, const assay_attrs *attrs, assay_error *error) {
    assay_timing_bench *bench = slot->bench;
    const assay_timing_layout *l = slot->layout;
    bool backward = is_backward(slot);
    bool floor = slot->role == ASSAY_TIMING_FLOOR;
    const assay_tensor *const forward_inputs[] = {!floor                 ? &l->input
                                                  : bench->floor_refused ? NULL
                                                                         : &l->one_input};
    const assay_tensor *const backward_inputs[] = {&l->upstream, &l->saved, &l->input};
    const assay_tensor *const outputs[] = {backward ? &l->gradient : floor ? &l->one_output : &l->output};
    assay_call_spec spec = {.op = bench->context->op->name,
                            .backward = backward,
                            .attrs = attrs->items,
                            .attr_count = attrs->count,
                            .inputs = backward ? backward_inputs : forward_inputs,
                            .input_count = backward ? 3 : 1,
                            .outputs = outputs,
                            .output_count = 1,
                            .repeat = slot->repeat};
    if (!assay_worker_call(slot->worker, &spec, &slot->reply, error)) {
        return false;
    }
    if (floor && slot->reply.result == ASSAY_CALL_ANSWERED && slot->reply.status == ASSAY_INVALID_ARGUMENT) {
        return true;
    }
    return answered_ok(bench, &slot->reply, assay_timing_roles[slot->role].name);
}

static bool worker_call(assay_timing_slot *slot, assay_error *error) {
    bool checked = slot->role == ASSAY_TIMING_CHECKED;
    if (slot->role != ASSAY_TIMING_FLOOR) {
        change_input(slot);
    }
    return make_call(slot, checked ? &slot->bench->checked : &slot->bench->unchecked, error);
}

bool assay_timing_same_bytes(assay_timing_slot *slot, bool *different, assay_error *error) {
    const assay_tensor *answer = is_backward(slot) ? &slot->layout->gradient : &slot->layout->output;
    size_t bytes = assay_direct_bytes(answer);
    void *timed = assay_direct_memory(bytes, 1, error);
    *different = false;
    bool good = timed != NULL && worker_call(slot, error);
    if (good) {
        memcpy(timed, answer->data, bytes);
        assay_direct_fill(answer, ASSAY_POISON_B);
        good = make_call(slot, &slot->bench->checked, error);
        *different = good && memcmp(timed, answer->data, bytes) != 0;
    }
    free(timed);
    return good && !*different;
}

static bool call_worker(void *user, uint64_t *own_ns, assay_error *error) {
    assay_timing_slot *slot = user;
    if (!worker_call(slot, error)) {
        return false;
    }
    *own_ns = slot->reply.worker_ns;
    return true;
}

static bool call_roof(void *user, uint64_t *own_ns, assay_error *error) {
    assay_timing_slot *slot = user;
    void *fill = slot->bench->fill;
    (void)error;
    uint64_t start = assay_clock_ns();
    memset(fill, 1, slot->bench->fill_bytes);
    __asm__ volatile("" : : "r"(fill) : "memory"); /* the stores must happen */
    *own_ns = assay_clock_ns() - start;
    return true;
}

/* ---- layout ---- */

static bool lay_out(assay_timing_bench *bench, assay_worker *worker, const assay_case *c,
                    assay_timing_layout *l, assay_error *error) {
    assay_arena *arena = assay_worker_arena(worker);
    size_t rows = bench->rows;
    size_t channels = bench->channels;
    assay_arena_reset(arena, false);
    float *x = assay_direct_memory(rows, sizeof *x, error);
    bool good = x != NULL && assay_direct_alloc(arena, c->dtype, rows, 0, 1, 0, &l->input, error) &&
                assay_direct_alloc(arena, ASSAY_DTYPE_F32, rows, channels, 0, 0, &l->output, error) &&
                assay_direct_alloc(arena, ASSAY_DTYPE_F32, rows, channels, 0, 0, &l->saved, error) &&
                assay_direct_alloc(arena, ASSAY_DTYPE_F32, rows, channels, 0, 0, &l->upstream, error) &&
                assay_direct_alloc(arena, c->dtype, rows, 0, 1, 0, &l->gradient, error);
    if (good) {
        assay_case_inputs(c, 0, rows, x);
        assay_direct_put(&l->input, x);
        assay_direct_rows(&l->input, 0, 1, &l->one_input);
        assay_direct_rows(&l->output, 0, 1, &l->one_output);
        assay_case_upstream(bench->context, c, channels, 0, rows, l->upstream.data);
        assay_direct_fill(&l->output, ASSAY_POISON_A); /* touch the pages */
        assay_call_reply reply;
        good = assay_direct_forward(bench->context, worker, &c->attrs, &l->input, &l->saved, &reply, error) &&
               answered_ok(bench, &reply, "saved output");
    }
    free(x);
    return good;
}

static void add_slot(assay_timing_bench *bench, assay_timing_role role, assay_worker *worker,
                     const assay_timing_layout *layout, uint64_t bytes) {
    size_t i = bench->count++;
    bench->slots[i] =
        (assay_timing_slot){.bench = bench, .role = role, .worker = worker, .layout = layout, .bytes = bytes};
    bench->callables[i] = (assay_timing_callable){.name = assay_timing_roles[role].name,
                                                  .call = worker != NULL ? call_worker : call_roof,
                                                  .user = &bench->slots[i]};
}

bool assay_timing_bench_open(assay_timing_bench *bench, assay_context *context, const assay_check *check,
                             assay_error *error) {
    const assay_lane *lane = &context->lanes[0];
    const char *op = context->op->name;
    *bench = (assay_timing_bench){
        .context = context, .rows = (size_t)check->c.rows, .trouble = {.outcome = ASSAY_OUTCOME_NOT_RUN}};
    bench->channels = assay_direct_channels(context, &check->c);
    bench->checked = bench->unchecked = check->c.attrs;
    (void)assay_direct_attr_set(&bench->unchecked, "check_range", 0.0);
    bench->fill_bytes = bench->rows * bench->channels * sizeof(float);
    bench->fill = assay_direct_memory(bench->fill_bytes, 1, error);
    if (bench->fill == NULL || !lay_out(bench, lane->candidate, &check->c, &bench->candidate, error) ||
        (lane->baseline != NULL && !lay_out(bench, lane->baseline, &check->c, &bench->baseline, error))) {
        return false;
    }
    uint64_t input = assay_direct_bytes(&bench->candidate.input);
    uint64_t forward = input + bench->fill_bytes;
    uint64_t backward = 2 * input + 2 * bench->fill_bytes;
    add_slot(bench, ASSAY_TIMING_CANDIDATE, lane->candidate, &bench->candidate, forward);
    add_slot(bench, ASSAY_TIMING_CHECKED, lane->candidate, &bench->candidate, forward);
    if (lane->baseline != NULL) {
        add_slot(bench, ASSAY_TIMING_BASELINE, lane->baseline, &bench->baseline, forward);
    }
    if (assay_worker_offers(lane->candidate, op, true)) {
        add_slot(bench, ASSAY_TIMING_BACKWARD, lane->candidate, &bench->candidate, backward);
    }
    if (lane->baseline != NULL && assay_worker_offers(lane->baseline, op, true)) {
        add_slot(bench, ASSAY_TIMING_BASELINE_BACKWARD, lane->baseline, &bench->baseline, backward);
    }
    add_slot(bench, ASSAY_TIMING_FLOOR, lane->candidate, &bench->candidate, 0);
    bench->floor_refused = true;
    if (!worker_call(&bench->slots[bench->count - 1], error)) {
        bench->floor_refused =
            false; /* it died of the null input: validation's business, not a reason to give up here */
        bench->troubled = false;
        bench->trouble = (assay_result){.outcome = ASSAY_OUTCOME_NOT_RUN};
    }
    add_slot(bench, ASSAY_TIMING_ROOF, NULL, NULL, bench->fill_bytes);
    return true;
}

void assay_timing_bench_close(assay_timing_bench *bench) {
    free(bench->fill);
    bench->fill = NULL;
}

/* ---- batches ---- */

#define BATCH_NS    400000.0 /* long enough by the judge's clock */
#define BATCH_LIMIT 16384U
#define BATCHES     5
#define BATCH_TRIES 60         /* on a busy machine others run between the worker's clock and the judge's */
#define LONG_NS     20000000.0 /* ... for as long as they like: that weighs less in a longer batch */
#define LONG_TRIES  10

/* Adds one batch: the shortest by the judge's clock, and the one whose claim comes nearest to what the judge
 * saw. */
static void add_batch(const assay_timing_slot *slot, bool first, assay_timing_claim *claim) {
    double floor_ns = claim->floor;
    double outer = (double)slot->reply.judge_ns;
    double own = (double)slot->reply.worker_ns;
    if (first || outer < claim->least_outer) {
        claim->least_outer = outer;
    }
    if (first || own * (claim->batch_outer - floor_ns) > claim->batch_own * (outer - floor_ns)) {
        claim->batch_own = own;
        claim->batch_outer = outer;
    }
}

/* What more batches could still change. */
static bool believable(const assay_timing_claim *claim) {
    double seen = claim->batch_outer - claim->floor;
    double per_call = (claim->least_outer - claim->floor) / (double)claim->batch_calls;
    return claim->batch_own >= ASSAY_TIMING_CLAIM_SHARE * seen &&
           claim->single_median >= ASSAY_TIMING_SINGLE_SHARE * per_call;
}

bool assay_timing_batch(assay_timing_slot *slot, assay_timing_claim *claim, assay_error *error) {
    double floor_ns = claim->floor;
    double enough = 10.0 * floor_ns > BATCH_NS ? 10.0 * floor_ns : BATCH_NS;
    bool good = true;
    int kept = 0;
    int tries = BATCH_TRIES;
    slot->repeat = 1;
    while (good && kept < tries) {
        good = worker_call(slot, error);
        if (good && (double)slot->reply.judge_ns < enough && slot->repeat < BATCH_LIMIT) {
            /* Too short, also when an earlier one of this length was held up and looked long enough. */
            slot->repeat *= 2;
            kept = 0;
            continue;
        }
        add_batch(slot, kept++ == 0, claim);
        claim->batch_calls = slot->repeat;
        if (kept >= BATCHES && believable(claim)) {
            break;
        }
        if (kept == tries && claim->least_outer < LONG_NS && slot->repeat < BATCH_LIMIT) {
            slot->repeat *= 4;
            tries = LONG_TRIES;
            kept = 0;
        }
    }
    slot->repeat = 1;
    return good;
}

/* ---- pinning ---- */

struct assay_timing_pin {
    cpu_set_t before; /* of this thread; the workers inherited it */
};

static bool pin_process(int pid, const cpu_set_t *set) {
    char path[64];
    bool all = true;
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) {
        return false;
    }
    for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        int task = (int)strtol(entry->d_name, NULL, 10);
        if (task > 0) {
            all = sched_setaffinity(task, sizeof *set, set) == 0 && all;
        }
    }
    (void)closedir(tasks);
    return all;
}

static bool pin_all(const assay_lane *lane, const cpu_set_t *set) {
    bool good =
        sched_setaffinity(0, sizeof *set, set) == 0 && pin_process(assay_worker_pid(lane->candidate), set);
    return good && (lane->baseline == NULL || pin_process(assay_worker_pid(lane->baseline), set));
}

assay_timing_pin *assay_timing_pin_open(const assay_lane *lane, int *cpu) {
    assay_timing_pin *pin = calloc(1, sizeof *pin);
    cpu_set_t one;
    *cpu = -1;
    if (pin == NULL || sched_getaffinity(0, sizeof pin->before, &pin->before) != 0) {
        free(pin);
        return NULL;
    }
    CPU_ZERO(&one);
    for (size_t i = CPU_SETSIZE; i-- > 0 && *cpu < 0;) {
        if (CPU_ISSET(i, &pin->before)) { /* the last one: the first serves most interrupts */
            *cpu = (int)i;
            CPU_SET(i, &one);
        }
    }
    if (!pin_all(lane, &one)) {
        *cpu = -1;
    }
    return pin;
}

void assay_timing_pin_close(assay_timing_pin *pin, const assay_lane *lane) {
    if (pin != NULL) {
        (void)pin_all(lane, &pin->before);
        free(pin);
    }
}
