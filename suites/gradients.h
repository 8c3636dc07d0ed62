/* gradients.h - one backward call and its data, shared by gradients.c and gradients_rows.c. Private to
 * suites. */
#ifndef ASSAY_GRADIENTS_H
#define ASSAY_GRADIENTS_H

#include "sensitivity.h"

typedef enum assay_gradient_kind {
    GRADIENT_GOLDEN,   /* against the FP64 golden VJP */
    GRADIENT_SELF,     /* the golden VJP against central differences of the golden: judges the judge */
    GRADIENT_REPLAY,   /* against the replay of the claimed lineage */
    GRADIENT_UNKNOWN,  /* a lineage without a replay */
    GRADIENT_NONE,     /* no lineage claimed */
    GRADIENT_ALONE,    /* every row alone against the batch */
    GRADIENT_PLACES,   /* one row first, in the middle and last among others */
    GRADIENT_PERMUTED, /* rows reversed and rotated */
    GRADIENT_REPEATED  /* again, after other work, in a fresh process */
} assay_gradient_kind;

/* Rows of a case with their upstream, and what the candidate made of them. */
typedef struct assay_gradient_batch {
    size_t rows, channels, element; /* element: bytes of one gradient */
    float *x, *upstream, *saved;
    unsigned char *grad;
} assay_gradient_batch;

void assay_gradient_open(const assay_context *context, const assay_case *c, size_t rows,
                         assay_gradient_batch *batch);
void assay_gradient_close(assay_gradient_batch *batch);
/* Rows first.. of the case into the batch: inputs and upstream. */
void assay_gradient_load(const assay_context *context, const assay_case *c, uint64_t first,
                         assay_gradient_batch *batch);
/* Copies row `from` of one batch to row `to` of another: input, upstream and saved output. */
void assay_gradient_copy_row(const assay_gradient_batch *source, size_t from, assay_gradient_batch *target,
                             size_t to);

/* The candidate's forward into batch->saved, and its backward into batch->grad. True when answered ok with
 * nothing else touched; else *result says what happened. */
bool assay_gradient_forward(const assay_context *context, assay_worker *worker, const assay_case *c,
                            assay_gradient_batch *batch, assay_result *result);
bool assay_gradient_backward(const assay_context *context, assay_worker *worker, const assay_case *c,
                             assay_gradient_batch *batch, assay_result *result);

/* The bits of gradient `row` as they are stored (16 or 32). */
uint32_t assay_gradient_bits(const assay_gradient_batch *batch, size_t row);

/* gradients_rows.c: plan and run of the row kinds. */
void assay_gradient_rows_plan(const assay_context *context, assay_plan *plan);
void assay_gradient_rows_run(assay_context *context, const assay_check *check, assay_result *result);

extern const assay_suite assay_suite_gradients;

#endif
