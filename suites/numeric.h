/* numeric.h - what parity, accuracy and gradients share: their cases, and the walk of a case over the lanes.
 * Private to suites. */
#ifndef ASSAY_NUMERIC_H
#define ASSAY_NUMERIC_H

#include "direct.h"

typedef struct assay_numeric_case {
    assay_case c;
    bool all;   /* every value of its dtype within the contract's interval (and the zeros in `hard`) */
    bool set;   /* one of the published sets: large, ordered by the contract */
    bool whole; /* all rows in one call, to pass grid limits and 2^24 elements */
} assay_numeric_case;

#define ASSAY_NUMERIC_WHOLE 0 /* index in assay_check.p: not 0 = all rows of the case in one call */
#define ASSAY_NUMERIC_CASES 64
typedef struct assay_numeric_list {
    assay_numeric_case items[ASSAY_NUMERIC_CASES];
    size_t count;
} assay_numeric_list;

/* The forward cases of the contract's matrices: rows, widths, max_periods, narrow, all_narrow (not in the
 * quick tier), strided, hard, one_call_rows, sets (as
 * large as the tier grants `suite`). */
void assay_numeric_forward(const assay_context *context, const char *suite, assay_numeric_list *list);

/* Whether the operator can replay the lineage ("" never). */
bool assay_numeric_replayable(const assay_context *context, const char *lineage);

/* The row of a tolerance for output number 0 of forward or backward; NULL when the contract has none. */
const assay_tolerance *assay_numeric_tolerance(const assay_context *context, bool backward,
                                               assay_dtype dtype);

/* One block of consecutive rows as the candidate (and the baseline) answered it. */
typedef struct assay_block {
    uint64_t first_row;
    size_t rows, channels;
    const float *x;        /* FP32 values that the operator saw */
    const uint32_t *got;   /* the candidate's words */
    const uint32_t *other; /* the baseline's, NULL without one */
    bool again;            /* the second judge shall judge this block too */
} assay_block;

/* Judges one block on lane `lane`. False stops the walk with *error. */
typedef bool assay_block_fn(void *user, unsigned lane, const assay_block *block, assay_error *error);

/* What a walk does about the baseline. */
typedef enum assay_second {
    ASSAY_SECOND_NONE,   /* it is not run */
    ASSAY_SECOND_OWED,   /* it is run; when it does not answer, the check is unavailable */
    ASSAY_SECOND_WELCOME /* it is run; when it does not answer, blocks come without it */
} assay_second;

/* Runs the check's case through the candidate (and the baseline), in chunks over the lanes, and hands every
 * block of at most ASSAY_BLOCK_WORDS words (but at least one row) to `judge`. One block of each chunk, drawn
 * by the run's seed, has `again` set. Returns true when every chunk was answered; else *result says which
 * call failed. */
#define ASSAY_BLOCK_WORDS 16384u
bool assay_numeric_walk(assay_context *context, const assay_check *check, assay_second second,
                        assay_block_fn *judge, void *user, assay_result *result);

/* Zeroed memory; ends the process when exhausted, as the judge cannot go on. */
void *assay_numeric_alloc(size_t count, size_t bytes);

/* Records the smallest input that shows a broken forward promise: row `row` of the case, run alone. `got` and
 * `want` are the row's words as first seen; when the row alone gives `want`, the witness says that it needs
 * its batch. */
void assay_numeric_witness(assay_context *context, const assay_check *check, uint64_t row,
                           const uint32_t *got, const uint32_t *want);

/* Two accumulators of the same elements by the two judges. */
bool assay_numeric_same_parity(const assay_parity *a, const assay_parity *b);
bool assay_numeric_same_accuracy(const assay_accuracy *a, const assay_accuracy *b);

#endif
