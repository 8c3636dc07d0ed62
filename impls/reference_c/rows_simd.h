/* rows_simd.h - the vector form of the sinf and cosf of assay/cuda_math.h; included once per path. */
#ifndef ASSAY_REFERENCE_C_ROWS_SIMD_H
#define ASSAY_REFERENCE_C_ROWS_SIMD_H

#include "assay/cuda_math.h"
#include "rows.h"
#include "simd_rows.h"

/* Adding and subtracting 1.5 * 2^23 rounds to an integer, ties to even, for |x| < 2^22; the sum's low bits
 * are q. */
#define ROUND_MAGIC 0x1.8p23f

/* Below this |x| q is 0 and the reduction is the identity (0.785 < pi/4). */
#define NO_REDUCTION 0.785f

/* Both polynomials at r: quadrant 0. */
static inline void polynomials(vf r, vf *sine, vf *cosine) {
    const vf z = vf_mul(r, r);
    const vf s = vf_fma(vf_fma(vf_set(ASSAY_CUDA_S3), z, vf_set(ASSAY_CUDA_S2)), z, vf_set(ASSAY_CUDA_S1));
    *sine = vf_fma(s, vf_fma(z, r, vf_set(0.0f)), r);
    const vf c = vf_fma(vf_fma(vf_set(ASSAY_CUDA_C4), z, vf_set(ASSAY_CUDA_C3)), z, vf_set(ASSAY_CUDA_C2));
    *cosine = vf_fma(vf_fma(c, z, vf_set(ASSAY_CUDA_C1)), z, vf_set(1.0f));
}

/* fma(x, -1, +0) where m holds. */
static inline vf negate_where(vm m, vf x) {
    return vf_select(m, vf_sub(vf_set(0.0f), x), x);
}

/* Any quadrant, |a| < 105615. The low bits of `rounded` are the quadrant q. */
static inline void reduced(vf a, vf *sine, vf *cosine) {
    const vf magic = vf_set(ROUND_MAGIC);
    const vf rounded = vf_add(vf_mul(a, vf_set(ASSAY_CUDA_TWO_OVER_PI)), magic);
    const vf q = vf_sub(rounded, magic);
    vf r = vf_fma(q, vf_set(ASSAY_CUDA_PIO2_HIGH), a);
    r = vf_fma(q, vf_set(ASSAY_CUDA_PIO2_MIDDLE), r);
    r = vf_fma(q, vf_set(ASSAY_CUDA_PIO2_LOW), r);
    vf s, c;
    polynomials(r, &s, &c);
    const vm odd = vm_bit(rounded, 0);
    const vm two = vm_bit(rounded, 1);
    *sine = negate_where(two, vf_select(odd, c, s));
    *cosine = negate_where(vm_xor(two, odd), vf_select(odd, s, c));
}

/* At least one lane is large, infinite or NaN. */
static inline void lane_by_lane(vf a, size_t n, float *cosine, float *sine) {
    float lanes[LANES];
    vf_store(lanes, a);
    for (size_t i = 0; i < n; i++) {
        cosine[i] = assay_cuda_cosf(lanes[i]);
        sine[i] = assay_cuda_sinf(lanes[i]);
    }
}

static inline void vector(vf a, size_t n, float *cosine, float *sine) {
    vf s, c;
    if (vf_all_below(a, NO_REDUCTION)) {
        polynomials(a, &s, &c);
    } else if (vf_all_below(a, ASSAY_CUDA_FAR)) {
        reduced(a, &s, &c);
    } else {
        lane_by_lane(a, n, cosine, sine);
        return;
    }
    simd_store_pair(c, s, n, cosine, sine);
}

void SIMD_PATH_NAME(reference_rows)(const float *t, size_t rows, const float *f, size_t half, float *out,
                                    ptrdiff_t stride) {
    simd_rows(vector, t, rows, f, half, out, stride);
}

#endif
