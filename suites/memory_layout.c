/* memory_layout.c - the procedures of the memory suite that lay tensors out once and look at them for longer:
 * pre-filled outputs, a look after the answer, strides and rows beyond 31 bits. */
#include "memory_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Repeats the call on the tensors already in *exec. */
static bool call_again(const assay_context *context, assay_worker *worker, const assay_direct_call *call,
                       assay_exec *exec, assay_error *error) {
    return call->backward
               ? assay_direct_backward(context, worker, &call->c.attrs, &exec->upstream, &exec->saved,
                                       &exec->input, &exec->output, &exec->reply, error)
               : assay_direct_forward(context, worker, &call->c.attrs, &exec->input, &exec->output,
                                      &exec->reply, error);
}

/* ---- prefilled: the output is not read ---- */

/* The answers of the rows in reverse order: plausible values in the wrong places. */
static void fill_with_reversed(const assay_exec *exec, const char *answer, size_t rows, size_t row_bytes) {
    for (size_t r = 0; r < rows; r++) {
        memcpy((char *)exec->output.data + r * row_bytes, answer + (rows - 1 - r) * row_bytes, row_bytes);
    }
}

bool assay_memory_prefilled(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error) {
    static const struct {
        const char *name;
        uint32_t pattern;
    } fills[] = {{"the answers of other rows", 0}, {"NaN", ASSAY_POISON_A},
                 {"infinity", 0x7f800000U},        {"zero", 0U},
                 {"minus zero", 0x80000000U},      {"one", 0x3f800000U}};
    assay_worker *worker = context->lanes[0].candidate;
    assay_direct_call call;
    assay_exec exec = {0};
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_direct_call_exec(context, worker, &call, NULL, &exec, error) &&
        assay_findings_expect_ok(findings, 0, &exec.reply, "call");
    size_t bytes = good ? assay_direct_bytes(&exec.output) : 0;
    char *want = good ? assay_direct_memory(bytes, 1, error) : NULL;
    good = good && want != NULL;
    if (good) {
        memcpy(want, exec.output.data, bytes);
    }
    for (size_t i = 0; good && i < sizeof fills / sizeof fills[0]; i++) {
        if (i == 0) {
            fill_with_reversed(&exec, want, call.rows, bytes / call.rows);
        } else {
            assay_direct_fill(&exec.output, fills[i].pattern);
        }
        good = call_again(context, worker, &call, &exec, error) &&
               assay_findings_expect_ok(findings, i, &exec.reply, "call");
        assay_findings_count(findings, good ? (uint64_t)assay_tensor_elements(&exec.output) : 0);
        if (good && memcmp(want, exec.output.data, bytes) != 0) {
            assay_findings_add(findings, i, 1, ASSAY_OUTCOME_FAIL,
                               "the answer depends on what the output held: %s", fills[i].name);
        }
    }
    free(want);
    assay_direct_call_free(&call);
    return good;
}

/* ---- afterwards: the answer ends the work ---- */

static void wait_ms(long ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0) {
    }
}

static bool hashes_changed(const assay_exec *exec, bool backward, uint8_t hashes[4][32], bool compare) {
    const assay_tensor *const tensors[4] = {&exec->output, &exec->input, &exec->saved, &exec->upstream};
    bool changed = false;
    for (size_t i = 0; i < (backward ? 4U : 2U); i++) {
        uint8_t now[32];
        assay_tensor_hash(tensors[i], now);
        changed |= compare && memcmp(now, hashes[i], sizeof now) != 0;
        if (!compare) {
            memcpy(hashes[i], now, sizeof now);
        }
    }
    return changed;
}

