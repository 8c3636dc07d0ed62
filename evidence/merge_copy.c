/* merge_copy.c - writes the merged run: what the shards have in common once, their checks one after the
 * other, their tiles under one root. Checks are renamed <name>/tiles_<first>, so that each keeps its own row,
 * outcome and details. */
#include "clock.h"
#include "merge_internal.h"

#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 16

/* The columns of the current row without row_hash; text and blobs stay SQLite's until the next step. */
static int read_row(sqlite3_stmt *row, assay_value values[MAX_COLUMNS]) {
    const int count = sqlite3_column_count(row) - 1;
    for (int i = 0; i < count && i < MAX_COLUMNS; i++) {
        switch (sqlite3_column_type(row, i)) {
        case SQLITE_INTEGER:
            values[i] = assay_v_int(sqlite3_column_int64(row, i));
            break;
        case SQLITE_FLOAT:
            values[i] = assay_v_real(sqlite3_column_double(row, i));
            break;
        case SQLITE_TEXT:
            values[i] = assay_v_text((const char *)sqlite3_column_text(row, i));
            break;
        case SQLITE_BLOB: {
            const void *bytes = sqlite3_column_blob(row, i);
            values[i] = assay_v_blob(bytes, (size_t)sqlite3_column_bytes(row, i));
            break;
        }
        default:
            values[i] = assay_v_null();
            break;
        }
    }
    return count;
}

/* Where the rows of a shard go. */
typedef struct destination {
    assay_store *target;
    int64_t run_id, seq_offset;
    const assay_shard *shard;
} destination;

/* Copies the shard's rows of one table; `change` adapts the values (column 0 is the run already). Returns the
 * code. */
static assay_code copy_table(const destination *to, assay_table_id table,
                             void (*change)(const destination *to, assay_value *values, char *scratch,
                                            size_t bytes),
                             assay_error *error) {
    const assay_table *def = &assay_tables[table];
    sqlite3 *db = to->shard->store->db;
    sqlite3_stmt *row = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM %s WHERE %s ORDER BY %s", def->name, def->scope, def->keys);
    int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    assay_code code = ASSAY_CODE_OK;
    sqlite3_free(sql);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, to->shard->run_id);
    }
    while (rc == SQLITE_OK && code == ASSAY_CODE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        assay_value values[MAX_COLUMNS];
        char scratch[256];
        const int count = read_row(row, values);
        values[0] = assay_v_int(to->run_id);
        if (change != NULL) {
            change(to, values, scratch, sizeof scratch);
        }
        code = assay_row_insert(to->target, table, values, count, error);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    if (code == ASSAY_CODE_OK && rc != SQLITE_DONE) {
        code = assay_sqlite_fail(db, to->shard->path, ASSAY_CODE_INTERNAL, "copying a shard", error);
    }
    return code;
}

static void change_seq(const destination *to, assay_value *values, char *scratch, size_t bytes) {
    (void)scratch;
    (void)bytes;
    values[1].i += to->seq_offset;
}

static void change_plan(const destination *to, assay_value *values, char *scratch, size_t bytes) {
    change_seq(to, values, NULL, 0);
    (void)snprintf(scratch, bytes, "%.200s/tiles_%llu", (const char *)values[3].p,
                   (unsigned long long)to->shard->first_tile);
    values[3] = assay_v_text(scratch);
    values[9] = assay_v_null(); /* stages are the shard's own */
}

static assay_code copy_checks(destination *to, assay_error *error) {
    static const struct {
        assay_table_id table;
        void (*change)(const destination *to, assay_value *values, char *scratch, size_t bytes);
    } steps[] = {
        {ASSAY_TABLE_check_plan, change_plan},   {ASSAY_TABLE_check_start, change_seq},
        {ASSAY_TABLE_check_outcome, change_seq}, {ASSAY_TABLE_metric, change_seq},
        {ASSAY_TABLE_ulp_histogram, change_seq}, {ASSAY_TABLE_element, change_seq},
        {ASSAY_TABLE_profile, change_seq},       {ASSAY_TABLE_series, change_seq},
        {ASSAY_TABLE_witness, change_seq},       {ASSAY_TABLE_digest_tile, NULL},
    };
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == ASSAY_CODE_OK; i++) {
        code = copy_table(to, steps[i].table, steps[i].change, error);
    }
    return code;
}

