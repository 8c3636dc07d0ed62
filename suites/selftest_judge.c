/* selftest_judge.c - did a subject end as its row says? Pure functions of outcomes, except for the line that
 * names the check. */
#include "selftest_internal.h"

#include <stdio.h>
#include <string.h>

bool assay_expect_parse(const char *text, assay_expect *expect) {
    static const char *const texts[] = {
#define X(id, meaning) #id,
        ASSAY_EXPECT_LIST(X)
#undef X
    };
    for (int i = 0; i < ASSAY_EXPECT_COUNT; i++) {
        if (strcmp(texts[i], text) == 0) {
            *expect = (assay_expect)i;
            return true;
        }
    }
    return false;
}

int assay_selftest_suite(const char *name) {
    for (size_t i = 0; i < assay_suite_count; i++) {
        if (strcmp(assay_suites[i]->name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* The audit can show nothing of a GPU's subjects: their device code lies in the library that they share. It
 * has tests of its own. */
uint64_t assay_selftest_unkept(assay_store *store, int64_t run_id) {
    static const char sql[] = "SELECT count(*) FROM promises WHERE run_id = ?1 AND required = 1 AND state <> "
                              "'kept' AND name <> 'exact_math'";
    sqlite3_stmt *statement = NULL;
    uint64_t unkept = UINT64_MAX;
    if (sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &statement, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, run_id);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            unkept = (uint64_t)sqlite3_column_int64(statement, 0);
        }
    }
    (void)sqlite3_finalize(statement);
    return unkept;
}

static assay_outcome outcome_of(const assay_selftest_subject *s, const char *suite) {
    int i = assay_selftest_suite(suite);
    return i < 0 ? ASSAY_OUTCOME_NOT_RUN : s->outcome[i];
}

/* The first check of `suite` (NULL: any) in the subject's run that did not pass, as "name: reason". */
static void quote(assay_store *store, const assay_selftest_subject *s, const char *suite, char *detail,
                  size_t n) {
    static const char sql[] =
        "SELECT name, outcome, reason FROM checks WHERE run_id = ?1 AND (?2 IS NULL OR suite = ?2)"
        " AND outcome <> 'pass' AND outcome <> 'not_run'"
        " ORDER BY outcome <> 'fail', outcome <> 'error', outcome <> 'mistrusted', seq LIMIT 1";
    sqlite3_stmt *statement = NULL;
    detail[0] = '\0';
    if (sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &statement, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, s->run_id);
        (void)sqlite3_bind_text(statement, 2, suite, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            (void)snprintf(detail, n, "%s %s: %.150s", (const char *)sqlite3_column_text(statement, 0),
                           (const char *)sqlite3_column_text(statement, 1),
                           (const char *)sqlite3_column_text(statement, 2));
        }
    }
    (void)sqlite3_finalize(statement);
}

static bool one_of(assay_outcome outcome, assay_expect expect) {
    return outcome == ASSAY_OUTCOME_FAIL || (outcome == ASSAY_OUTCOME_ERROR && expect != ASSAY_EXPECT_fail) ||
           (outcome == ASSAY_OUTCOME_MISTRUSTED && expect == ASSAY_EXPECT_mistrusted);
}

/* Noticed by the suite meant for it, and not all promises kept. Timing promises nothing, so that a clock that
 * lies costs the timing figures their credit but not the other promises. */
static bool caught(const assay_selftest_subject *s, assay_expect expect) {
    bool noticed = one_of(outcome_of(s, s->suite), expect);
    bool verdict = expect == ASSAY_EXPECT_fail    ? s->verdict == ASSAY_VERDICT_REFUSED
                   : expect == ASSAY_EXPECT_crash ? s->unkept > 0 || strcmp(s->suite, "timing") == 0
                                                  : true;
    /* A fault of the process costs the checks that met it, not the run. */
    bool went_on = strcmp(s->class_name, "runner") != 0 || s->passed > 0;
    return noticed && verdict && went_on;
}

static bool refused(const assay_selftest_subject *s) {
    static const char *const suites[] = {"parity", "accuracy", "gradients"};
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        if (outcome_of(s, suites[i]) != ASSAY_OUTCOME_FAIL) {
            return false;
        }
    }
    return s->verdict == ASSAY_VERDICT_REFUSED;
}

static bool incomplete(const assay_selftest_subject *s) {
    for (size_t i = 0; i < assay_suite_count; i++) {
        if (s->outcome[i] == ASSAY_OUTCOME_FAIL) {
            return false;
        }
    }
    return s->verdict == ASSAY_VERDICT_INCOMPLETE && s->unkept > 0;
}

/* No false alarm. Timing may be unavailable on a machine that cannot show it; the audit has nothing to do on
 * a host, and nothing to read in a subject of the GPU. */
