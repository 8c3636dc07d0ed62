/* protocol_call.c - the attributes and tensors of a call. */
#include "protocol_private.h"

#include <math.h>
#include <string.h>

/* {"float":"nan"|"inf"|"-inf"}: JSON has no such numbers. */
static bool read_special(const json_t *value, double *out) {
    const json_t *text = json_object_get(value, "float");
    if (json_object_size(value) != 1 || !json_is_string(text)) {
        return false;
    }
    const char *s = json_string_value(text);
    if (strcmp(s, "nan") == 0) {
        *out = (double)NAN;
    } else if (strcmp(s, "inf") == 0) {
        *out = (double)INFINITY;
    } else if (strcmp(s, "-inf") == 0) {
        *out = -(double)INFINITY;
    } else {
        return false;
    }
    return true;
}

static bool read_attrs(parse *p) {
    const char *key = NULL;
    json_t *value = NULL;
    json_t *attrs = (json_t *)(uintptr_t)p->parked.attrs; /* jansson's iterators take no const */
    if (!json_is_object(attrs) || json_object_size(attrs) > ASSAY_MAX_ATTRS) {
        return assay_parse_fault(p, "attrs", "must be an object of at most 16 entries");
    }
    json_object_foreach(attrs, key, value) {
        assay_attr *a = &p->m->attrs[p->m->attr_count++];
        a->name = key;
        if (json_is_integer(value)) {
            a->type = ASSAY_ATTR_INT;
            a->i = json_integer_value(value);
        } else if (json_is_boolean(value)) {
            a->type = ASSAY_ATTR_BOOL;
            a->i = json_is_true(value);
        } else if (json_is_real(value)) {
            a->type = ASSAY_ATTR_FLOAT;
            a->f = json_real_value(value);
        } else if (json_is_string(value)) {
            a->type = ASSAY_ATTR_STRING;
            a->s = json_string_value(value);
        } else if (json_is_object(value) && read_special(value, &a->f)) {
            a->type = ASSAY_ATTR_FLOAT;
        } else {
            return assay_parse_fault(
                p, "attrs", "has a value that is not an integer, real, boolean, string or special float");
        }
    }
    return true;
}

/* An array of `min` to `max` non-negative integers; -1 on any fault. */
static int read_naturals(const json_t *array, size_t min, size_t max, int64_t *out) {
    const size_t n = json_array_size(array); /* 0 for what is not an array */
    if (!json_is_array(array) || n < min || n > max) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(array, i);
        if (!json_is_integer(v) || json_integer_value(v) < 0) {
            return -1;
        }
        out[i] = json_integer_value(v);
    }
    return (int)n;
}

static bool read_tensor(const json_t *json, assay_wire_tensor *t) {
    int64_t segment[2] = {0, 0};
    const json_t *dtype = json_object_get(json, "dtype");
    const json_t *offset = json_object_get(json, "offset");
    if (json_is_null(json)) {
        t->null = true;
        return true;
    }
    t->ndim = read_naturals(json_object_get(json, "shape"), 0, ASSAY_MAX_DIMS, t->shape);
    if (json_object_size(json) != 5 || t->ndim < 0 || !json_is_string(dtype) || !json_is_integer(offset) ||
        !assay_dtype_parse(json_string_value(dtype), &t->dtype) ||
        read_naturals(json_object_get(json, "strides"), (size_t)t->ndim, (size_t)t->ndim, t->strides) !=
            t->ndim ||
        read_naturals(json_object_get(json, "segment"), 2, 2, segment) != 2) {
        return false;
    }
    t->offset = json_integer_value(offset);
    t->segment_offset = segment[0];
    t->segment_bytes = segment[1];
    int64_t end = 0;
    return !__builtin_add_overflow(segment[0], segment[1], &end) && t->offset >= segment[0] &&
           t->offset <= end;
}

static bool read_tensors(parse *p, const char *key, const json_t *array, assay_wire_tensor *tensors,
                         size_t *count) {
    *count = json_array_size(array);
    if (!json_is_array(array) || *count > ASSAY_MAX_TENSORS) {
        return assay_parse_fault(p, key, "must be an array of at most 16 tensors");
    }
    for (size_t i = 0; i < *count; i++) {
        if (!read_tensor(json_array_get(array, i), &tensors[i])) {
            return assay_parse_fault(p, key, "has a malformed tensor");
        }
    }
    return true;
}

/* The fields of a call to a worker with CUDA memory. */
static bool read_device(parse *p) {
    static const char *const streams[] = {
#define X(id, text, meaning) text,
        ASSAY_STREAM_LIST(X)
#undef X
    };
    const char *arena = p->m->arena;
    if ((arena != NULL) != (p->m->arena_size > 0) ||
        (arena != NULL && (strlen(arena) != (size_t)2 * ASSAY_DEVICE_HANDLE_BYTES ||
                           strspn(arena, "0123456789abcdef") != (size_t)2 * ASSAY_DEVICE_HANDLE_BYTES))) {
        return assay_parse_fault(p, "arena", "must be 128 lower-case hex digits and come with arena_bytes");
    }
    if (p->m->delay_us > ASSAY_MAX_DELAY_US || p->m->graph > ASSAY_MAX_REPEAT) {
        return assay_parse_fault(p, p->m->graph > ASSAY_MAX_REPEAT ? "graph" : "delay_us", "is too large");
    }
    if (p->parked.stream == NULL) {
        return true;
    }
    for (size_t i = 0; i < ASSAY_STREAM_COUNT; i++) {
        if (strcmp(streams[i], p->parked.stream) == 0) {
            p->m->stream = (assay_stream_kind)i;
            return true;
        }
    }
    return assay_parse_fault(p, "stream", "must be own, other, legacy or per_thread");
}

bool assay_parse_call(parse *p) {
    p->m->backward = strcmp(p->parked.pass, "backward") == 0;
    if (!p->m->backward && strcmp(p->parked.pass, "forward") != 0) {
        return assay_parse_fault(p, "pass", "must be forward or backward");
    }
    if (p->m->repeat > ASSAY_MAX_REPEAT) {
        return assay_parse_fault(p, "repeat", "is too large");
    }
    return read_device(p) && read_attrs(p) &&
           read_tensors(p, "inputs", p->parked.inputs, p->m->inputs, &p->m->input_count) &&
           read_tensors(p, "outputs", p->parked.outputs, p->m->outputs, &p->m->output_count);
}
