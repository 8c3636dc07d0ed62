/* cuda_math.h - CUDA's FP32 expf, sinf and cosf in C, bit for bit, for every one of the 2^32 arguments.
 *
 * What it stands for: CUDA 13.0 with default flags (no fast math, no flush to zero), measured on sm_90.
 * Header only: include it and call the functions. It needs IEEE binary32 and binary64 with round to nearest;
 * every order of operations is explicit and no product feeds a sum except through fmaf, so contraction
 * changes nothing. The translation unit must not be compiled with -ffast-math. All functions are pure; any
 * thread may call.
 *
 * Sources. The order of operations and the constants are those of the PTX that nvcc 13.0.88 writes for
 * one-line kernels. The only step there that IEEE arithmetic does not define is ex2.approx.ftz.f32; its
 * interpolator was identified from the answers of an H200 (impls/cuda_model/record_ex2.cu measures them and
 * derives the coefficients again). It is of the kind of Oberman and Siu, "A high-performance area-efficient
 * multifunction interpolator" (2005): a table of quadratics with a truncated squarer. `assay model` prints
 * digests of all answers.
 *
 * expf:
 *     y = clamp(fma(x, S, 0.5), 0, 1) (NaN: 0)     k = floor(252 * y)     i = k - 126
 *     f = fma(x, LOG2E_LOW, fma(x, LOG2E_HIGH, -i))                         expf = ex2(f) * 2^i
 * ex2, for |x| < 256 in units of 2^-23:
 *     t = trunc(|x|); for negative x the bitwise complement of it, but -t when its low 23 bits are zero
 *     n = floor(t / 2^23)     s = the next 6 bits (segment)     u = the low 17 bits
 *     significand = (C0[s] * 2^13 + 6114 + C1[s] * u + C2[s] * square(u)) >> 15
 *     square(u) = the partial products of u * u of weight 2^19 and more, over 2^19 (see ex2_square)
 *     ex2 = 2^n * (1 + significand / 2^23), below 2^-126 flushed to +0, from 2^128 on +Inf
 * sinf, cosf:
 *     q = rint(x * TWO_OVER_PI)     r = fma(q, PIO2_LOW, fma(q, PIO2_MIDDLE, fma(q, PIO2_HIGH, x)))    |x| <
 * 105615 q, r from a 192-bit 2/pi (Payne and Hanek) otherwise z = r * r,  n = q (sine) or q + 1 (cosine) n
 * even: v = fma(fma(fma(S3, z, S2), z, S1), fma(z, r, +0), r) n odd:  v = fma(fma(fma(fma(C4, z, C3), z, C2),
 * z, C1), z, 1) n & 2:  v = fma(v, -1, +0) A NaN argument, and an infinite one of sinf and cosf, gives the
 * NaN 0x7fffffff. */
#ifndef ASSAY_CUDA_MATH_H
#define ASSAY_CUDA_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* How the functions and the table are declared; CUDA sources define both before the include. */
#ifndef ASSAY_CUDA_MATH_FN
#define ASSAY_CUDA_MATH_FN static inline __attribute__((always_inline, unused))
#endif
#ifndef ASSAY_CUDA_MATH_TABLE
#define ASSAY_CUDA_MATH_TABLE static const
#endif

#define ASSAY_CUDA_NAN_BITS UINT32_C(0x7fffffff)

#define ASSAY_CUDA_EXP_SCALE   0x1.77313ap-8f     /* 3bbb989d: log2(e) / 252 */
#define ASSAY_CUDA_LOG2E_HIGH  0x1.715476p+0f     /* 3fb8aa3b */
#define ASSAY_CUDA_LOG2E_LOW   0x1.4ae0c0p-26f    /* 32a57060 */
#define ASSAY_CUDA_TWO_OVER_PI 0x1.45f306p-1f     /* 3f22f983 */
#define ASSAY_CUDA_PIO2_HIGH   (-0x1.921fb4p+0f)  /* bfc90fda */
#define ASSAY_CUDA_PIO2_MIDDLE (-0x1.4442d0p-24f) /* b3a22168 */
#define ASSAY_CUDA_PIO2_LOW    (-0x1.84698ap-48f) /* a7c234c5 */
#define ASSAY_CUDA_FAR         0x1.9c8f00p+16f    /* 47ce4780: 105615 */
#define ASSAY_CUDA_S3          (-0x1.9a82a6p-13f) /* b94d4153 */
#define ASSAY_CUDA_S2          0x1.110bc8p-7f     /* 3c0885e4 */
#define ASSAY_CUDA_S1          (-0x1.555550p-3f)  /* be2aaaa8 */
#define ASSAY_CUDA_C4          0x1.975800p-16f    /* 37cbac00 */
#define ASSAY_CUDA_C3          (-0x1.6c0fdap-10f) /* bab607ed */
#define ASSAY_CUDA_C2          0x1.555576p-5f     /* 3d2aaabb */
#define ASSAY_CUDA_C1          (-0x1.fffffep-2f)  /* beffffff */

