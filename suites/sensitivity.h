/* sensitivity.h - null candidates: answers that no one computed. A tolerance that accepts one of them for the
 * very inputs of a check proves nothing there (defect B98 of the public reports), so a pass becomes
 * `mistrusted`. Private to suites. */
#ifndef ASSAY_SENSITIVITY_H
#define ASSAY_SENSITIVITY_H

#include "numeric.h"

/* X(enumerator, name) */
#define ASSAY_NULL_LIST(X)                                                                                   \
    X(ZEROS, "zeros")                                                                                        \
    X(ONES, "ones")                                                                                          \
    X(INPUT, "input copied through")                                                                         \
    X(OTHER_SEED, "another seed's answer")                                                                   \
    X(SHIFTED, "rows shifted by one")

typedef enum assay_null {
#define X(id, name) ASSAY_NULL_##id,
    ASSAY_NULL_LIST(X)
#undef X
        ASSAY_NULL_COUNT
} assay_null;

const char *assay_null_text(assay_null null);

/* True when an accuracy stays within the whole tolerance row, max_abs included. */
bool assay_within(const assay_accuracy *accuracy, const assay_tolerance *tolerance);

/* True when `tolerance` rejects every null candidate on (a sample of at most 64 rows of) the case. Else
 * *passing is the one that it would accept. Forward: outputs against the golden. Backward: gradients against
 * the golden VJP. */
bool assay_sensitive_forward(const assay_context *context, const assay_case *c,
                             const assay_tolerance *tolerance, assay_null *passing);
bool assay_sensitive_backward(const assay_context *context, const assay_case *c,
                              const assay_tolerance *tolerance, assay_null *passing);

#endif
