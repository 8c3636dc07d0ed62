/* audit.c - suite: what arithmetic the GPU code inside the candidate's file uses. The candidate is not called
 * and not asked; its file is read (harness/core/audit.h says what is looked for and what stays unseen).
 * Planned for candidates in CUDA memory only. */
#include "audit.h"

#include "suite.h"

extern const assay_suite assay_suite_audit;

static void plan(const assay_context *context, assay_plan *plan) {
    if (context->candidate_memory != ASSAY_MEMORY_CUDA) {
        return;
    }
    assay_check *const check =
        assay_plan_add(plan, context, &assay_suite_audit, "exact_math", "instructions");
    if (check != NULL) {
        check->strength = ASSAY_STRENGTH_EXHAUSTIVE; /* every instruction of the file */
        check->c.seed = context->seed;
    }
}

static void judge(assay_context *context, const assay_audit *audit, assay_result *result) {
    uint64_t counts[4] = {0};
    for (size_t i = 0; i < audit->code_count; i++) {
        for (size_t k = 0; k < audit->codes[i].function_count; k++) {
            counts[audit->codes[i].functions[k].verdict]++;
        }
    }
    assay_record_metric(context, "functions", (double)audit->functions, "functions");
    assay_record_metric(context, "relaxed", (double)counts[ASSAY_AUDIT_RELAXED], "functions");
    assay_record_metric(context, "unknown", (double)counts[ASSAY_AUDIT_UNKNOWN], "functions");
    result->elements = audit->instructions;
    switch (audit->verdict) {
    case ASSAY_AUDIT_EXACT:
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
        break;
    case ASSAY_AUDIT_RELAXED:
        result->bad = counts[ASSAY_AUDIT_RELAXED];
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%s", audit->reason);
        break;
    case ASSAY_AUDIT_NONE:
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE,
                         "the candidate works in CUDA memory, but its file holds no device code to read");
        break;
    case ASSAY_AUDIT_UNKNOWN:
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE, "%s", audit->reason);
        break;
    }
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_audit *audit = NULL;
    assay_error error = {0};
    (void)check;
    if (context->candidate_external) {
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE,
                         "an external program brings its device code from elsewhere: its file says nothing");
        return;
    }
    if (assay_audit_file(context->candidate_path, &audit, &error) != ASSAY_CODE_OK) {
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE, "%s", error.text);
        return;
    }
    judge(context, audit, result);
    assay_audit_free(audit);
}

const assay_suite assay_suite_audit = {
    .name = "audit",
    .help = "no relaxed instruction in the GPU code of the candidate's file",
    .plan = plan,
    .run = run,
};
