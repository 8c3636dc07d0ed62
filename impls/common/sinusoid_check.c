/* sinusoid_check.c - every rejection of the contract, once for all adapters. Reads inputs, writes no output.
 */
#include "convert.h"
#include "sinusoid.h"

#include <inttypes.h>
#include <stdarg.h>

float sinusoid_load(sinusoid_type type, const sinusoid_view *view, size_t i) {
    const ptrdiff_t at = (ptrdiff_t)i * view->row_stride;
    if (type == SINUSOID_F32) {
        return ((const float *)view->data)[at];
    }
    return assay_widen(((const uint16_t *)view->data)[at], type == SINUSOID_BF16 ? kDLBfloat : kDLFloat);
}

/* What a tensor argument has to look like. `columns` is 0 for a vector. */
typedef struct tensor_rule {
    const char *name;
    bool output;
    int ndim;
    int64_t rows;
    int64_t columns;
} tensor_rule;

__attribute__((format(printf, 2, 3))) static assay_status reject(const assay_call *call, const char *format,
                                                                 ...) {
    if (call->message != NULL && call->message_bytes > 0) {
        va_list list;
        va_start(list, format);
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is one line up */
        (void)vsnprintf(call->message, call->message_bytes, format, list);
        va_end(list);
    }
    return ASSAY_INVALID_ARGUMENT;
}

/* Finite and > 0, by bits: see value_valid(). */
static bool period_valid(double period) {
    uint64_t bits;
    memcpy(&bits, &period, sizeof bits);
    return bits != 0 && bits < UINT64_C(0x7ff0000000000000);
}

static assay_status check_attrs(const assay_call *call, sinusoid_args *args) {
    const assay_attr *width = assay_attr_find(call, "width");
    if (width == NULL || width->type != ASSAY_ATTR_INT) {
        return reject(call, "width is required and must be an integer");
    }
    if (width->i <= 0 || width->i % 2 != 0) {
        return reject(call, "width must be a positive even number, got %" PRId64, width->i);
    }
    const assay_attr *period = assay_attr_find(call, "max_period");
    if (period != NULL && period->type != ASSAY_ATTR_FLOAT && period->type != ASSAY_ATTR_INT) {
        return reject(call, "max_period must be a number");
    }
    const assay_attr *check = assay_attr_find(call, "check_range");
    if (check != NULL && check->type != ASSAY_ATTR_BOOL && check->type != ASSAY_ATTR_INT) {
        return reject(call, "check_range must be true or false");
    }
    args->half = (size_t)width->i / 2;
    args->max_period = assay_attr_float(call, "max_period", 10000.0);
    args->check_range = assay_attr_int(call, "check_range", 1) != 0;
    if (!period_valid(args->max_period)) {
        return reject(call, "max_period must be finite and positive, got %g", args->max_period);
    }
    return ASSAY_OK;
}

static assay_status check_counts(const assay_call *call, size_t inputs, size_t outputs) {
    if (call->input_count != inputs || call->output_count != outputs) {
        return reject(call, "needs %zu inputs and %zu outputs, got %zu and %zu", inputs, outputs,
                      call->input_count, call->output_count);
    }
    if (call->inputs == NULL || call->outputs == NULL) {
        return reject(call, "the tensor lists must not be null");
    }
    return ASSAY_OK;
}

/* Strides of a tensor whose rank and shape are right. An output must not overlap itself and has dense rows.
 */
static assay_status check_strides(const assay_call *call, const DLTensor *t, const tensor_rule *rule,
                                  sinusoid_view *view) {
    const bool matrix = rule->ndim == 2;
    const int64_t columns = matrix ? t->shape[1] : 1;
    const int64_t column = !matrix ? 1 : t->strides == NULL ? 1 : t->strides[1];
    const int64_t row = t->strides == NULL ? columns : t->strides[0];
    if (rule->output && column != 1) {
        return reject(call, "%s must have column stride 1, got %" PRId64, rule->name, column);
    }
    if (rule->output && t->shape[0] > 1 && row < columns && row > -columns) {
        return reject(call, "%s has row stride %" PRId64 ", so that rows overlap", rule->name, row);
    }
    *view = (sinusoid_view){
        .data = assay_data(t), .row_stride = (ptrdiff_t)row, .column_stride = (ptrdiff_t)column};
    return ASSAY_OK;
}

static assay_status check_tensor(const assay_call *call, const DLTensor *t, const tensor_rule *rule,
                                 size_t bytes, sinusoid_view *view) {
    if (t->shape[0] != rule->rows || (rule->ndim == 2 && t->shape[1] != rule->columns)) {
        return reject(call,
                      "%s has the wrong shape: needs %" PRId64 " rows of %" PRId64 ", got %" PRId64
                      " of %" PRId64,
                      rule->name, rule->rows, rule->columns, t->shape[0], rule->ndim == 2 ? t->shape[1] : 0);
    }
    if ((uintptr_t)assay_data(t) % bytes != 0) {
        return reject(call, "%s is not aligned to its element size", rule->name);
    }
    return check_strides(call, t, rule, view);
}

/* Null, device and rank: what must hold before a shape may be read. */
static assay_status check_header(const assay_call *call, const DLTensor *t, const char *name, int ndim,
                                 DLDeviceType memory) {
    if (t == NULL || t->data == NULL) {
        return reject(call, "%s must not be null", name);
    }
    if (t->device.device_type != memory) {
        return reject(call, "%s must be in %s memory", name, memory == kDLCPU ? "host" : "CUDA");
    }
    if (t->ndim != ndim || t->shape == NULL) {
        return reject(call, "%s must have rank %d, got %d", name, ndim, t->ndim);
    }
    return ASSAY_OK;
}

