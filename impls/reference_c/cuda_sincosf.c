/* cuda_sincosf.c - the scalar form: complete, and the definition that the vector forms are compared with. */
#include "cuda_sincosf.h"

#include "convert.h"

#include <math.h>

typedef struct reduced {
    float r;
    int32_t q;
} reduced;

static float constant(enum cuda_sincosf_constant bits) {
    return convert_float((uint32_t)bits);
}

/* 2/pi after the binary point, least significant word first (__cudart_i2opi_f in the PTX). */
static const uint32_t two_over_pi_words[6] = {0x3C439041u, 0xDB629599u, 0xF534DDC0u,
                                              0xFC2757D1u, 0x4E441529u, 0xA2F9836Eu};

/* Payne-Hanek: 24 bits of x times 192 bits of 2/pi; the 64 bits behind the binary point give the fraction of
 * a quadrant, the two before it the quadrant. |x| must be finite and >= 105615. */
static reduced reduce_large(float x) {
    const uint32_t bits = convert_bits(x);
    const uint32_t exponent = ((bits >> 23) & 255u) - 128u;
    const uint32_t significand = (bits << 8) | 0x80000000u;
    uint32_t product[7];
    uint32_t carry = 0;
    for (int i = 0; i < 6; i++) {
        const uint64_t word = (uint64_t)two_over_pi_words[i] * significand + carry;
        product[i] = (uint32_t)word;
        carry = (uint32_t)(word >> 32);
    }
    product[6] = carry;
    const uint32_t word = exponent >> 5;
    const uint32_t shift = exponent & 31u;
    uint32_t high = product[6 - word];
    uint32_t low = product[5 - word];
    if (shift != 0) {
        high = (high << shift) + (low >> (32u - shift));
        low = (low << shift) + (product[4 - word] >> (32u - shift));
    }
    uint64_t fraction = ((uint64_t)((high << 2) | (low >> 30)) << 32) | (uint32_t)(low << 2);
    const uint32_t round_up = (uint32_t)(fraction >> 63);
    const int32_t q = (int32_t)((high >> 30) + round_up);
    const bool negative = (bits >> 31) != 0;
    if (round_up != 0) {
        fraction = ~fraction; /* one below the negation; CUDA does the same */
    }
    const float r = (float)((double)(int64_t)fraction * convert_double(0x3BF921FB54442D19u));
    return (reduced){.r = negative != (round_up != 0) ? -r : r, .q = negative ? -q : q};
}

static reduced reduce(float x) {
    if (fabsf(x) >= constant(CUDA_LARGE)) {
        return reduce_large(x);
    }
    const float rounded = x * constant(CUDA_TWO_OVER_PI) + CUDA_ROUND_MAGIC;
    const float q = rounded - CUDA_ROUND_MAGIC;
    float r = fmaf(q, constant(CUDA_PIO2_HIGH), x);
    r = fmaf(q, constant(CUDA_PIO2_MIDDLE), r);
    r = fmaf(q, constant(CUDA_PIO2_LOW), r);
    return (reduced){.r = r, .q = (int32_t)q};
}

/* The polynomial of quadrant q at r. */
static float evaluate(float r, int32_t q) {
    const float z = r * r;
    float s;
    if ((q & 1) != 0) {
        const float p = fmaf(constant(CUDA_C4), z, constant(CUDA_C3));
        s = fmaf(fmaf(fmaf(p, z, constant(CUDA_C2)), z, constant(CUDA_C1)), z, 1.0f);
    } else {
        const float p = fmaf(constant(CUDA_S3), z, constant(CUDA_S2));
        s = fmaf(fmaf(p, z, constant(CUDA_S1)), fmaf(z, r, 0.0f), r);
    }
    return (q & 2) != 0 ? fmaf(s, -1.0f, 0.0f) : s;
}

static bool is_finite(float x) {
    return (convert_bits(x) & 0x7f800000u) != 0x7f800000u;
}

float cuda_sinf(float x) {
    if (!is_finite(x)) {
        return convert_float(CONVERT_NAN_BITS);
    }
    const reduced reduction = reduce(x);
    return evaluate(reduction.r, reduction.q);
}

float cuda_cosf(float x) {
    if (!is_finite(x)) {
        return convert_float(CONVERT_NAN_BITS);
    }
    const reduced reduction = reduce(x);
    return evaluate(reduction.r, reduction.q + 1);
}
