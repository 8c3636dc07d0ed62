/* assay/cuda_math.h - CUDA's single precision expf, sinf and cosf in C, bit for bit, for every argument.
 *
 * For kernel authors who want the device's bits on a machine without one. Nothing here depends on the
 * machine: every step is one IEEE binary32 or binary64 operation or integer arithmetic. Compile with
 * -ffp-contract=off. Shown equal to an H200 (sm_90, driver 580, CUDA 13.0) on all 2^32 arguments of each
 * function; `assay model expf --sha256` prints the SHA-256 of all answers, to be compared with any other
 * device.
 *
 * Order of operations and constants: the PTX that nvcc 13.0.88 makes of one-line kernels, default options.
 * The one instruction there that IEEE does not define is ex2.approx.ftz.f32, below.
 *
 *     expf     s = sat(fma(x, 0x1.77313ap-8, 1/2))      n = floor(252 s)           i = n - 126
 *              f = fma(x, LOG2E_LOW, fma(x, LOG2E, -i))
 *              expf = rn(ex2(f) * 2^i)
 *     sinf     q = rint(rn(x * 2/pi))
 *              r = fma(q, -P3, fma(q, -P2, fma(q, -P1, x)))    |x| < 105615; else by 192 bits of 2/pi
 *              z = rn(r * r), and with n = q (sinf) or q + 1 (cosf)
 *              n even   v = fma(fma(fma(S3, z, S2), z, S1), fma(z, r, +0), r)
 *              n odd    v = fma(fma(fma(fma(C4, z, C3), z, C2), z, C1), z, 1)
 *              n & 2    v = fma(v, -1, +0)
 *     NaN, sinf and cosf of infinities: 0x7fffffff
 */
#ifndef ASSAY_CUDA_MATH_H
#define ASSAY_CUDA_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t assay_cuda_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float assay_cuda_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define ASSAY_CUDA_NAN 0x7fffffffU

/* ---- ex2.approx.ftz.f32 ----
 *
 * A table of 64 parabolas in fixed point, as described by Oberman and Siu, "A high-performance area-efficient
 * multifunction interpolator" (ARITH-17, 2005); coefficients and truncations were inferred from all answers
 * of an H200. The argument becomes an integer k / 2^23 by truncation, a negative one as the complement ~|k|
 * of its magnitude unless its fraction is zero. Of the fraction's 23 bits the upper 6 select the parabola;
 * with x the lower 17 and S(x) = x * x without the partial products in columns below 2^19,
 *
 *     significand bits = floor((2^13 c0 + c1 x + c2 S(x) / 2^19 + 6114) / 2^15)
 */
typedef struct assay_cuda_parabola {
    uint32_t c0;
    uint16_t c1, c2;
} assay_cuda_parabola;

static const assay_cuda_parabola assay_cuda_ex2_table[64] = {
    {3U, 22713U, 494U},        {365386U, 22960U, 501U},   {734750U, 23210U, 506U},
    {1108133U, 23463U, 511U},  {1485586U, 23718U, 518U},  {1867145U, 23977U, 521U},
    {2252860U, 24238U, 527U},  {2642777U, 24502U, 532U},  {3036940U, 24768U, 541U},
    {3435393U, 25038U, 546U},  {3838184U, 25311U, 551U},  {4245365U, 25586U, 559U},
    {4656977U, 25865U, 564U},  {5073072U, 26147U, 568U},  {5493699U, 26431U, 577U},
    {5918905U, 26719U, 583U},  {6348741U, 27010U, 589U},  {6783258U, 27304U, 596U},
    {7222505U, 27602U, 600U},  {7666538U, 27902U, 609U},  {8115404U, 28206U, 615U},
    {8569160U, 28513U, 622U},  {9027854U, 28824U, 627U},  {9491545U, 29138U, 633U},
    {9960285U, 29455U, 641U},  {10434129U, 29776U, 647U}, {10913133U, 30100U, 655U},
    {11397354U, 30428U, 661U}, {11886846U, 30759U, 670U}, {12381669U, 31094U, 677U},
    {12881882U, 31432U, 686U}, {13387539U, 31775U, 691U}, {13898703U, 32121U, 699U},
    {14415435U, 32471U, 705U}, {14937793U, 32824U, 715U}, {15465837U, 33182U, 721U},
    {15999633U, 33543U, 730U}, {16539242U, 33908U, 739U}, {17084727U, 34277U, 748U},
    {17636150U, 34651U, 753U}, {18193579U, 35028U, 763U}, {18757078U, 35409U, 773U},
    {19326714U, 35795U, 779U}, {19902551U, 36185U, 787U}, {20484659U, 36579U, 796U},
    {21073106U, 36977U, 806U}, {21667961U, 37380U, 813U}, {22269293U, 37787U, 822U},
    {22877175U, 38198U, 833U}, {23491674U, 38614U, 842U}, {24112865U, 39035U, 849U},
    {24740822U, 39460U, 858U}, {25375616U, 39889U, 870U}, {26017322U, 40324U, 877U},
    {26666015U, 40763U, 887U}, {27321773U, 41207U, 896U}, {27984672U, 41655U, 909U},
    {28654788U, 42109U, 917U}, {29332202U, 42568U, 925U}, {30016992U, 43031U, 938U},
    {30709240U, 43500U, 946U}, {31409026U, 43973U, 959U}, {32116431U, 44452U, 969U},
    {32831540U, 44936U, 980U}};

