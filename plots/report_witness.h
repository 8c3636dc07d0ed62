/* report_witness.h - witness bundles: the smallest inputs that show a broken promise, as JSON, .npy and a C
 * program. */
#ifndef ASSAY_REPORT_WITNESS_H
#define ASSAY_REPORT_WITNESS_H

#include "error.h"
#include "report_model.h"

#include <jansson.h>

typedef struct report_witness_item {
    const report_check *check;
    const char
        *stem; /* file name without ending: witness-<check>, with the characters that a file name bears */
    const char *text; /* one line: what differs */
    const char *case_json;
    const uint8_t *input, *got, *want; /* little-endian FP32 words */
    size_t input_bytes, got_bytes, want_bytes;
} report_witness_item;

typedef struct report_witness_list {
    report_witness_item *items;
    size_t count;
} report_witness_list;

/* The recorded witnesses of the first REPORT_WITNESS_CHECKS failed checks of each promise; a failed check
 * without one gets a witness of its first (else worst) recorded element. */
#define REPORT_WITNESS_CHECKS 3
void report_witness_collect(const report_model *model, report_witness_list *list);

/* The bundle's JSON: check, promise, text, case, repro, and the words as hex. New reference; NULL when out of
 * memory. */
json_t *report_witness_json(const report_witness_item *item);

/* Writes the bundles into an existing directory, each file atomically. */
assay_code report_witness_write(const report_model *model, const char *directory, assay_error *error);

#endif
