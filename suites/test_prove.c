/* test_prove.c - the sweep over the domain: its geometry, its digests against a computation of the test's
 * own, its accuracy totals against the definitions, shards, resumption, and candidates that spoil it. */
#include "test_suite_run.h"

#include "prove.h"
#include "sweep.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHANNELS  256u
#define ALL_TILES 16258u /* 16256 full ones, 1.0 alone, -0.0 alone */

/* ---- DIGEST.md once more, word by word ---- */

static uint64_t splitmix64(uint64_t v) {
    v += 0x9E3779B97F4A7C15U;
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9U;
    v = (v ^ (v >> 27)) * 0x94D049BB133111EBU;
    return v ^ (v >> 31);
}

static void digest_row(const float *row, uint64_t number, uint64_t sum[2]) {
    static const uint64_t column[2] = {0x5def164c7f1d8062U, 0xf5d31dd8bf992427U};
    static const uint64_t row_key[2] = {0xd84be15d5af16a3fU, 0xc55095c2962afbc9U};
    for (uint64_t j = 0; j < CHANNELS / 2; j++) {
        uint64_t pair = assay_f32_bits(row[2 * j]) | (uint64_t)assay_f32_bits(row[2 * j + 1]) << 32;
        for (int s = 0; s < 2; s++) {
            uint64_t y = pair ^ splitmix64(column[s] + j) ^ splitmix64(row_key[s] + number);
            sum[s] += (y & 0xffffffffU) * (y >> 32) + y;
        }
    }
}

static void put_u64(uint8_t *bytes, uint64_t v) {
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(v >> (8 * i));
    }
}

static void leaf_of(uint64_t number, uint64_t rows, const uint64_t sum[2], uint8_t leaf[32]) {
    uint8_t bytes[41] = {0};
    const uint64_t fields[] = {number, rows, CHANNELS, sum[0], sum[1]};
    for (int i = 0; i < 5; i++) {
        put_u64(bytes + 1 + 8 * i, fields[i]);
    }
    crypto_hash_sha256(leaf, bytes, sizeof bytes);
}

/* Sums of a tile of the libm lineage, from the replay. */
static void replay_tile(uint32_t first_bits, uint64_t rows, const assay_attrs *attrs, uint64_t sum[2]) {
    enum { BLOCK = 512 };
    const assay_operator_def *op = assay_operator_find("timestep_sinusoid_h3");
    float x[BLOCK];
    float *out = malloc((size_t)BLOCK * CHANNELS * sizeof *out);
    sum[0] = sum[1] = 0;
    for (uint64_t row = 0; row < rows; row += BLOCK) {
        size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK;
        for (size_t i = 0; i < n; i++) {
            x[i] = assay_f32_from_bits(first_bits + (uint32_t)(row + i));
        }
        cr_assert(op->replay("libm", attrs, x, n, out));
        for (size_t i = 0; i < n; i++) {
            digest_row(out + i * CHANNELS, row + i, sum);
        }
    }
    free(out);
}

/* ---- a sweep without a database ---- */

typedef struct fixture {
    assay_runner runner;
    assay_domain domain;
    assay_sweep sweep;
    assay_segment segment;
    assay_ulp_histogram histogram[2];
} fixture;

