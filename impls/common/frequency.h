/* frequency.h - the frequency table of timestep_sinusoid_h3, with the exponential as a parameter.
 *
 *     c = (float)(-log((double)max_period))     inv = 1.0f / (float)half
 *     f[k] = EXP(rn(rn(c * (float)k) * inv)),  k = 0 .. half-1
 */
#ifndef ASSAY_IMPL_FREQUENCY_H
#define ASSAY_IMPL_FREQUENCY_H

#include <stddef.h>

/* The only step of the operator that is not IEEE arithmetic on every device, hence exchangeable. */
typedef struct frequency_exp {
    const char *name;
    float (*evaluate)(float x);
} frequency_exp;

/* CUDA's expf, bit for bit (assay/cuda_math.h). */
extern const frequency_exp frequency_exp_cuda;

typedef struct frequency_table {
    size_t half;
    float f[];
} frequency_table;

/* Writes f[0..half) for a period that is finite and positive. */
void frequency_fill(const frequency_exp *exp, double max_period, size_t half, float *f);

/* The table for (exp, max_period, half), immutable, to be handed back with frequency_release(). NULL when
 * memory is short. Recent tables are kept; they are found by everything that they depend on, so an answer is
 * never stale. Any thread may call. */
const frequency_table *frequency_acquire(const frequency_exp *exp, double max_period, size_t half);

/* Hands a table back; NULL is allowed. The caller must not use it afterwards. */
void frequency_release(const frequency_table *table);

#endif
