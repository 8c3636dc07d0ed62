/* selftest.h - the harness proves itself: every broken implementation of impls/mutants
 * goes through the ordinary suites and must be refused by the suite meant for it, every correct variant must
 * pass all of them, and a few faults of the harness itself are tried on its own parts.
 *
 * The subjects are the rows of impls/mutants/subjects.h, or of cuda/subjects_cuda.h there when a GPU is
 * named: pure data, and the one thing that this folder reads from impls. */
#ifndef ASSAY_SELFTEST_H
#define ASSAY_SELFTEST_H

#include "error.h"
#include "runner.h"
#include "store.h"
#include "terms.h"

#define ASSAY_SELFTEST_SUITES 16

/* What became of one subject. Texts other than `detail` are constants. */
typedef struct assay_selftest_subject {
    const char *name, *class_name, *suite, *expected, *source, *text;
    bool held;     /* it ended as expected */
    unsigned runs; /* 1; for a variant the repetitions asked for */
    assay_outcome
        outcome[ASSAY_SELFTEST_SUITES]; /* worst over the runs, per suite in ASSAY_SUITE_LIST order */
    uint64_t checks, passed;            /* over the runs */
    uint64_t unkept;                    /* required promises not kept, in the worst run */
    assay_verdict verdict;
    int64_t run_id; /* of the last run; 0 when none was written */
    char detail[256];
} assay_selftest_subject;

typedef struct assay_selftest_options {
    const char *op;           /* "timestep_sinusoid_h3" */
    const char *device;       /* "cpu" or NULL: subjects.h; "cuda:N": cuda/subjects_cuda.h */
    const char *directory;    /* holds <name>.so of every subject */
    const char *filter;       /* fnmatch pattern on subject names, NULL = all */
    const char *command;      /* shell-quoted command line */
    unsigned repetitions;     /* runs of each variant; 0 = 1 */
    unsigned threads;         /* lanes; 0 = number of processors */
    unsigned call_timeout_ms; /* 0 = 1000, on a GPU 5000 */
    assay_store *subjects;    /* receives the runs of single subjects; NULL = the store that sums up */
    /* Called before each subject and once at the end (name NULL). May be NULL. */
    void (*step)(void *context, uint64_t done, uint64_t total, const char *name);
    /* Called after each subject. May be NULL. */
    void (*row)(void *context, const assay_selftest_subject *subject);
    void *context;
} assay_selftest_options;

typedef struct assay_selftest_class {
    const char *name;
    size_t held, total;
} assay_selftest_class;

typedef struct assay_selftest_report {
    int64_t run_id; /* the summarising run: one check per subject, and the matrix in table `selftest` */
    char uuid[33];
    assay_verdict verdict;
    char reason[256];
    assay_selftest_subject *subjects;
    size_t count;
    assay_selftest_class classes[8]; /* in order of first appearance */
    size_t class_count;
    size_t caught, to_catch, clean, variants, false_alarms;
} assay_selftest_report;

/* Runs the self-test and records it: one run of kind "selftest" per subject, and one that sums up. Returns OK
 * when every subject ended as expected, REFUSED when one did not; INCOMPLETE without
 * that GPU; USAGE for an unknown operator, a directory
 * without the subjects, a filter that matches nothing (before anything is written). The report must be freed
 * in every case. */
assay_code assay_selftest(assay_store *store, const assay_selftest_options *options,
                          assay_selftest_report *report, assay_error *error);
void assay_selftest_report_free(assay_selftest_report *report);

#endif
