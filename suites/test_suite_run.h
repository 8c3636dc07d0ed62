/* test_suite_run.h - runs one suite on one candidate inside a Criterion test, without a database: plan, run,
 * count outcomes. Include it once per test program: the program also plays the worker host, as `assay worker`
 * does. */
#ifndef ASSAY_TEST_SUITE_RUN_H
#define ASSAY_TEST_SUITE_RUN_H

#include "recorder.h"
#include "runner_internal.h"

#include <criterion/criterion.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void serve_as_worker(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "worker") == 0) {
        exit(assay_worker_main(argv[3]));
    }
}

/* What the checks of a suite came to. */
typedef struct suite_tally {
    uint64_t planned, required, outcomes[ASSAY_OUTCOME_COUNT], elements, witnesses;
    char first[512]; /* the first check that did not pass: name, outcome, reason */
} suite_tally;

/* The path of a built adapter, e.g. "reference_c" or "mutants/null_zeros". */
static inline const char *adapter_path(const char *name, char path[512]) {
    const char *build = getenv("ASSAY_BUILD");
    (void)snprintf(path, 512, "%s/impls/%s.so", build != NULL ? build : ".", name);
    return path;
}

/* Called with the open context before planning; may be NULL. */
typedef void suite_tweak(assay_context *context);

static inline suite_tally suite_run(const assay_suite *suite, const char *candidate, const char *baseline,
                                    assay_tier tier, const char *pattern, suite_tweak *tweak) {
    char paths[2][512];
    assay_runner *runner = calloc(1, sizeof *runner);
    assay_error error = {0};
    assay_certify_options options = {.kind = "test",
                                     .op = "timestep_sinusoid_h3",
                                     .impl_path = adapter_path(candidate, paths[0]),
                                     .impl_name = candidate,
                                     .device = "cpu",
                                     .command = "test",
                                     .tier = tier,
                                     .seed = 1,
                                     .threads = 2,
                                     .allow_dirty = true};
    if (baseline != NULL) {
        options.baseline_path = adapter_path(baseline, paths[1]);
        options.baseline_name = baseline;
    }
    cr_assert_eq(assay_runner_open(runner, &options, false, &error), ASSAY_CODE_OK, "%s", error.text);
    assay_context *context = &runner->context;
    if (tweak != NULL) {
        tweak(context);
    }
    suite_tally tally = {.planned = 0};
    assay_plan plan = {0};
    suite->plan(context, &plan);
    for (size_t i = 0; i < plan.count; i++) {
        const assay_check *check = &plan.items[i];
        assay_result result = {.outcome = ASSAY_OUTCOME_NOT_RUN};
        if (pattern != NULL && fnmatch(pattern, check->name, 0) != 0) {
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            cr_expect_str_neq(plan.items[j].name, check->name, "two checks of one name");
        }
        assay_recorder_clear(context->recorder);
        suite->run(context, check, &result);
        tally.planned++;
        tally.required += check->required;
        tally.elements += result.elements;
        tally.outcomes[result.outcome]++;
        assay_check_record record = {0};
        assay_recorder_fill(context->recorder, &record);
        tally.witnesses += record.witness_count;
        if (result.outcome != ASSAY_OUTCOME_PASS && tally.first[0] == '\0') {
            (void)snprintf(tally.first, sizeof tally.first, "%s %s: %s", check->name,
                           assay_outcome_text(result.outcome), result.reason);
        }
        if (result.outcome == ASSAY_OUTCOME_PASS) {
            cr_expect_gt(result.elements, 0, "%s passed without an element", check->name);
        }
    }
    free(plan.items);
    assay_runner_close(runner);
    free(runner);
    return tally;
}

#endif
