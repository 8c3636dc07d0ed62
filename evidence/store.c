/* store.c - the life of a run: begin, journal, trees, self-test rows, end. One transaction per step. */
#include "clock.h"
#include "store_internal.h"

#include <stdio.h>
#include <string.h>

/* The contract's row, shared by all runs of the same contract. */
static assay_code contract_id(assay_store *store, const assay_run_record *r, int64_t *id,
                              assay_error *error) {
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    int rc = sqlite3_prepare_v2(store->db, "SELECT id FROM contract WHERE sha256=?1", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_bind_text(stmt, 1, r->contract_sha256, -1, SQLITE_STATIC);
        rc = sqlite3_step(stmt);
        found = rc == SQLITE_ROW;
        *id = found ? sqlite3_column_int64(stmt, 0) : 0;
    }
    assay_code code = ASSAY_CODE_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        code =
            assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, "looking for the contract", error);
    }
    (void)sqlite3_finalize(stmt);
    if (code != ASSAY_CODE_OK || found) {
        return code;
    }
    code = assay_row_next_id(store, "contract", "id", 1, id, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    const assay_value v[] = {assay_v_int(*id), assay_v_text(r->contract_sha256),
                             assay_v_text(r->operator_name), assay_v_int(r->contract_version),
                             assay_v_text(r->contract_text)};
    return ASSAY_INSERT(store, contract, v, error);
}

static assay_code insert_run(assay_store *store, const assay_run_record *r, int64_t *run_id, char uuid[33],
                             assay_error *error) {
    int64_t contract = 0;
    uint8_t random[16];
    assay_code code = contract_id(store, r, &contract, error);
    if (code == ASSAY_CODE_OK) {
        code = assay_row_next_id(store, "run", "id", 1, run_id, error);
    }
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    randombytes_buf(random, sizeof random);
    assay_hex(random, sizeof random, uuid);
    const assay_value v[] = {assay_v_int(*run_id),
                             assay_v_text(uuid),
                             assay_v_text(r->kind),
                             assay_v_text(r->operator_name),
                             assay_v_text(r->implementation),
                             assay_v_text(r->baseline),
                             assay_v_text(r->device),
                             assay_v_text(r->tier),
                             assay_v_int(contract),
                             assay_v_u64(r->seed),
                             assay_v_text(r->command),
                             assay_v_int(assay_wall_ms())};
    return ASSAY_INSERT(store, run, v, error);
}

/* What surrounds the run: provenance, binaries, knobs. */
static assay_code insert_surroundings(assay_store *store, const assay_run_record *r, int64_t run_id,
                                      assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < r->provenance_count && code == ASSAY_CODE_OK; i++) {
        const assay_value v[] = {assay_v_int(run_id), assay_v_text(r->provenance[i].key),
                                 assay_v_text(r->provenance[i].value)};
        code = ASSAY_INSERT(store, provenance, v, error);
    }
    for (size_t i = 0; i < r->binary_count && code == ASSAY_CODE_OK; i++) {
        const assay_binary_record *b = &r->binaries[i];
        const assay_value v[] = {assay_v_int(run_id), assay_v_text(b->role), assay_v_text(b->path),
                                 assay_v_text(b->sha256), assay_v_u64(b->bytes)};
        code = ASSAY_INSERT(store, binary, v, error);
    }
    for (size_t i = 0; i < r->knob_count && code == ASSAY_CODE_OK; i++) {
        const assay_knob_record *k = &r->knobs[i];
        const assay_value v[] = {assay_v_int(run_id), assay_v_text(k->role), assay_v_text(k->name),
                                 assay_v_text(k->requested), assay_v_text(k->effective)};
        code = ASSAY_INSERT(store, knob, v, error);
    }
    return code;
}

/* What the run owes: promises and planned checks. */
static assay_code insert_plan(assay_store *store, const assay_run_record *r, int64_t run_id,
                              assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < r->promise_count && code == ASSAY_CODE_OK; i++) {
        const assay_promise_record *p = &r->promises[i];
        const assay_value v[] = {assay_v_int(run_id),    assay_v_text(p->name),     assay_v_u64(i + 1),
                                 assay_v_text(p->suite), assay_v_text(p->relation), assay_v_int(p->required),
                                 assay_v_text(p->text)};
        code = ASSAY_INSERT(store, promise, v, error);
    }
    for (size_t i = 0; i < r->plan_count && code == ASSAY_CODE_OK; i++) {
        const assay_plan_record *p = &r->plan[i];
        const assay_value v[] = {assay_v_int(run_id),
                                 assay_v_u64(i + 1),
                                 assay_v_text(p->suite),
                                 assay_v_text(p->name),
                                 assay_v_text(p->promise),
                                 assay_v_int(p->required),
                                 assay_v_text(assay_strength_text(p->strength)),
                                 assay_v_text(p->case_json),
                                 assay_v_text(p->repro),
                                 assay_v_null()};
        code = ASSAY_INSERT(store, check_plan, v, error);
    }
    return code;
}

