/* contract.c - parses contract.json strictly: promises, tolerances and what ties them together. What is not
 * described here or in contract_schema.c is refused. */
#include "contract.h"
#include "contract_internal.h"
#include "suite.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* What a relation owes. */
typedef enum owes { OWES_BYTES, OWES_TOLERANCE, OWES_EXACT, OWES_NOTHING } owes;

static const struct {
    const char *text;
    owes owes;
    const char *direction; /* OWES_TOLERANCE: whose outputs need a row */
} relations[] = {
    {"repeat", OWES_BYTES, NULL},
    {"invariance", OWES_BYTES, NULL},
    {"parity", OWES_BYTES, NULL},
    {"validation", OWES_EXACT, NULL},
    {"memory", OWES_EXACT, NULL},
    {"arithmetic", OWES_EXACT, NULL},
    {"accuracy", OWES_TOLERANCE, "forward"},
    {"gradient_accuracy", OWES_TOLERANCE, "backward"},
    {"measured", OWES_NOTHING, NULL},
};
#define RELATIONS (sizeof relations / sizeof relations[0])

static const char *const suite_names[] = {
#define X(id, text, help) text,
    ASSAY_SUITE_LIST(X)
#undef X
};

static const contract_field promise_fields[] = {
    {"name", CONTRACT_TEXT, true},        {"suite", CONTRACT_TEXT, true}, {"relation", CONTRACT_TEXT, true},
    {"required", CONTRACT_BOOLEAN, true}, {"text", CONTRACT_TEXT, true},  {"memory", CONTRACT_TEXT, false}};
static const contract_field tolerance_fields[] = {
    {"output", CONTRACT_TEXT, true}, {"dtype", CONTRACT_TEXT, true},  {"relation", CONTRACT_TEXT, true},
    {"atol", CONTRACT_NUMBER, true}, {"rtol", CONTRACT_NUMBER, true}, {"max_abs", CONTRACT_NUMBER, false},
    {"owner", CONTRACT_TEXT, true},  {"reason", CONTRACT_TEXT, true}, {"date", CONTRACT_TEXT, true}};

static bool copy_text(char *target, size_t bytes, const json_t *object, const char *key) {
    const char *text = contract_text(object, key);
    if (strlen(text) >= bytes) {
        return false;
    }
    memcpy(target, text, strlen(text) + 1);
    return true;
}

static size_t relation_find(const char *text) {
    size_t i = 0;
    while (i < RELATIONS && strcmp(relations[i].text, text) != 0) {
        i++;
    }
    return i;
}

static bool suite_known(const char *text) {
    for (size_t i = 0; i < COUNT(suite_names); i++) {
        if (strcmp(suite_names[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* "2026-12-01": digits and hyphens in place, month and day in range. */
static bool is_date(const char *text) {
    static const char pattern[] = "dddd-dd-dd";
    if (strlen(text) != sizeof pattern - 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof pattern - 1; i++) {
        if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i]) {
            return false;
        }
    }
    int month = (text[5] - '0') * 10 + text[6] - '0';
    int day = (text[8] - '0') * 10 + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* ---- promises and tolerances ---- */

static assay_code promise_read(const json_t *row, assay_promise *p, assay_error *error) {
    if (contract_object_check(row, promise_fields, COUNT(promise_fields), "promises", error) !=
        ASSAY_CODE_OK) {
        return ASSAY_CODE_USAGE;
    }
    size_t relation = relation_find(contract_text(row, "relation"));
    if (!copy_text(p->name, sizeof p->name, row, "name") ||
        !copy_text(p->text, sizeof p->text, row, "text")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: promise %.40s: name or text too long",
                          contract_text(row, "name"));
    }
    if (relation == RELATIONS || !copy_text(p->relation, sizeof p->relation, row, "relation")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: promise %s: unknown relation \"%.40s\"",
                          p->name, contract_text(row, "relation"));
    }
    if (!suite_known(contract_text(row, "suite")) || !copy_text(p->suite, sizeof p->suite, row, "suite")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: promise %s: unknown suite \"%.40s\"", p->name,
                          contract_text(row, "suite"));
    }
    p->required = json_is_true(json_object_get(row, "required"));
    p->cuda_only = json_object_get(row, "memory") != NULL;
    if (p->cuda_only && strcmp(contract_text(row, "memory"), "cuda") != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: promise %s: unknown memory \"%.40s\" (cuda)",
                          p->name, contract_text(row, "memory"));
    }
    if (p->required && relations[relation].owes == OWES_NOTHING) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "contract: promise %s: relation %s promises nothing, so required must be false",
                          p->name, p->relation);
    }
    return ASSAY_CODE_OK;
}

