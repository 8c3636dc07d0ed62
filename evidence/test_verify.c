/* verify must name every row that was touched, whatever the tamperer did to hide it, and survive any file. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(verify, .init = scratch_enter, .fini = scratch_leave, .timeout = 120);

static test_lines lines;

static void copy_file(const char *from, const char *to) {
    static char bytes[4 << 20];
    FILE *in = fopen(from, "rb");
    const size_t n = fread(bytes, 1, sizeof bytes, in);
    (void)fclose(in);
    cr_assert_lt(n, sizeof bytes);
    FILE *out = fopen(to, "wb");
    cr_assert_eq(fwrite(bytes, 1, n, out), n);
    (void)fclose(out);
}

/* Runs `sql` on the database with all triggers gone and foreign keys off, then puts the schema back as it
 * was. */
static int tamper(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    char *restore = sqlite3_mprintf(" "),
         *drop = sqlite3_mprintf(
             "PRAGMA ignore_check_constraints=ON;PRAGMA foreign_keys=OFF;PRAGMA synchronous=OFF;BEGIN;");
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(
        sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE type='trigger'", -1, &stmt, NULL),
        SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        drop = sqlite3_mprintf("%zDROP TRIGGER \"%w\";", drop, (const char *)sqlite3_column_text(stmt, 0));
        restore = sqlite3_mprintf("%z%s;", restore, (const char *)sqlite3_column_text(stmt, 1));
    }
    (void)sqlite3_finalize(stmt);
    cr_assert_eq(sqlite3_exec(db, drop, NULL, NULL, NULL), SQLITE_OK);
    const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    restore = sqlite3_mprintf("%zCOMMIT;", restore);
    cr_assert_eq(sqlite3_exec(db, restore, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_free(drop);
    sqlite3_free(restore);
    (void)sqlite3_close(db);
    return rc;
}

Test(verify, an_honest_database_has_no_problems) {
    const char *path = scratch("a.db");
    assay_verify_report report;
    test_full_database(path);
    test_full_database(path);
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
    cr_expect_eq(assay_verify_database(path, NULL, NULL, &report, NULL), ASSAY_CODE_OK);
    cr_expect_eq(report.runs, 2);
    cr_expect_gt(report.rows, 80);
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM run_log"), "2");
    /* Tampering that changes nothing is no problem: the helper itself is honest. */
    cr_expect_eq(tamper(path, "SELECT 1"), SQLITE_OK);
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

/* SQL that changes one byte (bit) of a column whatever its type. */
static void flip_sql(const char *table, const char *column, const char *type, char *sql, size_t bytes) {
    char expression[512];
    if (strcmp(type, "INTEGER") == 0) {
        (void)snprintf(expression, sizeof expression, "coalesce(%s,0)+256", column);
    } else if (strcmp(type, "REAL") == 0) {
        (void)snprintf(expression, sizeof expression,
                       "CASE WHEN %s IS NULL OR %s>1e300 THEN 1.0 ELSE %s+0.0000001 END", column, column,
                       column);
    } else if (strcmp(type, "BLOB") == 0) {
        (void)snprintf(expression, sizeof expression,
                       "CASE WHEN length(%s)=0 THEN x'00' ELSE CAST(CASE WHEN substr(%s,1,1)=x'41' THEN "
                       "x'42' ELSE x'41' END || "
                       "substr(%s,2) AS BLOB) END",
                       column, column, column);
    } else {
        (void)snprintf(expression, sizeof expression,
                       "CASE WHEN substr(%s,1,1)='4' THEN '5' ELSE '4' END || substr(%s,2)", column, column);
    }
    (void)snprintf(sql, bytes,
                   "UPDATE \"%s\" SET \"%s\"=%s WHERE rowid=(SELECT "
                   "max(rowid) FROM \"%s\")",
                   table, column, expression, table);
}

/* All columns of all tables: "table column type". */
static size_t all_columns(const char *path, char (*list)[3][64], size_t capacity) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    size_t n = 0;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(
                     db,
                     "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c WHERE "
                     "m.type='table' ORDER BY 1, c.cid",
                     -1, &stmt, NULL),
                 SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW && n < capacity) {
        for (int i = 0; i < 3; i++) {
            (void)snprintf(list[n][i], sizeof list[n][i], "%s", (const char *)sqlite3_column_text(stmt, i));
        }
        n++;
    }
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return n;
}

Test(verify, a_changed_byte_in_any_column_names_the_row) {
    static char columns[300][3][64];
    char path[512], copy[512], sql[2048], wanted[96];
    (void)snprintf(path, sizeof path, "%s", scratch("a.db"));
    (void)snprintf(copy, sizeof copy, "%s", scratch("b.db"));
    test_full_database(path);
    const size_t n = all_columns(path, columns, 300);
    cr_assert_gt(n, 150);
    for (size_t i = 0; i < n; i++) {
        copy_file(path, copy);
        flip_sql(columns[i][0], columns[i][1], columns[i][2], sql, sizeof sql);
        cr_assert_eq(tamper(copy, sql), SQLITE_OK, "%s", sql);
        cr_expect_eq(test_verify(copy, &lines), ASSAY_CODE_REFUSED, "%s.%s was changed, nobody noticed",
                     columns[i][0], columns[i][1]);
        (void)snprintf(wanted, sizeof wanted, "%s(", columns[i][0]);
        cr_expect_not_null(strstr(lines.text, wanted), "%s.%s was changed, the row is not named:\n%s",
                           columns[i][0], columns[i][1], lines.text);
    }
}

/* A tamperer who also recomputes the row's hash is caught by the leaf; the run is named. */
Test(verify, a_forged_row_hash_is_caught_by_the_leaf) {
    const char *path = scratch("a.db");
    test_full_database(path);
    sqlite3 *db = NULL;
    cr_assert_eq(tamper(path, "UPDATE check_outcome SET duration_ns=1 WHERE seq=2"), SQLITE_OK);
    assay_store *store = NULL;
    cr_assert_eq(assay_store_open(path, ASSAY_STORE_WRITE, &store, NULL), ASSAY_CODE_OK);
    db = assay_store_handle(store);
    sqlite3_stmt *stmt = NULL;
    char sql[512] = "";
    cr_assert_eq(
        sqlite3_prepare_v2(
            db,
            "SELECT hex(row_hash('check_outcome', run_id, seq, outcome, reason, elements, bad, duration_ns, "
            "finished_ms)) FROM check_outcome WHERE seq=2",
            -1, &stmt, NULL),
        SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    (void)snprintf(sql, sizeof sql, "UPDATE check_outcome SET row_hash=x'%s' WHERE seq=2",
                   (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
    assay_store_close(store);
    cr_assert_eq(tamper(path, sql), SQLITE_OK);
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_REFUSED);
    cr_expect_null(strstr(lines.text, "check_outcome("), "the row's hash is right: %s", lines.text);
    cr_expect_not_null(strstr(lines.text, "run_log(idx=0): the leaf does not match run(id=1)"), "%s",
                       lines.text);
}

static const struct {
    const char *sql, *line;
} attacks[] = {
    {"DELETE FROM metric WHERE name='max_ulp'", "run_log(idx=0): the leaf does not match run(id=1)"},
    {"DELETE FROM check_outcome WHERE seq=2", "promise_result(run_id=1, name=parity): says kept"},
    {"DELETE FROM check_outcome WHERE seq=2", "run_result(run_id=1): says certified"},
    {"DELETE FROM check_plan WHERE seq=2",
     "check_outcome(run_id=1, seq=2): refers to a row of table check_plan"},
    {"DELETE FROM promise_result WHERE name='timing'",
     "promise(run_id=1, name=timing): the finished run has no promise_result"},
    {"DELETE FROM run_log", "run_result(run_id=1): the finished run is not in run_log"},
    {"DELETE FROM digest_tile WHERE number=1",
     "digest_tree(run_id=1, name=candidate): its tiles have another number of rows"},
    {"UPDATE digest_tile SET number=7 WHERE number=1",
     "digest_tree(run_id=1, name=candidate): the numbers of its tiles have a gap"},
    {"UPDATE digest_tile SET sums=zeroblob(16) WHERE number=1",
     "digest_tree(run_id=1, name=candidate): its tiles give another root"},
    {"UPDATE run_log SET root=CASE WHEN substr(root,1,1)='0' THEN '1' ELSE '0' END||substr(root,2)",
     "run_log(idx=0): the root does not match"},
    {"UPDATE run_log SET idx=5", "run_log(idx=5): number 0 is missing before it"},
    {"UPDATE check_outcome SET elements=0 WHERE seq=2", "parity/b: passed without judging an element"},
    {"UPDATE contract SET text='x'", "contract(id=1): its text has SHA-256"},
    {"UPDATE metric SET value=0.5 WHERE name='max_ulp'",
     "metric(run_id=1, seq=1, name=max_ulp): value is not the number of its bits"},
    {"UPDATE provenance SET value='yes' WHERE key='assay.dirty'",
     "run_result(run_id=1): says certified '', the rows say incomplete"},
    {"UPDATE promise SET name='a'||char(10)||char(27)||'b' WHERE name='timing'",
     "promise(run_id=1, name=a??b)"},
};

Test(verify, each_attack_gives_its_line) {
    char path[512], copy[512];
    (void)snprintf(path, sizeof path, "%s", scratch("a.db"));
    (void)snprintf(copy, sizeof copy, "%s", scratch("b.db"));
    test_full_database(path);
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++) {
        copy_file(path, copy);
        cr_assert_eq(tamper(copy, attacks[i].sql), SQLITE_OK, "%s", attacks[i].sql);
        cr_expect_eq(test_verify(copy, &lines), ASSAY_CODE_REFUSED, "%s", attacks[i].sql);
        cr_expect_not_null(strstr(lines.text, attacks[i].line), "%s: no line '%s' in\n%s", attacks[i].sql,
                           attacks[i].line, lines.text);
    }
}

static const struct {
    const char *sql, *line;
} schema_attacks[] = {
    {"DROP TRIGGER metric_no_update", "schema: missing trigger metric_no_update"},
    {"CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END", "schema: foreign trigger t"},
    {"CREATE VIEW w AS SELECT 1", "schema: foreign view w"},
    {"CREATE TABLE extra(x)", "schema: foreign table extra"},
    {"CREATE INDEX extra ON metric(value)", "schema: foreign index extra"},
    {"ANALYZE", "schema: foreign table sqlite_stat1"},
    {"DROP VIEW checks; CREATE VIEW checks AS SELECT run_id, seq, suite, name, promise, required, strength, "
     "case_json, repro, 'pass' AS "
     "outcome, '' AS reason, 1 AS elements, 0 AS bad, 0 AS duration_ns, 1 AS attempts FROM check_plan",
     "schema: the text of view checks is not this version's"},
    {"PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,'outcome TEXT NOT NULL "
     "CHECK','outcome TEXT CHECK') WHERE "
     "name='check_outcome'",
     "schema: the text of table check_outcome is not this version's"},
};

Test(verify, a_changed_schema_is_named_and_opening_refuses_it) {
    char path[512], copy[512];
    (void)snprintf(path, sizeof path, "%s", scratch("a.db"));
    (void)snprintf(copy, sizeof copy, "%s", scratch("b.db"));
    test_full_database(path);
    for (size_t i = 0; i < sizeof schema_attacks / sizeof schema_attacks[0]; i++) {
        assay_store *store = NULL;
        assay_error error = {0};
        copy_file(path, copy);
        cr_assert_eq(raw_exec(copy, schema_attacks[i].sql), SQLITE_OK);
        cr_expect_eq(test_verify(copy, &lines), ASSAY_CODE_REFUSED);
        cr_expect_not_null(strstr(lines.text, schema_attacks[i].line), "no line '%s' in\n%s",
                           schema_attacks[i].line, lines.text);
        for (int mode = 0; mode < 2; mode++) {
            cr_expect_eq(assay_store_open(copy, (assay_store_mode)mode, &store, &error), ASSAY_CODE_USAGE);
            cr_expect_not_null(strstr(error.text, schema_attacks[i].line), "%s", error.text);
        }
    }
}

/* All rows of all tables as one text, to tell whether a flipped byte held any content. NULL when unreadable.
 */
static char *dump(const char *path) {
    sqlite3 *db = NULL;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    for (size_t t = 0; t < ASSAY_TABLE_COUNT && rc == SQLITE_OK; t++) {
        sqlite3_stmt *stmt = NULL;
        char *sql = sqlite3_mprintf("SELECT * FROM %s NOT INDEXED ORDER BY %s", assay_tables[t].name,
                                    assay_tables[t].keys);
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
        while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                sqlite3_str_appendf(text, "%d:%s|", sqlite3_column_type(stmt, i),
                                    (const char *)sqlite3_column_text(stmt, i));
            }
            rc = SQLITE_OK;
        }
        rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
        sqlite3_free(sql);
        (void)sqlite3_finalize(stmt);
    }
    (void)sqlite3_close(db);
    char *result = sqlite3_str_finish(text);
    if (rc != SQLITE_OK) {
        sqlite3_free(result);
        return NULL;
    }
    return result;
}

