/* test_accuracy.c - accuracy against FP64: report B95, classes, near ties, the worst list, summary figures.
 */
#include "test_accuracy_common.h"

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
