/* rows_avx2.c - the vector kernel for AVX2 with FMA: libsleef's functions of 8 lanes. */
#if defined(__x86_64__)
#include "rows.h"
#include "simd_rows.h"

#include <sleef.h>

static inline void vector(vf a, size_t n, float *cosine, float *sine) {
    simd_store_pair(Sleef_finz_cosf8_u10avx2(a), Sleef_finz_sinf8_u10avx2(a), n, cosine, sine);
}

void SIMD_PATH_NAME(sleef_rows)(const float *t, size_t rows, const float *f, size_t half, float *out,
                                ptrdiff_t stride) {
    simd_rows(vector, t, rows, f, half, out, stride);
}
#else
typedef int rows_avx2_not_here;
#endif
