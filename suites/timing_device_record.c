/* timing_device_record.c - what the timing suite on a GPU puts into the evidence: series, medians, ratios
 * with intervals, what the management library said. */
#include "timing_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *scope;
    bool launched; /* an empty kernel: `repeat` and no bytes */
} bounds[ASSAY_DEVICE_BOUND_COUNT] = {[ASSAY_DEVICE_FLOOR] = {"floor", "floor", true},
                                      [ASSAY_DEVICE_FILL] = {"roof_memset", "roof", false},
                                      [ASSAY_DEVICE_READ] = {"roof_read", "roof", false}};

/* Pairs whose ratio is recorded, numerator first. */
static const struct {
    const char *metric;
    size_t above, below;
} ratios[] = {{"ratio_candidate_baseline", ASSAY_DEVICE_CANDIDATE, ASSAY_DEVICE_BASELINE},
              {"ratio_checked_unchecked", ASSAY_DEVICE_CHECKED, ASSAY_DEVICE_CANDIDATE},
              {"ratio_backward_baseline", ASSAY_DEVICE_BACKWARD, ASSAY_DEVICE_BASELINE_BACKWARD},
              {"ratio_again", ASSAY_DEVICE_AGAIN, ASSAY_DEVICE_CANDIDATE}};

void assay_device_metric(assay_context *context, const char *callable, const char *what, double value,
                         const char *unit) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", callable, what);
    assay_record_metric(context, name, value, unit);
}

static double least(const uint64_t *values, size_t n) {
    uint64_t lowest = n == 0 ? 0 : UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        lowest = values[i] < lowest ? values[i] : lowest;
    }
    return (double)lowest;
}

static bool has_bound(const assay_device_bench *bench, size_t bound) {
    return bench->watch.bound_count > 0 && bench->watch.bounds[bound][0] > 0;
}

double assay_device_bound_least(const assay_device_bench *bench, size_t bound) {
    const double calls = bounds[bound].launched ? (double)bench->floor_repeat : 1.0;
    return has_bound(bench, bound) ? least(bench->watch.bounds[bound], bench->watch.bound_count) / calls
                                   : 0.0;
}

/* ---- what the management library said ---- */

/* Least and median of one column of the readings. */
static void record_column(assay_context *context, const assay_device_watch *w, size_t field, size_t has,
                          const char *name, const char *unit) {
    double values[ASSAY_DEVICE_READINGS];
    size_t n = 0;
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < w->count; i++) {
        const char *reading = (const char *)&w->readings[i];
        unsigned value;
        bool known;
        memcpy(&value, reading + field, sizeof value);
        memcpy(&known, reading + has, sizeof known);
        if (known) {
            values[n++] = (double)value;
            low = fmin(low, (double)value);
            high = fmax(high, (double)value);
        }
    }
    if (n > 0) {
        assay_device_metric(context, name, "least", low, unit);
        assay_device_metric(context, name, "median", assay_quantile(values, n, 0.5), unit);
        assay_device_metric(context, name, "most", high, unit);
    }
}

/* Returns how many iterations were made while something held the clocks back. */
static size_t record_watch(assay_context *context, const assay_device_watch *w, size_t iterations) {
    static const struct {
        size_t field, has;
        const char *name, *unit;
    } columns[] = {
#define COLUMN(field, has, name, unit)                                                                       \
    {offsetof(assay_nvml_reading, field), offsetof(assay_nvml_reading, has), name, unit}
        COLUMN(sm_clock_mhz, has_sm_clock, "nvml_sm_clock", "MHz"),
        COLUMN(memory_clock_mhz, has_memory_clock, "nvml_memory_clock", "MHz"),
        COLUMN(temperature_c, has_temperature, "nvml_temperature", "C"),
        COLUMN(power_mw, has_power, "nvml_power", "mW")
#undef COLUMN
    };
    uint64_t reasons = 0;
    assay_record_metric(context, "nvml_readings", (double)w->count, "");
    if (w->nvml == NULL) {
        return 0;
    }
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        record_column(context, w, columns[i].field, columns[i].has, columns[i].name, columns[i].unit);
    }
    for (size_t i = 0; i < w->count; i++) {
        reasons |= w->readings[i].reasons;
    }
    const assay_timing_marks marks = {w->done, w->bad, w->count};
    const size_t throttled = assay_timing_marked(&marks, iterations);
    assay_record_metric(context, "nvml_by_uuid", assay_nvml_by_uuid(w->nvml) ? 1.0 : 0.0, "");
    assay_record_metric(context, "nvml_reasons", (double)reasons, "");
    assay_record_metric(context, "throttled_iterations", (double)throttled, "");
    return throttled;
}

