/* npy_private.h - limits and the table of element types that reader and writer share. */
#ifndef ASSAY_NPY_PRIVATE_H
#define ASSAY_NPY_PRIVATE_H

#include "npy.h"

#define ASSAY_NPY_MAX_DIMS  8
#define ASSAY_NPY_MAX_BYTES ((size_t)1 << 30)
#define ASSAY_NPY_FIXED     10u  /* magic, version, header length */
#define ASSAY_NPY_PREAMBLE  512u /* more than the writer ever needs */

/* NumPy's name of each element type. */
extern const char *const assay_npy_descr[ASSAY_DTYPE_COUNT];

/* Bytes of the elements; false when a dimension is negative, the product overflows or exceeds the limit. */
bool assay_npy_payload(assay_dtype dtype, const int64_t *shape, int ndim, size_t *bytes);

#endif
