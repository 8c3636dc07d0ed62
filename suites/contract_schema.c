/* contract_schema.c - the shape of contract.json: keys, types, signature, domain, and the rows of rejections
 * and accepts. */
#include "contract_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- schemas: which keys an object has, which of them it must have, and their types ---- */

static const contract_field top_fields[] = {
    {"operator", CONTRACT_TEXT, true},    {"version", CONTRACT_INTEGER, true},
    {"summary", CONTRACT_TEXT, true},     {"signature", CONTRACT_OBJECT, true},
    {"domain", CONTRACT_OBJECT, true},    {"promises", CONTRACT_ARRAY, true},
    {"tolerances", CONTRACT_ARRAY, true}, {"matrices", CONTRACT_OBJECT, true},
    {"rejections", CONTRACT_ARRAY, true}, {"accepts", CONTRACT_ARRAY, true}};
static const contract_field signature_fields[] = {{"attributes", CONTRACT_ARRAY, true},
                                                  {"forward", CONTRACT_OBJECT, true},
                                                  {"backward", CONTRACT_OBJECT, false}};
static const contract_field entry_fields[] = {{"inputs", CONTRACT_ARRAY, true},
                                              {"outputs", CONTRACT_ARRAY, true}};
static const contract_field tensor_fields[] = {
    {"name", CONTRACT_TEXT, true}, {"dtypes", CONTRACT_ARRAY, true}, {"shape", CONTRACT_ARRAY, true}};
static const contract_field attribute_fields[] = {{"name", CONTRACT_TEXT, true},
                                                  {"type", CONTRACT_TEXT, true},
                                                  {"default", CONTRACT_ANY, true},
                                                  {"rule", CONTRACT_TEXT, true}};
static const contract_field row_fields[] = {
    {"name", CONTRACT_TEXT, true},   {"entry", CONTRACT_TEXT, true},    {"changes", CONTRACT_ARRAY, true},
    {"dtype", CONTRACT_TEXT, false}, {"rows", CONTRACT_INTEGER, false}, {"stride", CONTRACT_INTEGER, false}};
static const contract_field change_fields[] = {
    {"kind", CONTRACT_TEXT, true},    {"name", CONTRACT_TEXT, false},   {"value", CONTRACT_ANY, false},
    {"tensor", CONTRACT_TEXT, false}, {"shape", CONTRACT_ARRAY, false}, {"dtype", CONTRACT_TEXT, false},
    {"at", CONTRACT_ARRAY, false}};

static bool is_kind(const json_t *value, contract_kind kind) {
    switch (kind) {
    case CONTRACT_TEXT:
        return json_is_string(value) && json_string_length(value) > 0;
    case CONTRACT_INTEGER:
        return json_is_integer(value);
    case CONTRACT_NUMBER:
        return json_is_number(value) && isfinite(json_number_value(value)) != 0;
    case CONTRACT_BOOLEAN:
        return json_is_boolean(value);
    case CONTRACT_ARRAY:
        return json_is_array(value);
    case CONTRACT_OBJECT:
        return json_is_object(value);
    case CONTRACT_ANY:
        return value != NULL;
    }
    return false;
}

static const char *kind_text(contract_kind kind) {
    static const char *const texts[] = {
        "a non-empty string", "an integer", "a finite number", "true or false",
        "an array",           "an object",  "present"};
    return texts[kind];
}

assay_code contract_object_check(const json_t *object, const contract_field *fields, size_t count,
                                 const char *where, assay_error *error) {
    if (!json_is_object(object)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s must be an object", where);
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        size_t i = 0;
        while (i < count && strcmp(fields[i].key, key) != 0) {
            i++;
        }
        if (i == count) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: unknown key \"%.40s\"", where, key);
        }
        if (!is_kind(value, fields[i].kind)) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: \"%s\" must be %s", where, key,
                              kind_text(fields[i].kind));
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && json_object_get(object, fields[i].key) == NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: \"%s\" is missing", where,
                              fields[i].key);
        }
    }
    return ASSAY_CODE_OK;
}

const char *contract_text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* ---- signature ---- */

static assay_code tensor_check(const json_t *tensor, const char *where, assay_error *error) {
    if (contract_object_check(tensor, tensor_fields, COUNT(tensor_fields), where, error) != ASSAY_CODE_OK) {
        return ASSAY_CODE_USAGE;
    }
    const json_t *dtypes = json_object_get(tensor, "dtypes");
    size_t i;
    const json_t *item;
    json_array_foreach((json_t *)dtypes, i, item) {
        assay_dtype dtype;
        if (!json_is_string(item) || !assay_dtype_parse(json_string_value(item), &dtype)) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: tensor %.40s has an unknown dtype",
                              where, contract_text(tensor, "name"));
        }
    }
    if (json_array_size(dtypes) == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: tensor %.40s has no dtype", where,
                          contract_text(tensor, "name"));
    }
    return ASSAY_CODE_OK;
}

