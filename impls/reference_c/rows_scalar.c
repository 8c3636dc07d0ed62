/* rows_scalar.c - the kernel as the contract writes it. */
#include "assay/cuda_math.h"
#include "rows.h"

void reference_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                           ptrdiff_t stride) {
    for (size_t row = 0; row < rows; row++, out += stride) {
        for (size_t k = 0; k < half; k++) {
            const float a = t[row] * f[k];
            out[k] = assay_cuda_cosf(a);
            out[half + k] = assay_cuda_sinf(a);
        }
    }
}
