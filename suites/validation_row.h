/* validation_row.h - reads one row of the contract's `rejections` or `accepts` (CONTRACT.md) into fully
 * specified calls, without running anything. Private to suites. */
#ifndef ASSAY_VALIDATION_ROW_H
#define ASSAY_VALIDATION_ROW_H

#include "direct.h"

#define ASSAY_ROW_TENSORS 6

typedef struct assay_row_tensor {
    const char *name; /* of the signature */
    bool output, null;
    assay_dtype dtype;
    int ndim;
    int64_t shape[ASSAY_MAX_DIMS];
    int64_t stride; /* of a vector, in elements */
} assay_row_tensor;

/* One call of a row. Inputs come first in `tensors`, in the order of the signature. */
typedef struct assay_row_call {
    bool backward;
    assay_attrs attrs;
    int64_t rows, width;
    assay_dtype dtype; /* of the row input in the base call */
    assay_row_tensor tensors[ASSAY_ROW_TENSORS];
    size_t input_count, count;
    bool poked; /* element poke_element of tensor poke_tensor holds poke_bits (of the tensor's dtype) */
    size_t poke_tensor;
    int64_t poke_element;
    uint32_t poke_bits;
    char label[96]; /* which variant: rows, value, place; "" when the row has only one */
} assay_row_call;

/* The valid call that a row starts from: no change applied except those of the attribute width (so that it
 * has the same shape). */
assay_code assay_row_base(const assay_contract *contract, const json_t *row, assay_row_call *call,
                          assay_error *error);

/* How many calls the row stands for: rows without `values` changes are one call; a value is tried at each
 * place, with each NaN payload, and, when the row fixes no row count, in batches of 33, 1, 3 and 300 rows. */
size_t assay_row_variants(const json_t *row);

/* Variant 0 .. variants-1, all changes applied. Errors name what the row has that this reader does not know.
 */
assay_code assay_row_variant(const assay_contract *contract, const json_t *row, size_t index,
                             assay_row_call *call, assay_error *error);

/* True when the FP32 bits lie in the domain that the contract states for its row input. */
bool assay_row_in_domain(const assay_contract *contract, const char *tensor, uint32_t bits);

#endif
