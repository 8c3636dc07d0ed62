/* numbers.c - element types: exact widening, narrowing to nearest even. Own integer code, so that MXCSR plays
 * no part and the judge's conversions are checked by another hand. */
#include "mutant.h"

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint16_t mutant_bf16(float x) {
    uint32_t bits = bits_of(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (uint16_t)((bits >> 16) | 0x40u); /* NaN stays NaN */
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float mutant_from_bf16(uint16_t bits) {
    return float_of((uint32_t)bits << 16);
}

/* (value / 2^shift) rounded to nearest even; 1 <= shift <= 31. */
static uint32_t shift_round(uint32_t value, unsigned shift) {
    uint32_t half = 1u << (shift - 1);
    uint32_t rest = value & ((half << 1) - 1u);
    uint32_t kept = value >> shift;
    return kept + (rest > half || (rest == half && (kept & 1u) != 0) ? 1u : 0u);
}

uint16_t mutant_f16(float x) {
    uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    }
    if (magnitude >= 0x47800000u) { /* 65536 and above; 65520 .. 65536 round to infinity below */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude >= 0x38800000u) { /* normal: rebias 127 -> 15 */
        return (uint16_t)(sign | shift_round(magnitude - 0x38000000u, 13));
    }
    uint32_t exponent = magnitude >> 23;
    if (exponent < 102u) { /* below half of the smallest subnormal */
        return (uint16_t)sign;
    }
    return (uint16_t)(sign | shift_round((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent));
}

float mutant_from_f16(uint16_t bits) {
    uint32_t sign = ((uint32_t)bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1fu,
             mantissa = bits & 0x3ffu;
    if (exponent == 0x1fu) {
        return float_of(sign | 0x7f800000u | (mantissa << 13));
    }
    if (exponent != 0) {
        return float_of(sign | ((exponent + 112u) << 23) | (mantissa << 13));
    }
    if (mantissa == 0) {
        return float_of(sign);
    }
    uint32_t e = 113u;
    while ((mantissa & 0x400u) == 0) {
        mantissa <<= 1;
        e--;
    }
    return float_of(sign | (e << 23) | ((mantissa & 0x3ffu) << 13));
}

static char *address(const DLTensor *tensor, int64_t element) {
    return (char *)assay_data(tensor) + element * (int64_t)(tensor->dtype.bits / 8);
}

static float read_element(const DLTensor *tensor, int64_t element) {
    const char *p = address(tensor, element);
    const bool bf16 = tensor->dtype.code == kDLBfloat;
    if (tensor->dtype.bits == 16) {
        uint16_t half;
        memcpy(&half, p, sizeof half);
        return bf16 ? mutant_from_bf16(half) : mutant_from_f16(half);
    }
    if (tensor->dtype.bits == 64 && tensor->dtype.code == kDLFloat) {
        double wide;
        memcpy(&wide, p, sizeof wide);
        return (float)wide;
    }
    float x = 0;
    memcpy(&x, p, tensor->dtype.bits >= 32 ? sizeof x : tensor->dtype.bits / 8u);
    return x;
}

float mutant_load(const DLTensor *tensor, int64_t index) {
    return read_element(tensor, index * tensor->strides[0]);
}

float mutant_get2(const DLTensor *tensor, int64_t row, int64_t column) {
    return read_element(tensor, row * tensor->strides[0] + column * tensor->strides[1]);
}

void mutant_store(DLTensor *tensor, int64_t index, float value) {
    char *p = address(tensor, index * tensor->strides[0]);
    if (tensor->dtype.bits == 32) {
        memcpy(p, &value, sizeof value);
        return;
    }
    uint16_t half = tensor->dtype.code == kDLBfloat ? mutant_bf16(value) : mutant_f16(value);
    if (IS(grad_truncated) && tensor->dtype.code == kDLBfloat) {
        half = (uint16_t)(bits_of(value) >> 16);
    }
    memcpy(p, &half, sizeof half);
}

/* The next float away from zero; x finite. */
float mutant_next_up(float x) {
    return float_of(bits_of(x) + 1u);
}
