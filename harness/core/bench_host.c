/* bench_host.c - how fast the judge compares and digests on this machine, next to memcpy measured in the same
 * run.
 *
 * Every repeat times every row once, in alternating order; the table shows medians, and ratios are medians of
 * the ratios within a repeat. Two bars are checked with --check: parity and digest of a host buffer at 0.5 or
 * more of memcpy. */
#include "clock.h"
#include "compare.h"
#include "digest.h"
#include "dtype.h"
#include "philox.h"
#include "stats.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_WORDS   256u
#define CACHED_WORD ((size_t)1 << 20) /* 4 MiB */
#define MAX_REPEATS 101

typedef struct bench {
    uint32_t *a, *b; /* equal content */
    double *golden;  /* CACHED_WORD goldens, close to the floats of a */
    size_t words;
    assay_ulp_histogram *histogram;
    uint64_t sink; /* keeps results alive */
} bench;

static void run_memcpy(bench *x) {
    memcpy(x->b, x->a, x->words * sizeof *x->a);
    x->sink += x->b[x->words / 2];
}

static void run_parity(bench *x) {
    assay_parity p = {0};
    assay_parity_add_f32(&p, x->a, x->b, x->words, 0);
    x->sink += p.differing;
}

static void run_parity_histogram(bench *x) {
    assay_parity p = {.histogram = x->histogram};
    assay_parity_add_f32(&p, x->a, x->b, x->words, 0);
    x->sink += p.differing;
}

/* The whole buffer, tile after tile. */
static void digest_words(bench *x, size_t words) {
    assay_tile tile = {{0, 0}};
    for (size_t row = 0; row < words / ROW_WORDS; row += ASSAY_TILE_ROWS) {
        const size_t left = words / ROW_WORDS - row;
        assay_tile_add(&tile, x->a + row * ROW_WORDS, ROW_WORDS, 0,
                       left < ASSAY_TILE_ROWS ? left : ASSAY_TILE_ROWS);
    }
    x->sink += tile.sum[0] ^ tile.sum[1];
}

static void run_digest(bench *x) {
    digest_words(x, x->words);
}

static void run_digest_cached(bench *x) {
    for (size_t done = 0; done < x->words; done += CACHED_WORD) {
        digest_words(x, CACHED_WORD);
    }
}

static void accuracy(bench *x, assay_ulp_histogram *histogram) {
    for (size_t done = 0; done < x->words; done += CACHED_WORD) {
        assay_accuracy acc = {.tolerance = {1e-5, 1e-5}, .histogram = histogram};
        assay_accuracy_add(&acc, x->a, x->golden, CACHED_WORD, 0);
        x->sink += acc.outside;
    }
}

static void run_accuracy(bench *x) {
    accuracy(x, NULL);
}

static void run_accuracy_histogram(bench *x) {
    accuracy(x, x->histogram);
}

typedef struct row {
    const char *text;
    void (*run)(bench *x);
    double bar; /* least ratio to memcpy, 0 = none */
} row;

static const row rows[] = {
    {"memcpy", run_memcpy, 0},
    {"parity, equal data", run_parity, 0.5},
    {"parity with histogram", run_parity_histogram, 0},
    {"digest from memory", run_digest, 0.5},
    {"digest of a cached 4 MiB", run_digest_cached, 0},
    {"accuracy, cached", run_accuracy, 0},
    {"accuracy with histogram, cached", run_accuracy_histogram, 0},
};
#define ROWS (sizeof rows / sizeof rows[0])

