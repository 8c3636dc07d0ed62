/* rows_scalar.c - the kernel with libsleef's scalar functions. */
#include "rows.h"
#include "scalar.h"

void sleef_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                       ptrdiff_t stride) {
    const sleef_functions *functions = sleef_scalar();
    for (size_t row = 0; row < rows; row++, out += stride) {
        for (size_t k = 0; k < half; k++) {
            const float a = t[row] * f[k];
            out[k] = functions->cosine(a);
            out[half + k] = functions->sine(a);
        }
    }
}
