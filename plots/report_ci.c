/* report_ci.c - JUnit XML and CTRF JSON, for machines that know only passed and failed. What was not verified
 * must not look like success there: a mistrusted check, and a required one that did not run or is
 * unavailable, is an error, never a skip. */
#include "report_render.h"

#include <jansson.h>
#include <string.h>

/* How JUnit and CTRF see a check. */
typedef enum report_ci { REPORT_CI_PASSED, REPORT_CI_FAILED, REPORT_CI_ERROR, REPORT_CI_SKIPPED } report_ci;

static report_ci ci_of_check(const report_check *check) {
    if (check->outcome == ASSAY_OUTCOME_PASS) {
        return REPORT_CI_PASSED;
    }
    if (check->outcome == ASSAY_OUTCOME_FAIL) {
        return REPORT_CI_FAILED;
    }
    return report_check_alarms(check) ? REPORT_CI_ERROR : REPORT_CI_SKIPPED;
}

/* The run itself is a test case too: an incomplete verdict must not look like success when all its checks
 * passed. */
static report_ci ci_of_verdict(const report_model *model) {
    return strcmp(model->verdict, "certified") == 0 ? REPORT_CI_PASSED
           : strcmp(model->verdict, "refused") == 0 ? REPORT_CI_FAILED
                                                    : REPORT_CI_ERROR;
}

/* One test case, whatever it came from. */
typedef struct ci_case {
    const char *suite, *name, *state, *reason, *detail;
    report_ci ci;
    uint64_t duration_ns;
} ci_case;

typedef struct ci_list {
    ci_case *items;
    size_t count;
} ci_list;

/* Case i: the checks in their order, then self-test rows, then the verdict. */
static ci_case case_at(const report_model *m, size_t i) {
    if (i < m->check_count) {
        const report_check *c = &m->checks[i];
        return (ci_case){c->suite,       c->name,       assay_outcome_text(c->outcome), c->reason, c->repro,
                         ci_of_check(c), c->duration_ns};
    }
    i -= m->check_count;
    if (i < m->selftest_count) {
        const report_selftest *s = &m->selftest[i];
        return (ci_case){.suite = "selftest",
                         .name = report_printf(m->arena, "selftest/%s/%s", s->subject, s->suite),
                         .state = s->got,
                         .reason = report_printf(m->arena, "expected %s, got %s", s->expected, s->got),
                         .detail = s->detail,
                         .ci = report_selftest_ok(s) ? REPORT_CI_PASSED : REPORT_CI_FAILED};
    }
    return (ci_case){.suite = "verdict",
                     .name = "verdict",
                     .state = m->verdict,
                     .reason = m->reason,
                     .detail = m->command,
                     .ci = ci_of_verdict(m)};
}

