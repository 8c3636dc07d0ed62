/* protocol.c - strict parsing of messages. Each message is a table of fields; one loop reads them all. */
#include "protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum field_kind { TEXT, ID, NATURAL, POSITIVE, BOOLEAN, ARRAY, OBJECT } field_kind;

/* One key of a message. `at` is the offset in assay_message of the value: const char *, int64_t, bool or
 * const json_t *. */
typedef struct field {
    const char *key;
    field_kind kind;
    size_t at;
    bool optional;
} field;

#define AT(member) offsetof(assay_message, member)

/* Values that need a second look are first parked in these; see `finish`. */
typedef struct parked {
    const json_t *attrs, *inputs, *outputs;
    const char *pass, *status, *memory;
} parked;

typedef struct parse {
    assay_message *m;
    parked parked;
    const char *fault; /* static text */
    char key[48];      /* what the fault is about */
} parse;

static bool fault(parse *p, const char *key, const char *text) {
    (void)snprintf(p->key, sizeof p->key, "%s", key);
    p->fault = text;
    return false;
}

static const char *const message_types[] = {
#define X(id, type, role, sender) type,
    ASSAY_MESSAGE_LIST(X)
#undef X
};
static const char *const message_roles[] = {
#define X(id, type, role, sender) role,
    ASSAY_MESSAGE_LIST(X)
#undef X
};

const char *assay_message_text(assay_message_type type) {
    return (unsigned)type < ASSAY_MESSAGE_COUNT ? message_types[type] : "unknown";
}

static const field hello_judge_fields[] = {{"protocol", NATURAL, AT(protocol), false},
                                           {"arena_bytes", POSITIVE, AT(arena_bytes), false},
                                           {"page_bytes", POSITIVE, AT(page_bytes), false},
                                           {0}};
static const field hello_worker_fields[] = {{"protocol", NATURAL, AT(protocol), false},
                                            {"name", TEXT, AT(name), false},
                                            {"version", TEXT, AT(version), false},
                                            {"description", TEXT, AT(description), true},
                                            {"lineage", TEXT, AT(lineage), true},
                                            {"guards", BOOLEAN, AT(guards), false},
                                            {"operators", ARRAY, AT(operators), false},
                                            {"knobs", ARRAY, AT(knobs), true},
                                            {0}};
static const field hello_refusal_fields[] = {
    {"protocol", NATURAL, AT(protocol), false}, {"error", TEXT, AT(error), false}, {0}};
static const field call_fields[] = {{"id", ID, AT(id), false},
                                    {"op", TEXT, AT(op), false},
                                    {"repeat", POSITIVE, AT(repeat), false},
                                    {"other_thread", BOOLEAN, AT(other_thread), false},
                                    {0}};
static const field result_fields[] = {
    {"id", ID, AT(id), false}, {"message", TEXT, AT(text), false}, {"ns", NATURAL, AT(ns), false}, {0}};
static const field id_fields[] = {{"id", ID, AT(id), false}, {0}};
static const field no_fields[] = {{0}};

static const field *const message_fields[] = {
    [ASSAY_MESSAGE_HELLO_JUDGE] = hello_judge_fields,
    [ASSAY_MESSAGE_HELLO_WORKER] = hello_worker_fields,
    [ASSAY_MESSAGE_CALL] = call_fields,
    [ASSAY_MESSAGE_RESULT] = result_fields,
    [ASSAY_MESSAGE_PING] = id_fields,
    [ASSAY_MESSAGE_PONG] = id_fields,
    [ASSAY_MESSAGE_EXIT] = no_fields,
};

/* Keys whose values `finish` reads, per message. */
typedef struct parked_field {
    assay_message_type type;
    const char *key;
    bool text; /* else array or object */
    size_t at;
} parked_field;

static const parked_field parked_fields[] = {
    {ASSAY_MESSAGE_HELLO_WORKER, "memory", true, offsetof(parked, memory)},
    {ASSAY_MESSAGE_CALL, "pass", true, offsetof(parked, pass)},
    {ASSAY_MESSAGE_CALL, "attrs", false, offsetof(parked, attrs)},
    {ASSAY_MESSAGE_CALL, "inputs", false, offsetof(parked, inputs)},
    {ASSAY_MESSAGE_CALL, "outputs", false, offsetof(parked, outputs)},
    {ASSAY_MESSAGE_RESULT, "status", true, offsetof(parked, status)},
};

