/* report_timing_device.c - timing of a run on a GPU as one row per size and callable: three figures side by
 * side. */
#include "nvml.h"
#include "report_doc.h"

#include <math.h>
#include <string.h>

/* The series of one callable and size with this figure; NULL when there is none. */
static const report_series *series_of(const report_model *m, const report_series *like, const char *figure) {
    const uint64_t rows = report_series_rows(m, like);
    for (size_t i = 0; i < m->series_count; i++) {
        const report_series *s = &m->series[i];
        if (strcmp(s->callable, like->callable) == 0 && strcmp(s->figure, figure) == 0 &&
            report_series_rows(m, s) == rows) {
            return s;
        }
    }
    return NULL;
}

/* Whether an earlier series has the same callable and size. */
static bool shown(const report_model *m, size_t index) {
    const report_series *s = &m->series[index];
    bool found = false;
    for (size_t i = 0; i < index && !found; i++) {
        found = strcmp(m->series[i].callable, s->callable) == 0 &&
                report_series_rows(m, &m->series[i]) == report_series_rows(m, s);
    }
    return found;
}

static void time_cell(report_doc *doc, report_table *t, const report_series *s) {
    report_cell_number(doc, t, s == NULL ? "-" : report_ns_text(doc->arena, s->median_ns));
    if (s != NULL && s->count > 0) {
        report_cell_detail(doc, t,
                           report_printf(doc->arena, "%s \xe2\x80\x93 %s",
                                         report_ns_text(doc->arena, s->low_ns),
                                         report_ns_text(doc->arena, s->high_ns)));
    }
}

static const char *marks(report_doc *doc, const report_series *device, const report_series *launch) {
    const char *first = device != NULL ? device->flags : "";
    const char *second = launch != NULL ? launch->flags : "";
    if (second[0] == '\0' || strcmp(first, second) == 0) {
        return first;
    }
    return first[0] == '\0' ? second : report_printf(doc->arena, "%s; launch: %s", first, second);
}

static void row(report_doc *doc, report_table *t, const report_series *any) {
    report_arena *a = doc->arena;
    const report_model *m = doc->model;
    const report_series *device = series_of(m, any, "device");
    const report_series *launch = series_of(m, any, "launch");
    const report_series *best = device != NULL ? device : launch;
    const report_series *ratio = launch != NULL ? launch : device;
    const bool bound = strcmp(any->scope, "floor") == 0 || strcmp(any->scope, "roof") == 0;
    const char *none = bound ? "" : "-";
    report_cell_number(doc, t, report_count_text(a, report_series_rows(m, any)));
    report_cell_code(doc, t, any->callable);
    time_cell(doc, t, device);
    time_cell(doc, t, launch);
    time_cell(doc, t, series_of(m, any, "host"));
    report_cell_number(doc, t,
                       best == NULL || !(best->gbps > 0) ? "-" : report_printf(a, "%.3g", best->gbps));
    report_cell_number(doc, t,
                       best == NULL || best->roof == NULL || !(best->roof->gbps > 0) || best->bytes == 0
                           ? none
                           : report_printf(a, "%.1f %%", 100.0 * best->gbps / best->roof->gbps));
    report_cell_number(doc, t,
                       best == NULL || best->floor == NULL || !(best->floor->median_ns > 0)
                           ? none
                           : report_printf(a, "%.2f", best->median_ns / best->floor->median_ns));
    report_cell_number(
        doc, t,
        ratio == NULL || ratio->against == NULL
            ? none
            : report_printf(a, "%.3f [%.3f, %.3f]", ratio->ratio, ratio->ratio_low, ratio->ratio_high));
    if (ratio != NULL && ratio->against != NULL) {
        report_cell_detail(doc, t, report_printf(a, "to %s", report_words(a, ratio->against->callable)));
    }
    report_cell_text(doc, t, marks(doc, device, launch));
}

/* Extreme of a metric over all checks; NaN when none has it. */
static double extreme(const report_model *m, const char *name, bool largest) {
    double found = (double)NAN;
    for (size_t i = 0; i < m->metric_count; i++) {
        if (strcmp(m->metrics[i].name, name) == 0) {
            found = largest ? fmax(found, m->metrics[i].value) : fmin(found, m->metrics[i].value);
        }
    }
    return found;
}

/* Clocks and temperature of all timing checks. */
static void note_readings(report_doc *doc) {
    const report_model *m = doc->model;
    char words[256];
    uint64_t reasons = 0;
    for (size_t i = 0; i < m->metric_count; i++) {
        const double value = m->metrics[i].value;
        if (strcmp(m->metrics[i].name, "nvml_reasons") == 0 && value >= 0 && value < 0x1p53) {
            reasons |= (uint64_t)value;
        }
    }
    if (!(extreme(m, "nvml_readings", true) > 0)) {
        report_note(doc,
                    "Clocks and temperature: unavailable, the management library of the GPU was not there.");
        return;
    }
    assay_nvml_reasons_text(reasons, words, sizeof words);
    report_note(
        doc,
        "Read between the iterations: SM clock %.0f to %.0f MHz, memory clock %.0f to %.0f MHz, at most "
        "%.0f \xc2\xb0"
        "C; clock event reasons seen: %s. Samples beside a reading with a reason other than idle or "
        "a clock setting are marked throttled.",
        extreme(m, "nvml_sm_clock_least", false), extreme(m, "nvml_sm_clock_most", true),
        extreme(m, "nvml_memory_clock_least", false), extreme(m, "nvml_memory_clock_most", true),
        extreme(m, "nvml_temperature_most", true), words);
}

void report_timing_device_table(report_doc *doc) {
    static const char *const columns[] = {"Rows", "Callable", "Device",         "Launch",       "Host",
                                          "GB/s", "Of roof",  "\xc3\xb7 floor", "Ratio [95 %]", "Marks"};
    const report_model *m = doc->model;
    report_table *t =
        report_table_begin(doc, "Timing by size and callable", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < m->series_count; i++) {
        if (!shown(m, i)) {
            row(doc, t, &m->series[i]);
        }
    }
    report_note(
        doc, "Medians per call, 5 to 95 %% below. Device: a CUDA graph of several calls divided by their "
             "number (marked events: no graph could hold the call, so events around several calls). Launch: "
             "events around one call. Host: the worker's clock around one call and the wait for its "
             "stream. GB/s, share of the roof and multiples of the floor are those of the device figure; "
             "the ratio, with a bootstrap interval over iterations, is that of the launch figure.");
    note_readings(doc);
}