static void junit_case(const ci_case *c, FILE *out) {
    static const char *const tags[] = {NULL, "failure", "error", "skipped"};
    (void)fputs("  <testcase classname=\"assay.", out);
    report_escape_xml(out, c->suite);
    (void)fputs("\" name=\"", out);
    report_escape_xml(out, c->name);
    (void)fprintf(out, "\" time=\"%.9f\"", (double)c->duration_ns / 1e9);
    if (c->ci == REPORT_CI_PASSED) {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fprintf(out, ">\n   <%s message=\"", tags[c->ci]);
    report_escape_xml(out, c->state);
    if (c->reason[0] != '\0') {
        (void)fputs(": ", out);
        report_escape_xml(out, c->reason);
    }
    if (c->ci == REPORT_CI_SKIPPED) {
        (void)fputs("\"/>\n  </testcase>\n", out);
        return;
    }
    (void)fputs("\" type=\"", out);
    report_escape_xml(out, c->state);
    (void)fputs("\">", out);
    report_escape_xml(out, c->detail);
    (void)fprintf(out, "</%s>\n  </testcase>\n", tags[c->ci]);
}

/* Every case of a run; empty when memory runs out (the arena then says so). */
static ci_list list_cases(const report_model *m) {
    const size_t count = m->check_count + m->selftest_count + 1;
    ci_list list = {report_arena_alloc(m->arena, count * sizeof(ci_case)), 0};
    for (size_t i = 0; list.items != NULL && i < count; i++) {
        list.items[list.count++] = case_at(m, i);
    }
    return list;
}

typedef struct ci_counts {
    uint64_t by[4], all, duration_ns;
} ci_counts;

/* Counts the cases of a suite (NULL: of all). */
static ci_counts count_cases(const ci_list *list, const char *suite) {
    ci_counts counts = {0};
    for (size_t i = 0; i < list->count; i++) {
        const ci_case *c = &list->items[i];
        if (suite == NULL || strcmp(suite, c->suite) == 0) {
            counts.by[c->ci]++;
            counts.all++;
            counts.duration_ns += c->duration_ns;
        }
    }
    return counts;
}

static void junit_counts(const ci_counts *c, FILE *out) {
    (void)fprintf(out, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"%llu\" time=\"%.9f\">\n",
                  (unsigned long long)c->all, (unsigned long long)c->by[REPORT_CI_FAILED],
                  (unsigned long long)c->by[REPORT_CI_ERROR], (unsigned long long)c->by[REPORT_CI_SKIPPED],
                  (double)c->duration_ns / 1e9);
}

void report_render_junit(const report_model *m, FILE *out) {
    const ci_list list = list_cases(m);
    const ci_counts all = count_cases(&list, NULL);
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"", out);
    report_escape_xml(
        out, report_printf(m->arena, "assay %s %s %s", m->kind, m->operator_name, m->implementation));
    (void)fputc('"', out);
    junit_counts(&all, out);
    for (size_t i = 0; i < list.count; i++) {
        const char *suite = list.items[i].suite;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) {
            seen = strcmp(list.items[k].suite, suite) == 0;
        }
        if (seen) {
            continue;
        }
        const ci_counts here = count_cases(&list, suite);
        (void)fputs(" <testsuite name=\"", out);
        report_escape_xml(out, suite);
        (void)fputc('"', out);
        junit_counts(&here, out);
        for (size_t k = i; k < list.count; k++) {
            if (strcmp(list.items[k].suite, suite) == 0) {
                junit_case(&list.items[k], out);
            }
        }
        (void)fputs(" </testsuite>\n", out);
    }
    (void)fputs("</testsuites>\n", out);
}

static json_t *ctrf_tests(const ci_list *list) {
    static const char *const statuses[] = {"passed", "failed", "failed", "skipped"};
    json_t *tests = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const ci_case c = list->items[i];
        const json_int_t duration_ms = (json_int_t)c.duration_ns / 1000000;
        json_t *test = json_pack("{s:s, s:s, s:I, s:s, s:[s]}", "name", c.name, "status", statuses[c.ci],
                                 "duration", duration_ms, "rawStatus", c.state, "suite", c.suite);
        if (c.ci != REPORT_CI_PASSED) {
            (void)json_object_set_new(test, "message", json_string(c.reason));
            (void)json_object_set_new(test, "trace", json_string(c.detail));
        }
        (void)json_array_append_new(tests, test);
    }
    return tests;
}

assay_code report_render_ctrf(const report_model *m, FILE *out, assay_error *error) {
    const ci_list list = list_cases(m);
    const ci_counts all = count_cases(&list, NULL);
    json_t *tool = json_pack("{s:s, s:s}", "name", "assay", "version", report_provenance(m, "assay.version"));
    json_t *summary = json_pack("{s:I, s:I, s:I, s:i, s:I, s:i, s:I, s:I}", "tests", (json_int_t)all.all,
                                "passed", (json_int_t)all.by[REPORT_CI_PASSED], "failed",
                                (json_int_t)all.by[REPORT_CI_FAILED] + (json_int_t)all.by[REPORT_CI_ERROR],
                                "pending", 0, "skipped", (json_int_t)all.by[REPORT_CI_SKIPPED], "other", 0,
                                "start", (json_int_t)m->started_ms, "stop", (json_int_t)m->finished_ms);
    json_t *extra = json_pack("{s:s, s:s, s:s, s:s}", "verdict", m->verdict, "run", m->uuid, "operator",
                              m->operator_name, "implementation", m->implementation);
    json_t *root = json_pack("{s:s, s:s, s:s, s:o, s:{s:o, s:o, s:o}}", "reportFormat", "CTRF", "specVersion",
                             "1.0.0", "generatedBy", "assay", "extra", extra, "results", "tool", tool,
                             "summary", summary, "tests", ctrf_tests(&list));
    const bool ok = root != NULL && json_dumpf(root, out, JSON_SORT_KEYS | JSON_INDENT(1)) == 0 &&
                    fputc('\n', out) != EOF;
    json_decref(root);
    return ok ? ASSAY_CODE_OK : assay_fail(error, ASSAY_CODE_INTERNAL, "cannot write the CTRF report");
}
