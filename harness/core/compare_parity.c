/* compare_parity.c - parity of words: blocks, classes by definition, merge. */
#include "compare_private.h"

#include <string.h>

typedef enum word_class { WORD_EQUAL, ZERO_SIGN, NAN_NUMBER, NAN_PAYLOAD, INFINITE, NUMERIC } word_class;

/* The class of two words without their sign bits: `inf` is the magnitude of infinity in their format. */
static word_class classify_words(uint32_t got, uint32_t want, uint32_t sign, uint32_t inf) {
    const uint32_t g = got & ~sign, w = want & ~sign;
    if (got == want) {
        return WORD_EQUAL;
    }
    if (g > inf || w > inf) {
        return g > inf && w > inf ? NAN_PAYLOAD : NAN_NUMBER;
    }
    if (g == inf || w == inf) {
        return INFINITE;
    }
    return g == 0 && w == 0 ? ZERO_SIGN : NUMERIC;
}

static void count_class(assay_parity *parity, word_class class) {
    parity->differing += class != WORD_EQUAL;
    parity->zero_sign += class == ZERO_SIGN;
    parity->nan_number += class == NAN_NUMBER;
    parity->nan_payload += class == NAN_PAYLOAD;
    parity->infinite += class == INFINITE;
    parity->numeric += class == NUMERIC;
}

/* Keeps the lowest index. `was` is the number of differing elements before this one. */
static void note_first(assay_parity *parity, uint64_t was, uint64_t index, uint32_t got, uint32_t want) {
    if (was == 0 || index < parity->first_index) {
        parity->first_index = index;
        parity->first_got = got;
        parity->first_want = want;
    }
}

/* Larger distance first, then lower index. Every numeric distance is at least 1, so 0 means that there is
 * none yet. */
static void note_worst(assay_parity *parity, uint64_t distance, uint64_t index, uint32_t got, uint32_t want) {
    if (distance > parity->max_ulp || (distance == parity->max_ulp && index < parity->worst_index)) {
        parity->max_ulp = distance;
        parity->worst_index = index;
        parity->worst_got = got;
        parity->worst_want = want;
    }
}

void assay_parity_note_worst(assay_parity_view *view, size_t i, uint64_t distance) {
    note_worst(view->parity, distance, view->base + i, view->got[i], view->want[i]);
}

uint64_t assay_parity_threshold(const assay_parity_view *view) {
    const assay_parity *const parity = view->parity;
    const bool ties_win = parity->max_ulp > 0 && view->base < parity->worst_index;
    return parity->max_ulp + (ties_win ? 0 : 1);
}

void assay_parity_element(assay_parity_view *view, size_t i) {
    const uint32_t got = view->got[i], want = view->want[i];
    const word_class class = classify_words(got, want, 0x80000000u, 0x7f800000u);
    const bool finite = (got & 0x7fffffffu) < 0x7f800000u && (want & 0x7fffffffu) < 0x7f800000u;
    count_class(view->parity, class);
    if (class == NUMERIC) {
        const int64_t distance = assay_ulp_distance_f32(got, want);
        assay_parity_note_worst(view, i, (uint64_t)(distance < 0 ? -distance : distance));
    }
    if (view->cell != NULL) {
        view->cell[i] = (uint16_t)(finite                ? assay_cell(got, want)
                                   : class == WORD_EQUAL ? ASSAY_CELL_EQUAL
                                                         : ASSAY_CELL_APART);
    }
}

/* The first differing element of a block, when it precedes the one on record. */
static void block_first(assay_parity_view *view, uint64_t was) {
    const assay_parity *const parity = view->parity;
    if (parity->differing == was || (was > 0 && view->base >= parity->first_index)) {
        return;
    }
    for (size_t i = 0; i < view->n; i++) {
        if (view->got[i] != view->want[i]) {
            note_first(view->parity, was, view->base + i, view->got[i], view->want[i]);
            return;
        }
    }
}

void assay_parity_add_f32(assay_parity *parity, const uint32_t *got, const uint32_t *want, size_t n,
                          uint64_t base) {
    const assay_judge *const judge = assay_judge_choose();
    uint16_t cells[ASSAY_BLOCK];
    assay_tally tally;
    assay_tally_open(&tally, parity->histogram, n);
    for (size_t done = 0; done < n;) {
        const size_t take = n - done < ASSAY_BLOCK ? n - done : ASSAY_BLOCK;
        assay_parity_view view = {.parity = parity,
                                  .got = got + done,
                                  .want = want + done,
                                  .n = take,
                                  .base = base + done,
                                  .cell = parity->histogram == NULL ? NULL : cells};
        const uint64_t was = parity->differing;
        if (view.cell != NULL || !judge->equal(view.got, view.want, take)) {
            judge->classify(&view);
            block_first(&view, was);
            assay_tally_add(&tally, cells, view.cell == NULL ? 0 : take);
        }
        done += take;
    }
    parity->elements += n;
    assay_tally_close(&tally);
}

/* Sign-magnitude image of a 16-bit word. */
static int32_t image_16(uint16_t bits) {
    const int32_t magnitude = bits & 0x7fff;
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void assay_parity_add_16(assay_parity *parity, bool bf16, const uint16_t *got, const uint16_t *want, size_t n,
                         uint64_t base) {
    const uint32_t inf = bf16 ? 0x7f80u : 0x7c00u;
    for (size_t done = 0; done < n;) {
        const size_t take = n - done < ASSAY_BLOCK ? n - done : ASSAY_BLOCK;
        const bool equal = memcmp(got + done, want + done, take * sizeof *got) == 0;
        for (size_t i = done; i < done + take && !equal; i++) {
            const uint64_t was = parity->differing;
            const word_class class = classify_words(got[i], want[i], 0x8000u, inf);
            count_class(parity, class);
            if (class != WORD_EQUAL) {
                note_first(parity, was, base + i, got[i], want[i]);
            }
            if (class == NUMERIC) {
                const int32_t distance = image_16(got[i]) - image_16(want[i]);
                note_worst(parity, (uint64_t)(distance < 0 ? -distance : distance), base + i, got[i],
                           want[i]);
            }
        }
        done += take;
    }
    parity->elements += n;
}

void assay_parity_merge(assay_parity *parity, const assay_parity *other) {
    if (other->differing > 0) {
        note_first(parity, parity->differing, other->first_index, other->first_got, other->first_want);
    }
    if (other->numeric > 0) {
        note_worst(parity, other->max_ulp, other->worst_index, other->worst_got, other->worst_want);
    }
    parity->elements += other->elements;
    parity->differing += other->differing;
    parity->zero_sign += other->zero_sign;
    parity->nan_number += other->nan_number;
    parity->nan_payload += other->nan_payload;
    parity->infinite += other->infinite;
    parity->numeric += other->numeric;
    if (parity->histogram != NULL && other->histogram != NULL) {
        assay_histogram_merge(parity->histogram, other->histogram);
    }
}
