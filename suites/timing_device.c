/* timing_device.c - the timing suite on a GPU: measures, records, and checks the workers' claims against the
 * judge's clock, the floor and the roof. */
#include "timing_device.h"

#include "clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const assay_timing_figures[ASSAY_TIMING_FIGURE_COUNT] = {
#define X(id, text) [ASSAY_TIMING_FIGURE_##id] = (text),
    ASSAY_TIMING_FIGURE_LIST(X)
#undef X
};

/* How much is measured per size and figure, by tier. */
static const assay_timing_rule rules[ASSAY_TIER_COUNT] = {
    [ASSAY_TIER_QUICK] = {.warmups = 3, .min_iterations = 5, .max_iterations = 40, .budget_ns = 100000000},
    [ASSAY_TIER_DEFAULT] = {.warmups = 20,
                            .min_iterations = 10,
                            .max_iterations = 200,
                            .budget_ns = 500000000},
    [ASSAY_TIER_FULL] = {.warmups = 20,
                         .min_iterations = 50,
                         .max_iterations = 200,
                         .budget_ns = 10000000000},
};

static uint64_t judge_clock(void *user) {
    (void)user;
    return assay_clock_ns();
}

/* ---- trust ---- */

#define BATCH_NS    5000000.0 /* long enough by the judge's clock */
#define BATCH_LIMIT 16384U
#define BATCH_TRIES 20

/* What the figure claims for a batch of one reply. */
static double claimed(const assay_device_slot *slot, unsigned launches) {
    const double own = (double)assay_device_slot_ns(slot);
    return launches > 0 ? own * launches : own; /* a graph's time is that of its last launch */
}

/* Batches long enough to be checked against the judge's clock: the best of several tries. Ordinary calls in a
 * row; of a callable timed in graphs, more launches of its graph. */
static bool batch(assay_device_slot *slot, double round_trip, assay_timing_claim *claim, assay_error *error) {
    const bool graph = slot->graph > 0;
    unsigned n = graph ? 8 : slot->repeat;
    *claim = (assay_timing_claim){.floor = round_trip};
    if (graph) { /* capturing costs far more than a round trip: the floor is the call with fewer launches */
        claim->floor = INFINITY;
        for (int i = 0; i < 5; i++) {
            if (!assay_device_slot_call(slot, slot->repeat, slot->graph, false, error)) {
                return false;
            }
            claim->floor = fmin(claim->floor, (double)slot->reply.judge_ns);
        }
    }
    for (int kept = 0; kept < BATCH_TRIES;) {
        if (!assay_device_slot_call(slot, graph ? slot->repeat : n, graph ? n + slot->graph : 0, false,
                                    error)) {
            return false;
        }
        const double outer = (double)slot->reply.judge_ns;
        const double own = claimed(slot, graph ? n : 0);
        if (outer - claim->floor < BATCH_NS && n < BATCH_LIMIT) {
            n *= 2;
            kept = 0;
            continue;
        }
        if (kept == 0 || outer < claim->least_outer) {
            claim->least_outer = outer;
        }
        if (kept == 0 ||
            own * (claim->batch_outer - claim->floor) > claim->batch_own * (outer - claim->floor)) {
            claim->batch_own = own;
            claim->batch_outer = outer;
        }
        claim->batch_calls = graph ? (uint64_t)n * slot->repeat : n;
        kept++;
        if (kept >= 3 && claim->batch_own >= ASSAY_TIMING_CLAIM_SHARE * (claim->batch_outer - claim->floor)) {
            break;
        }
    }
    return true;
}

static void mistrust(assay_result *result, const char *name, const char *reason) {
    if (result->outcome == ASSAY_OUTCOME_NOT_RUN) {
        result->bad++;
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "%s %s", name, reason);
    }
}

