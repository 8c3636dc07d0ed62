/* merge.c - combines the shards of one prove run. Every source is verified first; whatever does not fit
 * together is refused with both sides named; merging the same shards again gives the run that is there
 * already. */
#include "merge_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct merge {
    assay_store **stores; /* of the sources */
    size_t store_count;
    assay_shard *shards;
    size_t count, capacity;
} merge;

char *assay_shard_text(const assay_shard *shard, const char *sql, assay_error *error) {
    sqlite3_stmt *row = NULL;
    char *text = NULL;
    int rc = sqlite3_prepare_v2(shard->store->db, sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_bind_int64(row, 1, shard->run_id);
        rc = sqlite3_step(row);
        const char *value = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
        if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
            text = sqlite3_mprintf("%s", value != NULL ? value : "");
        }
    }
    if (text == NULL) {
        (void)assay_sqlite_fail(shard->store->db, shard->path, ASSAY_CODE_INTERNAL, "reading a shard", error);
    }
    (void)sqlite3_finalize(row);
    return text;
}

typedef struct first_problem {
    char text[256];
} first_problem;

static void keep_problem(void *context, const char *line) {
    first_problem *first = context;
    if (first->text[0] == '\0') {
        (void)snprintf(first->text, sizeof first->text, "%s", line);
    }
}

/* Opens and verifies every source. */
static assay_code open_sources(merge *m, const char *const *sources, size_t count, assay_error *error) {
    m->stores = calloc(count + 1, sizeof(assay_store *));
    if (m->stores == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while merging");
    }
    for (size_t i = 0; i < count; i++) {
        assay_verify_report report;
        first_problem first = {""};
        assay_code code = assay_verify_database(sources[i], keep_problem, &first, &report, error);
        if (code == ASSAY_CODE_REFUSED) {
            return assay_fail(error, ASSAY_CODE_USAGE, "'%s' does not verify: %s", sources[i], first.text);
        }
        if (code == ASSAY_CODE_OK) {
            code = assay_store_open(sources[i], ASSAY_STORE_READ, &m->stores[i], error);
        }
        if (code != ASSAY_CODE_OK) {
            return code;
        }
        m->store_count = i + 1;
    }
    return ASSAY_CODE_OK;
}

/* Adds a shard; the same run in two sources (a copied database) counts once. */
static assay_code add_shard(merge *m, const assay_shard *shard, assay_error *error) {
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->shards[i].uuid, shard->uuid) == 0) {
            return strcmp(m->shards[i].leaf, shard->leaf) == 0
                       ? ASSAY_CODE_OK
                       : assay_fail(error, ASSAY_CODE_USAGE,
                                    "%s and %s are the same run with different contents", m->shards[i].name,
                                    shard->name);
        }
    }
    if (m->count == m->capacity) {
        const size_t wanted = m->capacity * 2 + 16;
        assay_shard *grown = realloc(m->shards, wanted * sizeof *grown);
        if (grown == NULL) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while merging");
        }
        m->shards = grown;
        m->capacity = wanted;
    }
    m->shards[m->count++] = *shard;
    return ASSAY_CODE_OK;
}

/* Finished prove runs with a tree that their tiles give, merged runs left out; `partial` selects shards or
 * whole runs. */
static assay_code find_shards(merge *m, const char *const *sources, bool partial, assay_error *error) {
    static const char sql[] = "SELECT r.id, r.uuid, l.leaf, t.first_tile, t.tiles, t.all_tiles FROM run r "
                              "JOIN run_log l ON l.run_id=r.id "
                              "JOIN digest_tree t ON t.run_id=r.id WHERE r.kind='prove' AND (t.tiles < "
                              "t.all_tiles)=?1 AND t.name=(SELECT "
                              "min(name) FROM digest_tile WHERE run_id=r.id) AND NOT EXISTS(SELECT 1 FROM "
                              "provenance p WHERE p.run_id=r.id AND "
                              "p.key='merge.shards') ORDER BY r.id";
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < m->store_count && code == ASSAY_CODE_OK; i++) {
        sqlite3_stmt *row = NULL;
        int rc = sqlite3_prepare_v2(m->stores[i]->db, sql, -1, &row, NULL);
        if (rc == SQLITE_OK) {
            rc = sqlite3_bind_int(row, 1, partial);
        }
        while (rc == SQLITE_OK && code == ASSAY_CODE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
            assay_shard shard = {
                .store = m->stores[i], .path = sources[i], .run_id = sqlite3_column_int64(row, 0)};
            (void)snprintf(shard.uuid, sizeof shard.uuid, "%s", assay_column_text(row, 1));
            (void)snprintf(shard.leaf, sizeof shard.leaf, "%s", assay_column_text(row, 2));
            shard.first_tile = (uint64_t)sqlite3_column_int64(row, 3);
            shard.tiles = (uint64_t)sqlite3_column_int64(row, 4);
            shard.all_tiles = (uint64_t)sqlite3_column_int64(row, 5);
            (void)snprintf(shard.name, sizeof shard.name, "run %lld (%.8s) of '%.96s'",
                           (long long)shard.run_id, shard.uuid, sources[i]);
            code = add_shard(m, &shard, error);
            rc = SQLITE_OK;
        }
        (void)sqlite3_finalize(row);
        if (code == ASSAY_CODE_OK && rc != SQLITE_DONE) {
            code = assay_sqlite_fail(m->stores[i]->db, sources[i], ASSAY_CODE_USAGE, "looking for shards",
                                     error);
        }
    }
    return code;
}

