/* terms.h - the words of outcomes, states and verdicts as tables: each list yields enum, text and help. */
#ifndef ASSAY_TERMS_H
#define ASSAY_TERMS_H

#include <stdbool.h>

#define ASSAY_OUTCOME_LIST(X)                                                                                \
    X(NOT_RUN, "not_run", "planned, never started")                                                          \
    X(PASS, "pass", "the check ran and the promise held")                                                    \
    X(FAIL, "fail", "the check ran and the promise did not hold")                                            \
    X(ERROR, "error", "crash, time-out, nonsense from the worker, or a fault of the harness")                \
    X(UNAVAILABLE, "unavailable", "this machine or candidate cannot show it, with the reason")               \
    X(UNSUPPORTED, "unsupported", "the candidate says that it does not offer it")                            \
    X(MISTRUSTED, "mistrusted", "it ran but proved nothing, with the reason")

typedef enum assay_outcome {
#define X(id, text, meaning) ASSAY_OUTCOME_##id,
    ASSAY_OUTCOME_LIST(X)
#undef X
        ASSAY_OUTCOME_COUNT
} assay_outcome;

#define ASSAY_STRENGTH_LIST(X)                                                                               \
    X(SAMPLED, "sampled", "some values of the domain")                                                       \
    X(EXHAUSTIVE, "exhaustive", "every value of the stated domain")

typedef enum assay_strength {
#define X(id, text, meaning) ASSAY_STRENGTH_##id,
    ASSAY_STRENGTH_LIST(X)
#undef X
        ASSAY_STRENGTH_COUNT
} assay_strength;

#define ASSAY_PROMISE_STATE_LIST(X)                                                                          \
    X(KEPT, "kept", "every required check passed")                                                           \
    X(BROKEN, "broken", "at least one check failed")                                                         \
    X(NOT_VERIFIED, "not_verified", "a required check did not run or proved nothing")

typedef enum assay_promise_state {
#define X(id, text, meaning) ASSAY_PROMISE_##id,
    ASSAY_PROMISE_STATE_LIST(X)
#undef X
        ASSAY_PROMISE_STATE_COUNT
} assay_promise_state;

#define ASSAY_VERDICT_LIST(X)                                                                                \
    X(CERTIFIED, "certified", "all required promises kept, clean trees, known binary")                       \
    X(REFUSED, "refused", "a promise is broken")                                                             \
    X(INCOMPLETE, "incomplete", "something required is not verified")

typedef enum assay_verdict {
#define X(id, text, meaning) ASSAY_VERDICT_##id,
    ASSAY_VERDICT_LIST(X)
#undef X
        ASSAY_VERDICT_COUNT
} assay_verdict;

#define ASSAY_TIER_LIST(X)                                                                                   \
    X(QUICK, "quick", "a smoke run in about a second")                                                       \
    X(DEFAULT, "default", "the published matrices, at most ten seconds on two cores")                        \
    X(FULL, "full", "everything this machine can run, costly cases included")

typedef enum assay_tier {
#define X(id, text, meaning) ASSAY_TIER_##id,
    ASSAY_TIER_LIST(X)
#undef X
        ASSAY_TIER_COUNT
} assay_tier;

/* The text of a value; "unknown" outside the enum. */
const char *assay_outcome_text(assay_outcome value);
const char *assay_strength_text(assay_strength value);
const char *assay_promise_text(assay_promise_state value);
const char *assay_verdict_text(assay_verdict value);
const char *assay_tier_text(assay_tier value);
/* The value of a text; false when the text is not in the list (then *value is untouched). */
bool assay_outcome_parse(const char *text, assay_outcome *value);
bool assay_strength_parse(const char *text, assay_strength *value);
bool assay_promise_parse(const char *text, assay_promise_state *value);
bool assay_verdict_parse(const char *text, assay_verdict *value);
bool assay_tier_parse(const char *text, assay_tier *value);

#endif
