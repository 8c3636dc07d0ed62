/* Every kind of wrong file gives one clear line and is left as it was; nothing foreign is executed. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(open, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

/* Runs the command with $F = path. */
static void shell(const char *command, const char *path) {
    cr_assert_eq(setenv("F", path, 1), 0);
    cr_assert_eq(system(command), 0, "%s", command);
}

/* How to make each wrong file ($F = path), and what the line must say in either mode ("" = not tried in that
 * mode). */
static const struct {
    const char *make, *write_says, *read_says;
} wrong[] = {
    {"true", "", "there is no evidence database"},
    {": > \"$F\"", "is an empty file", "is an empty file"},
    {"mkdir \"$F\"", "is a directory", "is a directory"},
    {"mkfifo \"$F\"", "is not a regular file", "is not a regular file"},
    {"head -c 5000 /dev/urandom > \"$F\"", "is not an SQLite database", "is not an SQLite database"},
    {"printf 'SQLite format 3' > \"$F\"", "not an SQLite database", "not an SQLite database"},
    {"printf 'SQLite format 3\\000abc' > \"$F\"", "is truncated", "is truncated"},
    {"head -c 9000 full.db > \"$F\"", "is truncated: 9000 bytes of", "is truncated: 9000 bytes of"},
    {"head -c 60 full.db > \"$F\"", "is truncated: 60 bytes", "is truncated: 60 bytes"},
    {"sqlite3 \"$F\" 'CREATE TABLE t(x)'", "is a database of another program (application id 0x00000000)",
     "another program"},
    {"cp full.db \"$F\"; sqlite3 \"$F\" 'PRAGMA user_version=2'",
     "evidence schema 2, this Assay knows 1; use a newer Assay", "use a newer"},
    {"cp full.db \"$F\"; sqlite3 \"$F\" 'DROP VIEW runs'", "schema: missing view runs",
     "schema: missing view runs"},
    {"cp full.db \"$F\"; sqlite3 \"$F\" 'ALTER TABLE metric ADD COLUMN x TEXT'",
     "schema: the text of table metric", "text of table metric"},
    {"sqlite3 \"$F\" 'PRAGMA application_id=1095979865; PRAGMA user_version=1; CREATE TABLE run(x)'",
     "schema: missing", "schema: missing"},
    {"ln -s nowhere/x.db \"$F\"", "cannot be created", "there is no evidence database"},
};

Test(open, each_wrong_file_gives_its_line) {
    cr_assert_eq(chdir(scratch("")), 0);
    test_full_database("full.db");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (int mode = 0; mode < 2; mode++) {
            assay_error error = {0};
            assay_store *store = (assay_store *)&error;
            const char *says = mode == ASSAY_STORE_WRITE ? wrong[i].write_says : wrong[i].read_says;
            if (says[0] == '\0') {
                continue;
            }
            shell("rm -rf \"$F\"", "wrong.db");
            shell(wrong[i].make, "wrong.db");
            shell("if test -f \"$F\"; then sha256sum \"$F\"; fi > before", "wrong.db");
            const assay_code code = assay_store_open("wrong.db", (assay_store_mode)mode, &store, &error);
            cr_expect_eq(code, ASSAY_CODE_USAGE, "%s: code %d", wrong[i].make, code);
            cr_expect_null(store);
            cr_expect_not_null(strstr(error.text, says), "%s: '%s' is not in '%s'", wrong[i].make, says,
                               error.text);
            cr_expect_not_null(strstr(error.text, "wrong.db"), "%s", error.text);
            shell("if test -f \"$F\"; then sha256sum \"$F\"; fi | cmp - before && test -z \"$(ls | grep -v "
                  "-x -e "
                  "wrong.db -e full.db -e before)\"",
                  "wrong.db");
        }
    }
}

