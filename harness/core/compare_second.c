/* compare_second.c - a second, independent judge: plain scalar C that follows the definitions with the C
 * library's float classification, neighbours and conversions. It must not call or include anything of the
 * first judge but its structures; a fault would have to be made twice to go unnoticed. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float value_of(uint32_t word) {
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Place of a finite float on the number line: 0 for both zeros, neighbours one apart. Found from the value
 * (exponent and significand by frexp), not from the encoding. */
static int64_t place_of(float x) {
    int exponent;
    const double significand =
        frexp(fabs((double)x), &exponent); /* |x| = significand * 2^exponent, in [1/2, 1) */
    int64_t place;
    if (x == 0.0f) {
        return 0;
    }
    if (exponent < -125) { /* subnormal: multiples of 2^-149 */
        place = (int64_t)ldexp(significand, exponent + 149);
    } else { /* 2^23 floats per binade; binade 0 is [2^-126, 2^-125) */
        place = ((int64_t)(exponent + 125) << 23) + (int64_t)ldexp(significand, 24);
    }
    return signbit(x) ? -place : place;
}

/* Biased exponent of a float: 0 for zeros and subnormals, 255 for infinity. */
static unsigned exponent_of(float x) {
    int exponent;
    if (!isfinite(x)) {
        return 255;
    }
    (void)frexpf(x, &exponent);
    return x == 0.0f || exponent < -125 ? 0 : (unsigned)(exponent + 126);
}

static void count_distance(assay_ulp_histogram *histogram, unsigned row, int64_t distance) {
    if (distance > ASSAY_ULP_HALF) {
        distance = ASSAY_ULP_HALF;
    } else if (distance < -ASSAY_ULP_HALF) {
        distance = -ASSAY_ULP_HALF;
    }
    histogram->count[row][ASSAY_ULP_HALF + distance] += 1;
}

static void parity_one(assay_parity *p, uint32_t got, uint32_t want, uint64_t index) {
    const float g = value_of(got), w = value_of(want);
    int64_t distance = 0;
    p->elements += 1;
    if (got != want) {
        if (p->differing == 0 || index < p->first_index) {
            p->first_index = index;
            p->first_got = got;
            p->first_want = want;
        }
        p->differing += 1;
        if (isnan(g) && isnan(w)) {
            p->nan_payload += 1;
        } else if (isnan(g) || isnan(w)) {
            p->nan_number += 1;
        } else if (isinf(g) || isinf(w)) {
            p->infinite += 1;
        } else if (g == w) {
            p->zero_sign += 1;
        } else {
            distance = place_of(g) - place_of(w);
            const uint64_t size = (uint64_t)llabs(distance);
            if (p->numeric == 0 || size > p->max_ulp || (size == p->max_ulp && index < p->worst_index)) {
                p->max_ulp = size;
                p->worst_index = index;
                p->worst_got = got;
                p->worst_want = want;
            }
            p->numeric += 1;
        }
    }
    if (p->histogram != NULL) {
        if (isfinite(g) && isfinite(w)) {
            count_distance(p->histogram, exponent_of(w), distance);
        } else {
            count_distance(p->histogram, 255, got == want ? 0 : ASSAY_ULP_HALF);
        }
    }
}

void assay_scalar_parity_f32(assay_parity *parity, const uint32_t *got, const uint32_t *want, size_t n,
                             uint64_t base) {
    for (size_t i = 0; i < n; i++) {
        parity_one(parity, got[i], want[i], base + i);
    }
}

/* The float nearest to golden; a near tie (within 2^-20 of the gap from the middle of two neighbours) is
 * settled. */
static float rounded_golden(assay_accuracy *a, double golden, uint64_t index) {
    const float nearest = (float)golden;
    const double magnitude = fabs(golden);
    float below = fabsf(nearest);
    if (!isfinite(golden) || magnitude >= 0x1p128) {
        return nearest;
    }
    if ((double)below > magnitude) {
        below = nextafterf(below, 0.0f);
    }
    const double above = below == 0x1.fffffep127f ? 0x1p128 : (double)nextafterf(below, INFINITY);
    const double gap = above - (double)below;
    const double middle = (double)below + gap / 2;
    if (fabs(magnitude - middle) <= ldexp(gap, -20)) {
        a->near_ties += 1;
        if (a->settle != NULL) {
            return value_of(a->settle(a->settle_context, index, golden));
        }
    }
    return nearest;
}

