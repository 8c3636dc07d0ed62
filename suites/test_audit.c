/* test_audit.c - the suite on files that stand for candidates; the candidate itself is never called. */
#include "test_suite_run.h"

extern const assay_suite assay_suite_audit;

static char file[4096];

static void on_file(assay_context *context) {
    context->candidate_memory = ASSAY_MEMORY_CUDA;
    context->candidate_path = file;
}
static void external(assay_context *context) {
    on_file(context);
    context->candidate_external = true;
}

static suite_tally audit(const char *name, suite_tweak *tweak) {
    const char *const source = getenv("ASSAY_SOURCE");
    (void)snprintf(file, sizeof file, "%s/harness/core/ptx/%s", source != NULL ? source : ".", name);
    const suite_tally t = suite_run(&assay_suite_audit, "libm", NULL, ASSAY_TIER_QUICK, NULL, tweak);
    cr_assert_eq(t.planned, 1);
    cr_assert_eq(t.required, 1);
    return t;
}

Test(audit, nothing_is_planned_for_a_candidate_on_the_host) {
    const suite_tally t = suite_run(&assay_suite_audit, "libm", NULL, ASSAY_TIER_QUICK, NULL, NULL);
    cr_expect_eq(t.planned, 0);
}

Test(audit, exact_code_passes_and_counts_its_instructions) {
    const suite_tally t = audit("exact.ptx", on_file);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_PASS], 1, "%s", t.first);
    cr_expect_gt(t.elements, 10);
}

Test(audit, relaxed_code_fails_naming_function_and_instruction) {
    const suite_tally t = audit("relaxed.ptx", on_file);
    cr_expect_eq(t.outcomes[ASSAY_OUTCOME_FAIL], 1, "%s", t.first);
    cr_expect_neq(strstr(t.first, "fast_sine (compute_80): sin.approx.f32, 2 times"), NULL, "%s", t.first);
}

Test(audit, what_cannot_be_told_is_never_a_pass) {
    static const struct {
        const char *name, *says;
        suite_tweak *tweak;
    } rows[] = {{"unknown.ptx", "raw_power", on_file},
                {"missing.ptx", "No such file", on_file},
                {"../audit.h", "no device code", on_file},
                {"exact.ptx", "external program", external}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const suite_tally t = audit(rows[i].name, rows[i].tweak);
        cr_expect_eq(t.outcomes[ASSAY_OUTCOME_UNAVAILABLE], 1, "%s: %s", rows[i].name, t.first);
        cr_expect_neq(strstr(t.first, rows[i].says), NULL, "%s", t.first);
    }
}
