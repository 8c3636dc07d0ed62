/* report_sections_numbers.c - parity, accuracy, invariance, gradients and the summary of the other suites. */
#include "report_doc.h"
#include "report_matrix.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_suite(const report_model *m, const char *suite) {
    for (size_t i = 0; i < m->check_count; i++) {
        if (strcmp(m->checks[i].suite, suite) == 0) {
            return true;
        }
    }
    return false;
}

/* The part of a check's name behind its suite. */
static const char *case_of(const report_check *c) {
    const char *slash = strchr(c->name, '/');
    return slash == NULL ? c->name : slash + 1;
}

static const char *metric_text(report_doc *doc, int64_t seq, const char *name, bool whole) {
    const report_metric *metric = report_metric_of(doc->model, seq, name);
    if (metric == NULL) {
        return "-";
    }
    if (strstr(name, "_share") != NULL) {
        const double percent = metric->value * 100.0;
        return report_printf(doc->arena, percent < 100.0 && percent >= 99.995 ? ">99.99 %%" : "%.2f %%",
                             percent);
    }
    if (strcmp(name, "correlation") == 0 && !isnan(metric->value)) {
        return report_printf(doc->arena, "%.9f", metric->value);
    }
    if (whole && metric->value >= 0 && metric->value < 0x1p63) {
        return report_count_text(doc->arena, (uint64_t)metric->value);
    }
    return report_real_text(doc->arena, metric->value);
}

/* One row per group of checks: how many are equal, and every size with what differs there; the same cells as
 * the figure. */
static void matrix_table(report_doc *doc, const char *suite, const char *label) {
    static const char *const columns[] = {"Check", "Result", "Sizes or places", "Judged", "Differing"};
    report_arena *a = doc->arena;
    report_matrix matrix;
    if (!report_matrix_build(doc->model, suite, &matrix)) {
        return;
    }
    report_table *t = report_table_begin(doc, label, columns, COUNT(columns));
    for (size_t r = 0; r < matrix.count; r++) {
        const report_matrix_row *row = &matrix.rows[r];
        uint64_t equal = 0;
        uint64_t failed = 0;
        uint64_t judged = 0;
        uint64_t bad = 0;
        const char *sizes = "";
        for (size_t k = 0; k < row->count; k++) {
            const report_check *c = row->cells[k].check;
            equal += c->outcome == ASSAY_OUTCOME_PASS && report_differing(doc->model, c) == 0;
            failed += c->outcome == ASSAY_OUTCOME_FAIL;
            judged += c->elements;
            bad += report_differing(doc->model, c);
            sizes = report_printf(a, "%s%s%s", sizes, k == 0 ? "" : ", ", row->cells[k].label);
            if (c->outcome != ASSAY_OUTCOME_PASS) {
                sizes = report_printf(a, "%s (%s)", sizes, report_words(a, assay_outcome_text(c->outcome)));
            }
        }
        report_cell_code(doc, t, row->label);
        report_cell_state(doc, t,
                          equal == row->count ? REPORT_TONE_GOOD
                          : failed > 0        ? REPORT_TONE_BAD
                                              : REPORT_TONE_DOUBT,
                          report_printf(a, "%s of %zu equal", report_count_text(a, equal), row->count));
        report_cell_text(doc, t, sizes);
        report_cell_number(doc, t, report_count_text(a, judged));
        report_cell_number(doc, t, report_count_text(a, bad));
    }
}

