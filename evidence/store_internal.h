/* store_internal.h - shared by the files of evidence/ only. */
#ifndef ASSAY_STORE_INTERNAL_H
#define ASSAY_STORE_INTERNAL_H

#include "digest.h"
#include "store.h"
#include "store_tables.h"

#include <sodium.h>
#include <stdbool.h>

#define ASSAY_ROW_HASH_BYTES 16

struct assay_store {
    sqlite3 *db;
    char *path;
    assay_store_mode mode;
    unsigned depth;                          /* of nested transactions; only the outermost is real */
    sqlite3_stmt *insert[ASSAY_TABLE_COUNT]; /* prepared on first use */
    int columns[ASSAY_TABLE_COUNT];          /* bound columns of insert[] */
};

/* ---- store_schema.c ---- */
/* A private in-memory database with the schema, the reference that files are compared with; NULL when memory
 * is short. */
sqlite3 *assay_schema_reference(assay_error *error);
/* The serialised empty database (sqlite3_free), the bytes of a new file. */
assay_code assay_schema_image(unsigned char **image, size_t *bytes, assay_error *error);
/* Calls `differs` once for each schema object of `db` that is missing, foreign or changed, with one line
 * each; no object of `db` is used. Returns SQLITE_OK or the error that reading gave. */
int assay_schema_compare(sqlite3 *db, sqlite3 *reference, void (*differs)(void *context, const char *line),
                         void *context);

/* ---- store_file.c ---- */
/* Judges a path by its first bytes; *exists is false, and the code OK, when there is nothing. */
assay_code assay_file_inspect(const char *path, bool *exists, assay_error *error);
/* Creates an empty database: written beside its place, synced, linked to its name. When another process was
 * faster, its file stays. */
assay_code assay_file_create(const char *path, assay_error *error);
/* SQLite URI of an absolute path: percent-encoded, `query` appended; NULL when memory is short. sqlite3_free.
 */
char *assay_file_uri(const char *real, const char *query);
/* True when path + suffix exists and is not empty. */
bool assay_file_side_exists(const char *path, const char *suffix);

/* ---- store_open.c ---- */
/* Opens an existing file without checking its schema: header, flags and limits only. Views and triggers are
 * disabled. */
assay_code assay_store_open_raw(const char *path, assay_store_mode mode, sqlite3 **db, assay_error *error);
/* Fills *error from what SQLite last reported on `db` about the database at `path`; `what` says what was
 * being done. */
assay_code assay_sqlite_fail(sqlite3 *db, const char *path, assay_code code, const char *what,
                             assay_error *error);

/* ---- store_hash.c: canonical rows (LOG.md) ---- */
typedef struct assay_canon {
    crypto_hash_sha256_state state;
} assay_canon;
void assay_canon_begin_row(assay_canon *canon, const char *table, uint64_t columns);
void assay_canon_value(assay_canon *canon, sqlite3_value *value);
/* Registers row_hash(table, column, ...). */
int assay_row_hash_register(sqlite3 *db);
/* Row hash over `columns` columns of the statement's current row, from column `first` on. */
void assay_row_hash_of(sqlite3_stmt *row, const char *table, int first, int columns,
                       uint8_t hash[ASSAY_ROW_HASH_BYTES]);

/* ---- store_row.c: inserting ---- */
typedef struct assay_value {
    enum { ASSAY_V_NULL, ASSAY_V_INT, ASSAY_V_REAL, ASSAY_V_TEXT, ASSAY_V_BLOB } type;
    int64_t i;
    double r;
    const void *p;
    size_t n;
} assay_value;
assay_value assay_v_null(void);
assay_value assay_v_int(int64_t value);
assay_value assay_v_u64(uint64_t value); /* stored as the int64 of the same bits */
assay_value
assay_v_real(double value); /* NaN becomes NULL, -0.0 becomes 0.0, as SQLite itself would store them */
assay_value assay_v_text(const char *text); /* NULL is stored as ''; bytes that are not UTF-8 as '?' */
assay_value assay_v_blob(const void *bytes, size_t n);

/* Inserts one row; `count` must be the number of columns without row_hash. */
assay_code assay_row_insert(assay_store *store, assay_table_id table, const assay_value *values, int count,
                            assay_error *error);
/* The same for an array of values and the name of the table. */
#define ASSAY_INSERT(store, table, values, error)                                                            \
    assay_row_insert((store), ASSAY_TABLE_##table, (values), (int)(sizeof(values) / sizeof((values)[0])),    \
                     (error))
/* Column as text; "" for NULL. */
const char *assay_column_text(sqlite3_stmt *row, int column);
/* The digest tile whose sums are in this column (16 bytes: sum[0], sum[1], little-endian); zero for anything
 * else. */
assay_tile assay_column_tile(sqlite3_stmt *row, int column);
/* First free integer key of a table with an INTEGER PRIMARY KEY `column`; call inside a write transaction. */
assay_code assay_row_next_id(assay_store *store, const char *table, const char *column, int64_t first,
                             int64_t *id, assay_error *error);
/* Runs a query of one row and one integer with up to two integer parameters; *found is false when it gave no
 * row. */
assay_code assay_query_int(assay_store *store, const char *sql, int64_t a, int64_t b, int64_t *value,
                           bool *found, assay_error *error);
/* Transactions nest: the caller of an outer one must pass on the failure of an inner one. */
assay_code assay_txn_begin(assay_store *store, assay_error *error);
/* The outermost end commits when code is OK, else rolls back; returns code, or the failure of the commit. */
assay_code assay_txn_end(assay_store *store, assay_code code, assay_error *error);

/* ---- verdict.c ---- */
#define ASSAY_REASON_BYTES 256
typedef struct assay_promise_result {
    const char *name;
    bool required;
    assay_promise_state state;
    const char *strength; /* '' when nothing passed */
    char reason[ASSAY_REASON_BYTES];
} assay_promise_result;
/* Derives every promise of the run in ordinal order; `each` returns false to stop. */
assay_code assay_promise_derive(sqlite3 *db, int64_t run_id,
                                bool (*each)(void *context, const assay_promise_result *result),
                                void *context, assay_error *error);

/* ---- log.c ---- */
/* The leaf of a run: SHA-256 over 0x00 and the canonical rows of the run (LOG.md). */
assay_code assay_log_leaf(sqlite3 *db, int64_t run_id, uint8_t leaf[32], assay_error *error);
/* An RFC 6962 tree that grows by one leaf at a time: the roots of the perfect subtrees, largest first. */
typedef struct assay_log_tree {
    uint64_t leaves;
    uint8_t node[64][32];
} assay_log_tree;
void assay_log_tree_add(assay_log_tree *tree, const uint8_t leaf[32]);
void assay_log_tree_root(const assay_log_tree *tree, uint8_t root[32]); /* leaves >= 1 */
/* Appends the run to run_log; inside the caller's transaction. */
assay_code assay_log_append(assay_store *store, int64_t run_id, assay_error *error);

#endif