ASSAY_CUDA_MATH_FN uint32_t assay_cuda_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ASSAY_CUDA_MATH_FN float assay_cuda_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* C0, C1, C2 of the 64 segments of [0, 1). */
ASSAY_CUDA_MATH_TABLE int32_t assay_cuda_ex2_table[64][3] = {
#include "cuda_ex2.inc"
};

/* u * u for u < 2^17 as a squarer adds it up: bit i against itself has weight 2^(2i), against bit j > i
 * 2^(i+j+1). Weights below 2^19 are left out, the rest is counted in units of 2^19. */
ASSAY_CUDA_MATH_FN uint32_t assay_cuda_ex2_square(uint32_t u) {
    uint32_t sum = 0;
#define ASSAY_CUDA_ROW(i)                                                                                    \
    sum += (0u - (u >> (i)&1u)) &                                                                            \
           (((u >> ((i) < 9 ? 18 - (i) : (i) + 1)) << ((i) < 9 ? 0 : 2 * (i) + 2 - 19)) +                    \
            ((i) < 10 ? 0u : 1u << ((i) < 10 ? 0 : 2 * (i)-19)));
    ASSAY_CUDA_ROW(2)
    ASSAY_CUDA_ROW(3)
    ASSAY_CUDA_ROW(4)
    ASSAY_CUDA_ROW(5)
    ASSAY_CUDA_ROW(6)
    ASSAY_CUDA_ROW(7)
    ASSAY_CUDA_ROW(8)
    ASSAY_CUDA_ROW(9)
    ASSAY_CUDA_ROW(10)
    ASSAY_CUDA_ROW(11)
    ASSAY_CUDA_ROW(12)
    ASSAY_CUDA_ROW(13)
    ASSAY_CUDA_ROW(14)
    ASSAY_CUDA_ROW(15)
    ASSAY_CUDA_ROW(16)
#undef ASSAY_CUDA_ROW
    return sum;
}

/* The low 23 bits of ex2(i / 2^23), i < 2^23. */
ASSAY_CUDA_MATH_FN uint32_t assay_cuda_ex2_significand(uint32_t i) {
    const int32_t *c = assay_cuda_ex2_table[i >> 17];
    const uint32_t u = i & 0x1ffffu;
    const uint64_t constant = ((uint64_t)(uint32_t)c[0] << 13) + 6114u;
    const uint64_t linear = (uint64_t)(uint32_t)c[1] * u;
    const uint64_t square = (uint64_t)(uint32_t)c[2] * assay_cuda_ex2_square(u);
    return (uint32_t)((constant + linear + square) >> 15);
}