/* ---- series ---- */

/* Adds a word to a list with commas; nothing when it is empty. */
static void join(char *flags, size_t bytes, const char *word) {
    const size_t used = strlen(flags);
    if (word[0] == '\0') {
        return;
    }
    (void)snprintf(flags + used, bytes - used, "%s%s", used > 0 ? "," : "", word);
}

static void record_slot(assay_context *context, const assay_device_bench *bench, size_t i,
                        const assay_timing_samples *samples, const char *marks, double *scratch) {
    const assay_device_slot *slot = &bench->slots[i];
    const uint64_t *own = samples->own_ns + i * samples->capacity;
    char flags[64] = "";
    join(flags, sizeof flags, marks);
    if (bench->figure == ASSAY_TIMING_FIGURE_DEVICE && slot->graph == 0) {
        join(flags, sizeof flags, "events");
    }
    const assay_series_record series = {.callable = slot->kind->name,
                                        .scope = slot->kind->scope,
                                        .figure = assay_timing_figures[bench->figure],
                                        .flags = flags,
                                        .rows = bench->rows,
                                        .bytes = slot->bytes,
                                        .repeat = slot->repeat,
                                        .samples_ns = own,
                                        .positions = samples->positions + i * samples->capacity,
                                        .count = samples->count};
    assay_record_series(context, &series);
    const double median = assay_timing_median(own, samples->count, scratch) / slot->repeat;
    assay_device_metric(context, slot->kind->name, "median_ns", median, "ns");
    assay_device_metric(context, slot->kind->name, "gbps", assay_timing_gbps(slot->bytes, median), "GB/s");
    assay_device_metric(context, slot->kind->name, "graph", slot->graph > 0 ? 1.0 : 0.0, "");
}

static void record_bounds(assay_context *context, const assay_device_bench *bench, const char *marks) {
    const assay_device_watch *w = &bench->watch;
    uint32_t positions[ASSAY_DEVICE_READINGS];
    double scratch[ASSAY_DEVICE_READINGS];
    for (size_t i = 0; i < w->bound_count; i++) {
        positions[i] = (uint32_t)bench->count; /* after every callable of an iteration */
    }
    for (size_t b = 0; b < ASSAY_DEVICE_BOUND_COUNT; b++) {
        if (!has_bound(bench, b)) {
            continue;
        }
        const uint64_t bytes = b == ASSAY_DEVICE_FILL   ? bench->fill_bytes
                               : b == ASSAY_DEVICE_READ ? bench->backward_bytes
                                                        : 0;
        const assay_series_record series = {.callable = bounds[b].name,
                                            .scope = bounds[b].scope,
                                            .figure = assay_timing_figures[bench->figure],
                                            .flags = marks,
                                            .rows = bounds[b].launched ? 1 : bench->rows,
                                            .bytes = bytes,
                                            .repeat = bounds[b].launched ? bench->floor_repeat : 1,
                                            .samples_ns = w->bounds[b],
                                            .positions = positions,
                                            .count = w->bound_count};
        assay_record_series(context, &series);
        const double median =
            assay_timing_median(w->bounds[b], w->bound_count, scratch) / (double)series.repeat;
        assay_device_metric(context, bounds[b].name, "median_ns", median, "ns");
        if (bytes > 0) {
            assay_device_metric(context, bounds[b].name, "gbps", assay_timing_gbps(bytes, median), "GB/s");
        }
    }
}

/* ---- ratios ---- */

static size_t find(const assay_device_bench *bench, size_t kind) {
    size_t i = 0;
    while (i < bench->count && bench->slots[i].kind != &assay_device_kinds[kind]) {
        i++;
    }
    return i;
}

static void record_ratio(assay_context *context, const char *name, const assay_ratio *ratio, double scale) {
    assay_record_metric(context, name, ratio->value * scale, "");
    assay_device_metric(context, name, "low95", ratio->low * scale, "");
    assay_device_metric(context, name, "high95", ratio->high * scale, "");
}