bool assay_memory_afterwards(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error) {
    static const long waits_ms[] = {1, 4, 15, 60};
    assay_worker *worker = context->lanes[0].candidate;
    assay_direct_call call;
    assay_exec exec = {0};
    uint8_t hashes[4][32];
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_direct_call_exec(context, worker, &call, NULL, &exec, error) &&
        assay_findings_expect_ok(findings, 0, &exec.reply, "call");
    if (good) {
        unsigned generation = assay_worker_generation(worker);
        (void)hashes_changed(&exec, call.backward, hashes, false);
        long waited = 0;
        for (size_t i = 0; i < sizeof waits_ms / sizeof waits_ms[0]; i++) {
            wait_ms(waits_ms[i]);
            waited += waits_ms[i];
            if (hashes_changed(&exec, call.backward, hashes, true)) {
                assay_findings_add(findings, i, 1, ASSAY_OUTCOME_FAIL,
                                   "memory changed within %ld ms after the answer", waited);
                break;
            }
        }
        /* Work left behind on buffers that are gone kills the worker before or during its next call. */
        good = call_again(context, worker, &call, &exec, error);
        bool lost = good && exec.reply.result == ASSAY_CALL_LOST;
        if (lost || assay_worker_generation(worker) != generation) {
            assay_findings_add(findings, 9, 1, ASSAY_OUTCOME_FAIL,
                               "the worker died after it had answered: %.150s",
                               lost ? exec.reply.reason : "a fresh one had to be started");
        }
        assay_findings_count(findings, (uint64_t)assay_tensor_elements(&exec.output));
    }
    assay_direct_call_free(&call);
    return good;
}

/* ---- far: indices beyond 31 bits ---- */

/* The input's last element lies beyond 2^31 elements (16-bit types) or 2^32 bytes (FP32); pages between are
 * never touched. */
bool assay_memory_far_stride(assay_context *context, const assay_check *check, assay_findings *findings,
                             assay_error *error) {
    assay_worker *worker = context->lanes[0].candidate;
    assay_arena *arena = assay_worker_arena(worker);
    assay_direct_call call;
    assay_tensor far;
    assay_exec exec = {0};
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_direct_call_exec(context, worker, &call, NULL, &exec, error) &&
        assay_findings_expect_ok(findings, 0, &exec.reply, "call without stride");
    size_t bytes = good ? assay_direct_bytes(&exec.output) : 0;
    char *want = good ? assay_direct_memory(bytes, 1, error) : NULL;
    good = good && want != NULL;
    if (good) {
        assay_error full;
        memcpy(want, exec.output.data, bytes);
        if (!assay_direct_alloc(arena, call.c.dtype, call.rows, 0, check->p[1], 0, &far, &full)) {
            assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE, "%.200s", full.text);
        } else {
            assay_direct_put(&far, call.x);
            assay_direct_fill(&exec.output, ASSAY_POISON_B);
            good =
                assay_direct_forward(context, worker, &call.c.attrs, &far, &exec.output, &exec.reply, error);
            if (good && exec.reply.result == ASSAY_CALL_LOST &&
                strstr(exec.reply.reason, "killed by SIG") != NULL) {
                assay_findings_add(findings, 0, 1, ASSAY_OUTCOME_FAIL, "an index wraps: %.200s",
                                   exec.reply.reason);
            } else if (good && assay_findings_expect_ok(findings, 0, &exec.reply, "call with a far stride") &&
                       memcmp(want, exec.output.data, bytes) != 0) {
                assay_findings_add(findings, 0, 1, ASSAY_OUTCOME_FAIL,
                                   "stride %lld: the answer differs from that of the same rows side by side",
                                   (long long)check->p[1]);
            }
            assay_findings_count(findings, (uint64_t)assay_tensor_elements(&exec.output));
        }
        assay_arena_reset(arena, true);
    }
    free(want);
    assay_direct_call_free(&call);
    return good;
}