void report_sections_parity(report_doc *doc, const report_figures *figures) {
    static const char *const columns[] = {
        "Case", "Outcome", "Differing", "Judged", "Share", "Max ulp", "First differing input"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    if (!has_suite(m, "parity")) {
        return;
    }
    report_section(doc, "parity", "Parity");
    report_text(doc,
                "Output bytes of " REPORT_STRONG_ON "%s" REPORT_STRONG_OFF
                " against the replay of its lineage (%s)%s%s%s.",
                m->candidate, report_provenance(m, "candidate.lineage"),
                m->other[0] != '\0' ? " and against " REPORT_STRONG_ON : "", m->other,
                m->other[0] != '\0' ? REPORT_STRONG_OFF : "");
    report_table *t =
        report_table_begin(doc, "Parity: differing of judged elements", columns, COUNT(columns));
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        if (strcmp(c->suite, "parity") != 0) {
            continue;
        }
        const report_element *e = report_element_of(m, c->seq, "first");
        const uint64_t bad = report_differing(m, c);
        report_cell_code(doc, t, case_of(c));
        report_cell_detail(doc, t, strcmp(c->promise, c->suite) == 0 ? "" : report_words(a, c->promise));
        report_cell_outcome(doc, t, c);
        report_cell_number(doc, t, report_count_text(a, bad));
        report_cell_number(doc, t, report_count_text(a, c->elements));
        report_cell_number(doc, t, report_share_text(a, bad, c->elements));
        report_cell_number(doc, t, metric_text(doc, c->seq, "max_ulp", true));
        report_cell_code(doc, t, e == NULL ? "" : report_float_text(a, e->input_bits));
        if (e != NULL) {
            report_cell_detail(
                doc, t,
                report_printf(a, "channel %s: got %s, want %s", report_count_text(a, e->channel),
                              report_bits_text(a, e->got_bits), report_bits_text(a, e->want_bits)));
        }
    }
    report_figures_add(doc, figures, "matrix-parity");
    report_figures_add(doc, figures, "ulp-parity");
    report_figures_add(doc, figures, "ulp-measured");
    report_figures_add(doc, figures, "exponents-parity");
}

/* The metrics a table may show, in this order; only those that the suite recorded become columns. */
static const struct {
    const char *name, *head;
    bool whole;
} known_metrics[] = {{"max_abs", "Max abs error", false},
                     {"max_rel", "Max rel error", false},
                     {"max_ulp", "Max ulp", false},
                     {"mean_ulp", "Mean ulp", false},
                     {"correctly_rounded_share", "Correctly rounded", false},
                     {"relrms", "Rel RMS", false},
                     {"correlation", "Correlation", false},
                     {"outside", "Outside tolerance", true},
                     {"differing", "Differing", true},
                     {"near_ties", "Near ties", true}};

/* The checks of a suite with the metrics that it recorded. */
static void metric_table(report_doc *doc, const char *suite, const char *label) {
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    const char **columns = report_arena_alloc(a, (4 + COUNT(known_metrics)) * sizeof *columns);
    size_t shown[COUNT(known_metrics)];
    size_t count = 0;
    if (columns == NULL) {
        return;
    }
    for (size_t k = 0; k < COUNT(known_metrics); k++) {
        bool found = false;
        for (size_t i = 0; i < m->check_count && !found; i++) {
            found = strcmp(m->checks[i].suite, suite) == 0 &&
                    report_metric_of(m, m->checks[i].seq, known_metrics[k].name) != NULL;
        }
        if (found) {
            columns[3 + count] = known_metrics[k].head;
            shown[count++] = k;
        }
    }
    columns[0] = "Case";
    columns[1] = "Outcome";
    columns[2] = "Judged";
    report_table *t = report_table_begin(doc, label, columns, 3 + count);
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        if (strcmp(c->suite, suite) != 0) {
            continue;
        }
        report_cell_code(doc, t, case_of(c));
        report_cell_outcome(doc, t, c);
        report_cell_number(doc, t, report_count_text(a, c->elements));
        for (size_t k = 0; k < count; k++) {
            report_cell_number(
                doc, t,
                metric_text(doc, c->seq, known_metrics[shown[k]].name, known_metrics[shown[k]].whole));
        }
    }
}

