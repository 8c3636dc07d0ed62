/* compare_tally.c - counting into the signed ulp histogram. */
#include "compare_private.h"

#include <stdlib.h>

#define SUB_TABLES   4u
#define WORTH_TABLES 32768u /* below this many elements clearing and folding costs more than it saves */
#define FOLD_PENDING (UINT64_C(1) << 31) /* a 32-bit counter cannot overflow before this many */

void assay_tally_open(assay_tally *tally, assay_ulp_histogram *histogram, size_t n) {
    tally->cells = histogram == NULL ? NULL : &histogram->count[0][0];
    tally->sub = NULL;
    tally->pending = 0;
    if (histogram != NULL && n >= WORTH_TABLES) {
        tally->sub = calloc(SUB_TABLES * ASSAY_CELLS, sizeof *tally->sub);
    }
}

static void fold(assay_tally *tally) {
    for (size_t cell = 0; cell < ASSAY_CELLS; cell++) {
        uint32_t *const sub = tally->sub + SUB_TABLES * cell;
        tally->cells[cell] += (uint64_t)sub[0] + sub[1] + sub[2] + sub[3];
        sub[0] = sub[1] = sub[2] = sub[3] = 0;
    }
    tally->pending = 0;
}

void assay_tally_add(assay_tally *tally, const uint16_t *cells, size_t n) {
    size_t i = 0;
    if (tally->cells == NULL) {
        return;
    }
    if (tally->sub != NULL) {
        uint32_t *const sub = tally->sub;
        for (; i + SUB_TABLES <= n; i += SUB_TABLES) {
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
        free(tally->sub);
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
