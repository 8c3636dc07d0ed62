/* validation.c - fail closed. Every row of the contract's rejections goes through the lowest entry point, the
 * worker call, so that null, misshapen and mistyped tensors arrive exactly as written: the answer must be
 * invalid_argument, no output byte may change, the worker must live, and the next valid call must give the
 * bytes it gave before. Every row of accepts must be answered ok, write its outputs completely and be right
 * wherever the value is valid. */
#include "philox.h"
#include "validation_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const assay_suite assay_suite_validation;

enum { REJECT, ACCEPT };

/* A call laid out in the worker's arena, and what its tensors hold. */
typedef struct laid_call {
    assay_row_call call;
    assay_tensor tensors[ASSAY_ROW_TENSORS];
    const assay_tensor *inputs[ASSAY_ROW_TENSORS], *outputs[ASSAY_ROW_TENSORS];
    size_t output_count;
    float *x, *upstream, *saved; /* base content: rows, rows x width, rows x width */
    size_t rows, width;
    assay_call_reply reply;
    bool outputs_changed; /* any byte of an output's segment differs from before the call */
    bool inputs_changed;
    size_t zone_damage;
} laid_call;

static void release(laid_call *laid) {
    free(laid->x);
    free(laid->upstream);
    free(laid->saved);
    laid->x = laid->upstream = laid->saved = NULL;
}

/* Content of the base call: values inside the domain, a normal upstream, the golden as saved output. */
static bool make_content(const assay_context *context, laid_call *laid, assay_error *error) {
    size_t rows = laid->rows = (size_t)laid->call.rows;
    size_t width = laid->width = laid->call.width > 0 ? (size_t)laid->call.width : 1;
    assay_philox_key key = assay_philox_key_of(context->op->name, "validation", "content", context->seed);
    laid->x = assay_direct_memory(rows, sizeof *laid->x, error);
    if (laid->x == NULL) {
        return false;
    }
    assay_philox_uniform(key, 0, rows, laid->x);
    for (size_t i = 0; i < rows && laid->call.dtype != ASSAY_DTYPE_F32; i++) {
        uint16_t narrow;
        assay_dtype_store_f32(laid->call.dtype, &narrow, 0, laid->x[i]);
        laid->x[i] = assay_dtype_load_f32(laid->call.dtype, &narrow, 0);
    }
    if (!laid->call.backward) {
        return true;
    }
    double *golden = assay_direct_memory(rows * width, sizeof *golden, error);
    laid->upstream = assay_direct_memory(rows * width, sizeof *laid->upstream, error);
    laid->saved = assay_direct_memory(rows * width, sizeof *laid->saved, error);
    bool good = golden != NULL && laid->upstream != NULL && laid->saved != NULL;
    if (good) {
        assay_philox_normal(key, 0, rows * width, laid->upstream);
        if (width % 2 == 0) {
            context->op->golden(&laid->call.attrs, laid->x, rows, golden);
        }
        for (size_t i = 0; i < rows * width; i++) {
            laid->saved[i] = (float)golden[i];
        }
    }
    free(golden);
    return good;
}

static void store(assay_dtype dtype, char *at, size_t i, float value) {
    double wide = (double)value;
    switch (dtype) {
    case ASSAY_DTYPE_F32:
    case ASSAY_DTYPE_BF16:
    case ASSAY_DTYPE_F16:
        assay_dtype_store_f32(dtype, at, 0, value);
        break;
    case ASSAY_DTYPE_F64:
        memcpy(at, &wide, sizeof wide);
        break;
    default: /* little-endian integers 0 and 1 */
        memset(at, 0, assay_dtype_bytes(dtype));
        at[0] = (char)(i & 1);
        break;
    }
}

/* Which content a tensor carries: the row input, or one of the matrices of the backward call, by its place in
 * the signature. */
static const float *content_of(const laid_call *laid, size_t index, size_t *count) {
    bool row_input = index + 1 == laid->call.input_count;
    *count = row_input ? laid->rows : laid->rows * laid->width;
    return row_input ? laid->x : index == 0 ? laid->upstream : laid->saved;
}

