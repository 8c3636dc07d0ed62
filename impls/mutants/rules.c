/* rules.c - what an invalid call is (h3.md 1.1), as a table. A subject whose fault is a missing check simply
 * lacks a row. */
#include "mutant.h"

#include <math.h>

typedef bool (*predicate)(const mutant_args *args);

/* Subjects that let several shapes through would be stopped by a later row otherwise. */
static bool shapes_waived(void) {
    return IS(accepts_rank2) || IS(accepts_output_shape) || IS(accepts_zero_width) ||
           IS(accepts_negative_width) || IS(accepts_odd_width) || IS(accepts_odd_garbage) ||
           IS(accepts_empty) || IS(unchecked_width) || IS(empty_crash);
}

static bool on_host(const DLTensor *t) {
    return t->device.device_type == kDLCPU;
}
static bool null_tensor(const mutant_args *a) {
    return a->timestep == NULL || a->result == NULL ||
           (a->backward && (a->upstream == NULL || a->saved == NULL));
}
static bool off_host(const mutant_args *a) {
    return !on_host(a->timestep) || !on_host(a->result) ||
           (a->backward && (!on_host(a->upstream) || !on_host(a->saved)));
}
static bool width_checked(const mutant_args *a) {
    return a->check_range || !IS(unchecked_width);
}
static bool width_zero(const mutant_args *a) {
    return a->width == 0 && width_checked(a);
}
static bool width_negative(const mutant_args *a) {
    return a->width < 0 && width_checked(a);
}
static bool width_odd(const mutant_args *a) {
    return a->width % 2 != 0 && width_checked(a) && !(IS(accepts_odd_garbage) && a->width > 0);
}
static bool period_bad(const mutant_args *a) {
    return !isfinite(a->max_period) || a->max_period <= 0;
}
static bool rank_bad(const mutant_args *a) {
    return a->timestep->ndim != 1;
}
static bool is_integer(const mutant_args *a) {
    return a->timestep->dtype.code == kDLInt || a->timestep->dtype.code == kDLUInt;
}
static bool is_f64(const mutant_args *a) {
    return assay_is_dtype(a->timestep, kDLFloat, 64);
}
static bool dtype_bad(const mutant_args *a) {
    const DLTensor *t = a->timestep;
    return !assay_is_dtype(t, kDLFloat, 32) && !assay_is_dtype(t, kDLBfloat, 16) &&
           !assay_is_dtype(t, kDLFloat, 16) && !is_integer(a) && !is_f64(a);
}
static bool is_empty(const mutant_args *a) {
    return a->rows < 1;
}
static bool is_matrix(const DLTensor *t, const mutant_args *a) {
    return t->ndim == 2 && t->shape[0] == a->rows && t->shape[1] == a->width;
}
static bool result_shape_bad(const mutant_args *a) {
    if (shapes_waived()) {
        return a->result->ndim != (a->backward ? 1 : 2);
    }
    return a->backward ? a->result->ndim != 1 || a->result->shape[0] != a->rows : !is_matrix(a->result, a);
}
static bool result_dtype_bad(const mutant_args *a) {
    const DLDataType *t = &a->timestep->dtype, *r = &a->result->dtype;
    return a->backward ? t->code != r->code || t->bits != r->bits || r->lanes != 1
                       : !assay_is_dtype(a->result, kDLFloat, 32);
}
static bool upstream_bad(const mutant_args *a) {
    return a->backward && (!is_matrix(a->upstream, a) || !assay_is_dtype(a->upstream, kDLFloat, 32));
}
static bool saved_shape_bad(const mutant_args *a) {
    return a->backward && !is_matrix(a->saved, a);
}
static bool saved_dtype_bad(const mutant_args *a) {
    return a->backward && !assay_is_dtype(a->saved, kDLFloat, 32);
}
static bool stride_refused(const mutant_args *a) {
    return IS(stride_rejected) && a->rows > 1 && a->timestep->strides[0] != 1;
}

/* ---- values ---- */
static bool any_value(const mutant_args *a, bool (*bad)(float)) {
    if ((!a->check_range && !IS(unchecked_ignored)) || IS(accepts_all_values) || IS(accepts_clamped)) {
        return false;
    }
    int64_t last = IS(checks_first_only) ? 1 : IS(checks_not_last) && a->rows > 1 ? a->rows - 1 : a->rows;
    for (int64_t i = 0; i < last; i++) {
        if (bad(mutant_load(a->timestep, i))) {
            return true;
        }
    }
    return false;
}
static bool value_nan(float x) {
    return isnan(x) && !IS(checks_by_max);
}
static bool value_infinite(float x) {
    return isinf(x);
}
static bool value_negative(float x) {
    return isfinite(x) && (IS(accepts_tiny_negative) ? x < -1e-4f : x < 0.0f);
}
static bool value_above_one(float x) {
    return isfinite(x) && (IS(accepts_just_above_one) ? x > 1.0001f : x > 1.0f);
}
static bool value_overzealous(float x) {
    return (IS(rejects_minus_zero) && x == 0.0f && signbit(x)) || (IS(rejects_zero) && x == 0.0f) ||
           (IS(rejects_one) && x == 1.0f);
}
static bool any_nan(const mutant_args *a) {
    return any_value(a, value_nan);
}
static bool any_infinite(const mutant_args *a) {
    return any_value(a, value_infinite);
}
static bool any_negative(const mutant_args *a) {
    return any_value(a, value_negative);
}
static bool any_above_one(const mutant_args *a) {
    return any_value(a, value_above_one);
}
static bool any_overzealous(const mutant_args *a) {
    return any_value(a, value_overzealous);
}

