/* store_row.c - inserts rows (one prepared statement per table, row_hash computed by SQLite while it
 * inserts), reads single values, and holds transactions. */
#include "store_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

assay_value assay_v_null(void) {
    return (assay_value){.type = ASSAY_V_NULL};
}

assay_value assay_v_int(int64_t value) {
    return (assay_value){.type = ASSAY_V_INT, .i = value};
}

assay_value assay_v_u64(uint64_t value) {
    return (assay_value){.type = ASSAY_V_INT, .i = (int64_t)value};
}

assay_value assay_v_real(double value) {
    if (isnan(value)) {
        return assay_v_null();
    }
    return (assay_value){.type = ASSAY_V_REAL, .r = value == 0.0 ? 0.0 : value};
}

assay_value assay_v_text(const char *text) {
    const char *stored = text == NULL ? "" : text;
    return (assay_value){.type = ASSAY_V_TEXT, .p = stored, .n = strlen(stored)};
}

assay_value assay_v_blob(const void *bytes, size_t n) {
    return (assay_value){.type = ASSAY_V_BLOB, .p = bytes, .n = n};
}

/* Length of the well-formed UTF-8 sequence at p (n >= 1 bytes left), 0 when malformed (RFC 3629: no
 * surrogates, no overlong forms). */
static size_t utf8_length(const unsigned char *p, size_t n) {
    static const struct {
        unsigned char low, high, second_low, second_high;
        size_t length;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        if (p[0] < forms[f].low || p[0] > forms[f].high) {
            continue;
        }
        if (forms[f].length > n ||
            (forms[f].length > 1 && (p[1] < forms[f].second_low || p[1] > forms[f].second_high))) {
            return 0;
        }
        for (size_t i = 2; i < forms[f].length; i++) {
            if ((p[i] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return forms[f].length;
    }
    return 0;
}

static bool utf8_valid(const unsigned char *text, size_t n) {
    size_t i = 0;
    while (i < n) {
        const size_t length = utf8_length(text + i, n - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

/* Binds text; bytes that are not UTF-8 (a candidate's message may hold anything) become '?'. */
static int bind_text(sqlite3_stmt *stmt, int index, const char *text, size_t n) {
    if (utf8_valid((const unsigned char *)text, n)) {
        return sqlite3_bind_text64(stmt, index, text, n, SQLITE_STATIC, SQLITE_UTF8);
    }
    char *copy = malloc(n + 1);
    if (copy == NULL) {
        return SQLITE_NOMEM;
    }
    memcpy(copy, text, n + 1);
    for (size_t i = 0; i < n;) {
        const size_t length = utf8_length((const unsigned char *)copy + i, n - i);
        if (length == 0) {
            copy[i] = '?';
        }
        i += length == 0 ? 1 : length;
    }
    return sqlite3_bind_text64(stmt, index, copy, n, free, SQLITE_UTF8);
}

static int bind_value(sqlite3_stmt *stmt, int index, const assay_value *value) {
    switch (value->type) {
    case ASSAY_V_INT:
        return sqlite3_bind_int64(stmt, index, value->i);
    case ASSAY_V_REAL:
        return sqlite3_bind_double(stmt, index, value->r);
    case ASSAY_V_TEXT:
        return bind_text(stmt, index, value->p, value->n);
    case ASSAY_V_BLOB:
        return value->n == 0 ? sqlite3_bind_zeroblob(stmt, index, 0)
                             : sqlite3_bind_blob64(stmt, index, value->p, value->n, SQLITE_STATIC);
    case ASSAY_V_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, index);
}

/* Prepares INSERT INTO t VALUES(?1, ..., ?n[, row_hash('t', ?1, ..., ?n)]) for the n columns that the caller
 * fills. */
static assay_code prepare_insert(assay_store *store, assay_table_id table, int count, assay_error *error) {
    const assay_table *def = &assay_tables[table];
    sqlite3_str *sql = sqlite3_str_new(store->db);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES(", def->name);
    for (int i = 1; i <= count; i++) {
        sqlite3_str_appendf(sql, i == 1 ? "?%d" : ",?%d", i);
    }
    if (def->hashed) {
        sqlite3_str_appendf(sql, ",row_hash('%q'", def->name);
        for (int i = 1; i <= count; i++) {
            sqlite3_str_appendf(sql, ",?%d", i);
        }
        sqlite3_str_appendchar(sql, 1, ')');
    }
    sqlite3_str_appendchar(sql, 1, ')');
    char *text = sqlite3_str_finish(sql);
    const int rc = text == NULL ? SQLITE_NOMEM
                                : sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                                     &store->insert[table], NULL);
    sqlite3_free(text);
    store->columns[table] = count;
    return rc == SQLITE_OK ? ASSAY_CODE_OK
                           : assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, def->name, error);
}

assay_code assay_row_insert(assay_store *store, assay_table_id table, const assay_value *values, int count,
                            assay_error *error) {
    if (store->insert[table] == NULL) {
        const assay_code code = prepare_insert(store, table, count, error);
        if (code != ASSAY_CODE_OK) {
            return code;
        }
    }
    sqlite3_stmt *stmt = store->insert[table];
    int rc = store->columns[table] == count ? SQLITE_OK : SQLITE_MISUSE;
    for (int i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = bind_value(stmt, i + 1, &values[i]);
    }
    if (rc != SQLITE_OK) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "cannot bind a row of table %s: %s",
                          assay_tables[table].name, sqlite3_errstr(rc));
    }
    rc = sqlite3_step(stmt);
    assay_code code = ASSAY_CODE_OK;
    if (rc != SQLITE_DONE) {
        char what[96];
        (void)snprintf(what, sizeof what, "writing a row of table %s", assay_tables[table].name);
        code = assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, what, error);
    }
    (void)sqlite3_reset(stmt);
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

assay_code assay_query_int(assay_store *store, const char *sql, int64_t a, int64_t b, int64_t *value,
                           bool *found, assay_error *error) {
    sqlite3_stmt *stmt = NULL;
    *found = false;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        const int parameters = sqlite3_bind_parameter_count(stmt);
        if (parameters >= 1) {
            (void)sqlite3_bind_int64(stmt, 1, a);
        }
        if (parameters >= 2) {
            (void)sqlite3_bind_int64(stmt, 2, b);
        }
        rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW) {
            *value = sqlite3_column_int64(stmt, 0);
            *found = sqlite3_column_type(stmt, 0) != SQLITE_NULL;
        }
    }
    assay_code code = ASSAY_CODE_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        code = assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, "reading", error);
    }
    (void)sqlite3_finalize(stmt);
    return code;
}