static fixture *open_sweep(const char *candidate, const char *baseline, unsigned threads) {
    char paths[2][512];
    assay_error error = {0};
    fixture *f = calloc(1, sizeof *f);
    assay_certify_options options = {.kind = "prove",
                                     .op = "timestep_sinusoid_h3",
                                     .impl_path = adapter_path(candidate, paths[0]),
                                     .impl_name = candidate,
                                     .device = "cpu",
                                     .command = "test",
                                     .tier = ASSAY_TIER_FULL,
                                     .seed = 1,
                                     .threads = threads,
                                     .baseline_name = baseline};
    if (baseline != NULL) {
        options.baseline_path = adapter_path(baseline, paths[1]);
    }
    cr_assert_eq(assay_runner_open(&f->runner, &options, false, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_assert_eq(assay_domain_read(f->runner.contract, &f->domain, &error), ASSAY_CODE_OK, "%s", error.text);
    f->sweep = (assay_sweep){.runner = &f->runner,
                             .domain = &f->domain,
                             .channels = CHANNELS,
                             .parity = baseline != NULL,
                             .attrs = {.count = 3}};
    f->sweep.attrs.items[0] = (assay_attr){.name = "width", .type = ASSAY_ATTR_INT, .i = CHANNELS};
    f->sweep.attrs.items[1] = (assay_attr){.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = 10000.0};
    f->sweep.attrs.items[2] = (assay_attr){.name = "check_range", .type = ASSAY_ATTR_BOOL, .i = 1};
    f->sweep.tolerance =
        assay_contract_tolerance(f->runner.contract, "embedding", ASSAY_DTYPE_F32, "accuracy");
    cr_assert_not_null(f->sweep.tolerance);
    return f;
}

static const assay_segment *sweep_tiles(fixture *f, uint64_t first, uint64_t tiles) {
    assay_error error = {0};
    memset(&f->segment, 0, sizeof f->segment);
    memset(f->histogram, 0, sizeof f->histogram);
    f->segment.first_tile = first;
    f->segment.tiles = tiles;
    f->segment.parity.histogram = &f->histogram[0];
    f->segment.accuracy.histogram = &f->histogram[1];
    cr_assert(assay_sweep_segment(&f->sweep, &f->segment, &error), "%s", error.text);
    return &f->segment;
}

static void close_sweep(fixture *f) {
    assay_runner_close(&f->runner);
    free(f);
}

/* ---- geometry ---- */

Test(prove, tiles_partition_the_domain) {
    fixture *f = open_sweep("libm", NULL, 1);
    uint64_t rows = 0;
    uint32_t next = 0;
    cr_expect_eq(f->domain.rows, 1065353218U, "0x00000000..0x3f800000 and 0x80000000");
    cr_assert_eq(f->domain.tiles, ALL_TILES);
    for (uint64_t t = 0; t < ALL_TILES; t++) {
        assay_tile_place place = assay_domain_tile(&f->domain, t);
        uint64_t want = t < ALL_TILES - 2 ? ASSAY_TILE_ROWS : 1;
        next = t == ALL_TILES - 1 ? 0x80000000U : next;
        cr_assert_eq(place.first_bits, next, "tile %lu begins at %08x, want %08x", t, place.first_bits, next);
        cr_assert_eq(place.rows, want, "tile %lu has %lu rows", t, place.rows);
        next = place.first_bits + (uint32_t)place.rows;
        rows += place.rows;
    }
    cr_expect_eq(rows, f->domain.rows);
    f->segment = (assay_segment){.first_tile = ALL_TILES - 2, .tiles = 2};
    cr_expect_eq(assay_sweep_input_bits(&f->sweep, &f->segment, 5), 0x3f800000U, "channel 5 of 1.0");
    cr_expect_eq(assay_sweep_input_bits(&f->sweep, &f->segment, (uint64_t)ASSAY_TILE_ROWS * CHANNELS + 5),
                 0x80000000U, "channel 5 of -0.0");
    close_sweep(f);
}

/* ---- digests ---- */

Test(prove, digests_are_those_of_the_page) {
    static const uint64_t tiles[] = {0, 129, 9000, ALL_TILES - 3};
    fixture *f = open_sweep("libm", NULL, 2);
    uint64_t sum[2];
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        assay_tile_place place = assay_domain_tile(&f->domain, tiles[i]);
        const assay_segment *s = sweep_tiles(f, tiles[i], 1);
        cr_assert_str_empty(s->trouble, "%s", s->trouble);
        cr_expect_eq(s->outputs, (uint64_t)ASSAY_TILE_ROWS * CHANNELS);
        replay_tile(place.first_bits, place.rows, &f->sweep.attrs, sum);
        cr_expect_eq(s->digest[0].sum[0], sum[0], "tile %lu", tiles[i]);
        cr_expect_eq(s->digest[0].sum[1], sum[1], "tile %lu", tiles[i]);
    }
    const assay_segment *s = sweep_tiles(f, ALL_TILES - 2, 2);
    for (uint64_t t = 0; t < 2; t++) {
        replay_tile(t == 0 ? 0x3f800000U : 0x80000000U, 1, &f->sweep.attrs, sum);
        cr_expect_eq(s->digest[t].sum[0], sum[0], "last tile but %lu", 1 - t);
        cr_expect_eq(s->digest[t].sum[1], sum[1], "last tile but %lu", 1 - t);
    }
    close_sweep(f);
}

Test(prove, threads_do_not_show) {
    assay_segment one;
    fixture *f = open_sweep("reference_c", "libm", 1);
    f->sweep.accuracy = true;
    one = *sweep_tiles(f, 16200, 2);
    close_sweep(f);
    for (unsigned threads = 2; threads <= 3; threads++) {
        f = open_sweep("reference_c", "libm", threads);
        f->sweep.accuracy = true;
        const assay_segment *s = sweep_tiles(f, 16200, 2);
        cr_expect_arr_eq(s->digest, one.digest, 2 * sizeof one.digest[0]);
        cr_expect_eq(s->outputs, one.outputs);
        cr_expect_eq(s->parity.differing, one.parity.differing);
        cr_expect_eq(s->parity.first_index, one.parity.first_index);
        cr_expect_eq(s->parity.worst_index, one.parity.worst_index);
        cr_expect_eq(s->accuracy.correctly_rounded, one.accuracy.correctly_rounded);
        cr_expect_eq(s->accuracy.max_ulp, one.accuracy.max_ulp);
        cr_expect_gt(s->parity.differing, 0, "two lineages differ somewhere");
        close_sweep(f);
    }
}

/* ---- accuracy ---- */

/* What the definitions say about one tile of the libm lineage. */
typedef struct direct_totals {
    uint64_t correct, outside, near_ties, by_distance[ASSAY_ULP_BINS];
    double max_abs, max_ulp, sum_ulp;
} direct_totals;

static void direct_element(direct_totals *d, const assay_attrs *attrs, float x, size_t channel, float got,
                           double golden, const assay_tolerance *tolerance) {
    const assay_operator_def *op = assay_operator_find("timestep_sinusoid_h3");
    float rounded = (float)golden;
    double spacing = ldexp(1.0, ilogb((double)rounded) - 23);
    double error = fabs((double)got - golden);
    double off = fabs(fabs(golden - (double)rounded) / spacing - 0.5);
    if (off <= 0x1p-20) {
        d->near_ties++;
        rounded = assay_f32_from_bits(op->exact(attrs, x, channel));
    }
    int64_t distance = (int64_t)assay_f32_bits(got) - (int64_t)assay_f32_bits(rounded); /* all positive */
    d->by_distance[distance + ASSAY_ULP_HALF]++;
    d->correct += distance == 0;
    d->outside += error > tolerance->atol + tolerance->rtol * fabs(golden);
    d->max_abs = fmax(d->max_abs, error);
    d->max_ulp = fmax(d->max_ulp, error / spacing);
    d->sum_ulp += error / spacing;
}

static void direct_tile(direct_totals *d, const fixture *f, uint32_t first_bits) {
    enum { BLOCK = 256 };
    const assay_operator_def *op = f->runner.context.op;
    float x[BLOCK];
    float *got = malloc((size_t)BLOCK * CHANNELS * sizeof *got);
    double *golden = malloc((size_t)BLOCK * CHANNELS * sizeof *golden);
    for (uint32_t row = 0; row < ASSAY_TILE_ROWS; row += BLOCK) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            x[i] = assay_f32_from_bits(first_bits + row + i);
        }
        cr_assert(op->replay("libm", &f->sweep.attrs, x, BLOCK, got));
        op->golden(&f->sweep.attrs, x, BLOCK, golden);
        for (size_t i = 0; i < (size_t)BLOCK * CHANNELS; i++) {
            direct_element(d, &f->sweep.attrs, x[i / CHANNELS], i % CHANNELS, got[i], golden[i],
                           f->sweep.tolerance);
        }
    }
    free(got);
    free(golden);
}

