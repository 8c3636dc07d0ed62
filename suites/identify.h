/* identify.h - which lineage of a formula an implementation follows: its outputs against those of every
 * lineage that is given, bit for bit, on inputs that tell the lineages apart. Writes no evidence. */
#ifndef ASSAY_IDENTIFY_H
#define ASSAY_IDENTIFY_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct assay_identify_options {
    const char *op;
    const char *impl_path, *impl_name;
    const char *device;          /* "cpu" or "cuda:N"; where the candidate runs */
    const char *const *lineages; /* paths of adapters on host memory */
    size_t lineage_count;        /* >= 1 */
    unsigned call_timeout_ms;    /* 0 = the worker's default */
} assay_identify_options;

/* The first output, in the order of the probes, that a lineage has otherwise. */
typedef struct assay_departure {
    char probe[96];
    uint64_t row, channel;
    uint32_t input, got, want; /* FP32 words: of the row, of the candidate, of the lineage */
} assay_departure;

typedef struct assay_identify_row {
    const char *path; /* as given in the options */
    char name[64], text[128];
    uint64_t compared, differing;
    double mean_abs; /* mean of |candidate - lineage| over the compared outputs; not-a-number counts as 2 */
    bool whole;      /* every probe row was compared; else the first rows of each probe, as it was far off */
    assay_departure first; /* when differing > 0 */
    char trouble[256];     /* "" or why it could not be compared */
} assay_identify_row;

typedef struct assay_identify_report {
    char lineage[128];        /* what the candidate claims, "" when nothing */
    uint64_t outputs;         /* of the candidate, over all probes that it answered */
    size_t probes, answered;  /* probes that it rejects are left out */
    assay_identify_row *rows; /* nearest first: fewest differing outputs, then least mean_abs; trouble last */
    size_t count, matching;   /* the first `matching` rows have the candidate's bits throughout */
} assay_identify_report;

/* OK also when nothing matches. USAGE: no such adapter, operator not offered, device does not fit.
 * INCOMPLETE: no device, the candidate answered no probe, was lost, or changed what is not its own, or no
 * lineage could be compared. Free the report also then. */
assay_code assay_identify(const assay_identify_options *options, assay_identify_report *report,
                          assay_error *error);
void assay_identify_free(assay_identify_report *report);

#endif