/* Flips one random bit of the file: verify reports it, or the rows are all as they were (the byte was free or
 * bookkeeping). */
Test(verify, random_bytes_of_the_file) {
    char path[512], copy[512];
    struct stat st;
    uint64_t state = 12345;
    unsigned noticed = 0, refused = 0, harmless = 0;
    (void)snprintf(path, sizeof path, "%s", scratch("a.db"));
    (void)snprintf(copy, sizeof copy, "%s", scratch("b.db"));
    test_full_database(path);
    cr_assert_eq(stat(path, &st), 0);
    char *before = dump(path);
    cr_assert_not_null(before);
    for (int round = 0; round < 600; round++) {
        uint8_t byte = 0;
        copy_file(path, copy);
        const int fd = open(copy, O_RDWR);
        off_t at = 0;
        /* Most of a small database is free space: most rounds look for a byte that is not zero. */
        for (int tries = 0; tries == 0 || (byte == 0 && tries < 200 && round % 4 != 0); tries++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            at = (off_t)((state >> 20) % (uint64_t)(round % 6 == 0 ? 4096 : st.st_size));
            cr_assert_eq(pread(fd, &byte, 1, at), 1);
        }
        byte = (uint8_t)(byte ^ (1u << (state >> 61)));
        cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
        (void)close(fd);
        const assay_code code = test_verify(copy, &lines);
        cr_expect(code == ASSAY_CODE_OK || code == ASSAY_CODE_REFUSED || code == ASSAY_CODE_USAGE,
                  "offset %lld: code %d %s", (long long)at, code, lines.text);
        if (code == ASSAY_CODE_OK) {
            char *after = dump(copy);
            cr_expect(after != NULL && strcmp(before, after) == 0,
                      "offset %lld: rows changed, nobody noticed", (long long)at);
            sqlite3_free(after);
            harmless++;
        } else {
            noticed += code == ASSAY_CODE_REFUSED;
            refused += code == ASSAY_CODE_USAGE;
        }
    }
    sqlite3_free(before);
    cr_log_info("noticed %u, not opened %u, free bytes %u", noticed, refused, harmless);
    cr_expect_gt(noticed, 150);
}
