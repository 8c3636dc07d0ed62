/* dtype.c - element types and exact conversions. Integer code only, so that neither MXCSR (flush to zero,
 * rounding mode) nor the compiler's floating-point flags can change a bit. */
#include "dtype.h"

#include <assert.h>
#include <string.h>

typedef struct dtype_row {
    const char *text;
    DLDataTypeCode code;
    uint8_t bits;
} dtype_row;

static const dtype_row dtype_rows[] = {
#define X(id, text, code, bits) {text, code, bits},
    ASSAY_DTYPE_LIST(X)
#undef X
};

const char *assay_dtype_text(assay_dtype dtype) {
    return (size_t)dtype < ASSAY_DTYPE_COUNT ? dtype_rows[dtype].text : "unknown";
}

bool assay_dtype_parse(const char *text, assay_dtype *dtype) {
    for (size_t i = 0; i < ASSAY_DTYPE_COUNT; i++) {
        if (strcmp(text, dtype_rows[i].text) == 0) {
            *dtype = (assay_dtype)i;
            return true;
        }
    }
    return false;
}

size_t assay_dtype_bytes(assay_dtype dtype) {
    assert((size_t)dtype < ASSAY_DTYPE_COUNT);
    return dtype_rows[dtype].bits / 8u;
}

DLDataType assay_dtype_dlpack(assay_dtype dtype) {
    assert((size_t)dtype < ASSAY_DTYPE_COUNT);
    return (DLDataType){.code = (uint8_t)dtype_rows[dtype].code, .bits = dtype_rows[dtype].bits, .lanes = 1};
}

uint32_t assay_f32_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

float assay_f32_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint64_t assay_f64_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

double assay_f64_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Drops the low `shift` bits (1..31) of `value`, rounding to nearest, ties to even. The carry may reach the
 * exponent field above a significand, which is exactly the encoding of the next binade or of infinity. */
static uint32_t shift_right_even(uint32_t value, unsigned shift) {
    const uint32_t half = UINT32_C(1) << (shift - 1);
    const uint32_t odd = (value >> shift) & 1u;
    return (uint32_t)(((uint64_t)value + (half - 1u) + odd) >> shift);
}

float assay_bf16_to_f32(uint16_t bits) {
    return assay_f32_from_bits((uint32_t)bits << 16);
}

uint16_t assay_f32_to_bf16(float x) {
    const uint32_t bits = assay_f32_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        /* Quiet, so that a payload in the low half cannot become infinity. */
        return (uint16_t)(bits >> 16 | 0x0040u);
    }
    return (uint16_t)shift_right_even(bits, 16);
}

float assay_f16_to_f32(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) {
        return assay_f32_from_bits(sign | 0x7f800000u | ((magnitude & 0x03ffu) << 13));
    }
    if (magnitude >= 0x0400u) {
        return assay_f32_from_bits(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
    }
    if (magnitude == 0) {
        return assay_f32_from_bits(sign);
    }
    /* Subnormal m * 2^-24: with b the index of m's top bit the value is 2^(b-24) * (1 + ...). */
    const uint32_t top = 31u - (uint32_t)__builtin_clz(magnitude);
    const uint32_t fraction = (magnitude << (23u - top)) & 0x007fffffu;
    return assay_f32_from_bits(sign | ((top + 127u - 24u) << 23) | fraction);
}

uint16_t assay_f32_to_f16(float x) {
    const uint32_t bits = assay_f32_bits(x);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x01ffu));
    }
    if (magnitude >= 0x47800000u) { /* 2^16 and above, infinity */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude >= 0x38800000u) { /* 2^-14 and above: normal; 65520 and above carries into infinity */
        return (uint16_t)(sign | shift_right_even(magnitude - ((127u - 15u) << 23), 13));
    }
    if (magnitude < 0x33000000u) { /* below 2^-25, half of the smallest subnormal */
        return (uint16_t)sign;
    }
    /* significand * 2^(e-150) in units of 2^-24 is significand >> (126 - e), with the biased exponent e in
     * 102..112 */
    const uint32_t significand = (magnitude & 0x007fffffu) | 0x00800000u;
    return (uint16_t)(sign | shift_right_even(significand, 126u - (magnitude >> 23)));
}

float assay_dtype_load_f32(assay_dtype dtype, const void *base, size_t i) {
    if (dtype == ASSAY_DTYPE_F32) {
        float x;
        memcpy(&x, (const char *)base + 4 * i, sizeof x);
        return x;
    }
    assert(dtype == ASSAY_DTYPE_BF16 || dtype == ASSAY_DTYPE_F16);
    uint16_t half;
    memcpy(&half, (const char *)base + 2 * i, sizeof half);
    return dtype == ASSAY_DTYPE_BF16 ? assay_bf16_to_f32(half) : assay_f16_to_f32(half);
}

void assay_dtype_store_f32(assay_dtype dtype, void *base, size_t i, float value) {
    if (dtype == ASSAY_DTYPE_F32) {
        memcpy((char *)base + 4 * i, &value, sizeof value);
        return;
    }
    assert(dtype == ASSAY_DTYPE_BF16 || dtype == ASSAY_DTYPE_F16);
    const uint16_t half = dtype == ASSAY_DTYPE_BF16 ? assay_f32_to_bf16(value) : assay_f32_to_f16(value);
    memcpy((char *)base + 2 * i, &half, sizeof half);
}
