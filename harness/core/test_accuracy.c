/* test_accuracy.c - accuracy against FP64: classes, near ties, worst list, all paths, and the second judge.
 */
#include "compare.h"
#include "dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

static const char *const levels[] = {"scalar", "avx2", "avx512"};
#define LEVELS 3

typedef void add_fn(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                    uint64_t base);

/* Level 0..2: the fast judge on that path; 3: the second judge. NULL when the machine lacks the path. */
static add_fn *judge_at(size_t level) {
    if (level == LEVELS) {
        (void)assay_simd_force(NULL);
        return assay_scalar_accuracy;
    }
    return assay_simd_force(levels[level]) ? assay_accuracy_add : NULL;
}

#define FOR_EACH_JUDGE(add)                                                                                  \
    for (size_t level_ = 0; level_ <= LEVELS; level_++)                                                      \
        for (add_fn *add = judge_at(level_); add != NULL; add = NULL)

static bool same_bits(double a, double b) {
    return assay_f64_bits(a) == assay_f64_bits(b);
}

/* Everything that does not depend on the order of additions. */
static void expect_same_counts(const assay_accuracy *a, const assay_accuracy *b, const char *what) {
    cr_assert_eq(a->elements, b->elements, "%s", what);
    cr_assert_eq(a->outside, b->outside, "%s: %lu %lu", what, a->outside, b->outside);
    cr_assert_eq(a->not_comparable, b->not_comparable, "%s", what);
    cr_assert_eq(a->correctly_rounded, b->correctly_rounded, "%s: %lu %lu", what, a->correctly_rounded,
                 b->correctly_rounded);
    cr_assert_eq(a->near_ties, b->near_ties, "%s: %lu %lu", what, a->near_ties, b->near_ties);
    cr_assert(same_bits(a->max_abs, b->max_abs), "%s", what);
    cr_assert(same_bits(a->max_golden, b->max_golden), "%s", what);
    cr_assert(same_bits(a->max_ulp, b->max_ulp), "%s", what);
    if (a->outside > 0) {
        cr_assert_eq(a->first_outside, b->first_outside, "%s", what);
        cr_assert_eq(a->first_outside_got, b->first_outside_got, "%s", what);
        cr_assert(same_bits(a->first_outside_golden, b->first_outside_golden), "%s", what);
    }
    cr_assert_eq(a->worst_count, b->worst_count, "%s", what);
    for (size_t i = 0; i < a->worst_count; i++) {
        cr_assert_eq(a->worst[i].index, b->worst[i].index, "%s: worst %zu", what, i);
        cr_assert_eq(a->worst[i].got, b->worst[i].got, "%s", what);
        cr_assert(same_bits(a->worst[i].golden, b->worst[i].golden), "%s", what);
        cr_assert(same_bits(a->worst[i].ulp, b->worst[i].ulp), "%s", what);
    }
    if (a->histogram != NULL && b->histogram != NULL) {
        cr_assert_eq(memcmp(a->histogram, b->histogram, sizeof *a->histogram), 0, "%s", what);
    }
}

static void list_sums(const assay_accuracy *a, double sums[8]) {
    const double all[8] = {a->sum_ulp, a->sum_sq_err, a->sum_sq_golden, a->sum_x,
                           a->sum_y,   a->sum_xx,     a->sum_yy,        a->sum_xy};
    memcpy(sums, all, sizeof all);
}

/* |S - S'| <= 2 (n-1) u sum|term| for two summation orders of n terms (Higham, Accuracy and Stability,
 * section 4.2). Terms of one sign make sum|term| the sum itself; x, y and xy may cancel and are bounded
 * through the squares: sum|x| <= sqrt(n sum x^2), sum|xy| <= sqrt(sum x^2 sum y^2). */
static void expect_close_sums(const assay_accuracy *a, const assay_accuracy *b, const char *what) {
    double x[8], y[8];
    list_sums(a, x);
    list_sums(b, y);
    const double n = (double)a->elements, factor = 2.0 * n * 0x1p-53;
    const double size[8] = {x[0], x[1], x[2], sqrt(n * x[5]), sqrt(n * x[6]), x[5], x[6], sqrt(x[5] * x[6])};
    for (size_t i = 0; i < 8; i++) {
        cr_assert(fabs(x[i] - y[i]) <= factor * size[i], "%s: sum %zu is %a and %a", what, i, x[i], y[i]);
    }
}

