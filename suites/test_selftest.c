/* test_selftest.c - the self-test itself: it accepts what ended as expected, and it can fail. The second half
 * hands it a folder in which one broken library was exchanged for the correct one, and one correct library
 * for a broken one. */
#include "selftest_internal.h"
#include "worker.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The judge starts its own program as worker host: this test program plays that part, as `assay worker` does.
 */
__attribute__((constructor)) static void serve_as_worker(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "worker") == 0) {
        exit(assay_worker_main(argv[3]));
    }
}

static char folder[512], scratch[64];
static assay_store *store;

static void open_all(void) {
    assay_error error = {0};
    const char *build = getenv("ASSAY_BUILD");
    (void)snprintf(folder, sizeof folder, "%s/impls/mutants", build != NULL ? build : ".");
    (void)snprintf(scratch, sizeof scratch, "/tmp/assay-selftest-XXXXXX");
    cr_assert_not_null(mkdtemp(scratch));
    char path[128];
    (void)snprintf(path, sizeof path, "%s/evidence.db", scratch);
    cr_assert_eq(assay_store_open(path, ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_OK, "%s", error.text);
}

static void close_all(void) {
    char command[128];
    assay_store_close(store);
    (void)snprintf(command, sizeof command, "rm -r %s", scratch);
    cr_assert_eq(system(command), 0);
}

TestSuite(selftest, .init = open_all, .fini = close_all);

static int64_t number(const char *sql) {
    sqlite3_stmt *s = NULL;
    cr_assert_eq(sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &s, NULL), SQLITE_OK, "%s", sql);
    cr_assert_eq(sqlite3_step(s), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    return n;
}

static assay_code run(const char *directory, const char *filter, assay_selftest_report *report,
                      assay_error *error) {
    assay_selftest_options o = {.op = "timestep_sinusoid_h3",
                                .directory = directory,
                                .filter = filter,
                                .command = "test",
                                .threads = 1};
    return assay_selftest(store, &o, report, error);
}

static const assay_selftest_subject *find(const assay_selftest_report *r, const char *name) {
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->subjects[i].name, name) == 0) {
            return &r->subjects[i];
        }
    }
    return NULL;
}

static void expect_all(const char *filter, size_t count) {
    assay_selftest_report r;
    assay_error error = {0};
    assay_code code = run(folder, filter, &r, &error);
    cr_expect_eq(code, ASSAY_CODE_OK, "%s: code %d %s", filter, (int)code, error.text);
    cr_expect_eq(r.count, count, "%s: %zu subjects", filter, r.count);
    for (size_t i = 0; i < r.count; i++) {
        cr_expect(r.subjects[i].held, "%s: %s", r.subjects[i].name, r.subjects[i].detail);
    }
    assay_selftest_report_free(&r);
}

Test(selftest, a_mutant_is_caught_by_its_suite_and_recorded) {
    expect_all("freq_divide", 1);
    cr_expect_eq(number("SELECT count(*) FROM selftest WHERE subject = 'freq_divide'"),
                 (int64_t)assay_suite_count);
    cr_expect_eq(
        number(
            "SELECT count(*) FROM selftest WHERE suite = 'parity' AND expected = 'caught' AND got = 'fail'"),
        1);
    cr_expect_eq(number("SELECT count(*) FROM runs WHERE kind = 'selftest' AND verdict <> 'unfinished'"), 2);
    cr_expect_eq(number("SELECT count(*) FROM checks WHERE suite = 'selftest' AND outcome = 'pass'"), 1);
}

Test(selftest, each_class_ends_as_expected) {
    expect_all("null_shifted", 1);
    expect_all("liar_poison_aware", 1);
    expect_all("run_segv", 1);
    expect_all("load_*", 5);
}

Test(selftest, the_harness_itself_holds) {
    expect_all("meta_*", assay_selftest_meta_count);
}

/* ---- the table for a GPU ---- */

