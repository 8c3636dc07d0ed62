/* sinusoid.h - what the files of this folder share: the attributes, and the frequencies in FP64.
 *
 *     freq[k] = exp(-ln(max_period) * k / half)        k = 0 .. half-1
 *     out     = [cos(t * freq[0..half-1]), sin(t * freq[0..half-1])]                width = 2 * half
 *
 * Private to the folder. Nothing here may be used by an implementation. */
#ifndef ASSAY_SINUSOID_H
#define ASSAY_SINUSOID_H

#include "operator.h"

typedef struct sinusoid_attrs {
    size_t half; /* 0 when the width is not positive and even */
    double max_period;
} sinusoid_attrs;

/* Reads width (default 256) and max_period (default 10000). */
sinusoid_attrs sinusoid_attrs_read(const assay_attrs *attrs);

/* A zeroed array of `count` elements of `size` bytes; ends the process when memory is exhausted, as the judge
 * cannot go on. */
void *sinusoid_alloc(size_t count, size_t size);

/* freq[0..half-1] in FP64, rounded from long double: at most 0.51 ulp from the exact value. */
void sinusoid_frequencies_f64(sinusoid_attrs attrs, double *freq);

void sinusoid_golden(const assay_attrs *attrs, const float *x, size_t rows, double *out);
uint32_t sinusoid_exact(const assay_attrs *attrs, float x, size_t channel);
void sinusoid_vjp(const assay_attrs *attrs, const float *x, const float *upstream, size_t rows, double *grad);
bool sinusoid_replay(const char *lineage, const assay_attrs *attrs, const float *x, size_t rows, float *out);
bool sinusoid_replay_backward(const char *lineage, const assay_attrs *attrs, const float *x,
                              const float *saved, const float *upstream, size_t rows, float *grad);

/* cuda_math.c: CUDA's single precision functions in plain C, bit for bit. */

float sinusoid_cuda_expf(float x);
/* cosine[i] = cosf(t * freq[i]), sine[i] = sinf(t * freq[i]) for i < n, bit for bit, on the widest
 * instructions of this machine; `largest` is the largest of freq. */
void sinusoid_cuda_row(float t, const float *freq, float largest, size_t n, float *cosine, float *sine);

#endif
