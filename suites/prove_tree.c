/* prove_tree.c - the digest tree of an exhaustive run: taken from the database, hashed, compared. */
#include "prove_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Stores a row (number, sums) among this shard's tiles; false when the sums are malformed. */
static bool take_tile(const prove_state *p, sqlite3_stmt *row, assay_tile *tiles) {
    const uint8_t *sums = sqlite3_column_blob(row, 1);
    if (sums == NULL || sqlite3_column_bytes(row, 1) != 16) {
        return false;
    }
    tiles[(uint64_t)sqlite3_column_int64(row, 0) - p->first_tile] =
        (assay_tile){{assay_le64_get(sums), assay_le64_get(sums + 8)}};
    return true;
}

bool assay_prove_reload(prove_state *p, uint64_t number, assay_error *error) {
    static const char sql[] = "SELECT number, sums FROM digest_tile WHERE run_id = ?1 AND name = 'candidate'"
                              " AND number >= ?2 AND number < ?3";
    sqlite3_stmt *s = NULL;
    uint64_t first = p->first_tile + number * ASSAY_SEGMENT_TILES;
    uint64_t end = assay_prove_segment_end(p, number);
    if (!assay_prove_finished(p, assay_prove_seq(p, number, PROVE_DIGEST))) {
        return false;
    }
    if (sqlite3_prepare_v2(assay_store_handle(p->store), sql, -1, &s, NULL) != SQLITE_OK) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "resume: %s",
                         sqlite3_errmsg(assay_store_handle(p->store)));
        return false;
    }
    (void)sqlite3_bind_int64(s, 1, p->report->run_id);
    (void)sqlite3_bind_int64(s, 2, (int64_t)first);
    (void)sqlite3_bind_int64(s, 3, (int64_t)end);
    while (sqlite3_step(s) == SQLITE_ROW && take_tile(p, s, p->tree)) {
    }
    (void)sqlite3_finalize(s);
    return true;
}

void assay_prove_root(const prove_state *p, char hex[65]) {
    uint8_t root[ASSAY_HASH_BYTES];
    uint8_t(*leaves)[ASSAY_HASH_BYTES] = malloc((size_t)p->tiles * sizeof *leaves);
    if (leaves == NULL) {
        abort();
    }
    for (uint64_t i = 0; i < p->tiles; i++) {
        uint64_t number = p->first_tile + i;
        assay_tile_leaf(&p->tree[i], number, assay_domain_tile(&p->domain, number).rows, p->sweep.channels,
                        leaves[i]);
    }
    assay_merkle_root((const uint8_t(*)[ASSAY_HASH_BYTES])leaves, (size_t)p->tiles, root);
    assay_hex(root, sizeof root, hex);
    free(leaves);
}

assay_code assay_prove_load_recorded(prove_state *p, assay_error *error) {
    static const char sql[] =
        "SELECT t.number, t.sums FROM digest_tile t WHERE t.name = 'candidate' AND t.run_id ="
        " (SELECT max(d.run_id) FROM digest_tree d JOIN run r ON r.id = d.run_id WHERE d.name = 'candidate'"
        "  AND r.operator = ?1 AND d.row_words = ?2 AND d.tile_rows = ?3 AND d.first_tile <= ?4"
        "  AND d.first_tile + d.tiles >= ?5) AND t.number >= ?4 AND t.number < ?5";
    const char *path = p->options->against_database;
    assay_store *other = NULL;
    sqlite3_stmt *s = NULL;
    uint64_t found = 0;
    if (path == NULL) {
        return ASSAY_CODE_OK;
    }
    if (assay_store_open(path, ASSAY_STORE_READ, &other, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    p->recorded = calloc(p->tiles, sizeof *p->recorded);
    if (p->recorded == NULL) {
        abort();
    }
    if (sqlite3_prepare_v2(assay_store_handle(other), sql, -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_text(s, 1, p->options->base.op, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(s, 2, (int64_t)p->sweep.channels);
        (void)sqlite3_bind_int64(s, 3, ASSAY_TILE_ROWS);
        (void)sqlite3_bind_int64(s, 4, (int64_t)p->first_tile);
        (void)sqlite3_bind_int64(s, 5, (int64_t)(p->first_tile + p->tiles));
        while (sqlite3_step(s) == SQLITE_ROW && take_tile(p, s, p->recorded)) {
            found++;
        }
    }
    (void)sqlite3_finalize(s);
    assay_store_close(other);
    if (found != p->tiles) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "--against %s: holds no digest tree of %s that covers these %llu tiles", path,
                          p->options->base.op, (unsigned long long)p->tiles);
    }
    return ASSAY_CODE_OK;
}

assay_code assay_prove_compare_tree(prove_state *p, assay_error *error) {
    assay_prove_report *r = p->report;
    assay_result result = {.outcome = ASSAY_OUTCOME_PASS, .elements = r->outputs};
    int64_t seq = assay_prove_root_seq(p);
    if (!p->has_root_check) {
        return ASSAY_CODE_OK;
    }
    if (assay_store_check_begin(p->store, r->run_id, seq, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    for (uint64_t i = 0; p->recorded != NULL && r->unswept == 0 && i < p->tiles; i++) {
        if (memcmp(&p->recorded[i], &p->tree[i], sizeof p->tree[i]) != 0 && r->tiles_differing++ == 0) {
            r->first_differing_tile = p->first_tile + i;
        }
    }
    if (r->unswept > 0) {
        assay_result_set(&result, ASSAY_OUTCOME_ERROR,
                         "%llu of %llu segments could not be judged, so there is no tree to compare",
                         (unsigned long long)r->unswept, (unsigned long long)p->segments);
    } else if (p->options->against_root != NULL && strcasecmp(p->options->against_root, r->root) != 0) {
        r->root_differs = true;
        result.bad = 1;
        assay_result_set(&result, ASSAY_OUTCOME_FAIL, "root %s, want %s", r->root, p->options->against_root);
    } else if (r->tiles_differing > 0) {
        r->root_differs = true;
        result.bad = r->tiles_differing;
        assay_tile_place place = assay_domain_tile(&p->domain, r->first_differing_tile);
        assay_result_set(&result, ASSAY_OUTCOME_FAIL,
                         "%llu of %llu tiles differ, first tile %llu (inputs from 0x%08x on)",
                         (unsigned long long)r->tiles_differing, (unsigned long long)p->tiles,
                         (unsigned long long)r->first_differing_tile, place.first_bits);
    }
    assay_check_record record = {
        .outcome = result.outcome, .reason = result.reason, .elements = result.elements, .bad = result.bad};
    return assay_store_check_end(p->store, r->run_id, seq, &record, error);
}