static bool is_id(const char *text) {
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool read_field(parse *p, const field *f, const json_t *value) {
    char *target = (char *)p->m + f->at;
    switch (f->kind) {
    case TEXT:
    case ID:
        if (!json_is_string(value) || (f->kind == ID && !is_id(json_string_value(value)))) {
            return fault(p, f->key, f->kind == ID ? "must be 16 lower-case hex digits" : "must be a string");
        }
        *(const char **)(void *)target = json_string_value(value);
        return true;
    case NATURAL:
    case POSITIVE:
        if (!json_is_integer(value) || json_integer_value(value) < (f->kind == POSITIVE ? 1 : 0)) {
            return fault(p, f->key,
                         f->kind == POSITIVE ? "must be a positive integer"
                                             : "must be a non-negative integer");
        }
        *(int64_t *)(void *)target = json_integer_value(value);
        return true;
    case BOOLEAN:
        if (!json_is_boolean(value)) {
            return fault(p, f->key, "must be true or false");
        }
        *(bool *)(void *)target = json_is_true(value);
        return true;
    case ARRAY:
    case OBJECT:
        if (f->kind == ARRAY ? !json_is_array(value) : !json_is_object(value)) {
            return fault(p, f->key, f->kind == ARRAY ? "must be an array" : "must be an object");
        }
        *(const json_t **)(void *)target = value;
        return true;
    }
    return false;
}

/* Reads the table's fields of the root object; *seen counts the keys that were used. */
static bool read_fields(parse *p, const field *fields, size_t *seen) {
    for (const field *f = fields; f->key != NULL; f++) {
        const json_t *value = json_object_get(p->m->root, f->key);
        if (value == NULL) {
            if (!f->optional) {
                return fault(p, f->key, "is missing");
            }
            continue;
        }
        if (!read_field(p, f, value)) {
            return false;
        }
        (*seen)++;
    }
    return true;
}

static bool read_parked(parse *p, size_t *seen) {
    for (size_t i = 0; i < sizeof parked_fields / sizeof *parked_fields; i++) {
        const parked_field *f = &parked_fields[i];
        if (f->type != p->m->type) {
            continue;
        }
        const json_t *value = json_object_get(p->m->root, f->key);
        char *target = (char *)&p->parked + f->at;
        if (value == NULL) {
            return fault(p, f->key, "is missing");
        }
        if (f->text) {
            if (!json_is_string(value)) {
                return fault(p, f->key, "must be a string");
            }
            *(const char **)(void *)target = json_string_value(value);
        } else {
            *(const json_t **)(void *)target = value;
        }
        (*seen)++;
    }
    return true;
}

/* ---- attributes and tensors ------------------------------------------------------------------------------
 */

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
        return fault(p, "attrs", "must be an object of at most 16 entries");
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
            return fault(p, "attrs",
                         "has a value that is not an integer, real, boolean, string or special float");
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
        return fault(p, key, "must be an array of at most 16 tensors");
    }
    for (size_t i = 0; i < *count; i++) {
        if (!read_tensor(json_array_get(array, i), &tensors[i])) {
            return fault(p, key, "has a malformed tensor");
        }
    }
    return true;
}

static bool read_call(parse *p) {
    p->m->backward = strcmp(p->parked.pass, "backward") == 0;
    if (!p->m->backward && strcmp(p->parked.pass, "forward") != 0) {
        return fault(p, "pass", "must be forward or backward");
    }
    if (p->m->repeat > ASSAY_MAX_REPEAT) {
        return fault(p, "repeat", "is too large");
    }
    return read_attrs(p) && read_tensors(p, "inputs", p->parked.inputs, p->m->inputs, &p->m->input_count) &&
           read_tensors(p, "outputs", p->parked.outputs, p->m->outputs, &p->m->output_count);
}

/* ---- hello and result -------------------------------------------------------------------------------------
 */

static bool read_operators(parse *p) {
    const size_t n = json_array_size(p->m->operators);
    if (n == 0 || n > ASSAY_MAX_OPERATORS) {
        return fault(p, "operators", "must name 1 to 64 operators");
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(p->m->operators, i);
        const json_t *name = json_object_get(o, "name");
        if (json_object_size(o) != 3 || !json_is_string(name) || json_string_length(name) == 0 ||
            !json_is_boolean(json_object_get(o, "forward")) ||
            !json_is_boolean(json_object_get(o, "backward"))) {
            return fault(p, "operators", "must hold objects of name, forward, backward");
        }
        for (size_t j = 0; j < i; j++) {
            const json_t *other = json_object_get(json_array_get(p->m->operators, j), "name");
            if (strcmp(json_string_value(other), json_string_value(name)) == 0) {
                return fault(p, "operators", "names an operator twice");
            }
        }
    }
    return true;
}

