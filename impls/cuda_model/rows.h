/* rows.h - the row kernel of cuda_model: the model's functions as they stand, compiled once per path. */
#ifndef ASSAY_CUDA_MODEL_ROWS_H
#define ASSAY_CUDA_MODEL_ROWS_H

#include "assay/cuda_math.h"
#include "sinusoid.h"

void model_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                       ptrdiff_t stride);
void model_rows_avx2(const float *t, size_t rows, const float *f, size_t half, float *out, ptrdiff_t stride);

extern const sinusoid_engine model_engine;

static inline __attribute__((always_inline)) void model_rows(const float *t, size_t rows, const float *f,
                                                             size_t half, float *out, ptrdiff_t stride) {
    for (size_t row = 0; row < rows; row++, out += stride) {
        for (size_t k = 0; k < half; k++) {
            const float a = t[row] * f[k];
            out[k] = assay_cuda_cosf(a);
            out[half + k] = assay_cuda_sinf(a);
        }
    }
}

#endif
