/* compare_private.h - the frame that the instruction-set variants of the judge fill in.
 *
 * Elements are judged in blocks of at most ASSAY_BLOCK. Element i of a block belongs to lane i % 8. Counters
 * are exact; maxima do not depend on order; each sum is formed over one block in FP64 without contraction,
 *
 *     lane[l] = ((0 + term(l)) + term(l+8)) + ...
 *     block   = ((lane0+lane1) + (lane2+lane3)) + ((lane4+lane5) + (lane6+lane7))
 *     sum     = sum + block
 *
 * so that every variant yields the same bits. What is rare (first, worst, not comparable, near tie) is done
 * by the shared functions below, one element at a time, in ascending order. */
#ifndef ASSAY_COMPARE_PRIVATE_H
#define ASSAY_COMPARE_PRIVATE_H

#include "compare.h"
#include "dtype.h"

#define ASSAY_BLOCK 1024u
#define ASSAY_LANES 8

/* Cells of the histogram, flattened: row * ASSAY_ULP_BINS + bin. */
#define ASSAY_CELLS      ((size_t)ASSAY_ULP_EXPONENTS * ASSAY_ULP_BINS)
#define ASSAY_CELL_EQUAL ((unsigned)(255 * ASSAY_ULP_BINS + ASSAY_ULP_HALF)) /* not a number, equal bytes */
#define ASSAY_CELL_APART ((unsigned)(255 * ASSAY_ULP_BINS + 2 * ASSAY_ULP_HALF)) /* not comparable */
_Static_assert(ASSAY_CELLS <= 65536, "cells are kept in 16 bits");

/* ---- histogram counting (compare_tally.c) ---- */

/* Counts cells. Four interleaved sub-tables break the dependence between equal neighbours when there is much
 * to count. */
typedef struct assay_tally {
    uint64_t *cells; /* the caller's histogram; NULL = count nothing */
    uint32_t *sub;   /* [cell][4] of this thread; NULL when there is little to count, or it is in use */
    uint64_t pending;
    unsigned lowest, highest; /* cells counted in `sub`; none when lowest > highest */
} assay_tally;

void assay_tally_open(assay_tally *tally, assay_ulp_histogram *histogram, size_t n);
void assay_tally_add(assay_tally *tally, const uint16_t *cells, size_t n);
void assay_tally_close(assay_tally *tally);
void assay_histogram_merge(assay_ulp_histogram *into, const assay_ulp_histogram *from);

/* The cell of two comparable words: signed distance image(got) - image(want) in the row of want's exponent.
 */
unsigned assay_cell(uint32_t got, uint32_t want);

/* ---- parity ---- */

typedef struct assay_parity_view {
    assay_parity *parity;
    const uint32_t *got, *want;
    size_t n;
    uint64_t base;  /* global index of element 0 of the block */
    uint16_t *cell; /* NULL: no histogram */
} assay_parity_view;

/* One element in full (classes, worst, cell); not `elements` and not `first_*`. */
void assay_parity_element(assay_parity_view *view, size_t i);
/* Enters element i, known to be numeric with this distance, as worst when it is. */
void assay_parity_note_worst(assay_parity_view *view, size_t i, uint64_t distance);
/* The least distance that can still change `worst_*` in this block. */
uint64_t assay_parity_threshold(const assay_parity_view *view);

/* ---- accuracy ---- */

typedef enum assay_sum { SUM_ULP, SUM_ERR2, SUM_X, SUM_Y, SUM_XX, SUM_YY, SUM_XY, SUM_COUNT } assay_sum;
typedef enum assay_max { MAX_ABS, MAX_GOLDEN, MAX_ULP, MAX_COUNT } assay_max;

typedef struct assay_accuracy_view {
    assay_accuracy *accuracy;
    const uint32_t *got;
    const double *golden;
    size_t n;
    uint64_t base;
    double sum[SUM_COUNT][ASSAY_LANES];
    double max[MAX_COUNT][ASSAY_LANES];
    uint32_t rounded[ASSAY_BLOCK]; /* golden rounded to FP32; near ties settled */
    uint16_t cell[ASSAY_BLOCK];
} assay_accuracy_view;

/* Elements start..n-1 of the block by definition; the scalar variant and the tails of the others. */
void assay_accuracy_round_from(assay_accuracy_view *view, size_t start);
void assay_accuracy_measure_from(assay_accuracy_view *view, size_t start);
/* Settles element i when its golden is a near tie; `rounded[i]` holds the FP64 rounding. */
void assay_accuracy_check_tie(assay_accuracy_view *view, size_t i);
/* The rare elements among eight from i on, in ascending order; a bit of `special` excludes it from the other
 * masks. */
void assay_accuracy_rare(assay_accuracy_view *view, size_t i, unsigned special, unsigned outside,
                         unsigned worst, const double ulp[ASSAY_LANES]);
/* An element enters the worst list only if its ulp is at least this (positive) value. */
double assay_accuracy_threshold(const assay_accuracy_view *view);

/* A golden lies this close to a tie when |low 29 bits - 2^28| <= 2^9: 2^-20 of an ulp (2^29 units). */
#define ASSAY_TIE_HALF   (UINT64_C(1) << 28)
#define ASSAY_TIE_WINDOW (UINT64_C(1) << 9)

/* ---- variants ---- */

typedef struct assay_judge {
    bool (*equal)(const uint32_t *got, const uint32_t *want, size_t n); /* all words equal */
    void (*classify)(assay_parity_view *view);                          /* a block */
    void (*round)(assay_accuracy_view *view);                           /* a block: rounded[] */
    void (*measure)(assay_accuracy_view *view); /* a block: everything else, rounded[] given */
} assay_judge;

extern const assay_judge assay_judge_scalar, assay_judge_avx2, assay_judge_avx512;
const assay_judge *assay_judge_choose(void);

/* Floating-point control: round to nearest, subnormals kept, for the time of a call. */
unsigned assay_fp_enter(void);
void assay_fp_leave(unsigned saved);

#endif