static bool lay_out(laid_call *laid, size_t index, assay_arena *arena, assay_error *error) {
    const assay_row_tensor *t = &laid->call.tensors[index];
    assay_tensor *tensor = &laid->tensors[index];
    assay_tensor_spec spec = {.dtype = t->dtype,
                              .ndim = t->ndim,
                              .strides = t->ndim == 1 ? &t->stride : NULL,
                              .placement = ASSAY_PLACE_MIDDLE};
    memcpy(spec.shape, t->shape, sizeof spec.shape);
    if (assay_tensor_alloc(arena, &spec, tensor, error) != ASSAY_CODE_OK) {
        return false;
    }
    assay_tensor_poison(tensor, ASSAY_POISON_A);
    size_t step = assay_dtype_bytes(t->dtype) * (t->ndim == 1 ? (size_t)t->stride : 1);
    size_t n = (size_t)assay_tensor_elements(tensor);
    size_t count;
    const float *content = content_of(laid, index, &count);
    for (size_t i = 0; !t->output && i < n; i++) {
        store(t->dtype, (char *)tensor->data + i * step, i, content[i % count]);
    }
    if (laid->call.poked && laid->call.poke_tensor == index) {
        memcpy((char *)tensor->data + (size_t)laid->call.poke_element * step, &laid->call.poke_bits,
               assay_dtype_bytes(t->dtype));
    }
    return true;
}

/* True when no byte of the output's segment, zones included, differs from the poison. */
static bool untouched(const assay_tensor *output) {
    assay_tensor whole = *output;
    whole.span_bytes = 0; /* everything counts as zone */
    return assay_tensor_zone_damage(&whole, ASSAY_POISON_A, NULL) == 0;
}

/* Lays the call out afresh, makes it, and looks at what changed. False only for harness faults. */
static bool make_call(const assay_context *context, assay_worker *worker, laid_call *laid,
                      assay_error *error) {
    assay_arena *arena = assay_worker_arena(worker);
    uint8_t before[ASSAY_ROW_TENSORS][32];
    uint8_t after[32];
    assay_row_call *call = &laid->call;
    if (!make_content(context, laid, error)) {
        return false;
    }
    assay_arena_reset(arena, false);
    for (size_t i = 0; i < call->count; i++) {
        const assay_tensor **slot =
            i < call->input_count ? &laid->inputs[i] : &laid->outputs[i - call->input_count];
        if (!lay_out(laid, i, arena, error)) {
            return false;
        }
        *slot = call->tensors[i].null ? NULL : &laid->tensors[i];
        if (!call->tensors[i].output) {
            assay_tensor_hash(&laid->tensors[i], before[i]);
        }
    }
    laid->output_count = call->count - call->input_count;
    assay_call_spec spec = {.op = context->op->name,
                            .backward = call->backward,
                            .attrs = call->attrs.items,
                            .attr_count = call->attrs.count,
                            .inputs = laid->inputs,
                            .input_count = call->input_count,
                            .outputs = laid->outputs,
                            .output_count = laid->output_count};
    if (!assay_worker_call(worker, &spec, &laid->reply, error)) {
        return false;
    }
    laid->outputs_changed = laid->inputs_changed = false;
    laid->zone_damage = 0;
    for (size_t i = 0; i < call->input_count; i++) {
        assay_tensor_hash(&laid->tensors[i], after);
        laid->inputs_changed |= memcmp(before[i], after, sizeof after) != 0;
    }
    for (size_t i = call->input_count; i < call->count; i++) {
        laid->outputs_changed |= !untouched(&laid->tensors[i]);
        laid->zone_damage += assay_tensor_zone_damage(&laid->tensors[i], ASSAY_POISON_A, NULL);
    }
    return true;
}

/* ---- judging ---- */

static bool verdict(assay_result *result, const char *label, const char *text) {
    result->bad++;
    if (result->outcome == ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%s%s%s", label, label[0] != '\0' ? ": " : "", text);
    }
    return true; /* go on with the next variant */
}

