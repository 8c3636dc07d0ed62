/* report_sections_record.c - timing, self-test, digests, witnesses, provenance, how to reproduce. */
#include "report_doc.h"
#include "report_witness.h"
#include "stats.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void timing_row(report_doc *doc, report_table *t, const report_series *s) {
    report_arena *a = doc->arena;
    const bool bound = strcmp(s->scope, "floor") == 0 || strcmp(s->scope, "roof") == 0;
    report_cell_number(doc, t, report_count_text(a, s->rows));
    report_cell_code(doc, t, s->callable);
    report_cell_text(doc, t, report_words(a, s->scope));
    report_cell_text(doc, t, s->figure);
    report_cell_number(doc, t, report_ns_text(a, s->median_ns));
    report_cell_number(
        doc, t,
        report_printf(a, "%s \xe2\x80\x93 %s", report_ns_text(a, s->low_ns), report_ns_text(a, s->high_ns)));
    report_cell_number(doc, t,
                       s->against == NULL
                           ? (bound ? "" : "-")
                           : report_printf(a, "%.3f [%.3f, %.3f]", s->ratio, s->ratio_low, s->ratio_high));
    if (s->against != NULL) {
        report_cell_detail(doc, t, report_printf(a, "to %s", report_words(a, s->against->callable)));
    }
    report_cell_number(doc, t,
                       s->floor == NULL || !(s->floor->median_ns > 0) ? (bound ? "" : "-")
                       : s->median_ns / s->floor->median_ns >= 100
                           ? report_count_text(a, (uint64_t)(s->median_ns / s->floor->median_ns + 0.5))
                           : report_printf(a, "%.2f", s->median_ns / s->floor->median_ns));
    report_cell_number(doc, t, s->gbps > 0 ? report_printf(a, "%.3g", s->gbps) : "-");
    report_cell_number(doc, t,
                       s->roof == NULL || !(s->roof->gbps > 0) || s->bytes == 0
                           ? (bound ? "" : "-")
                           : report_printf(a, "%.0f %%", 100.0 * s->gbps / s->roof->gbps));
    report_cell_number(
        doc, t,
        s->repeat > 1 ? report_printf(a, "%zu \xc3\x97 %s calls", s->count, report_count_text(a, s->repeat))
                      : report_printf(a, "%zu", s->count));
    report_cell_text(doc, t, s->flags);
}

void report_sections_timing(report_doc *doc, const report_figures *figures) {
    static const char *const columns[] = {"Rows",   "Callable",  "Scope",        "Figure",
                                          "Median", "5 to 95 %", "Ratio [95 %]", "\xc3\xb7 floor",
                                          "GB/s",   "Of roof",   "Samples",      "Marks"};
    const report_model *m = doc->model;
    if (m->series_count == 0) {
        return;
    }
    report_section(doc, "timing", "Timing");
    report_text(doc,
                "Interleaved samples on %s (%s); load average %s. A ratio below 1 means faster than what is "
                "named below it.",
                report_device(m), report_provenance(m, "cpu.model"), report_provenance(m, "load.average"));
    if (report_has_figure(m, "launch") || report_has_figure(m, "device")) {
        report_timing_device_table(doc);
        report_figures_add(doc, figures, "latency");
        return;
    }
    report_table *t = report_table_begin(doc, "Timing by size and callable", columns, COUNT(columns));
    for (size_t i = 0; i < m->series_count; i++) {
        timing_row(doc, t, &m->series[i]);
    }
    report_note(doc,
                "Median and percentiles of the raw samples, per call. The ratio is that of the medians, its "
                "interval a percentile "
                "bootstrap over iterations: recorded with the samples, else of %d resamples with a fixed "
                "seed. GB/s: bytes the callable must move by its median; "
                "\"of roof\" compares it with the fastest roof of the same size.",
                ASSAY_BOOTSTRAP_DRAWS);
    report_figures_add(doc, figures, "latency");
}

static bool first_of(const char *const *list, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], text) == 0) {
            return false;
        }
    }
    return true;
}

static const report_selftest *selftest_of(const report_model *m, const char *subject, const char *suite) {
    for (size_t i = 0; i < m->selftest_count; i++) {
        if (strcmp(m->selftest[i].subject, subject) == 0 && strcmp(m->selftest[i].suite, suite) == 0) {
            return &m->selftest[i];
        }
    }
    return NULL;
}

