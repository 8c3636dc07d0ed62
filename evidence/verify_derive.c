/* verify_derive.c - derives again what follows from the rows: contract hashes, metric values, digest roots,
 * the log of runs, promise states and verdicts. */
#include "dtype.h"
#include "verify_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long long ll;

void assay_verify_contracts(assay_verifier *v) {
    sqlite3_stmt *row =
        assay_verify_query(v, "contract", "SELECT id, sha256, text FROM contract ORDER BY id");
    while (row != NULL && assay_verify_next(v, "contract", row)) {
        uint8_t hash[32];
        char hex[65];
        const char *text = assay_column_text(row, 2);
        assay_sha256(text, (size_t)sqlite3_column_bytes(row, 2), hash);
        assay_hex(hash, 32, hex);
        if (strcmp(hex, assay_column_text(row, 1)) != 0) {
            assay_verify_problem(v, "contract(id=%lld): its text has SHA-256 %s, the row says %.64s",
                                 (ll)sqlite3_column_int64(row, 0), hex, assay_column_text(row, 1));
        }
    }
}

/* metric.value must be the readable form of metric.bits. */
void assay_verify_metrics(assay_verifier *v) {
    sqlite3_stmt *row = assay_verify_query(
        v, "metric", "SELECT run_id, seq, name, bits, value FROM metric ORDER BY run_id, seq, name");
    while (row != NULL && assay_verify_next(v, "metric", row)) {
        const double exact = assay_f64_from_bits((uint64_t)sqlite3_column_int64(row, 3));
        const bool null = sqlite3_column_type(row, 4) == SQLITE_NULL;
        const double shown = sqlite3_column_double(row, 4);
        if (isnan(exact) ? !null : null || !(shown == exact)) {
            assay_verify_problem(
                v, "metric(run_id=%lld, seq=%lld, name=%.80s): value is not the number of its bits",
                (ll)sqlite3_column_int64(row, 0), (ll)sqlite3_column_int64(row, 1),
                assay_column_text(row, 2));
        }
    }
}

/* One row of digest_tree. */
typedef struct tree_row {
    int64_t run_id;
    char name[96];
    uint64_t tile_rows, row_words, rows, tiles, first_tile;
} tree_row;

static uint64_t u64_at(sqlite3_stmt *row, int column) {
    return (uint64_t)sqlite3_column_int64(row, column);
}

/* Recomputes the root of one tree from its tiles. Returns the number of tiles found; what is wrong with them
 * goes to `why`. */
static uint64_t root_from_tiles(assay_verifier *v, const tree_row *tree, uint8_t root[32], const char **why) {
    assay_log_tree merkle = {.leaves = 0};
    uint64_t rows = 0;
    sqlite3_stmt *row = assay_verify_query(
        v, "digest_tile",
        "SELECT number, rows, sums FROM digest_tile WHERE run_id=?1 AND name=?2 ORDER BY number");
    if (row == NULL) {
        return 0;
    }
    (void)sqlite3_bind_int64(row, 1, tree->run_id);
    (void)sqlite3_bind_text(row, 2, tree->name, -1, SQLITE_STATIC);
    while (assay_verify_next(v, "digest_tile", row)) {
        const assay_tile tile = assay_column_tile(row, 2);
        uint8_t leaf[32];
        if (u64_at(row, 0) != tree->first_tile + merkle.leaves) {
            *why = "the numbers of its tiles have a gap";
        }
        /* Each interval of a domain ends with its own tile, so a short one may stand anywhere. */
        const uint64_t tile_rows = u64_at(row, 1);
        if (tile_rows == 0 || tile_rows > tree->tile_rows) {
            *why = "a tile has more rows than the tree's tiles hold, or none";
        }
        rows += tile_rows;
        assay_tile_leaf(&tile, u64_at(row, 0), tile_rows, tree->row_words, leaf);
        assay_log_tree_add(&merkle, leaf);
    }
    if (merkle.leaves > 0) {
        assay_log_tree_root(&merkle, root);
        *why = rows != tree->rows             ? "its tiles have another number of rows"
               : merkle.leaves != tree->tiles ? "it has another number of tiles"
                                              : *why;
    }
    return merkle.leaves;
}

