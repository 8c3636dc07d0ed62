/* Suite gradients on real candidates, and the checks that the suite makes of itself. */
#include "gradients.h"
#include "test_suite_run.h"

Test(gradients, honest_candidates_pass) {
    static const char *const names[] = {"reference_c", "libm", "mutants/base"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        suite_tally t = suite_run(&assay_suite_gradients, names[i], NULL, ASSAY_TIER_QUICK, NULL, NULL);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], t.planned, "%s: %s", names[i], t.first);
        cr_expect_eq(t.required, t.planned);
        cr_expect_geq(t.planned, 40);
        cr_expect_eq(t.witnesses, 0);
    }
}

static const struct {
    const char *candidate, *pattern;
} broken[] = {
    {"grad_ones", "gradients/golden/f32_64x256_seed3"},
    {"grad_sign", "gradients/golden/f32_64x256_seed3"},
    {"grad_no_f", "gradients/golden/f32_64x256_seed3"},
    {"grad_f_twice", "gradients/golden/f32_64x256_seed3"},
    {"grad_swapped", "gradients/golden/f32_64x256_seed3"},
    {"grad_cos_only", "gradients/golden/f32_64x256_seed3"},
    {"grad_last_channel", "gradients/golden/f32_64x256_seed3"},
    {"grad_row_zero", "gradients/golden/f32_64x256_seed3"},
    {"grad_running", "gradients/golden/f32_64x256_seed3"},
    {"grad_bf16_sum", "gradients/golden/f32_64x256_seed3"},
    {"grad_times_1000", "gradients/golden/f32_64x256_seed3"},
    {"grad_last_row", "gradients/golden/f32_64x256_seed3"},
    {"grad_recomputed", "gradients/replay/f32_257x256_seed3"},
    {"grad_truncated", "gradients/replay/bf16_257x256_seed3"},
    {"grad_batch_256", "gradients/replay/f32_257x256_seed3"},
    {"grad_random_ulp", "gradients/repeated/f32_257x256_seed1"},
    {"null_zeros", "gradients/golden/f32_7x256_seed3"},
    {"null_ones", "gradients/golden/f32_7x256_seed3"},
    {"null_nan", "gradients/golden/f32_7x256_seed3"},
};

Test(gradients, each_fault_fails_the_case_that_shows_it) {
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mutants/%s", broken[i].candidate);
        suite_tally t =
            suite_run(&assay_suite_gradients, name, NULL, ASSAY_TIER_QUICK, broken[i].pattern, NULL);
        cr_expect_eq(t.planned, 1, "%s: %llu checks match %s", name, (unsigned long long)t.planned,
                     broken[i].pattern);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s: %s", name, t.first);
        cr_expect_geq(t.witnesses, 1, "%s", name);
    }
}

Test(gradients, rows_that_depend_on_their_batch_are_seen) {
    static const struct {
        const char *candidate, *pattern;
    } cases[] = {{"grad_batch_256", "gradients/alone/f32*"},
                 {"grad_row_zero", "gradients/alone/f32*"},
                 {"grad_row_zero", "gradients/places/f32*"},
                 {"grad_row_zero", "gradients/permuted/f32*"},
                 {"grad_running", "gradients/permuted/bf16*"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mutants/%s", cases[i].candidate);
        suite_tally t =
            suite_run(&assay_suite_gradients, name, NULL, ASSAY_TIER_DEFAULT, cases[i].pattern, NULL);
        cr_expect_eq(t.planned, 1);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s %s: %s", name, cases[i].pattern, t.first);
    }
}

/* The golden's own check: a VJP that is wrong by one part in 10^6 is an error of the harness, whatever the
 * candidate does. */
static const assay_operator_def *true_op;
static void scaled_vjp(const assay_attrs *attrs, const float *x, const float *upstream, size_t rows,
                       double *grad) {
    true_op->vjp(attrs, x, upstream, rows, grad);
    for (size_t i = 0; i < rows; i++) {
        grad[i] *= 1.0 + 1e-6;
    }
}

static void break_vjp(assay_context *context) {
    static assay_operator_def def;
    true_op = context->op;
    def = *context->op;
    def.vjp = scaled_vjp;
    context->op = &def;
}

Test(gradients, a_wrong_golden_is_an_error) {
    suite_tally t =
        suite_run(&assay_suite_gradients, "reference_c", NULL, ASSAY_TIER_QUICK, "*self_check", break_vjp);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_ERROR], 1, "%s", t.first);
    t = suite_run(&assay_suite_gradients, "reference_c", NULL, ASSAY_TIER_QUICK, "*self_check", NULL);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], 1, "%s", t.first);
    cr_expect_geq(t.elements, 32);
}

static void loosen(assay_context *context) {
    assay_tolerance *row = (assay_tolerance *)assay_numeric_tolerance(context, true, ASSAY_DTYPE_F32);
    row->atol = 1000.0;
}

Test(gradients, a_tolerance_that_accepts_zeros_is_mistrusted) {
    suite_tally t = suite_run(&assay_suite_gradients, "reference_c", NULL, ASSAY_TIER_QUICK,
                              "gradients/golden/f32_64x256_seed3", loosen);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_MISTRUSTED], 1, "%s", t.first);
    cr_expect_not_null(strstr(t.first, "insensitive"));
}

static void claim_nothing(assay_context *context) {
    context->lineage = "";
}

static void claim_mars(assay_context *context) {
    context->lineage = "mars";
}

Test(gradients, parity_follows_the_claim) {
    suite_tally t = suite_run(&assay_suite_gradients, "reference_c", NULL, ASSAY_TIER_QUICK,
                              "gradients/replay*", claim_nothing);
    cr_expect(t.planned == 1 && t.required == 0 && t.outcomes[ASSAY_OUTCOME_UNSUPPORTED] == 1, "%s", t.first);
    t = suite_run(&assay_suite_gradients, "reference_c", NULL, ASSAY_TIER_QUICK, "gradients/replay*",
                  claim_mars);
    cr_expect(t.planned == 1 && t.required == 1 && t.outcomes[ASSAY_OUTCOME_UNAVAILABLE] == 1, "%s", t.first);
}
