/* null.c - candidates that do no work, or someone else's: each must be refused by parity, accuracy and
 * gradients. They reject invalid input as promised. */
#include "mutant.h"

#include <math.h>
#include <stdlib.h>

/* Element (row, column) of the result; a gradient has one column. */
static float get(const mutant_args *a, int64_t row, int64_t column) {
    return a->backward ? mutant_load(a->result, row) : mutant_get2(a->result, row, column);
}

static void set(const mutant_args *a, int64_t row, int64_t column, float value) {
    if (a->backward) {
        mutant_store(a->result, row, value);
    } else {
        mutant_put(a, row, column, value);
    }
}

static assay_status each(const mutant_args *a, float (*value)(const mutant_args *, int64_t, int64_t)) {
    int64_t columns = a->backward ? 1 : a->width;
    for (int64_t r = 0; r < a->rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            set(a, r, c, value(a, r, c));
        }
    }
    return ASSAY_OK;
}

static float zero(const mutant_args *a, int64_t row, int64_t column) {
    (void)a, (void)row, (void)column;
    return 0.0f;
}
static float one(const mutant_args *a, int64_t row, int64_t column) {
    (void)a, (void)row, (void)column;
    return 1.0f;
}
static float nan_everywhere(const mutant_args *a, int64_t row, int64_t column) {
    (void)a, (void)row, (void)column;
    return NAN;
}
static float copy(const mutant_args *a, int64_t row, int64_t column) {
    (void)column;
    return mutant_load(a->timestep, row);
}
static float twice(const mutant_args *a, int64_t row, int64_t column) {
    return 2.0f * get(a, row, column);
}
static float row_zero(const mutant_args *a, int64_t row, int64_t column) {
    (void)row;
    return get(a, 0, column);
}

static assay_status zeros(const mutant_args *a) {
    return each(a, zero);
}
static assay_status ones(const mutant_args *a) {
    return each(a, one);
}
static assay_status nans(const mutant_args *a) {
    return each(a, nan_everywhere);
}
static assay_status copies(const mutant_args *a) {
    return each(a, copy);
}
static assay_status scaled(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    return status == ASSAY_OK ? each(a, twice) : status;
}
static assay_status constant(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    return status == ASSAY_OK ? each(a, row_zero) : status;
}

/* Row r gets the answer of row r + 1, the last one that of row 0. */
static assay_status shifted(const mutant_args *a) {
    int64_t columns = a->backward ? 1 : a->width;
    float *first = malloc((size_t)columns * sizeof *first);
    assay_status status = first == NULL ? ASSAY_OUT_OF_MEMORY : mutant_compute(a);
    for (int64_t c = 0; status == ASSAY_OK && c < columns; c++) {
        first[c] = get(a, 0, c);
    }
    for (int64_t r = 0; status == ASSAY_OK && r < a->rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            set(a, r, c, r + 1 < a->rows ? get(a, r + 1, c) : first[c]);
        }
    }
    free(first);
    return status;
}

mutant_body mutant_null_body(void) {
    static const mutant_body bodies[M_COUNT] = {
        [M_null_zeros] = zeros,     [M_null_ones] = ones, [M_null_copy] = copies,
        [M_null_shifted] = shifted, [M_null_nan] = nans,  [M_null_constant] = constant,
        [M_null_scaled] = scaled,
    };
    return bodies[mutant_current];
}