/* S(x) / 2^19 for x < 2^17. */
static inline uint32_t assay_cuda_ex2_square(uint32_t x) {
    uint32_t sum = 0;
    for (unsigned i = 2; i < 17; i++) {
        /* Bit i meets every higher bit j with i + j + 1 >= 19, and itself when 2i >= 19. */
        const unsigned least = i + 1 > 18 - i ? i + 1 : 18 - i;
        const uint32_t partners = x >> least << least << 1 | (i >= 10 ? 1U << i : 0U);
        sum += (0U - (x >> i & 1U)) & (i <= 19 - 1 ? partners >> (19 - i) : 0U);
    }
    return sum;
}

/* 2^x as the instruction answers it. */
static inline float assay_cuda_ex2(float x) {
    const uint32_t bits = assay_cuda_bits(x);
    const uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {
        return assay_cuda_float(ASSAY_CUDA_NAN);
    }
    if (magnitude >= 0x43800000U) { /* 256 and more */
        return assay_cuda_float(bits >> 31 != 0 ? 0U : 0x7f800000U);
    }
    const int32_t fixed = (int32_t)(assay_cuda_float(magnitude) * 0x1p23f); /* exact, then truncated */
    const int32_t k = bits >> 31 == 0 ? fixed : (fixed & 0x7fffff) == 0 ? -fixed : ~fixed;
    const int32_t exponent = (k >> 23) + 127;
    if (exponent <= 0 || exponent >= 255) {
        return assay_cuda_float(exponent <= 0 ? 0U : 0x7f800000U);
    }
    const uint32_t low = (uint32_t)k & 0x1ffffU;
    const assay_cuda_parabola *const p = &assay_cuda_ex2_table[(uint32_t)k >> 17 & 63U];
    const uint64_t sum = ((uint64_t)p->c0 << 13) + (uint64_t)p->c1 * low +
                         (uint64_t)p->c2 * assay_cuda_ex2_square(low) + 6114U;
    return assay_cuda_float((uint32_t)exponent << 23 | (uint32_t)(sum >> 15));
}

/* ---- expf ---- */

static inline float assay_cuda_expf(float x) {
    const float s = fmaf(x, assay_cuda_float(0x3bbb989dU), 0.5f);
    const float saturated = s > 0.0f ? (s < 1.0f ? s : 1.0f) : 0.0f; /* NaN becomes 0 */
    const int32_t i = (int32_t)((double)saturated * 252.0) - 126;
    float f = fmaf(x, assay_cuda_float(0x3fb8aa3bU), -(float)i);
    f = fmaf(x, assay_cuda_float(0x32a57060U), f);
    if (f != f) {
        return assay_cuda_float(ASSAY_CUDA_NAN);
    }
    return assay_cuda_ex2(f) * assay_cuda_float((uint32_t)(i + 127) << 23);
}

/* ---- sinf, cosf ---- */

#define ASSAY_CUDA_FAR 0x47ce4780U /* 105615: from here on by 192 bits of 2/pi */

