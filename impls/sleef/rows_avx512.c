/* rows_avx512.c - the vector kernel for AVX-512: libsleef's functions of 16 lanes. */
#if defined(__x86_64__)
#include "rows.h"
#include "simd_rows.h"

#include <sleef.h>

static inline void vector(vf a, size_t n, float *cosine, float *sine) {
    simd_store_pair(Sleef_finz_cosf16_u10avx512f(a), Sleef_finz_sinf16_u10avx512f(a), n, cosine, sine);
}

void SIMD_PATH_NAME(sleef_rows)(const float *t, size_t rows, const float *f, size_t half, float *out,
                                ptrdiff_t stride) {
    simd_rows(vector, t, rows, f, half, out, stride);
}
#else
typedef int rows_avx512_not_here;
#endif
