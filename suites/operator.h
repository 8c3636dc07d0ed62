/* operator.h - what an operator folder provides besides its contract.json: three functions (golden, VJP
 * golden, replay) and the exact value of one element. The operators are row-wise functions of one row input:
 * rows in, rows x channels out.
 *
 * Everything here runs in the judge, in plain scalar C unless said otherwise, and shares no code with
 * implementations. */
#ifndef ASSAY_OPERATOR_H
#define ASSAY_OPERATOR_H

#include "assay/adapter.h"
#include "dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct assay_attrs {
    assay_attr items[8];
    size_t count;
} assay_attrs;

typedef struct assay_operator_def {
    const char *name;
    const char *contract_json;    /* embedded at build time */
    const size_t *contract_bytes; /* the embedded size; a pointer because C has no constant across files */
    /* Channels of one output row for these attributes (width). */
    size_t (*channels)(const assay_attrs *attrs);
    /* FP64 golden: out[r*channels + c] for inputs x[0..rows). Vectorised inside, deterministic. */
    void (*golden)(const assay_attrs *attrs, const float *x, size_t rows, double *out);
    /* FP32 bits of the correctly rounded exact value of one element (MPFR). */
    uint32_t (*exact)(const assay_attrs *attrs, float x, size_t channel);
    /* FP64 golden of the VJP wrt the row input: grad[r] for upstream[r*channels + c]. */
    void (*vjp)(const assay_attrs *attrs, const float *x, const float *upstream, size_t rows, double *grad);
    /* Names of lineages that can be replayed, NULL-terminated. */
    const char *const *lineages;
    /* FP32 replay of a lineage, op for op: forward. False when the lineage is unknown. */
    bool (*replay)(const char *lineage, const assay_attrs *attrs, const float *x, size_t rows, float *out);
    /* FP32 replay of the backward: `saved` is the forward output; grad is FP32 before the final cast to the
     * input's dtype. */
    bool (*replay_backward)(const char *lineage, const assay_attrs *attrs, const float *x, const float *saved,
                            const float *upstream, size_t rows, float *grad);
} assay_operator_def;

/* The registry, generated from the folders of suites/operators/. */
extern const assay_operator_def *const assay_operators[];
extern const size_t assay_operator_count;
const assay_operator_def *assay_operator_find(const char *name); /* NULL when unknown */

#endif
