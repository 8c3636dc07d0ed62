/* test_report_directory.c - report directories: complete, reproducible, whole files or none, honest without
 * gnuplot. */
#include "report.h"
#include "report_file.h"
#include "test_fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3 *db;
static char base[64];

static void up(void) {
    db = fixture_open(":memory:");
    strcpy(base, "/tmp/assay-plots-test-XXXXXX");
    cr_assert_not_null(mkdtemp(base));
}

static void down(void) {
    char command[128];
    (void)sqlite3_close(db);
    (void)snprintf(command, sizeof command, "rm -r %s", base);
    cr_assert_eq(system(command), 0);
}

TestSuite(report_directory, .init = up, .fini = down, .timeout = 120);

static const char *at(const char *name) {
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", base, name);
    return path[turn];
}

static char *slurp(const char *path, size_t *bytes) {
    char *text = NULL;
    cr_assert(report_file_read(path, &text, bytes), "%s", path);
    return text;
}

static bool exists(const char *path) {
    return access(path, F_OK) == 0;
}

/* Number of files; every one must be the same in both directories. */
static int compare(const char *a, const char *b) {
    DIR *list = opendir(a);
    int n = 0;
    cr_assert_not_null(list);
    for (struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
        if (e->d_name[0] == '.') {
            continue;
        }
        char one[1024];
        char two[1024];
        size_t n1 = 0;
        size_t n2 = 0;
        (void)snprintf(one, sizeof one, "%s/%s", a, e->d_name);
        (void)snprintf(two, sizeof two, "%s/%s", b, e->d_name);
        char *x = slurp(one, &n1);
        char *y = slurp(two, &n2);
        cr_assert(n1 == n2 && memcmp(x, y, n1) == 0, "%s differs", e->d_name);
        free(x);
        free(y);
        n++;
    }
    (void)closedir(list);
    return n;
}

Test(report_directory, two_renderings_are_the_same_bytes_figures_included) {
    assay_error error = {0};
    for (int run = FIXTURE_CERTIFIED; run <= FIXTURE_UNFINISHED; run++) {
        cr_assert_eq(assay_report_directory(db, run, at("a/deep/er"), &error), ASSAY_CODE_OK, "%s",
                     error.text);
        cr_assert_eq(assay_report_directory(db, run, at("b"), &error), ASSAY_CODE_OK, "%s", error.text);
        cr_assert_geq(compare(at("a/deep/er"), at("b")), 5);
    }
}

Test(report_directory, everything_is_there) {
    static const char *const names[] = {"report.md",
                                        "report.html",
                                        "report.json",
                                        "report.junit.xml",
                                        "report.ctrf.json",
                                        "ulp-accuracy.svg",
                                        "ulp-accuracy.png",
                                        "ulp-parity.svg",
                                        "error-by-input.png",
                                        "latency.svg",
                                        "matrix-parity.svg",
                                        "matrix-invariance.png",
                                        "exponents-accuracy.svg",
                                        "witness-parity_rows_3.json",
                                        "witness-parity_rows_3.c",
                                        "witness-parity_rows_3-input.npy",
                                        "witness-parity_rows_3-got.npy",
                                        "witness-parity_rows_3-want.npy",
                                        "witness-accuracy_uniform.c"};
    assay_error error = {0};
    cr_assert_eq(assay_report_directory(db, FIXTURE_REFUSED, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "out/%s", names[i]);
        cr_assert(exists(at(name)), "%s", names[i]);
    }
    size_t bytes = 0;
    char *md = slurp(at("out/report.md"), &bytes);
    for (const char *p = strstr(md, "]("); p != NULL;
         p = strstr(p + 1, "](")) { /* every link leads to a file */
        char name[256];
        (void)snprintf(name, sizeof name, "out/%.*s", (int)strcspn(p + 2, ")"), p + 2);
        cr_assert(exists(at(name)), "%s", name);
    }
    free(md);
    char *svg = slurp(at("out/latency.svg"), &bytes);
    cr_assert_not_null(strstr(svg, "AMD EPYC"));
    cr_assert_not_null(strstr(svg, "fill=\"#fff\""), "black ink needs paper on a dark page");
    cr_assert_not_null(strstr(svg, "227fd9f0c1b2"));
    cr_assert_not_null(strstr(svg, "time per call [\xc2\xb5s]"));
    free(svg);
}

