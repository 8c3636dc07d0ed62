/* test_sweep.c - the engine of prove: geometry of the domain, digests, accuracy totals against the
 * definitions, threads, and candidates that spoil it. */
#include "test_sweep_support.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

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

/* ---- geometry ---- */

Test(sweep, tiles_partition_the_domain) {
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

Test(sweep, digests_are_those_of_the_page) {
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

Test(sweep, threads_do_not_show) {
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

Test(sweep, accuracy_totals_are_the_definitions) {
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

Test(sweep, spoilers_are_named) {
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

Test(sweep, candidate_dies_midway) {
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
