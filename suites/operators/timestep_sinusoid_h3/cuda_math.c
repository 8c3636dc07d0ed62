/* cuda_math.c - CUDA's sinf and cosf in plain C, and the place of its expf.
 *
 * Read from the PTX that nvcc 13.0.88 makes of a one-line kernel. Both functions reduce by multiples of pi/2,
 *
 *     q = rint(x * 2/pi)    r = fma(q, -P3, fma(q, -P2, fma(q, -P1, x)))       |x| < 105615
 *
 * and beyond that by a 192-bit 2/pi (Payne and Hanek). Then, z = r*r, with the quadrant n = q (sine) or q + 1
 * (cosine):
 *
 *     n even   v = fma(fma(fma(E1, z, E2), z, E3), fma(z, r, +0), r)            (E1 is a constant here)
 *     n odd    v = fma(fma(fma(fma(O0, z, O1), z, O2), z, O3), fma(z, 1, +0), 1)
 *     n & 2    v = fma(v, -1, +0)
 *
 * Every operation is IEEE binary32 with one rounding, so the bits do not depend on the machine. */
#include "compare.h"
#include "dtype.h"
#include "sinusoid.h"

#include <math.h>

#define TWO_OVER_PI (0x1.45f306p-1F)   /* 3f22f983 */
#define P1          (-0x1.921fb4p+0F)  /* bfc90fda */
#define P2          (-0x1.4442d0p-24F) /* b3a22168 */
#define P3          (-0x1.84698ap-48F) /* a7c234c5 */
#define FAR         (0x1.9c8f00p+16F)  /* 47ce4780 */
#define E1          (-0x1.9a82a6p-13F) /* b94d4153 */
#define E2          (0x1.110bc8p-7F)   /* 3c0885e4 */
#define E3          (-0x1.555550p-3F)  /* be2aaaa8 */
#define O0          (0x1.975800p-16F)  /* 37cbac00 */
#define O1          (-0x1.6c0fdap-10F) /* bab607ed */
#define O2          (0x1.555576p-5F)   /* 3d2aaabb */
#define O3          (-0x1.fffffep-2F)  /* befffffff */

#define FMAF(x, y, z) __builtin_fmaf((x), (y), (z))

float sinusoid_cuda_expf(float x) {
    return (float)expl((long double)x);
}

/* r and the quadrant of finite |x| >= FAR. */
static float reduce_far(float x, int32_t *quadrant) {
    static const uint32_t two_over_pi[6] = {0x3c439041, 0xdb629599, 0xf534ddc0,
                                            0xfc2757d1, 0x4e441529, 0xa2f9836e};
    uint32_t bits = assay_f32_bits(x);
    uint32_t exponent = (bits >> 23 & 255U) - 128U;
    uint32_t mantissa = bits << 8 | 0x80000000U;
    uint32_t word[7];
    uint64_t carry = 0;
    for (size_t i = 0; i < 6; i++) {
        carry = (uint64_t)two_over_pi[i] * mantissa + carry;
        word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    word[6] = (uint32_t)carry;
    size_t skip = exponent >> 5 & 3U;
    uint32_t shift = exponent & 31U;
    uint32_t high = word[6 - skip];
    uint32_t low = word[5 - skip];
    if (shift != 0) {
        high = (high << shift) + (low >> (32U - shift));
        low = (low << shift) + (word[4 - skip] >> (32U - shift));
    }
    uint32_t top = high << 2 | low >> 30;
    uint32_t rest = low << 2;
    uint32_t negative = top >> 31;
    int32_t q = (int32_t)(negative + (high >> 30));
    *quadrant = bits >> 31 != 0 ? -q : q;
    if (negative != 0) {
        top = ~top;
        rest = ~rest;
    }
    double scaled = (double)(int64_t)((uint64_t)top << 32 | rest) * 0x1.921fb54442d19p-64;
    float r = (float)scaled;
    return (negative != 0) != (bits >> 31 != 0) ? -r : r;
}

/* The value of quadrant n from the reduced argument. Branch-free, so that loops over it vectorise. */
static inline __attribute__((always_inline)) float quadrant_value(float r, int32_t n) {
    float z = r * r;
    float even = FMAF(FMAF(FMAF(E1, z, E2), z, E3), FMAF(z, r, 0.0F), r);
    float odd = FMAF(FMAF(FMAF(FMAF(O0, z, O1), z, O2), z, O3), FMAF(z, 1.0F, 0.0F), 1.0F);
    float v = (n & 1) != 0 ? odd : even;
    float negated = FMAF(v, -1.0F, 0.0F);
    return (n & 2) != 0 ? negated : v;
}

static inline __attribute__((always_inline)) float reduce_near(float x, int32_t *quadrant) {
    *quadrant = (int32_t)__builtin_rintf(x * TWO_OVER_PI);
    float q = (float)*quadrant; /* through an integer as on the device: -0.0 becomes +0.0, which keeps
                                   sin(-0.0) = -0.0 */
    return FMAF(q, P3, FMAF(q, P2, FMAF(q, P1, x)));
}

/* sinf(x) and cosf(x) for every x. */
static void sincosf_bits(float x, float *sine, float *cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = assay_f32_from_bits(0x7fffffffU); /* the NaN that the device makes */
        return;
    }
    int32_t n = 0;
    float r = fabsf(x) < FAR ? reduce_near(x, &n) : reduce_far(x, &n);
    *sine = quadrant_value(r, n);
    *cosine = quadrant_value(r, n + 1);
}

#define TILE 32 /* a constant trip count, so that compilers vectorise the loop whole */

static inline __attribute__((always_inline)) void tile_body(float t, const float *restrict freq,
                                                            float *restrict cosine, float *restrict sine) {
    for (size_t i = 0; i < TILE; i++) {
        int32_t n;
        float r = reduce_near(t * freq[i], &n);
        sine[i] = quadrant_value(r, n);
        cosine[i] = quadrant_value(r, n + 1);
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
    tile_fn *tile = fabsf(t) * largest < FAR ? tile_pick() : NULL;
    size_t k = 0;
    for (; tile != NULL && k + TILE <= n; k += TILE) {
        tile(t, freq + k, cosine + k, sine + k);
    }
    for (; k < n; k++) {
        sincosf_bits(t * freq[k], &sine[k], &cosine[k]);
    }
}
