/* The happy path: what goes in comes out, and the verdict follows. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(store, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

Test(store, full_run_is_certified) {
    const char *path = scratch("a.db");
    test_full_database(path);
    cr_expect_str_eq(raw_text(path, "SELECT verdict FROM runs"), "certified");
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM sample"), "3");
    cr_expect_str_eq(raw_text(path, "SELECT samples_ns FROM series WHERE callable='candidate'"),
                     "[100,0,18446744073709551615]");
    cr_expect_str_eq(raw_text(path, "SELECT samples_ns FROM series WHERE callable='floor'"), "[]");
    cr_expect_str_eq(raw_text(path, "SELECT value IS NULL AND bits<>0 FROM metric WHERE name='nan'"), "1");
    cr_expect_str_eq(raw_text(path, "SELECT bits=-9223372036854775808 FROM metric WHERE name='zero'"), "1");
    cr_expect_str_eq(raw_text(path, "SELECT hex(sums) FROM digest_tile WHERE number=1"),
                     "FFFFFFFFFFFFFFFF0400000000000000");
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        char sql[96];
        (void)snprintf(sql, sizeof sql, "SELECT count(*)>0 FROM %s", assay_tables[i].name);
        cr_expect_str_eq(raw_text(path, sql), "1", "%s is empty: the other tests would not see it",
                         assay_tables[i].name);
    }
}

Test(store, runs_are_found_by_number_prefix_and_latest) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33] = "", upper[33];
    test_full_database(path);
    test_full_database(path);
    assay_store *store = test_open(path, ASSAY_STORE_READ);
    (void)snprintf(uuid, sizeof uuid, "%s", raw_text(path, "SELECT uuid FROM run WHERE id=1"));
    cr_expect_eq(strlen(uuid), 32);
    cr_expect_eq(assay_store_run_find(store, "2", &id, &error), ASSAY_CODE_OK);
    cr_expect_eq(id, 2);
    cr_expect_eq(assay_store_run_find(store, uuid, &id, &error), ASSAY_CODE_OK);
    cr_expect_eq(id, 1);
    (void)snprintf(upper, sizeof upper, "%.12s", uuid);
    for (char *p = upper; *p != '\0'; p++) {
        *p = (char)(*p >= 'a' && *p <= 'f' ? *p - 32 : *p);
    }
    cr_expect_eq(assay_store_run_find(store, upper, &id, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(id, 1);
    cr_expect_eq(assay_store_run_find(store, "latest", &id, &error), ASSAY_CODE_OK);
    cr_expect_eq(id, 2);
    static const char *const bad[] = {"",
                                      "x",
                                      "abc",
                                      "3",
                                      "-1",
                                      "1;DROP TABLE run",
                                      "ffff*",
                                      "latest ",
                                      "99999999999999999999",
                                      "000000000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_eq(assay_store_run_find(store, bad[i], &id, &error), ASSAY_CODE_USAGE, "'%s'", bad[i]);
    }
    assay_store_close(store);
    store = test_open(scratch("empty.db"), ASSAY_STORE_WRITE);
    cr_expect_eq(assay_store_run_find(store, "latest", &id, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "has no run 'latest'"), "%s", error.text);
    assay_store_close(store);
}

/* Text from a candidate may hold any bytes; the evidence is valid UTF-8 and verifies. */
Test(store, text_is_always_utf8) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33];
    assay_check_record record = test_check_pass;
    record.reason = "ok \xc3\xa9 \xff \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82 end \xf0\x9f\x98\x80";
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK);
    cr_assert_eq(assay_store_check_end(store, id, 1, &record, &error), ASSAY_CODE_OK, "%s", error.text);
    assay_store_close(store);
    cr_expect_str_eq(raw_text(path, "SELECT reason FROM check_outcome"),
                     "ok \xc3\xa9 ? ?? ??? ???? ?? end \xf0\x9f\x98\x80");
    static test_lines lines;
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

/* The example of LOG.md, and the types that LOG.md names. */
Test(store, row_hash_is_the_documented_one) {
    static const struct {
        const char *sql, *hex;
    } cases[] = {
        {"SELECT hex(row_hash('run_result', 1, 'certified', '', 1000))", "18DDE2C123EB2EADDC75B16BA5048225"},
        {"SELECT row_hash('t', 0.0) = row_hash('t', -0.0)", "1"},
        {"SELECT row_hash('t', 1) = row_hash('t', 1.0)", "0"},
        {"SELECT row_hash('t', 'a') = row_hash('t', x'61')", "0"},
        {"SELECT row_hash('t', 'ab', 'c') = row_hash('t', 'a', 'bc')", "0"},
        {"SELECT row_hash('t', '', NULL) = row_hash('t', NULL, '')", "0"},
        {"SELECT row_hash('ta', 'b') = row_hash('t', 'ab')", "0"},
        {"SELECT length(row_hash('t'))", "16"},
    };
    assay_store *store = test_open(scratch("a.db"), ASSAY_STORE_WRITE);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sqlite3_stmt *row = NULL;
        cr_assert_eq(sqlite3_prepare_v2(assay_store_handle(store), cases[i].sql, -1, &row, NULL), SQLITE_OK);
        cr_assert_eq(sqlite3_step(row), SQLITE_ROW, "%s", cases[i].sql);
        cr_expect_str_eq((const char *)sqlite3_column_text(row, 0), cases[i].hex, "%s", cases[i].sql);
        (void)sqlite3_finalize(row);
    }
    cr_expect_neq(sqlite3_exec(assay_store_handle(store), "SELECT row_hash()", NULL, NULL, NULL), SQLITE_OK);
    assay_store_close(store);
}

/* Contracts are shared: two runs of one contract, one row. */
Test(store, runs_of_one_contract_share_its_row) {
    const char *path = scratch("a.db");
    test_full_database(path);
    test_full_database(path);
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM contract"), "1");
    cr_expect_str_eq(raw_text(path, "SELECT count(DISTINCT uuid) FROM run"), "2");
    cr_expect_str_eq(raw_text(path, "SELECT seed FROM run LIMIT 1"), "-255");
}

Test(store, settings_are_the_promised_ones) {
    static const char *const expected[][2] = {
        {"PRAGMA journal_mode", "wal"}, {"PRAGMA synchronous", "2"},
        {"PRAGMA foreign_keys", "1"},   {"PRAGMA trusted_schema", "0"},
        {"PRAGMA user_version", "1"},   {"PRAGMA application_id", "1095979865"}};
    const char *path = scratch("a.db");
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        sqlite3_stmt *row = NULL;
        cr_assert_eq(sqlite3_prepare_v2(assay_store_handle(store), expected[i][0], -1, &row, NULL),
                     SQLITE_OK);
        cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
        cr_expect_str_eq((const char *)sqlite3_column_text(row, 0), expected[i][1], "%s", expected[i][0]);
        (void)sqlite3_finalize(row);
    }
    assay_store_close(store);
    cr_expect_str_eq(raw_text(path, "PRAGMA journal_mode"), "delete", "a database at rest is one file");
}