static assay_code promises_read(assay_contract *contract, assay_error *error) {
    const json_t *rows = json_object_get(contract->root, "promises");
    size_t i;
    const json_t *row;
    if (json_array_size(rows) == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: no promise");
    }
    contract->promises = calloc(json_array_size(rows), sizeof *contract->promises);
    if (contract->promises == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract: out of memory");
    }
    json_array_foreach((json_t *)rows, i, row) {
        assay_promise *p = &contract->promises[i];
        if (promise_read(row, p, error) != ASSAY_CODE_OK) {
            return error != NULL ? error->code : ASSAY_CODE_USAGE;
        }
        if (assay_contract_promise(contract, p->name) != NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: two promises called %s", p->name);
        }
        contract->promise_count++;
    }
    return ASSAY_CODE_OK;
}

/* atol, rtol and max_abs: not negative, and not all zero, because an exact match is owed by bytes, not by a
 * tolerance. */
static assay_code bounds_read(const json_t *row, assay_tolerance *t, assay_error *error) {
    const json_t *max_abs = json_object_get(row, "max_abs");
    t->atol = json_number_value(json_object_get(row, "atol"));
    t->rtol = json_number_value(json_object_get(row, "rtol"));
    t->max_abs = max_abs == NULL ? 0.0 : json_number_value(max_abs);
    if (t->atol < 0.0 || t->rtol < 0.0 || t->max_abs < 0.0 || (t->atol == 0.0 && t->rtol == 0.0)) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "contract: tolerance of %s: atol, rtol and max_abs must not be negative, and not "
                          "both atol and rtol 0",
                          t->output);
    }
    if (max_abs != NULL && t->max_abs == 0.0) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "contract: tolerance of %s: max_abs 0 means bytes; leave it out or raise it",
                          t->output);
    }
    return ASSAY_CODE_OK;
}

static assay_code tolerance_read(const json_t *root, const json_t *row, assay_tolerance *t,
                                 assay_error *error) {
    if (contract_object_check(row, tolerance_fields, COUNT(tolerance_fields), "tolerances", error) !=
        ASSAY_CODE_OK) {
        return ASSAY_CODE_USAGE;
    }
    static const struct {
        const char *key;
        size_t offset, bytes;
    } texts[] = {{"output", offsetof(assay_tolerance, output), sizeof t->output},
                 {"relation", offsetof(assay_tolerance, relation), sizeof t->relation},
                 {"owner", offsetof(assay_tolerance, owner), sizeof t->owner},
                 {"reason", offsetof(assay_tolerance, reason), sizeof t->reason},
                 {"date", offsetof(assay_tolerance, date), sizeof t->date}};
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!copy_text((char *)t + texts[i].offset, texts[i].bytes, row, texts[i].key)) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: tolerances: \"%s\" is too long",
                              texts[i].key);
        }
    }
    size_t relation = relation_find(t->relation);
    if (relation == RELATIONS) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: tolerance of %s: unknown relation \"%s\"",
                          t->output, t->relation);
    }
    if (relations[relation].owes != OWES_TOLERANCE) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "contract: tolerance of %s: relation %s takes no tolerance%s", t->output,
                          t->relation, relations[relation].owes == OWES_BYTES ? ", bytes are owed" : "");
    }
    const json_t *output = contract_output(root, t->output);
    if (output == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "contract: tolerance of %s: the signature has no such output", t->output);
    }
    if (!assay_dtype_parse(contract_text(row, "dtype"), &t->dtype) ||
        !contract_has_dtype(output, contract_text(row, "dtype"))) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: tolerance of %s: the output has no dtype %.20s",
                          t->output, contract_text(row, "dtype"));
    }
    if (!is_date(t->date)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: tolerance of %s: date \"%s\" is not YYYY-MM-DD",
                          t->output, t->date);
    }
    return bounds_read(row, t, error);
}

static assay_code tolerances_read(assay_contract *contract, assay_error *error) {
    const json_t *rows = json_object_get(contract->root, "tolerances");
    size_t i;
    const json_t *row;
    contract->tolerances = calloc(json_array_size(rows) + 1, sizeof *contract->tolerances);
    if (contract->tolerances == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract: out of memory");
    }
    json_array_foreach((json_t *)rows, i, row) {
        assay_tolerance *t = &contract->tolerances[i];
        if (tolerance_read(contract->root, row, t, error) != ASSAY_CODE_OK) {
            return ASSAY_CODE_USAGE;
        }
        if (assay_contract_tolerance(contract, t->output, t->dtype, t->relation) != NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: two tolerance rows for %s %s %s", t->output,
                              assay_dtype_text(t->dtype), t->relation);
        }
        contract->tolerance_count++;
    }
    return ASSAY_CODE_OK;
}

