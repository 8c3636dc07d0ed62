/* rows_scalar.c - the kernel for every machine. */
#include "rows.h"

void model_rows_scalar(const float *t, size_t rows, const float *f, size_t half, float *out,
                       ptrdiff_t stride) {
    model_rows(t, rows, f, half, out, stride);
}
