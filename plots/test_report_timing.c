/* test_report_timing.c - timing of a run on a GPU: which floor and roof bound what, three figures in one row,
 * the figures that are drawn. The run of the fixture is turned into one: its six sizes become two sizes of
 * three figures.
 */
#include "figure.h"
#include "report.h"
#include "report_doc.h"
#include "test_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;
static report_arena arena;
static report_model model;

static void open_gpu_run(void) {
    static const struct {
        int was, rows;
        const char *figure;
    } checks[] = {{64, 65537, "device"}, {4096, 65537, "launch"}, {65536, 65537, "host"},
                  {1, 64, "device"},     {2, 64, "launch"},       {4, 64, "host"}};
    db = fixture_open(":memory:");
    fixture_exec(db, "DROP TRIGGER IF EXISTS series_refuse_update");
    fixture_exec(db, "UPDATE run SET device = 'cuda:0' WHERE id = 1");
    fixture_exec(db, "INSERT INTO provenance SELECT run_id, 'gpu.name', 'NVIDIA H200', row_hash FROM "
                     "provenance WHERE run_id = 1 LIMIT 1");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        fixture_exec(
            db, "UPDATE series SET rows = %d, figure = %Q WHERE run_id = 1 AND rows = %d AND figure = 'host'",
            checks[i].rows, checks[i].figure, checks[i].was);
    }
    fixture_exec(db, "UPDATE series SET rows = 1 WHERE run_id = 1 AND callable = 'floor'");
    fixture_exec(db,
                 "DELETE FROM series WHERE run_id = 1 AND figure = 'host' AND scope IN ('floor', 'roof')");
    fixture_exec(
        db, "INSERT INTO series SELECT run_id, seq, 'roof_read', scope, figure, rows, 2 * bytes, repeat, "
            "samples_ns, positions, flags, row_hash FROM series WHERE run_id = 1 AND callable = "
            "'roof_memset'");
    fixture_exec(
        db, "INSERT INTO series SELECT run_id, seq, 'candidate_again', scope, figure, rows, bytes, repeat, "
            "samples_ns, positions, flags, row_hash FROM series WHERE run_id = 1 AND callable = "
            "'candidate' AND figure <> 'host'");
    fixture_exec(db,
                 "UPDATE series SET flags = 'events' WHERE run_id = 1 AND callable = 'candidate_checked' AND "
                 "figure = 'device'");
}

static void down(void) {
    report_arena_free(&arena);
    (void)sqlite3_close(db);
}

static void load(void) {
    assay_error error = {0};
    cr_assert_eq(report_load(db, 1, &arena, &model, &error), ASSAY_CODE_OK, "%s", error.text);
}

TestSuite(report_timing, .init = open_gpu_run, .fini = down, .timeout = 60);

static const report_series *series(const char *callable, const char *figure, uint64_t rows) {
    for (size_t i = 0; i < model.series_count; i++) {
        const report_series *s = &model.series[i];
        if (strcmp(s->callable, callable) == 0 && strcmp(s->figure, figure) == 0 &&
            report_series_rows(&model, s) == rows) {
            return s;
        }
    }
    cr_assert_fail("no series %s %s", callable, figure);
    return NULL;
}

Test(report_timing, writing_and_reading_have_roofs_of_their_own) {
    load();
    cr_assert_str_eq(series("candidate", "device", 64)->roof->callable, "roof_memset");
    cr_assert_str_eq(series("candidate_checked", "launch", 64)->roof->callable, "roof_memset");
    cr_assert_str_eq(series("candidate_backward", "device", 64)->roof->callable, "roof_read");
    cr_assert_str_eq(series("baseline_backward", "launch", 65537)->roof->callable, "roof_read");
    cr_assert_str_eq(series("candidate_backward", "device", 64)->floor->callable, "floor");
    cr_assert_null(series("candidate", "host", 64)->roof);
    fixture_exec(db, "DELETE FROM series WHERE run_id = 1 AND callable = 'roof_read'");
    load();
    cr_assert_str_eq(series("candidate_backward", "device", 64)->roof->callable, "roof_memset");
}

Test(report_timing, figures_are_compared_with_their_own_kind) {
    load();
    cr_assert_eq(series("candidate", "launch", 64)->against, series("baseline", "launch", 64));
    cr_assert_eq(series("candidate", "device", 64)->floor, series("floor", "device", 64));
    cr_assert_eq(series("candidate_again", "launch", 64)->against, series("candidate", "launch", 64));
    cr_assert_float_eq(series("candidate_again", "launch", 64)->ratio, 1.0, 0.0);
    cr_assert(report_has_figure(&model, "device") && report_has_figure(&model, "host"));
    cr_assert_not(report_has_figure(&model, "nothing"));
}