Test(accuracy, report_b95) {
    uint32_t got[1000];
    double golden[1000];
    FOR_EACH_JUDGE(add) {
        for (size_t at = 0; at < 1000; at += 37) {
            for (int fault = 0; fault < 6; fault++) {
                assay_accuracy a = {.tolerance = {1e-3, 1e-3}};
                for (size_t i = 0; i < 1000; i++) {
                    golden[i] = (double)i;
                    got[i] = assay_f32_bits((float)i);
                }
                if (fault == 1 || fault == 3) {
                    got[at] = 0x7fc00000u;
                }
                if (fault == 2 || fault == 3) {
                    golden[at] = (double)NAN;
                }
                if (fault == 4) {
                    got[at] = assay_f32_bits((float)at + 1.0f + 0.01f * (float)at);
                }
                if (fault == 5) {
                    golden[at] = (double)-INFINITY;
                }
                add(&a, got, golden, 1000, 0);
                cr_assert_eq(assay_accuracy_ok(&a), fault == 0, "fault %d", fault);
                cr_assert_eq(a.outside, fault != 0, "fault %d", fault);
                cr_assert_eq(a.not_comparable, fault == 1 || fault == 2 || fault == 3 || fault == 5);
                cr_assert_eq(isinf(a.max_ulp) != 0, a.not_comparable > 0, "a maximum must not hide a NaN");
                if (fault != 0) {
                    cr_assert_eq(a.first_outside, at);
                    cr_assert_eq(a.worst[0].index, at);
                }
            }
        }
        assay_accuracy none = {.tolerance = {1, 1}};
        add(&none, got, golden, 0, 0);
        cr_assert_not(assay_accuracy_ok(&none), "zero elements prove nothing");
    }
}

/* Equal infinities are right; an overflowing golden is not comparable with infinity but has a correct
 * rounding. */
Test(accuracy, infinities) {
    const uint32_t got[] = {0x7f800000u, 0xff800000u, 0x7f800000u, 0x7f7fffffu, 0x7f800000u};
    const double golden[] = {INFINITY, -INFINITY, -INFINITY, 0x1.ffffffp127, 1e39};
    FOR_EACH_JUDGE(add) {
        assay_accuracy a = {.tolerance = {INFINITY, 0}};
        add(&a, got, golden, 5, 0);
        cr_assert_eq(a.elements, 5);
        cr_assert_eq(a.not_comparable, 2);
        cr_assert_eq(a.outside, 2);
        cr_assert_eq(a.correctly_rounded, 3);
        cr_assert_eq(a.near_ties, 1, "2^128 - 2^103 is the tie between the largest float and infinity");
        cr_assert_eq(a.max_abs, 0x1p103);
    }
}

/* Correct rounding distinguishes the zeros, and halfway cases go to even. */
Test(accuracy, correctly_rounded) {
    static const struct {
        double golden;
        uint32_t right;
        int near;
    } rows[] = {
        {0.0, 0x00000000u, 0},
        {-0.0, 0x80000000u, 0},
        {0x1p-1074, 0x00000000u, 0},
        {-0x1p-1074, 0x80000000u, 0},
        {0x1p-150, 0x00000000u, 1},
        {0x1.0000000000001p-150, 0x00000001u, 1},
        {0x1.8p-149, 0x00000002u, 1},
        {0x1.fffffffffffffp-151, 0x00000000u, 1},
        {0x1.4p-149, 0x00000001u, 0},
        {0x1.000001p0, 0x3f800000u, 1},
        {0x1.000003p0, 0x3f800002u, 1},
        {0x1.0000010000001p0, 0x3f800001u, 1},
        {0x1.ffffffp0, 0x40000000u, 1},
        {0x1.fffffcp-127, 0x007fffffu, 0},
        {0x1.fffffep-127, 0x00800000u, 1},
        {0x1.ffffffp-127, 0x00800000u, 0},
        {-0x1.234568p-3, 0xbe11a2b4u, 0},
        {0x1p-126, 0x00800000u, 0},
    };
    FOR_EACH_JUDGE(add) {
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            for (int delta = -1; delta <= 1; delta++) {
                uint32_t got[9];
                double golden[9];
                assay_accuracy a = {.tolerance = {1, 1}};
                for (size_t i = 0; i < 9; i++) {
                    golden[i] = rows[k].golden;
                    got[i] = rows[k].right + (uint32_t)delta;
                }
                add(&a, got, golden, 9, 0);
                cr_assert_eq(a.correctly_rounded, delta == 0 ? 9 : 0, "row %zu level %zu: %lu", k, level_,
                             a.correctly_rounded);
                cr_assert_eq(a.near_ties, (uint64_t)(9 * rows[k].near), "row %zu level %zu", k, level_);
            }
        }
    }
}

