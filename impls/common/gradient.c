/* gradient.c - one row of the gradient, in the order that stands in sinusoid.h. */
#include "sinusoid.h"

#include "convert.h"

float sinusoid_gradient_row(const float *g, const float *y, const float *f, size_t half, float *x,
                            size_t padded) {
    for (size_t k = 0; k < half; k++) {
        const float cos_product = g[k] * y[half + k];
        const float sin_product = g[half + k] * y[k];
        x[k] = -cos_product * f[k];
        x[half + k] = sin_product * f[k];
    }
    for (size_t i = 2 * half; i < padded; i++) {
        x[i] = 0.0f;
    }
    for (size_t level = padded / 2; level > 0; level /= 2) {
        for (size_t i = 0; i < level; i++) {
            x[i] = x[i] + x[i + level];
        }
    }
    /* A NaN's payload would depend on operand order, which C leaves to the compiler. */
    return x[0] == x[0] ? x[0] : convert_float(CONVERT_NAN_BITS);
}
