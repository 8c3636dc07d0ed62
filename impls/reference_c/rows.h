/* rows.h - the row kernels of reference_c, one per path, bitwise identical. */
#ifndef ASSAY_REFERENCE_C_ROWS_H
#define ASSAY_REFERENCE_C_ROWS_H

#include "sinusoid.h"

void reference_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                           ptrdiff_t stride);
void reference_rows_avx2(const float *t, size_t rows, const float *f, size_t half, float *out,
                         ptrdiff_t stride);
void reference_rows_avx512(const float *t, size_t rows, const float *f, size_t half, float *out,
                           ptrdiff_t stride);

extern const sinusoid_engine reference_engine;

#endif