static bool check_slot(assay_context *context, assay_device_bench *bench, size_t i,
                       const assay_timing_samples *samples, double round_trip, assay_result *result,
                       assay_error *error) {
    assay_device_slot *slot = &bench->slots[i];
    const char *name = slot->kind->name;
    double scratch[ASSAY_DEVICE_SAMPLES];
    char reason[200];
    bool different = false;
    assay_timing_claim claim;
    const double median =
        assay_timing_median(samples->own_ns + i * samples->capacity, samples->count, scratch) / slot->repeat;
    if (!batch(slot, round_trip, &claim, error)) {
        return false;
    }
    claim.single_median = median;
    assay_device_metric(context, name, "batch_calls", (double)claim.batch_calls, "");
    assay_device_metric(context, name, "batch_own_ns", claim.batch_own, "ns");
    assay_device_metric(context, name, "batch_outer_ns", claim.batch_outer, "ns");
    assay_device_metric(context, name, "batch_floor_ns", claim.floor, "ns");
    if (slot->graph > 0) { /* the gap between graphs is the judge's, not the worker's */
        claim.batch_own *= ASSAY_TIMING_CLAIM_SHARE / ASSAY_TIMING_GRAPH_SHARE;
        claim.batch_own = fmin(claim.batch_own, claim.batch_outer);
    }
    if (!assay_timing_trust(&claim, reason, sizeof reason)) {
        mistrust(result, name, reason);
    }
    if (bench->figure != ASSAY_TIMING_FIGURE_HOST) {
        const assay_timing_device_claim device = {
            .per_call = median,
            /* A launch may be hidden behind the one before it, so only a graph has a floor to go by. */
            .floor = bench->figure == ASSAY_TIMING_FIGURE_DEVICE
                         ? assay_device_bound_least(bench, ASSAY_DEVICE_FLOOR)
                         : 0.0,
            .roof = slot->kind->backward ? 0.0 : assay_device_bound_least(bench, ASSAY_DEVICE_FILL),
            .bytes = slot->kind->backward ? 0 : bench->fill_bytes,
            .cache_bytes = context->plugin->info(context->device)->l2_bytes};
        if (!assay_timing_trust_device(&device, reason, sizeof reason)) {
            mistrust(result, name, reason);
        }
    }
    if (!assay_device_same_bytes(slot, &different, error)) {
        return false;
    }
    if (different) {
        mistrust(result, name, "when timed does not give the bytes of a call with the range check");
    }
    return true;
}

/* ---- one check ---- */

static bool record_peaks(assay_context *context, assay_device_bench *bench, assay_error *error) {
    for (size_t i = 0; i < bench->count && bench->figure == ASSAY_TIMING_FIGURE_LAUNCH; i++) {
        assay_device_slot *slot = &bench->slots[i];
        if (slot->kind->again) {
            continue;
        }
        if (!assay_device_slot_call(slot, 1, 0, true, error)) {
            return false;
        }
        assay_device_metric(context, slot->kind->name, "peak_bytes", (double)slot->reply.peak_bytes, "B");
    }
    return true;
}

static bool measure(assay_context *context, const assay_check *check, assay_device_bench *bench,
                    assay_result *result, assay_error *error) {
    assay_timing_samples samples = {0};
    assay_timing_rule rule = rules[context->tier];
    double round_trip = 0.0;
    rule.between = assay_device_watch_between;
    rule.between_user = bench;
    bool good =
        assay_timing_measure(bench->callables, bench->count, &rule, judge_clock, NULL, &samples, error) &&
        assay_device_watch_end(bench, samples.count, error) &&
        assay_device_round_trip(bench, &round_trip, error);
    if (good) {
        assay_record_metric(context, "round_trip_least_ns", round_trip, "ns");
        assay_device_record(context, check, bench, &samples);
        result->elements = samples.count * bench->count;
        good = record_peaks(context, bench, error);
    }
    for (size_t i = 0; good && i < bench->count; i++) {
        good = check_slot(context, bench, i, &samples, round_trip, result, error);
    }
    assay_timing_samples_free(&samples);
    return good;
}

void assay_timing_device_run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_device_bench *bench = calloc(1, sizeof *bench);
    assay_error error = {0};
    if (bench == NULL) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: out of memory");
        return;
    }
    const bool good =
        assay_device_bench_open(bench, context, check, (assay_timing_figure)check->kind, &error) &&
        measure(context, check, bench, result, &error);
    if (bench->troubled) {
        assay_result_set(result, bench->trouble.outcome, "%s", bench->trouble.reason);
    } else if (!good) {
        assay_result_set(
            result, error.code == ASSAY_CODE_INCOMPLETE ? ASSAY_OUTCOME_UNAVAILABLE : ASSAY_OUTCOME_ERROR,
            "harness: %s", error.text);
    } else if (result->outcome == ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
    }
    assay_device_bench_close(bench);
    free(bench);
}

void assay_timing_device_plan(const assay_context *context, const assay_suite *suite, assay_plan *out) {
    const json_t *rows = assay_direct_matrix(context, "timing", "rows_cuda");
    for (size_t i = 0; i < assay_direct_count(rows); i++) {
        const int64_t n = assay_direct_number(rows, i, 1);
        for (int figure = 0; figure < ASSAY_TIMING_FIGURE_COUNT; figure++) {
            assay_check *check = assay_plan_add(out, context, suite, "timing", "rows_%lld_%s", (long long)n,
                                                assay_timing_figures[figure]);
            if (check != NULL) {
                check->kind = figure;
                assay_direct_case(context, 0, ASSAY_DTYPE_F32, (uint64_t)n, context->seed, &check->c);
            }
        }
    }
}