Test(prove, accuracy_totals_are_the_definitions) {
    fixture *f = open_sweep("libm", NULL, 2);
    direct_totals d = {0};
    f->sweep.accuracy = true;
    const assay_segment *s = sweep_tiles(f, 16000, 1);
    const assay_accuracy *a = &s->accuracy;
    direct_tile(&d, f, assay_domain_tile(&f->domain, 16000).first_bits);
    cr_assert_str_empty(s->trouble, "%s", s->trouble);
    cr_expect_not(s->judges_disagree);
    cr_expect_eq(a->elements, (uint64_t)ASSAY_TILE_ROWS * CHANNELS);
    cr_expect_eq(a->correctly_rounded, d.correct, "%lu, want %lu", a->correctly_rounded, d.correct);
    cr_expect_eq(a->outside, d.outside);
    cr_expect_eq(a->near_ties, d.near_ties, "%lu, want %lu", a->near_ties, d.near_ties);
    cr_expect_eq(a->max_abs, d.max_abs);
    cr_expect_eq(a->max_ulp, d.max_ulp);
    cr_expect_float_eq(a->sum_ulp, d.sum_ulp, 1e-9 * d.sum_ulp);
    cr_expect_gt(d.near_ties, 0);
    for (size_t bin = 0; bin < ASSAY_ULP_BINS; bin++) {
        uint64_t count = 0;
        for (size_t row = 0; row < ASSAY_ULP_EXPONENTS; row++) {
            count += f->histogram[1].count[row][bin];
        }
        cr_expect_eq(count, d.by_distance[bin], "distance %d", (int)bin - ASSAY_ULP_HALF);
    }
    close_sweep(f);
}