/* 2^(e-23) with e the exponent of x, at least -126; beyond the largest float the gap of the last binade. */
static double gap_of(float x) {
    int exponent;
    if (isinf(x)) {
        return 0x1p104;
    }
    (void)frexp((double)x, &exponent);
    return ldexp(1.0, x == 0.0f || exponent - 1 < -126 ? -149 : exponent - 1 - 23);
}

static void remember_worst(assay_accuracy *a, const assay_worst *entry) {
    if (a->worst_count == ASSAY_WORST) {
        const assay_worst *const last = &a->worst[ASSAY_WORST - 1];
        if (entry->ulp < last->ulp || (entry->ulp == last->ulp && entry->index > last->index)) {
            return;
        }
    } else {
        a->worst_count += 1;
    }
    a->worst[a->worst_count - 1] = *entry;
    for (size_t i = a->worst_count - 1; i > 0; i--) {
        const assay_worst here = a->worst[i], before = a->worst[i - 1];
        if (here.ulp > before.ulp || (here.ulp == before.ulp && here.index < before.index)) {
            a->worst[i] = before;
            a->worst[i - 1] = here;
        }
    }
}

static void judge_outside(assay_accuracy *a, uint32_t got, double golden, uint64_t index) {
    if (a->outside == 0 || index < a->first_outside) {
        a->first_outside = index;
        a->first_outside_got = got;
        a->first_outside_golden = golden;
    }
    a->outside += 1;
}

/* Both values finite. */
static void accuracy_finite(assay_accuracy *a, uint32_t got, double golden, float nearest, uint64_t index) {
    const double x = (double)value_of(got);
    const double error = fabs(x - golden);
    const double ulp = error / gap_of(nearest);
    const int64_t edge = INT64_C(255) << 23; /* where infinity would stand */
    const int64_t target = isinf(nearest) ? (signbit(nearest) ? -edge : edge) : place_of(nearest);
    if (!(error <= a->tolerance.atol + a->tolerance.rtol * fabs(golden))) {
        judge_outside(a, got, golden, index);
    }
    if (a->histogram != NULL) {
        count_distance(a->histogram, exponent_of(nearest), place_of(value_of(got)) - target);
    }
    if (ulp > 0) {
        remember_worst(a, &(assay_worst){.index = index, .got = got, .golden = golden, .ulp = ulp});
    }
    a->max_abs = fmax(a->max_abs, error);
    a->max_golden = fmax(a->max_golden, fabs(golden));
    a->max_ulp = fmax(a->max_ulp, ulp);
    a->sum_ulp += ulp;
    a->sum_sq_err += error * error;
    a->sum_sq_golden += golden * golden;
    a->sum_x += x;
    a->sum_y += golden;
    a->sum_xx += x * x;
    a->sum_yy += golden * golden;
    a->sum_xy += x * golden;
}

static void accuracy_one(assay_accuracy *a, uint32_t got, double golden, uint64_t index) {
    const float x = value_of(got);
    const float nearest = rounded_golden(a, golden, index);
    uint32_t right;
    memcpy(&right, &nearest, sizeof right);
    const bool same = !isnan(golden) && right == got;
    a->elements += 1;
    a->correctly_rounded += same;
    if (isfinite(x) && isfinite(golden)) {
        accuracy_finite(a, got, golden, nearest, index);
        return;
    }
    if (a->histogram != NULL) {
        count_distance(a->histogram, 255, same ? 0 : ASSAY_ULP_HALF);
    }
    if (!(isinf(x) && isinf(golden) && (x > 0) == (golden > 0))) {
        a->not_comparable += 1;
        a->max_ulp = (double)INFINITY;
        judge_outside(a, got, golden, index);
        remember_worst(a,
                       &(assay_worst){.index = index, .got = got, .golden = golden, .ulp = (double)INFINITY});
    }
}

void assay_scalar_accuracy(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                           uint64_t base) {
    for (size_t i = 0; i < n; i++) {
        accuracy_one(accuracy, got[i], golden[i], base + i);
    }
}