void assay_verify_trees(assay_verifier *v) {
    sqlite3_stmt *row = assay_verify_query(v, "digest_tree",
                                           "SELECT run_id, name, tile_rows, row_words, rows, tiles, "
                                           "first_tile, root FROM digest_tree ORDER BY run_id, name");
    while (row != NULL && assay_verify_next(v, "digest_tree", row)) {
        tree_row tree = {.run_id = sqlite3_column_int64(row, 0),
                         .tile_rows = u64_at(row, 2),
                         .row_words = u64_at(row, 3),
                         .rows = u64_at(row, 4),
                         .tiles = u64_at(row, 5),
                         .first_tile = u64_at(row, 6)};
        uint8_t root[32];
        char hex[65] = "";
        const char *why = NULL;
        (void)snprintf(tree.name, sizeof tree.name, "%s", assay_column_text(row, 1));
        /* A tree of which only the root is known (prove --against ROOT) has no tiles to derive it from. */
        if (root_from_tiles(v, &tree, root, &why) == 0) {
            continue;
        }
        assay_hex(root, 32, hex);
        if (why == NULL && strcmp(hex, assay_column_text(row, 7)) != 0) {
            why = "its tiles give another root";
        }
        if (why != NULL) {
            assay_verify_problem(v, "digest_tree(run_id=%lld, name=%s): %s", (ll)tree.run_id, tree.name, why);
        }
    }
}

/* One row of run_log against the rows of its run and the leaves before it. */
static void check_log_row(assay_verifier *v, sqlite3_stmt *row, assay_log_tree *tree) {
    const ll idx = sqlite3_column_int64(row, 0), run_id = sqlite3_column_int64(row, 1);
    uint8_t leaf[32], stored[32] = {0}, root[32];
    char hex[65];
    if (idx != (ll)tree->leaves) {
        assay_verify_problem(v, "run_log(idx=%lld): number %llu is missing before it", idx,
                             (unsigned long long)tree->leaves);
    }
    if (assay_log_leaf(v->db, run_id, leaf, NULL) != ASSAY_CODE_OK) {
        assay_verify_problem(v, "run_log(idx=%lld): the rows of run %lld cannot be read", idx, run_id);
    }
    assay_hex(leaf, 32, hex);
    if (strcmp(hex, assay_column_text(row, 2)) != 0) {
        assay_verify_problem(v,
                             "run_log(idx=%lld): the leaf does not match run(id=%lld): a row of the run was "
                             "deleted, added or changed, "
                             "or the leaf was",
                             idx, run_id);
    }
    if (!assay_hex_parse(assay_column_text(row, 2), stored, 32)) {
        assay_verify_problem(v, "run_log(idx=%lld): the leaf is not 64 hex digits", idx);
    }
    assay_log_tree_add(tree, stored);
    assay_log_tree_root(tree, root);
    assay_hex(root, 32, hex);
    if (strcmp(hex, assay_column_text(row, 3)) != 0) {
        assay_verify_problem(v, "run_log(idx=%lld): the root does not match the leaves up to here", idx);
    }
}

void assay_verify_log(assay_verifier *v) {
    assay_log_tree tree = {.leaves = 0};
    sqlite3_stmt *row =
        assay_verify_query(v, "run_log", "SELECT idx, run_id, leaf, root FROM run_log ORDER BY idx");
    while (row != NULL && assay_verify_next(v, "run_log", row)) {
        check_log_row(v, row, &tree);
    }
    row = assay_verify_query(
        v, "run_result",
        "SELECT run_id FROM run_result WHERE run_id NOT IN (SELECT run_id FROM run_log) ORDER BY run_id");
    while (row != NULL && assay_verify_next(v, "run_result", row)) {
        assay_verify_problem(v, "run_result(run_id=%lld): the finished run is not in run_log",
                             (ll)sqlite3_column_int64(row, 0));
    }
}

