/* values.h - value sets: the inputs a case draws from, addressable by index so that any part can be
 * generated on its own. Values are FP32; a case narrows them to its input dtype afterwards. */
#ifndef ASSAY_VALUES_H
#define ASSAY_VALUES_H

#include "error.h"
#include "philox.h"

#include <stddef.h>
#include <stdint.h>

/* X(enumerator, text, meaning). Parameters a, b, n are fields of assay_values. */
#define ASSAY_VALUES_LIST(X)                                                                                 \
    X(UNIFORM, "uniform",                                                                                    \
      "n Philox values on [0,1) (key), element 0 forced to 0 and the last to 1 when n > 1")                  \
    X(GRID, "grid", "n values i/(n-1) over [0,1] as FP64 quotient rounded once: i * (1/(n-1)) is not used")  \
    X(STRIDE, "stride", "every step-th bit pattern of [lo_bits, hi_bits], starting at lo_bits")              \
    X(ALL, "all", "every bit pattern of [lo_bits, hi_bits]")                                                 \
    X(LIST, "list", "an explicit list (hard cases)")

typedef enum assay_values_kind {
#define X(id, text, meaning) ASSAY_VALUES_##id,
    ASSAY_VALUES_LIST(X)
#undef X
        ASSAY_VALUES_COUNT
} assay_values_kind;

typedef struct assay_values {
    assay_values_kind kind;
    uint32_t step;        /* STRIDE */
    uint64_t count;       /* number of values; filled by assay_values_make for STRIDE and ALL */
    uint32_t lo_bits;     /* STRIDE, ALL: first bit pattern */
    uint32_t hi_bits;     /* STRIDE, ALL: last bit pattern, inclusive */
    assay_philox_key key; /* UNIFORM */
    const uint32_t *list; /* LIST: bit patterns, owned by the caller */
} assay_values;

/* Checks the parameters and fills `count`. Errors: zero values, lo_bits > hi_bits, step 0. */
assay_code assay_values_make(assay_values *values, assay_error *error);

/* Values first .. first+n-1. Requires first+n <= count. */
void assay_values_fill(const assay_values *values, uint64_t first, size_t n, float *out);

#endif
