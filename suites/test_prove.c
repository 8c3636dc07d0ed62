/* test_prove.c - runs of prove: the root of a shard, shards and the whole, resumption. */
#include "test_sweep_support.h"

#include <sodium.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- leaves as harness/DIGEST.md has them ---- */

static void put_u64(uint8_t *bytes, uint64_t v) {
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(v >> (8 * i));
    }
}

static void leaf_of(uint64_t number, uint64_t rows, const uint64_t sum[2], uint8_t leaf[32]) {
    uint8_t bytes[41] = {0};
    const uint64_t fields[] = {number, rows, CHANNELS, sum[0], sum[1]};
    for (int i = 0; i < 5; i++) {
        put_u64(bytes + 1 + 8 * (size_t)i, fields[i]);
    }
    crypto_hash_sha256(leaf, bytes, sizeof bytes);
}

/* ---- runs: shards, resumption ---- */

static char folder[] = "/tmp/assay-prove-XXXXXX";

static void enter(void) {
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void) {
    char command[64];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(system(command), 0);
}

TestSuite(prove, .init = enter, .fini = leave);

typedef struct request {
    const char *db, *candidate, *resume;
    unsigned shard, shards;
    uint64_t segments;
    bool stops;
    uint64_t stop_before; /* when `stops`: ends the process before this segment */
} request;

static const request *current;

static void maybe_stop(void *context, uint64_t done, uint64_t total, const char *name) {
    (void)context;
    (void)total;
    (void)name;
    if (current->stops && done == current->stop_before) {
        _exit(77);
    }
}

static assay_prove_report prove(request r) {
    char path[512];
    assay_error error = {0};
    assay_store *store = NULL;
    assay_prove_report report;
    assay_progress progress = {.step = maybe_stop};
    assay_prove_options o = {.base = {.kind = "prove",
                                      .op = "timestep_sinusoid_h3",
                                      .impl_path = adapter_path(r.candidate, path),
                                      .impl_name = r.candidate,
                                      .device = "cpu",
                                      .command = "test",
                                      .tier = ASSAY_TIER_FULL,
                                      .seed = 1,
                                      .threads = 2,
                                      .progress = &progress},
                             .shard = r.shard,
                             .shards = r.shards,
                             .limit_segments = r.segments};
    current = &r;
    cr_assert_eq(assay_store_open(r.db, ASSAY_STORE_WRITE, &store, &error), ASSAY_CODE_OK, "%s", error.text);
    if (r.resume != NULL) {
        cr_assert_eq(assay_store_run_find(store, r.resume, &o.base.resume_run, &error), ASSAY_CODE_OK, "%s",
                     error.text);
    }
    cr_assert_eq(assay_prove(store, &o, &report, &error), ASSAY_CODE_OK, "%s", error.text);
    assay_store_close(store);
    return report;
}

/* The first column of every row, joined by spaces; the caller frees. */
static char *query(const char *db, const char *sql) {
    assay_error error = {0};
    assay_store *store = NULL;
    char *text = NULL;
    size_t bytes = 0;
    sqlite3_stmt *s = NULL;
    cr_assert_eq(assay_store_open(db, ASSAY_STORE_READ, &store, &error), ASSAY_CODE_OK, "%s", error.text);
    FILE *out = open_memstream(&text, &bytes);
    cr_assert_eq(sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &s, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(assay_store_handle(store)));
    while (sqlite3_step(s) == SQLITE_ROW) {
        (void)fprintf(out, "%s ", (const char *)sqlite3_column_text(s, 0));
    }
    (void)sqlite3_finalize(s);
    (void)fclose(out);
    assay_store_close(store);
    return text;
}

#define TILES "SELECT number || ':' || rows || ':' || hex(sums) FROM digest_tile ORDER BY run_id, number"

static void ignore_line(void *context, const char *line) {
    (void)context;
    (void)fprintf(stderr, "%s\n", line);
}

static void expect_verifies(const char *db) {
    assay_verify_report report;
    assay_error error = {0};
    cr_expect_eq(assay_verify_database(db, ignore_line, NULL, &report, &error), ASSAY_CODE_OK, "%s: %s", db,
                 error.text);
    cr_expect_gt(report.runs, 0);
}

