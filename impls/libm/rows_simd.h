/* rows_simd.h - the vector form of glibc_sincosf.h's formula; included once per path.
 *
 * test_paths.c compares with the system's functions on every float of [0, 1]; engine.c does so at start-up on
 * the arguments where a different order of operations would show first. Outside of [0, 1] the system is
 * called.
 */
#ifndef ASSAY_LIBM_ROWS_SIMD_H
#define ASSAY_LIBM_ROWS_SIMD_H

#include "glibc_sincosf.h"
#include "rows.h"
#include "simd_rows.h"

static inline vd sine_of(vd r, vd z) {
    const vd low = vd_fma(vd_set(GLIBC_S3), z, vd_set(GLIBC_S2));
    const vd cube = vd_mul(z, r);
    return vd_fma(low, vd_mul(z, cube), vd_fma(cube, vd_set(GLIBC_S1), r));
}

static inline vd cosine_of(vd z) {
    const vd low = vd_fma(vd_set(GLIBC_C4), z, vd_set(GLIBC_C3));
    const vd high = vd_fma(vd_set(GLIBC_C1), z, vd_set(1.0));
    const vd square = vd_mul(z, z);
    return vd_fma(low, vd_mul(z, square), vd_fma(square, vd_set(GLIBC_C2), high));
}

/* Quadrant 0 in every lane. */
static inline void quadrant_0(vd x, vd *sine, vd *cosine) {
    const vd z = vd_mul(x, x);
    *sine = sine_of(x, z);
    *cosine = cosine_of(z);
}

/* Quadrant 0 or 1 per lane. */
static inline void quadrant_0_1(vd x, vd *sine, vd *cosine) {
    const vd border = vd_set(GLIBC_QUADRANT_1);
    vd s, c;
    quadrant_0(vd_select_ge(x, border, vd_sub(vd_set(GLIBC_PI_2), x), x), &s, &c);
    *sine = vd_select_ge(x, border, c, s);
    *cosine = vd_select_ge(x, border, s, c);
}

static inline void vector(vf a, size_t n, float *cosine, float *sine) {
    vd s0, c0, s1, c1;
    if (vf_all_within(a, 0.0f, 0.785f)) {
        quadrant_0(vd_low(a), &s0, &c0);
        quadrant_0(vd_high(a), &s1, &c1);
    } else if (vf_all_within(a, 0.0f, 1.0f)) {
        quadrant_0_1(vd_low(a), &s0, &c0);
        quadrant_0_1(vd_high(a), &s1, &c1);
    } else {
        float lanes[LANES];
        vf_store(lanes, a);
        for (size_t i = 0; i < n; i++) {
            cosine[i] = cosf(lanes[i]);
            sine[i] = sinf(lanes[i]);
        }
        return;
    }
    /* -0.0 is within: its sine is -0.0, which the polynomial loses. */
    const vf s = vf_or_sign(vf_join(s0, s1), a);
    const vf c = vf_join(c0, c1);
    simd_store_pair(c, s, n, cosine, sine);
}

void SIMD_PATH_NAME(libm_rows)(const float *t, size_t rows, const float *f, size_t half, float *out,
                               ptrdiff_t stride) {
    simd_rows(vector, t, rows, f, half, out, stride);
}

#endif