static bool enough_memory(size_t bytes) {
    char line[128];
    unsigned long long available_kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "MemAvailable:", 13) == 0) {
            available_kib = strtoull(line + 13, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return available_kib * 1024ULL > bytes + (1ULL << 30);
}

/* Compares `n` rows from `first` of the big output with a call of their own. */
static bool same_rows(assay_context *context, const assay_direct_call *call, const assay_tensor *input,
                      const assay_tensor *output, const assay_tensor *own, int64_t first, int64_t n,
                      assay_findings *findings, assay_error *error) {
    assay_tensor part_input;
    assay_tensor part_output;
    assay_call_reply reply;
    assay_direct_rows(input, first, n, &part_input);
    assay_direct_rows(own, 0, n, &part_output);
    assay_direct_fill(&part_output, ASSAY_POISON_B);
    if (!assay_direct_forward(context, context->lanes[0].candidate, &call->c.attrs, &part_input, &part_output,
                              &reply, error) ||
        !assay_findings_expect_ok(findings, 1, &reply, "sub-batch")) {
        return false;
    }
    size_t words = (size_t)n * call->channels;
    const uint32_t *big = (const uint32_t *)output->data + (size_t)first * call->channels;
    size_t bad = assay_direct_count_differences(big, part_output.data, words);
    assay_findings_count(findings, words);
    if (bad > 0) {
        assay_findings_add(findings, 1, bad, ASSAY_OUTCOME_FAIL,
                           "rows %lld..%lld of %lld: %zu elements differ from a call of their own",
                           (long long)first, (long long)(first + n - 1), (long long)input->shape[0], bad);
    }
    return true;
}

/* Allocates what the machine can hold; false with a finding when it cannot. */
static bool far_rows_alloc(assay_context *context, const assay_direct_call *call, assay_tensor *input,
                           assay_tensor *output, assay_tensor *own, assay_findings *findings) {
    assay_arena *arena = assay_worker_arena(context->lanes[0].candidate);
    assay_error full = {0};
    size_t bytes = call->rows * call->channels * sizeof(float);
    assay_arena_reset(arena, true);
    if (!enough_memory(bytes)) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE, "needs %zu bytes of free memory",
                           bytes);
        return false;
    }
    if (!assay_direct_alloc(arena, call->c.dtype, call->rows, 0, 1, 0, input, &full) ||
        !assay_direct_alloc(arena, ASSAY_DTYPE_F32, call->rows, call->channels, 0, 0, output, &full) ||
        !assay_direct_alloc(arena, ASSAY_DTYPE_F32, 4097, call->channels, 0, 0, own, &full)) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE, "%.200s", full.text);
        return false;
    }
    return true;
}

bool assay_memory_far_rows(assay_context *context, const assay_check *check, assay_findings *findings,
                           assay_error *error) {
    assay_worker *worker = context->lanes[0].candidate;
    assay_direct_call call;
    assay_tensor input;
    assay_tensor output;
    assay_tensor own;
    assay_call_reply reply;
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error);
    if (good && far_rows_alloc(context, &call, &input, &output, &own, findings)) {
        const assay_tensor *in = &input;
        const assay_tensor *out = &output;
        assay_call_spec spec = {.op = context->op->name,
                                .attrs = call.c.attrs.items,
                                .attr_count = call.c.attrs.count,
                                .inputs = &in,
                                .input_count = 1,
                                .outputs = &out,
                                .output_count = 1,
                                .timeout_ms = 600000};
        int64_t rows = (int64_t)call.rows;
        assay_direct_put(&input, call.x);
        assay_tensor_poison(&output, ASSAY_POISON_A);
        good = assay_worker_call(worker, &spec, &reply, error) &&
               assay_findings_expect_ok(findings, 0, &reply, "call");
        size_t unwritten = good ? assay_tensor_count_pattern(&output, ASSAY_POISON_A) : 0;
        if (unwritten > 0) {
            assay_findings_add(findings, 0, unwritten, ASSAY_OUTCOME_FAIL, "%zu elements were not written",
                               unwritten);
        }
        good = good && same_rows(context, &call, &input, &output, &own, 0, 4097, findings, error) &&
               same_rows(context, &call, &input, &output, &own, rows / 2 - 2048, 4097, findings, error) &&
               same_rows(context, &call, &input, &output, &own, rows - 4097, 4097, findings, error);
    }
    assay_arena_reset(assay_worker_arena(worker), true);
    assay_direct_call_free(&call);
    return good;
}
