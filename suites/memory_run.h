/* memory_run.h - the procedures of the memory suite: each makes calls whose memory is arranged so that one
 * kind of misuse shows. memory.c plans which cases they run on. Private to suites. */
#ifndef ASSAY_MEMORY_RUN_H
#define ASSAY_MEMORY_RUN_H

#include "direct.h"

typedef enum assay_memory_kind_id {
    ASSAY_MEMORY_WRITTEN, /* two poisons: everything written, nothing stale, zones and inputs untouched; rows
                             p[1]..p[2] */
    ASSAY_MEMORY_GUARDED, /* placement p[3] against unmapped pages; rows p[1]..p[2] */
    ASSAY_MEMORY_PREFILLED,  /* the bits do not depend on what the output held */
    ASSAY_MEMORY_AFTERWARDS, /* nothing changes after the answer */
    ASSAY_MEMORY_FAR_STRIDE, /* an input whose last element lies beyond 2^31 elements or 2^32 bytes: stride
                                p[1] */
    ASSAY_MEMORY_FAR_ROWS,   /* an output of more than 2^31 elements */
    ASSAY_MEMORY_SANITIZED,  /* on a GPU: under the tool number p[3] of compute-sanitizer */
    ASSAY_MEMORY_KIND_COUNT
} assay_memory_kind_id;

/* p[0] of a memory check: 1 = backward. */

/* Each runs the whole check and adds to the findings. False only for harness faults. */
typedef bool (*assay_memory_kind)(assay_context *context, const assay_check *check, assay_findings *findings,
                                  assay_error *error);
bool assay_memory_written(assay_context *context, const assay_check *check, assay_findings *findings,
                          assay_error *error);
bool assay_memory_guarded(assay_context *context, const assay_check *check, assay_findings *findings,
                          assay_error *error);
bool assay_memory_prefilled(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error);
bool assay_memory_afterwards(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error);
bool assay_memory_far_stride(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error);
bool assay_memory_far_rows(assay_context *context, const assay_check *check, assay_findings *findings,
                           assay_error *error);

/* ---- memory_sanitizer.c ---- */
#define ASSAY_SANITIZER_TOOLS 4
extern const char *const assay_sanitizer_tools[ASSAY_SANITIZER_TOOLS]; /* memcheck, ... */
bool assay_memory_sanitized(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error);

#endif
