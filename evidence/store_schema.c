/* store_schema.c - creates the schema (schema.sql plus generated triggers) and compares a file's schema with
 * it, text by text, so that nothing of a foreign file is ever executed. */
#include "assay_schema_sql.h"
#include "store_internal.h"

#include <stdio.h>
#include <string.h>

/* Appends "c=NEW.c AND ..." for a comma list of columns. */
static void append_match(sqlite3_str *sql, const char *columns) {
    for (const char *p = columns; *p != '\0';) {
        const size_t n = strcspn(p, ",");
        sqlite3_str_appendf(sql, "%s%.*s=NEW.%.*s", p == columns ? "" : " AND ", (int)n, p, (int)n, p);
        p += n + (p[n] == ',');
    }
}

/* Three triggers per table. REPLACE deletes without firing a delete trigger (unless recursive_triggers is
 * on), so an INSERT that meets an existing key is refused before it can. */
static void append_triggers(sqlite3_str *sql, const assay_table *table) {
    const char *name = table->name;
    sqlite3_str_appendf(
        sql,
        "CREATE TRIGGER %s_no_update BEFORE UPDATE ON %s BEGIN SELECT "
        "RAISE(ABORT, 'evidence is append-only: no UPDATE of table %s'); END;\n"
        "CREATE TRIGGER %s_no_delete BEFORE DELETE ON %s BEGIN SELECT "
        "RAISE(ABORT, 'evidence is append-only: no DELETE from table %s'); END;\n"
        "CREATE TRIGGER %s_no_replace BEFORE INSERT ON %s WHEN EXISTS(SELECT 1 FROM %s WHERE ",
        name, name, name, name, name, name, name, name, name);
    append_match(sql, table->keys);
    if (table->unique[0] != '\0') {
        sqlite3_str_appendf(sql, ") OR EXISTS(SELECT 1 FROM %s WHERE ", name);
        append_match(sql, table->unique);
    }
    sqlite3_str_appendf(
        sql, ") BEGIN SELECT RAISE(ABORT, 'evidence is append-only: table %s has this row already'); END;\n",
        name);
    if (table->sealed) {
        sqlite3_str_appendf(
            sql,
            "CREATE TRIGGER %s_sealed BEFORE INSERT ON %s WHEN EXISTS(SELECT 1 FROM run_result WHERE "
            "run_id=NEW.run_id) BEGIN SELECT RAISE(ABORT, 'evidence is append-only: the run of this row of "
            "table "
            "%s is finished'); END;\n",
            name, name, name);
    }
}

/* Executes schema.sql and the generated triggers on an empty connection. */
static assay_code create(sqlite3 *db, assay_error *error) {
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "BEGIN;\n%s\n", assay_schema_sql);
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        append_triggers(sql, &assay_tables[i]);
    }
    sqlite3_str_appendall(sql, "COMMIT;");
    char *text = sqlite3_str_finish(sql);
    char *message = NULL;
    const int rc = text == NULL ? SQLITE_NOMEM : sqlite3_exec(db, text, NULL, NULL, &message);
    assay_code code = ASSAY_CODE_OK;
    if (rc != SQLITE_OK) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL, "cannot create the evidence schema: %s",
                          message != NULL ? message : sqlite3_errstr(rc));
    }
    sqlite3_free(message);
    sqlite3_free(text);
    return code;
}

sqlite3 *assay_schema_reference(assay_error *error) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY,
                        NULL) != SQLITE_OK) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "cannot open a database in memory: out of memory");
    } else if (create(db, error) == ASSAY_CODE_OK) {
        return db;
    }
    (void)sqlite3_close(db);
    return NULL;
}

assay_code assay_schema_image(unsigned char **image, size_t *bytes, assay_error *error) {
    sqlite3 *db = assay_schema_reference(error);
    if (db == NULL) {
        return ASSAY_CODE_INTERNAL;
    }
    sqlite3_int64 n = 0;
    *image = sqlite3_serialize(db, "main", &n, 0);
    *bytes = (size_t)n;
    (void)sqlite3_close(db);
    return *image != NULL
               ? ASSAY_CODE_OK
               : assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory for a new evidence database");
}

/* Objects of `ours` that `theirs` lacks or has with another text. `word` describes the first kind. */
static int compare_one_way(sqlite3 *ours, sqlite3 *theirs, const char *word, bool texts,
                           void (*differs)(void *context, const char *line), void *context) {
    sqlite3_stmt *left = NULL, *right = NULL;
    char line[256];
    int rc = sqlite3_prepare_v2(
        ours, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name", -1, &left, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_prepare_v2(theirs, "SELECT tbl_name, sql FROM sqlite_schema WHERE type=?1 AND name=?2",
                                -1, &right, NULL);
    }
    while (rc == SQLITE_OK && (rc = sqlite3_step(left)) == SQLITE_ROW) {
        (void)sqlite3_bind_text(right, 1, assay_column_text(left, 0), -1, SQLITE_TRANSIENT);
        (void)sqlite3_bind_text(right, 2, assay_column_text(left, 1), -1, SQLITE_TRANSIENT);
        rc = sqlite3_step(right);
        if (rc == SQLITE_DONE) {
            (void)snprintf(line, sizeof line, "schema: %s %s %.96s", word, assay_column_text(left, 0),
                           assay_column_text(left, 1));
            differs(context, line);
        } else if (rc == SQLITE_ROW && texts &&
                   (strcmp(assay_column_text(left, 2), assay_column_text(right, 0)) != 0 ||
                    strcmp(assay_column_text(left, 3), assay_column_text(right, 1)) != 0)) {
            (void)snprintf(line, sizeof line, "schema: the text of %s %.96s is not this version's",
                           assay_column_text(left, 0), assay_column_text(left, 1));
            differs(context, line);
        }
        rc = rc == SQLITE_ROW || rc == SQLITE_DONE ? sqlite3_reset(right) : rc;
    }
    (void)sqlite3_finalize(left);
    (void)sqlite3_finalize(right);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int assay_schema_compare(sqlite3 *db, sqlite3 *reference, void (*differs)(void *context, const char *line),
                         void *context) {
    const int rc = compare_one_way(reference, db, "missing", true, differs, context);
    return rc != SQLITE_OK ? rc : compare_one_way(db, reference, "foreign", false, differs, context);
}