static void selftest_cell(report_doc *doc, report_table *t, const report_selftest *row) {
    if (row == NULL) {
        report_cell_add(doc, t, REPORT_CELL_TEXT, REPORT_TONE_MUTED, "");
        return;
    }
    const bool owed = strcmp(row->expected, "any") != 0;
    const bool caught = strcmp(row->expected, "caught") == 0;
    const bool ok = report_selftest_ok(row);
    const char *text = !owed          ? row->got
                       : caught && ok ? "caught"
                       : caught       ? report_printf(doc->arena, "missed (%s)", row->got)
                       : ok           ? "clean"
                                      : report_printf(doc->arena, "false alarm (%s)", row->got);
    report_cell_add(doc, t, owed ? REPORT_CELL_STATE : REPORT_CELL_TEXT,
                    !owed ? REPORT_TONE_MUTED
                    : ok  ? REPORT_TONE_GOOD
                          : REPORT_TONE_BAD,
                    report_words(doc->arena, text));
}

void report_sections_selftest(report_doc *doc) {
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    const char **columns = report_arena_alloc(a, (m->selftest_count + 2) * sizeof *columns);
    const char **subjects = report_arena_alloc(a, (m->selftest_count + 1) * sizeof *subjects);
    size_t suite_count = 0;
    size_t subject_count = 0;
    uint64_t owed = 0;
    uint64_t met = 0;
    if (m->selftest_count == 0 || columns == NULL || subjects == NULL) {
        return;
    }
    columns[0] = "Subject";
    columns[1] = "Class";
    for (size_t i = 0; i < m->selftest_count; i++) {
        const report_selftest *row = &m->selftest[i];
        if (first_of(columns + 2, suite_count, row->suite)) {
            columns[2 + suite_count++] = row->suite;
        }
        if (first_of(subjects, subject_count, row->subject)) {
            subjects[subject_count++] = row->subject;
        }
        if (strcmp(row->expected, "any") != 0) {
            owed++;
            met += report_selftest_ok(row);
        }
    }
    report_section(doc, "selftest", "Self-test of the harness");
    report_text(doc,
                "%s of %s came out as expected: broken subjects must be caught by the suite meant for them, "
                "correct variants must "
                "stay clean. Cells without a mark were not owed.",
                report_count_text(a, met), report_plural(a, owed, "expectation", "expectations"));
    report_table *t = report_table_begin(doc, "Self-test: subjects by suite", columns, 2 + suite_count);
    for (size_t i = 0; i < subject_count; i++) {
        report_cell_code(doc, t, subjects[i]);
        const char *class_name = "";
        for (size_t k = 0; k < m->selftest_count && class_name[0] == '\0'; k++) {
            class_name = strcmp(m->selftest[k].subject, subjects[i]) == 0 ? m->selftest[k].class_name : "";
        }
        report_cell_text(doc, t, class_name);
        for (size_t k = 0; k < suite_count; k++) {
            selftest_cell(doc, t, selftest_of(m, subjects[i], columns[2 + k]));
        }
    }
}

