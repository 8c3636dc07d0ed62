/* convert.h - element types of the timestep and of its gradient, to and from FP32.
 *
 * Integer code only, so that the bits depend neither on the compiler's float16 support nor on MXCSR.
 */
#ifndef ASSAY_IMPL_CONVERT_H
#define ASSAY_IMPL_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* CUDA's canonical NaN; what cvt and every FP32 instruction there answer for an undefined result. */
#define CONVERT_NAN_BITS 0x7fffffffu

/* The bit image of an FP32 value. */
static inline uint32_t convert_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The FP32 value of a bit image. */
static inline float convert_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The FP64 value of a bit image. */
static inline double convert_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* BF16 to FP32, exact. */
static inline float convert_from_bf16(uint16_t h) {
    return convert_float((uint32_t)h << 16);
}

/* FP32 to BF16, nearest, ties to even; NaN becomes 0x7fff. */
static inline uint16_t convert_to_bf16(float x) {
    const uint32_t b = convert_bits(x);
    if ((b & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fff;
    }
    return (uint16_t)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
}

/* FP16 to FP32, exact. */
static inline float convert_from_f16(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    const uint32_t magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) { /* Inf, NaN */
        return convert_float(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    }
    if (magnitude >= 0x0400u) {
        return convert_float(sign | ((magnitude << 13) + 0x38000000u));
    }
    /* Subnormal: magnitude * 2^-24, exact in FP32. */
    const float value = (float)magnitude * 0x1p-24f;
    return convert_float(sign | convert_bits(value));
}

/* FP32 to FP16, nearest, ties to even; overflow gives Inf; NaN becomes 0x7fff. */
static inline uint16_t convert_to_f16(float x) {
    const uint32_t b = convert_bits(x);
    const uint32_t sign = (b >> 16) & 0x8000u;
    const uint32_t m = b & 0x7fffffffu;
    if (m > 0x7f800000u) {
        return 0x7fff;
    }
    if (m >= 0x477ff000u) { /* rounds to 2^16 or is Inf */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (m >= 0x38800000u) {
        return (uint16_t)(sign | ((m - 0x38000000u + 0xfffu + ((m >> 13) & 1u)) >> 13));
    }
    if (m < 0x33000000u) { /* below half of the smallest subnormal */
        return (uint16_t)sign;
    }
    const uint32_t shift = 126u - (m >> 23); /* 14..24: the significand's distance to units of 2^-24 */
    const uint32_t significand = (m & 0x7fffffu) | 0x800000u;
    const uint32_t kept = significand >> shift;
    const uint32_t rest = significand & ((1u << shift) - 1u);
    const uint32_t half = 1u << (shift - 1u);
    const uint32_t up = rest > half || (rest == half && (kept & 1u) != 0);
    return (uint16_t)(sign | (kept + up));
}

#endif
