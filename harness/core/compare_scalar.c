/* compare_scalar.c - the judge without vector instructions: every element by its definition. */
#include "compare_private.h"

#include <string.h>

static bool equal(const uint32_t *got, const uint32_t *want, size_t n) {
    return memcmp(got, want, n * sizeof *got) == 0;
}

static void classify(assay_parity_view *view) {
    for (size_t i = 0; i < view->n; i++) {
        assay_parity_element(view, i);
    }
}

static void round_block(assay_accuracy_view *view) {
    assay_accuracy_round_from(view, 0);
}

static void measure_block(assay_accuracy_view *view) {
    assay_accuracy_measure_from(view, 0);
}

const assay_judge assay_judge_scalar = {
    .equal = equal, .classify = classify, .round = round_block, .measure = measure_block};
