/* test_report_formats.c - every format over the synthetic evidence: same bytes, same counts, escaped, mapped
 * honestly. */
#include "report.h"
#include "test_fixture.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static void up(void) {
    db = fixture_open(":memory:");
}

static void down(void) {
    (void)sqlite3_close(db);
}

TestSuite(report_formats, .init = up, .fini = down, .timeout = 120);

static char *render(int64_t run, assay_report_format format) {
    char *text = NULL;
    size_t bytes = 0;
    assay_error error = {0};
    FILE *out = open_memstream(&text, &bytes);
    const assay_code code = assay_report_write(db, run, format, out, &error);
    (void)fclose(out);
    cr_assert_eq(code, ASSAY_CODE_OK, "run %d, %s: %s", (int)run, assay_report_format_text(format),
                 error.text);
    cr_assert_gt(bytes, 100);
    cr_assert_eq(strlen(text), bytes);
    return text;
}

static json_t *render_json(int64_t run, assay_report_format format) {
    char *text = render(run, format);
    json_error_t why;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    cr_assert_not_null(root, "%s", why.text);
    free(text);
    return root;
}

static void contains(const char *text, const char *part) {
    cr_assert_not_null(strstr(text, part), "missing: %s", part);
}

static void lacks(const char *text, const char *part) {
    const char *at = strstr(text, part);
    cr_assert_null(at, "must not appear: %s in %.80s", part, at);
}

Test(report_formats, names_parse_and_unknown_ones_do_not) {
    assay_report_format format;
    for (int i = 0; i < ASSAY_REPORT_COUNT; i++) {
        cr_assert(assay_report_format_parse(assay_report_format_text((assay_report_format)i), &format));
        cr_assert_eq((int)format, i);
    }
    cr_assert_not(assay_report_format_parse("pdf", &format));
    cr_assert_str_eq(assay_report_format_text(ASSAY_REPORT_COUNT), "unknown");
}

Test(report_formats, rendering_twice_gives_the_same_bytes) {
    for (int run = FIXTURE_CERTIFIED; run <= FIXTURE_UNFINISHED; run++) {
        for (int i = 0; i < ASSAY_REPORT_COUNT; i++) {
            char *first = render(run, (assay_report_format)i);
            char *second = render(run, (assay_report_format)i);
            cr_assert_str_eq(first, second, "run %d, %s", run,
                             assay_report_format_text((assay_report_format)i));
            free(first);
            free(second);
        }
    }
}

Test(report_formats, an_unknown_run_is_a_usage_error) {
    assay_error error = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_eq(assay_report_write(db, 4711, ASSAY_REPORT_MD, out, &error), ASSAY_CODE_USAGE);
    (void)fclose(out);
    cr_assert_eq(bytes, 0);
    contains(error.text, "4711");
    free(text);
}

static void with_commas(int64_t value, char *out) {
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%lld", (long long)value);
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
}

