/* sinusoid.c - drivers of the forward and backward pass: types, strides, tables; the arithmetic is the
 * kernels'. */
#include "sinusoid.h"

#include <stdlib.h>

enum { BLOCK_ROWS = 256 };

static void store(sinusoid_type type, const sinusoid_view *view, size_t i, float value) {
    const ptrdiff_t at = (ptrdiff_t)i * view->row_stride;
    if (type == SINUSOID_F32) {
        ((float *)view->data)[at] = value;
    } else {
        ((uint16_t *)view->data)[at] = assay_narrow(value, type == SINUSOID_BF16 ? kDLBfloat : kDLFloat);
    }
}

sinusoid_rows sinusoid_engine_rows(const sinusoid_engine *engine, cpu_path *path) {
    int p = (int)cpu_path_current();
    while (p > CPU_PATH_SCALAR && engine->rows[p] == NULL) {
        p--;
    }
    if (path != NULL) {
        *path = (cpu_path)p;
    }
    return engine->rows[p];
}

static assay_status out_of_memory(const assay_call *call) {
    (void)assay_reject(call, "no memory for the frequency table or a row of scratch");
    return ASSAY_OUT_OF_MEMORY;
}

assay_status sinusoid_forward(const assay_call *call, const sinusoid_engine *engine) {
    sinusoid_args args;
    const assay_status status = sinusoid_check_forward(call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    const frequency_table *table = frequency_acquire(engine->exp, args.max_period, args.half);
    if (table == NULL) {
        return out_of_memory(call);
    }
    const sinusoid_rows rows = sinusoid_engine_rows(engine, NULL);
    float *out = args.out.data;
    float t[BLOCK_ROWS];
    for (size_t first = 0; first < args.rows; first += BLOCK_ROWS) {
        const size_t count = args.rows - first < BLOCK_ROWS ? args.rows - first : BLOCK_ROWS;
        for (size_t i = 0; i < count; i++) {
            t[i] = sinusoid_load(args.type, &args.timestep, first + i);
        }
        rows(t, count, table->f, args.half, out + (ptrdiff_t)first * args.out.row_stride,
             args.out.row_stride);
    }
    frequency_release(table);
    return ASSAY_OK;
}

/* Row `row` of an FP32 matrix as dense memory: in place when its columns are dense, else copied to `scratch`.
 */
static const float *dense_row(const sinusoid_view *view, size_t row, size_t width, float *scratch) {
    const float *source = (const float *)view->data + (ptrdiff_t)row * view->row_stride;
    if (view->column_stride == 1) {
        return source;
    }
    for (size_t k = 0; k < width; k++) {
        scratch[k] = source[(ptrdiff_t)k * view->column_stride];
    }
    return scratch;
}

static size_t next_power_of_two(size_t n) {
    size_t p = 1;
    while (p < n) {
        p *= 2;
    }
    return p;
}

assay_status sinusoid_backward(const assay_call *call, const sinusoid_engine *engine) {
    sinusoid_args args;
    const assay_status status = sinusoid_check_backward(call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    const size_t width = 2 * args.half;
    const size_t padded = next_power_of_two(width);
    const frequency_table *table = frequency_acquire(engine->exp, args.max_period, args.half);
    float *scratch = calloc(padded + 2 * width, sizeof *scratch);
    if (table == NULL || scratch == NULL) {
        frequency_release(table);
        free(scratch);
        return out_of_memory(call);
    }
    for (size_t row = 0; row < args.rows; row++) {
        const float *g = dense_row(&args.upstream, row, width, scratch + padded);
        const float *y = dense_row(&args.saved, row, width, scratch + padded + width);
        store(args.type, &args.grad, row, sinusoid_gradient_row(g, y, table->f, args.half, scratch, padded));
    }
    free(scratch);
    frequency_release(table);
    return ASSAY_OK;
}