/* The worst elements over all accuracy checks, at most `limit`. */
static void worst_table(report_doc *doc, size_t limit) {
    static const char *const columns[] = {"Input",       "Channel", "Got", "Rounded FP64",
                                          "FP64 golden", "Error",   "Case"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    bool *taken = report_arena_alloc(a, m->element_count * sizeof *taken);
    report_table *t = NULL;
    for (size_t n = 0; taken != NULL && n < limit; n++) {
        size_t best = m->element_count;
        for (size_t i = 0; i < m->element_count; i++) {
            const report_element *e = &m->elements[i];
            const report_check *of = report_check_of(m, e->seq);
            if (!taken[i] && e->has_golden && strcmp(e->kind, "worst") == 0 && !isnan(e->ulp) && of != NULL &&
                strcmp(of->suite, "accuracy") == 0 &&
                (best == m->element_count || e->ulp > m->elements[best].ulp)) {
                best = i;
            }
        }
        if (best == m->element_count) {
            return;
        }
        taken[best] = true;
        const report_element *e = &m->elements[best];
        const report_check *c = report_check_of(m, e->seq);
        double golden;
        memcpy(&golden, &e->golden_bits, sizeof golden);
        if (t == NULL) {
            t = report_table_begin(doc, "The elements furthest from FP64", columns, COUNT(columns));
        }
        report_cell_code(doc, t, report_float_text(a, e->input_bits));
        report_cell_number(doc, t, report_count_text(a, e->channel));
        report_cell_code(doc, t, report_float_text(a, e->got_bits));
        report_cell_code(doc, t, report_float_text(a, e->want_bits));
        report_cell_number(doc, t, report_printf(a, "%.17g", golden));
        report_cell_number(doc, t, report_printf(a, "%.2f ulp", e->ulp));
        report_cell_code(doc, t, c == NULL ? "" : case_of(c));
    }
}

void report_sections_accuracy(report_doc *doc, const report_figures *figures) {
    const report_model *m = doc->model;
    double atol = 0;
    double rtol = 0;
    double max_abs = 0;
    if (!has_suite(m, "accuracy")) {
        return;
    }
    report_section(doc, "accuracy", "Accuracy against FP64");
    if (report_contract_tolerance(m, "accuracy", &atol, &rtol, &max_abs)) {
        const char *bound =
            max_abs > 0 ? report_printf(doc->arena, ", and at most %s", report_real_text(doc->arena, max_abs))
                        : "";
        report_text(doc,
                    "The contract allows |error| up to %s + %s \xc2\xb7 |golden|%s. An ulp is that of the "
                    "golden rounded to FP32.",
                    report_real_text(doc->arena, atol), report_real_text(doc->arena, rtol), bound);
    }
    metric_table(doc, "accuracy", "Accuracy by case");
    report_figures_add(doc, figures, "ulp-accuracy");
    report_figures_add(doc, figures, "error-");
    report_figures_add(doc, figures, "exponents-accuracy");
    worst_table(doc, 8);
}

void report_sections_invariance(report_doc *doc, const report_figures *figures) {
    const report_model *m = doc->model;
    if (!has_suite(m, "invariance")) {
        return;
    }
    report_section(doc, "invariance", "Invariance");
    report_text(doc, "The bytes of a row compared with the same row in another batch, place, layout or "
                     "alignment. No reference is "
                     "involved: the candidate is its own oracle.");
    matrix_table(doc, "invariance", "Invariance by kind of change");
    report_figures_add(doc, figures, "matrix-invariance");
}

void report_sections_others(report_doc *doc) {
    static const char *const suites[] = {"validation", "memory", "determinism"};
    static const char *const columns[] = {"Suite", "Checks passed", "Probes judged", "Bad", "Not passed"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    if (has_suite(m, "gradients")) {
        report_section(doc, "gradients", "Gradients");
        metric_table(doc, "gradients", "Gradients by case");
    }
    report_table *t = NULL;
    for (size_t s = 0; s < COUNT(suites); s++) {
        uint64_t checks = 0;
        uint64_t passed = 0;
        uint64_t elements = 0;
        uint64_t bad = 0;
        const char *open = "";
        for (size_t i = 0; i < m->check_count; i++) {
            const report_check *c = &m->checks[i];
            if (strcmp(c->suite, suites[s]) != 0) {
                continue;
            }
            checks++;
            elements += c->elements;
            bad += c->bad;
            if (c->outcome == ASSAY_OUTCOME_PASS) {
                passed++;
            } else {
                open = report_printf(a, "%s%s%s (%s)", open, open[0] == '\0' ? "" : ", ", case_of(c),
                                     report_words(a, assay_outcome_text(c->outcome)));
            }
        }
        if (checks == 0) {
            continue;
        }
        if (t == NULL) {
            report_section(doc, "validation", "Validation, memory and determinism");
            t = report_table_begin(doc, "Validation, memory and determinism by suite", columns,
                                   COUNT(columns));
        }
        report_cell_text(doc, t, suites[s]);
        report_cell_state(
            doc, t,
            passed == checks ? REPORT_TONE_GOOD
            : bad > 0        ? REPORT_TONE_BAD
                             : REPORT_TONE_DOUBT,
            report_printf(a, "%s / %s", report_count_text(a, passed), report_count_text(a, checks)));
        report_cell_number(doc, t, report_count_text(a, elements));
        report_cell_number(doc, t, report_count_text(a, bad));
        report_cell_text(doc, t, open[0] == '\0' ? "none" : open);
    }
}
