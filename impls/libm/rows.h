/* rows.h - the row kernels of libm, one per path, bitwise identical where engine.h lets them be used. */
#ifndef ASSAY_LIBM_ROWS_H
#define ASSAY_LIBM_ROWS_H

#include "sinusoid.h"

void libm_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out, ptrdiff_t stride);
void libm_rows_avx2(const float *t, size_t rows, const float *f, size_t half, float *out, ptrdiff_t stride);
void libm_rows_avx512(const float *t, size_t rows, const float *f, size_t half, float *out, ptrdiff_t stride);

extern const frequency_exp libm_exp;

#endif
