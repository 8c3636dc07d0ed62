/* test_sweep_support.h - what the tests of sweep and prove share: digests computed once more, from
 * harness/DIGEST.md and word by word, and an open sweep. */
#ifndef ASSAY_TEST_SWEEP_SUPPORT_H
#define ASSAY_TEST_SWEEP_SUPPORT_H

#include "test_suite_run.h"

#include "prove.h"
#include "sweep.h"

#define CHANNELS  256u
#define ALL_TILES 16258u /* 16256 full ones, 1.0 alone, -0.0 alone */

/* ---- DIGEST.md once more, word by word ---- */

static inline uint64_t splitmix64(uint64_t v) {
    v += 0x9E3779B97F4A7C15U;
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9U;
    v = (v ^ (v >> 27)) * 0x94D049BB133111EBU;
    return v ^ (v >> 31);
}

static inline void digest_row(const float *row, uint64_t number, uint64_t sum[2]) {
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

/* Sums of a tile of the libm lineage, from the replay. */
static inline void replay_tile(uint32_t first_bits, uint64_t rows, const assay_attrs *attrs,
                               uint64_t sum[2]) {
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

static inline fixture *open_sweep(const char *candidate, const char *baseline, unsigned threads) {
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

static inline void close_sweep(fixture *f) {
    assay_runner_close(&f->runner);
    free(f);
}

#endif