/* contract and run of the first shard, with new ids; device "mixed" when the shards ran on different ones. */
static assay_code copy_run(assay_store *target, const assay_shard *shards, size_t count, int64_t *run_id,
                           assay_error *error) {
    static const char sql[] = "SELECT r.kind, r.operator, r.implementation, r.baseline, r.device, r.tier, "
                              "r.seed, c.sha256, c.text, c.version "
                              "FROM run r JOIN contract c ON c.id=r.contract_id WHERE r.id=?1";
    static const char device_sql[] = "SELECT device FROM run WHERE id=?1";
    char uuid[33];
    sqlite3_stmt *row = NULL;
    assay_code code = ASSAY_CODE_OK;
    if (sqlite3_prepare_v2(shards[0].store->db, sql, -1, &row, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(row, 1, shards[0].run_id) != SQLITE_OK || sqlite3_step(row) != SQLITE_ROW) {
        code = assay_sqlite_fail(shards[0].store->db, shards[0].path, ASSAY_CODE_INTERNAL, "reading a shard",
                                 error);
        (void)sqlite3_finalize(row);
        return code;
    }
    const char *text[9];
    for (int i = 0; i < 9; i++) {
        text[i] = (const char *)sqlite3_column_text(row, i);
    }
    const char *device = text[4];
    for (size_t i = 1; i < count && code == ASSAY_CODE_OK; i++) {
        char *other = assay_shard_text(&shards[i], device_sql, error);
        code = other == NULL ? ASSAY_CODE_INTERNAL : ASSAY_CODE_OK;
        device = other != NULL && strcmp(other, text[4]) == 0 ? device : "mixed";
        sqlite3_free(other);
    }
    const assay_run_record record = {.kind = text[0],
                                     .operator_name = text[1],
                                     .implementation = text[2],
                                     .baseline = text[3],
                                     .device = device,
                                     .tier = text[5],
                                     .command = "assay merge",
                                     .seed = (uint64_t)sqlite3_column_int64(row, 6),
                                     .contract_sha256 = text[7],
                                     .contract_text = text[8],
                                     .contract_version = sqlite3_column_int(row, 9)};
    if (code == ASSAY_CODE_OK) {
        code = assay_store_run_begin(target, &record, run_id, uuid, error);
    }
    (void)sqlite3_finalize(row);
    return code;
}

/* Adds (key, value) rows of one shard under a prefix; keys that are there with the same value are left out.
 */
static assay_code add_pair(assay_store *target, assay_table_id table, int64_t run_id, const char *key,
                           const assay_value *rest, int rest_count, assay_error *error) {
    assay_value values[MAX_COLUMNS] = {assay_v_int(run_id), assay_v_text(key)};
    for (int i = 0; i < rest_count; i++) {
        values[2 + i] = rest[i];
    }
    return assay_row_insert(target, table, values, 2 + rest_count, error);
}

/* True when every shard has the row that `sql` (with ?2 = key) compares, i.e. its text equals `value`. */
static bool same_everywhere(const assay_shard *shards, size_t count, const char *sql, const char *key,
                            const char *value) {
    bool same = true;
    for (size_t i = 0; i < count && same; i++) {
        sqlite3_stmt *row = NULL;
        same = sqlite3_prepare_v2(shards[i].store->db, sql, -1, &row, NULL) == SQLITE_OK &&
               sqlite3_bind_int64(row, 1, shards[i].run_id) == SQLITE_OK &&
               sqlite3_bind_text(row, 2, key, -1, SQLITE_STATIC) == SQLITE_OK &&
               sqlite3_step(row) == SQLITE_ROW &&
               strcmp((const char *)sqlite3_column_text(row, 0), value) == 0;
        (void)sqlite3_finalize(row);
    }
    return same;
}

/* What may differ between shards (provenance by key, binaries by role): a row that all have is written once
 * under its name, any other once per shard as shard.<first tile>.<name>. */
static const struct {
    assay_table_id table;
    const char *all, *one;
    int value_column; /* of `all`: the text that must be equal */
} differing[] = {
    {ASSAY_TABLE_provenance, "SELECT key, value FROM provenance WHERE run_id=?1 ORDER BY key",
     "SELECT value FROM provenance WHERE run_id=?1 AND key=?2", 1},
    {ASSAY_TABLE_binary, "SELECT role, path, sha256, bytes FROM binary WHERE run_id=?1 ORDER BY role",
     "SELECT sha256 FROM binary WHERE run_id=?1 AND role=?2", 2},
};

static assay_code copy_differing(assay_store *target, const assay_shard *shards, size_t count, size_t d,
                                 size_t s, int64_t run_id, assay_error *error) {
    sqlite3_stmt *row = NULL;
    assay_code code = ASSAY_CODE_OK;
    int rc = sqlite3_prepare_v2(shards[s].store->db, differing[d].all, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, shards[s].run_id);
    }
    while (rc == SQLITE_OK && code == ASSAY_CODE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(row, 0);
        const char *value = (const char *)sqlite3_column_text(row, differing[d].value_column);
        const bool same = same_everywhere(shards, count, differing[d].one, key, value);
        char name[256];
        (void)snprintf(name, sizeof name, "shard.%llu.%.200s", (unsigned long long)shards[s].first_tile, key);
        assay_value rest[3] = {assay_v_text((const char *)sqlite3_column_text(row, 1)),
                               assay_v_text((const char *)sqlite3_column_text(row, 2)),
                               assay_v_int(sqlite3_column_int64(row, 3))};
        if (!same || s == 0) {
            code = add_pair(target, differing[d].table, run_id, same ? key : name, rest,
                            sqlite3_column_count(row) - 1, error);
        }
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    if (code == ASSAY_CODE_OK && rc != SQLITE_DONE) {
        code = assay_sqlite_fail(shards[s].store->db, shards[s].path, ASSAY_CODE_INTERNAL, "copying a shard",
                                 error);
    }
    return code;
}

/* One tree of the new run from the tiles that were copied: root, rows and number of tiles are derived, not
 * added up. */
static assay_code insert_tree(assay_store *target, int64_t run_id, sqlite3_stmt *old, char root_hex[65],
                              assay_error *error) {
    assay_log_tree merkle = {.leaves = 0};
    const char *name = (const char *)sqlite3_column_text(old, 0);
    const uint64_t row_words = (uint64_t)sqlite3_column_int64(old, 2);
    uint64_t rows = 0;
    uint8_t leaf[32], root[32];
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(
        target->db, "SELECT number, rows, sums FROM digest_tile WHERE run_id=?1 AND name=?2 ORDER BY number",
        -1, &row, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_bind_int64(row, 1, run_id);
        rc = sqlite3_bind_text(row, 2, name, -1, SQLITE_STATIC);
    }
    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        const assay_tile tile = assay_column_tile(row, 2);
        assay_tile_leaf(&tile, (uint64_t)sqlite3_column_int64(row, 0), (uint64_t)sqlite3_column_int64(row, 1),
                        row_words, leaf);
        assay_log_tree_add(&merkle, leaf);
        rows += (uint64_t)sqlite3_column_int64(row, 1);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    if (rc != SQLITE_DONE) {
        return assay_sqlite_fail(target->db, target->path, ASSAY_CODE_INTERNAL, "deriving the root", error);
    }
    assay_tree_record tree = {.name = name,
                              .tile_rows = (uint64_t)sqlite3_column_int64(old, 1),
                              .row_words = row_words,
                              .rows = (uint64_t)sqlite3_column_int64(old, 3),
                              .tiles = (uint64_t)sqlite3_column_int64(old, 4),
                              .all_tiles = (uint64_t)sqlite3_column_int64(old, 5),
                              .root = (const char *)sqlite3_column_text(old, 6)};
    char hex[65];
    if (merkle.leaves > 0) {
        assay_log_tree_root(&merkle, root);
        assay_hex(root, 32, hex);
        tree.rows = rows;
        tree.tiles = merkle.leaves;
        tree.root = hex;
        if (root_hex[0] == '\0') {
            memcpy(root_hex, hex, 65);
        }
    }
    return assay_store_tree(target, run_id, &tree, error);
}

static assay_code insert_trees(assay_store *target, int64_t run_id, const assay_shard *first,
                               char root_hex[65], assay_error *error) {
    sqlite3_stmt *row = NULL;
    assay_code code = ASSAY_CODE_OK;
    int rc = sqlite3_prepare_v2(first->store->db,
                                "SELECT name, tile_rows, row_words, rows, tiles, all_tiles, root FROM "
                                "digest_tree WHERE run_id=?1 ORDER BY name",
                                -1, &row, NULL);
    root_hex[0] = '\0';
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, first->run_id);
    }
    while (rc == SQLITE_OK && code == ASSAY_CODE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        code = insert_tree(target, run_id, row, root_hex, error);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    return code != ASSAY_CODE_OK || rc == SQLITE_DONE
               ? code
               : assay_sqlite_fail(first->store->db, first->path, ASSAY_CODE_INTERNAL, "copying a shard",
                                   error);
}

