/* terms.c - text and parse functions of each list in terms.h. */
#include "terms.h"

#include <stddef.h>
#include <string.h>

#define TERM(name, type, list, count)                                                                        \
    static const char *const name##_texts[] = {list(TERM_TEXT)};                                             \
    const char *assay_##name##_text(type value) {                                                            \
        return (size_t)value < (size_t)(count) ? name##_texts[value] : "unknown";                            \
    }                                                                                                        \
    typedef type name##_term;                                                                                \
    bool assay_##name##_parse(const char *text, name##_term *value) {                                        \
        for (size_t i = 0; i < (size_t)(count); i++) {                                                       \
            if (strcmp(text, name##_texts[i]) == 0) {                                                        \
                *value = (name##_term)i;                                                                     \
                return true;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
        return false;                                                                                        \
    }
#define TERM_TEXT(id, text, meaning) text,

TERM(outcome, assay_outcome, ASSAY_OUTCOME_LIST, ASSAY_OUTCOME_COUNT)
TERM(strength, assay_strength, ASSAY_STRENGTH_LIST, ASSAY_STRENGTH_COUNT)
TERM(promise, assay_promise_state, ASSAY_PROMISE_STATE_LIST, ASSAY_PROMISE_STATE_COUNT)
TERM(verdict, assay_verdict, ASSAY_VERDICT_LIST, ASSAY_VERDICT_COUNT)
TERM(tier, assay_tier, ASSAY_TIER_LIST, ASSAY_TIER_COUNT)