Test(prove, root_of_the_last_shard) {
    uint8_t node[65] = {1};
    uint8_t root[32];
    char hex[65];
    fixture *f = open_sweep("libm", NULL, 1);
    for (uint64_t t = 0; t < 2; t++) {
        uint64_t sum[2];
        replay_tile(t == 0 ? 0x3f800000U : 0x80000000U, 1, &f->sweep.attrs, sum);
        leaf_of(ALL_TILES - 2 + t, 1, sum, node + 1 + 32 * t);
    }
    close_sweep(f);
    crypto_hash_sha256(root, node, sizeof node);
    (void)sodium_bin2hex(hex, sizeof hex, root, sizeof root);
    assay_prove_report r = prove((request){.db = "x.db", .candidate = "libm", .shard = 254, .shards = 255});
    cr_expect_str_eq(r.root, hex);
    cr_expect_eq(r.tiles, 2);
    cr_expect_eq(r.outputs, 2UL * CHANNELS);
    cr_expect_not(r.complete);
    expect_verifies("x.db");
}

/* Runs `r` in a process of its own, which ends before segment r.stop_before. */
static void prove_stopped(request r) {
    int status = 0;
    r.stops = true;
    pid_t child = fork();
    if (child == 0) {
        (void)prove(r);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 77, "the run was to stop before segment %ld",
              (long)r.stop_before);
}

/* The plans of all shards, read from runs that ended before their first segment, cover every tile once. */
Test(prove, shards_partition_the_tiles) {
    static const unsigned counts[] = {1, 2, 3, 7};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        char db[32];
        unsigned long next = 0;
        (void)snprintf(db, sizeof db, "%u.db", counts[c]);
        for (unsigned i = 0; i < counts[c]; i++) {
            prove_stopped((request){.db = db, .candidate = "libm", .shard = i, .shards = counts[c]});
        }
        char *plan =
            query(db, "SELECT case_json ->> 'first_tile' || '+' || (case_json ->> 'tiles') FROM checks"
                      " ORDER BY run_id, seq");
        for (char *save = NULL, *p = strtok_r(plan, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
            char *plus = NULL;
            unsigned long first = strtoul(p, &plus, 10);
            cr_assert_eq(*plus, '+', "'%s'", p);
            unsigned long tiles = strtoul(plus + 1, NULL, 10);
            cr_assert_eq(first, next, "%u shards: tile %lu follows %lu", counts[c], first, next);
            cr_assert(tiles == ASSAY_SEGMENT_TILES || first + tiles == ALL_TILES);
            next = first + tiles;
        }
        cr_expect_eq(next, ALL_TILES, "%u shards", counts[c]);
        free(plan);
    }
}

Test(prove, shards_share_the_tiles_of_the_whole) {
    assay_prove_report whole = prove((request){.db = "whole.db", .candidate = "libm", .segments = 2});
    (void)prove((request){.db = "shards.db", .candidate = "libm", .shard = 0, .shards = 255});
    (void)prove((request){.db = "shards.db", .candidate = "libm", .shard = 1, .shards = 255});
    char *want = query("whole.db", TILES);
    char *got = query("shards.db", TILES);
    cr_expect_str_eq(got, want);
    cr_expect_eq(whole.tiles, 2UL * ASSAY_SEGMENT_TILES);
    expect_verifies("whole.db");
    expect_verifies("shards.db");
    free(want);
    free(got);
}

Test(prove, resumed_run_is_the_undisturbed_one) {
    const request r = {.db = "broken.db", .candidate = "libm", .shard = 100, .shards = 127, .segments = 2};
    request stopped = r;
    stopped.stop_before = 1;
    prove_stopped(stopped);
    char *before = query("broken.db", "SELECT number FROM digest_tile ORDER BY number");
    cr_expect_str_neq(before, "", "the first segment was recorded");
    request rest = r;
    rest.resume = "latest";
    assay_prove_report resumed = prove(rest);
    request fresh = r;
    fresh.db = "fresh.db";
    assay_prove_report undisturbed = prove(fresh);
    cr_expect_str_eq(resumed.root, undisturbed.root);
    cr_expect_eq(resumed.outputs, undisturbed.outputs);
    char *got = query("broken.db", TILES);
    char *want = query("fresh.db", TILES);
    cr_expect_str_eq(got, want);
    cr_expect_gt(strlen(want), strlen(before));
    expect_verifies("broken.db");
    free(before);
    free(got);
    free(want);
}