assay_code assay_merge_copy(assay_store *target, const assay_shard *shards, size_t count,
                            const char *shards_id, int64_t *run_id, char root_hex[65], assay_error *error) {
    assay_code code = copy_run(target, shards, count, run_id, error);
    destination to = {.target = target, .run_id = *run_id, .shard = &shards[0]};
    if (code == ASSAY_CODE_OK) {
        code = copy_table(&to, ASSAY_TABLE_knob, NULL, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = copy_table(&to, ASSAY_TABLE_promise, NULL, error);
    }
    for (size_t s = 0; s < count && code == ASSAY_CODE_OK; s++) {
        bool found = false;
        int64_t last = 0;
        for (size_t d = 0; d < sizeof differing / sizeof differing[0] && code == ASSAY_CODE_OK; d++) {
            code = copy_differing(target, shards, count, d, s, *run_id, error);
        }
        to.shard = &shards[s];
        if (code == ASSAY_CODE_OK) {
            code = assay_query_int(target, "SELECT max(seq) FROM check_plan WHERE run_id=?1", *run_id, 0,
                                   &last, &found, error);
            to.seq_offset = found ? last : 0;
        }
        if (code == ASSAY_CODE_OK) {
            code = copy_checks(&to, error);
        }
    }
    if (code == ASSAY_CODE_OK) {
        const assay_value id = assay_v_text(shards_id);
        code = add_pair(target, ASSAY_TABLE_provenance, *run_id, "merge.shards", &id, 1, error);
    }
    return code == ASSAY_CODE_OK ? insert_trees(target, *run_id, &shards[0], root_hex, error) : code;
}
