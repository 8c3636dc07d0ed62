/* rows.h - the row kernels of sleef, one per path.
 *
 * libsleef's "finz" functions are its deterministic 1.0-ulp builds with FMA: the library promises the same
 * bits from every vector width, so the paths here agree with one another.
 */
#ifndef ASSAY_SLEEF_ROWS_H
#define ASSAY_SLEEF_ROWS_H

#include "sinusoid.h"

void sleef_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                       ptrdiff_t stride);
void sleef_rows_avx2(const float *t, size_t rows, const float *f, size_t half, float *out, ptrdiff_t stride);
void sleef_rows_avx512(const float *t, size_t rows, const float *f, size_t half, float *out,
                       ptrdiff_t stride);

extern const sinusoid_engine sleef_engine;

#endif