/* The window is 2^-20 of the spacing, both ends included, in normal and subnormal range. */
Test(accuracy, near_tie_window) {
    static const struct {
        double spacing, base;
    } rows[] = {{0x1p-23, 1.0}, {0x1p-149, 0x1p-149}, {0x1p-149, 0x1.8p-130}, {0x1p-24, 0.75}};
    const uint32_t got = 0;
    FOR_EACH_JUDGE(add) {
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            for (int side = -1; side <= 1; side += 2) {
                const double tie = rows[k].base + rows[k].spacing / 2;
                const double edge = tie + (double)side * ldexp(rows[k].spacing, -20);
                const double out = nextafter(edge, (double)side * (double)INFINITY);
                double golden[8] = {tie, edge, out, -tie, -edge, -out, rows[k].base, tie};
                uint32_t gots[8] = {got, got, got, got, got, got, got, got};
                assay_accuracy a = {.tolerance = {1, 1}};
                add(&a, gots, golden, 8, 0);
                cr_assert_eq(a.near_ties, 5, "row %zu side %d level %zu: %lu", k, side, level_, a.near_ties);
            }
        }
    }
}

typedef struct settle_log {
    size_t calls;
    uint64_t last_index;
} settle_log;

static uint32_t settle_up(void *context, uint64_t index, double golden) {
    settle_log *const log = context;
    (void)golden;
    log->calls++;
    log->last_index = index;
    return 0x3f800001u;
}

/* The callback's answer is what counts as correctly rounded, and as centre of the histogram. */
Test(accuracy, settle_decides) {
    FOR_EACH_JUDGE(add) {
        static assay_ulp_histogram histogram;
        settle_log log = {0};
        uint32_t got[20];
        double golden[20];
        for (size_t i = 0; i < 20; i++) {
            golden[i] = 1.0;
            got[i] = 0x3f800000u;
        }
        golden[13] = 0x1.000001p0; /* FP64 rounds this tie to 3f800000 */
        memset(&histogram, 0, sizeof histogram);
        assay_accuracy a = {
            .tolerance = {1, 1}, .settle = settle_up, .settle_context = &log, .histogram = &histogram};
        add(&a, got, golden, 20, 500);
        cr_assert_eq(log.calls, 1);
        cr_assert_eq(log.last_index, 513);
        cr_assert_eq(a.near_ties, 1);
        cr_assert_eq(a.correctly_rounded, 19);
        cr_assert_eq(histogram.count[127][ASSAY_ULP_HALF], 19);
        cr_assert_eq(histogram.count[127][ASSAY_ULP_HALF - 1], 1);
        cr_assert_eq(a.max_ulp, 0.5);
    }
}

/* ---- random data of all classes ---- */

enum { MANY = 70000 };
static uint32_t many_got[MANY];
static double many_golden[MANY];

static double random_golden(void) {
    const uint64_t r = (uint64_t)rand() ^ (uint64_t)rand() << 21 ^ (uint64_t)rand() << 42;
    const double unit = (double)(r >> 11) * 0x1p-53;
    switch (rand() % 16) {
    case 0:
        return rand() % 2 ? 0.0 : -0.0;
    case 1:
        return (unit - 0.5) * 0x1p-126;
    case 2:
        return (unit - 0.5) * 0x1p-146;
    case 3:
        return rand() % 64 ? unit : rand() % 2 ? (double)NAN : (double)-INFINITY;
    case 4:
        return (unit - 0.5) * 0x1p-500;
    case 5: /* exactly on or close to a tie */
        return ((double)(0x800000 + (r & 0x7fffff)) + 0.5 + (double)(rand() % 5 - 2) * 0x1p-21) * 0x1p-20;
    case 6: { /* a subnormal tie */
        return ((double)(rand() % 1000) + 0.5 + (double)(rand() % 5 - 2) * 0x1p-21) * 0x1p-149;
    }
    case 7:
        return (unit - 0.5) * 0x1.8p60;
    case 8:
        return assay_f64_from_bits(r) > 0 && rand() % 32 == 0 ? (unit + 1.0) * 0x1p127 : unit;
    default:
        return unit * 2.0 - 1.0;
    }
}

/* Seeds from 4 on yield values of one magnitude and small errors, so that no term dwarfs the others in the
 * sums. */
