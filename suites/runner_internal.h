/* runner_internal.h - state of one run, shared by runner.c, plan.c and prove.c. Private to suites. */
#ifndef ASSAY_RUNNER_INTERNAL_H
#define ASSAY_RUNNER_INTERNAL_H

#include "provenance.h"
#include "recorder.h"
#include "runner.h"

#include <sys/stat.h>

#define ASSAY_MAX_LANES    64
#define ASSAY_DEVICE_LANES 4u  /* workers at once on a GPU: each holds a CUDA context of its own */
#define ASSAY_RUN_KNOBS    128 /* of candidate and baseline: as many as two hellos may hold */

typedef struct assay_runner {
    assay_context context; /* first member: the suites' view */
    assay_contract *contract;
    assay_worker_options candidate_options, baseline_options;
    assay_lane lanes[ASSAY_MAX_LANES];
    assay_provenance *provenance;
    assay_binary_record binaries[3];
    size_t binary_count;
    char sha256[3][65];
    char paths[3][4096];     /* resolved; [1] is the baseline's only when there is one */
    struct stat identity[3]; /* of the files when they were hashed */
    char lineages[2][128];   /* candidate, baseline */
    char device_name[16];    /* "cuda:0"; "" on the host */
} assay_runner;

/* Everything that can be refused before a row is written: operator, contract, device, adapters, trees.
 * `needs_clean`: refuse dirty or unknown trees. On failure the runner is closed. */
assay_code assay_runner_open(assay_runner *runner, const assay_certify_options *options, bool needs_clean,
                             assay_error *error);
void assay_runner_close(assay_runner *runner);

/* ---- runner_device.c ---- */
/* Opens the GPU of a text that assay_device_ordinal takes. NULL and INCOMPLETE when there is no such GPU,
 * driver or backend. The caller closes *opened. */
const assay_device_plugin *assay_runner_device_plugin(const char *device, assay_device **opened,
                                                      assay_error *error);
/* Opens the GPU that --device names and notes it in the provenance later; nothing to do for "cpu". USAGE for
 * an unknown text, INCOMPLETE when there is no such GPU, driver or backend. */
assay_code assay_runner_device_open(assay_runner *runner, const char *device, assay_error *error);
void assay_runner_device_close(assay_runner *runner);
/* The worker options of a run on that GPU. */
void assay_runner_device_options(const assay_runner *runner, assay_worker_options *options);
/* USAGE when the memory that the adapters want does not fit --device. */
assay_code assay_runner_device_fits(const assay_runner *runner, const assay_certify_options *options,
                                    assay_error *error);
/* What the GPU is, into the run's provenance. */
void assay_runner_device_note(const assay_runner *runner);
/* USAGE unless the device can sweep what was asked for. */
assay_code assay_runner_device_sweeps(const assay_runner *runner, bool accuracy, assay_error *error);

/* ---- run_files.c ---- */
/* Hashes a file, as the run's binary of that role, and remembers which file it was. */
assay_code assay_run_files_add(assay_runner *runner, const char *role, const char *path, assay_error *error);
/* The role of the first file that is no longer what was hashed; NULL when all are. */
const char *assay_run_files_changed(const assay_runner *runner);
/* Notes a changed file in the evidence: then the run cannot be certified. */
assay_code assay_run_files_note(const assay_runner *runner, assay_store *store, int64_t run_id,
                                assay_error *error);
/* USAGE unless the run was started with these very files. */
assay_code assay_run_files_resumable(const assay_runner *runner, assay_store *store, int64_t run_id,
                                     assay_error *error);
/* Opens the workers of lane `index` when they are not open yet. */
assay_code assay_runner_lane(assay_runner *runner, unsigned index, assay_error *error);
/* Fills the parts of a run record that do not depend on the kind of run. `knobs` must hold
 * ASSAY_RUN_KNOBS entries. */
void assay_runner_record(const assay_runner *runner, const assay_certify_options *options,
                         assay_run_record *record, assay_knob_record *knobs, const assay_pair **pairs);

#endif
