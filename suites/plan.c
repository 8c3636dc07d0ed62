/* plan.c - the plan of a run, results, and lanes: what suites call while they plan and run. */
#include "runner_internal.h"

#include "text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(id, text, help) extern const assay_suite assay_suite_##id;
ASSAY_SUITE_LIST(X)
#undef X

const assay_suite *const assay_suites[] = {
#define X(id, text, help) &assay_suite_##id,
    ASSAY_SUITE_LIST(X)
#undef X
};
const size_t assay_suite_count = sizeof assay_suites / sizeof assay_suites[0];

assay_check *assay_plan_add(assay_plan *plan, const assay_context *context, const assay_suite *suite,
                            const char *promise, const char *name_format, ...) {
    const assay_promise *owed = assay_contract_promise(context->contract, promise);
    if (owed == NULL) {
        return NULL;
    }
    if (plan->count == plan->capacity) {
        plan->capacity = plan->capacity == 0 ? 128 : 2 * plan->capacity;
        assay_check *grown = realloc(plan->items, plan->capacity * sizeof *grown);
        if (grown == NULL) {
            abort();
        }
        plan->items = grown;
    }
    assay_check *check = &plan->items[plan->count++];
    memset(check, 0, sizeof *check);
    check->suite = suite;
    check->required = owed->required;
    check->strength = ASSAY_STRENGTH_SAMPLED;
    (void)snprintf(check->promise, sizeof check->promise, "%s", promise);
    int used = snprintf(check->name, sizeof check->name, "%s/", suite->name);
    va_list args;
    va_start(args, name_format);
    (void)vsnprintf(check->name + used, sizeof check->name - (size_t)used, name_format, args);
    va_end(args);
    for (size_t i = 0; i + 1 < plan->count; i++) {
        if (strcmp(plan->items[i].name, check->name) == 0) {
            plan->count--; /* the run's seed is one of the contract's: the same case once more */
            return NULL;
        }
    }
    return check;
}

void assay_result_set(assay_result *result, assay_outcome outcome, const char *format, ...) {
    va_list args;
    va_start(args, format);
    result->outcome = outcome;
    (void)vsnprintf(result->reason, sizeof result->reason, format, args);
    va_end(args);
    assay_text_tidy(result->reason); /* names may be long and are then cut */
}

bool assay_result_expect_ok(assay_result *result, const assay_call_reply *reply, const char *what) {
    if (reply->result == ASSAY_CALL_LOST) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "%s: %s", what, reply->reason);
        return false;
    }
    if (reply->status == ASSAY_OK) {
        return true;
    }
    assay_outcome outcome =
        reply->status == ASSAY_UNSUPPORTED ? ASSAY_OUTCOME_UNSUPPORTED : ASSAY_OUTCOME_FAIL;
    assay_result_set(result, outcome, "%s: status %s: %s", what, assay_status_text(reply->status),
                     reply->message);
    return false;
}

bool assay_result_expect_clean(assay_result *result, const assay_exec *exec, const char *what) {
    if (exec->zone_damage > 0) {
        result->bad = exec->zone_damage;
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%s: %zu bytes around the output were changed", what,
                         exec->zone_damage);
    } else if (exec->input_changed) {
        result->bad = 1;
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%s: an input was changed", what);
    }
    return exec->zone_damage == 0 && !exec->input_changed;
}

typedef struct parallel {
    assay_runner *runner;
    uint64_t parts;
    bool (*fn)(assay_lane *lane, uint64_t part, void *user, assay_error *error);
    void *user;
    atomic_ullong next;
    atomic_bool stop;
} parallel;

typedef struct parallel_thread {
    parallel *shared;
    assay_lane *lane;
    assay_error error;
    bool stopped; /* fn returned false here */
    pthread_t thread;
} parallel_thread;

static void *parallel_main(void *argument) {
    parallel_thread *self = argument;
    parallel *shared = self->shared;
    while (!atomic_load(&shared->stop)) {
        uint64_t part = atomic_fetch_add(&shared->next, 1);
        if (part >= shared->parts) {
            break;
        }
        if (!shared->fn(self->lane, part, shared->user, &self->error)) {
            self->stopped = true;
            atomic_store(&shared->stop, true);
        }
    }
    return NULL;
}

bool assay_context_parallel(assay_context *context, uint64_t parts,
                            bool (*fn)(assay_lane *lane, uint64_t part, void *user, assay_error *error),
                            void *user, assay_error *error) {
    parallel shared = {.runner = (assay_runner *)context, .parts = parts, .fn = fn, .user = user};
    unsigned lanes = context->lane_count;
    if (parts < lanes) {
        lanes = parts > 0 ? (unsigned)parts : 1;
    }
    for (unsigned i = 0; i < lanes; i++) {
        if (assay_runner_lane(shared.runner, i, error) != ASSAY_CODE_OK) {
            return false;
        }
    }
    parallel_thread threads[ASSAY_MAX_LANES] = {{.shared = &shared, .lane = &context->lanes[0]}};
    for (unsigned i = 1; i < lanes; i++) {
        threads[i] = (parallel_thread){.shared = &shared, .lane = &context->lanes[i]};
    }
    unsigned started = 1; /* the calling thread drives lane 0 */
    for (; started < lanes; started++) {
        if (pthread_create(&threads[started].thread, NULL, parallel_main, &threads[started]) != 0) {
            break;
        }
    }
    (void)parallel_main(&threads[0]);
    for (unsigned i = 1; i < started; i++) {
        (void)pthread_join(threads[i].thread, NULL);
    }
    for (unsigned i = 0; i < started; i++) {
        if (threads[i].stopped && threads[i].error.code != ASSAY_CODE_OK) {
            *error = threads[i].error;
            return false;
        }
    }
    return true;
}