/* The counts come from SQL here, so that a wrong loader cannot agree with itself. */
Test(report_formats, all_formats_show_the_counts_of_the_rows) {
    for (int run = FIXTURE_CERTIFIED; run <= FIXTURE_PROVE; run++) {
        const int64_t checks = fixture_int(db, "SELECT count(*) FROM check_plan WHERE run_id = %d", run);
        const int64_t passed =
            fixture_int(db, "SELECT count(*) FROM checks WHERE run_id = %d AND outcome = 'pass'", run);
        const int64_t judged = fixture_int(db, "SELECT sum(elements) FROM checks WHERE run_id = %d", run);
        const int64_t bad = fixture_int(db, "SELECT sum(bad) FROM checks WHERE run_id = %d", run);
        char number[64];
        char key[128];
        char *md = render(run, ASSAY_REPORT_MD);
        char *html = render(run, ASSAY_REPORT_HTML);
        (void)snprintf(key, sizeof key, "**%lld / %lld** checks passed", (long long)passed,
                       (long long)checks);
        contains(md, key);
        (void)snprintf(key, sizeof key, "<dt>checks passed</dt><dd>%lld / %lld</dd>", (long long)passed,
                       (long long)checks);
        contains(html, key);
        with_commas(judged, number);
        (void)snprintf(key, sizeof key, "%s elements judged", number);
        contains(md, key);
        contains(html, key);
        json_t *root = render_json(run, ASSAY_REPORT_JSON);
        json_t *counts = json_object_get(root, "counts");
        cr_assert_eq(json_integer_value(json_object_get(counts, "checks")), checks);
        cr_assert_eq(json_integer_value(json_object_get(counts, "pass")), passed);
        cr_assert_eq(json_integer_value(json_object_get(counts, "elements")), judged);
        cr_assert_eq(json_integer_value(json_object_get(counts, "bad")), bad);
        cr_assert_eq((int64_t)json_array_size(json_object_get(root, "checks")), checks);
        json_decref(root);
        json_t *ctrf = render_json(run, ASSAY_REPORT_CTRF);
        json_t *summary = json_object_get(json_object_get(ctrf, "results"), "summary");
        const int certified = run != FIXTURE_REFUSED;
        cr_assert_eq(json_integer_value(json_object_get(summary, "tests")),
                     checks + 1); /* the verdict is a case, too */
        cr_assert_eq(json_integer_value(json_object_get(summary, "passed")), passed + certified);
        json_decref(ctrf);
        free(md);
        free(html);
    }
}

Test(report_formats, every_promise_and_every_open_check_is_in_markdown_and_html) {
    char *md = render(FIXTURE_REFUSED, ASSAY_REPORT_MD);
    char *html = render(FIXTURE_REFUSED, ASSAY_REPORT_HTML);
    sqlite3_stmt *row = NULL;
    int n = 0;
    (void)sqlite3_prepare_v2(
        db,
        "SELECT '`' || name || '`' FROM checks WHERE run_id = 2 AND outcome <> 'pass' UNION ALL "
        "SELECT '`' || name || '`' FROM promise WHERE run_id = 2",
        -1, &row, NULL);
    while (sqlite3_step(row) == SQLITE_ROW) {
        char name[256];
        (void)snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(row, 0));
        contains(md, name);
        name[strlen(name) - 1] = '\0';
        contains(html, name + 1);
        n++;
    }
    (void)sqlite3_finalize(row);
    cr_assert_gt(n, 25);
    contains(md, "82.7 %");
    contains(md, "0x3c6075f7 (0.0137)");
    contains(md, "never started");
    contains(md, "the worker died of signal 11 (SIGSEGV) in backward");
    contains(md, "the candidate exports no offset helper");
    lacks(md, "everything required was verified");
    free(md);
    free(html);
}

Test(report_formats, a_certified_run_leaves_nothing_unverified) {
    char *md = render(FIXTURE_CERTIFIED, ASSAY_REPORT_MD);
    contains(md, "## Not verified\n\nNothing: everything required was verified.\n");
    contains(md, "# \xe2\x9c\x93 certified: timestep");
    free(md);
}

Test(report_formats, an_unfinished_run_names_the_check_that_hangs) {
    char *md = render(FIXTURE_UNFINISHED, ASSAY_REPORT_MD);
    contains(md, "# ? unfinished");
    contains(md, "| `parity/rows_2` | \xe2\x9c\x97 error | yes | started, never finished |");
    contains(md, "run unfinished");
    free(md);
    json_t *ctrf = render_json(FIXTURE_UNFINISHED, ASSAY_REPORT_CTRF);
    json_t *summary = json_object_get(json_object_get(ctrf, "results"), "summary");
    cr_assert_eq(json_integer_value(json_object_get(summary, "failed")), 2); /* the check and the verdict */
    json_decref(ctrf);
}