Test(open, unusual_names_are_plain_file_names) {
    static const char *const names[] = {":memory:", "a?mode=memory", "a%41b", "file:x.db",
                                        "a b#c.db", "\xc3\xa9.db",   "-x.db"};
    cr_assert_eq(chdir(scratch("")), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assay_store_close(test_open(names[i], ASSAY_STORE_WRITE));
        cr_expect_eq(access(names[i], F_OK), 0, "%s", names[i]);
        assay_store_close(test_open(names[i], ASSAY_STORE_READ));
        cr_expect_eq(unlink(names[i]), 0);
    }
    assay_error error = {0};
    assay_store *store = NULL;
    cr_expect_eq(assay_store_open("", ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_USAGE);
    cr_expect_eq(assay_store_open("missing/x.db", ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "'missing/x.db' cannot be created: No such file"), "%s",
                       error.text);
    cr_expect_eq(assay_store_open("/proc/x.db", ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "cannot be created"), "%s", error.text);
}

/* What somebody without any right to write (uid 65534) gets in a read-only folder. */
static const struct {
    const char *path;
    assay_store_mode mode;
    const char *says; /* NULL = opens */
} unprivileged[] = {
    {"new.db", ASSAY_STORE_WRITE, "cannot be created: Permission denied"},
    {"full.db", ASSAY_STORE_WRITE, "not writable"},
    {"secret.db", ASSAY_STORE_READ, "cannot be read"},
    {"full.db", ASSAY_STORE_READ, NULL},
    {"wal.db", ASSAY_STORE_READ, NULL},
};

/* Runs in a child; prints each surprise and returns their number. */
static int as_nobody(const char *folder) {
    int surprises = 0;
    if ((geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) || chdir(folder) != 0) {
        return 99;
    }
    for (size_t i = 0; i < sizeof unprivileged / sizeof unprivileged[0]; i++) {
        assay_error error = {0};
        assay_store *store = NULL;
        const assay_code code = assay_store_open(unprivileged[i].path, unprivileged[i].mode, &store, &error);
        const char *says = unprivileged[i].says;
        if (says == NULL ? code != ASSAY_CODE_OK
                         : code != ASSAY_CODE_USAGE || strstr(error.text, says) == NULL) {
            (void)fprintf(stderr, "%s: code %d, %s\n", unprivileged[i].path, (int)code, error.text);
            surprises++;
        }
        assay_store_close(store);
    }
    return surprises;
}

Test(open, a_read_only_folder_can_be_read_and_not_written) {
    int status = 0;
    cr_assert_eq(chdir(scratch("")), 0);
    test_full_database("full.db");
    shell("cp full.db secret.db; cp full.db wal.db; sqlite3 wal.db 'PRAGMA journal_mode=WAL; SELECT 1' "
          ">/dev/null; chmod 000 secret.db; "
          "chmod 444 full.db wal.db; chmod 555 . \"$F\"",
          scratch(""));
    const pid_t child = fork();
    if (child == 0) {
        _exit(as_nobody(scratch("")));
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d of 5 answers were wrong",
              WEXITSTATUS(status));
    shell("test -z \"$(ls | grep -v -x -e full.db -e secret.db -e wal.db)\"", "");
}

/* A disk that fills up while the file is created: nothing is left. RLIMIT_FSIZE stands for the disk. */
Test(open, a_full_disk_leaves_no_half_file) {
    assay_error error = {0};
    assay_store *store = NULL;
    const struct rlimit limit = {20000, RLIM_INFINITY};
    cr_assert_eq(chdir(scratch("")), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_eq(assay_store_open("a.db", ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "'a.db' cannot be created: File too large"), "%s", error.text);
    shell("test -z \"$(ls)\"", "");
}

/* A disk that fills up during a run: a clear line, and all finished checks are there. */
Test(open, a_full_disk_during_a_run_keeps_the_evidence) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0, seq = 1;
    char uuid[33], sql[64];
    static assay_plan_record plan[500];
    static char names[500][16];
    assay_run_record run = test_run;
    for (size_t i = 0; i < 500; i++) {
        (void)snprintf(names[i], sizeof names[i], "parity/%zu", i);
        plan[i] = test_run.plan[0];
        plan[i].name = names[i];
    }
    run.plan = plan;
    run.plan_count = 500;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_assert_eq(sqlite3_exec(assay_store_handle(store), "PRAGMA max_page_count=160", NULL, NULL, NULL),
                 SQLITE_OK);
    assay_code code = ASSAY_CODE_OK;
    assay_check_record record = test_check_full;
    record.tile_count = 0;
    for (seq = 1; code == ASSAY_CODE_OK && seq <= 500; seq++) {
        code = assay_store_check_begin(store, id, seq, &error);
        code = code != ASSAY_CODE_OK ? code : assay_store_check_end(store, id, seq, &record, &error);
    }
    cr_expect_eq(code, ASSAY_CODE_INTERNAL);
    cr_expect_not_null(
        strstr(error.text, "no space left on its disk; the evidence recorded so far is intact"), "%s",
        error.text);
    cr_expect_not_null(strstr(error.text, path), "%s", error.text);
    assay_store_close(store);
    (void)snprintf(sql, sizeof sql, "SELECT count(*)=%lld FROM check_outcome", (long long)seq - 2);
    cr_expect_str_eq(raw_text(path, sql), "1", "%s", sql);
    cr_expect_str_eq(raw_text(path, "PRAGMA integrity_check"), "ok");
    test_lines lines;
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

/* Two writers: the second waits, and after its patience says who is in the way. */
Test(open, another_writer_is_waited_for_and_named) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    assay_store *a = test_open(path, ASSAY_STORE_WRITE), *b = test_open(path, ASSAY_STORE_WRITE);
    int64_t id = 0;
    char uuid[33];
    (void)sqlite3_busy_timeout(assay_store_handle(b), 50);
    cr_assert_eq(sqlite3_exec(assay_store_handle(a), "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(assay_store_run_begin(b, &test_run, &id, uuid, &error), ASSAY_CODE_INTERNAL);
    cr_expect_not_null(strstr(error.text, "another program is writing to it"), "%s", error.text);
    cr_assert_eq(sqlite3_exec(assay_store_handle(a), "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(assay_store_run_begin(b, &test_run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(assay_store_run_begin(a, &test_run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    assay_store_close(a);
    assay_store_close(b);
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM run"), "2");
}

/* A reader looks at a run in progress and sees what is committed. */
Test(open, a_running_run_can_be_read) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0, found = 0;
    char uuid[33];
    assay_store *writer = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(writer, &test_run, &id, uuid, &error), ASSAY_CODE_OK);
    assay_store *reader = test_open(path, ASSAY_STORE_READ);
    cr_expect_eq(assay_store_run_find(reader, "latest", &found, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(found, id);
    cr_expect_eq(assay_store_check_begin(writer, id, 1, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(assay_store_check_begin(reader, id, 2, &error), ASSAY_CODE_INTERNAL);
    cr_expect_not_null(strstr(error.text, "for reading only"), "%s", error.text);
    assay_store_close(reader);
    cr_expect_eq(assay_store_check_end(writer, id, 1, &test_check_pass, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    assay_store_close(writer);
}

Test(open, a_reader_cannot_write_by_sql) {
    const char *path = scratch("a.db");
    test_full_database(path);
    assay_store *store = test_open(path, ASSAY_STORE_READ);
    cr_expect_neq(sqlite3_exec(assay_store_handle(store),
                               "INSERT INTO contract VALUES(9,'x','y',1,'z',zeroblob(16))", NULL, NULL, NULL),
                  SQLITE_OK);
    cr_expect_neq(sqlite3_exec(assay_store_handle(store),
                               "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=''", NULL, NULL,
                               NULL),
                  SQLITE_OK);
    cr_expect_neq(sqlite3_exec(assay_store_handle(store), "ATTACH 'other.db' AS o", NULL, NULL, NULL),
                  SQLITE_OK);
    assay_store_close(store);
    shell("test \"$(ls $(dirname \"$F\") | wc -l)\" = 1", path);
}