assay_code assay_store_run_begin(assay_store *store, const assay_run_record *record, int64_t *run_id,
                                 char uuid[33], assay_error *error) {
    assay_code code = assay_txn_begin(store, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    code = insert_run(store, record, run_id, uuid, error);
    if (code == ASSAY_CODE_OK) {
        code = insert_surroundings(store, record, *run_id, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = insert_plan(store, record, *run_id, error);
    }
    return assay_txn_end(store, code, error);
}

assay_code assay_store_check_begin(assay_store *store, int64_t run_id, int64_t seq, assay_error *error) {
    int64_t attempts = 0;
    bool done = false;
    bool found = false;
    int64_t ignored = 0;
    assay_code code = assay_txn_begin(store, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    code = assay_query_int(store, "SELECT 1 FROM check_outcome WHERE run_id=?1 AND seq=?2", run_id, seq,
                           &ignored, &done, error);
    if (code == ASSAY_CODE_OK && done) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL,
                          "check %lld of run %lld is finished, it cannot start again", (long long)seq,
                          (long long)run_id);
    }
    if (code == ASSAY_CODE_OK) {
        code = assay_query_int(store, "SELECT max(attempt) FROM check_start WHERE run_id=?1 AND seq=?2",
                               run_id, seq, &attempts, &found, error);
    }
    if (code == ASSAY_CODE_OK) {
        const assay_value v[] = {assay_v_int(run_id), assay_v_int(seq), assay_v_int(found ? attempts + 1 : 1),
                                 assay_v_int(assay_wall_ms())};
        code = ASSAY_INSERT(store, check_start, v, error);
    }
    return assay_txn_end(store, code, error);
}

assay_code assay_store_tree(assay_store *store, int64_t run_id, const assay_tree_record *r,
                            assay_error *error) {
    assay_code code = assay_txn_begin(store, error);
    if (code == ASSAY_CODE_OK) {
        const assay_value v[] = {
            assay_v_int(run_id),        assay_v_text(r->name),     assay_v_u64(r->tile_rows),
            assay_v_u64(r->row_words),  assay_v_u64(r->rows),      assay_v_u64(r->tiles),
            assay_v_u64(r->first_tile), assay_v_u64(r->all_tiles), assay_v_text(r->root)};
        code = assay_txn_end(store, ASSAY_INSERT(store, digest_tree, v, error), error);
    }
    return code;
}

assay_code assay_store_note(assay_store *store, int64_t run_id, const char *key, const char *value,
                            assay_error *error) {
    bool found = false;
    assay_code code = assay_txn_begin(store, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    const assay_value v[] = {assay_v_int(run_id), assay_v_text(key), assay_v_text(value)};
    sqlite3_stmt *stmt = NULL;
    int rc =
        sqlite3_prepare_v2(store->db, "SELECT 1 FROM provenance WHERE run_id=?1 AND key=?2", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_bind_int64(stmt, 1, run_id);
        (void)sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
        rc = sqlite3_step(stmt);
        found = rc == SQLITE_ROW;
    }
    (void)sqlite3_finalize(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        code = assay_sqlite_fail(store->db, store->path, ASSAY_CODE_INTERNAL, "looking for a note", error);
    } else if (!found) {
        code = ASSAY_INSERT(store, provenance, v, error);
    }
    return assay_txn_end(store, code, error);
}

assay_code assay_store_selftest(assay_store *store, int64_t run_id, const assay_selftest_record *rows,
                                size_t count, assay_error *error) {
    assay_code code = assay_txn_begin(store, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    for (size_t i = 0; i < count && code == ASSAY_CODE_OK; i++) {
        const assay_selftest_record *r = &rows[i];
        const assay_value v[] = {assay_v_int(run_id),         assay_v_text(r->subject),
                                 assay_v_text(r->class_name), assay_v_text(r->suite),
                                 assay_v_text(r->expected),   assay_v_text(r->got),
                                 assay_v_text(r->detail)};
        code = ASSAY_INSERT(store, selftest, v, error);
    }
    return assay_txn_end(store, code, error);
}

/* promise_result rows are inserted after the walk over the checks has ended, so that it never meets its own
 * writes. */
#define MAX_PROMISES 256
typedef struct promise_list {
    size_t count;
    struct {
        char name[128];
        assay_promise_state state;
        const char *strength;
        char reason[ASSAY_REASON_BYTES];
    } item[MAX_PROMISES];
} promise_list;

static bool keep_promise(void *context, const assay_promise_result *result) {
    promise_list *list = context;
    if (list->count == MAX_PROMISES) {
        return false;
    }
    const size_t i = list->count++;
    (void)snprintf(list->item[i].name, sizeof list->item[i].name, "%s", result->name);
    (void)snprintf(list->item[i].reason, sizeof list->item[i].reason, "%s", result->reason);
    list->item[i].state = result->state;
    list->item[i].strength = result->strength;
    return true;
}

static assay_code insert_promise_results(assay_store *store, int64_t run_id, assay_error *error) {
    promise_list *list = sqlite3_malloc64(sizeof *list);
    if (list == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while ending a run");
    }
    list->count = 0;
    assay_code code = assay_promise_derive(store->db, run_id, keep_promise, list, error);
    for (size_t i = 0; i < list->count && code == ASSAY_CODE_OK; i++) {
        const assay_value v[] = {assay_v_int(run_id), assay_v_text(list->item[i].name),
                                 assay_v_text(assay_promise_text(list->item[i].state)),
                                 assay_v_text(list->item[i].strength), assay_v_text(list->item[i].reason)};
        code = ASSAY_INSERT(store, promise_result, v, error);
    }
    sqlite3_free(list);
    return code;
}

assay_code assay_store_run_end(assay_store *store, int64_t run_id, assay_verdict *verdict, char *reason,
                               size_t reason_bytes, assay_error *error) {
    char why[ASSAY_REASON_BYTES];
    assay_code code = assay_txn_begin(store, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    code = insert_promise_results(store, run_id, error);
    if (code == ASSAY_CODE_OK) {
        code = assay_verdict_derive(store->db, run_id, verdict, why, sizeof why, error);
    }
    if (code == ASSAY_CODE_OK) {
        const assay_value v[] = {assay_v_int(run_id), assay_v_text(assay_verdict_text(*verdict)),
                                 assay_v_text(why), assay_v_int(assay_wall_ms())};
        code = ASSAY_INSERT(store, run_result, v, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = assay_log_append(store, run_id, error);
    }
    if (code == ASSAY_CODE_OK && reason_bytes > 0) {
        (void)snprintf(reason, reason_bytes, "%s", why);
    }
    return assay_txn_end(store, code, error);
}

/* Ids of runs that `text` may name: 0, 1 or 2 (= several). */
static int find_candidates(sqlite3 *db, const char *sql, const char *text, int64_t *run_id) {
    sqlite3_stmt *stmt = NULL;
    int count = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK ? 0 : -1;
    if (count == 0) {
        int rc = SQLITE_OK;
        (void)sqlite3_bind_text(stmt, 1, text, -1, SQLITE_STATIC);
        while (count < 2 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            *run_id = sqlite3_column_int64(stmt, 0);
            count++;
        }
        count = rc == SQLITE_ROW || rc == SQLITE_DONE ? count : -1;
    }
    (void)sqlite3_finalize(stmt);
    return count;
}

assay_code assay_store_run_find(assay_store *store, const char *text, int64_t *run_id, assay_error *error) {
    const size_t n = strlen(text);
    const bool digits = n > 0 && n < 19 && strspn(text, "0123456789") == n;
    const bool hex = n >= 4 && n <= 32 && strspn(text, "0123456789abcdefABCDEF") == n;
    int count = 0;
    if (strcmp(text, "latest") == 0) {
        count = find_candidates(store->db, "SELECT id FROM run WHERE ?1='latest' ORDER BY id DESC LIMIT 1",
                                text, run_id);
    } else if (!digits && !hex) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "'%.64s' is not a run: give its number, four or more digits of its uuid, or latest",
                          text);
    } else {
        /* A text that is both a number and a prefix must mean one run only. */
        count = find_candidates(store->db,
                                "SELECT id FROM run WHERE (length(?1)<19 AND ?1 NOT GLOB '*[^0-9]*' AND "
                                "id=CAST(?1 AS INTEGER)) OR "
                                "(length(?1)>=4 AND uuid GLOB lower(?1)||'*') LIMIT 2",
                                text, run_id);
    }
    if (count == 1) {
        return ASSAY_CODE_OK;
    }
    if (count < 0) {
        return assay_sqlite_fail(store->db, store->path, ASSAY_CODE_USAGE, "looking for a run", error);
    }
    return assay_fail(error, ASSAY_CODE_USAGE,
                      count == 0 ? "'%s' has no run '%s'" : "'%s' has several runs '%s': give more digits",
                      store->path, text);
}