static const struct rule {
    predicate broken;
    const char *text;
    mutant_id missing_in[2]; /* subjects without this row; M_base = none */
    bool value;
} rules[] = {
    {null_tensor, "a tensor is missing", {M_accepts_null}, false},
    {off_host, "tensors must be in host memory", {M_base}, false},
    {width_zero, "width must be positive", {M_accepts_zero_width}, false},
    {width_negative, "width must be positive", {M_accepts_negative_width}, false},
    {width_odd, "width must be even", {M_accepts_odd_width}, false},
    {period_bad, "max_period must be positive and finite", {M_accepts_period}, false},
    {rank_bad, "timestep must be a vector", {M_accepts_rank2}, false},
    {is_integer, "timestep must be floating point, not integer", {M_accepts_integer}, false},
    {is_f64, "timestep must be f32, bf16 or f16, not f64", {M_accepts_f64}, false},
    {dtype_bad, "timestep must be f32, bf16 or f16", {M_base}, false},
    {is_empty, "timestep must not be empty", {M_accepts_empty, M_empty_crash}, false},
    {stride_refused, "timestep must be contiguous", {M_base}, false},
    {result_shape_bad, "the output has the wrong shape", {M_accepts_output_shape}, false},
    {result_dtype_bad, "the output has the wrong dtype", {M_base}, false},
    {upstream_bad, "upstream must be f32 (rows, width)", {M_base}, false},
    {saved_shape_bad, "saved must have shape (rows, width)", {M_grad_saved_unchecked}, false},
    {saved_dtype_bad, "saved must be f32", {M_base}, false},
    {any_nan, "timesteps must be finite and in [0, 1]: NaN found", {M_accepts_nan}, true},
    {any_infinite, "timesteps must be finite and in [0, 1]: infinity found", {M_accepts_inf}, true},
    {any_negative,
     "timesteps must be finite and in [0, 1]: negative value found",
     {M_accepts_negative},
     true},
    {any_above_one,
     "timesteps must be finite and in [0, 1]: value above 1 found",
     {M_accepts_above_one},
     true},
    {any_overzealous, "value refused", {M_base}, true},
};

/* True when this subject was built without row `r`. */
static bool lacks(const struct rule *r) {
    return !IS(base) && (mutant_current == r->missing_in[0] || mutant_current == r->missing_in[1]);
}

static assay_status rejection(const mutant_args *a, const struct rule *r) {
    if (IS(writes_then_rejects) && r->value) {
        (void)mutant_compute(a);
    }
    (void)assay_reject(a->call, r->text);
    return IS(status_internal)      ? ASSAY_INTERNAL
           : IS(status_unsupported) ? ASSAY_UNSUPPORTED
                                    : ASSAY_INVALID_ARGUMENT;
}

/* Fills rows, width and the tensors without judging them. */
static void take_apart(const assay_call *call, bool backward, mutant_args *a) {
    *a = (mutant_args){.call = call, .backward = backward};
    size_t wanted = backward ? 3 : 1;
    if (call->input_count == wanted && call->output_count == 1) {
        a->timestep = call->inputs[wanted - 1];
        a->upstream = backward ? call->inputs[0] : NULL;
        a->saved = backward ? call->inputs[1] : NULL;
        a->result = call->outputs[0];
    }
    a->width = assay_attr_int(call, "width", 256);
    a->half = a->width > 0 ? a->width / 2 : 0;
    a->max_period = assay_attr_float(call, "max_period", 10000.0);
    a->check_range = assay_attr_int(call, "check_range", 1) != 0;
    if (a->timestep != NULL) {
        a->rows = a->timestep->ndim > 0 ? a->timestep->shape[0] : 1;
    }
}

assay_status mutant_arguments(const assay_call *call, bool backward, mutant_args *args) {
    static bool poisoned; /* empty_poisons_next: an error left pending by an earlier call */
    take_apart(call, backward, args);
    if (poisoned) {
        poisoned = false;
        return ASSAY_DEVICE_ERROR;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!lacks(&rules[i]) && rules[i].broken(args)) {
            poisoned = IS(empty_poisons_next) && rules[i].broken == is_empty;
            return rejection(args, &rules[i]);
        }
    }
    if (shapes_waived() && args->result->ndim > 0 && args->result->shape[0] < args->rows) {
        args->rows = args->result->shape[0]; /* what was let through stays inside the buffer */
    }
    return ASSAY_OK;
}
