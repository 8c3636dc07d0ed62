/* The rule of verdicts, case by case, through the store. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(verdict, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

#define P ASSAY_OUTCOME_PASS
#define F ASSAY_OUTCOME_FAIL
#define E ASSAY_OUTCOME_ERROR
#define U ASSAY_OUTCOME_UNAVAILABLE
#define S ASSAY_OUTCOME_UNSUPPORTED
#define M ASSAY_OUTCOME_MISTRUSTED
#define N ASSAY_OUTCOME_NOT_RUN

/* Outcomes of parity/a, parity/b (required) and timing/x (optional); what must follow. */
static const struct {
    assay_outcome outcomes[3];
    assay_verdict verdict;
    const char *parity, *timing, *reason;
} cases[] = {
    {{P, P, P}, ASSAY_VERDICT_CERTIFIED, "kept", "kept", ""},
    {{P, P, N}, ASSAY_VERDICT_CERTIFIED, "kept", "not_verified", ""},
    {{P, P, F}, ASSAY_VERDICT_CERTIFIED, "kept", "broken", ""},
    {{P, F, P}, ASSAY_VERDICT_REFUSED, "broken", "kept", "promise parity broken: parity/b failed: a reason"},
    {{E, F, P}, ASSAY_VERDICT_REFUSED, "broken", "kept", "promise parity broken: parity/b failed: a reason"},
    {{F, N, F},
     ASSAY_VERDICT_REFUSED,
     "broken",
     "broken",
     "promise parity broken: parity/a failed: a reason"},
    {{P, E, P},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "kept",
     "promise parity not verified: parity/b: error: a reason"},
    {{P, U, P},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "kept",
     "promise parity not verified: parity/b: unavailable: a reason"},
    {{S, P, P},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "kept",
     "promise parity not verified: parity/a: unsupported: a reason"},
    {{M, P, P},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "kept",
     "promise parity not verified: parity/a: mistrusted: a reason"},
    {{P, N, P},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "kept",
     "promise parity not verified: parity/b: not_run: never started"},
    {{N, N, N},
     ASSAY_VERDICT_INCOMPLETE,
     "not_verified",
     "not_verified",
     "promise parity not verified: parity/a: not_run: never started"},
};

static test_lines lines;

Test(verdict, table) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%zu.db", i);
        const char *path = scratch(name);
        cr_expect_eq(test_finished_run(path, &test_run, cases[i].outcomes), cases[i].verdict, "case %zu", i);
        cr_expect_str_eq(raw_text(path, "SELECT verdict FROM runs"), assay_verdict_text(cases[i].verdict),
                         "case %zu", i);
        cr_expect_str_eq(raw_text(path, "SELECT reason FROM runs"), cases[i].reason, "case %zu", i);
        cr_expect_str_eq(raw_text(path, "SELECT state FROM promises WHERE name='parity'"), cases[i].parity,
                         "case %zu", i);
        cr_expect_str_eq(raw_text(path, "SELECT state FROM promises WHERE name='timing'"), cases[i].timing,
                         "case %zu", i);
        cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
    }
}

static const assay_outcome all_pass[3] = {P, P, P};

Test(verdict, strength_is_the_weakest_of_the_passes) {
    static const assay_outcome one[3] = {P, U, P}, none[3] = {F, F, F};
    const char *path = scratch("a.db");
    (void)test_finished_run(path, &test_run, all_pass);
    (void)test_finished_run(path, &test_run, one);
    (void)test_finished_run(path, &test_run, none);
    cr_expect_str_eq(raw_text(path, "SELECT strength FROM promises WHERE name='parity' AND run_id=1"),
                     "sampled");
    cr_expect_str_eq(raw_text(path, "SELECT strength FROM promises WHERE name='parity' AND run_id=2"),
                     "exhaustive");
    cr_expect_str_eq(raw_text(path, "SELECT strength FROM promises WHERE name='parity' AND run_id=3"), "");
}

static const assay_binary_record unknown_binary[] = {{"candidate", "/x", "unknown", 0}};
static const assay_pair dirty_assay[] = {{"assay.dirty", "yes"}, {"candidate.dirty", "no"}};
static const assay_pair dirty_candidate[] = {{"assay.dirty", "no"}, {"candidate.dirty", "unknown"}};

Test(verdict, what_keeps_kept_promises_from_a_certificate) {
    static const char *const reasons[] = {
        "kind run does not certify",
        "kind prove does not certify",
        "the candidate's binary is not known (sha256 = unknown)",
        "the candidate's binary is not known (sha256 = unknown)",
        "the tree that Assay was built from is not known to be clean (assay.dirty = yes)",
        "the candidate's tree is not known to be clean (candidate.dirty = unknown)",
        "the tree that Assay was built from is not known to be clean (assay.dirty = unknown)",
        "nothing was promised: the run has no required promise",
        "promise timing not verified: no required check is planned for it",
    };
    static const assay_outcome passes[3] = {P, P, P};
    static assay_promise_record promises[2];
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        char name[16];
        assay_run_record run = test_run;
        promises[0] = test_run.promises[0];
        promises[1] = test_run.promises[1];
        run.kind = i == 0 ? "run" : i == 1 ? "prove" : "certify";
        run.binary_count = i == 2 ? 0 : 1;
        run.binaries = i == 3 ? unknown_binary : test_run.binaries;
        run.provenance = i == 4 ? dirty_assay : i == 5 ? dirty_candidate : test_run.provenance;
        run.provenance_count = i == 4 || i == 5 ? 2 : i == 6 ? 0 : test_run.provenance_count;
        promises[0].required = i != 7;
        promises[1].required = i == 8; /* its only check is optional: it cannot be kept */
        run.promises = promises;
        (void)snprintf(name, sizeof name, "%zu.db", i);
        const char *path = scratch(name);
        cr_expect_eq(test_finished_run(path, &run, passes), ASSAY_VERDICT_INCOMPLETE, "case %zu", i);
        cr_expect_str_eq(raw_text(path, "SELECT reason FROM runs"), reasons[i], "case %zu", i);
        cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
    }
}