typedef struct verdict_walk {
    assay_verifier *v;
    sqlite3_stmt *stored;
    int64_t run_id;
    uint64_t derived;
} verdict_walk;

static bool check_promise(void *context, const assay_promise_result *r) {
    verdict_walk *walk = context;
    sqlite3_stmt *row = walk->stored;
    walk->derived++;
    (void)sqlite3_bind_int64(row, 1, walk->run_id);
    (void)sqlite3_bind_text(row, 2, r->name, -1, SQLITE_STATIC);
    if (sqlite3_step(row) != SQLITE_ROW) {
        assay_verify_problem(walk->v,
                             "promise(run_id=%lld, name=%s): the finished run has no promise_result for it",
                             (ll)walk->run_id, r->name);
    } else if (strcmp(assay_column_text(row, 0), assay_promise_text(r->state)) != 0 ||
               strcmp(assay_column_text(row, 1), r->strength) != 0 ||
               strcmp(assay_column_text(row, 2), r->reason) != 0) {
        assay_verify_problem(walk->v,
                             "promise_result(run_id=%lld, name=%s): says %.20s (%.10s) '%.120s', the checks "
                             "say %s (%s) '%.120s'",
                             (ll)walk->run_id, r->name, assay_column_text(row, 0), assay_column_text(row, 1),
                             assay_column_text(row, 2), assay_promise_text(r->state), r->strength, r->reason);
    }
    (void)sqlite3_reset(row);
    return true;
}

static void check_run(verdict_walk *walk, sqlite3_stmt *run) {
    assay_verdict verdict = ASSAY_VERDICT_INCOMPLETE;
    char reason[ASSAY_REASON_BYTES];
    walk->run_id = sqlite3_column_int64(run, 0);
    walk->derived = 0;
    if (assay_promise_derive(walk->v->db, walk->run_id, check_promise, walk, NULL) != ASSAY_CODE_OK ||
        assay_verdict_derive(walk->v->db, walk->run_id, &verdict, reason, sizeof reason, NULL) !=
            ASSAY_CODE_OK) {
        assay_verify_problem(walk->v, "run_result(run_id=%lld): the verdict cannot be derived again",
                             (ll)walk->run_id);
        return;
    }
    if (walk->derived != u64_at(run, 3)) {
        assay_verify_problem(walk->v, "promise_result(run_id=%lld): there are %llu rows for %llu promises",
                             (ll)walk->run_id, (unsigned long long)u64_at(run, 3),
                             (unsigned long long)walk->derived);
    }
    if (strcmp(assay_column_text(run, 1), assay_verdict_text(verdict)) != 0 ||
        strcmp(assay_column_text(run, 2), reason) != 0) {
        assay_verify_problem(walk->v,
                             "run_result(run_id=%lld): says %.20s '%.160s', the rows say %s '%.160s'",
                             (ll)walk->run_id, assay_column_text(run, 1), assay_column_text(run, 2),
                             assay_verdict_text(verdict), reason);
    }
}

void assay_verify_verdicts(assay_verifier *v) {
    verdict_walk walk = {.v = v};
    sqlite3_stmt *runs = assay_verify_query(v, "run", "SELECT count(*) FROM run");
    while (runs != NULL && assay_verify_next(v, "run", runs)) {
        v->report->runs = u64_at(runs, 0);
    }
    walk.stored =
        assay_verify_query(v, "promise_result",
                           "SELECT state, strength, reason FROM promise_result WHERE run_id=?1 AND name=?2");
    runs = assay_verify_query(v, "run_result",
                              "SELECT f.run_id, f.verdict, f.reason, (SELECT count(*) FROM promise_result p "
                              "WHERE p.run_id=f.run_id) "
                              "FROM run_result f ORDER BY f.run_id");
    while (walk.stored != NULL && runs != NULL && assay_verify_next(v, "run_result", runs)) {
        check_run(&walk, runs);
    }
    (void)sqlite3_finalize(walk.stored);
}