/* Uniform floats in (-1, 1), goldens a few tenths of an ulp to a few ulp beside them. */
static bool bench_open(bench *x, size_t mebibytes) {
    const assay_philox_key key = assay_philox_key_of("bench_host", "input", "a", 1);
    x->words = mebibytes << 18;
    x->a = malloc(x->words * sizeof *x->a);
    x->b = malloc(x->words * sizeof *x->b);
    x->golden = malloc(CACHED_WORD * sizeof *x->golden);
    x->histogram = calloc(1, sizeof *x->histogram);
    if (x->a == NULL || x->b == NULL || x->golden == NULL || x->histogram == NULL) {
        return false;
    }
    assay_philox_words(key, 0, CACHED_WORD, x->a);
    for (size_t i = 0; i < CACHED_WORD; i++) {
        const double value = ((double)x->a[i] + 0.5) * 0x1p-31 - 1.0;
        const double shift = ((double)(x->a[i] * 2654435761u) * 0x1p-32 - 0.5) * 0x1p-22;
        x->a[i] = assay_f32_bits((float)value);
        x->golden[i] = value + value * shift;
    }
    for (size_t done = CACHED_WORD; done < x->words; done += CACHED_WORD) {
        memcpy(x->a + done, x->a, CACHED_WORD * sizeof *x->a);
    }
    memcpy(x->b, x->a, x->words * sizeof *x->a);
    return true;
}

static void bench_close(bench *x) {
    free(x->a);
    free(x->b);
    free(x->golden);
    free(x->histogram);
}

static double median(const double *values, size_t n) {
    double copy[MAX_REPEATS] = {0};
    memcpy(copy, values, n * sizeof *values);
    return assay_quantile(copy, n, 0.5);
}

static void measure(bench *x, size_t repeats, double ns[ROWS][MAX_REPEATS]) {
    for (size_t r = 0; r < ROWS; r++) {
        rows[r].run(x); /* warm-up */
    }
    for (size_t repeat = 0; repeat < repeats; repeat++) {
        for (size_t k = 0; k < ROWS; k++) {
            const size_t r = repeat % 2 == 0 ? k : ROWS - 1 - k;
            const uint64_t start = assay_clock_ns();
            rows[r].run(x);
            ns[r][repeat] = (double)(assay_clock_ns() - start);
        }
    }
}

/* Prints the table; returns how many bars were missed. */
static int report(const bench *x, size_t repeats, double ns[ROWS][MAX_REPEATS]) {
    int missed = 0;
    (void)printf("%zu MiB of FP32, rows of %u words, %zu interleaved repeats, judge on %s\n", x->words >> 18,
                 ROW_WORDS, repeats, assay_simd_name());
    (void)printf("%-34s %14s %12s %16s\n", "what", "G elements/s", "GB/s", "ratio to memcpy");
    for (size_t r = 0; r < ROWS; r++) {
        double ratio[MAX_REPEATS] = {0};
        for (size_t i = 0; i < repeats; i++) {
            ratio[i] = ns[0][i] / ns[r][i];
        }
        const double rate = (double)x->words / median(ns[r], repeats);
        const double middle = median(ratio, repeats);
        const bool low = rows[r].bar > 0 && middle < rows[r].bar;
        (void)printf("%-34s %14.3f %12.2f %16.2f%s\n", rows[r].text, rate, 4 * rate, middle,
                     low ? "  below the bar" : "");
        missed += low;
    }
    return missed;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"mib", required_argument, NULL, 'm'},
                                            {"repeats", required_argument, NULL, 'r'},
                                            {"simd", required_argument, NULL, 's'},
                                            {"check", no_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    static double ns[ROWS][MAX_REPEATS];
    size_t mebibytes = 256, repeats = 11;
    bool check = false, good = true;
    bench x = {0};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'm') {
            mebibytes = strtoul(optarg, NULL, 10) / 4 * 4;
        } else if (c == 'r') {
            repeats = strtoul(optarg, NULL, 10);
        } else if (c == 's') {
            good = good && assay_simd_force(optarg);
        } else {
            check = check || c == 'c';
            good = good && c == 'c';
        }
    }
    if (!good || mebibytes < 4 || mebibytes > 65536 || repeats < 9 || repeats > MAX_REPEATS) {
        (void)fprintf(
            stderr,
            "usage: bench_host [--mib N>=4] [--repeats 9..%d] [--simd scalar|avx2|avx512] [--check]\n",
            MAX_REPEATS);
        return 2;
    }
    if (!bench_open(&x, mebibytes)) {
        bench_close(&x);
        (void)fprintf(stderr, "bench_host: not enough memory for two buffers of %zu MiB\n", mebibytes);
        return 4;
    }
    measure(&x, repeats, ns);
    const int missed = report(&x, repeats, ns);
    bench_close(&x);
    return check && missed > 0 ? 1 : 0;
}
