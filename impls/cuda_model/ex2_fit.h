/* ex2_fit.h - finds the coefficients of ex2's segments from its 2^23 answers on [0, 1). Host code of the
 * recorder. */
#ifndef ASSAY_EX2_FIT_H
#define ASSAY_EX2_FIT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Fixed point of the interpolator: answers have 2^15 parts, the constant is a multiple of 2^13 plus a bias.
 */
enum { EX2_FIT_POINTS = 1 << 17, EX2_FIT_BIAS = 6114 };

/* A constant C0 with which every answer is floor((C0*2^13 + bias + c1*u + c2*square(u)) / 2^15); false if
 * none. Every u leaves an interval for C0*2^13; the answer is the least multiple of 2^13 in their
 * intersection. `square` holds the truncated squares, `y` the low 23 bits of the segment's answers. */
static bool ex2_fit_constant(const uint32_t *y, const uint32_t *square, int64_t c1, int64_t c2, int64_t *c0) {
    int64_t low = INT64_MIN;
    int64_t high = INT64_MAX;
    for (int64_t u = 0; u < EX2_FIT_POINTS; u++) {
        const int64_t rest = EX2_FIT_BIAS + c1 * u + c2 * (int64_t)square[u];
        const int64_t least = ((int64_t)y[u] << 15) - rest;
        low = least > low ? least : low;
        high = least + 32767 < high ? least + 32767 : high;
        if (low > high) {
            return false;
        }
    }
    *c0 = (low + 8191) >> 13;
    return *c0 << 13 <= high;
}

/* The segment's coefficients: the first pair that fits, going away from the Taylor coefficients of 2^x, whose
 * units are 2^-8 of an answer's unit per u for c1 and 2^-15 per 2^19 for c2. False if none within reach fits.
 */
static bool ex2_fit_segment(const uint32_t *y, const uint32_t *square, int segment, int32_t c[3]) {
    const double start = exp2(segment / 64.0);
    const int64_t near1 = llrint(start * 0x1.62e42fefa39efp-1 * 0x1p15);
    const int64_t near2 = llrint(start * 0x1.ebfbdff82c58fp-3 * 0x1p11);
    for (int64_t away = 0; away <= 24; away++) {
        for (int64_t d1 = -away; d1 <= away; d1++) {
            for (int64_t d2 = -away; d2 <= away; d2++) {
                const bool ring = d1 == -away || d1 == away || d2 == -away || d2 == away;
                int64_t c0;
                if (ring && ex2_fit_constant(y, square, near1 + d1, near2 + d2, &c0)) {
                    c[0] = (int32_t)c0;
                    c[1] = (int32_t)(near1 + d1);
                    c[2] = (int32_t)(near2 + d2);
                    return true;
                }
            }
        }
    }
    return false;
}

#endif
