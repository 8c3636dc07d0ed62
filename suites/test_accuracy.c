/* Suite accuracy on real candidates, and the sensitivity of its tolerance. */
#include "sensitivity.h"
#include "test_suite_run.h"

extern const assay_suite assay_suite_accuracy;

Test(accuracy, honest_candidates_pass) {
    static const char *const names[] = {"reference_c", "libm", "sleef", "template", "mutants/base"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        FILE *file = fopen(adapter_path(names[i], path), "rb");
        if (file == NULL) {
            cr_expect_str_eq(names[i], "sleef", "%s is missing", path); /* built only where libsleef is */
            continue;
        }
        (void)fclose(file);
        suite_tally t = suite_run(&assay_suite_accuracy, names[i], NULL, ASSAY_TIER_QUICK, NULL, NULL);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], t.planned, "%s: %s", names[i], t.first);
        cr_expect_geq(t.planned, 20);
        cr_expect_eq(t.required, t.planned);
    }
}

static const struct {
    const char *candidate, *pattern;
} broken[] = {
    {"freq_half_minus_one", "*rows_64"},
    {"arg_times_1000", "*rows_64"},
    {"arg_times_1000_bf16", "*bf16_rows_6"},
    {"arg_bf16", "*rows_64"},
    {"arg_sigma", "*rows_64"},
    {"in_bf16_early", "*rows_64"},
    {"out_sin_first", "*rows_2"},
    {"out_sin_negated", "*rows_2"},
    {"out_last_zero", "*rows_64"},
    {"out_bf16", "*rows_64"},
    {"out_f16", "*rows_64"},
    {"out_one_nan", "*rows_64"},
    {"trig_sin_by_root", "*rows_64"},
    {"trig_taylor", "*rows_64"},
    {"null_zeros", "*rows_1"},
    {"null_ones", "*rows_1"},
    {"null_copy", "*rows_1"},
    {"null_other_seed", "*rows_64"},
    {"null_shifted", "*rows_64"},
    {"null_nan", "*rows_1"},
    {"null_constant", "*rows_64"},
    {"null_scaled", "*rows_1"},
};

Test(accuracy, each_fault_fails_the_case_that_shows_it) {
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mutants/%s", broken[i].candidate);
        suite_tally t =
            suite_run(&assay_suite_accuracy, name, NULL, ASSAY_TIER_QUICK, broken[i].pattern, NULL);
        cr_expect_eq(t.planned, 1, "%s: %llu checks match %s", name, (unsigned long long)t.planned,
                     broken[i].pattern);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s: %s", name, t.first);
        cr_expect_eq(t.witnesses, 1, "%s", name);
    }
}

static assay_tolerance *forward_row(assay_context *context) {
    return (assay_tolerance *)assay_numeric_tolerance(context, false, ASSAY_DTYPE_F32);
}

static void loosen(assay_context *context) {
    forward_row(context)->atol = 3.0;
    forward_row(context)->max_abs = 0.0;
}

/* A correct candidate under a tolerance that would accept zeros: the pass is worth nothing and says so. */
Test(accuracy, a_tolerance_that_accepts_zeros_is_mistrusted) {
    suite_tally t =
        suite_run(&assay_suite_accuracy, "reference_c", NULL, ASSAY_TIER_QUICK, "*rows_64", loosen);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_MISTRUSTED], 1, "%s", t.first);
    cr_expect_not_null(strstr(t.first, "insensitive"));
}

static void tighten(assay_context *context) {
    forward_row(context)->max_abs = 1e-9;
}

Test(accuracy, the_extra_bound_counts) {
    suite_tally t =
        suite_run(&assay_suite_accuracy, "reference_c", NULL, ASSAY_TIER_QUICK, "*rows_64", tighten);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s", t.first);
    cr_expect_eq(t.witnesses, 1);
}

static void replace_golden_row(const assay_attrs *attrs, const float *x, size_t rows, double *out) {
    (void)attrs;
    (void)x;
    memset(out, 0, rows * 256 * sizeof *out);
}

/* A golden that is all zeros would accept the candidate that returns zeros: the null candidates notice. */
static void zero_golden(assay_context *context) {
    static assay_operator_def def;
    def = *context->op;
    def.golden = replace_golden_row;
    context->op = &def;
}

Test(accuracy, a_golden_of_zeros_is_noticed) {
    suite_tally t = suite_run(&assay_suite_accuracy, "mutants/null_zeros", NULL, ASSAY_TIER_QUICK, "*rows_64",
                              zero_golden);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_MISTRUSTED], 1, "%s", t.first);
}

Test(accuracy, sets_have_a_profile_of_both) {
    suite_tally t = suite_run(&assay_suite_accuracy, "reference_c", "libm", ASSAY_TIER_QUICK, "*set_*", NULL);
    cr_expect_eq(t.planned, 3);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], 3, "%s", t.first);
}

Test(accuracy, judges_that_differ_in_anything_are_noticed) {
    const assay_accuracy a = {.elements = 9,
                              .outside = 1,
                              .max_abs = 1.0,
                              .max_ulp = 2.0,
                              .sum_ulp = 3.0,
                              .worst_count = 1,
                              .first_outside = 4};
    cr_expect(assay_numeric_same_accuracy(&a, &a));
    for (int field = 0; field < 6; field++) {
        assay_accuracy b = a;
        uint64_t *const fields[] = {&b.elements,          &b.outside,       &b.not_comparable,
                                    &b.correctly_rounded, &b.first_outside, &b.worst[0].index};
        ++*fields[field];
        cr_expect_not(assay_numeric_same_accuracy(&a, &b), "field %d", field);
    }
    assay_accuracy b = a;
    b.sum_ulp *= 1.0 + 1e-6;
    cr_expect_not(assay_numeric_same_accuracy(&a, &b));
    b.sum_ulp = a.sum_ulp * (1.0 + 1e-12); /* another order of addition */
    cr_expect(assay_numeric_same_accuracy(&a, &b));
}
