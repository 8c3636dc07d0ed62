/* timing.c - how long calls take, beside the floor and the roof of this machine. Every iteration times every
 * callable once, in alternating order; raw samples and places are the evidence, medians and ratios are
 * derived. A worker times itself beside the candidate, so its claims are checked against the judge's clock
 * over batches; a claim that cannot be true is mistrusted. On a GPU timing_device.h does all of this.
 *
 * The floor is a call without an input, which is refused at once: the protocol has no empty call, and a small
 * valid call of another shape would throw out what the candidate caches for the timed one. It shows what
 * entering the adapter costs in the worker (samples of "floor") and as a round trip (metric
 * floor_roundtrip_ns). */
#include "timing_device.h"
#include "timing_run.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const assay_suite assay_suite_timing;

/* How much is measured per size, by tier. */
static const assay_timing_rule rules[ASSAY_TIER_COUNT] = {
    [ASSAY_TIER_QUICK] = {.warmups = 3, .min_iterations = 5, .max_iterations = 40, .budget_ns = 30000000},
    [ASSAY_TIER_DEFAULT] = {.warmups = 20,
                            .min_iterations = 10,
                            .max_iterations = 200,
                            .budget_ns = 200000000},
    [ASSAY_TIER_FULL] = {.warmups = 20,
                         .min_iterations = 50,
                         .max_iterations = 200,
                         .budget_ns = 10000000000},
};

static uint64_t judge_clock(void *user) {
    (void)user;
    return assay_clock_ns();
}

static size_t find_role(const assay_timing_bench *bench, assay_timing_role role) {
    size_t i = 0;
    while (i < bench->count && bench->slots[i].role != role) {
        i++;
    }
    return i;
}

static void metric(assay_context *context, const char *callable, const char *what, double value,
                   const char *unit) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", callable, what);
    assay_record_metric(context, name, value, unit);
}

static void record_samples(assay_context *context, const assay_timing_bench *bench,
                           const assay_timing_samples *samples, const char *flags, double *scratch,
                           double medians[ASSAY_TIMING_ROLE_COUNT]) {
    for (size_t i = 0; i < bench->count; i++) {
        const assay_timing_slot *slot = &bench->slots[i];
        const assay_timing_text *text = &assay_timing_roles[slot->role];
        const uint64_t *own = samples->own_ns + i * samples->capacity;
        assay_series_record series = {.callable = text->name,
                                      .scope = text->scope,
                                      .figure = "host",
                                      .flags = flags,
                                      .rows = slot->role == ASSAY_TIMING_FLOOR ? 1 : bench->rows,
                                      .bytes = slot->bytes,
                                      .repeat = 1,
                                      .samples_ns = own,
                                      .positions = samples->positions + i * samples->capacity,
                                      .count = samples->count};
        assay_record_series(context, &series);
        medians[i] = assay_timing_median(own, samples->count, scratch);
        metric(context, text->name, "median_ns", medians[i], "ns");
        if (slot->bytes > 0) {
            metric(context, text->name, "gbps", assay_timing_gbps(slot->bytes, medians[i]), "GB/s");
        }
        metric(context, text->name, "roundtrip_ns",
               assay_timing_median(samples->outer_ns + i * samples->capacity, samples->count, scratch), "ns");
    }
}

static void record_ratio(assay_context *context, const assay_check *check, const assay_timing_bench *bench,
                         const assay_timing_samples *samples, const char *name, assay_timing_role above,
                         assay_timing_role below) {
    size_t a = find_role(bench, above);
    size_t b = find_role(bench, below);
    assay_ratio ratio;
    if (a == bench->count || b == bench->count ||
        !assay_timing_bootstrap(samples->own_ns + a * samples->capacity,
                                samples->own_ns + b * samples->capacity, samples->count,
                                assay_philox_key_of(context->op->name, check->name, name, context->seed),
                                ASSAY_BOOTSTRAP_DRAWS, &ratio)) {
        return;
    }
    assay_record_metric(context, name, ratio.value, "");
    metric(context, name, "low95", ratio.low, "");
    metric(context, name, "high95", ratio.high, "");
}

static double least(const uint64_t *values, size_t n) {
    uint64_t lowest = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        lowest = values[i] < lowest ? values[i] : lowest;
    }
    return (double)lowest;
}

/* Checks each worker's claims against the judge's clock and the roof. False only for harness faults or
 * trouble. */