const char *assay_column_text(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

assay_tile assay_column_tile(sqlite3_stmt *row, int column) {
    const uint8_t *sums = sqlite3_column_blob(row, column);
    assay_tile tile = {{0, 0}};
    if (sums != NULL && sqlite3_column_bytes(row, column) == 16) {
        tile.sum[0] = assay_le64_get(sums);
        tile.sum[1] = assay_le64_get(sums + 8);
    }
    return tile;
}

assay_code assay_row_next_id(assay_store *store, const char *table, const char *column, int64_t first,
                             int64_t *id, assay_error *error) {
    char sql[128];
    bool found = false;
    (void)snprintf(sql, sizeof sql, "SELECT max(%s) FROM %s", column, table);
    const assay_code code = assay_query_int(store, sql, 0, 0, id, &found, error);
    *id = found ? *id + 1 : first;
    return code;
}

assay_code assay_txn_begin(assay_store *store, assay_error *error) {
    if (store->mode != ASSAY_STORE_WRITE) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "evidence database '%s' was opened for reading only",
                          store->path);
    }
    if (store->depth > 0) {
        store->depth++;
        return ASSAY_CODE_OK;
    }
    /* IMMEDIATE: another writer is met here, where nothing is lost, and not at the commit. */
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK) {
        return assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, "starting a transaction",
                                 error);
    }
    store->depth = 1;
    return ASSAY_CODE_OK;
}

assay_code assay_txn_end(assay_store *store, assay_code code, assay_error *error) {
    if (--store->depth > 0) {
        return code;
    }
    if (code == ASSAY_CODE_OK && sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        code = assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, "committing", error);
    }
    /* SQLite may have rolled back by itself (disk full): then there is nothing left to do. */
    if (code != ASSAY_CODE_OK && sqlite3_get_autocommit(store->db) == 0) {
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return code;
}
