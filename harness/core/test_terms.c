/* test_terms.c - the word tables: text and parse are inverse, and unknown words are refused. */
#include "terms.h"

#include <criterion/criterion.h>

#define CHECK_TERM(name, type, count)                                                                        \
    Test(terms, name) {                                                                                      \
        type value = (type)0;                                                                                \
        for (int i = 0; i < (int)(count); i++) {                                                             \
            const char *const text = assay_##name##_text((type)i);                                           \
            cr_assert(assay_##name##_parse(text, &value), "%s", text);                                       \
            cr_assert_eq((int)value, i, "%s", text);                                                         \
            for (int j = 0; j < i; j++) {                                                                    \
                cr_assert_str_neq(text, assay_##name##_text((type)j));                                       \
            }                                                                                                \
        }                                                                                                    \
        cr_assert_str_eq(assay_##name##_text((type)(count)), "unknown");                                     \
        value = (type)1;                                                                                     \
        cr_assert_not(assay_##name##_parse("unknown", &value));                                              \
        cr_assert_not(assay_##name##_parse("", &value));                                                     \
        cr_assert_eq((int)value, 1, "a refused text must leave the value alone");                            \
    }

CHECK_TERM(outcome, assay_outcome, ASSAY_OUTCOME_COUNT)
CHECK_TERM(strength, assay_strength, ASSAY_STRENGTH_COUNT)
CHECK_TERM(promise, assay_promise_state, ASSAY_PROMISE_STATE_COUNT)
CHECK_TERM(verdict, assay_verdict, ASSAY_VERDICT_COUNT)
CHECK_TERM(tier, assay_tier, ASSAY_TIER_COUNT)

/* These words stand in evidence that others have stored; a renamed one would orphan it. */
Test(terms, stored_words) {
    cr_assert_str_eq(assay_outcome_text(ASSAY_OUTCOME_NOT_RUN), "not_run");
    cr_assert_str_eq(assay_outcome_text(ASSAY_OUTCOME_MISTRUSTED), "mistrusted");
    cr_assert_str_eq(assay_strength_text(ASSAY_STRENGTH_EXHAUSTIVE), "exhaustive");
    cr_assert_str_eq(assay_promise_text(ASSAY_PROMISE_NOT_VERIFIED), "not_verified");
    cr_assert_str_eq(assay_verdict_text(ASSAY_VERDICT_REFUSED), "refused");
    cr_assert_str_eq(assay_tier_text(ASSAY_TIER_DEFAULT), "default");
}
