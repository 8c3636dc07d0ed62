/* report_timing.c - medians, ratios, floors and roofs of timing series. Everything comes from the raw
 * samples. */
#include "report_model.h"
#include "stats.h"

#include <math.h>
#include <string.h>

/* The series of the same check that `s` is compared with: "candidate<rest>" with "baseline<rest>", else with
 * the baseline of the same scope, else (a checked call, or the candidate again) with the plain candidate.
 * NULL when there is none. */
static const report_series *partner_of(const report_model *model, const report_series *s) {
    static const char prefix[] = "candidate";
    if (strncmp(s->callable, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    const char *wanted = report_printf(model->arena, "baseline%s", s->callable + sizeof prefix - 1);
    const bool again = strcmp(s->callable, "candidate_again") == 0;
    const report_series *fallback = NULL;
    const report_series *plain = NULL;
    for (size_t i = 0; i < model->series_count; i++) {
        const report_series *other = &model->series[i];
        if (other->seq != s->seq || other->rows != s->rows || strcmp(other->figure, s->figure) != 0) {
            continue;
        }
        if (strcmp(other->callable, wanted) == 0) {
            return other;
        }
        if (!again && strncmp(other->callable, "baseline", 8) == 0 && strcmp(other->scope, s->scope) == 0) {
            fallback = other;
        }
        if ((strcmp(s->scope, "checked") == 0 || again) && strcmp(other->callable, prefix) == 0) {
            plain = other;
        }
    }
    return fallback != NULL ? fallback : plain;
}

/* Whether a roof bounds this series: a reading one those that mostly read, where there is one. */
static bool bounds(const report_series *roof, const report_series *s, bool has_read) {
    const bool reads = strcmp(roof->callable, "roof_read") == 0;
    return reads == (has_read && strcmp(s->scope, "backward_only") == 0);
}

static bool has_read_roof(const report_model *model, int64_t seq) {
    bool found = false;
    for (size_t i = 0; i < model->series_count && !found; i++) {
        found = model->series[i].seq == seq && strcmp(model->series[i].callable, "roof_read") == 0;
    }
    return found;
}

/* The fastest series with this scope (floor, roof) of the same check that bounds `s`. */
static const report_series *bound_of(const report_model *model, const report_series *s, const char *scope) {
    const report_series *best = NULL;
    const bool has_read = has_read_roof(model, s->seq);
    for (size_t i = 0; i < model->series_count; i++) {
        const report_series *other = &model->series[i];
        if (other == s || other->seq != s->seq || strcmp(other->scope, scope) != 0 || other->count == 0 ||
            !bounds(other, s, has_read && strcmp(scope, "roof") == 0)) {
            continue;
        }
        if (best == NULL ||
            (strcmp(scope, "roof") == 0 ? other->gbps > best->gbps : other->median_ns < best->median_ns)) {
            best = other;
        }
    }
    return best;
}

static void derive_one(report_model *model, report_series *s) {
    double *scratch = report_arena_alloc(model->arena, s->count * sizeof *scratch);
    s->median_ns = s->low_ns = s->high_ns = (double)NAN;
    if (scratch == NULL || s->count == 0) {
        return;
    }
    const double calls = s->repeat == 0 ? 1.0 : (double)s->repeat;
    memcpy(scratch, s->samples_ns, s->count * sizeof *scratch);
    s->median_ns = assay_quantile(scratch, s->count, 0.5) / calls;
    s->low_ns = assay_quantile(scratch, s->count, 0.05) / calls;
    s->high_ns = assay_quantile(scratch, s->count, 0.95) / calls;
    s->gbps = s->median_ns > 0 ? (double)s->bytes / s->median_ns : 0.0; /* bytes per ns = GB/s */
}

/* The ratio that the run recorded with its samples: one number, one home. */
static bool recorded_ratio(const report_model *model, report_series *s) {
    static const struct {
        const char *callable, *against, *metric;
    } known[] = {{"candidate", "baseline", "ratio_candidate_baseline"},
                 {"candidate_backward", "baseline_backward", "ratio_backward_baseline"},
                 {"candidate_checked", "candidate", "ratio_checked_unchecked"},
                 {"candidate_again", "candidate", "ratio_again"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].callable, s->callable) != 0 ||
            strcmp(known[i].against, s->against->callable) != 0) {
            continue;
        }
        const report_metric *value = report_metric_of(model, s->seq, known[i].metric);
        const report_metric *low =
            report_metric_of(model, s->seq, report_printf(model->arena, "%s_low95", known[i].metric));
        const report_metric *high =
            report_metric_of(model, s->seq, report_printf(model->arena, "%s_high95", known[i].metric));
        if (value != NULL && low != NULL && high != NULL) {
            s->ratio = value->value;
            s->ratio_low = low->value;
            s->ratio_high = high->value;
            return true;
        }
    }
    return false;
}

static void derive_ratio(const report_model *model, report_series *s) {
    const double scale = (s->against->repeat == 0 ? 1.0 : (double)s->against->repeat) /
                         (s->repeat == 0 ? 1.0 : (double)s->repeat);
    static const assay_philox_key key = {{0x61737361, 0x79}}; /* fixed, so that reports are reproducible */
    assay_ratio ratio;
    if (recorded_ratio(model, s)) {
        return;
    }
    if (!assay_bootstrap_ratio(s->samples_ns, s->count, s->against->samples_ns, s->against->count,
                               s->count == s->against->count, key, ASSAY_BOOTSTRAP_DRAWS, &ratio)) {
        s->against = NULL;
        return;
    }
    s->ratio = ratio.value * scale;
    s->ratio_low = ratio.low * scale;
    s->ratio_high = ratio.high * scale;
}

void report_timing_derive(report_model *model) {
    for (size_t i = 0; i < model->series_count; i++) {
        derive_one(model, &model->series[i]);
    }
    for (size_t i = 0; i < model->series_count; i++) {
        report_series *s = &model->series[i];
        if (strcmp(s->scope, "floor") == 0 || strcmp(s->scope, "roof") == 0) {
            continue;
        }
        s->floor = bound_of(model, s, "floor");
        s->roof = bound_of(model, s, "roof");
        s->against = partner_of(model, s);
        if (s->against != NULL) {
            derive_ratio(model, s);
        }
    }
}

uint64_t report_series_rows(const report_model *model, const report_series *series) {
    uint64_t rows = series->rows;
    for (size_t i = 0; i < model->series_count && strcmp(series->scope, "floor") == 0; i++) {
        rows = model->series[i].seq == series->seq && model->series[i].rows > rows ? model->series[i].rows
                                                                                   : rows;
    }
    return rows;
}

bool report_has_figure(const report_model *model, const char *figure) {
    bool found = false;
    for (size_t i = 0; i < model->series_count && !found; i++) {
        found = strcmp(model->series[i].figure, figure) == 0;
    }
    return found;
}