static int by_first_tile(const void *a, const void *b) {
    const assay_shard *left = a, *right = b;
    if (left->first_tile != right->first_tile) {
        return left->first_tile < right->first_tile ? -1 : 1;
    }
    /* Two of one place are refused below: which is named first must not depend on a random uuid. */
    const int order = strcmp(left->path, right->path);
    return order != 0 ? order : (left->run_id > right->run_id) - (left->run_id < right->run_id);
}

/* What all shards must have in common: each query gives one text. */
static const struct {
    const char *what, *sql;
} common[] = {
    {"operators", "SELECT operator FROM run WHERE id=?1"},
    {"contracts", "SELECT sha256 FROM contract WHERE id=(SELECT contract_id FROM run WHERE id=?1)"},
    {"candidate binaries", "SELECT sha256 FROM binary WHERE run_id=?1 AND role='candidate'"},
    {"baseline binaries", "SELECT sha256 FROM binary WHERE run_id=?1 AND role='baseline'"},
    {"baselines", "SELECT baseline FROM run WHERE id=?1"},
    {"tiers", "SELECT tier FROM run WHERE id=?1"},
    {"seeds", "SELECT seed FROM run WHERE id=?1"},
    {"knobs", "SELECT group_concat(k, ' ') FROM (SELECT role||' '||name||'='||requested||'/'||effective AS k "
              "FROM knob WHERE run_id=?1 "
              "ORDER BY role, name)"},
    {"promises", "SELECT group_concat(p, '; ') FROM (SELECT name||' '||suite||' '||relation||' "
                 "'||required||' '||text AS p FROM promise "
                 "WHERE run_id=?1 ORDER BY ordinal)"},
    {"digest trees", "SELECT group_concat(t, '; ') FROM (SELECT name||' '||tile_rows||' rows of "
                     "'||row_words||' words, '||all_tiles||' "
                     "tiles' AS t FROM digest_tree WHERE run_id=?1 ORDER BY name)"},
};

static assay_code check_common(const merge *m, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t c = 0; c < sizeof common / sizeof common[0] && code == ASSAY_CODE_OK; c++) {
        char *first = assay_shard_text(&m->shards[0], common[c].sql, error);
        code = first == NULL ? ASSAY_CODE_INTERNAL : ASSAY_CODE_OK;
        for (size_t i = 1; i < m->count && code == ASSAY_CODE_OK; i++) {
            char *other = assay_shard_text(&m->shards[i], common[c].sql, error);
            if (other == NULL) {
                code = ASSAY_CODE_INTERNAL;
            } else if (strcmp(first, other) != 0) {
                code = assay_fail(error, ASSAY_CODE_USAGE,
                                  "the shards have different %s: %s has '%.80s', %s has '%.80s'",
                                  common[c].what, m->shards[0].name, first, m->shards[i].name, other);
            }
            sqlite3_free(other);
        }
        sqlite3_free(first);
    }
    return code;
}

/* Shards sorted by first tile must follow one another from 0 to all_tiles. */
static assay_code check_cover(const merge *m, assay_error *error) {
    uint64_t next = 0;
    for (size_t i = 0; i <= m->count; i++) {
        const uint64_t from = i < m->count ? m->shards[i].first_tile : m->shards[0].all_tiles;
        const char *before = i > 0 ? m->shards[i - 1].name : "the start";
        const char *after = i < m->count ? m->shards[i].name : "the end";
        if (from > next) {
            return assay_fail(error, ASSAY_CODE_USAGE,
                              "tiles %llu..%llu of %llu are missing, between %s and %s",
                              (unsigned long long)next, (unsigned long long)(from - 1),
                              (unsigned long long)m->shards[0].all_tiles, before, after);
        }
        if (from < next) {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s and %s overlap: both have tile %llu", before,
                              after, (unsigned long long)from);
        }
        next += i < m->count ? m->shards[i].tiles : 0;
    }
    return ASSAY_CODE_OK;
}

