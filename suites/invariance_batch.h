/* invariance_batch.h - what the invariance suite is made of: which sub-batches to form (pure), and a lane's
 * whole batch that is the candidate's own oracle, against which the rows of every sub-batch are compared by
 * bytes. Private to suites. */
#ifndef ASSAY_INVARIANCE_BATCH_H
#define ASSAY_INVARIANCE_BATCH_H

#include "direct.h"
#include "philox.h"

/* ---- pure: which rows are run together ---- */

/* Number of windows of `size` rows that cover all of `rows` rows; 0 when size is 0 or exceeds rows. */
uint64_t assay_windows_count(uint64_t rows, uint64_t size);
/* First row of window `index`: multiples of `size`, the last one moved back to end with the last row. */
uint64_t assay_windows_start(uint64_t rows, uint64_t size, uint64_t index);

#define ASSAY_SWEEP_SIZES 64
/* Batch sizes of the dense sweep over n rows: 1..9, 2^k-1, 2^k, 2^k+1 for k >= 4, and n itself; ascending,
 * distinct, none above n. */
size_t assay_sweep_sizes(uint64_t n, uint64_t sizes[ASSAY_SWEEP_SIZES]);
/* Distinct positions first, (size-1)/2, last of a batch: 1 to 3 of them. */
size_t assay_sweep_positions(uint64_t size, uint64_t positions[3]);
/* A random order of 0..n-1 (Fisher-Yates over the Philox stream of key). */
void assay_shuffle(assay_philox_key key, uint64_t n, uint32_t *order);
/* Rows of one sweep batch: `probe` at `position`, the others from a random order of all n rows without the
 * probe. */
void assay_sweep_batch(assay_philox_key key, uint64_t n, uint64_t probe, uint64_t size, uint64_t position,
                       uint32_t *rows);

/* ---- one lane's whole batch ---- */

typedef struct assay_whole_failure {
    bool any;
    uint64_t part, row, batch, position, channel;
    uint32_t got, want;
} assay_whole_failure;

typedef struct assay_whole_lane {
    bool ready;
    assay_tensor input, output; /* the whole batch, poisoned with A before the call */
    assay_tensor part_input,
        part_output; /* room for one sub-batch; the output holds poison B between calls */
    uint32_t *want;  /* what the whole batch gave, out of the candidate's reach: it can map the arena */
    uint64_t elements, bad;
    assay_whole_failure first; /* lowest part */
    uint32_t *got_row;         /* the first failing row, `channels` words */
    assay_result trouble;      /* set when a call did not answer ok */
    bool troubled;
} assay_whole_lane;

typedef struct assay_whole {
    const assay_context *context;
    const assay_check *check;
    const assay_case *c;
    size_t rows, channels, part_rows; /* part_rows: room of the sub-batch tensors */
    float *x;                         /* the whole batch's inputs, as FP32 after narrowing */
    assay_whole_lane *lanes;
} assay_whole;

/* Allocates inputs and lane states for check->c; part_rows is the largest sub-batch. */
bool assay_whole_open(assay_whole *whole, const assay_context *context, const assay_check *check,
                      size_t part_rows, assay_error *error);
void assay_whole_close(assay_whole *whole);
/* The lane's state; computes the whole batch on first use. NULL with error.code OK: the candidate did not
 * answer ok (troubled). */
assay_whole_lane *assay_whole_prepare(assay_whole *whole, assay_lane *lane, assay_error *error);

/* Runs rows first .. first+n-1 as a batch of their own and compares every row. False on trouble or harness
 * faults. */
bool assay_whole_window(assay_whole *whole, assay_lane *lane, uint64_t part, uint64_t first, uint64_t n,
                        assay_error *error);
/* Runs the values x[0..n) as a batch on `input` and `output` (NULL = the lane's sub-batch tensors); row j
 * must equal row map[j] of the whole batch, map[j] = UINT32_MAX is not compared. */
bool assay_whole_batch(assay_whole *whole, assay_lane *lane, uint64_t part, const float *x,
                       const uint32_t *map, uint64_t n, const assay_tensor *input, const assay_tensor *output,
                       assay_error *error);
/* Collects the lanes into a result: pass, fail with the first difference and a witness, or the lanes'
 * trouble. */
void assay_whole_judge(assay_whole *whole, assay_context *context, const assay_check *check,
                       assay_result *result);

/* ---- kinds of check ---- */

typedef enum assay_invariance_kind_id {
    ASSAY_INVARIANCE_WINDOWS,    /* p[0] rows at a time, every row covered */
    ASSAY_INVARIANCE_SWEEP,      /* probe rows in batches of many sizes, first, middle, last; the whole batch
                                    reversed */
    ASSAY_INVARIANCE_PROBE,      /* one value alone against batches that carry it */
    ASSAY_INVARIANCE_PERMUTED,   /* the whole batch p[0] times over, shuffled */
    ASSAY_INVARIANCE_NEIGHBOURS, /* every other row changed */
    ASSAY_INVARIANCE_PADDING,    /* rows added before or after */
    ASSAY_INVARIANCE_MISALIGNED, /* base addresses moved by p[0] bytes */
    ASSAY_INVARIANCE_STRIDED,    /* the input with stride p[0] */
    ASSAY_INVARIANCE_SWITCHES,   /* heads and tails of sizes around powers of two */
    ASSAY_INVARIANCE_KIND_COUNT
} assay_invariance_kind_id;

/* `parts` splits a check over the lanes, `part` does one (user = the assay_whole), `room` is the largest
 * sub-batch. */
typedef struct assay_invariance_kind {
    uint64_t (*parts)(const assay_whole *whole);
    bool (*part)(assay_lane *lane, uint64_t part, void *user, assay_error *error);
    size_t (*room)(const assay_case *c, int64_t p0);
} assay_invariance_kind;

extern const assay_invariance_kind assay_invariance_kinds[ASSAY_INVARIANCE_KIND_COUNT];

#endif