static void fill_many(unsigned seed) {
    srand(seed);
    for (size_t i = 0; i < MANY; i++) {
        many_golden[i] = random_golden();
        if (seed >= 4) {
            many_golden[i] = ((double)rand() / RAND_MAX + (double)rand() * 0x1p-62) * 2.0 - 1.0;
            many_got[i] = assay_f32_bits((float)many_golden[i]) + (uint32_t)(rand() % 4);
            continue;
        }
        uint32_t bits = assay_f32_bits((float)many_golden[i]);
        switch (rand() % 8) {
        case 0:
            bits += (uint32_t)(rand() % 80) - 40u;
            break;
        case 1:
            bits ^= rand() % 8 == 0 ? 0x80000000u : 0;
            break;
        case 2:
            bits = rand() % 64 == 0 ? 0x7f800000u | (uint32_t)rand() << 8 : bits;
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

Test(accuracy, paths_and_second_judge) {
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

/* Parts judged from the end and merged, or accumulated downwards, equal one pass in all but the last bits of
 * the sums. */
Test(accuracy, partitions) {
    assay_ulp_histogram *const h = calloc(4, sizeof *h);
    fill_many(2);
    for (size_t i = 0; i < MANY; i++) { /* coarse errors, so that many elements tie for the worst places */
        if (rand() % 3 == 0) {
            many_golden[i] = (double)(rand() % 8);
            many_got[i] = assay_f32_bits((float)many_golden[i]) + (uint32_t)(rand() % 4);
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
            const size_t take = 1 + (size_t)rand() % (end < 4000 ? end : 4000);
            assay_accuracy part = {.tolerance = {0, 1e-7}, .histogram = &h[3]};
            memset(&h[3], 0, sizeof *h);
            end -= take;
            (void)assay_simd_force(levels[rand() % LEVELS]);
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
Test(accuracy, floating_point_mode_does_not_matter) {
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

/* A tolerance that is NaN accepts nothing, in whole vectors and in tails. */
Test(accuracy, tolerance_nan) {
    uint32_t got[27];
    double golden[27];
    for (size_t i = 0; i < 27; i++) {
        got[i] = assay_f32_bits((float)i);
        golden[i] = (double)i;
    }
    FOR_EACH_JUDGE(add) {
        assay_accuracy atol = {.tolerance = {(double)NAN, 0}}, rtol = {.tolerance = {0, (double)NAN}};
        add(&atol, got, golden, 27, 0);
        add(&rtol, got, golden, 27, 0);
        cr_assert_eq(atol.outside, 27);
        cr_assert_eq(rtol.outside, 27);
    }
}

/* All errors equal: the sixteen lowest indices are the worst, whatever the order of the parts. */
Test(accuracy, worst_of_equals) {
    enum { N = 4000 };
    static uint32_t got[N];
    static double golden[N];
    for (size_t i = 0; i < N; i++) {
        golden[i] = 1.0;
        got[i] = 0x3f800002u;
    }
    FOR_EACH_JUDGE(add) {
        assay_accuracy up = {.tolerance = {1, 1}}, down = up, merged = up;
        add(&up, got, golden, N, 0);
        for (size_t end = N; end > 0; end -= 500) {
            assay_accuracy part = {.tolerance = {1, 1}};
            add(&down, got, golden, 500, end - 500);
            add(&part, got, golden, 500, end - 500);
            assay_accuracy_merge(&merged, &part);
        }
        for (size_t i = 0; i < ASSAY_WORST; i++) {
            cr_assert_eq(up.worst[i].index, i);
            cr_assert_eq(down.worst[i].index, i, "level %zu: %lu", level_, down.worst[i].index);
            cr_assert_eq(merged.worst[i].index, i);
            cr_assert_eq(up.worst[i].ulp, 2.0);
        }
    }
}

Test(accuracy, summary_figures) {
    const uint32_t got[] = {0x3f800000u, 0x40000000u, 0x40400000u}; /* 1 2 3 */
    const double golden[] = {1.0, 2.0, 2.0};
    FOR_EACH_JUDGE(add) {
        assay_accuracy a = {.tolerance = {1, 0}};
        cr_assert(isnan(assay_accuracy_relrms(&a)));
        cr_assert(isnan(assay_accuracy_correlation(&a)));
        add(&a, got, golden, 3, 0);
        cr_assert(assay_accuracy_ok(&a), "an error equal to the tolerance is inside");
        cr_assert_float_eq(assay_accuracy_relrms(&a), 1.0 / 3, 1e-15);
        cr_assert_float_eq(assay_accuracy_correlation(&a), sqrt(3.0) / 2, 1e-15);
        cr_assert_eq(a.max_ulp, 0x1p22);
        a = (assay_accuracy){.tolerance = {0x1.fffffffffffffp-1, 0}};
        add(&a, got, golden, 3, 0);
        cr_assert_eq(a.outside, 1);
        a = (assay_accuracy){.tolerance = {1, 0}};
        add(&a, got, golden, 1, 0);
        cr_assert(isnan(assay_accuracy_correlation(&a)), "one point has no correlation");
        cr_assert_eq(a.worst_count, 0, "exact elements are not among the worst");
    }
}
