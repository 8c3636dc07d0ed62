/* test_call.h - for tests: calls to an operator without the engine, and the checks that every adapter owes.
 */
#ifndef ASSAY_IMPL_TEST_CALL_H
#define ASSAY_IMPL_TEST_CALL_H

#include "assay/adapter.h"
#include "cpu_path.h"

#include <stdbool.h>
#include <stdint.h>

/* A tensor with its shape and strides beside it; `dl` points into the same struct, so do not copy it. */
typedef struct test_tensor {
    DLTensor dl;
    int64_t shape[2];
    int64_t strides[2];
} test_tensor;

typedef struct test_attrs {
    int64_t width;
    double max_period;
    bool check_range;
} test_attrs;

/* A vector of `rows` elements, or a matrix when `columns` > 0. */
void test_vector(test_tensor *t, void *data, DLDataTypeCode code, int bits, int64_t rows, int64_t stride);
void test_matrix(test_tensor *t, void *data, int64_t rows, int64_t columns, int64_t row_stride);

/* Calls `entry` with up to three inputs and one output (NULL entries are passed as null tensors); `message`
 * has 200 bytes. */
assay_status test_run(assay_entry entry, const test_attrs *attrs, DLTensor *const *inputs, size_t input_count,
                      DLTensor *output, char *message);

/* A reproducible stream of numbers. */
uint32_t test_random(uint64_t *state);
float test_random_unit(uint64_t *state); /* in [0, 1) */

/* Every rejection of the contract, through forward and backward: right status, message for value errors,
 * nothing written; then a valid call and the valid edges. Asserts. */
void test_rejections(const assay_operator *op);

/* Backward against the formula computed here with its own loops, on random upstream gradients: all widths,
 * types and strides; equal bits. Asserts. */
void test_gradients(const assay_operator *op, float (*exponential)(float));

/* The operator of a built adapter ${ASSAY_BUILD}/impls/<name>.so. Asserts. */
const assay_adapter_info *test_load(const char *name);

#endif