static const assay_knob_record idle_knob[] = {{"candidate", "path", "auto", "avx2"},
                                              {"candidate", "tf32", "off", "on"}};
static const assay_knob_record auto_knob[] = {{"candidate", "path", "auto", "avx2"}};

Test(verdict, a_knob_without_effect_is_mistrusted) {
    const char *path = scratch("a.db");
    assay_run_record run = test_run;
    run.knobs = auto_knob;
    cr_expect_eq(test_finished_run(path, &run, all_pass), ASSAY_VERDICT_CERTIFIED);
    run.knobs = idle_knob;
    run.knob_count = 2;
    cr_expect_eq(test_finished_run(path, &run, all_pass), ASSAY_VERDICT_INCOMPLETE);
    cr_expect_str_eq(raw_text(path, "SELECT reason FROM runs WHERE id=2"),
                     "mistrusted: a requested knob did not take effect (tf32: requested off, effective on)");
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

Test(verdict, a_file_changed_during_the_run_is_mistrusted) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33], reason[256];
    assay_verdict verdict = ASSAY_VERDICT_COUNT;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    for (int64_t seq = 1; seq <= 3; seq++) {
        cr_assert_eq(assay_store_check_begin(store, id, seq, &error), ASSAY_CODE_OK, "%s", error.text);
        cr_assert_eq(assay_store_check_end(store, id, seq, &test_check_pass, &error), ASSAY_CODE_OK, "%s",
                     error.text);
    }
    for (int twice = 0; twice < 2; twice++) { /* a run that was resumed notes it again */
        cr_assert_eq(
            assay_store_note(store, id, ASSAY_KEY_CHANGED, twice == 0 ? "candidate" : "other", &error),
            ASSAY_CODE_OK, "%s", error.text);
    }
    cr_assert_eq(assay_store_run_end(store, id, &verdict, reason, sizeof reason, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_expect_neq(assay_store_note(store, id, "later", "x", &error), ASSAY_CODE_OK);
    assay_store_close(store);
    cr_expect_eq(verdict, ASSAY_VERDICT_INCOMPLETE);
    cr_expect_str_eq(reason, "mistrusted: a file was changed or replaced during the run (candidate)");
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

/* A check that started and never ended is an error, and a resumed run counts attempts. */
Test(verdict, an_unfinished_check_is_an_error) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33], reason[256];
    assay_verdict verdict;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK);
    cr_assert_eq(assay_store_check_begin(store, id, 1, &error), ASSAY_CODE_OK);
    cr_assert_eq(assay_store_check_begin(store, id, 1, &error), ASSAY_CODE_OK);
    cr_expect_eq(assay_store_check_begin(store, id, 9, &error), ASSAY_CODE_INTERNAL, "there is no check 9");
    cr_assert_eq(assay_store_run_end(store, id, &verdict, reason, sizeof reason, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_expect_eq(verdict, ASSAY_VERDICT_INCOMPLETE);
    cr_expect_str_eq(reason, "promise parity not verified: parity/a: error: started, never finished");
    assay_store_close(store);
    cr_expect_str_eq(raw_text(path, "SELECT attempts FROM checks WHERE seq=1"), "2");
}

Test(verdict, records_that_contradict_themselves_are_refused) {
    static const assay_check_record nonsense[] = {
        {.outcome = ASSAY_OUTCOME_PASS, .reason = "", .elements = 0},
        {.outcome = ASSAY_OUTCOME_PASS, .reason = "", .elements = 5, .bad = 1},
        {.outcome = ASSAY_OUTCOME_NOT_RUN, .reason = ""},
        {.outcome = ASSAY_OUTCOME_COUNT, .reason = ""},
    };
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33];
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK);
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        cr_expect_eq(assay_store_check_end(store, id, 1, &nonsense[i], &error), ASSAY_CODE_INTERNAL,
                     "record %zu", i);
    }
    /* A row in the middle that fails takes the whole check with it. */
    assay_check_record twice = test_check_full;
    const assay_metric_record same[2] = {{"m", "", 1.0}, {"m", "", 2.0}};
    twice.metrics = same;
    twice.metric_count = 2;
    cr_expect_eq(assay_store_check_end(store, id, 1, &twice, &error), ASSAY_CODE_INTERNAL);
    cr_expect_eq(assay_store_check_end(store, id, 1, &test_check_full, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    assay_store_close(store);
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM check_outcome"), "1");
}