Test(report_directory, witness_programs_compile) {
    assay_error error = {0};
    char command[1024];
    cr_assert_eq(assay_report_directory(db, FIXTURE_REFUSED, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(assay_report_directory(db, FIXTURE_HOSTILE, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    (void)snprintf(command, sizeof command,
                   "for f in %s/out/witness*.c; do cc -std=c17 -D_GNU_SOURCE -Wall -Werror -fsyntax-only "
                   "-I%s/harness/include \"$f\" || exit 1; done",
                   base, getenv("ASSAY_SOURCE"));
    cr_assert_eq(system(command), 0);
}

Test(report_directory, without_gnuplot_the_report_says_so) {
    assay_error error = {0};
    size_t bytes = 0;
    (void)setenv("PATH", "/nonexistent", 1);
    cr_assert_eq(assay_report_directory(db, FIXTURE_CERTIFIED, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    (void)setenv("PATH", "/usr/bin:/bin", 1);
    char *md = slurp(at("out/report.md"), &bytes);
    char *html = slurp(at("out/report.html"), &bytes);
    cr_assert_not_null(strstr(md, "Figures are left out: gnuplot is not installed."));
    cr_assert_not_null(strstr(html, "Figures are left out: gnuplot is not installed."));
    cr_assert_null(strstr(md, ".png"));
    cr_assert_null(strstr(html, "<figure"));
    cr_assert_not(exists(at("out/latency.svg")));
    free(md);
    free(html);
}

Test(report_directory, a_gnuplot_that_fails_is_named) {
    assay_error error = {0};
    size_t bytes = 0;
    char path[256];
    FILE *fake = fopen(at("gnuplot"), "w");
    (void)fputs("#!/bin/sh\necho no fonts here >&2\nexit 3\n", fake);
    (void)fclose(fake);
    (void)chmod(at("gnuplot"), 0755);
    (void)snprintf(path, sizeof path, "%s:/usr/bin:/bin", base);
    (void)setenv("PATH", path, 1);
    cr_assert_eq(assay_report_directory(db, FIXTURE_CERTIFIED, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    char *md = slurp(at("out/report.md"), &bytes);
    cr_assert_not_null(strstr(md, "Figures are left out: gnuplot failed: no fonts here."));
    free(md);
}

Test(report_directory, a_place_that_cannot_be_a_directory_is_a_usage_error) {
    assay_error error = {0};
    FILE *file = fopen(at("file"), "w");
    (void)fclose(file);
    cr_assert_eq(assay_report_directory(db, FIXTURE_PROVE, at("file/out"), &error), ASSAY_CODE_USAGE);
    cr_assert_not_null(strstr(error.text, "file/out"));
    cr_assert_eq(assay_report_directory(db, FIXTURE_PROVE, at("file"), &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_report_directory(db, FIXTURE_PROVE, "", &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_report_directory(db, 999, at("out"), &error), ASSAY_CODE_USAGE);
    cr_assert_not(exists(at("out")));
}

static int files_in(const char *path) {
    DIR *list = opendir(path);
    int n = 0;
    for (struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
        n += e->d_name[0] != '.';
    }
    (void)closedir(list);
    return n;
}

/* A limit on the file size stands in for a full disk: write() fails half-way. */
Test(report_directory, a_write_that_fails_leaves_the_old_file_and_no_other) {
    assay_error error = {0};
    char big[20000];
    memset(big, 'x', sizeof big);
    (void)mkdir(at("out"), 0755);
    cr_assert_eq(report_file_write(at("out/f"), "old", 3, &error), ASSAY_CODE_OK);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    cr_assert_eq(report_file_write(at("out/f"), big, sizeof big, &error), ASSAY_CODE_INTERNAL);
    cr_assert_not_null(strstr(error.text, "out/f"));
    cr_assert_eq(files_in(at("out")), 1);
    size_t bytes = 0;
    char *text = slurp(at("out/f"), &bytes);
    cr_assert_str_eq(text, "old");
    free(text);
}

Test(report_directory, a_full_stream_is_an_error) {
    assay_error error = {0};
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    cr_assert_eq(assay_report_write(db, FIXTURE_CERTIFIED, ASSAY_REPORT_JSON, full, &error),
                 ASSAY_CODE_INTERNAL);
    (void)fclose(full);
}

Test(report_directory, no_temporary_directory_stays_behind) {
    assay_error error = {0};
    (void)mkdir(at("tmp"), 0755);
    (void)setenv("TMPDIR", at("tmp"), 1);
    cr_assert_eq(assay_report_directory(db, FIXTURE_CERTIFIED, at("out"), &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(files_in(at("tmp")), 0);
}
