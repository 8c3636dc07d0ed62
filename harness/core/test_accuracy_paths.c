/* test_accuracy_paths.c - random data of all classes: all paths, the second judge, partitions. */
#include "test_accuracy_common.h"
#include "test_random.h"

#include <xmmintrin.h>

enum { MANY = 70000 };
static uint32_t many_got[MANY];
static double many_golden[MANY];

static double random_golden(void) {
    const uint64_t r = (uint64_t)draw() ^ (uint64_t)draw() << 21 ^ (uint64_t)draw() << 42;
    const double unit = (double)(r >> 11) * 0x1p-53;
    switch (draw() % 16) {
    case 0:
        return draw() % 2 ? 0.0 : -0.0;
    case 1:
        return (unit - 0.5) * 0x1p-126;
    case 2:
        return (unit - 0.5) * 0x1p-146;
    case 3:
        return draw() % 64 ? unit : draw() % 2 ? (double)NAN : (double)-INFINITY;
    case 4:
        return (unit - 0.5) * 0x1p-500;
    case 5: /* exactly on or close to a tie */
        return ((double)(0x800000 + (r & 0x7fffff)) + 0.5 + (double)(draw() % 5 - 2) * 0x1p-21) * 0x1p-20;
    case 6: { /* a subnormal tie */
        return ((double)(draw() % 1000) + 0.5 + (double)(draw() % 5 - 2) * 0x1p-21) * 0x1p-149;
    }
    case 7:
        return (unit - 0.5) * 0x1.8p60;
    case 8:
        return assay_f64_from_bits(r) > 0 && draw() % 32 == 0 ? (unit + 1.0) * 0x1p127 : unit;
    default:
        return unit * 2.0 - 1.0;
    }
}

/* Seeds from 4 on yield values of one magnitude and small errors, so that no term dwarfs the others in the
 * sums. */
static void fill_many(unsigned seed) {
    draw_seed(seed);
    for (size_t i = 0; i < MANY; i++) {
        many_golden[i] = random_golden();
        if (seed >= 4) {
            many_golden[i] = ((double)draw() / DRAW_MAX + (double)draw() * 0x1p-62) * 2.0 - 1.0;
            many_got[i] = assay_f32_bits((float)many_golden[i]) + (uint32_t)(draw() % 4);
            continue;
        }
        uint32_t bits = assay_f32_bits((float)many_golden[i]);
        switch (draw() % 8) {
        case 0:
            bits += (uint32_t)(draw() % 80) - 40u;
            break;
        case 1:
            bits ^= draw() % 8 == 0 ? 0x80000000u : 0;
            break;
        case 2:
            bits = draw() % 64 == 0 ? 0x7f800000u | (uint32_t)draw() << 8 : bits;
            break;
        case 3:
            bits += 1;
            break;
        default:
            break;
        }
        many_got[i] = bits;
    }
}

static uint32_t settle_by_parity(void *context, uint64_t index, double golden) {
    (void)context;
    return assay_f32_bits((float)golden) + (uint32_t)(index & 1u);
}

Test(accuracy_paths, paths_and_second_judge) {
    assay_ulp_histogram *const h = calloc(LEVELS + 1, sizeof *h);
    for (unsigned seed = 1; seed <= 5; seed++) {
        const size_t n =
            seed == 5 ? MANY : 777 + 2001 * (seed - 1); /* odd, not a multiple of a block or a vector */
        assay_accuracy a[LEVELS + 1];
        memset(h, 0, (LEVELS + 1) * sizeof *h);
        fill_many(seed);
        for (size_t i = 0; i <= LEVELS; i++) {
            a[i] = (assay_accuracy){
                .tolerance = {1e-12, 1e-6}, .histogram = &h[i], .settle = seed % 2 ? settle_by_parity : NULL};
        }
        FOR_EACH_JUDGE(add) {
            add(&a[level_], many_got, many_golden, n, 11);
            expect_same_counts(&a[level_], &a[0], level_ == LEVELS ? "second judge" : levels[level_]);
            if (level_ == LEVELS) {
                expect_close_sums(&a[level_], &a[0], "second judge");
            } else {
                double x[8], y[8];
                list_sums(&a[0], x);
                list_sums(&a[level_], y);
                cr_assert_arr_eq(x, y, sizeof x, "sums are the same bits on every path");
            }
        }
        if (seed < 4) {
            cr_assert_gt(a[0].near_ties, 0);
            cr_assert_gt(a[0].not_comparable, 0);
        }
        cr_assert_eq(a[0].worst_count, ASSAY_WORST);
    }
    free(h);
}

