/* figure_latency.c - latency against size, with the machine's floor and roof. */
#include "figure.h"

#include <math.h>
#include <string.h>

#define MOST_LINES 8

/* Looks: colours of Okabe and Ito; the candidate blue, the baseline orange. */
static const struct {
    const char *callable, *colour;
    int dash, point; /* dash: 1 solid, 2 dashed, 3 dotted, 4 long; defined in the template */
} looks[] = {{"candidate", "#0072B2", 1, 7},          {"baseline", "#E69F00", 1, 5},
             {"candidate_checked", "#009E73", 1, 9},  {"baseline_checked", "#CC79A7", 1, 11},
             {"candidate_backward", "#56B4E9", 2, 6}, {"baseline_backward", "#D55E00", 2, 4},
             {"roof_read", "#7f8790", 2, 0}};

static const char *line_name(report_arena *a, const report_model *m, const report_series *s) {
    if (strncmp(s->callable, "candidate", 9) == 0) {
        return report_printf(a, "%s%s", m->candidate, report_words(a, s->callable + 9));
    }
    if (strncmp(s->callable, "baseline", 8) == 0) {
        return report_printf(a, "%s%s", m->other[0] != '\0' ? m->other : "baseline",
                             report_words(a, s->callable + 8));
    }
    return report_words(a, s->callable);
}

static bool same_line(const report_series *a, const report_series *b) {
    return strcmp(a->callable, b->callable) == 0 && strcmp(a->figure, b->figure) == 0;
}

/* Time per row at the best rate of any size. */
static double best_ns_per_row(const report_model *m, const report_series *line) {
    double best = INFINITY;
    for (size_t i = 0; i < m->series_count; i++) {
        const report_series *s = &m->series[i];
        if (same_line(s, line) && s->median_ns > 0 && s->rows > 0) {
            best = fmin(best, s->median_ns / (double)report_series_rows(m, s));
        }
    }
    return best;
}

/* A single memset cannot be queued as densely as the kernels of a graph: beside these, the roof is its rate.
 */
static bool is_rate(const report_series *line) {
    return strcmp(line->scope, "roof") == 0 && strcmp(line->figure, "device") == 0;
}

static void write_line(const report_model *m, const report_series *line, FILE *data) {
    const bool rate = is_rate(line);
    const double best = best_ns_per_row(m, line);
    for (size_t i = 0; i < m->series_count; i++) {
        const report_series *s = &m->series[i];
        if (same_line(s, line) && s->median_ns > 0 && s->rows > 0) {
            const uint64_t rows = report_series_rows(m, s);
            const double ns = best * (double)rows;
            (void)fprintf(data, "%llu %.17g %.17g %.17g\n", (unsigned long long)rows,
                          (rate ? ns : s->median_ns) / 1e3, (rate ? ns : s->low_ns) / 1e3,
                          (rate ? ns : s->high_ns) / 1e3);
        }
    }
    (void)fputs("\n\n", data);
}

static void describe_line(const report_model *m, const report_series *s, size_t n, FILE *set) {
    const bool floor = strcmp(s->scope, "floor") == 0;
    const bool roof = strcmp(s->scope, "roof") == 0;
    const char *colour = floor ? "#7f8790" : roof ? "#7f8790" : "#CC79A7";
    int dash = floor ? 4 : roof ? 3 : 1;
    int point = floor || roof ? 0 : 13;
    for (size_t k = 0; k < sizeof looks / sizeof looks[0]; k++) {
        if (strcmp(looks[k].callable, s->callable) == 0) {
            colour = looks[k].colour;
            dash = looks[k].dash;
            point = looks[k].point;
        }
    }
    (void)fprintf(set, "COLOUR[%zu] = '%s'\nDASH[%zu] = %d\nPOINT[%zu] = %d\nNAME[%zu] = ", n, colour, n,
                  dash, n, point, n);
    figure_string(set, line_name(m->arena, m, s));
    (void)fputc('\n', set);
}

/* The words of a figure. A run on the host has one figure and no name for it. */
static const struct {
    const char *figure, *title, *what, *bounds;
} texts[] = {{"host", "Latency", "per call", "The floor is a call that computes nothing, the roof moves"},
             {"launch", "Launch-inclusive latency", "by events around one call",
              "The floor is an empty kernel, the roofs move"},
             {"device", "Device time", "of a CUDA graph of several calls, divided by their number",
              "The floor is an empty kernel in a graph, the roofs move at their best rate"}};

static void describe(const report_model *m, const char *figure, figure_plan *plan) {
    size_t i = sizeof texts / sizeof texts[0] - 1;
    while (i > 0 && strcmp(texts[i].figure, figure) != 0) {
        i--;
    }
    plan->title = report_printf(m->arena, "%s against size on %s", texts[i].title, report_device(m));
    plan->caption = report_printf(
        m->arena,
        "Medians of interleaved samples %s; bars from the 5th to the 95th percentile. %s the same bytes and "
        "%s nothing.",
        texts[i].what, texts[i].bounds, i == 0 ? "computes" : "compute");
    plan->template_name = "figure_latency.gp";
    plan->wide_height = 430;
    plan->narrow_height = 420;
}

/* Whether a series is drawn: it has this figure and something to show; the candidate timed against itself is
 * a check of the clock, not a line. */
static bool drawn(const report_series *s, const char *figure) {
    return s->median_ns > 0 && s->rows > 0 && strcmp(s->figure, figure) == 0 &&
           strcmp(s->callable, "candidate_again") != 0;
}

bool figure_latency(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    const char *figure = strcmp(subject, "launch") == 0 && !report_has_figure(m, "launch") ? "host" : subject;
    const report_series *lines[MOST_LINES];
    size_t count = 0;
    double low = INFINITY;
    double high = 0;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < m->series_count; i++) {
        const report_series *s = &m->series[i];
        bool known = !drawn(s, figure);
        for (size_t k = 0; k < count && !known; k++) {
            known = same_line(lines[k], s);
        }
        if (!known && count < MOST_LINES) { /* later lines lie on top: the candidate's last */
            const bool top = strcmp(s->callable, "candidate") == 0;
            const size_t at =
                count > 0 && strcmp(lines[count - 1]->callable, "candidate") == 0 && !top ? count - 1 : count;
            for (size_t k = count; k > at; k--) {
                lines[k] = lines[k - 1];
            }
            lines[at] = s;
            count++;
        }
        if (drawn(s, figure)) {
            low = !is_rate(s) && s->low_ns > 0 && s->low_ns < low ? s->low_ns : low;
            high = s->high_ns > high ? s->high_ns : high;
            least = s->rows < least ? s->rows : least;
            most = s->rows > most ? s->rows : most;
        }
    }
    if (count == 0 || !(high > 0) || !isfinite(low)) {
        return false;
    }
    (void)fprintf(set, "LINES = %zu\narray NAME[%zu]\narray COLOUR[%zu]\narray DASH[%zu]\narray POINT[%zu]\n",
                  count, count, count, count, count);
    for (size_t k = 0; k < count; k++) {
        describe_line(m, lines[k], k + 1, set);
        write_line(m, lines[k], data);
    }
    const int bottom = (int)floor(log10(low / 1e3));
    const int top = (int)ceil(log10(high / 1e3));
    (void)fprintf(set, "XLOW = %llu / 1.5\nXHIGH = %llu * 1.5\nYLOW = 1e%d\nYHIGH = 1e%d\n",
                  (unsigned long long)least, (unsigned long long)most, bottom, top);
    figure_decades(set, "YTICS", bottom, top, 9);
    describe(m, figure, plan);
    return true;
}
