/* store_hash.c - the canonical form of a row and its hash (LOG.md). No knowledge of particular tables. */
#include "dtype.h"
#include "store_internal.h"

#include <string.h>

static void put_u64(assay_canon *canon, uint64_t value) {
    uint8_t bytes[8];
    assay_le64_put(value, bytes);
    crypto_hash_sha256_update(&canon->state, bytes, sizeof bytes);
}

static void put_tag(assay_canon *canon, char tag) {
    const uint8_t byte = (uint8_t)tag;
    crypto_hash_sha256_update(&canon->state, &byte, 1);
}

static void put_bytes(assay_canon *canon, const void *bytes, size_t n) {
    put_u64(canon, n);
    if (n > 0) {
        crypto_hash_sha256_update(&canon->state, bytes, n);
    }
}

void assay_canon_begin_row(assay_canon *canon, const char *table, uint64_t columns) {
    put_bytes(canon, table, strlen(table));
    put_u64(canon, columns);
}

void assay_canon_value(assay_canon *canon, sqlite3_value *value) {
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        put_tag(canon, 'i');
        put_u64(canon, (uint64_t)sqlite3_value_int64(value));
        break;
    case SQLITE_FLOAT: {
        /* SQLite stores -0.0 as 0, so the sign of zero is not part of the form. */
        const double real = sqlite3_value_double(value);
        put_tag(canon, 'r');
        put_u64(canon, assay_f64_bits(real == 0.0 ? 0.0 : real));
        break;
    }
    case SQLITE_TEXT: {
        const void *text = sqlite3_value_text(value);
        put_tag(canon, 't');
        put_bytes(canon, text, (size_t)sqlite3_value_bytes(value));
        break;
    }
    case SQLITE_BLOB: {
        const void *blob = sqlite3_value_blob(value);
        put_tag(canon, 'b');
        put_bytes(canon, blob, (size_t)sqlite3_value_bytes(value));
        break;
    }
    default:
        put_tag(canon, 'n');
        break;
    }
}

static void row_hash_function(sqlite3_context *context, int argc, sqlite3_value **argv) {
    const char *table = argc > 0 ? (const char *)sqlite3_value_text(argv[0]) : NULL;
    if (table == NULL) {
        sqlite3_result_error(context, "row_hash needs a table name and its columns", -1);
        return;
    }
    assay_canon canon;
    uint8_t hash[32];
    crypto_hash_sha256_init(&canon.state);
    assay_canon_begin_row(&canon, table, (uint64_t)(argc - 1));
    for (int i = 1; i < argc; i++) {
        assay_canon_value(&canon, argv[i]);
    }
    crypto_hash_sha256_final(&canon.state, hash);
    sqlite3_result_blob(context, hash, ASSAY_ROW_HASH_BYTES, SQLITE_TRANSIENT);
}

int assay_row_hash_register(sqlite3 *db) {
    /* DIRECTONLY: no trigger or view of a file may call it. */
    return sqlite3_create_function_v2(db, "row_hash", -1,
                                      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                      row_hash_function, NULL, NULL, NULL);
}

void assay_row_hash_of(sqlite3_stmt *row, const char *table, int first, int columns,
                       uint8_t hash[ASSAY_ROW_HASH_BYTES]) {
    assay_canon canon;
    uint8_t full[32];
    crypto_hash_sha256_init(&canon.state);
    assay_canon_begin_row(&canon, table, (uint64_t)columns);
    for (int i = 0; i < columns; i++) {
        assay_canon_value(&canon, sqlite3_column_value(row, first + i));
    }
    crypto_hash_sha256_final(&canon.state, full);
    memcpy(hash, full, ASSAY_ROW_HASH_BYTES);
}
