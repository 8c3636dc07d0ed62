/* log.c - the leaf of a run and the append-only Merkle log of runs (LOG.md). */
#include "store_internal.h"

#include <string.h>

/* Adds all columns (row_hash included) of the run's rows of one table, in primary key order. */
static int add_table(sqlite3 *db, const assay_table *table, int64_t run_id, assay_canon *canon) {
    sqlite3_stmt *row = NULL;
    char *sql =
        sqlite3_mprintf("SELECT * FROM \"%w\" WHERE %s ORDER BY %s", table->name, table->scope, table->keys);
    int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    sqlite3_free(sql);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, run_id);
    }
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const int columns = sqlite3_column_count(row);
        assay_canon_begin_row(canon, table->name, (uint64_t)columns);
        for (int i = 0; i < columns; i++) {
            assay_canon_value(canon, sqlite3_column_value(row, i));
        }
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

assay_code assay_log_leaf(sqlite3 *db, int64_t run_id, uint8_t leaf[32], assay_error *error) {
    assay_canon canon;
    const uint8_t zero = 0x00;
    crypto_hash_sha256_init(&canon.state);
    crypto_hash_sha256_update(&canon.state, &zero, 1);
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        if (assay_tables[i].hashed && add_table(db, &assay_tables[i], run_id, &canon) != SQLITE_OK) {
            return assay_sqlite_fail(db, "evidence", ASSAY_CODE_INTERNAL, "computing the leaf of a run",
                                     error);
        }
    }
    crypto_hash_sha256_final(&canon.state, leaf);
    return ASSAY_CODE_OK;
}

/* The nodes are the perfect subtrees of the binary digits of `leaves`: adding a leaf carries like adding one.
 */
void assay_log_tree_add(assay_log_tree *tree, const uint8_t leaf[32]) {
    uint8_t carry[32];
    int top = 0;
    memcpy(carry, leaf, 32);
    for (uint64_t n = tree->leaves; n > 0; n &= n - 1) {
        top++;
    }
    for (uint64_t n = tree->leaves; (n & 1) != 0; n >>= 1) {
        assay_merkle_node(tree->node[--top], carry, carry);
    }
    memcpy(tree->node[top], carry, 32);
    tree->leaves++;
}

void assay_log_tree_root(const assay_log_tree *tree, uint8_t root[32]) {
    int top = 0;
    for (uint64_t n = tree->leaves; n > 0; n &= n - 1) {
        top++;
    }
    memcpy(root, tree->node[--top], 32);
    while (top > 0) {
        assay_merkle_node(tree->node[--top], root, root);
    }
}

/* All leaves of run_log in order of idx. */
static int read_leaves(sqlite3 *db, assay_log_tree *tree) {
    sqlite3_stmt *row = NULL;
    uint8_t leaf[32];
    int rc = sqlite3_prepare_v2(db, "SELECT leaf FROM run_log ORDER BY idx", -1, &row, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        rc = text != NULL && assay_hex_parse(text, leaf, 32) ? SQLITE_OK : SQLITE_CORRUPT;
        assay_log_tree_add(tree, leaf);
    }
    (void)sqlite3_finalize(row);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

assay_code assay_log_append(assay_store *store, int64_t run_id, assay_error *error) {
    assay_log_tree tree = {.leaves = 0};
    uint8_t leaf[32], root[32];
    char leaf_text[65], root_text[65];
    if (read_leaves(store->db, &tree) != SQLITE_OK) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "the log of runs of '%s' is damaged: see assay verify",
                          store->path);
    }
    const assay_code code = assay_log_leaf(store->db, run_id, leaf, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    const assay_value v_idx = assay_v_u64(tree.leaves);
    assay_log_tree_add(&tree, leaf);
    assay_log_tree_root(&tree, root);
    assay_hex(leaf, 32, leaf_text);
    assay_hex(root, 32, root_text);
    const assay_value v[] = {v_idx, assay_v_int(run_id), assay_v_text(leaf_text), assay_v_text(root_text)};
    return assay_row_insert(store, ASSAY_TABLE_run_log, v, 4, error);
}