static void record_ratios(assay_context *context, const assay_check *check, const assay_device_bench *bench,
                          const assay_timing_samples *samples) {
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        const size_t a = find(bench, ratios[i].above);
        const size_t b = find(bench, ratios[i].below);
        assay_ratio ratio;
        if (a == bench->count || b == bench->count ||
            !assay_timing_bootstrap(
                samples->own_ns + a * samples->capacity, samples->own_ns + b * samples->capacity,
                samples->count,
                assay_philox_key_of(context->op->name, check->name, ratios[i].metric, context->seed),
                ASSAY_BOOTSTRAP_DRAWS, &ratio)) {
            continue;
        }
        record_ratio(context, ratios[i].metric, &ratio,
                     (double)bench->slots[b].repeat / (double)bench->slots[a].repeat);
        if (ratios[i].above == ASSAY_DEVICE_AGAIN) { /* the same binary twice: an interval without 1 is one */
            assay_record_metric(context, "false_alarm", ratio.low > 1.0 || ratio.high < 1.0 ? 1.0 : 0.0, "");
        }
    }
}

/* Time of a bound by time of the callable (share of roof), or the inverse (times the floor). */
static void record_against(assay_context *context, const assay_check *check, const assay_device_bench *bench,
                           const assay_timing_samples *samples, size_t i, size_t bound) {
    const assay_device_slot *slot = &bench->slots[i];
    const assay_device_watch *w = &bench->watch;
    const bool floor = bounds[bound].launched;
    double own[ASSAY_DEVICE_SAMPLES];
    double base[ASSAY_DEVICE_READINGS];
    char name[64];
    assay_ratio ratio;
    if (!has_bound(bench, bound) || samples->count > ASSAY_DEVICE_SAMPLES) {
        return;
    }
    for (size_t k = 0; k < samples->count; k++) {
        own[k] = (double)samples->own_ns[i * samples->capacity + k] / slot->repeat;
    }
    for (size_t k = 0; k < w->bound_count; k++) {
        base[k] = (double)w->bounds[bound][k] / (floor ? (double)bench->floor_repeat : 1.0);
    }
    (void)snprintf(name, sizeof name, "%s_%s", slot->kind->name, floor ? "times_floor" : "roof_share");
    const assay_philox_key key = assay_philox_key_of(context->op->name, check->name, name, context->seed);
    if (floor ? assay_bootstrap_ratio(own, samples->count, base, w->bound_count, false, key,
                                      ASSAY_BOOTSTRAP_DRAWS, &ratio)
              : assay_bootstrap_ratio(base, w->bound_count, own, samples->count, false, key,
                                      ASSAY_BOOTSTRAP_DRAWS, &ratio)) {
        record_ratio(context, name, &ratio, 1.0);
    }
}

/* ---- all of it ---- */

static void record_left_out(assay_context *context, const assay_device_bench *bench) {
    for (size_t k = 0; k < ASSAY_DEVICE_KIND_COUNT; k++) {
        if ((bench->dropped >> k & 1) != 0) {
            assay_device_metric(context, assay_device_kinds[k].name, "left_out", 1.0, "");
        }
    }
}

void assay_device_record(assay_context *context, const assay_check *check, const assay_device_bench *bench,
                         const assay_timing_samples *samples) {
    double scratch[ASSAY_DEVICE_SAMPLES];
    double load = 0.0;
    char marks[64] = "";
    const bool loaded = getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN);
    assay_record_metric(context, "load_average", load, "");
    assay_record_metric(context, "outputs_in_turn", (double)bench->candidate.output_count, "");
    record_left_out(context, bench);
    if (record_watch(context, &bench->watch, samples->count) > 0) {
        join(marks, sizeof marks, "throttled");
    }
    if (loaded && bench->figure != ASSAY_TIMING_FIGURE_DEVICE) {
        join(marks, sizeof marks, "loaded");
    }
    record_bounds(context, bench, marks);
    record_ratios(context, check, bench, samples);
    for (size_t i = 0; i < bench->count; i++) {
        record_slot(context, bench, i, samples, marks, scratch);
        record_against(context, check, bench, samples, i, ASSAY_DEVICE_FLOOR);
        record_against(context, check, bench, samples, i,
                       bench->slots[i].kind->backward ? ASSAY_DEVICE_READ : ASSAY_DEVICE_FILL);
    }
}