/* r and q of a finite |x| >= 105615: 24 bits of x times 192 bits of 2/pi; the 64 bits behind the binary point
 * give the fraction of a quadrant, the two before it the quadrant (Payne and Hanek). */
static inline float assay_cuda_reduce_far(float x, int32_t *q) {
    static const uint32_t two_over_pi[6] = {0x3c439041U, 0xdb629599U, 0xf534ddc0U,
                                            0xfc2757d1U, 0x4e441529U, 0xa2f9836eU};
    const uint32_t bits = assay_cuda_bits(x);
    const uint32_t exponent = (bits >> 23 & 255U) - 128U;
    const uint32_t significand = bits << 8 | 0x80000000U;
    uint32_t product[7];
    uint64_t carry = 0;
    for (int i = 0; i < 6; i++) {
        carry += (uint64_t)two_over_pi[i] * significand;
        product[i] = (uint32_t)carry;
        carry >>= 32;
    }
    product[6] = (uint32_t)carry;
    const uint32_t word = exponent >> 5;
    const uint32_t shift = exponent & 31U;
    uint32_t high = product[6 - word];
    uint32_t low = product[5 - word];
    if (shift != 0) {
        high = (high << shift) + (low >> (32U - shift));
        low = (low << shift) + (product[4 - word] >> (32U - shift));
    }
    uint64_t fraction = (uint64_t)(high << 2 | low >> 30) << 32 | (uint32_t)(low << 2);
    const uint32_t up = (uint32_t)(fraction >> 63);
    const int32_t quadrant = (int32_t)((high >> 30) + up);
    const int negative = bits >> 31 != 0;
    if (up != 0) {
        fraction = ~fraction; /* one below the negation, as the device does it */
    }
    const float r = (float)((double)(int64_t)fraction * 0x1.921fb54442d19p-64);
    *q = negative ? -quadrant : quadrant;
    return negative != (up != 0) ? -r : r;
}

static inline float assay_cuda_reduce(float x, int32_t *q) {
    if ((assay_cuda_bits(x) & 0x7fffffffU) >= ASSAY_CUDA_FAR) {
        return assay_cuda_reduce_far(x, q);
    }
    /* Adding and subtracting 1.5 * 2^23 rounds to an integer, ties to even. */
    const float rounded = (x * assay_cuda_float(0x3f22f983U) + 0x1.8p23f) - 0x1.8p23f;
    *q = (int32_t)rounded;
    const float n = (float)*q;
    return fmaf(n, assay_cuda_float(0xa7c234c5U),
                fmaf(n, assay_cuda_float(0xb3a22168U), fmaf(n, assay_cuda_float(0xbfc90fdaU), x)));
}

/* The value of quadrant n at the reduced argument. */
static inline float assay_cuda_quadrant(float r, int32_t n) {
    const float z = r * r;
    float v;
    if ((n & 1) != 0) {
        v = fmaf(assay_cuda_float(0x37cbac00U), z, assay_cuda_float(0xbab607edU));
        v = fmaf(v, z, assay_cuda_float(0x3d2aaabbU));
        v = fmaf(v, z, assay_cuda_float(0xbeffffffU));
        v = fmaf(v, z, 1.0f);
    } else {
        v = fmaf(assay_cuda_float(0xb94d4153U), z, assay_cuda_float(0x3c0885e4U));
        v = fmaf(v, z, assay_cuda_float(0xbe2aaaa8U));
        v = fmaf(v, fmaf(z, r, 0.0f), r);
    }
    return (n & 2) != 0 ? fmaf(v, -1.0f, 0.0f) : v;
}

static inline float assay_cuda_sinf(float x) {
    int32_t q = 0;
    if ((assay_cuda_bits(x) & 0x7f800000U) == 0x7f800000U) {
        return assay_cuda_float(ASSAY_CUDA_NAN);
    }
    const float r = assay_cuda_reduce(x, &q);
    return assay_cuda_quadrant(r, q);
}

static inline float assay_cuda_cosf(float x) {
    int32_t q = 0;
    if ((assay_cuda_bits(x) & 0x7f800000U) == 0x7f800000U) {
        return assay_cuda_float(ASSAY_CUDA_NAN);
    }
    const float r = assay_cuda_reduce(x, &q);
    return assay_cuda_quadrant(r, q + 1);
}

#endif
