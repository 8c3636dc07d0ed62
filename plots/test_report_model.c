/* test_report_model.c - what is derived from rows: groups of checks, timing, outcomes. */
#include "report_matrix.h"
#include "test_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static sqlite3 *db;
static report_arena arena;
static report_model model;

static void up(void) {
    db = fixture_open(":memory:");
}

static void down(void) {
    report_arena_free(&arena);
    (void)sqlite3_close(db);
}

TestSuite(report_model, .init = up, .fini = down, .timeout = 60);

static void load(int64_t run) {
    assay_error error = {0};
    cr_assert_eq(report_load(db, run, &arena, &model, &error), ASSAY_CODE_OK, "%s", error.text);
}

static void add_check(int seq, const char *name, int rows) {
    fixture_exec(db,
                 "INSERT INTO check_plan VALUES(6, %d, 'invariance', 'invariance/%q', 'invariance', 1, "
                 "'sampled', '{\"rows\":%d}', "
                 "'x', NULL, zeroblob(16))",
                 seq, name, rows);
}

static const report_matrix_row *row_called(const report_matrix *m, const char *label) {
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->rows[i].label, label) == 0) {
            return &m->rows[i];
        }
    }
    cr_assert_fail("no row %s", label);
    return NULL;
}

Test(report_model, checks_are_grouped_by_the_words_before_their_numbers) {
    report_matrix m;
    add_check(11, "alone_f32_2048x256_seed3", 2048);
    add_check(12, "alone_f32_64x256_seed4", 64);
    add_check(13, "sub/one_call_65537", 65537);
    add_check(14, "sub/hard", 18);
    add_check(15, "over_read", 1);
    load(FIXTURE_UNFINISHED);
    cr_assert(report_matrix_build(&model, "invariance", &m));
    cr_assert_eq(m.count, 3);
    const report_matrix_row *alone = row_called(&m, "alone");
    cr_assert_eq(alone->count, 2);
    cr_assert_str_eq(alone->cells[0].label, "f32 64x256 s4"); /* by rows */
    cr_assert_str_eq(alone->cells[1].label, "f32 2048x256 s3");
    const report_matrix_row *sub = row_called(&m, "sub");
    cr_assert_eq(sub->count, 2);
    cr_assert_str_eq(sub->cells[0].label, "hard");
    cr_assert_str_eq(sub->cells[1].label, "one call 65537");
    const report_matrix_row *lone = row_called(&m, "over_read");
    cr_assert_eq(lone->count, 1);
    cr_assert_str_eq(lone->cells[0].label, "");
    cr_assert_not(report_matrix_build(&model, "no such suite", &m));
}

Test(report_model, no_check_is_lost_in_a_matrix) {
    report_matrix m;
    static const char *const suites[] = {"parity", "invariance", "validation", "gradients"};
    load(FIXTURE_REFUSED);
    for (size_t s = 0; s < sizeof suites / sizeof suites[0]; s++) {
        size_t cells = 0;
        cr_assert(report_matrix_build(&model, suites[s], &m));
        for (size_t i = 0; i < m.count; i++) {
            cells += m.rows[i].count;
        }
        cr_assert_eq(
            (int64_t)cells,
            fixture_int(db, "SELECT count(*) FROM check_plan WHERE run_id = 2 AND suite = %Q", suites[s]));
    }
}

static const report_series *series_called(const char *callable, uint64_t rows) {
    for (size_t i = 0; i < model.series_count; i++) {
        if (strcmp(model.series[i].callable, callable) == 0 && model.series[i].rows == rows) {
            return &model.series[i];
        }
    }
    cr_assert_fail("no series %s", callable);
    return NULL;
}

static void replace_samples(const char *callable, const char *samples, int repeat) {
    fixture_exec(db,
                 "UPDATE series SET samples_ns = %Q, positions = '[0,1,0]', repeat = %d WHERE run_id = 1 AND "
                 "rows = 64 AND callable = %Q",
                 samples, repeat, callable);
}

Test(report_model, medians_ratios_floor_and_roof_come_from_the_samples) {
    replace_samples("candidate", "[300, 100, 200]", 2);
    replace_samples("baseline", "[600, 200, 400]", 1);
    replace_samples("floor", "[10, 30, 20]", 1);
    load(FIXTURE_CERTIFIED);
    const report_series *candidate = series_called("candidate", 64);
    cr_assert_eq(candidate->median_ns, 100.0); /* per call: 200 / 2 */
    cr_assert_eq(candidate->against, series_called("baseline", 64));
    cr_assert_eq(candidate->ratio, 0.25);
    cr_assert_eq(candidate->ratio_low, 0.25);
    cr_assert_eq(candidate->ratio_high, 0.25);
    cr_assert_eq(candidate->floor->median_ns, 20.0);
    cr_assert_eq(candidate->roof, series_called("roof_memset", 64));
    cr_assert_float_eq(candidate->gbps, (double)candidate->bytes / 100.0, 1e-12);
    cr_assert_eq(series_called("candidate_checked", 64)->against, candidate);
    cr_assert_null(series_called("floor", 64)->against);
    cr_assert_null(series_called("baseline", 64)->against);
}

