/* contract.h - the contract of an operator as data: suites/operators/<name>/contract.json, parsed strictly.
 *
 * Refused when loading: unknown keys, a promise of an unknown suite or relation, a tolerance row without
 * owner, reason or date, a tolerance where bytes are owed (relations repeat, invariance, parity), a missing
 * tolerance where one is needed (accuracy, gradient_accuracy), two rows for the same cell. Thresholds live
 * here and nowhere else. */
#ifndef ASSAY_CONTRACT_H
#define ASSAY_CONTRACT_H

#include "dtype.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct assay_tolerance {
    char output[32];
    assay_dtype dtype; /* of the output (forward) or of the gradient */
    char relation[24]; /* accuracy, gradient_accuracy */
    double atol, rtol;
    double max_abs; /* additional bound on |error|; 0 = none */
    char owner[64], reason[256], date[16];
} assay_tolerance;

typedef struct assay_promise {
    char name[32], suite[24], relation[24], text[256];
    bool required;
    bool cuda_only; /* "memory": "cuda": owed by candidates in CUDA memory; no promise of a run on the host */
} assay_promise;

typedef struct assay_contract {
    char operator_name[64];
    int version;
    char sha256[65]; /* of `text` */
    char *text;      /* the JSON, byte for byte */
    assay_promise *promises;
    size_t promise_count;
    assay_tolerance *tolerances;
    size_t tolerance_count;
    json_t *root; /* matrices, rejections, signature, domain: read by the suites */
} assay_contract;

assay_code assay_contract_parse(const char *text, size_t bytes, assay_contract **contract,
                                assay_error *error);
void assay_contract_free(assay_contract *contract);
const assay_promise *assay_contract_promise(const assay_contract *contract,
                                            const char *name); /* NULL when absent */
const assay_tolerance *assay_contract_tolerance(const assay_contract *contract, const char *output,
                                                assay_dtype dtype,
                                                const char *relation); /* NULL when absent */

#endif
