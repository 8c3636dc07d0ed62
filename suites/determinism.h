/* determinism.h - the procedures of the determinism suite. Private to suites. */
#ifndef ASSAY_DETERMINISM_H
#define ASSAY_DETERMINISM_H

#include "direct.h"

typedef enum assay_determinism_kind_id {
    ASSAY_DETERMINISM_REPEATED,      /* 20 times again */
    ASSAY_DETERMINISM_FRESH_PROCESS, /* p[1] times in a process of its own */
    ASSAY_DETERMINISM_OTHER_THREAD,  /* on a freshly made thread of the worker */
    ASSAY_DETERMINISM_ELSEWHERE,     /* with buffers at other addresses */
    ASSAY_DETERMINISM_IN_PLACE,      /* inputs changed under the same pointers: cached answers */
    ASSAY_DETERMINISM_MIXED,         /* different calls in changing order: state that leaks between calls */
    ASSAY_DETERMINISM_UNCHECKED,     /* with the range check switched off */
    /* On a GPU: with the caller's work still pending on the stream that the candidate is given, whichever
     * stream that is; captured in a graph and replayed; looked at again after the answer. */
    ASSAY_DETERMINISM_PENDING,
    ASSAY_DETERMINISM_OTHER_STREAM,
    ASSAY_DETERMINISM_LEGACY_STREAM,
    ASSAY_DETERMINISM_PER_THREAD_STREAM,
    ASSAY_DETERMINISM_GRAPH,
    ASSAY_DETERMINISM_LATE,
    ASSAY_DETERMINISM_KIND_COUNT
} assay_determinism_kind_id;

/* p[0] of a determinism check: 1 = backward. */

/* An answer kept for comparison. */
typedef struct assay_answer {
    char *bytes;
    size_t size, element; /* in bytes */
} assay_answer;

bool assay_answer_keep(const assay_exec *exec, assay_answer *answer, assay_error *error);
void assay_answer_free(assay_answer *answer);
/* Adds a failure when the bytes at `got` are not those of the answer. */
void assay_answer_compare(const void *got, const assay_answer *want, assay_findings *findings, uint64_t part,
                          const char *what);

/* One call on lane 0 that must answer ok; false with a finding or an error. */
bool assay_determinism_go(assay_context *context, const assay_direct_call *call,
                          const assay_exec_options *options, assay_exec *exec, assay_findings *findings,
                          uint64_t part, const char *what, assay_error *error);
/* The same in a process that has seen no other call. */
bool assay_determinism_fresh(assay_context *context, const assay_direct_call *call, assay_answer *answer,
                             assay_findings *findings, uint64_t part, assay_error *error);

bool assay_determinism_again(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error);
bool assay_determinism_in_place(assay_context *context, const assay_check *check, assay_findings *findings,
                                assay_error *error);
bool assay_determinism_mixed(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error);
bool assay_determinism_stream(assay_context *context, const assay_check *check, assay_findings *findings,
                              assay_error *error);
bool assay_determinism_late(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error);
bool assay_determinism_unchecked(assay_context *context, const assay_check *check, assay_findings *findings,
                                 assay_error *error);

#endif
