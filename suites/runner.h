/* runner.h - plan, journal, run, record, judge: one run from contract to verdict. */
#ifndef ASSAY_RUNNER_H
#define ASSAY_RUNNER_H

#include "error.h"
#include "store.h"
#include "suite.h"
#include "terms.h"

typedef struct assay_progress {
    /* Called before each check and once at the end (name NULL); `done` of `total` checks are finished. May be
     * NULL. */
    void (*step)(void *context, uint64_t done, uint64_t total, const char *name);
    /* Called after each check that did not pass, with the line that reproduces it. May be NULL. */
    void (*trouble)(void *context, const char *name, assay_outcome outcome, const char *reason,
                    const char *repro);
    void *context;
} assay_progress;

typedef struct assay_certify_options {
    const char *kind; /* "certify", "run", "selftest" */
    const char *op;
    const char *impl_path;     /* resolved file */
    const char *impl_name;     /* as given by the user */
    const char *baseline_path; /* NULL = none */
    const char *baseline_name;
    const char *device;       /* "cpu" */
    const char *command;      /* shell-quoted command line */
    const char *source_dir;   /* the candidate's tree, NULL = the repository around impl_path */
    const char *suite_filter; /* comma list of suites, NULL = all */
    const char *check_filter; /* fnmatch pattern on check names, NULL = all */
    assay_tier tier;
    uint64_t seed;            /* default 1 */
    unsigned threads;         /* lanes; 0 = number of processors */
    unsigned call_timeout_ms; /* 0 = default */
    bool allow_dirty;
    int64_t resume_run; /* 0 = new run */
    const assay_progress *progress;
    /* Opens the database when `store` is NULL: called once, after everything that can be refused was checked,
     * so that a refused run leaves no file behind. The caller closes what it opened. */
    assay_code (*open_store)(void *context, assay_store **store, assay_error *error);
    void *open_context;
} assay_certify_options;

typedef struct assay_certify_report {
    int64_t run_id;
    char uuid[33];
    assay_verdict verdict;
    char reason[256];
    uint64_t checks, outcomes[ASSAY_OUTCOME_COUNT];
    /* Worst outcome per suite in ASSAY_SUITE_LIST order: FAIL > ERROR > MISTRUSTED > UNSUPPORTED >
     * UNAVAILABLE > PASS > NOT_RUN. */
    assay_outcome suite[16];
} assay_certify_report;

/* Runs the suites of the operator's contract on a candidate and records everything in `store`. Errors: USAGE
 * (unknown operator, adapter that cannot be opened, filter that matches nothing, dirty tree without
 * allow_dirty) before anything is written. `store` may be NULL: then options->open_store gives it. */
assay_code assay_certify(assay_store *store, const assay_certify_options *options,
                         assay_certify_report *report, assay_error *error);

#endif
