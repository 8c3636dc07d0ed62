/* determinism.c - the same call gives the same bytes: again, elsewhere, on another thread, in a fresh
 * process, between other calls, and after its inputs were changed in place. The oracle is the candidate
 * itself. */
#include "determinism.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const assay_suite assay_suite_determinism;

#define REPEATS 20

bool assay_answer_keep(const assay_exec *exec, assay_answer *answer, assay_error *error) {
    answer->size = assay_direct_bytes(&exec->output);
    answer->element = assay_dtype_bytes(exec->output.dtype);
    answer->bytes = assay_direct_memory(answer->size, 1, error);
    if (answer->bytes == NULL) {
        return false;
    }
    memcpy(answer->bytes, exec->output.data, answer->size);
    return true;
}

void assay_answer_free(assay_answer *answer) {
    free(answer->bytes);
    answer->bytes = NULL;
}

void assay_answer_compare(const void *got, const assay_answer *want, assay_findings *findings, uint64_t part,
                          const char *what) {
    const char *bytes = got;
    size_t n = want->size / want->element;
    size_t bad = 0;
    size_t first = 0;
    assay_findings_count(findings, n);
    if (memcmp(bytes, want->bytes, want->size) == 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (memcmp(bytes + i * want->element, want->bytes + i * want->element, want->element) != 0) {
            first = bad == 0 ? i : first;
            bad++;
        }
    }
    assay_findings_add(findings, part, bad, ASSAY_OUTCOME_FAIL,
                       "%s: %zu of %zu elements differ, the first is element %zu", what, bad, n, first);
}

bool assay_determinism_go(assay_context *context, const assay_direct_call *call,
                          const assay_exec_options *options, assay_exec *exec, assay_findings *findings,
                          uint64_t part, const char *what, assay_error *error) {
    assay_result trouble = {.outcome = ASSAY_OUTCOME_NOT_RUN};
    if (!assay_direct_call_exec(context, context->lanes[0].candidate, call, options, exec, error) ||
        !assay_findings_expect_ok(findings, part, &exec->reply, what)) {
        return false;
    }
    if (!assay_result_expect_clean(&trouble, exec, what)) {
        assay_findings_add(findings, part, trouble.bad, trouble.outcome, "%s", trouble.reason);
        return false;
    }
    return true;
}

/* ---- the same call again, in ways that may not matter ---- */

/* Pages taken from the arena before a call move its buffers. */
static bool lay_out_elsewhere(assay_context *context, const assay_direct_call *call, uint64_t part,
                              assay_exec *exec, assay_error *error) {
    assay_arena *arena = assay_worker_arena(context->lanes[0].candidate);
    assay_tensor gap;
    assay_dtype dtype = call->c.dtype;
    size_t words = ((size_t)1 << (part % 12)) * 1024;
    assay_arena_reset(arena, false);
    if (!assay_direct_alloc(arena, ASSAY_DTYPE_F32, words, 0, 1, 0, &gap, error) ||
        !assay_direct_alloc(arena, dtype, call->rows, 0, 1, 0, &exec->input, error)) {
        return false;
    }
    if (!call->backward) {
        return assay_direct_alloc(arena, ASSAY_DTYPE_F32, call->rows, call->channels, 0, 0, &exec->output,
                                  error);
    }
    return assay_direct_alloc(arena, ASSAY_DTYPE_F32, call->rows, call->channels, 0, 0, &exec->saved,
                              error) &&
           assay_direct_alloc(arena, ASSAY_DTYPE_F32, call->rows, call->channels, 0, 0, &exec->upstream,
                              error) &&
           assay_direct_alloc(arena, dtype, call->rows, 0, 1, 0, &exec->output, error);
}

bool assay_determinism_again(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error) {
    static const char *const what[] = {
        [ASSAY_DETERMINISM_REPEATED] = "repeated",
        [ASSAY_DETERMINISM_FRESH_PROCESS] = "in a fresh process",
        [ASSAY_DETERMINISM_OTHER_THREAD] = "on another thread",
        [ASSAY_DETERMINISM_ELSEWHERE] = "at other addresses",
    };
    assay_direct_call call;
    assay_exec exec = {0};
    assay_answer first = {0};
    bool fresh = check->kind == ASSAY_DETERMINISM_FRESH_PROCESS;
    bool elsewhere = check->kind == ASSAY_DETERMINISM_ELSEWHERE;
    uint64_t times = fresh ? (uint64_t)check->p[1] : REPEATS;
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_determinism_go(context, &call, NULL, &exec, findings, 0, "first call", error) &&
        assay_answer_keep(&exec, &first, error);
    for (uint64_t i = 1; good && i <= times; i++) {
        assay_exec_options options = {.other_thread = check->kind == ASSAY_DETERMINISM_OTHER_THREAD,
                                      .keep_layout = elsewhere};
        if (fresh) {
            assay_worker_restart(context->lanes[0].candidate);
        }
        good = (!elsewhere || lay_out_elsewhere(context, &call, i, &exec, error)) &&
               assay_determinism_go(context, &call, &options, &exec, findings, i, what[check->kind], error);
        if (good) {
            assay_answer_compare(exec.output.data, &first, findings, i, what[check->kind]);
        }
    }
    assay_answer_free(&first);
    assay_direct_call_free(&call);
    return good;
}

