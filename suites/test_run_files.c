/* test_run_files.c - a file that is not what was hashed any more is noticed at the end, and a run is resumed
 * with its own files only. */
#include "runner_internal.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/assay-files-XXXXXX", path[2][64], other[64];
static assay_runner *runner;

static void write_file(const char *file, const char *content) {
    FILE *f = fopen(file, "wb");
    cr_assert_not_null(f);
    (void)fputs(content, f);
    (void)fclose(f);
}

/* File times advance by clock ticks: what is closer together cannot be told apart by them. */
static void wait_for_tick(void) {
    const struct timespec pause = {.tv_nsec = 30000000};
    (void)nanosleep(&pause, NULL);
}

static void setup(void) {
    assay_error error = {0};
    cr_assert_not_null(mkdtemp(folder));
    runner = calloc(1, sizeof *runner);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/%s.so", folder, i == 0 ? "candidate" : "baseline");
        write_file(path[i], i == 0 ? "one" : "two");
        cr_assert_eq(assay_run_files_add(runner, i == 0 ? "candidate" : "baseline", path[i], &error),
                     ASSAY_CODE_OK, "%s", error.text);
    }
    (void)snprintf(other, sizeof other, "%s/other", folder);
    wait_for_tick();
}

static void cleanup(void) {
    (void)unlink(path[0]);
    (void)unlink(path[1]);
    (void)unlink(other);
    (void)rmdir(folder);
    free(runner);
}

TestSuite(run_files, .init = setup, .fini = cleanup, .timeout = 60);

static void expect_changed(const char *role) {
    const char *changed = assay_run_files_changed(runner);
    cr_expect(role == NULL ? changed == NULL : changed != NULL && strcmp(changed, role) == 0, "%s",
              changed != NULL ? changed : "none");
}

Test(run_files, untouched) {
    expect_changed(NULL);
}

Test(run_files, written_in_place) {
    write_file(path[1], "TWO");
    expect_changed("baseline");
}

Test(run_files, written_with_its_old_times) {
    const struct timespec times[2] = {runner->identity[1].st_atim, runner->identity[1].st_mtim};
    write_file(path[1], "TWO");
    cr_assert_eq(utimensat(AT_FDCWD, path[1], times, 0), 0);
    expect_changed("baseline");
}

Test(run_files, replaced_by_the_same_bytes) {
    write_file(other, "one");
    cr_assert_eq(rename(other, path[0]), 0);
    expect_changed("candidate");
}

Test(run_files, replaced_and_put_back) {
    cr_assert_eq(rename(path[0], other), 0);
    write_file(path[0], "evil");
    cr_assert_eq(rename(other, path[0]), 0);
    expect_changed("candidate");
}

Test(run_files, gone) {
    (void)unlink(path[0]);
    expect_changed("candidate");
}

/* The name is resolved once: a link that is turned meanwhile does not change what is loaded. */
Test(run_files, link_is_resolved) {
    assay_error error = {0};
    cr_assert_eq(symlink(path[0], other), 0);
    cr_assert_eq(assay_run_files_add(runner, "assay", other, &error), ASSAY_CODE_OK, "%s", error.text);
    (void)unlink(other);
    cr_assert_eq(symlink(path[1], other), 0);
    char resolved[4096];
    cr_assert_not_null(realpath(path[0], resolved));
    cr_expect_str_eq(runner->paths[2], resolved);
    cr_expect_str_eq(runner->sha256[2], runner->sha256[0]);
}

static int64_t begin(assay_store *store, size_t binaries) {
    static const assay_promise_record promise = {
        .name = "p", .suite = "s", .relation = "repeat", .text = "t"};
    assay_run_record record = {.kind = "certify",
                               .operator_name = "o",
                               .implementation = "i",
                               .baseline = "",
                               .device = "cpu",
                               .tier = "quick",
                               .command = "c",
                               .contract_sha256 = runner->sha256[0],
                               .contract_text = "one",
                               .binaries = runner->binaries,
                               .binary_count = binaries,
                               .promises = &promise,
                               .promise_count = 1};
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33];
    cr_assert_eq(assay_store_run_begin(store, &record, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    return id;
}

Test(run_files, only_its_own_files_resume_a_run) {
    assay_error error = {0};
    assay_store *store = NULL;
    cr_assert_eq(assay_store_open(other, ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_OK, "%s", error.text);
    int64_t both = begin(store, 2);
    int64_t alone = begin(store, 1);
    cr_expect_eq(assay_run_files_resumable(runner, store, both, &error), ASSAY_CODE_OK);
    cr_expect_eq(assay_run_files_resumable(runner, store, alone, &error), ASSAY_CODE_USAGE);
    runner->sha256[1][0] ^= 1; /* another baseline */
    cr_expect_eq(assay_run_files_resumable(runner, store, both, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "another baseline"), "%s", error.text);
    runner->binary_count = 1; /* no baseline */
    cr_expect_eq(assay_run_files_resumable(runner, store, both, &error), ASSAY_CODE_USAGE);
    cr_expect_eq(assay_run_files_resumable(runner, store, alone, &error), ASSAY_CODE_OK);
    assay_store_close(store);
}