/* A call that must have been refused. */
static bool judge_rejection(const laid_call *laid, assay_result *result) {
    char text[200];
    const assay_call_reply *reply = &laid->reply;
    if (reply->result == ASSAY_CALL_LOST) {
        (void)snprintf(text, sizeof text, "invalid_argument is due, the worker was lost: %.120s",
                       reply->reason);
        return verdict(result, laid->call.label, text);
    }
    if (reply->status != ASSAY_INVALID_ARGUMENT) {
        (void)snprintf(text, sizeof text, "invalid_argument is due, answered %s",
                       assay_status_text(reply->status));
        return verdict(result, laid->call.label, text);
    }
    if (laid->outputs_changed) {
        return verdict(result, laid->call.label, "rejected, but bytes of an output changed");
    }
    if (laid->inputs_changed) {
        return verdict(result, laid->call.label, "rejected, but bytes of an input changed");
    }
    return true;
}

/* Element r of the row input as the candidate saw it, and whether the domain has it. */
static float seen_input(const assay_context *context, const laid_call *laid, size_t r, bool *valid) {
    const assay_row_call *call = &laid->call;
    float x = laid->x[r];
    size_t last = call->input_count - 1;
    if (call->poked && call->poke_tensor == last && call->poke_element == (int64_t)r) {
        x = call->dtype == ASSAY_DTYPE_F32 ? assay_f32_from_bits(call->poke_bits)
                                           : assay_dtype_load_f32(call->dtype, &call->poke_bits, 0);
    }
    *valid = assay_row_in_domain(context->contract, call->tensors[last].name, assay_f32_bits(x));
    return *valid ? x : 0.0F;
}

/* The number of elements of valid rows that miss the contract's tolerance; `golden` holds rows x per_row
 * values. */
static size_t count_wrong(const laid_call *laid, const assay_tolerance *tolerance, const double *golden,
                          const bool *valid, size_t per_row) {
    const assay_tensor *out = laid->outputs[0];
    size_t wrong = 0;
    for (size_t i = 0; i < laid->rows * per_row; i++) {
        float got = assay_dtype_load_f32(out->dtype, out->data, i);
        double bound = tolerance->atol + tolerance->rtol * fabs(golden[i]);
        wrong += valid[i / per_row] && !(fabs((double)got - golden[i]) <= bound);
    }
    return wrong;
}

static bool judge_values(const assay_context *context, const laid_call *laid, assay_result *result,
                         assay_error *error) {
    const assay_row_call *call = &laid->call;
    const assay_tensor *out = laid->outputs[0];
    const char *relation = call->backward ? "gradient_accuracy" : "accuracy";
    const assay_tolerance *tolerance = assay_contract_tolerance(
        context->contract, call->tensors[call->input_count].name, out->dtype, relation);
    size_t per_row = call->backward ? 1 : laid->width;
    float *x = assay_direct_memory(laid->rows, sizeof *x, error);
    bool *valid = assay_direct_memory(laid->rows, sizeof *valid, error);
    double *golden = assay_direct_memory(laid->rows * per_row, sizeof *golden, error);
    bool good = tolerance != NULL && x != NULL && valid != NULL && golden != NULL;
    if (good) {
        for (size_t r = 0; r < laid->rows; r++) {
            x[r] = seen_input(context, laid, r, &valid[r]);
        }
        if (call->backward) {
            context->op->vjp(&call->attrs, x, laid->upstream, laid->rows, golden);
        } else {
            context->op->golden(&call->attrs, x, laid->rows, golden);
        }
        size_t wrong = count_wrong(laid, tolerance, golden, valid, per_row);
        if (wrong > 0) {
            char text[96];
            (void)snprintf(text, sizeof text,
                           "answered ok, but %zu elements of valid rows miss the tolerance", wrong);
            (void)verdict(result, call->label, text);
        }
    } else if (tolerance == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "the contract has no %s row for this output", relation);
    }
    free(x);
    free(valid);
    free(golden);
    return good;
}

/* A call that must have been answered ok. False only for harness faults. */
static bool judge_acceptance(const assay_context *context, const laid_call *laid, assay_result *result,
                             assay_error *error) {
    char text[200];
    const assay_call_reply *reply = &laid->reply;
    if (reply->result == ASSAY_CALL_LOST) {
        (void)snprintf(text, sizeof text, "ok is due, the worker was lost: %.120s", reply->reason);
        return verdict(result, laid->call.label, text);
    }
    if (reply->status != ASSAY_OK) {
        (void)snprintf(text, sizeof text, "ok is due, answered %s: %.120s", assay_status_text(reply->status),
                       reply->message);
        return verdict(result, laid->call.label, text);
    }
    if (laid->inputs_changed || laid->zone_damage > 0) {
        return verdict(result, laid->call.label,
                       laid->inputs_changed ? "bytes of an input changed"
                                            : "bytes beside the output changed");
    }
    size_t unwritten = assay_tensor_count_pattern(laid->outputs[0], ASSAY_POISON_A);
    if (unwritten > 0) {
        (void)snprintf(text, sizeof text, "answered ok, but %zu elements were not written", unwritten);
        return verdict(result, laid->call.label, text);
    }
    return judge_values(context, laid, result, error);
}