Test(selftest, subjects_on_a_gpu_are_judged_by_the_suite_meant_for_them) {
    static const char *const full[] = {"grad_race_lucky", "uninitialised", "index_output_32"};
    const assay_selftest_options o = {.op = "timestep_sinusoid_h3", .device = "cuda:0"};
    size_t count = 0;
    size_t deep = 0;
    const assay_selftest_subject *table = assay_selftest_table("cuda:0", &count);
    cr_assert_gt(count, 30u);
    for (size_t i = 0; i < count; i++) {
        assay_certify_options c = {0};
        assay_expect expect = ASSAY_EXPECT_COUNT;
        assay_selftest_narrow(&o, &table[i], &c);
        cr_expect(assay_expect_parse(table[i].expected, &expect), "%s", table[i].name);
        cr_expect(table[i].suite[0] == '\0' || assay_selftest_suite(table[i].suite) >= 0, "%s",
                  table[i].name);
        cr_expect((c.suite_filter == NULL) == (table[i].suite[0] == '\0'), "%s", table[i].name);
        for (size_t k = 0; k < 3; k++) {
            if (strcmp(table[i].name, full[k]) == 0) {
                cr_expect(c.tier == ASSAY_TIER_FULL && strncmp(c.check_filter, "memory/", 7) == 0);
                deep++;
            }
        }
    }
    cr_expect_eq(deep, 3u);
    cr_expect_eq(assay_selftest_table("cpu", &count), assay_selftest_table(NULL, &count));
}

Test(selftest, without_that_gpu_nothing_is_written) {
    assay_selftest_report r;
    assay_error error = {0};
    const assay_selftest_options o = {
        .op = "timestep_sinusoid_h3", .device = "cuda:1023", .directory = folder, .command = "test"};
    cr_expect_eq(assay_selftest(store, &o, &r, &error), ASSAY_CODE_INCOMPLETE, "%s", error.text);
    cr_expect_eq(number("SELECT count(*) FROM run"), 0);
    assay_selftest_report_free(&r);
}

/* ---- it can fail ---- */

/* A folder of links to the real one, in which `name` is the library `instead`. */
static void exchange(const char *directory, const char *name, const char *instead) {
    char command[2048];
    (void)snprintf(command, sizeof command, "mkdir -p %s && ln -sf %s/*.so %s/ && ln -sf %s/%s.so %s/%s.so",
                   directory, folder, directory, folder, instead, directory, name);
    cr_assert_eq(system(command), 0);
}

Test(selftest, a_mutant_that_is_not_caught_is_reported) {
    char directory[128];
    assay_selftest_report r;
    assay_error error = {0};
    (void)snprintf(directory, sizeof directory, "%s/folder", scratch);
    exchange(directory, "freq_divide", "base");
    cr_expect_eq(run(directory, "freq_divide", &r, &error), ASSAY_CODE_REFUSED, "%s", error.text);
    const assay_selftest_subject *s = find(&r, "freq_divide");
    cr_assert_not_null(s);
    cr_expect(!s->held && strstr(s->detail, "every check passed") != NULL, "%s", s->detail);
    cr_expect(r.to_catch == 1 && r.caught == 0 && r.verdict == ASSAY_VERDICT_REFUSED);
    assay_selftest_report_free(&r);
    cr_expect_eq(
        number(
            "SELECT count(*) FROM selftest WHERE suite = 'parity' AND expected = 'caught' AND got = 'pass'"),
        1);
}

Test(selftest, a_false_alarm_is_reported) {
    char directory[128];
    assay_selftest_report r;
    assay_error error = {0};
    (void)snprintf(directory, sizeof directory, "%s/folder", scratch);
    exchange(directory, "var_block", "out_one_ulp");
    cr_expect_eq(run(directory, "var_block", &r, &error), ASSAY_CODE_REFUSED, "%s", error.text);
    cr_expect(r.false_alarms == 1 && r.variants == 1 && r.clean == 0);
    const assay_selftest_subject *s = find(&r, "var_block");
    cr_assert_not_null(s);
    cr_expect(strstr(s->detail, "parity/") != NULL, "%s", s->detail);
    assay_selftest_report_free(&r);
}

Test(selftest, wrong_use_writes_nothing) {
    assay_selftest_report r;
    assay_error error = {0};
    cr_expect_eq(run(folder, "no_such_subject", &r, &error), ASSAY_CODE_USAGE);
    assay_selftest_report_free(&r);
    cr_expect_eq(run(scratch, NULL, &r, &error), ASSAY_CODE_USAGE);
    cr_expect(strstr(error.text, "missing") != NULL, "%s", error.text);
    assay_selftest_report_free(&r);
    assay_selftest_options o = {.op = "no_such_operator", .directory = folder, .command = "test"};
    cr_expect_eq(assay_selftest(store, &o, &r, &error), ASSAY_CODE_USAGE);
    assay_selftest_report_free(&r);
    cr_expect_eq(number("SELECT count(*) FROM run"), 0);
}