/* Sorts the shards and refuses what does not fit together. */
static assay_code check_fit(merge *m, assay_error *error) {
    qsort(m->shards, m->count, sizeof m->shards[0], by_first_tile);
    const assay_code code = check_common(m, error);
    return code == ASSAY_CODE_OK ? check_cover(m, error) : code;
}

/* The identity of a set of shards: SHA-256 over their leaves in order of tiles. */
static void identify(const merge *m, char id[65]) {
    crypto_hash_sha256_state state;
    uint8_t hash[32];
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < m->count; i++) {
        crypto_hash_sha256_update(&state, (const uint8_t *)m->shards[i].leaf, 64);
    }
    crypto_hash_sha256_final(&state, hash);
    assay_hex(hash, 32, id);
}

/* The run that an earlier merge of the same shards left; *run_id = 0 when there is none. */
static assay_code find_earlier(assay_store *target, const char *id, int64_t *run_id, char root_hex[65],
                               assay_error *error) {
    static const char sql[] =
        "SELECT p.run_id, t.root FROM provenance p JOIN run_log l ON l.run_id=p.run_id JOIN digest_tree t ON "
        "t.run_id=p.run_id AND t.name=(SELECT min(name) FROM digest_tile WHERE run_id=p.run_id) "
        "WHERE p.key='merge.shards' AND p.value=?1 LIMIT 1";
    sqlite3_stmt *row = NULL;
    *run_id = 0;
    int rc = sqlite3_prepare_v2(target->db, sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        (void)sqlite3_bind_text(row, 1, id, -1, SQLITE_STATIC);
        rc = sqlite3_step(row);
        if (rc == SQLITE_ROW) {
            *run_id = sqlite3_column_int64(row, 0);
            (void)snprintf(root_hex, 65, "%s", assay_column_text(row, 1));
        }
    }
    (void)sqlite3_finalize(row);
    return rc == SQLITE_ROW || rc == SQLITE_DONE
               ? ASSAY_CODE_OK
               : assay_sqlite_fail(target->db, target->path, ASSAY_CODE_INTERNAL,
                                   "looking for an earlier merge", error);
}

static assay_code merge_into(const merge *m, const char *path, char root_hex[65], int64_t *run_id,
                             assay_error *error) {
    assay_store *target = NULL;
    assay_verdict verdict;
    char id[65];
    assay_code code = assay_store_open(path, ASSAY_STORE_WRITE, &target, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    identify(m, id);
    code = assay_txn_begin(target, error);
    if (code == ASSAY_CODE_OK) {
        code = find_earlier(target, id, run_id, root_hex, error);
        if (code == ASSAY_CODE_OK && *run_id == 0) {
            code = assay_merge_copy(target, m->shards, m->count, id, run_id, root_hex, error);
            if (code == ASSAY_CODE_OK) {
                code = assay_store_run_end(target, *run_id, &verdict, NULL, 0, error);
            }
        }
        code = assay_txn_end(target, code, error);
    }
    assay_store_close(target);
    return code;
}

assay_code assay_merge_shards(const char *target, const char *const *sources, size_t source_count,
                              char root_hex[65], int64_t *run_id, assay_error *error) {
    merge m = {.stores = NULL};
    assay_code code = open_sources(&m, sources, source_count, error);
    if (code == ASSAY_CODE_OK) {
        code = find_shards(&m, sources, true, error);
    }
    if (code == ASSAY_CODE_OK && m.count == 0) {
        code = find_shards(&m, sources, false, error); /* --shard 1/1 */
    }
    if (code == ASSAY_CODE_OK) {
        code =
            m.shards != NULL
                ? check_fit(&m, error)
                : assay_fail(error, ASSAY_CODE_USAGE,
                             "there is no finished prove run with a digest tree in the %zu source(s)%s%s%s",
                             source_count, source_count > 0 ? " ('" : "", source_count > 0 ? sources[0] : "",
                             source_count > 1   ? "', ...)"
                             : source_count > 0 ? "')"
                                                : "");
    }
    if (code == ASSAY_CODE_OK) {
        code = merge_into(&m, target, root_hex, run_id, error);
    }
    for (size_t i = 0; i < m.store_count; i++) {
        assay_store_close(m.stores[i]);
    }
    free(m.stores);
    free(m.shards);
    return code;
}