/* ex2.approx.ftz.f32. */
ASSAY_CUDA_MATH_FN float assay_cuda_ex2f(float x) {
    const uint32_t bits = assay_cuda_bits(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    /* 2^8 and more, infinities and NaN are settled at the end; here they only must not overflow. */
    const uint32_t bounded = magnitude < 0x43800000u ? magnitude : 0x437fffffu;
    int32_t t = (int32_t)(assay_cuda_float(bounded) * 0x1p23f);
    const int32_t minus = (int32_t)(0u - (bits >> 31));
    const int32_t whole = (t & 0x7fffff) == 0 ? 1 : 0;
    t = (t ^ minus) + (minus & whole);
    const int32_t n = (t >> 23) + 127;
    uint32_t y = ((uint32_t)n << 23) + assay_cuda_ex2_significand((uint32_t)t & 0x7fffffu);
    y = n <= 0 ? 0u : y;
    y = n >= 255 ? 0x7f800000u : y;
    y = magnitude < 0x00800000u ? 0x3f800000u : y;
    y = magnitude > 0x7f800000u ? ASSAY_CUDA_NAN_BITS : y;
    return assay_cuda_float(y);
}

ASSAY_CUDA_MATH_FN float assay_cuda_expf(float x) {
    float y = fmaf(x, ASSAY_CUDA_EXP_SCALE, 0.5f);
    y = y > 0.0f ? y : 0.0f; /* a NaN compares false */
    y = y < 1.0f ? y : 1.0f;
    const int32_t k = (int32_t)((double)y * 252.0);
    const float f = fmaf(x, ASSAY_CUDA_LOG2E_LOW, fmaf(x, ASSAY_CUDA_LOG2E_HIGH, (float)(126 - k)));
    const uint32_t result = assay_cuda_bits(assay_cuda_ex2f(f) * assay_cuda_float((uint32_t)(k + 1) << 23));
    return assay_cuda_float((result & 0x7fffffffu) > 0x7f800000u ? ASSAY_CUDA_NAN_BITS : result);
}

/* r and q of |x| < ASSAY_CUDA_FAR. */
ASSAY_CUDA_MATH_FN float assay_cuda_reduce_near(float x, int32_t *quadrant) {
    *quadrant = (int32_t)rintf(x * ASSAY_CUDA_TWO_OVER_PI);
    const float q = (float)*quadrant; /* through an integer: +0 for -0 keeps sinf(-0) = -0 */
    return fmaf(q, ASSAY_CUDA_PIO2_LOW, fmaf(q, ASSAY_CUDA_PIO2_MIDDLE, fmaf(q, ASSAY_CUDA_PIO2_HIGH, x)));
}

/* Word i of 192 bits of 2/pi times the significand, and the ones after it; 64 bits behind the binary point
 * are the fraction of a quadrant. For finite |x| >= ASSAY_CUDA_FAR. */
ASSAY_CUDA_MATH_FN float assay_cuda_reduce_far(float x, int32_t *quadrant) {
    const uint32_t two_over_pi[6] = {0x3c439041u, 0xdb629599u, 0xf534ddc0u,
                                     0xfc2757d1u, 0x4e441529u, 0xa2f9836eu};
    const uint32_t bits = assay_cuda_bits(x);
    const uint32_t exponent = (bits >> 23 & 255u) - 128u;
    const uint32_t significand = bits << 8 | 0x80000000u;
    uint32_t word[7];
    uint64_t carry = 0;
    for (int i = 0; i < 6; i++) {
        carry += (uint64_t)two_over_pi[i] * significand;
        word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    word[6] = (uint32_t)carry;
    const uint32_t skip = exponent >> 5 & 3u;
    const uint32_t shift = exponent & 31u;
    uint32_t high = word[6 - skip];
    uint32_t low = word[5 - skip];
    if (shift != 0) {
        high = high << shift | low >> (32u - shift);
        low = low << shift | word[4 - skip] >> (32u - shift);
    }
    uint64_t fraction = (uint64_t)(high << 2 | low >> 30) << 32 | (uint32_t)(low << 2);
    const uint32_t up = (uint32_t)(fraction >> 63);
    const int32_t q = (int32_t)((high >> 30) + up);
    const uint32_t minus = bits >> 31;
    fraction = up != 0 ? ~fraction : fraction; /* one below the negation, as on the device */
    const float r = (float)((double)(int64_t)fraction * 0x1.921fb54442d19p-64);
    *quadrant = minus != 0 ? -q : q;
    return minus != up ? -r : r;
}

/* The value of quadrant n at r. Without branches, so that loops vectorise. */
ASSAY_CUDA_MATH_FN float assay_cuda_quadrant(float r, int32_t n) {
    const float z = r * r;
    const float even =
        fmaf(fmaf(fmaf(ASSAY_CUDA_S3, z, ASSAY_CUDA_S2), z, ASSAY_CUDA_S1), fmaf(z, r, 0.0f), r);
    const float odd =
        fmaf(fmaf(fmaf(fmaf(ASSAY_CUDA_C4, z, ASSAY_CUDA_C3), z, ASSAY_CUDA_C2), z, ASSAY_CUDA_C1), z, 1.0f);
    const float v = (n & 1) != 0 ? odd : even;
    const float negated = fmaf(v, -1.0f, 0.0f);
    return (n & 2) != 0 ? negated : v;
}

/* Quadrant `turn` on from x: 0 for the sine, 1 for the cosine. */
ASSAY_CUDA_MATH_FN float assay_cuda_sine(float x, int32_t turn) {
    if ((assay_cuda_bits(x) & 0x7f800000u) == 0x7f800000u) {
        return assay_cuda_float(ASSAY_CUDA_NAN_BITS);
    }
    int32_t q = 0;
    const float r = fabsf(x) < ASSAY_CUDA_FAR ? assay_cuda_reduce_near(x, &q) : assay_cuda_reduce_far(x, &q);
    return assay_cuda_quadrant(r, q + turn);
}

ASSAY_CUDA_MATH_FN float assay_cuda_sinf(float x) {
    return assay_cuda_sine(x, 0);
}

ASSAY_CUDA_MATH_FN float assay_cuda_cosf(float x) {
    return assay_cuda_sine(x, 1);
}

#endif