bool assay_determinism_unchecked(assay_context *context, const assay_check *check, assay_findings *findings,
                                 assay_error *error) {
    assay_direct_call call;
    assay_exec exec = {0};
    assay_answer checked = {0};
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_determinism_go(context, &call, NULL, &exec, findings, 0, "checked call", error) &&
        assay_answer_keep(&exec, &checked, error) &&
        assay_direct_attr_set(&call.c.attrs, "check_range", 0.0) &&
        assay_determinism_go(context, &call, NULL, &exec, findings, 1, "unchecked call", error);
    if (good) {
        assay_answer_compare(exec.output.data, &checked, findings, 1, "without the range check");
    }
    assay_answer_free(&checked);
    assay_direct_call_free(&call);
    return good;
}

/* ---- plan and run ---- */

typedef bool (*determinism_kind)(assay_context *context, const assay_check *check, assay_findings *findings,
                                 assay_error *error);
static const struct {
    const char *name;
    determinism_kind run;
} kinds[ASSAY_DETERMINISM_KIND_COUNT] = {
    [ASSAY_DETERMINISM_REPEATED] = {"repeated", assay_determinism_again},
    [ASSAY_DETERMINISM_FRESH_PROCESS] = {"fresh_process", assay_determinism_again},
    [ASSAY_DETERMINISM_OTHER_THREAD] = {"other_thread", assay_determinism_again},
    [ASSAY_DETERMINISM_ELSEWHERE] = {"elsewhere", assay_determinism_again},
    [ASSAY_DETERMINISM_IN_PLACE] = {"in_place", assay_determinism_in_place},
    [ASSAY_DETERMINISM_MIXED] = {"mixed", assay_determinism_mixed},
    [ASSAY_DETERMINISM_UNCHECKED] = {"unchecked", assay_determinism_unchecked},
    [ASSAY_DETERMINISM_PENDING] = {"pending_work", assay_determinism_stream},
    [ASSAY_DETERMINISM_OTHER_STREAM] = {"other_stream", assay_determinism_stream},
    [ASSAY_DETERMINISM_LEGACY_STREAM] = {"legacy_stream", assay_determinism_stream},
    [ASSAY_DETERMINISM_PER_THREAD_STREAM] = {"per_thread_stream", assay_determinism_stream},
    [ASSAY_DETERMINISM_GRAPH] = {"graph", assay_determinism_stream},
    [ASSAY_DETERMINISM_LATE] = {"late", assay_determinism_late},
};

static void add(const assay_context *context, assay_plan *plan, assay_determinism_kind_id kind, bool backward,
                assay_dtype dtype, uint64_t rows) {
    assay_case c;
    assay_direct_case(context, 0, dtype, rows, context->seed, &c);
    assay_check *check = assay_plan_add(plan, context, &assay_suite_determinism, "determinism", "%s%s_%s",
                                        backward ? "backward_" : "", kinds[kind].name, c.name);
    if (check != NULL) {
        check->kind = (int)kind;
        check->p[0] = backward ? 1 : 0;
        check->p[1] = context->tier == ASSAY_TIER_QUICK ? 1 : 2;
        check->c = c;
    }
}

static void plan(const assay_context *context, assay_plan *out) {
    /* The unchecked path may be another kernel, which may change with the size. */
    static const uint64_t sizes[] = {64, 1, 3, 1000, 2048, 4097};
    static const size_t few = 4;
    static const assay_dtype narrow[] = {ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    bool quick = context->tier == ASSAY_TIER_QUICK;
    assay_attrs defaults;
    assay_direct_attrs(context->contract, &defaults);
    const int kinds_here = context->device != NULL ? ASSAY_DETERMINISM_KIND_COUNT : ASSAY_DETERMINISM_PENDING;
    for (int kind = 0; kind < kinds_here; kind++) {
        bool unchecked = kind == ASSAY_DETERMINISM_UNCHECKED;
        if (kind == ASSAY_DETERMINISM_MIXED) {
            add(context, out, ASSAY_DETERMINISM_MIXED, false, ASSAY_DTYPE_F32, 64);
            continue;
        }
        if (unchecked && !assay_direct_attr_set(&defaults, "check_range", 0.0)) {
            continue;
        }
        size_t count = quick ? 1 : unchecked ? sizeof sizes / sizeof sizes[0] : few;
        for (size_t i = 0; i < count; i++) {
            add(context, out, (assay_determinism_kind_id)kind, false, ASSAY_DTYPE_F32, sizes[i]);
            add(context, out, (assay_determinism_kind_id)kind, true, ASSAY_DTYPE_F32, sizes[i]);
        }
        for (size_t i = 0; i < (quick ? 0 : sizeof narrow / sizeof narrow[0]); i++) {
            add(context, out, (assay_determinism_kind_id)kind, false, narrow[i], 64);
            add(context, out, (assay_determinism_kind_id)kind, true, narrow[i], 64);
        }
    }
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_findings findings;
    assay_error error = {0};
    if (check->p[0] != 0 && !assay_worker_offers(context->lanes[0].candidate, context->op->name, true)) {
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED, "the adapter offers no backward");
        return;
    }
    assay_findings_open(&findings);
    bool good = kinds[check->kind].run(context, check, &findings, &error);
    assay_findings_close(&findings, good, &error, result);
}

const assay_suite assay_suite_determinism = {
    .name = "determinism",
    .help = "the same bytes again: repeats, fresh process, other thread, inputs changed in place",
    .plan = plan,
    .run = run,
};
