/* cuda_math.c - rows of CUDA's sinf and cosf for the replay, on the widest instructions of this machine. The
 * functions themselves are those of assay/cuda_math.h, which equal the device on all 2^32 arguments. */
#include "assay/cuda_math.h"
#include "compare.h"
#include "sinusoid.h"

#include <math.h>
#include <string.h>

float sinusoid_cuda_expf(float x) {
    return assay_cuda_expf(x);
}

#define TILE 32 /* a constant trip count, so that compilers vectorise the loop whole */

static inline __attribute__((always_inline)) void tile_body(float t, const float *restrict freq,
                                                            float *restrict cosine, float *restrict sine) {
    for (size_t i = 0; i < TILE; i++) {
        int32_t n;
        float r = assay_cuda_reduce_near(t * freq[i], &n);
        sine[i] = assay_cuda_quadrant(r, n);
        cosine[i] = assay_cuda_quadrant(r, n + 1);
    }
}

typedef void tile_fn(float t, const float *freq, float *cosine, float *sine);

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void tile_avx2(float t, const float *freq, float *cosine,
                                                          float *sine) {
    tile_body(t, freq, cosine, sine);
}

__attribute__((target("avx512f,avx512vl,avx512dq,fma"))) static void tile_avx512(float t, const float *freq,
                                                                                 float *cosine, float *sine) {
    tile_body(t, freq, cosine, sine);
}
#endif

static tile_fn *tile_pick(void) {
#if defined(__x86_64__)
    const char *name = assay_simd_name();
    if (strcmp(name, "avx512") == 0) {
        return tile_avx512;
    }
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("fma")) {
        return tile_avx2;
    }
#endif
    return NULL;
}

void sinusoid_cuda_row(float t, const float *freq, float largest, size_t n, float *cosine, float *sine) {
    /* Rounding is monotonic, so no product of the row exceeds this one. A NaN compares false. */
    tile_fn *tile = fabsf(t) * largest < ASSAY_CUDA_FAR ? tile_pick() : NULL;
    size_t k = 0;
    for (; tile != NULL && k + TILE <= n; k += TILE) {
        tile(t, freq + k, cosine + k, sine + k);
    }
    for (; k < n; k++) {
        sine[k] = assay_cuda_sinf(t * freq[k]);
        cosine[k] = assay_cuda_cosf(t * freq[k]);
    }
}
