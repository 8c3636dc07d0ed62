/* test_reach.c - what a candidate can reach besides its output, and what happens to its figures when it is
 * wrong only where it is timed: one check each, on the suite that is not made for it. */
#include "test_suite_run.h"

extern const assay_suite assay_suite_invariance, assay_suite_parity, assay_suite_accuracy,
    assay_suite_determinism, assay_suite_timing;

static const struct {
    const assay_suite *suite;
    const char *candidate, *pattern;
    assay_tier tier;
    assay_outcome outcome;
    const char *reason;
} cases[] = {
    {&assay_suite_parity, "mem_over_write_257", "parity/replay/width_2", ASSAY_TIER_DEFAULT,
     ASSAY_OUTCOME_FAIL, "around the output"},
    {&assay_suite_accuracy, "mem_over_write_257", "accuracy/golden/width_2", ASSAY_TIER_DEFAULT,
     ASSAY_OUTCOME_FAIL, "around the output"},
    {&assay_suite_invariance, "mem_over_write_257", "invariance/switch_points*", ASSAY_TIER_QUICK,
     ASSAY_OUTCOME_FAIL, "around the output"},
    {&assay_suite_determinism, "mem_over_write", "determinism/repeated*", ASSAY_TIER_QUICK,
     ASSAY_OUTCOME_FAIL, "around the output"},
    {&assay_suite_parity, "mem_input_cleaned", "parity/replay/rows_64", ASSAY_TIER_QUICK, ASSAY_OUTCOME_FAIL,
     "an input was changed"},
    {&assay_suite_invariance, "liar_edits_input", "invariance/alone_f32_64*", ASSAY_TIER_QUICK,
     ASSAY_OUTCOME_FAIL, "its input was changed"},
    {&assay_suite_invariance, "liar_patches_oracle", "invariance/alone_f32_64*", ASSAY_TIER_QUICK,
     ASSAY_OUTCOME_FAIL, "elements differ"},
    {&assay_suite_determinism, "liar_unchecked_noop", "determinism/unchecked_f32_4097*", ASSAY_TIER_DEFAULT,
     ASSAY_OUTCOME_FAIL, "without the range check"},
    {&assay_suite_timing, "liar_wrong_when_timed", "timing/rows_1", ASSAY_TIER_QUICK,
     ASSAY_OUTCOME_MISTRUSTED, "what was timed does not give the bytes"},
};

Test(reach, is_seen, .timeout = 120) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mutants/%s", cases[i].candidate);
        suite_tally t = suite_run(cases[i].suite, name, NULL, cases[i].tier, cases[i].pattern, NULL);
        cr_expect_geq(t.planned, 1, "%s: no check", cases[i].pattern);
        cr_expect_eq(t.outcomes[cases[i].outcome], t.planned, "%s: %s", name, t.first);
        cr_expect_not_null(strstr(t.first, cases[i].reason), "%s: %s", name, t.first);
    }
}
