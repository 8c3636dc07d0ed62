/* memory_run.c - memory arranged so that misuse shows: two poisons, guard pages, pre-filled outputs, a look
 * afterwards. */
#include "memory_run.h"

#include <stdlib.h>
#include <string.h>

/* What the parts of a check share. */
typedef struct shared {
    const assay_context *context;
    const assay_check *check;
    assay_findings *findings;
    bool (*one)(const struct shared *shared, assay_worker *worker, const assay_direct_call *call,
                uint64_t part, assay_error *error);
} shared;

/* Part = one row count of p[1]..p[2]. */
static bool rows_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    const shared *s = user;
    assay_direct_call call;
    bool good = assay_direct_call_make(s->context, &s->check->c, s->check->p[0] != 0,
                                       (size_t)s->check->p[1] + part, &call, error) &&
                s->one(s, lane->candidate, &call, part, error);
    assay_direct_call_free(&call);
    return good;
}

static bool over_rows(assay_context *context, const shared *s, assay_error *error) {
    uint64_t parts = (uint64_t)(s->check->p[2] - s->check->p[1] + 1);
    return assay_context_parallel(context, parts, rows_part, (void *)(uintptr_t)s, error);
}

/* ---- written: two poisons ---- */

/* Zones and inputs after one call. */
static void look_around(const shared *s, const assay_exec *exec, uint32_t poison, size_t rows,
                        uint64_t part) {
    if (exec->input_changed) {
        assay_findings_add(s->findings, part, 1, ASSAY_OUTCOME_FAIL,
                           "%zu rows: bytes of an input or beside it changed", rows);
    }
    if (exec->zone_damage > 0) {
        int64_t first = 0;
        (void)assay_tensor_zone_damage(&exec->output, poison, &first);
        assay_findings_add(s->findings, part, exec->zone_damage, ASSAY_OUTCOME_FAIL,
                           "%zu rows: %zu bytes beside the output changed, the nearest %lld bytes %s", rows,
                           exec->zone_damage, (long long)(first < 0 ? -first : first),
                           first < 0 ? "before its start" : "behind its end");
    }
}

static void compare_runs(const shared *s, const assay_direct_call *call, const assay_exec *exec,
                         const char *before, uint32_t poison, uint64_t part) {
    size_t element = assay_dtype_bytes(exec->output.dtype);
    size_t n = (size_t)assay_tensor_elements(&exec->output);
    size_t per_row = n / call->rows;
    const char *now = exec->output.data;
    size_t bad = 0;
    size_t first = 0;
    bool same = memcmp(before, now, n * element) == 0;
    for (size_t i = 0; !same && i < n; i++) {
        if (memcmp(before + i * element, now + i * element, element) != 0) {
            first = bad == 0 ? i : first;
            bad++;
        }
    }
    if (bad > 0) {
        assay_findings_add(s->findings, part, bad, ASSAY_OUTCOME_FAIL,
                           "%zu rows: %zu of %zu elements depend on what the output held before, %zu of them "
                           "were not written; "
                           "first row %zu, element %zu",
                           call->rows, bad, n, assay_tensor_count_pattern(&exec->output, poison),
                           first / per_row, first % per_row);
    }
    assay_findings_count(s->findings, n);
}

static bool written_one(const shared *s, assay_worker *worker, const assay_direct_call *call, uint64_t part,
                        assay_error *error) {
    static const uint32_t poisons[2] = {ASSAY_POISON_A, ASSAY_POISON_B};
    char *before = NULL;
    bool good = true;
    for (size_t run = 0; good && run < 2; run++) {
        assay_exec exec;
        assay_exec_options options = {.poison = poisons[run]};
        good = assay_direct_call_exec(s->context, worker, call, &options, &exec, error) &&
               assay_findings_expect_ok(s->findings, part, &exec.reply, "call");
        if (!good) {
            break;
        }
        look_around(s, &exec, poisons[run], call->rows, part);
        size_t bytes = assay_direct_bytes(&exec.output);
        if (run == 0) {
            before = assay_direct_memory(bytes, 1, error);
            good = before != NULL;
        }
        if (good && run == 0) {
            memcpy(before, exec.output.data, bytes);
        } else if (good) {
            compare_runs(s, call, &exec, before, poisons[run], part);
        }
    }
    free(before);
    return good;
}

bool assay_memory_written(assay_context *context, const assay_check *check, assay_findings *findings,
                          assay_error *error) {
    shared s = {.context = context, .check = check, .findings = findings, .one = written_one};
    return over_rows(context, &s, error);
}

/* ---- guarded: buffers against unmapped pages ---- */

static bool guarded_one(const shared *s, assay_worker *worker, const assay_direct_call *call, uint64_t part,
                        assay_error *error) {
    assay_exec exec;
    assay_exec_options options = {.placement = (assay_placement)s->check->p[3]};
    bool end = options.placement == ASSAY_PLACE_AT_END;
    if (!assay_direct_call_exec(s->context, worker, call, &options, &exec, error)) {
        return false;
    }
    assay_findings_count(s->findings, (uint64_t)assay_tensor_elements(&exec.output));
    if (exec.reply.result == ASSAY_CALL_LOST &&
        (strstr(exec.reply.reason, "killed by SIG") != NULL ||
         strstr(exec.reply.reason, "illegal memory access") != NULL)) {
        assay_call_reply lost = exec.reply;
        /* Only a candidate that lives without guard pages died of them. */
        if (!assay_direct_call_exec(s->context, worker, call, NULL, &exec, error)) {
            return false;
        }
        if (exec.reply.result == ASSAY_CALL_ANSWERED) {
            assay_findings_add(s->findings, part, 1, ASSAY_OUTCOME_FAIL,
                               "%zu rows: reads or writes %s a buffer: %.150s", call->rows,
                               end ? "behind the end of" : "before the start of", lost.reason);
            return true;
        }
        exec.reply = lost;
    }
    if (!assay_findings_expect_ok(s->findings, part, &exec.reply, "call")) {
        return false;
    }
    look_around(s, &exec, ASSAY_POISON_A, call->rows, part);
    return true;
}

bool assay_memory_guarded(assay_context *context, const assay_check *check, assay_findings *findings,
                          assay_error *error) {
    shared s = {.context = context, .check = check, .findings = findings, .one = guarded_one};
    if (!assay_worker_get_info(context->lanes[0].candidate)->guards) {
        assay_findings_add(
            findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE,
            "the worker does not map buffers one by one, so no unmapped page lies beside them");
        return true;
    }
    return over_rows(context, &s, error);
}
