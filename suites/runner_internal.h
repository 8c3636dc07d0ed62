/* runner_internal.h - state of one run, shared by runner.c, plan.c and prove.c. Private to suites. */
#ifndef ASSAY_RUNNER_INTERNAL_H
#define ASSAY_RUNNER_INTERNAL_H

#include "provenance.h"
#include "recorder.h"
#include "runner.h"

#define ASSAY_MAX_LANES 64

typedef struct assay_runner {
    assay_context context; /* first member: the suites' view */
    assay_contract *contract;
    assay_worker_options candidate_options, baseline_options;
    assay_lane lanes[ASSAY_MAX_LANES];
    assay_provenance *provenance;
    assay_binary_record binaries[3];
    size_t binary_count;
    char sha256[3][65];
    char paths[3][4096];
    char lineages[2][128]; /* candidate, baseline */
} assay_runner;

/* Everything that can be refused before a row is written: operator, contract, device, adapters, trees.
 * `needs_clean`: refuse dirty or unknown trees. On failure the runner is closed. */
assay_code assay_runner_open(assay_runner *runner, const assay_certify_options *options, bool needs_clean,
                             assay_error *error);
void assay_runner_close(assay_runner *runner);
/* Opens the workers of lane `index` when they are not open yet. */
assay_code assay_runner_lane(assay_runner *runner, unsigned index, assay_error *error);
/* Fills the parts of a run record that do not depend on the kind of run. `knobs` must hold 32 entries. */
void assay_runner_record(const assay_runner *runner, const assay_certify_options *options,
                         assay_run_record *record, assay_knob_record *knobs, const assay_pair **pairs);

#endif
