/* sinusoid.h - the operator timestep_sinusoid_h3 around an exchangeable kernel.
 *
 *     a = rn(t * f[k])      out[k] = COS(a)      out[half + k] = SIN(a)
 *
 * An adapter fills in a sinusoid_engine and forwards its two entry points here. The argument checks, the
 * frequency table, element types, strides and the gradient's order are the same for all of them.
 */
#ifndef ASSAY_IMPL_SINUSOID_H
#define ASSAY_IMPL_SINUSOID_H

#include "assay/adapter.h"
#include "cpu_path.h"
#include "frequency.h"

#include <stdbool.h>

#define SINUSOID_OPERATOR "timestep_sinusoid_h3"

/* Writes rows [0, rows): row r starts at out + r*stride and has 2*half elements. Writes nothing else. */
typedef void (*sinusoid_rows)(const float *t, size_t rows, const float *f, size_t half, float *out,
                              ptrdiff_t stride);

/* `rows` by path; NULL where the adapter does not offer the path (then the next slower one is used;
 * the scalar one is never NULL). */
typedef struct sinusoid_engine {
    const frequency_exp *exp;
    sinusoid_rows rows[CPU_PATH_COUNT];
} sinusoid_engine;

/* A checked vector or matrix: strides in elements. */
typedef struct sinusoid_view {
    void *data;
    ptrdiff_t row_stride;
    ptrdiff_t column_stride;
} sinusoid_view;

typedef enum sinusoid_type { SINUSOID_F32, SINUSOID_BF16, SINUSOID_F16 } sinusoid_type;

/* What is left of a call once it has passed the checks. `out` serves forward; the last three serve backward.
 */
typedef struct sinusoid_args {
    DLDeviceType memory; /* where the tensors are */
    size_t rows;
    size_t half;
    double max_period;
    bool check_range;
    sinusoid_type type;
    sinusoid_view timestep;
    sinusoid_view out;
    sinusoid_view upstream;
    sinusoid_view saved;
    sinusoid_view grad;
} sinusoid_args;

/* Check a call against the contract. ASSAY_OK fills in `args`; ASSAY_INVALID_ARGUMENT leaves a message. No
 * output byte is touched. */
assay_status sinusoid_check_forward(const assay_call *call, sinusoid_args *args);
assay_status sinusoid_check_backward(const assay_call *call, sinusoid_args *args);
/* The same for tensors in `memory`; values are checked in host memory only, and by the caller elsewhere. */
assay_status sinusoid_check_forward_in(DLDeviceType memory, const assay_call *call, sinusoid_args *args);
assay_status sinusoid_check_backward_in(DLDeviceType memory, const assay_call *call, sinusoid_args *args);

/* Element i of the timestep as FP32. */
float sinusoid_load(sinusoid_type type, const sinusoid_view *view, size_t i);

/* The kernel and the path that a call uses now. */
sinusoid_rows sinusoid_engine_rows(const sinusoid_engine *engine, cpu_path *path);

/* The entry points: check, then compute. */
assay_status sinusoid_forward(const assay_call *call, const sinusoid_engine *engine);
assay_status sinusoid_backward(const assay_call *call, const sinusoid_engine *engine);

/* One row of the gradient, before the cast to the timestep's type. `x` is scratch of `padded` elements, the
 * next power of two >= 2*half:
 *
 *     x[k]        = -(g[k] * y[half + k]) * f[k]     the cosine half
 *     x[half + k] = (g[half + k] * y[k]) * f[k]      the sine half
 *     the rest    = 0
 *     for width = padded, padded/2, ... 2:   x[i] = x[i] + x[i + width/2] for i < width/2
 */
float sinusoid_gradient_row(const float *g, const float *y, const float *f, size_t half, float *x,
                            size_t padded);

#endif