static bool read_knobs(parse *p) {
    static const char *const keys[] = {"name", "requested", "effective"};
    for (size_t i = 0; i < json_array_size(p->m->knobs); i++) {
        const json_t *k = json_array_get(p->m->knobs, i);
        bool ok = json_object_size(k) == 3;
        for (size_t j = 0; j < 3; j++) {
            ok = ok && json_is_string(json_object_get(k, keys[j]));
        }
        if (!ok) {
            return fault(p, "knobs", "must hold objects of name, requested, effective");
        }
    }
    return true;
}

static bool read_hello(parse *p) {
    p->m->memory = strcmp(p->parked.memory, "cuda") == 0 ? ASSAY_MEMORY_CUDA : ASSAY_MEMORY_HOST;
    if (p->m->memory == ASSAY_MEMORY_HOST && strcmp(p->parked.memory, "host") != 0) {
        return fault(p, "memory", "must be host or cuda");
    }
    if (p->m->name[0] == '\0' || p->m->version[0] == '\0') {
        return fault(p, p->m->name[0] == '\0' ? "name" : "version", "must not be empty");
    }
    return read_operators(p) && read_knobs(p);
}

static bool read_status(parse *p) {
    static const char *const texts[] = {
#define X(id, text, meaning) text,
        ASSAY_STATUS_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i], p->parked.status) == 0) {
            p->m->status = (assay_status)i;
            return true;
        }
    }
    return fault(p, "status", "is not in the list");
}

static bool finish(parse *p) {
    switch (p->m->type) {
    case ASSAY_MESSAGE_HELLO_WORKER:
        return p->m->error != NULL || read_hello(p);
    case ASSAY_MESSAGE_CALL:
        return read_call(p);
    case ASSAY_MESSAGE_RESULT:
        return read_status(p);
    default:
        return true;
    }
}

static bool read_type(parse *p, size_t *seen) {
    const json_t *type = json_object_get(p->m->root, "type");
    const json_t *role = json_object_get(p->m->root, "role");
    if (!json_is_string(type) || (role != NULL && !json_is_string(role))) {
        return fault(p, "type", "is missing or not a string");
    }
    for (size_t i = 0; i < ASSAY_MESSAGE_COUNT; i++) {
        const char *want = message_roles[i];
        if (strcmp(message_types[i], json_string_value(type)) == 0 && (want != NULL) == (role != NULL) &&
            (want == NULL || strcmp(want, json_string_value(role)) == 0)) {
            p->m->type = (assay_message_type)i;
            *seen = role == NULL ? 1 : 2;
            return true;
        }
    }
    return fault(p, "type", "is not a known message");
}

static bool read_message(parse *p) {
    size_t seen = 0;
    if (!read_type(p, &seen)) {
        return false;
    }
    const bool refusal =
        p->m->type == ASSAY_MESSAGE_HELLO_WORKER && json_object_get(p->m->root, "error") != NULL;
    if (!read_fields(p, refusal ? hello_refusal_fields : message_fields[p->m->type], &seen) ||
        (!refusal && !read_parked(p, &seen))) {
        return false;
    }
    if (seen != json_object_size(p->m->root)) {
        return fault(p, assay_message_text(p->m->type), "has a key that the protocol does not know");
    }
    return finish(p);
}

assay_code assay_protocol_parse(const char *line, size_t n, assay_message *message, assay_error *error) {
    json_error_t json_error;
    parse p = {.m = message};
    memset(message, 0, sizeof *message);
    if (n >= ASSAY_LINE_BYTES) {
        return assay_fail(error, ASSAY_CODE_USAGE, "line longer than %u bytes", ASSAY_LINE_BYTES);
    }
    message->root = json_loadb(line, n, JSON_REJECT_DUPLICATES, &json_error);
    if (message->root == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "not JSON: %s at byte %d", json_error.text,
                          json_error.position);
    }
    if (!json_is_object(message->root)) {
        (void)fault(&p, "message", "must be an object");
    } else if (read_message(&p)) {
        return ASSAY_CODE_OK;
    }
    assay_message_free(message);
    return assay_fail(error, ASSAY_CODE_USAGE, "malformed message: %s %s", p.key, p.fault);
}

void assay_message_free(assay_message *message) {
    json_decref(message->root);
    memset(message, 0, sizeof *message);
}