/* ---- one row ---- */

/* The valid call of the row; its output bytes go to *bytes (first time) or are compared with them. */
static bool valid_call(assay_context *context, const assay_check *check, const char *after, void **bytes,
                       assay_result *result, assay_error *error) {
    laid_call laid = {0};
    assay_worker *worker = context->lanes[0].candidate;
    bool first = *bytes == NULL;
    bool good = assay_row_base(context->contract, check->data, &laid.call, error) == ASSAY_CODE_OK &&
                make_call(context, worker, &laid, error);
    if (good && first) {
        if (assay_result_expect_ok(result, &laid.reply, "valid call before")) {
            *bytes = assay_direct_memory(assay_direct_bytes(laid.outputs[0]), 1, error);
            good = *bytes != NULL;
        }
        if (*bytes != NULL) {
            memcpy(*bytes, laid.outputs[0]->data, assay_direct_bytes(laid.outputs[0]));
        }
    } else if (good) {
        bool same = laid.reply.result == ASSAY_CALL_ANSWERED && laid.reply.status == ASSAY_OK &&
                    memcmp(*bytes, laid.outputs[0]->data, assay_direct_bytes(laid.outputs[0])) == 0;
        if (!same) {
            (void)verdict(result, after, "the valid call after it no longer gives the bytes it gave before");
        }
    }
    release(&laid);
    return good;
}

static bool run_variant(assay_context *context, const assay_check *check, size_t index, void **bytes,
                        assay_result *result, assay_error *error) {
    laid_call laid = {0};
    bool good =
        assay_row_variant(context->contract, check->data, index, &laid.call, error) == ASSAY_CODE_OK &&
        make_call(context, context->lanes[0].candidate, &laid, error);
    if (good) {
        result->elements++;
        good = check->kind == REJECT ? judge_rejection(&laid, result)
                                     : judge_acceptance(context, &laid, result, error);
    }
    good = good && valid_call(context, check, laid.call.label, bytes, result, error);
    release(&laid);
    return good;
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_error error = {0};
    void *bytes = NULL;
    const char *entry = json_string_value(json_object_get(check->data, "entry"));
    bool backward = entry != NULL && strcmp(entry, "backward") == 0;
    if (backward && !assay_worker_offers(context->lanes[0].candidate, context->op->name, true)) {
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED, "the adapter offers no backward");
        return;
    }
    bool good = valid_call(context, check, "", &bytes, result, &error);
    for (size_t i = 0; good && bytes != NULL && i < assay_row_variants(check->data); i++) {
        good = run_variant(context, check, i, &bytes, result, &error);
    }
    free(bytes);
    if (!good) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error.text);
    } else if (result->outcome == ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
    }
    assay_record_metric(context, "calls", (double)result->elements, "");
}

static void plan_rows(const assay_context *context, assay_plan *out, const char *list, int kind) {
    const json_t *rows = json_object_get(context->contract->root, list);
    size_t index;
    const json_t *row;
    json_array_foreach(rows, index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        assay_check *check = assay_plan_add(out, context, &assay_suite_validation, "validation", "%s_%s",
                                            kind == REJECT ? "reject" : "accept", name != NULL ? name : "");
        if (check != NULL) {
            check->kind = kind;
            check->data = row;
            assay_direct_case(context, 0, ASSAY_DTYPE_F32, 33, context->seed, &check->c);
        }
    }
}

static void plan(const assay_context *context, assay_plan *out) {
    plan_rows(context, out, "rejections", REJECT);
    plan_rows(context, out, "accepts", ACCEPT);
}

const assay_suite assay_suite_validation = {
    .name = "validation",
    .help = "invalid input is rejected with the exact status, nothing written; valid edges pass",
    .plan = plan,
    .run = run,
};
