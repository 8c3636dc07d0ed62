/* verify.c - checks a database that may come from anybody: the file's structure, the schema, references, and
 * each row's hash. What follows from the rows (leaves, roots, verdicts) is in verify_derive.c. Reads only; a
 * problem never stops the walk. */
#include "text.h"
#include "verify_internal.h"

#include <stdio.h>
#include <string.h>

void assay_verify_problem(assay_verifier *v, const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assay_text_tidy(line); /* it quotes a file that may come from anybody */
    v->report->problems++;
    if (v->say != NULL) {
        v->say(v->context, line);
    }
}

/* Says that `what` could not be read because of SQLite code rc. */
static void unreadable(assay_verifier *v, const char *what, int rc) {
    assay_verify_problem(v, "%s: cannot be read: %s (%s)", what, sqlite3_errmsg(v->db), sqlite3_errstr(rc));
}

sqlite3_stmt *assay_verify_query(assay_verifier *v, const char *what, const char *sql) {
    sqlite3_stmt *row = NULL;
    const int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(v->db, sql, -1, &row, NULL);
    if (rc != SQLITE_OK) {
        unreadable(v, what, rc);
    }
    return row;
}

bool assay_verify_next(assay_verifier *v, const char *what, sqlite3_stmt *row) {
    const int rc = sqlite3_step(row);
    if (rc == SQLITE_ROW) {
        return true;
    }
    if (rc != SQLITE_DONE) {
        unreadable(v, what, rc);
    }
    (void)sqlite3_finalize(row);
    return false;
}

/* Appends "table(key=value, ...)" for the current row. The key columns come first in every table. */
static void name_row(const assay_table *table, sqlite3_stmt *row, int first, char *text, size_t bytes) {
    size_t used = (size_t)snprintf(text, bytes, "%s(", table->name);
    int column = first;
    for (const char *p = table->keys; *p != '\0' && used < bytes; column++) {
        const size_t n = strcspn(p, ",");
        const int wrote = snprintf(text + used, bytes - used, "%s%.*s=%.80s", p == table->keys ? "" : ", ",
                                   (int)n, p, assay_column_text(row, column));
        used += (size_t)wrote;
        p += n + (p[n] == ',');
    }
    if (used < bytes) {
        (void)snprintf(text + used, bytes - used, ")");
    }
}

static void check_rows(assay_verifier *v, const assay_table *table) {
    char name[512];
    char *sql =
        sqlite3_mprintf("SELECT %s, * FROM main.\"%w\" ORDER BY %s", table->keys, table->name, table->keys);
    sqlite3_stmt *row = assay_verify_query(v, table->name, sql);
    sqlite3_free(sql);
    int keys = 1;
    for (const char *p = table->keys; *p != '\0'; p++) {
        keys += *p == ',';
    }
    while (row != NULL && assay_verify_next(v, table->name, row)) {
        const int last = sqlite3_column_count(row) - 1;
        uint8_t hash[ASSAY_ROW_HASH_BYTES];
        v->report->rows++;
        if (!table->hashed) {
            continue;
        }
        assay_row_hash_of(row, table->name, keys, last - keys, hash);
        if (sqlite3_column_bytes(row, last) != ASSAY_ROW_HASH_BYTES ||
            memcmp(sqlite3_column_blob(row, last), hash, ASSAY_ROW_HASH_BYTES) != 0) {
            name_row(table, row, 0, name, sizeof name);
            assay_verify_problem(v, "%s: the row was changed: its hash differs", name);
        }
    }
}

static const assay_table *table_of(const char *name) {
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        if (strcmp(assay_tables[i].name, name) == 0) {
            return &assay_tables[i];
        }
    }
    return NULL;
}

static void check_references(assay_verifier *v) {
    sqlite3_stmt *row = assay_verify_query(v, "file", "PRAGMA foreign_key_check");
    while (row != NULL && assay_verify_next(v, "file", row)) {
        const assay_table *table = table_of(assay_column_text(row, 0));
        char name[512] = "";
        if (table != NULL) {
            char *sql = sqlite3_mprintf("SELECT %s FROM main.\"%w\" WHERE rowid=%lld", table->keys,
                                        table->name, sqlite3_column_int64(row, 1));
            sqlite3_stmt *key = assay_verify_query(v, table->name, sql);
            sqlite3_free(sql);
            if (key != NULL && sqlite3_step(key) == SQLITE_ROW) {
                name_row(table, key, 0, name, sizeof name);
            }
            (void)sqlite3_finalize(key);
        }
        assay_verify_problem(v, "%s: refers to a row of table %s that is not there", name,
                             assay_column_text(row, 2));
    }
}

static void check_structure(assay_verifier *v) {
    sqlite3_stmt *row = assay_verify_query(v, "file", "PRAGMA integrity_check(100)");
    while (row != NULL && assay_verify_next(v, "file", row)) {
        if (strcmp(assay_column_text(row, 0), "ok") != 0) {
            assay_verify_problem(v, "file: %s", assay_column_text(row, 0));
        }
    }
}

static void schema_problem(void *context, const char *line) {
    assay_verify_problem(context, "%s", line);
}

/* True when every object is ours: only then may the file's views and constraints take part. */
static bool check_schema(assay_verifier *v, assay_error *error, assay_code *code) {
    const uint64_t before = v->report->problems;
    sqlite3 *reference = assay_schema_reference(error);
    *code = reference == NULL ? ASSAY_CODE_INTERNAL : ASSAY_CODE_OK;
    if (reference != NULL) {
        const int rc = assay_schema_compare(v->db, reference, schema_problem, v);
        if (rc != SQLITE_OK) {
            unreadable(v, "schema", rc);
        }
    }
    (void)sqlite3_close(reference);
    return v->report->problems == before;
}

/* The walk over an open database. */
static assay_code verify_open(assay_verifier *v, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    const bool ours = check_schema(v, error, &code);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    if (ours) {
        (void)sqlite3_db_config(v->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
        check_structure(v);
        check_references(v);
    }
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        check_rows(v, &assay_tables[i]);
    }
    if (ours) {
        assay_verify_contracts(v);
        assay_verify_metrics(v);
        assay_verify_trees(v);
        assay_verify_log(v);
        assay_verify_verdicts(v);
    } else {
        assay_verify_problem(v, "schema: not this version's, so nothing was derived again from the rows");
    }
    return v->report->problems == 0 ? ASSAY_CODE_OK : ASSAY_CODE_REFUSED;
}

assay_code assay_verify_database(const char *path, void (*say)(void *context, const char *line),
                                 void *context, assay_verify_report *report, assay_error *error) {
    assay_verifier v = {.say = say, .context = context, .report = report};
    *report = (assay_verify_report){.runs = 0};
    assay_code code = assay_store_open_raw(path, ASSAY_STORE_READ, &v.db, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    /* One snapshot for the whole walk, whatever a writer does meanwhile. */
    int rc = sqlite3_exec(v.db, "BEGIN", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        code = assay_sqlite_fail(v.db, path, ASSAY_CODE_USAGE, "reading it", error);
    } else {
        code = verify_open(&v, error);
    }
    (void)sqlite3_close(v.db);
    return code;
}
