/* compare_tally.c - counting into the signed ulp histogram. */
#include "compare_private.h"

#include <string.h>

#define SUB_TABLES   4u
#define WORTH_TABLES 1024u               /* below this many elements folding costs more than it saves */
#define FOLD_PENDING (UINT64_C(1) << 31) /* a 32-bit counter cannot overflow before this many */

/* [cell][4], all zero between calls, so that a call pays only for the cells that it touched. */
static _Thread_local struct {
    uint32_t sub[(size_t)ASSAY_CELLS * SUB_TABLES];
    bool taken;
} workspace;

void assay_tally_open(assay_tally *tally, assay_ulp_histogram *histogram, size_t n) {
    tally->cells = histogram == NULL ? NULL : &histogram->count[0][0];
    tally->sub = NULL;
    tally->pending = 0;
    tally->lowest = ASSAY_CELLS;
    tally->highest = 0;
    if (histogram != NULL && n >= WORTH_TABLES && !workspace.taken) {
        workspace.taken = true;
        tally->sub = workspace.sub;
    }
}

static void fold(assay_tally *tally) {
    for (size_t cell = tally->lowest; cell <= tally->highest; cell++) {
        uint32_t *const sub = tally->sub + SUB_TABLES * cell;
        tally->cells[cell] += (uint64_t)sub[0] + sub[1] + sub[2] + sub[3];
        sub[0] = sub[1] = sub[2] = sub[3] = 0;
    }
    tally->pending = 0;
    tally->lowest = ASSAY_CELLS;
    tally->highest = 0;
}

/* Eight cells; as signed numbers, which they fit into, minimum and maximum are single instructions. */
typedef int16_t cells8 __attribute__((vector_size(16)));
_Static_assert(ASSAY_CELLS <= INT16_MAX, "cells fit into a signed 16-bit number");

/* Widens [lowest, highest] by n cells, n a multiple of 8. */
static void widen(assay_tally *tally, const uint16_t *cells, size_t n) {
    cells8 low = {0};
    low += INT16_MAX;
    cells8 high = {0};
    for (size_t i = 0; i < n; i += 8) {
        cells8 v;
        memcpy(&v, cells + i, sizeof v);
        const cells8 below = v < low;
        const cells8 above = v > high;
        low = (v & below) | (low & ~below);
        high = (v & above) | (high & ~above);
    }
    for (int lane = 0; lane < 8; lane++) {
        tally->lowest = (unsigned)low[lane] < tally->lowest ? (unsigned)low[lane] : tally->lowest;
        tally->highest = (unsigned)high[lane] > tally->highest ? (unsigned)high[lane] : tally->highest;
    }
}

void assay_tally_add(assay_tally *tally, const uint16_t *cells, size_t n) {
    size_t i = 0;
    if (tally->cells == NULL) {
        return;
    }
    if (tally->sub != NULL && n >= 8) {
        uint32_t *const sub = tally->sub;
        const size_t whole = n / 8 * 8;
        widen(tally, cells, whole);
        for (; i < whole; i += SUB_TABLES) {
            sub[SUB_TABLES * cells[i] + 0]++;
            sub[SUB_TABLES * cells[i + 1] + 1]++;
            sub[SUB_TABLES * cells[i + 2] + 2]++;
            sub[SUB_TABLES * cells[i + 3] + 3]++;
        }
        tally->pending += i;
        if (tally->pending >= FOLD_PENDING) {
            fold(tally);
        }
    }
    for (; i < n; i++) {
        tally->cells[cells[i]]++;
    }
}

void assay_tally_close(assay_tally *tally) {
    if (tally->sub != NULL) {
        fold(tally);
        workspace.taken = false;
        tally->sub = NULL;
    }
}

void assay_histogram_merge(assay_ulp_histogram *into, const assay_ulp_histogram *from) {
    for (size_t row = 0; row < ASSAY_ULP_EXPONENTS; row++) {
        for (size_t bin = 0; bin < ASSAY_ULP_BINS; bin++) {
            into->count[row][bin] += from->count[row][bin];
        }
    }
}

unsigned assay_cell(uint32_t got, uint32_t want) {
    const int64_t distance = assay_ulp_distance_f32(got, want);
    const int64_t bin = distance < -ASSAY_ULP_HALF  ? -ASSAY_ULP_HALF
                        : distance > ASSAY_ULP_HALF ? ASSAY_ULP_HALF
                                                    : distance;
    return (want >> 23 & 255u) * ASSAY_ULP_BINS + (unsigned)(bin + ASSAY_ULP_HALF);
}