/* Short calls show a single rounding that long sums would swallow, a contraction to fma say. */
Test(accuracy_paths, sums_of_short_calls) {
    fill_many(4);
    for (size_t first = 0; first < 60000; first += 29) {
        const size_t n = 8 + first % 33;
        assay_accuracy scalar = {.tolerance = {1, 1}};
        double want[8], sums[8];
        (void)assay_simd_force("scalar");
        assay_accuracy_add(&scalar, many_got + first, many_golden + first, n, 0);
        list_sums(&scalar, want);
        for (size_t level = 1; level < LEVELS; level++) {
            assay_accuracy a = {.tolerance = {1, 1}};
            if (assay_simd_force(levels[level])) {
                assay_accuracy_add(&a, many_got + first, many_golden + first, n, 0);
                list_sums(&a, sums);
                cr_assert_arr_eq(sums, want, sizeof sums, "%s at %zu", levels[level], first);
            }
        }
    }
    (void)assay_simd_force(NULL);
}

/* Parts judged from the end and merged, or accumulated downwards, equal one pass in all but the last bits of
 * the sums. */
Test(accuracy_paths, partitions) {
    assay_ulp_histogram *const h = calloc(4, sizeof *h);
    fill_many(2);
    for (size_t i = 0; i < MANY; i++) { /* coarse errors, so that many elements tie for the worst places */
        if (draw() % 3 == 0) {
            many_golden[i] = (double)(draw() % 8);
            many_got[i] = assay_f32_bits((float)many_golden[i]) + (uint32_t)(draw() % 4);
        }
    }
    for (int finite = 0; finite <= 1; finite++) {
        for (size_t i = 0; i < MANY && finite; i++) {
            if (!isfinite(many_golden[i]) || !isfinite(assay_f32_from_bits(many_got[i]))) {
                many_golden[i] = 1.0;
                many_got[i] = 0x3f800000u;
            }
        }
        assay_accuracy whole = {.tolerance = {0, 1e-7}, .histogram = &h[0]}, merged = whole,
                       downwards = whole;
        memset(h, 0, 4 * sizeof *h);
        merged.histogram = &h[1];
        downwards.histogram = &h[2];
        (void)assay_simd_force(NULL);
        assay_accuracy_add(&whole, many_got, many_golden, MANY, 11);
        for (size_t end = MANY; end > 0;) {
            const size_t take = 1 + (size_t)draw() % (end < 4000 ? end : 4000);
            assay_accuracy part = {.tolerance = {0, 1e-7}, .histogram = &h[3]};
            memset(&h[3], 0, sizeof *h);
            end -= take;
            (void)assay_simd_force(levels[draw() % LEVELS]);
            assay_accuracy_add(&part, many_got + end, many_golden + end, take, 11 + end);
            assay_accuracy_merge(&merged, &part);
            assay_accuracy_add(&downwards, many_got + end, many_golden + end, take, 11 + end);
        }
        expect_same_counts(&merged, &whole, "merged");
        expect_same_counts(&downwards, &whole, "downwards");
        expect_close_sums(&merged, &whole, "merged");
        expect_close_sums(&downwards, &whole, "downwards");
    }
    (void)assay_simd_force(NULL);
    free(h);
}

/* Flush-to-zero and another rounding mode, left on by some library, must not reach the judge. */
Test(accuracy_paths, floating_point_mode_does_not_matter) {
    assay_accuracy plain = {.tolerance = {0, 1e-7}}, odd = plain;
    fill_many(3);
    assay_accuracy_add(&plain, many_got, many_golden, 5000, 0);
    const unsigned saved = _mm_getcsr();
    const unsigned mode = saved | 0x8040u | 0x6000u; /* FTZ, DAZ, round toward zero */
    _mm_setcsr(mode);
    assay_accuracy_add(&odd, many_got, many_golden, 5000, 0);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    expect_same_counts(&odd, &plain, "mode");
    cr_assert_eq(odd.sum_ulp, plain.sum_ulp);
    cr_assert_eq(after & 0xffc0u, mode & 0xffc0u, "the caller's mode comes back");
}
