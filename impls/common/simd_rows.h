/* simd_rows.h - the loop over rows and channels around a vector kernel; included once per path. */
#ifndef ASSAY_IMPL_SIMD_ROWS_H
#define ASSAY_IMPL_SIMD_ROWS_H

#include "simd.h"

/* Computes cos and sin of the first n lanes of a; n == LANES for a whole vector. */
typedef void (*simd_vector)(vf a, size_t n, float *cosine, float *sine);

/* Stores the first n lanes of both halves. */
static inline void simd_store_pair(vf c, vf s, size_t n, float *cosine, float *sine) {
    if (n == LANES) {
        vf_store(cosine, c);
        vf_store(sine, s);
    } else {
        vf_store_n(cosine, n, c);
        vf_store_n(sine, n, s);
    }
}

/* sinusoid_rows with `vector` inlined. Masked loads and stores keep the tail inside of the buffers. */
__attribute__((always_inline)) static inline void simd_rows(simd_vector vector, const float *t, size_t rows,
                                                            const float *f, size_t half, float *out,
                                                            ptrdiff_t stride) {
    const size_t whole = half - half % LANES;
    const size_t rest = half - whole;
    for (size_t row = 0; row < rows; row++) {
        const vf value = vf_set(t[row]);
        float *cosine = out + (ptrdiff_t)row * stride;
        float *sine = cosine + half;
        for (size_t k = 0; k < whole; k += LANES) {
            vector(vf_mul(value, vf_load(f + k)), LANES, cosine + k, sine + k);
        }
        if (rest > 0) {
            vector(vf_mul(value, vf_load_n(f + whole, rest)), rest, cosine + whole, sine + whole);
        }
    }
}

#endif
