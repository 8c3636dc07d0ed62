/* Suite parity on real candidates: honest ones pass, each broken one fails by the check meant for it, and
 * what cannot be compared is said to be so. */
#include "numeric.h"
#include "test_suite_run.h"

#include <signal.h>

extern const assay_suite assay_suite_parity;

static void all_pass(const suite_tally *t, uint64_t at_least) {
    cr_expect_geq(t->planned, at_least);
    cr_expect_eq(t->outcomes[ASSAY_OUTCOME_PASS], t->planned, "%s", t->first);
}

Test(parity, honest_candidates_equal_their_replay) {
    static const char *const names[] = {"reference_c", "libm", "mutants/base", "mutants/var_channel_outer"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        suite_tally t = suite_run(&assay_suite_parity, names[i], NULL, ASSAY_TIER_QUICK, NULL, NULL);
        all_pass(&t, 20);
        cr_expect_eq(t.required, t.planned);
        cr_expect_eq(t.witnesses, 0);
    }
}

static const struct {
    const char *candidate, *pattern;
    assay_tier tier;
} broken[] = {
    {"freq_divide", "*width_250", ASSAY_TIER_QUICK},
    {"freq_order", "*width_96", ASSAY_TIER_QUICK},
    {"freq_pow", "*width_256", ASSAY_TIER_QUICK},
    {"freq_period_ignored", "*max_period_100", ASSAY_TIER_QUICK},
    {"in_bf16_as_f16", "*bf16_rows_6", ASSAY_TIER_QUICK},
    {"in_row_shift", "*rows_7", ASSAY_TIER_QUICK},
    {"stride_ignored", "*strided", ASSAY_TIER_QUICK},
    {"out_one_ulp", "*rows_64", ASSAY_TIER_QUICK},
    {"out_minus_zero", "*hard", ASSAY_TIER_QUICK},
    {"trig_small_angle", "*set_uniform*", ASSAY_TIER_QUICK},
    {"env_ftz", "*hard", ASSAY_TIER_QUICK},
    {"width_two", "*width_2", ASSAY_TIER_QUICK},
    {"width_over_256", "*width_1000", ASSAY_TIER_QUICK},
    {"rows_65536", "*one_call_65537", ASSAY_TIER_DEFAULT},
    {"index_float", "*one_call_65537", ASSAY_TIER_DEFAULT},
    {"null_zeros", "*rows_1", ASSAY_TIER_QUICK},
    {"null_nan", "*rows_1", ASSAY_TIER_QUICK},
    {"null_shifted", "*rows_64", ASSAY_TIER_QUICK},
};

Test(parity, each_fault_fails_the_case_that_shows_it) {
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mutants/%s", broken[i].candidate);
        suite_tally t = suite_run(&assay_suite_parity, name, NULL, broken[i].tier, broken[i].pattern, NULL);
        cr_expect_eq(t.planned, 1, "%s: %llu checks match %s", name, (unsigned long long)t.planned,
                     broken[i].pattern);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s: %s", name, t.first);
        cr_expect_eq(t.witnesses, 1, "%s: %llu witnesses", name, (unsigned long long)t.witnesses);
    }
}

Test(parity, fast_math_fails) {
    suite_tally t = suite_run(&assay_suite_parity, "fast_math", NULL, ASSAY_TIER_QUICK, NULL, NULL);
    cr_expect_gt(t.outcomes[ASSAY_OUTCOME_FAIL], 10, "%s", t.first);
}

/* With neither a lineage nor a baseline nothing is owed. */
static void claim_nothing(assay_context *context) {
    context->lineage = "";
}

Test(parity, no_lineage_owes_nothing) {
    suite_tally t =
        suite_run(&assay_suite_parity, "reference_c", NULL, ASSAY_TIER_QUICK, NULL, claim_nothing);
    cr_expect_eq(t.planned, 1);
    cr_expect_eq(t.required, 0);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_UNSUPPORTED], 1, "%s", t.first);
}

