/* contract_internal.h - shared by the files of the contract parser. Private. */
#ifndef ASSAY_CONTRACT_INTERNAL_H
#define ASSAY_CONTRACT_INTERNAL_H

#include "contract.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

typedef enum contract_kind {
    CONTRACT_TEXT, /* a non-empty string */
    CONTRACT_INTEGER,
    CONTRACT_NUMBER, /* finite */
    CONTRACT_BOOLEAN,
    CONTRACT_ARRAY,
    CONTRACT_OBJECT,
    CONTRACT_ANY
} contract_kind;

typedef struct contract_field {
    const char *key;
    contract_kind kind;
    bool required;
} contract_field;

/* Checks that `object` is an object with exactly the fields of the table. `where` names it in messages. */
assay_code contract_object_check(const json_t *object, const contract_field *fields, size_t count,
                                 const char *where, assay_error *error);
/* Everything but promises and tolerances. */
assay_code contract_structure_check(const json_t *root, assay_error *error);
/* The string under `key`, NULL when there is none. */
const char *contract_text(const json_t *object, const char *key);
/* The tensor called `name` among the outputs of forward and backward; NULL when there is none. */
const json_t *contract_output(const json_t *root, const char *name);
bool contract_has_dtype(const json_t *tensor, const char *dtype);

#endif