Test(report_formats, junit_and_ctrf_never_skip_what_was_owed) {
    char *junit = render(FIXTURE_REFUSED, ASSAY_REPORT_JUNIT);
    const int64_t fails =
        fixture_int(db, "SELECT count(*) FROM checks WHERE run_id = 2 AND outcome = 'fail'");
    const int64_t open =
        fixture_int(db, "SELECT count(*) FROM checks WHERE run_id = 2 AND outcome NOT IN ('pass', 'fail')");
    char key[128];
    (void)snprintf(key, sizeof key, "failures=\"%lld\" errors=\"%lld\" skipped=\"0\"", (long long)fails + 1,
                   (long long)open);
    contains(junit, key); /* + 1: the verdict is refused */
    contains(junit, "<error message=\"mistrusted: own time");
    contains(junit, "<error message=\"not_run: never started");
    contains(junit, "<error message=\"unavailable: the candidate");
    lacks(junit, "<skipped");
    free(junit);
    json_t *ctrf = render_json(FIXTURE_REFUSED, ASSAY_REPORT_CTRF);
    json_t *results = json_object_get(ctrf, "results");
    json_t *tests = json_object_get(results, "tests");
    json_t *summary = json_object_get(results, "summary");
    int64_t by[4] = {0};
    for (size_t i = 0; i < json_array_size(tests); i++) {
        json_t *test = json_array_get(tests, i);
        const char *status = json_string_value(json_object_get(test, "status"));
        const char *raw = json_string_value(json_object_get(test, "rawStatus"));
        cr_assert_not_null(json_string_value(json_object_get(test, "name")));
        cr_assert(json_is_integer(json_object_get(test, "duration")));
        cr_assert(json_is_array(json_object_get(test, "suite")));
        if (strcmp(raw, "pass") != 0) {
            cr_assert_str_eq(status, "failed", "%s", raw);
        }
        by[strcmp(status, "passed") == 0 ? 0 : strcmp(status, "failed") == 0 ? 1 : 2]++;
    }
    cr_assert_eq(by[0], json_integer_value(json_object_get(summary, "passed")));
    cr_assert_eq(by[1], json_integer_value(json_object_get(summary, "failed")));
    static const char *const needed[] = {"tests",   "passed", "failed", "pending",
                                         "skipped", "other",  "start",  "stop"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        cr_assert(json_is_integer(json_object_get(summary, needed[i])), "%s", needed[i]);
    }
    cr_assert_str_eq(json_string_value(json_object_get(json_object_get(results, "tool"), "name")), "assay");
    cr_assert_str_eq(json_string_value(json_object_get(ctrf, "reportFormat")), "CTRF");
    json_decref(ctrf);
}

Test(report_formats, an_optional_unavailable_check_is_a_skip_but_an_optional_mistrusted_one_is_not) {
    fixture_exec(db, "UPDATE check_plan SET required = 0 WHERE run_id = 2 AND name = 'memory/index_helper'");
    char *junit = render(FIXTURE_REFUSED, ASSAY_REPORT_JUNIT);
    contains(junit, "<skipped message=\"unavailable: the candidate");
    contains(junit, "<error message=\"mistrusted"); /* timing is optional */
    free(junit);
}

Test(report_formats, an_incomplete_run_fails_even_when_all_its_checks_passed) {
    fixture_exec(
        db, "UPDATE run_result SET verdict = 'incomplete', reason = 'the tree is dirty' WHERE run_id = 1");
    char *junit = render(FIXTURE_CERTIFIED, ASSAY_REPORT_JUNIT);
    contains(junit, "errors=\"1\" skipped=\"0\"");
    contains(junit, "<error message=\"incomplete: the tree is dirty\"");
    free(junit);
    char *md = render(FIXTURE_CERTIFIED, ASSAY_REPORT_MD);
    contains(md, "Verdict **incomplete**: the tree is dirty.");
    free(md);
}

/* Cells of a Markdown table row: unescaped pipes less one. Code spans do not protect pipes, so neither does
 * this. */