Test(report_model, a_recorded_ratio_is_the_only_ratio) {
    const int64_t seq =
        fixture_int(db, "SELECT seq FROM series WHERE run_id = 1 AND rows = 64 AND callable = 'candidate'");
    static const char *const names[] = {"ratio_candidate_baseline", "ratio_candidate_baseline_low95",
                                        "ratio_candidate_baseline_high95"};
    for (int i = 0; i < 3; i++) { /* 1.0, 2.0 (0x4000...), 3.0 */
        static const int64_t bits[] = {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000};
        fixture_exec(db, "INSERT INTO metric VALUES(1, %lld, %Q, %lld, %d.0, '', zeroblob(16))", seq,
                     names[i], bits[i], i + 1);
    }
    load(FIXTURE_CERTIFIED);
    const report_series *candidate = series_called("candidate", 64);
    cr_assert_eq(candidate->ratio, 1.0);
    cr_assert_eq(candidate->ratio_low, 2.0);
    cr_assert_eq(candidate->ratio_high, 3.0);
}

Test(report_model, broken_samples_count_as_none) {
    fixture_exec(db, "UPDATE series SET samples_ns = 'not json' WHERE run_id = 1 AND rows = 64 AND callable "
                     "= 'candidate'");
    load(FIXTURE_CERTIFIED);
    const report_series *candidate = series_called("candidate", 64);
    cr_assert_eq(candidate->count, 0);
    cr_assert(isnan(candidate->median_ns));
    cr_assert_null(candidate->against);
}

Test(report_model, alarms) {
    static const struct {
        assay_outcome outcome;
        bool required, alarm;
    } cases[] = {{ASSAY_OUTCOME_PASS, true, false},       {ASSAY_OUTCOME_FAIL, false, true},
                 {ASSAY_OUTCOME_ERROR, false, true},      {ASSAY_OUTCOME_MISTRUSTED, false, true},
                 {ASSAY_OUTCOME_UNAVAILABLE, true, true}, {ASSAY_OUTCOME_UNAVAILABLE, false, false},
                 {ASSAY_OUTCOME_UNSUPPORTED, true, true}, {ASSAY_OUTCOME_NOT_RUN, true, true},
                 {ASSAY_OUTCOME_NOT_RUN, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const report_check check = {.outcome = cases[i].outcome, .required = cases[i].required};
        cr_assert_eq(report_check_alarms(&check), cases[i].alarm, "%zu", i);
    }
}

Test(report_model, selftest_expectations) {
    static const struct {
        const char *expected, *got;
        bool ok;
    } cases[] = {{"caught", "fail", true},     {"caught", "error", true},        {"caught", "pass", false},
                 {"caught", "not_run", false}, {"caught", "unsupported", false}, {"clean", "pass", true},
                 {"clean", "not_run", false},  {"clean", "fail", false},         {"any", "fail", true},
                 {"whatever", "pass", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const report_selftest row = {.expected = cases[i].expected, .got = cases[i].got};
        cr_assert_eq(report_selftest_ok(&row), cases[i].ok, "%s %s", cases[i].expected, cases[i].got);
    }
}

Test(report_model, names_are_short_in_titles) {
    fixture_exec(db, "UPDATE run SET implementation = '/a/b/mine.so', baseline = 'libm' WHERE id = 1");
    load(FIXTURE_CERTIFIED);
    cr_assert_str_eq(model.candidate, "mine");
    cr_assert_str_eq(model.other, "libm");
    cr_assert_str_eq(model.implementation, "/a/b/mine.so");
}

Test(report_model, a_measured_difference_is_not_equal) {
    load(FIXTURE_CERTIFIED);
    for (size_t i = 0; i < model.check_count; i++) {
        const report_check *c = &model.checks[i];
        if (strcmp(c->promise, "cross_lineage_parity") == 0) {
            cr_assert_eq((int)c->outcome, (int)ASSAY_OUTCOME_PASS);
            cr_assert_eq(c->bad, 0);
            cr_assert_gt(report_differing(&model, c), 1000000);
            return;
        }
    }
    cr_assert_fail("the fixture has such a check");
}
