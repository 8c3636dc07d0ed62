/* rows_scalar.c - the kernel with the system's cosf, sinf and expf. fast_math builds this very file. */
#include "rows.h"

#include <math.h>

static float system_expf(float x) {
    return expf(x);
}

const frequency_exp libm_exp = {.name = "system expf", .evaluate = system_expf};

void libm_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                      ptrdiff_t stride) {
    for (size_t row = 0; row < rows; row++, out += stride) {
        const float value = t[row];
        for (size_t k = 0; k < half; k++) {
            out[k] = cosf(value * f[k]);
        }
        for (size_t k = 0; k < half; k++) {
            out[half + k] = sinf(value * f[k]);
        }
    }
}