/* ---- candidates that spoil it ---- */

static const struct {
    const char *name, *reason;
    assay_outcome outcome;
} spoilers[] = {{"mutants/mem_last_row", "were not all written", ASSAY_OUTCOME_FAIL},
                {"mutants/rows_65536", "", ASSAY_OUTCOME_PASS}, /* calls are shorter than its limit */
                {"mutants/mem_input_cleaned", "the input was changed", ASSAY_OUTCOME_FAIL},
                {"mutants/mem_over_write", "wrote outside its output", ASSAY_OUTCOME_FAIL},
                {"mutants/rejects_one", "invalid_argument", ASSAY_OUTCOME_FAIL}};

Test(prove, spoilers_are_named) {
    for (size_t i = 0; i < sizeof spoilers / sizeof spoilers[0]; i++) {
        fixture *f = open_sweep(spoilers[i].name, NULL, 2);
        uint64_t tile = strstr(spoilers[i].name, "one") != NULL ? ALL_TILES - 2 : 12000;
        const assay_segment *s = sweep_tiles(f, tile, 1);
        cr_expect_eq((s->trouble[0] == '\0'), (spoilers[i].outcome == ASSAY_OUTCOME_PASS), "%s: '%s'",
                     spoilers[i].name, s->trouble);
        cr_expect_not_null(strstr(s->trouble, spoilers[i].reason), "%s: '%s'", spoilers[i].name, s->trouble);
        if (s->trouble[0] != '\0') {
            cr_expect_eq(s->trouble_outcome, spoilers[i].outcome, "%s: %s", spoilers[i].name, s->trouble);
        }
        close_sweep(f);
    }
}

/* Kills the worker of lane 0 while it works. */
static void *kill_worker(void *worker) {
    (void)usleep(20000);
    (void)kill(assay_worker_pid(worker), SIGKILL);
    return NULL;
}

Test(prove, candidate_dies_midway) {
    pthread_t killer;
    fixture *f = open_sweep("libm", NULL, 1);
    cr_assert_eq(pthread_create(&killer, NULL, kill_worker, f->runner.lanes[0].candidate), 0);
    const assay_segment *s = sweep_tiles(f, 4096, ASSAY_SEGMENT_TILES);
    (void)pthread_join(killer, NULL);
    cr_expect_eq(s->trouble_outcome, ASSAY_OUTCOME_ERROR);
    cr_expect_not_null(strstr(s->trouble, "SIGKILL"), "'%s'", s->trouble);
    cr_expect_lt(s->outputs, (uint64_t)ASSAY_SEGMENT_TILES * ASSAY_TILE_ROWS * CHANNELS);
    s = sweep_tiles(f, 4096, 1); /* a fresh worker serves the next segment */
    cr_expect_str_empty(s->trouble, "%s", s->trouble);
    cr_expect_eq(s->outputs, (uint64_t)ASSAY_TILE_ROWS * CHANNELS);
    close_sweep(f);
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

Test(prove, root_of_the_last_shard, .init = enter, .fini = leave) {
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
    cr_expect_eq(r.outputs, 2 * CHANNELS);
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
Test(prove, shards_partition_the_tiles, .init = enter, .fini = leave) {
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
            unsigned long first = 0;
            unsigned long tiles = 0;
            cr_assert_eq(sscanf(p, "%lu+%lu", &first, &tiles), 2, "'%s'", p);
            cr_assert_eq(first, next, "%u shards: tile %lu follows %lu", counts[c], first, next);
            cr_assert(tiles == ASSAY_SEGMENT_TILES || first + tiles == ALL_TILES);
            next = first + tiles;
        }
        cr_expect_eq(next, ALL_TILES, "%u shards", counts[c]);
        free(plan);
    }
}

Test(prove, shards_share_the_tiles_of_the_whole, .init = enter, .fini = leave) {
    assay_prove_report whole = prove((request){.db = "whole.db", .candidate = "libm", .segments = 2});
    (void)prove((request){.db = "shards.db", .candidate = "libm", .shard = 0, .shards = 255});
    (void)prove((request){.db = "shards.db", .candidate = "libm", .shard = 1, .shards = 255});
    char *want = query("whole.db", TILES);
    char *got = query("shards.db", TILES);
    cr_expect_str_eq(got, want);
    cr_expect_eq(whole.tiles, 2 * ASSAY_SEGMENT_TILES);
    expect_verifies("whole.db");
    expect_verifies("shards.db");
    free(want);
    free(got);
}

Test(prove, resumed_run_is_the_undisturbed_one, .init = enter, .fini = leave) {
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