static bool check_claims(assay_context *context, assay_timing_bench *bench,
                         const assay_timing_samples *samples, const double medians[ASSAY_TIMING_ROLE_COUNT],
                         assay_result *result, assay_error *error) {
    size_t floor_slot = find_role(bench, ASSAY_TIMING_FLOOR);
    size_t roof_slot = find_role(bench, ASSAY_TIMING_ROOF);
    double floor_ns = least(samples->outer_ns + floor_slot * samples->capacity, samples->count);
    double roof_ns = least(samples->own_ns + roof_slot * samples->capacity, samples->count);
    assay_record_metric(context, "floor_roundtrip_least_ns", floor_ns, "ns");
    assay_record_metric(context, "floor_is_refused_call", bench->floor_refused ? 1.0 : 0.0, "");
    for (size_t i = 0; i < bench->count; i++) {
        assay_timing_slot *slot = &bench->slots[i];
        assay_timing_claim claim = {.single_median = medians[i], .floor = floor_ns, .roof = roof_ns};
        char reason[200];
        if (slot->worker == NULL || slot->role == ASSAY_TIMING_FLOOR) {
            continue;
        }
        bool backward = slot->role == ASSAY_TIMING_BACKWARD || slot->role == ASSAY_TIMING_BASELINE_BACKWARD;
        claim.bytes = backward ? 0 : bench->fill_bytes; /* a gradient is small: no roof to compare with */
        if (!assay_timing_batch(slot, &claim, error)) {
            return false;
        }
        const char *name = assay_timing_roles[slot->role].name;
        metric(context, name, "batch_calls", (double)claim.batch_calls, "");
        metric(context, name, "batch_own_ns", claim.batch_own, "ns");
        metric(context, name, "batch_outer_ns", claim.batch_outer, "ns");
        metric(context, name, "batch_least_ns", claim.least_outer, "ns");
        if (!assay_timing_trust(&claim, reason, sizeof reason) && result->outcome == ASSAY_OUTCOME_NOT_RUN) {
            result->bad++;
            assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "%s %s", name, reason);
        }
    }
    return true;
}

/* A fast answer is worth something only when it is the answer. */
static bool check_bytes(assay_timing_bench *bench, assay_result *result, assay_error *error) {
    for (size_t i = 0; i < bench->count; i++) {
        assay_timing_slot *slot = &bench->slots[i];
        bool different = false;
        if (slot->worker == NULL || slot->role == ASSAY_TIMING_FLOOR ||
            assay_timing_same_bytes(slot, &different, error)) {
            continue;
        }
        if (!different) {
            return false;
        }
        result->bad++;
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED,
                         "%s: what was timed does not give the bytes of the call with the range check",
                         assay_timing_roles[slot->role].name);
        return true;
    }
    return true;
}

static bool measure(assay_context *context, const assay_check *check, assay_timing_bench *bench,
                    const char *flags, assay_result *result, assay_error *error) {
    assay_timing_samples samples = {0};
    double medians[ASSAY_TIMING_ROLE_COUNT] = {0};
    bool good = assay_timing_measure(bench->callables, bench->count, &rules[context->tier], judge_clock, NULL,
                                     &samples, error);
    double *scratch = good ? assay_direct_memory(samples.count, sizeof *scratch, error) : NULL;
    if (good && scratch != NULL) {
        record_samples(context, bench, &samples, flags, scratch, medians);
        record_ratio(context, check, bench, &samples, "ratio_candidate_baseline", ASSAY_TIMING_CANDIDATE,
                     ASSAY_TIMING_BASELINE);
        record_ratio(context, check, bench, &samples, "ratio_checked_unchecked", ASSAY_TIMING_CHECKED,
                     ASSAY_TIMING_CANDIDATE);
        record_ratio(context, check, bench, &samples, "ratio_backward_baseline", ASSAY_TIMING_BACKWARD,
                     ASSAY_TIMING_BASELINE_BACKWARD);
        result->elements = samples.count * bench->count;
        good = check_claims(context, bench, &samples, medians, result, error) &&
               check_bytes(bench, result, error);
    }
    good = good && scratch != NULL;
    free(scratch);
    assay_timing_samples_free(&samples);
    return good;
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    if (context->device != NULL) {
        assay_timing_device_run(context, check, result);
        return;
    }
    assay_timing_bench bench;
    assay_error error = {0};
    double load = 0.0;
    int cpu = -1;
    bool good = assay_timing_bench_open(&bench, context, check, &error);
    if (good) {
        char flags[64];
        assay_timing_pin *pin = assay_timing_pin_open(&context->lanes[0], &cpu);
        bool loaded = getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN);
        assay_record_metric(context, "pinned_cpu", (double)cpu, "");
        assay_record_metric(context, "load_average", load, "");
        (void)snprintf(flags, sizeof flags, "%s%s%s", cpu < 0 ? "unpinned" : "", cpu < 0 && loaded ? "," : "",
                       loaded ? "loaded" : "");
        good = measure(context, check, &bench, flags, result, &error);
        assay_timing_pin_close(pin, &context->lanes[0]);
    }
    if (bench.troubled) {
        assay_result_set(result, bench.trouble.outcome, "%s", bench.trouble.reason);
    } else if (!good) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error.text);
    } else if (result->outcome == ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
    }
    assay_timing_bench_close(&bench);
}

static void plan(const assay_context *context, assay_plan *out) {
    if (context->device != NULL) {
        assay_timing_device_plan(context, &assay_suite_timing, out);
        return;
    }
    const json_t *rows = assay_direct_matrix(context, "timing", "rows");
    for (size_t i = 0; i < assay_direct_count(rows); i++) {
        int64_t n = assay_direct_number(rows, i, 1);
        assay_check *check =
            assay_plan_add(out, context, &assay_suite_timing, "timing", "rows_%lld", (long long)n);
        if (check != NULL) {
            assay_direct_case(context, 0, ASSAY_DTYPE_F32, (uint64_t)n, context->seed, &check->c);
        }
    }
}

const assay_suite assay_suite_timing = {
    .name = "timing",
    .help = "interleaved raw samples with floors and roofs; faster than physics is mistrusted",
    .plan = plan,
    .run = run,
};
