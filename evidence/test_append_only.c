/* Nothing recorded can be changed, replaced, removed, or added to after the end: on any connection, also one
 * without our flags. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(append_only, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

/* Runs `sql` raw and expects it to fail with a message that contains `says`; a transaction keeps the database
 * as it is. */
static void refused(sqlite3 *db, const char *sql, const char *says) {
    char *message = NULL;
    cr_assert_eq(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
    const int rc = sqlite3_exec(db, sql, NULL, NULL, &message);
    cr_expect_neq(rc, SQLITE_OK, "allowed: %s", sql);
    cr_expect(message != NULL && strstr(message, says) != NULL, "%s: %s", sql, message);
    sqlite3_free(message);
    (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

Test(append_only, every_table_refuses_update_delete_replace) {
    const char *path = scratch("a.db");
    sqlite3 *db = NULL;
    char sql[512], first[64];
    test_full_database(path);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t t = 0; t < ASSAY_TABLE_COUNT; t++) {
        const assay_table *table = &assay_tables[t];
        (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(table->keys, ","), table->keys);
        (void)snprintf(sql, sizeof sql, "UPDATE %s SET %s=%s", table->name, first, first);
        refused(db, sql, "append-only: no UPDATE");
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s", table->name);
        refused(db, sql, "append-only: no DELETE");
        (void)snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s SELECT * FROM %s LIMIT 1", table->name,
                       table->name);
        refused(db, sql, "append-only");
        (void)snprintf(sql, sizeof sql, "UPDATE OR REPLACE %s SET %s=%s", table->name, first, first);
        refused(db, sql, "append-only: no UPDATE");
    }
    (void)sqlite3_close(db);
}

/* REPLACE through the second unique key would delete the old row without a delete trigger. */
static const char *const replacing[] = {
    "INSERT OR REPLACE INTO contract SELECT id+100, sha256, operator, version, text, row_hash FROM contract",
    "INSERT OR REPLACE INTO run SELECT id+100, uuid, kind, operator, implementation, baseline, device, tier, "
    "contract_id, seed, command, "
    "started_ms, row_hash FROM run",
    "INSERT OR REPLACE INTO stage SELECT id+100, run_id, ordinal, name, mode, row_hash FROM stage",
    "INSERT OR REPLACE INTO check_plan SELECT run_id, seq+100, suite, name, promise, required, strength, "
    "case_json, repro, stage_id, row_hash "
    "FROM check_plan",
    "INSERT OR REPLACE INTO run_log SELECT idx+100, run_id, leaf, root FROM run_log",
};

Test(append_only, replace_through_a_second_key_is_refused) {
    const char *path = scratch("a.db");
    sqlite3 *db = NULL;
    test_full_database(path);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof replacing / sizeof replacing[0]; i++) {
        refused(db, replacing[i], "append-only");
    }
    (void)sqlite3_close(db);
}

/* A row with a new key for the finished run, for each sealed table: its first row with the last key column
 * changed. */
Test(append_only, a_finished_run_takes_no_more_rows) {
    const char *path = scratch("a.db");
    sqlite3 *db = NULL;
    unsigned sealed = 0;
    test_full_database(path);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t t = 0; t < ASSAY_TABLE_COUNT; t++) {
        const assay_table *table = &assay_tables[t];
        sqlite3_stmt *columns = NULL;
        const char *last = strrchr(table->keys, ',') != NULL ? strrchr(table->keys, ',') + 1 : table->keys;
        if (!table->sealed) {
            continue;
        }
        sealed++;
        char *list = sqlite3_mprintf(" ");
        char *sql =
            sqlite3_mprintf("SELECT name, type FROM pragma_table_info('%q') ORDER BY cid", table->name);
        cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &columns, NULL), SQLITE_OK);
        sqlite3_free(sql);
        while (sqlite3_step(columns) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(columns, 0);
            const bool text = strcmp((const char *)sqlite3_column_text(columns, 1), "TEXT") == 0;
            const bool change = strcmp(name, last) == 0 || strcmp(name, "ordinal") == 0;
            list = sqlite3_mprintf("%z%s%s%s", list, list[1] == '\0' ? "" : ",", name,
                                   !change ? ""
                                   : text  ? "||'new'"
                                           : "+1000");
        }
        (void)sqlite3_finalize(columns);
        sql = sqlite3_mprintf("INSERT INTO %s SELECT %s FROM %s LIMIT 1", table->name, list, table->name);
        refused(db, sql, "the run of this row");
        sqlite3_free(sql);
        sqlite3_free(list);
    }
    cr_expect_eq(sealed, ASSAY_TABLE_COUNT - 4);
    (void)sqlite3_close(db);
}

Test(append_only, the_store_refuses_too_and_stays_usable) {
    const char *path = scratch("a.db");
    assay_error error = {0};
    assay_verdict verdict;
    int64_t id = 0;
    char uuid[33];
    test_full_database(path);
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_expect_eq(assay_store_check_begin(store, 1, 1, &error), ASSAY_CODE_INTERNAL);
    cr_expect_eq(assay_store_check_end(store, 1, 2, &test_check_pass, &error), ASSAY_CODE_INTERNAL);
    cr_expect_eq(assay_store_run_end(store, 1, &verdict, NULL, 0, &error), ASSAY_CODE_INTERNAL);
    cr_expect_not_null(strstr(error.text, "append-only"), "%s", error.text);
    cr_expect_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(id, 2);
    assay_store_close(store);
}

/* The list in store_tables.h is complete: each table of the schema is in it, has its keys, and ends with
 * row_hash. */
Test(append_only, the_list_of_tables_is_the_schema) {
    const char *path = scratch("a.db");
    char sql[512];
    assay_store_close(test_open(path, ASSAY_STORE_WRITE));
    (void)snprintf(sql, sizeof sql, "%d", ASSAY_TABLE_COUNT);
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM sqlite_schema WHERE type='table'"), sql);
    for (size_t t = 0; t < ASSAY_TABLE_COUNT; t++) {
        const assay_table *table = &assay_tables[t];
        (void)snprintf(sql, sizeof sql,
                       "SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_table_info('%s') WHERE "
                       "pk>0 ORDER BY pk)",
                       table->name);
        cr_expect_str_eq(raw_text(path, sql), table->keys, "%s", table->name);
        (void)snprintf(sql, sizeof sql,
                       "SELECT name='row_hash' FROM pragma_table_info('%s') ORDER BY cid DESC LIMIT 1",
                       table->name);
        cr_expect_str_eq(raw_text(path, sql), table->hashed ? "1" : "0", "%s", table->name);
    }
}