/* An FP32 matrix of rows x 2*half. */
static assay_status check_matrix(const assay_call *call, const DLTensor *t, const char *name, bool output,
                                 const sinusoid_args *args, sinusoid_view *view) {
    const assay_status status = check_header(call, t, name, 2, args->memory);
    if (status != ASSAY_OK) {
        return status;
    }
    if (!assay_is_dtype(t, kDLFloat, 32)) {
        return reject(call, "%s must be float32", name);
    }
    const tensor_rule rule = {.name = name,
                              .output = output,
                              .ndim = 2,
                              .rows = (int64_t)args->rows,
                              .columns = (int64_t)(2 * args->half)};
    return check_tensor(call, t, &rule, sizeof(float), view);
}

static bool type_of(const DLTensor *t, sinusoid_type *type) {
    if (assay_is_dtype(t, kDLFloat, 32)) {
        *type = SINUSOID_F32;
    } else if (assay_is_dtype(t, kDLBfloat, 16)) {
        *type = SINUSOID_BF16;
    } else if (assay_is_dtype(t, kDLFloat, 16)) {
        *type = SINUSOID_F16;
    } else {
        return false;
    }
    return true;
}

static size_t type_bytes(sinusoid_type type) {
    return type == SINUSOID_F32 ? 4 : 2;
}

/* Everything about the timestep but its values; fixes rows and type. */
static assay_status check_timestep(const assay_call *call, const DLTensor *t, sinusoid_args *args) {
    const assay_status status = check_header(call, t, "timestep", 1, args->memory);
    if (status != ASSAY_OK) {
        return status;
    }
    if (t->shape[0] < 1) {
        return reject(call, "timestep must not be empty");
    }
    if (!type_of(t, &args->type)) {
        return reject(call, "timestep must be float32, bfloat16 or float16");
    }
    args->rows = (size_t)t->shape[0];
    const tensor_rule rule = {.name = "timestep", .ndim = 1, .rows = t->shape[0]};
    return check_tensor(call, t, &rule, type_bytes(args->type), &args->timestep);
}

/* Bits, not comparisons: in [0, 1] or -0.0. Holds under any compiler flag, unlike a test with NaN in it. */
static bool value_valid(float x) {
    const uint32_t bits = convert_bits(x);
    return bits <= 0x3f800000u || bits == 0x80000000u;
}

static assay_status check_values(const assay_call *call, const sinusoid_args *args) {
    if (!args->check_range || args->memory != kDLCPU) {
        return ASSAY_OK;
    }
    for (size_t i = 0; i < args->rows; i++) {
        const float x = sinusoid_load(args->type, &args->timestep, i);
        if (!value_valid(x)) {
            return reject(call,
                          "timestep must be finite and in [0, 1]: element %zu is %.9g (0x%08" PRIx32 ")", i,
                          (double)x, convert_bits(x));
        }
    }
    return ASSAY_OK;
}

assay_status sinusoid_check_forward(const assay_call *call, sinusoid_args *args) {
    return sinusoid_check_forward_in(kDLCPU, call, args);
}

assay_status sinusoid_check_forward_in(DLDeviceType memory, const assay_call *call, sinusoid_args *args) {
    *args = (sinusoid_args){.memory = memory};
    assay_status status = check_attrs(call, args);
    if (status == ASSAY_OK) {
        status = check_counts(call, 1, 1);
    }
    if (status == ASSAY_OK) {
        status = check_timestep(call, call->inputs[0], args);
    }
    if (status == ASSAY_OK) {
        status = check_matrix(call, call->outputs[0], "out", true, args, &args->out);
    }
    return status == ASSAY_OK ? check_values(call, args) : status;
}

/* The gradient is a vector like the timestep and has its type. */
static assay_status check_grad(const assay_call *call, const DLTensor *t, sinusoid_args *args) {
    const assay_status status = check_header(call, t, "gradient", 1, args->memory);
    if (status != ASSAY_OK) {
        return status;
    }
    sinusoid_type type;
    if (!type_of(t, &type) || type != args->type) {
        return reject(call, "gradient must have the timestep's type");
    }
    const tensor_rule rule = {.name = "gradient", .output = true, .ndim = 1, .rows = (int64_t)args->rows};
    return check_tensor(call, t, &rule, type_bytes(type), &args->grad);
}

assay_status sinusoid_check_backward(const assay_call *call, sinusoid_args *args) {
    return sinusoid_check_backward_in(kDLCPU, call, args);
}

assay_status sinusoid_check_backward_in(DLDeviceType memory, const assay_call *call, sinusoid_args *args) {
    *args = (sinusoid_args){.memory = memory};
    assay_status status = check_attrs(call, args);
    if (status == ASSAY_OK) {
        status = check_counts(call, 3, 1);
    }
    if (status == ASSAY_OK) {
        status = check_timestep(call, call->inputs[2], args);
    }
    if (status == ASSAY_OK) {
        status = check_matrix(call, call->inputs[0], "upstream gradient", false, args, &args->upstream);
    }
    if (status == ASSAY_OK) {
        status = check_matrix(call, call->inputs[1], "saved output", false, args, &args->saved);
    }
    if (status == ASSAY_OK) {
        status = check_grad(call, call->outputs[0], args);
    }
    return status == ASSAY_OK ? check_values(call, args) : status;
}