static bool clean(const assay_selftest_subject *s) {
    for (size_t i = 0; i < assay_suite_count; i++) {
        bool timing = strcmp(assay_suites[i]->name, "timing") == 0;
        bool audit = strcmp(assay_suites[i]->name, "audit") == 0;
        if (s->outcome[i] != ASSAY_OUTCOME_PASS && !(timing && s->outcome[i] == ASSAY_OUTCOME_UNAVAILABLE) &&
            !(audit &&
              (s->outcome[i] == ASSAY_OUTCOME_NOT_RUN || s->outcome[i] == ASSAY_OUTCOME_UNAVAILABLE))) {
            return false;
        }
    }
    return s->verdict != ASSAY_VERDICT_REFUSED && s->checks > 0 && s->unkept == 0;
}

void assay_selftest_judge(assay_store *store, assay_selftest_subject *s, assay_code code, const char *said) {
    assay_expect expect = ASSAY_EXPECT_COUNT;
    s->held = false;
    if (!assay_expect_parse(s->expected, &expect)) {
        (void)snprintf(s->detail, sizeof s->detail, "the table expects '%s', which is no expectation",
                       s->expected);
        return;
    }
    if (expect == ASSAY_EXPECT_unloadable) {
        s->held = code == ASSAY_CODE_USAGE && s->run_id == 0;
        (void)snprintf(s->detail, sizeof s->detail, "%.250s", code == ASSAY_CODE_OK ? "it was loaded" : said);
        return;
    }
    if (code != ASSAY_CODE_OK) {
        (void)snprintf(s->detail, sizeof s->detail, "the run could not be carried out: %.200s", said);
        return;
    }
    quote(store, s, expect == ASSAY_EXPECT_clean || s->suite[0] == '\0' ? NULL : s->suite, s->detail,
          sizeof s->detail);
    switch (expect) {
    case ASSAY_EXPECT_refused:
        s->held = refused(s);
        break;
    case ASSAY_EXPECT_incomplete:
        s->held = incomplete(s);
        break;
    case ASSAY_EXPECT_clean:
        s->held = clean(s);
        break;
    default:
        s->held = caught(s, expect);
        break;
    }
    if (!s->held && s->detail[0] == '\0') {
        (void)snprintf(s->detail, sizeof s->detail, "%s: every check passed, verdict %s",
                       s->suite[0] == '\0' ? "all suites" : s->suite, assay_verdict_text(s->verdict));
    }
}

/* Must this suite notice this subject? */
static bool meant(const assay_selftest_subject *s, const char *suite) {
    bool triple =
        strcmp(suite, "parity") == 0 || strcmp(suite, "accuracy") == 0 || strcmp(suite, "gradients") == 0;
    return strcmp(s->suite, suite) == 0 || (strcmp(s->expected, "refused") == 0 && triple);
}

assay_code assay_selftest_record_rows(assay_store *store, int64_t run_id, const assay_selftest_subject *s,
                                      assay_error *error) {
    assay_selftest_record rows[ASSAY_SELFTEST_SUITES + 1];
    size_t n = 0;
    bool is_clean = strcmp(s->expected, "clean") == 0;
    for (size_t i = 0; i < assay_suite_count && s->run_id != 0; i++) {
        const char *suite = assay_suites[i]->name;
        bool waived = s->outcome[i] == ASSAY_OUTCOME_UNAVAILABLE && strcmp(suite, "timing") == 0;
        rows[n++] = (assay_selftest_record){.subject = s->name,
                                            .class_name = s->class_name,
                                            .suite = suite,
                                            .expected = is_clean && !waived ? "clean"
                                                        : meant(s, suite)   ? "caught"
                                                                            : "any",
                                            .got = assay_outcome_text(s->outcome[i]),
                                            .detail = meant(s, suite) ? s->detail : ""};
    }
    if (s->suite[0] == '\0' && !is_clean &&
        strcmp(s->expected, "refused") != 0) { /* judged by the end of the run, not by a suite */
        rows[n++] = (assay_selftest_record){.subject = s->name,
                                            .class_name = s->class_name,
                                            .suite = "verdict",
                                            .expected = "caught",
                                            .got = s->held ? "fail" : "pass",
                                            .detail = s->detail};
    }
    if (n == 0) { /* a self-test of the harness's own parts */
        rows[n++] = (assay_selftest_record){.subject = s->name,
                                            .class_name = s->class_name,
                                            .suite = "harness",
                                            .expected = "clean",
                                            .got = s->held ? "pass" : "fail",
                                            .detail = s->detail};
    }
    return assay_store_selftest(store, run_id, rows, n, error);
}