/* Every promise that needs a tolerance has a row for every dtype of every output it speaks of. */
static assay_code coverage_check(const assay_contract *contract, assay_error *error) {
    for (size_t p = 0; p < contract->promise_count; p++) {
        const assay_promise *promise = &contract->promises[p];
        size_t relation = relation_find(promise->relation);
        if (relations[relation].owes != OWES_TOLERANCE) {
            continue;
        }
        const json_t *entry =
            json_object_get(json_object_get(contract->root, "signature"), relations[relation].direction);
        size_t i;
        size_t j;
        const json_t *tensor;
        const json_t *dtype;
        json_array_foreach(json_object_get(entry, "outputs"), i, tensor) {
            json_array_foreach(json_object_get(tensor, "dtypes"), j, dtype) {
                assay_dtype d;
                if (!assay_dtype_parse(json_string_value(dtype), &d) ||
                    assay_contract_tolerance(contract, contract_text(tensor, "name"), d, promise->relation) ==
                        NULL) {
                    return assay_fail(error, ASSAY_CODE_USAGE,
                                      "contract: promise %s: no tolerance row for %.40s %s", promise->name,
                                      contract_text(tensor, "name"), json_string_value(dtype));
                }
            }
        }
        if (entry == NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "contract: promise %s: the signature has no %s",
                              promise->name, relations[relation].direction);
        }
    }
    return ASSAY_CODE_OK;
}

/* ---- entry points ---- */

static assay_code contract_read(assay_contract *contract, assay_error *error) {
    if (contract_structure_check(contract->root, error) != ASSAY_CODE_OK) {
        return ASSAY_CODE_USAGE;
    }
    json_int_t version = json_integer_value(json_object_get(contract->root, "version"));
    if (version < 1 || version > 1000000) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: version must be 1 or more");
    }
    contract->version = (int)version;
    if (!copy_text(contract->operator_name, sizeof contract->operator_name, contract->root, "operator")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: operator name too long");
    }
    assay_code code = promises_read(contract, error);
    code = code == ASSAY_CODE_OK ? tolerances_read(contract, error) : code;
    return code == ASSAY_CODE_OK ? coverage_check(contract, error) : code;
}

assay_code assay_contract_parse(const char *text, size_t bytes, assay_contract **contract,
                                assay_error *error) {
    *contract = NULL;
    json_error_t where;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "contract: line %d column %d: %s", where.line,
                          where.column, where.text);
    }
    assay_contract *c = calloc(1, sizeof *c);
    if (c == NULL || (c->text = malloc(bytes + 1)) == NULL) {
        free(c);
        json_decref(root);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract: out of memory");
    }
    memcpy(c->text, text, bytes);
    c->text[bytes] = '\0';
    c->root = root;
    unsigned char hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, (const unsigned char *)text, bytes);
    (void)sodium_bin2hex(c->sha256, sizeof c->sha256, hash, sizeof hash);
    assay_code code = contract_read(c, error);
    if (code != ASSAY_CODE_OK) {
        assay_contract_free(c);
        return code;
    }
    *contract = c;
    return ASSAY_CODE_OK;
}

void assay_contract_free(assay_contract *contract) {
    if (contract != NULL) {
        json_decref(contract->root);
        free(contract->promises);
        free(contract->tolerances);
        free(contract->text);
        free(contract);
    }
}

const assay_promise *assay_contract_promise(const assay_contract *contract, const char *name) {
    for (size_t i = 0; i < contract->promise_count; i++) {
        if (strcmp(contract->promises[i].name, name) == 0) {
            return &contract->promises[i];
        }
    }
    return NULL;
}

const assay_tolerance *assay_contract_tolerance(const assay_contract *contract, const char *output,
                                                assay_dtype dtype, const char *relation) {
    for (size_t i = 0; i < contract->tolerance_count; i++) {
        const assay_tolerance *t = &contract->tolerances[i];
        if (t->dtype == dtype && strcmp(t->output, output) == 0 && strcmp(t->relation, relation) == 0) {
            return t;
        }
    }
    return NULL;
}