static char *markdown(void) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assay_error error = {0};
    cr_assert_eq(assay_report_write(db, 1, ASSAY_REPORT_MD, out, &error), ASSAY_CODE_OK, "%s", error.text);
    (void)fclose(out);
    return text;
}

/* The table row that begins with these cells. */
static const char *row_of(const char *text, const char *rows, const char *callable) {
    char start[128];
    static char line[1024];
    (void)snprintf(start, sizeof start, "| %s | `%s` |", rows, callable);
    const char *at = strstr(text, start);
    cr_assert_not_null(at, "no row %s", start);
    cr_assert_null(strstr(at + 1, start), "two rows %s", start);
    (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

Test(report_timing, one_row_shows_the_three_figures) {
    char *text = markdown();
    cr_assert_not_null(strstr(text, "| Rows | Callable | Device | Launch | Host | GB/s | Of roof |"));
    const char *row = row_of(text, "64", "candidate");
    cr_assert_not_null(strstr(row, "to baseline"), "%s", row);
    cr_assert_not_null(strstr(row, "%"), "%s", row);
    cr_assert_null(strstr(row, " - |"), "%s", row);
    cr_assert_not_null(strstr(row_of(text, "64", "candidate_checked"), "events"));
    cr_assert_not_null(strstr(row_of(text, "64", "floor"), " - |"), "a floor has no host figure");
    cr_assert_null(strstr(row_of(text, "64", "floor"), "`floor` | -"), "but a device figure");
    cr_assert_not_null(strstr(row_of(text, "65,537", "roof_read"), "|"));
    cr_assert_not_null(strstr(text, "management library of the GPU was not there"));
    free(text);
}

Test(report_timing, readings_of_all_checks_are_summed_up) {
    static const struct {
        const char *name;
        double first, second;
    } metrics[] = {{"nvml_readings", 5, 6},
                   {"nvml_sm_clock_least", 1700, 1500},
                   {"nvml_sm_clock_most", 1980, 1900},
                   {"nvml_memory_clock_least", 3201, 3201},
                   {"nvml_memory_clock_most", 3201, 3201},
                   {"nvml_temperature_most", 41, 52},
                   {"nvml_reasons", 1, 4}};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        for (int k = 0; k < 2; k++) {
            const double value = k == 0 ? metrics[i].first : metrics[i].second;
            int64_t bits;
            memcpy(&bits, &value, sizeof bits);
            fixture_exec(
                db,
                "INSERT INTO metric SELECT 1, min(seq) + %d, %Q, %lld, %f, '', zeroblob(16) FROM series "
                "WHERE run_id = 1",
                k, metrics[i].name, bits, value);
        }
    }
    char *text = markdown();
    cr_assert_not_null(strstr(text, "SM clock 1500 to 1980 MHz, memory clock 3201 to 3201 MHz, at most 52"));
    cr_assert_not_null(strstr(text, "reasons seen: idle, software power cap."));
    free(text);
}

static size_t lines_of(const char *subject, figure_plan *plan) {
    char *set = NULL;
    char *data = NULL;
    size_t bytes = 0;
    size_t lines = 0;
    FILE *s = open_memstream(&set, &bytes);
    FILE *d = open_memstream(&data, &bytes);
    const bool drawn = figure_latency(&model, subject, plan, s, d);
    (void)fclose(s);
    (void)fclose(d);
    cr_assert(!drawn || sscanf(set, "LINES = %zu", &lines) == 1);
    cr_assert(!drawn || strstr(set, "again") == NULL);
    free(set);
    free(data);
    return lines;
}

Test(report_timing, two_figures_are_drawn_on_a_gpu_and_one_on_the_host) {
    figure_plan plan;
    load();
    cr_assert_eq(lines_of("device", &plan), 8);
    cr_assert_str_eq(plan.title, "Device time against size on NVIDIA H200 (cuda:0)");
    cr_assert_eq(lines_of("launch", &plan), 8);
    cr_assert_str_eq(plan.title, "Launch-inclusive latency against size on NVIDIA H200 (cuda:0)");
    fixture_exec(db, "UPDATE series SET figure = 'host' WHERE run_id = 1");
    load();
    cr_assert_eq(lines_of("device", &plan), 0);
    cr_assert_eq(lines_of("launch", &plan), 8);
    cr_assert_str_eq(plan.title, "Latency against size on NVIDIA H200 (cuda:0)");
}
