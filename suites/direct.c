/* direct.c - layouts, views and cases for suites that call the worker themselves. */
#include "direct.h"

#include "philox.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static assay_attr_type attr_type(const char *text) {
    return strcmp(text, "float") == 0  ? ASSAY_ATTR_FLOAT
           : strcmp(text, "bool") == 0 ? ASSAY_ATTR_BOOL
                                       : ASSAY_ATTR_INT;
}

void assay_direct_attrs(const assay_contract *contract, assay_attrs *attrs) {
    const json_t *list = json_object_get(json_object_get(contract->root, "signature"), "attributes");
    size_t index;
    const json_t *item;
    *attrs = (assay_attrs){0};
    json_array_foreach(list, index, item) {
        if (attrs->count == sizeof attrs->items / sizeof attrs->items[0]) {
            return;
        }
        const json_t *value = json_object_get(item, "default");
        assay_attr *a = &attrs->items[attrs->count++];
        a->name = json_string_value(json_object_get(item, "name"));
        a->type = attr_type(json_string_value(json_object_get(item, "type")));
        a->f = json_number_value(value);
        a->i = json_is_boolean(value) ? json_is_true(value) : json_integer_value(value);
    }
}

static json_t *attr_json(const assay_attr *a) {
    switch (a->type) {
    case ASSAY_ATTR_FLOAT:
        return json_real(a->f);
    case ASSAY_ATTR_BOOL:
        return json_boolean(a->i != 0);
    case ASSAY_ATTR_STRING:
        return json_string(a->s);
    case ASSAY_ATTR_INT:
        break;
    }
    return json_integer(a->i);
}

json_t *assay_direct_attrs_json(const assay_attrs *attrs) {
    json_t *object = json_object();
    for (size_t i = 0; i < attrs->count; i++) {
        (void)json_object_set_new(object, attrs->items[i].name, attr_json(&attrs->items[i]));
    }
    return object;
}

bool assay_direct_attr_set(assay_attrs *attrs, const char *name, double value) {
    for (size_t i = 0; i < attrs->count; i++) {
        assay_attr *a = &attrs->items[i];
        if (strcmp(a->name, name) == 0) {
            a->f = value;
            a->i = a->type == ASSAY_ATTR_FLOAT ? 0 : (int64_t)value;
            return true;
        }
    }
    return false;
}

const json_t *assay_direct_matrix(const assay_context *context, const char *group, const char *key) {
    const json_t *value = json_object_get(json_object_get(context->contract->root, "matrices"), group);
    if (key != NULL) {
        value = json_object_get(value, key);
    }
    const json_t *tiered =
        json_is_object(value) ? json_object_get(value, assay_tier_text(context->tier)) : NULL;
    return tiered != NULL ? tiered : value;
}

size_t assay_direct_count(const json_t *list) {
    return json_is_array(list) ? json_array_size(list) : list != NULL ? 1 : 0;
}

int64_t assay_direct_number(const json_t *list, size_t index, int64_t fallback) {
    const json_t *item = json_is_array(list) ? json_array_get(list, index) : index == 0 ? list : NULL;
    return json_is_number(item) ? (int64_t)json_number_value(item) : fallback;
}

void assay_direct_case(const assay_context *context, int64_t width, assay_dtype dtype, uint64_t rows,
                       uint64_t seed, assay_case *c) {
    *c = (assay_case){.dtype = dtype, .rows = rows, .seed = seed, .stride = 1};
    assay_direct_attrs(context->contract, &c->attrs);
    if (width > 0) {
        (void)assay_direct_attr_set(&c->attrs, "width", (double)width);
    }
    (void)snprintf(c->name, sizeof c->name, "%s_%llux%zu_seed%llu", assay_dtype_text(dtype),
                   (unsigned long long)rows, assay_direct_channels(context, c), (unsigned long long)seed);
    assay_philox_key key = assay_philox_key_of(context->op->name, "uniform", "input", seed);
    c->values = (assay_values){.kind = ASSAY_VALUES_UNIFORM, .count = rows, .key = key};
}

size_t assay_direct_channels(const assay_context *context, const assay_case *c) {
    return context->op->channels(&c->attrs);
}

bool assay_direct_alloc(assay_arena *arena, assay_dtype dtype, size_t rows, size_t channels, int64_t stride,
                        size_t misalign_bytes, assay_tensor *tensor, assay_error *error) {
    int64_t step = stride == 0 ? 1 : stride;
    assay_tensor_spec spec = {.dtype = dtype,
                              .ndim = channels == 0 ? 1 : 2,
                              .shape = {(int64_t)rows, (int64_t)channels},
                              .strides = channels == 0 ? &step : NULL,
                              .placement = ASSAY_PLACE_MIDDLE,
                              .misalign_bytes = misalign_bytes};
    return assay_tensor_alloc(arena, &spec, tensor, error) == ASSAY_CODE_OK;
}

void assay_direct_rows(const assay_tensor *whole, int64_t first, int64_t rows, assay_tensor *view) {
    size_t element = assay_dtype_bytes(whole->dtype);
    size_t shift = (size_t)(first * whole->strides[0]) * element;
    int64_t last = rows > 0 ? (rows - 1) * whole->strides[0] : 0;
    *view = *whole;
    view->shape[0] = rows;
    view->data = (char *)whole->data + shift;
    view->data_offset = whole->data_offset + shift;
    for (int d = 1; d < whole->ndim; d++) {
        last += whole->shape[d] > 0 ? (whole->shape[d] - 1) * whole->strides[d] : 0;
    }
    view->span_bytes = rows > 0 ? ((size_t)last + 1) * element : 0;
}

