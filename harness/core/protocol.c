/* protocol.c - strict parsing of messages. Each message is a table of fields; one loop reads them all. */
#include "protocol_private.h"
#include "text.h"

#include <assert.h>
#include <string.h>

typedef enum field_kind { TEXT, ID, NATURAL, POSITIVE, BOOLEAN, ARRAY, ANY } field_kind;

typedef enum field_use {
    REQUIRED,
    OPTIONAL,
    PARKED,
    SPARE
} field_use; /* PARKED: required, SPARE: optional; `finish` reads the value of both */

/* One key of a message. `at` is the offset of the value in assay_message, or in `parked`: const char *,
 * int64_t, bool or const json_t *. */
typedef struct field {
    const char *key;
    size_t at;
    field_kind kind;
    field_use use;
} field;

#define AT(member)   offsetof(assay_message, member)
#define PARK(member) offsetof(parked, member)

bool assay_parse_fault(parse *p, const char *key, const char *text) {
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

static const field hello_judge_fields[] = {{"protocol", AT(protocol), NATURAL, REQUIRED},
                                           {"arena_bytes", AT(arena_bytes), POSITIVE, REQUIRED},
                                           {"page_bytes", AT(page_bytes), POSITIVE, REQUIRED},
                                           {"device", AT(device), TEXT, OPTIONAL},
                                           {0}};
static const field hello_worker_fields[] = {
    {"protocol", AT(protocol), NATURAL, REQUIRED}, {"name", AT(name), TEXT, REQUIRED},
    {"version", AT(version), TEXT, REQUIRED},      {"description", AT(description), TEXT, OPTIONAL},
    {"lineage", AT(lineage), TEXT, OPTIONAL},      {"guards", AT(guards), BOOLEAN, REQUIRED},
    {"operators", AT(operators), ARRAY, REQUIRED}, {"knobs", AT(knobs), ARRAY, OPTIONAL},
    {"memory", PARK(memory), TEXT, PARKED},        {0}};
static const field hello_refusal_fields[] = {
    {"protocol", AT(protocol), NATURAL, REQUIRED}, {"error", AT(error), TEXT, REQUIRED}, {0}};
static const field call_fields[] = {{"id", AT(id), ID, REQUIRED},
                                    {"op", AT(op), TEXT, REQUIRED},
                                    {"repeat", AT(repeat), POSITIVE, REQUIRED},
                                    {"other_thread", AT(other_thread), BOOLEAN, REQUIRED},
                                    {"pass", PARK(pass), TEXT, PARKED},
                                    {"attrs", PARK(attrs), ANY, PARKED},
                                    {"inputs", PARK(inputs), ANY, PARKED},
                                    {"outputs", PARK(outputs), ANY, PARKED},
                                    {"arena", AT(arena), TEXT, OPTIONAL},
                                    {"arena_bytes", AT(arena_size), POSITIVE, OPTIONAL},
                                    {"stream", PARK(stream), TEXT, SPARE},
                                    {"delay_us", AT(delay_us), POSITIVE, OPTIONAL},
                                    {"graph", AT(graph), POSITIVE, OPTIONAL},
                                    {"peak", AT(peak), BOOLEAN, OPTIONAL},
                                    {"apart", AT(apart), BOOLEAN, OPTIONAL},
                                    {0}};
static const field result_fields[] = {{"id", AT(id), ID, REQUIRED},
                                      {"message", AT(text), TEXT, REQUIRED},
                                      {"ns", AT(ns), NATURAL, REQUIRED},
                                      {"device_ns", AT(device_ns), NATURAL, OPTIONAL},
                                      {"peak_bytes", AT(peak_bytes), NATURAL, OPTIONAL},
                                      {"status", PARK(status), TEXT, PARKED},
                                      {0}};
static const field id_fields[] = {{"id", AT(id), ID, REQUIRED}, {0}};
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

static bool is_id(const char *text) {
    return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

static bool read_field(parse *p, const field *f, const json_t *value) {
    char *target = (f->use >= PARKED ? (char *)&p->parked : (char *)p->m) + f->at;
    switch (f->kind) {
    case TEXT:
    case ID:
        if (!json_is_string(value) || (f->kind == ID && !is_id(json_string_value(value)))) {
            return assay_parse_fault(p, f->key,
                                     f->kind == ID ? "must be 16 lower-case hex digits" : "must be a string");
        }
        *(const char **)(void *)target = json_string_value(value);
        return true;
    case NATURAL:
    case POSITIVE:
        if (!json_is_integer(value) || json_integer_value(value) < (f->kind == POSITIVE ? 1 : 0)) {
            return assay_parse_fault(p, f->key,
                                     f->kind == POSITIVE ? "must be a positive integer"
                                                         : "must be a non-negative integer");
        }
        *(int64_t *)(void *)target = json_integer_value(value);
        return true;
    case BOOLEAN:
        if (!json_is_boolean(value)) {
            return assay_parse_fault(p, f->key, "must be true or false");
        }
        *(bool *)(void *)target = json_is_true(value);
        return true;
    case ARRAY:
    case ANY:
        if (f->kind == ARRAY && !json_is_array(value)) {
            return assay_parse_fault(p, f->key, "must be an array");
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
            if (f->use != OPTIONAL && f->use != SPARE) {
                return assay_parse_fault(p, f->key, "is missing");
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

/* ---- hello and result ---- */

/* A text of a hello: it will stand in tables, reports and the database, beside others that it may not
 * imitate.
 */
static bool check_text(parse *p, const char *key, const char *text, size_t limit) {
    if (text != NULL && (strlen(text) > limit || !assay_text_printable(text))) {
        return assay_parse_fault(p, key, "must be one line of printable text, not too long");
    }
    return true;
}

static bool read_operators(parse *p) {
    const size_t n = json_array_size(p->m->operators);
    if (n == 0 || n > ASSAY_MAX_OPERATORS) {
        return assay_parse_fault(p, "operators", "must name 1 to 64 operators");
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(p->m->operators, i);
        const json_t *name = json_object_get(o, "name");
        if (json_object_size(o) != 3 || !json_is_string(name) || json_string_length(name) == 0 ||
            !json_is_boolean(json_object_get(o, "forward")) ||
            !json_is_boolean(json_object_get(o, "backward"))) {
            return assay_parse_fault(p, "operators", "must hold objects of name, forward, backward");
        }
        if (!check_text(p, "operators", json_string_value(name), ASSAY_MAX_NAME)) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            const json_t *other = json_object_get(json_array_get(p->m->operators, j), "name");
            if (strcmp(json_string_value(other), json_string_value(name)) == 0) {
                return assay_parse_fault(p, "operators", "names an operator twice");
            }
        }
    }
    return true;
}

static bool read_knobs(parse *p) {
    static const char *const keys[] = {"name", "requested", "effective"};
    if (json_array_size(p->m->knobs) > ASSAY_MAX_KNOBS) {
        return assay_parse_fault(p, "knobs", "must be at most 64");
    }
    for (size_t i = 0; i < json_array_size(p->m->knobs); i++) {
        const json_t *k = json_array_get(p->m->knobs, i);
        bool ok = json_object_size(k) == 3;
        for (size_t j = 0; j < 3; j++) {
            ok = ok && json_is_string(json_object_get(k, keys[j]));
        }
        if (!ok) {
            return assay_parse_fault(p, "knobs", "must hold objects of name, requested, effective");
        }
        for (size_t j = 0; j < 3; j++) {
            if (!check_text(p, "knobs", json_string_value(json_object_get(k, keys[j])), ASSAY_MAX_NAME)) {
                return false;
            }
        }
        for (size_t j = 0; j < i; j++) {
            const json_t *other = json_object_get(json_array_get(p->m->knobs, j), "name");
            if (strcmp(json_string_value(other), json_string_value(json_object_get(k, "name"))) == 0) {
                return assay_parse_fault(p, "knobs", "names a knob twice");
            }
        }
    }
    return true;
}

static bool read_hello(parse *p) {
    assert(p->parked.memory != NULL); /* read_fields found it */
    p->m->memory = strcmp(p->parked.memory, "cuda") == 0 ? ASSAY_MEMORY_CUDA : ASSAY_MEMORY_HOST;
    if (p->m->memory == ASSAY_MEMORY_HOST && strcmp(p->parked.memory, "host") != 0) {
        return assay_parse_fault(p, "memory", "must be host or cuda");
    }
    if (p->m->name[0] == '\0' || p->m->version[0] == '\0') {
        return assay_parse_fault(p, p->m->name[0] == '\0' ? "name" : "version", "must not be empty");
    }
    return check_text(p, "name", p->m->name, ASSAY_MAX_NAME) &&
           check_text(p, "version", p->m->version, ASSAY_MAX_NAME) &&
           check_text(p, "description", p->m->description, ASSAY_MAX_DESCRIPTION) &&
           check_text(p, "lineage", p->m->lineage, ASSAY_MAX_NAME) && read_operators(p) && read_knobs(p);
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
    return assay_parse_fault(p, "status", "is not in the list");
}

static bool finish(parse *p) {
    switch (p->m->type) {
    case ASSAY_MESSAGE_HELLO_WORKER:
        return p->m->error != NULL || read_hello(p);
    case ASSAY_MESSAGE_CALL:
        return assay_parse_call(p);
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
        return assay_parse_fault(p, "type", "is missing or not a string");
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
    return assay_parse_fault(p, "type", "is not a known message");
}

static bool read_message(parse *p) {
    size_t seen = 0;
    if (!read_type(p, &seen)) {
        return false;
    }
    const bool refusal =
        p->m->type == ASSAY_MESSAGE_HELLO_WORKER && json_object_get(p->m->root, "error") != NULL;
    if (!read_fields(p, refusal ? hello_refusal_fields : message_fields[p->m->type], &seen)) {
        return false;
    }
    if (seen != json_object_size(p->m->root)) {
        return assay_parse_fault(p, assay_message_text(p->m->type),
                                 "has a key that the protocol does not know");
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
        (void)assay_parse_fault(&p, "message", "must be an object");
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