void report_sections_digests(report_doc *doc) {
    static const char *const columns[] = {"Tree", "Root", "Rows", "Words per row", "Tiles", "Of"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    if (m->tree_count == 0 && m->log_root[0] == '\0') {
        return;
    }
    report_section(doc, "digests", "Digests");
    if (m->tree_count > 0) {
        report_table *t = report_table_begin(doc, "Digest trees", columns, COUNT(columns));
        for (size_t i = 0; i < m->tree_count; i++) {
            const report_tree *tree = &m->trees[i];
            report_cell_text(doc, t, tree->name);
            report_cell_code(doc, t, tree->root);
            report_cell_number(doc, t, report_count_text(a, tree->rows));
            report_cell_number(doc, t, report_count_text(a, tree->row_words));
            report_cell_number(doc, t, report_count_text(a, tree->tiles));
            report_cell_number(doc, t, report_count_text(a, tree->all_tiles));
        }
        if (m->tree_count == 2) {
            report_text(doc, strcmp(m->trees[0].root, m->trees[1].root) == 0
                                 ? "Both roots are equal: every output has the same bytes."
                                 : "The roots differ: at least one output differs.");
        }
    }
    if (m->log_root[0] != '\0') {
        report_text(doc, "Leaf %lld of the log of runs, root " REPORT_CODE_ON "%s" REPORT_CODE_OFF ".",
                    (long long)m->log_index, m->log_root);
    }
}

void report_sections_witnesses(report_doc *doc) {
    static const char *const columns[] = {"Check", "What differs", "Files", "Reproduce"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    report_witness_list list;
    report_witness_collect(m, &list);
    if (list.count == 0) {
        return;
    }
    report_section(doc, "witnesses", "Witnesses");
    report_text(doc,
                "The smallest inputs that show a broken promise, of at most %d checks for each promise. A "
                "report directory holds each as " REPORT_CODE_ON ".json" REPORT_CODE_OFF ", " REPORT_CODE_ON
                ".npy" REPORT_CODE_OFF " and a C program.",
                REPORT_WITNESS_CHECKS);
    report_table *t = report_table_begin(doc, "Witnesses", columns, COUNT(columns));
    for (size_t i = 0; i < list.count; i++) {
        report_cell_code(doc, t, list.items[i].check->name);
        report_cell_text(doc, t, list.items[i].text);
        report_cell_code(doc, t, report_printf(a, "%s.*", list.items[i].stem));
        report_cell_add(doc, t, REPORT_CELL_COMMAND, REPORT_TONE_NONE, list.items[i].check->repro);
    }
}

void report_sections_provenance(report_doc *doc) {
    static const char *const pairs[] = {"What", "Value"};
    static const char *const binaries[] = {"Binary", "Path", "SHA-256", "Size"};
    static const char *const knobs[] = {"Knob", "Of", "Requested", "Effective"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    report_section(doc, "environment", "Environment and provenance");
    report_table *t = report_table_begin(doc, "Provenance", pairs, COUNT(pairs));
    const report_pair fields[] = {
        {"run", report_printf(a, "%lld, uuid %s", (long long)m->id, m->uuid)},
        {"started", report_time_text(a, m->started_ms)},
        {"finished", strcmp(m->verdict, "unfinished") == 0 ? "never" : report_time_text(a, m->finished_ms)},
        {"seed", report_printf(a, "%lld", (long long)m->seed)},
        {"contract",
         report_printf(a, "version %lld, SHA-256 %s", (long long)m->contract_version, m->contract_sha256)}};
    for (size_t i = 0; i < COUNT(fields); i++) {
        report_cell_code(doc, t, fields[i].key);
        report_cell_text(doc, t, fields[i].value);
    }
    for (size_t i = 0; i < m->provenance_count; i++) {
        report_cell_code(doc, t, m->provenance[i].key);
        report_cell_text(doc, t, m->provenance[i].value);
    }
    if (m->binary_count > 0) {
        t = report_table_begin(doc, "Binaries", binaries, COUNT(binaries));
    }
    for (size_t i = 0; i < m->binary_count; i++) {
        report_cell_text(doc, t, m->binaries[i].role);
        report_cell_code(doc, t, m->binaries[i].path);
        report_cell_code(doc, t, m->binaries[i].sha256);
        report_cell_number(doc, t, report_bytes_text(a, m->binaries[i].bytes));
    }
    if (m->knob_count > 0) {
        t = report_table_begin(doc, "Knobs: requested and effective", knobs, COUNT(knobs));
    }
    for (size_t i = 0; i < m->knob_count; i++) {
        const report_knob *k = &m->knobs[i];
        const bool took = strcmp(k->requested, k->effective) == 0 || strcmp(k->requested, "auto") == 0;
        report_cell_code(doc, t, k->name);
        report_cell_text(doc, t, k->role);
        report_cell_code(doc, t, k->requested);
        report_cell_state(doc, t, took ? REPORT_TONE_GOOD : REPORT_TONE_DOUBT, k->effective);
    }
}

void report_sections_reproduce(report_doc *doc) {
    const report_model *m = doc->model;
    report_section(doc, "reproduce", "How to reproduce");
    report_text(doc,
                "With Assay at commit " REPORT_CODE_ON "%s" REPORT_CODE_OFF
                " and the candidate's tree at " REPORT_CODE_ON "%s" REPORT_CODE_OFF "%s:",
                report_provenance(m, "assay.commit"), report_provenance(m, "candidate.commit"),
                strcmp(report_provenance(m, "candidate.dirty"), "yes") == 0 ? ", with uncommitted changes"
                                                                            : "");
    report_command(doc, m->command);
    report_text(doc, "This report again from the evidence, and every verdict derived again from the rows "
                     "(for another database than " REPORT_CODE_ON "assay.db" REPORT_CODE_OFF " name it):");
    report_command(
        doc,
        report_printf(doc->arena, "assay report %.12s --db assay.db --format html -o report.html", m->uuid));
    report_command(doc, "assay verify assay.db");
}
