/* convert.h - numbers and their bit images. */
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

#endif
