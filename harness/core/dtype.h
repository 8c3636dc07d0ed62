/* dtype.h - element types that cross the judge/worker boundary, and exact conversions. One table. */
#ifndef ASSAY_DTYPE_H
#define ASSAY_DTYPE_H

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(enumerator, protocol text, DLPack code, bits) */
#define ASSAY_DTYPE_LIST(X)                                                                                  \
    X(F32, "f32", kDLFloat, 32)                                                                              \
    X(BF16, "bf16", kDLBfloat, 16)                                                                           \
    X(F16, "f16", kDLFloat, 16)                                                                              \
    X(F64, "f64", kDLFloat, 64)                                                                              \
    X(I32, "i32", kDLInt, 32)                                                                                \
    X(I64, "i64", kDLInt, 64)                                                                                \
    X(U8, "u8", kDLUInt, 8)

typedef enum assay_dtype {
#define X(id, text, code, bits) ASSAY_DTYPE_##id,
    ASSAY_DTYPE_LIST(X)
#undef X
        ASSAY_DTYPE_COUNT
} assay_dtype;

const char *assay_dtype_text(assay_dtype dtype);              /* "f32"; "unknown" outside the enum */
bool assay_dtype_parse(const char *text, assay_dtype *dtype); /* false when unknown */
size_t assay_dtype_bytes(assay_dtype dtype);
DLDataType assay_dtype_dlpack(assay_dtype dtype);

/* Bit images. */
uint32_t assay_f32_bits(float x);
float assay_f32_from_bits(uint32_t bits);
uint64_t assay_f64_bits(double x);
double assay_f64_from_bits(uint64_t bits);

/* Widening is exact (NaN payloads kept in the upper bits, quietness preserved). Narrowing rounds to nearest,
 * ties to even; overflow gives infinity; NaN stays NaN (quiet). Pure integer code: never depends on MXCSR. */
float assay_bf16_to_f32(uint16_t bits);
uint16_t assay_f32_to_bf16(float x);
float assay_f16_to_f32(uint16_t bits);
uint16_t assay_f32_to_f16(float x);

/* Element i of a packed array of `dtype` (F32, BF16, F16) as FP32, and its inverse with one rounding. */
float assay_dtype_load_f32(assay_dtype dtype, const void *base, size_t i);
void assay_dtype_store_f32(assay_dtype dtype, void *base, size_t i, float value);

#endif