/* ---- the rule ---- */

typedef struct ruling {
    const char *expected, *suite;
    assay_outcome noticed; /* outcome of `suite`; all others pass */
    assay_verdict verdict;
    bool held;
    uint64_t unkept;
} ruling;

Test(selftest, what_counts_as_caught) {
    static const ruling rulings[] = {
        {"fail", "parity", ASSAY_OUTCOME_FAIL, ASSAY_VERDICT_REFUSED, true, 0},
        {"fail", "parity", ASSAY_OUTCOME_FAIL, ASSAY_VERDICT_CERTIFIED, false, 0},
        {"fail", "parity", ASSAY_OUTCOME_ERROR, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"fail", "parity", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_REFUSED, false, 0},
        {"fail", "parity", ASSAY_OUTCOME_NOT_RUN, ASSAY_VERDICT_REFUSED, false, 0},
        {"fail", "parity", ASSAY_OUTCOME_MISTRUSTED, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"crash", "memory", ASSAY_OUTCOME_ERROR, ASSAY_VERDICT_INCOMPLETE, true, 1},
        {"crash", "memory", ASSAY_OUTCOME_ERROR, ASSAY_VERDICT_CERTIFIED, false, 0},
        {"crash", "memory", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_REFUSED, false, 0},
        {"mistrusted", "timing", ASSAY_OUTCOME_MISTRUSTED, ASSAY_VERDICT_INCOMPLETE, true, 0},
        {"mistrusted", "timing", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"refused", "", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_REFUSED, false, 0},
        {"clean", "", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_INCOMPLETE, true, 0},
        {"clean", "", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_INCOMPLETE, false, 1},
        {"incomplete", "", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_INCOMPLETE, true, 1},
        {"incomplete", "", ASSAY_OUTCOME_PASS, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"incomplete", "parity", ASSAY_OUTCOME_FAIL, ASSAY_VERDICT_REFUSED, false, 1},
        {"clean", "timing", ASSAY_OUTCOME_UNAVAILABLE, ASSAY_VERDICT_CERTIFIED, true, 0},
        {"clean", "memory", ASSAY_OUTCOME_UNAVAILABLE, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"clean", "memory", ASSAY_OUTCOME_FAIL, ASSAY_VERDICT_REFUSED, false, 0},
        {"clean", "memory", ASSAY_OUTCOME_NOT_RUN, ASSAY_VERDICT_INCOMPLETE, false, 0},
        {"nonsense", "parity", ASSAY_OUTCOME_FAIL, ASSAY_VERDICT_REFUSED, false, 0},
    };
    for (size_t i = 0; i < sizeof rulings / sizeof rulings[0]; i++) {
        const ruling *r = &rulings[i];
        assay_selftest_subject s = {.name = "x",
                                    .class_name = "mutant",
                                    .suite = r->suite,
                                    .expected = r->expected,
                                    .verdict = r->verdict,
                                    .checks = 10,
                                    .passed = 9,
                                    .unkept = r->unkept,
                                    .run_id = 1};
        for (size_t k = 0; k < assay_suite_count; k++) {
            s.outcome[k] = ASSAY_OUTCOME_PASS;
        }
        if (assay_selftest_suite(r->suite) >= 0) {
            s.outcome[assay_selftest_suite(r->suite)] = r->noticed;
        }
        assay_selftest_judge(store, &s, ASSAY_CODE_OK, "");
        cr_expect_eq(s.held, r->held, "row %zu: %s, %s %s, verdict %s", i, r->expected, r->suite,
                     assay_outcome_text(r->noticed), assay_verdict_text(r->verdict));
    }
    assay_selftest_subject lost = {.name = "x",
                                   .class_name = "runner",
                                   .suite = "parity",
                                   .expected = "crash",
                                   .verdict = ASSAY_VERDICT_INCOMPLETE,
                                   .checks = 10,
                                   .unkept = 1,
                                   .passed = 0,
                                   .run_id = 1};
    lost.outcome[assay_selftest_suite("parity")] = ASSAY_OUTCOME_ERROR;
    assay_selftest_judge(store, &lost, ASSAY_CODE_OK, "");
    cr_expect(!lost.held, "a run in which nothing passed did not go on");
}