static void claim_mars(assay_context *context) {
    context->lineage = "mars";
    context->baseline_lineage = context->baseline_name != NULL ? "mars" : "";
}

Test(parity, unknown_lineage_is_unavailable_and_required) {
    suite_tally t = suite_run(&assay_suite_parity, "reference_c", NULL, ASSAY_TIER_QUICK, NULL, claim_mars);
    cr_expect_eq(t.planned, 1);
    cr_expect_eq(t.required, 1);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_UNAVAILABLE], 1, "%s", t.first);
}

/* A baseline of the same lineage takes the place of a replay that we lack. */
Test(parity, unknown_lineage_with_a_baseline_of_it) {
    suite_tally t = suite_run(&assay_suite_parity, "mutants/var_block", "mutants/base", ASSAY_TIER_QUICK,
                              NULL, claim_mars);
    all_pass(&t, 20);
    cr_expect_eq(t.required, t.planned);
    t = suite_run(&assay_suite_parity, "mutants/freq_pow", "mutants/base", ASSAY_TIER_QUICK, "*rows_64",
                  claim_mars);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s", t.first);
    cr_expect_eq(t.witnesses, 1);
}

Test(parity, same_lineage_baseline_owes_bytes) {
    suite_tally t = suite_run(&assay_suite_parity, "mutants/var_block", "mutants/base", ASSAY_TIER_QUICK,
                              "parity/baseline/*", NULL);
    all_pass(&t, 20);
    cr_expect_eq(t.required, t.planned);
}

Test(parity, other_lineage_is_measured) {
    suite_tally t =
        suite_run(&assay_suite_parity, "reference_c", "libm", ASSAY_TIER_QUICK, "parity/cross/*", NULL);
    all_pass(&t, 20);
    cr_expect_eq(t.required, 0);
}

Test(parity, the_same_file_proves_nothing) {
    suite_tally t = suite_run(&assay_suite_parity, "reference_c", "reference_c", ASSAY_TIER_QUICK,
                              "parity/baseline*", NULL);
    cr_expect_eq(t.planned, 1);
    cr_expect_eq(t.required, 1);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_MISTRUSTED], 1, "%s", t.first);
}

static void kill_candidate(assay_context *context) {
    cr_assert_eq(kill(assay_worker_pid(context->lanes[0].candidate), SIGKILL), 0);
}

/* A dead worker costs the check that meets it and is no failure of the promise; the next check has a fresh
 * one. */
Test(parity, a_dead_worker_is_an_error) {
    suite_tally t =
        suite_run(&assay_suite_parity, "reference_c", NULL, ASSAY_TIER_QUICK, "*/rows_[123]", kill_candidate);
    cr_expect_eq(t.planned, 3);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_ERROR], 1, "%s", t.first);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], 2, "%s", t.first);
}

Test(parity, judges_that_differ_in_anything_are_noticed) {
    const assay_parity a = {.elements = 9,
                            .differing = 2,
                            .numeric = 2,
                            .max_ulp = 3,
                            .first_index = 4,
                            .first_got = 5,
                            .first_want = 6,
                            .worst_index = 7};
    cr_expect(assay_numeric_same_parity(&a, &a));
    for (int field = 0; field < 6; field++) {
        assay_parity b = a;
        uint64_t *const fields[] = {&b.elements, &b.differing,   &b.zero_sign,
                                    &b.max_ulp,  &b.first_index, &b.worst_index};
        ++*fields[field];
        cr_expect_not(assay_numeric_same_parity(&a, &b), "field %d", field);
    }
    assay_ulp_histogram *h = calloc(2, sizeof *h);
    assay_parity b = a;
    assay_parity c = a;
    b.histogram = &h[0];
    c.histogram = &h[1];
    cr_expect(assay_numeric_same_parity(&b, &c));
    h[1].count[127][32] = 1;
    cr_expect_not(assay_numeric_same_parity(&b, &c));
    free(h);
}