static int pipes(const char *line, size_t n) {
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        count += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    }
    return count;
}

Test(report_formats, markdown_tables_keep_their_columns_whatever_the_cells_hold) {
    for (int run = FIXTURE_CERTIFIED; run <= FIXTURE_UNFINISHED; run++) {
        char *md = render(run, ASSAY_REPORT_MD);
        cr_assert_lt(strlen(md), 64001);
        int want = 0;
        int tables = 0;
        for (const char *line = md; *line != '\0';) {
            const char *end = strchr(line, '\n');
            const size_t n = (size_t)(end - line);
            if (line[0] == '|') {
                if (want == 0) {
                    want = pipes(line, n);
                    tables++;
                }
                cr_assert_eq(pipes(line, n), want, "run %d: %.*s", run, (int)n, line);
            } else {
                want = 0;
            }
            line = end + 1;
        }
        cr_assert_geq(tables, 2);
        free(md);
    }
}

Test(report_formats, hostile_text_stays_text) {
    char *md = render(FIXTURE_HOSTILE, ASSAY_REPORT_MD);
    char *html = render(FIXTURE_HOSTILE, ASSAY_REPORT_HTML);
    char *junit = render(FIXTURE_HOSTILE, ASSAY_REPORT_JUNIT);
    lacks(html, "<script>alert");
    lacks(junit, "<script>");
    for (const char *p = html; *p != '\0'; p++) {
        cr_assert((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t', "control character in the page");
    }
    contains(html, "&lt;script&gt;alert(1)&lt;/script&gt;");
    contains(md, "\\|b \\`c\\` \\`\\`\\`d");
    json_t *root = render_json(FIXTURE_HOSTILE, ASSAY_REPORT_JSON);
    json_decref(root);
    free(md);
    free(html);
    free(junit);
}

static int count_of(const char *text, const char *part) {
    int n = 0;
    for (const char *p = strstr(text, part); p != NULL; p = strstr(p + 1, part)) {
        n++;
    }
    return n;
}

Test(report_formats, the_page_is_self_contained_and_its_ids_are_sound) {
    char *html = render(FIXTURE_REFUSED, ASSAY_REPORT_HTML);
    lacks(html, "http://");
    lacks(html, "https://");
    lacks(html, " src=");
    lacks(html, "@import");
    lacks(html, "xlink:");
    cr_assert_geq(count_of(html, "<figure "), 6);
    cr_assert_eq(count_of(html, "<svg class=\"wide\""), count_of(html, "<svg class=\"narrow\""));
    char **ids = calloc(20000, sizeof *ids);
    size_t n = 0;
    for (const char *p = html; *p != '\0'; p++) {
        if (strncmp(p, " id=\"", 5) == 0 || strncmp(p, " id='", 5) == 0) {
            ids[n++] = strndup(p + 5, strcspn(p + 5, "\"'"));
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            cr_assert_str_neq(ids[i], ids[k]);
        }
    }
    for (const char *p = strstr(html, "href="); p != NULL; p = strstr(p + 1, "href=")) {
        if (p[6] != '#') {
            continue;
        }
        char *target = strndup(p + 7, strcspn(p + 7, "\"'"));
        bool found = false;
        for (size_t i = 0; i < n && !found; i++) {
            found = strcmp(ids[i], target) == 0;
        }
        cr_assert(found, "nothing is called %s", target);
        free(target);
    }
    free(html);
}

Test(report_formats, tables_are_accessible) {
    char *html = render(FIXTURE_REFUSED, ASSAY_REPORT_HTML);
    const int tables = count_of(html, "<table>");
    cr_assert_gt(tables, 10);
    cr_assert_eq(count_of(html, "<caption>"), tables);
    cr_assert_eq(count_of(html, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label="), tables);
    cr_assert_eq(count_of(html, "<th"), count_of(html, "<th scope=") + count_of(html, "<thead>"));
    contains(html, "class=\"skip\" href=\"#promises\"");
    contains(html, "<html lang=\"en\">");
    free(html);
}

Test(report_formats, json_keeps_floats_as_numbers_and_bits) {
    json_t *root = render_json(FIXTURE_HOSTILE, ASSAY_REPORT_JSON);
    json_t *check = json_array_get(json_object_get(root, "checks"), 0);
    json_t *metric = json_object_get(json_object_get(check, "metrics"), "max_ulp");
    cr_assert(json_is_null(json_object_get(metric, "value"))); /* infinity */
    cr_assert_str_eq(json_string_value(json_object_get(metric, "bits")), "0x7ff0000000000000");
    json_decref(root);
    root = render_json(FIXTURE_CERTIFIED, ASSAY_REPORT_JSON);
    json_t *timing = json_object_get(root, "timing");
    cr_assert_eq(json_array_size(timing), 42);
    json_t *series = json_array_get(timing, 2);
    cr_assert_str_eq(json_string_value(json_object_get(series, "callable")), "candidate");
    cr_assert_eq(json_array_size(json_object_get(series, "samples_ns")), 200);
    json_t *ratio = json_object_get(series, "ratio");
    cr_assert_str_eq(json_string_value(json_object_get(ratio, "against")), "baseline");
    const double low = json_number_value(json_object_get(ratio, "low95"));
    const double high = json_number_value(json_object_get(ratio, "high95"));
    const double value = json_number_value(json_object_get(ratio, "value"));
    cr_assert(low <= value && value <= high && low > 0.4 && high < 0.7);
    json_decref(root);
}

Test(report_formats, the_selftest_matrix_shows_what_was_missed) {
    char *md = render(FIXTURE_SELFTEST, ASSAY_REPORT_MD);
    contains(md, "`batch_256_switch` | mutant |");
    contains(md, "\xe2\x9c\x97 missed (pass)");
    contains(md, "\xe2\x9c\x93 caught");
    lacks(md, "false alarm");
    char *junit = render(FIXTURE_SELFTEST, ASSAY_REPORT_JUNIT);
    contains(junit, "name=\"selftest/batch_256_switch/invariance\"");
    contains(junit, "failures=\"2\" errors=\"0\""); /* the miss, and the verdict */
    free(md);
    free(junit);
}

Test(report_formats, a_huge_run_still_fits_a_pull_request_and_keeps_what_failed) {
    fixture_exec(db, "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) "
                     "INSERT INTO check_plan SELECT 2, i, 'invariance', 'invariance/generated_' || i, "
                     "'invariance', 1, 'sampled', '{}', "
                     "'assay run --check invariance/generated_' || i, NULL, zeroblob(16) FROM n");
    fixture_exec(db, "INSERT INTO check_outcome SELECT 2, seq, CASE WHEN seq = 3999 THEN 'fail' ELSE 'pass' "
                     "END, '', 256, seq = 3999, 1, 1, "
                     "zeroblob(16) FROM check_plan WHERE run_id = 2 AND seq >= 1000");
    char *md = render(FIXTURE_REFUSED, ASSAY_REPORT_MD);
    cr_assert_leq(strlen(md), 64000);
    contains(md, "`invariance/generated_3999`");
    free(md);
    fixture_exec(db, "UPDATE check_outcome SET outcome = 'error' WHERE run_id = 2 AND seq >= 1000");
    md = render(FIXTURE_REFUSED, ASSAY_REPORT_MD);
    cr_assert_leq(strlen(md), 64000);
    contains(md, "rows are shown; the HTML and JSON reports have all of them.");
    free(md);
}

Test(report_formats, what_is_only_measured_stays_out_of_the_parity_numbers) {
    char *md = render(FIXTURE_CERTIFIED, ASSAY_REPORT_MD);
    contains(md, "**0** of 143.6 M elements differ (parity)");
    free(md);
}