void assay_direct_put(const assay_tensor *vector, const float *x) {
    size_t rows = (size_t)vector->shape[0];
    if (vector->dtype == ASSAY_DTYPE_F32 && vector->strides[0] == 1) {
        memcpy(vector->data, x, rows * sizeof *x);
        return;
    }
    size_t step = (size_t)vector->strides[0] * assay_dtype_bytes(vector->dtype);
    for (size_t i = 0; i < rows; i++) {
        assay_dtype_store_f32(vector->dtype, (char *)vector->data + step * i, 0, x[i]);
    }
}

size_t assay_direct_bytes(const assay_tensor *tensor) {
    return (size_t)assay_tensor_elements(tensor) * assay_dtype_bytes(tensor->dtype);
}

void assay_direct_fill(const assay_tensor *tensor, uint32_t pattern) {
    char *data = tensor->data;
    size_t bytes = assay_direct_bytes(tensor);
    size_t i = 0;
    for (; i + sizeof pattern <= bytes; i += sizeof pattern) {
        memcpy(data + i, &pattern, sizeof pattern);
    }
    memcpy(data + i, &pattern, bytes - i);
}

bool assay_direct_forward(const assay_context *context, assay_worker *worker, const assay_attrs *attrs,
                          const assay_tensor *input, const assay_tensor *output, assay_call_reply *reply,
                          assay_error *error) {
    assay_call_spec spec = {.op = context->op->name,
                            .attrs = attrs->items,
                            .attr_count = attrs->count,
                            .inputs = &input,
                            .input_count = 1,
                            .outputs = &output,
                            .output_count = 1};
    return assay_worker_call(worker, &spec, reply, error);
}

bool assay_direct_backward(const assay_context *context, assay_worker *worker, const assay_attrs *attrs,
                           const assay_tensor *upstream, const assay_tensor *saved, const assay_tensor *input,
                           const assay_tensor *output, assay_call_reply *reply, assay_error *error) {
    const assay_tensor *const inputs[] = {upstream, saved, input};
    assay_call_spec spec = {.op = context->op->name,
                            .backward = true,
                            .attrs = attrs->items,
                            .attr_count = attrs->count,
                            .inputs = inputs,
                            .input_count = 3,
                            .outputs = &output,
                            .output_count = 1};
    return assay_worker_call(worker, &spec, reply, error);
}

void assay_direct_witness(assay_context *context, const assay_check *check, const char *text, float input,
                          const void *got, const void *want, size_t bytes) {
    char *case_json = assay_case_json(context, check);
    assay_witness_record witness = {.text = text,
                                    .case_json = case_json != NULL ? case_json : "{}",
                                    .input = &input,
                                    .got = got,
                                    .want = want,
                                    .input_bytes = sizeof input,
                                    .got_bytes = bytes,
                                    .want_bytes = bytes};
    assay_record_witness(context, &witness);
    free(case_json);
}

size_t assay_direct_first_difference(const uint32_t *a, const uint32_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i]) {
            return i;
        }
    }
    return n;
}

size_t assay_direct_count_differences(const uint32_t *a, const uint32_t *b, size_t n) {
    size_t differing = 0;
    for (size_t i = 0; i < n; i++) {
        differing += a[i] != b[i];
    }
    return differing;
}

void *assay_direct_memory(size_t count, size_t bytes, assay_error *error) {
    void *memory = calloc(count == 0 ? 1 : count, bytes);
    if (memory == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "no memory for %zu x %zu bytes", count, bytes);
    }
    return memory;
}

void assay_findings_open(assay_findings *findings) {
    *findings = (assay_findings){.first = {.outcome = ASSAY_OUTCOME_NOT_RUN}};
    (void)pthread_mutex_init(&findings->lock, NULL);
}

void assay_findings_count(assay_findings *findings, uint64_t elements) {
    (void)pthread_mutex_lock(&findings->lock);
    findings->elements += elements;
    (void)pthread_mutex_unlock(&findings->lock);
}

void assay_findings_add(assay_findings *findings, uint64_t part, uint64_t bad, assay_outcome outcome,
                        const char *format, ...) {
    va_list args;
    (void)pthread_mutex_lock(&findings->lock);
    findings->bad += bad;
    bool was_fail = findings->first.outcome == ASSAY_OUTCOME_FAIL;
    bool is_fail = outcome == ASSAY_OUTCOME_FAIL;
    bool none = findings->first.outcome == ASSAY_OUTCOME_NOT_RUN;
    if (none || (is_fail && !was_fail) || (is_fail == was_fail && part < findings->part)) {
        findings->part = part;
        findings->first.outcome = outcome;
        va_start(args, format);
        (void)vsnprintf(findings->first.reason, sizeof findings->first.reason, format, args);
        va_end(args);
    }
    (void)pthread_mutex_unlock(&findings->lock);
}

bool assay_findings_expect_ok(assay_findings *findings, uint64_t part, const assay_call_reply *reply,
                              const char *what) {
    assay_result trouble = {.outcome = ASSAY_OUTCOME_NOT_RUN};
    if (assay_result_expect_ok(&trouble, reply, what)) {
        return true;
    }
    assay_findings_add(findings, part, 0, trouble.outcome, "%s", trouble.reason);
    return false;
}

void assay_findings_close(assay_findings *findings, bool good, const assay_error *error,
                          assay_result *result) {
    result->elements = findings->elements;
    result->bad = findings->bad;
    if (findings->first.outcome != ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(result, findings->first.outcome, "%s", findings->first.reason);
    } else if (!good) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error->text);
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "%s", "");
    }
    (void)pthread_mutex_destroy(&findings->lock);
}