static assay_code entry_check(const json_t *entry, const char *where, assay_error *error) {
    static const char *const lists[] = {"inputs", "outputs"};
    if (contract_object_check(entry, entry_fields, COUNT(entry_fields), where, error) != ASSAY_CODE_OK) {
        return ASSAY_CODE_USAGE;
    }
    for (size_t l = 0; l < COUNT(lists); l++) {
        const json_t *list = json_object_get(entry, lists[l]);
        size_t i;
        const json_t *tensor;
        if (json_array_size(list) == 0) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s has no %s", where, lists[l]);
        }
        json_array_foreach((json_t *)list, i, tensor) {
            if (tensor_check(tensor, where, error) != ASSAY_CODE_OK) {
                return ASSAY_CODE_USAGE;
            }
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code signature_check(const json_t *root, assay_error *error) {
    const json_t *signature = json_object_get(root, "signature");
    const json_t *backward = json_object_get(signature, "backward");
    if (contract_object_check(signature, signature_fields, COUNT(signature_fields), "signature", error) !=
            ASSAY_CODE_OK ||
        entry_check(json_object_get(signature, "forward"), "signature.forward", error) != ASSAY_CODE_OK ||
        (backward != NULL && entry_check(backward, "signature.backward", error) != ASSAY_CODE_OK)) {
        return ASSAY_CODE_USAGE;
    }
    size_t i;
    const json_t *attribute;
    json_array_foreach(json_object_get(signature, "attributes"), i, attribute) {
        if (contract_object_check(attribute, attribute_fields, COUNT(attribute_fields),
                                  "signature.attributes", error) != ASSAY_CODE_OK) {
            return ASSAY_CODE_USAGE;
        }
    }
    return ASSAY_CODE_OK;
}

const json_t *contract_output(const json_t *root, const char *name) {
    static const char *const entries[] = {"forward", "backward"};
    for (size_t e = 0; e < COUNT(entries); e++) {
        const json_t *entry = json_object_get(json_object_get(root, "signature"), entries[e]);
        size_t i;
        json_t *tensor;
        json_array_foreach(json_object_get(entry, "outputs"), i, tensor) {
            if (strcmp(contract_text(tensor, "name"), name) == 0) {
                return tensor;
            }
        }
    }
    return NULL;
}

bool contract_has_dtype(const json_t *tensor, const char *dtype) {
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(tensor, "dtypes"), i, item) {
        if (strcmp(json_string_value(item), dtype) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- domain, rejections, accepts ---- */

static bool parse_bits(const json_t *value, uint32_t *bits) {
    const char *text = json_string_value(value);
    if (text == NULL || strlen(text) != 10 || text[0] != '0' || text[1] != 'x' ||
        strspn(text + 2, "0123456789abcdef") != 8) {
        return false;
    }
    *bits = (uint32_t)strtoul(text + 2, NULL, 16);
    return true;
}

static assay_code domain_check(const json_t *root, assay_error *error) {
    const char *name;
    json_t *intervals;
    size_t total = 0;
    json_object_foreach(json_object_get(root, "domain"), name, intervals) {
        size_t i;
        const json_t *pair;
        json_array_foreach(intervals, i, pair) {
            uint32_t lo;
            uint32_t hi;
            if (json_array_size(pair) != 2 || !parse_bits(json_array_get(pair, 0), &lo) ||
                !parse_bits(json_array_get(pair, 1), &hi) || lo > hi) {
                return assay_fail(
                    error, ASSAY_CODE_USAGE,
                    "contract: domain.%.40s: an interval is [\"0x%%08x\", \"0x%%08x\"], first not above last",
                    name);
            }
            total++;
        }
    }
    if (total == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: domain holds no interval");
    }
    return ASSAY_CODE_OK;
}

/* Names within `list` must differ, as they name checks. */
static assay_code rows_check(const json_t *root, const char *list, assay_error *error) {
    static const char *const kinds[] = {"attr", "null", "shape", "dtype", "values"};
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(root, list), i, row) {
        if (contract_object_check(row, row_fields, COUNT(row_fields), list, error) != ASSAY_CODE_OK) {
            return ASSAY_CODE_USAGE;
        }
        const char *entry = contract_text(row, "entry");
        if (strcmp(entry, "forward") != 0 && strcmp(entry, "backward") != 0) {
            return assay_fail(error, ASSAY_CODE_USAGE,
                              "contract: %s: entry \"%.40s\" is neither forward nor backward", list, entry);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(contract_text(json_array_get(json_object_get(root, list), j), "name"),
                       contract_text(row, "name")) == 0) {
                return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: two rows called %.40s", list,
                                  contract_text(row, "name"));
            }
        }
        size_t c;
        const json_t *change;
        json_array_foreach(json_object_get(row, "changes"), c, change) {
            if (contract_object_check(change, change_fields, COUNT(change_fields), list, error) !=
                ASSAY_CODE_OK) {
                return ASSAY_CODE_USAGE;
            }
            size_t k = 0;
            while (k < COUNT(kinds) && strcmp(kinds[k], contract_text(change, "kind")) != 0) {
                k++;
            }
            if (k == COUNT(kinds)) {
                return assay_fail(error, ASSAY_CODE_USAGE, "contract: %s: unknown kind of change \"%.40s\"",
                                  list, contract_text(change, "kind"));
            }
        }
    }
    return ASSAY_CODE_OK;
}

assay_code contract_structure_check(const json_t *root, assay_error *error) {
    assay_code code = contract_object_check(root, top_fields, COUNT(top_fields), "the contract", error);
    code = code == ASSAY_CODE_OK ? signature_check(root, error) : code;
    code = code == ASSAY_CODE_OK ? domain_check(root, error) : code;
    code = code == ASSAY_CODE_OK ? rows_check(root, "rejections", error) : code;
    return code == ASSAY_CODE_OK ? rows_check(root, "accepts", error) : code;
}
