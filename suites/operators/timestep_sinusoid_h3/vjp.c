/* vjp.c - the FP64 golden of the vector-Jacobian product with respect to the timestep.
 *
 *     a       = t * f[k]
 *     grad[r] = sum over k ascending of ( g[k] * (-sin(a)) * f[k]  then  g[half+k] * cos(a) * f[k] )
 *
 * Sines and cosines are the golden's own, not the saved FP32 output; products and the running sum are FP64.
 */
#include "sinusoid.h"

#include <stdlib.h>

#define BLOCK_ROWS 64 /* rows per golden call: the frequencies are computed once per block */

void sinusoid_vjp(const assay_attrs *attrs, const float *x, const float *upstream, size_t rows,
                  double *grad) {
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    double *freq = sinusoid_alloc(a.half, sizeof *freq);
    double *block = sinusoid_alloc(2 * a.half * BLOCK_ROWS, sizeof *block);
    sinusoid_frequencies_f64(a, freq);
    for (size_t r = 0; r < rows; r++) {
        const float *g = upstream + r * 2 * a.half;
        const double *row = block + r % BLOCK_ROWS * 2 * a.half;
        double sum = 0.0;
        if (r % BLOCK_ROWS == 0) {
            sinusoid_golden(attrs, x + r, rows - r < BLOCK_ROWS ? rows - r : BLOCK_ROWS, block);
        }
        for (size_t k = 0; k < a.half; k++) {
            sum += (double)g[k] * -row[a.half + k] * freq[k];
            sum += (double)g[a.half + k] * row[k] * freq[k];
        }
        grad[r] = sum;
    }
    free(block);
    free(freq);
}
