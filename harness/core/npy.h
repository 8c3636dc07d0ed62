/* npy.h - writes and reads NumPy .npy version 1.0 files (witness bundles). Little-endian, C order. */
#ifndef ASSAY_NPY_H
#define ASSAY_NPY_H

#include "dtype.h"
#include "error.h"

/* Writes atomically (temporary file, fsync, rename). bf16 is stored as <u2 (NumPy has no bf16). */
assay_code assay_npy_write(const char *path, assay_dtype dtype, const int64_t *shape, int ndim,
                           const void *data, assay_error *error);

typedef struct assay_npy {
    assay_dtype dtype;
    int ndim;
    int64_t shape[8];
    void *data; /* malloc'ed; assay_npy_free */
    size_t bytes;
} assay_npy;

/* Reads a file of at most 1 GiB; refuses Fortran order, unknown dtypes, overflowing shapes, short files. */
assay_code assay_npy_read(const char *path, assay_npy *out, assay_error *error);
/* The same from memory (for fuzzing). */
assay_code assay_npy_parse(const void *bytes, size_t n, assay_npy *out, assay_error *error);
void assay_npy_free(assay_npy *npy);

#endif
