/* device_code.h - finds the GPU code inside a file: PTX texts, CUDA machine code (cubins) and IR for linking,
 * bare or in fat binaries, compressed or not, wherever they lie (shared library, executable, object, archive,
 * data). The whole file is searched, not the sections that a compiler happens to use, so that code put
 * elsewhere is found too. Nothing is executed. Layout of fat binaries: read from what nvcc 13.0 writes in
 * each of its compression modes. */
#ifndef ASSAY_DEVICE_CODE_H
#define ASSAY_DEVICE_CODE_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_DEVICE_CODE_MAX_BYTES   ((size_t)1 << 28)   /* of one decompressed entry */
#define ASSAY_DEVICE_CODE_TOTAL_BYTES ((uint64_t)1 << 32) /* of all entries of a file */
#define ASSAY_DEVICE_CODE_MAX_ENTRIES 65536u

typedef enum assay_device_code_kind {
    ASSAY_DEVICE_CODE_PTX = 1,   /* text, without the NULs that end it */
    ASSAY_DEVICE_CODE_CUBIN = 2, /* an ELF file of machine code */
    ASSAY_DEVICE_CODE_OTHER = 3  /* IR for link-time optimisation, or a kind of entry not known here */
} assay_device_code_kind;

typedef struct assay_device_code {
    assay_device_code_kind kind;
    unsigned sm;       /* 90 for sm_90 and compute_90; 0 when the file does not say */
    uint64_t offset;   /* in the file: of the fat binary, the cubin or the text */
    const char *bytes; /* valid during the call */
    size_t n;
} assay_device_code;

/* Calls each(user, code) for every piece of device code in data[0..n), in file order. `each` returns false to
 * stop (with *error filled). *count (may be NULL) gets the number of pieces. USAGE, with one line, when a fat
 * binary is cut off, contradicts itself, does not decompress, or exceeds the limits above. */
assay_code assay_device_code_each(const void *data, size_t n,
                                  bool (*each)(void *user, const assay_device_code *code, assay_error *error),
                                  void *user, size_t *count, assay_error *error);

#endif
