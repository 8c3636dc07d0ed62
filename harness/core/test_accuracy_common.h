/* test_accuracy_common.h - what both accuracy tests need: every judge in turn, and comparison of what they
 * found. */
#ifndef ASSAY_TEST_ACCURACY_COMMON_H
#define ASSAY_TEST_ACCURACY_COMMON_H

#include "compare.h"
#include "dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {"scalar", "avx2", "avx512"};
#define LEVELS 3

typedef void (*judge_add)(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                          uint64_t base);

/* Level 0..2: the fast judge on that path; 3: the second judge. NULL when the machine lacks the path. */
static inline judge_add judge_at(size_t level) {
    if (level == LEVELS) {
        (void)assay_simd_force(NULL);
        return assay_scalar_accuracy;
    }
    return assay_simd_force(levels[level]) ? assay_accuracy_add : NULL;
}

#define FOR_EACH_JUDGE(add)                                                                                  \
    for (size_t level_ = 0; level_ <= LEVELS; level_++)                                                      \
        for (judge_add add = judge_at(level_); (add) != NULL; (add) = NULL)

static inline bool same_bits(double a, double b) {
    return assay_f64_bits(a) == assay_f64_bits(b);
}

/* Everything that does not depend on the order of additions. */
static inline void expect_same_counts(const assay_accuracy *a, const assay_accuracy *b, const char *what) {
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

static inline void list_sums(const assay_accuracy *a, double sums[8]) {
    const double all[8] = {a->sum_ulp, a->sum_sq_err, a->sum_sq_golden, a->sum_x,
                           a->sum_y,   a->sum_xx,     a->sum_yy,        a->sum_xy};
    memcpy(sums, all, sizeof all);
}

/* |S - S'| <= 2 (n-1) u sum|term| for two summation orders of n terms (Higham, Accuracy and Stability,
 * section 4.2). Terms of one sign make sum|term| the sum itself; x, y and xy may cancel and are bounded
 * through the squares: sum|x| <= sqrt(n sum x^2), sum|xy| <= sqrt(sum x^2 sum y^2). */
static inline void expect_close_sums(const assay_accuracy *a, const assay_accuracy *b, const char *what) {
    double x[8], y[8];
    list_sums(a, x);
    list_sums(b, y);
    const double n = (double)a->elements, factor = 2.0 * n * 0x1p-53;
    const double size[8] = {x[0], x[1], x[2], sqrt(n * x[5]), sqrt(n * x[6]), x[5], x[6], sqrt(x[5] * x[6])};
    for (size_t i = 0; i < 8; i++) {
        cr_assert(fabs(x[i] - y[i]) <= factor * size[i], "%s: sum %zu is %a and %a", what, i, x[i], y[i]);
    }
}

#endif
