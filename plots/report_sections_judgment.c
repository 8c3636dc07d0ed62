/* report_sections_judgment.c - promises, findings, Not verified: what was judged and what was not. */
#include "report_doc.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void report_sections_promises(report_doc *doc) {
    static const char *const columns[] = {"Promise",       "State",           "Strength",
                                          "Checks passed", "Elements judged", "Reason"};
    const report_model *m = doc->model;
    report_section(doc, "promises", "Promises");
    if (m->promise_count == 0) {
        report_text(doc, "This run owed no promise.");
        return;
    }
    bool reasons = false;
    for (size_t i = 0; i < m->promise_count; i++) {
        reasons = reasons || m->promises[i].reason[0] != '\0';
    }
    report_table *t =
        report_table_begin(doc, "Promises and their states", columns, COUNT(columns) - !reasons);
    for (size_t i = 0; i < m->promise_count; i++) {
        const report_promise *p = &m->promises[i];
        const report_tone tone = !p->required && p->state == ASSAY_PROMISE_NOT_VERIFIED
                                     ? REPORT_TONE_MUTED
                                     : report_state_tone(p->state);
        report_cell_code(doc, t, p->name);
        report_cell_detail(doc, t, p->text);
        report_cell_state(doc, t, tone,
                          report_printf(doc->arena, "%s%s",
                                        report_words(doc->arena, assay_promise_text(p->state)),
                                        p->required ? "" : " (not required)"));
        report_cell_text(doc, t, p->strength[0] == '\0' ? "-" : p->strength);
        report_cell_number(doc, t,
                           report_printf(doc->arena, "%s / %s", report_count_text(doc->arena, p->passed),
                                         report_count_text(doc->arena, p->checks)));
        report_cell_number(doc, t, report_count_text(doc->arena, p->elements));
        if (reasons) {
            report_cell_text(doc, t, p->reason);
        }
    }
}

/* The first differing input, with "channel 3: got ..., want ..." below it, or an empty cell. */
static void first_difference(report_doc *doc, report_table *t, const report_check *c) {
    report_arena *a = doc->arena;
    const report_element *e = report_element_of(doc->model, c->seq, "first");
    if (e == NULL) {
        e = report_element_of(doc->model, c->seq, "worst");
    }
    if (e == NULL) {
        report_cell_text(doc, t, "");
        return;
    }
    report_cell_code(doc, t, report_float_text(a, e->input_bits));
    report_cell_detail(doc, t,
                       report_printf(a, "channel %s: got %s, want %s", report_count_text(a, e->channel),
                                     report_bits_text(a, e->got_bits), report_bits_text(a, e->want_bits)));
}

static bool is_finding(const report_check *c) {
    return c->outcome == ASSAY_OUTCOME_FAIL || c->outcome == ASSAY_OUTCOME_ERROR ||
           c->outcome == ASSAY_OUTCOME_MISTRUSTED;
}

void report_sections_findings(report_doc *doc) {
    static const char *const columns[] = {
        "Check", "Outcome", "Bad", "Judged", "Share", "First differing input", "Reproduce"};
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    uint64_t findings = 0;
    for (size_t i = 0; i < m->check_count; i++) {
        findings += is_finding(&m->checks[i]);
    }
    if (findings == 0) {
        return;
    }
    report_section(doc, "findings", "Findings");
    report_text(doc, "%s failed, ended in an error or proved nothing.",
                report_plural(a, findings, "check", "checks"));
    report_table *t = report_table_begin(doc, "Checks that failed, ended in an error or are mistrusted",
                                         columns, COUNT(columns));
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        if (!is_finding(c)) {
            continue;
        }
        report_cell_code(doc, t, c->name);
        report_cell_detail(doc, t, c->reason);
        report_cell_outcome(doc, t, c);
        report_cell_number(doc, t, report_count_text(a, c->bad));
        report_cell_number(doc, t, report_count_text(a, c->elements));
        report_cell_number(doc, t, report_share_text(a, c->bad, c->elements));
        first_difference(doc, t, c);
        report_cell_add(doc, t, REPORT_CELL_COMMAND, REPORT_TONE_NONE, c->repro);
    }
}

static void not_verified_promises(report_doc *doc) {
    static const char *const columns[] = {"Promise", "State", "Required", "Reason"};
    const report_model *m = doc->model;
    report_table *t = NULL;
    for (size_t i = 0; i < m->promise_count; i++) {
        const report_promise *p = &m->promises[i];
        if (p->state == ASSAY_PROMISE_KEPT) {
            continue;
        }
        if (t == NULL) {
            t = report_table_begin(doc, "Promises that are not kept", columns, COUNT(columns));
        }
        report_cell_code(doc, t, p->name);
        report_cell_state(doc, t, report_state_tone(p->state),
                          report_words(doc->arena, assay_promise_text(p->state)));
        report_cell_text(doc, t, p->required ? "yes" : "no");
        report_cell_text(doc, t, p->reason[0] == '\0' ? "no reason recorded" : p->reason);
    }
}

static void not_verified_checks(report_doc *doc) {
    static const char *const columns[] = {"Check", "Outcome", "Required", "Reason"};
    const report_model *m = doc->model;
    report_table *t = NULL;
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        if (c->outcome == ASSAY_OUTCOME_PASS) {
            continue;
        }
        if (t == NULL) {
            t = report_table_begin(doc, "Checks that did not pass", columns, COUNT(columns));
        }
        report_cell_code(doc, t, c->name);
        report_cell_outcome(doc, t, c);
        report_cell_text(doc, t, c->required ? "yes" : "no");
        report_cell_text(doc, t, c->reason[0] == '\0' ? "no reason recorded" : c->reason);
    }
}

void report_sections_not_verified(report_doc *doc) {
    const report_model *m = doc->model;
    uint64_t required = 0;
    uint64_t optional = 0;
    for (size_t i = 0; i < m->promise_count; i++) {
        const bool open = m->promises[i].state != ASSAY_PROMISE_KEPT;
        required += open && m->promises[i].required;
        optional += open && !m->promises[i].required;
    }
    for (size_t i = 0; i < m->check_count; i++) {
        const bool open = m->checks[i].outcome != ASSAY_OUTCOME_PASS;
        required += open && m->checks[i].required;
        optional += open && !m->checks[i].required;
    }
    report_section(doc, "not-verified", "Not verified");
    if (strcmp(m->verdict, "certified") != 0) {
        report_text(doc, "Verdict " REPORT_STRONG_ON "%s" REPORT_STRONG_OFF ": %s.", m->verdict,
                    m->reason[0] != '\0' ? m->reason : "no reason recorded");
    }
    if (m->promise_count == 0) {
        report_text(doc, "Nothing was owed, so nothing was verified.");
    } else if (required == 0) {
        report_text(doc, "Nothing: everything required was verified.%s",
                    optional > 0 ? " What is listed here was not required." : "");
    }
    not_verified_promises(doc);
    not_verified_checks(doc);
}
