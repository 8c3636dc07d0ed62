/* forward.c - the promised arithmetic of the forward pass (h3.md 1.1), with the switch points of the value
 * faults.
 *
 *   c = (float)-log((double)max_period)     inv = 1.0f / (float)half
 *   f[k] = expf((c * (float)k) * inv)       a = t * f[k]        out = [cosf(a) | sinf(a)]
 *
 * every operation rounded on its own. */
#include "mutant.h"

#include <math.h>
#include <stdlib.h>

static float frequency(int64_t k, int64_t half, double period) {
    float c = (float)-log(period), inv = 1.0f / (float)half, e = (c * (float)k) * inv;
    switch (mutant_current) {
    case M_freq_divide:
        return expf((c * (float)k) / (float)half);
    case M_freq_order:
        return expf((float)k * (c * inv));
    case M_freq_half_minus_one:
        return expf((c * (float)k) * (1.0f / (float)(half > 1 ? half - 1 : 1)));
    case M_freq_pow:
        return powf((float)period, -(float)k * inv);
    case M_freq_fp64:
        return (float)exp(-log(period) * (double)k / (double)half);
    case M_freq_exp2:
        return exp2f(e * 1.44269504f);
    default:
        return expf(e);
    }
}

void mutant_frequencies(const mutant_args *args, float *f) {
    static int64_t cached_half = 0; /* freq_cache_stale: keyed by half alone */
    static float cached[4096];
    double period = IS(freq_period_ignored)                                ? 10000.0
                    : IS(freq_period_10001) && args->max_period == 10000.0 ? 10001.0
                                                                           : args->max_period;
    if (IS(freq_cache_stale) && args->half == cached_half && args->half <= 4096) {
        memcpy(f, cached, (size_t)args->half * sizeof *f);
        return;
    }
    for (int64_t k = 0; k < args->half; k++) {
        f[k] = IS(width_two) && args->width == 2 ? 0.0f : frequency(k, args->half, period);
    }
    if (IS(freq_cache_stale) && args->half <= 4096) {
        cached_half = args->half;
        memcpy(cached, f, (size_t)args->half * sizeof *f);
    }
}

/* Where row `row` reads its timestep, in rows. */
static int64_t source_row(const mutant_args *a, int64_t row) {
    switch (mutant_current) {
    case M_in_row_zero:
        return 0;
    case M_in_row_shift:
        return row + 1 < a->rows ? row + 1 : row;
    case M_in_reversed:
        return a->rows - 1 - row;
    default:
        return row;
    }
}

/* Reads element `row` of the timesteps through a wrong address or as a wrong type. */
static float misread(const mutant_args *a, int64_t row, bool unit_stride, uintptr_t mask) {
    DLTensor view = *a->timestep;
    int64_t stride = unit_stride ? 1 : view.strides[0];
    view.strides = &stride;
    view.data = (void *)((uintptr_t)view.data & ~mask);
    if (IS(in_bf16_as_f16) || IS(in_f16_as_bf16)) {
        view.dtype.code = IS(in_bf16_as_f16) ? kDLFloat : kDLBfloat;
    }
    return mutant_load(&view, row);
}

float mutant_timestep(const mutant_args *args, int64_t row) {
    int64_t from = source_row(args, row);
    bool bf16 = args->timestep->dtype.code == kDLBfloat, f32 = args->timestep->dtype.bits == 32;
    bool wrong_type = !f32 && (IS(in_bf16_as_f16) ? bf16 : IS(in_f16_as_bf16) && !bf16);
    float t = IS(stride_ignored)  ? misread(args, from, true, 0)
              : IS(align_rounded) ? misread(args, from, false, 15)
              : wrong_type        ? misread(args, from, false, 0)
                                  : mutant_load(args->timestep, from);
    switch (mutant_current) {
    case M_arg_times_1000:
        return t * 1000.0f;
    case M_arg_times_1000_bf16:
        return bf16 ? t * 1000.0f : t;
    case M_arg_sigma:
        return 1.0f - t;
    case M_in_bf16_early:
        return f32 ? mutant_from_bf16(mutant_bf16(t)) : t;
    case M_accepts_clamped:
        return t > 1.0f ? 1.0f : t > 0.0f ? t : 0.0f;
    case M_null_other_seed:
        return (float)((uint32_t)(row + 17) * 2654435761u >> 8) * 0x1p-24f;
    default:
        return t;
    }
}

static float argument(const mutant_args *a, float t, float f) {
    float x = t * f;
    if (IS(arg_bf16) || (IS(in_bf16_product) && a->timestep->dtype.code == kDLBfloat)) {
        return mutant_from_bf16(mutant_bf16(x));
    }
    return x;
}

static float sine(float x) {
    switch (mutant_current) {
    case M_trig_sin_by_root: {
        float c = cosf(x);
        return sqrtf(1.0f - c * c);
    }
    case M_trig_taylor:
        return x * (1.0f - x * x * (1.0f / 6.0f) * (1.0f - x * x * 0.05f));
    case M_trig_small_angle:
        return x < 1e-3f ? x : sinf(x);
    case M_out_minus_zero:
        return x == 0.0f ? -0.0f : sinf(x);
    default:
        return sinf(x);
    }
}

/* sin.approx has an absolute error of about 2^-21: a fixed-point result. */
static float approximate(float y) {
    return rintf(y * 0x1p21f) * 0x1p-21f;
}

static bool fast_processor(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("sse2");
#else
    return true;
#endif
}

float mutant_element(const mutant_args *args, int64_t row, int64_t k, bool sine_half, float t,
                     const float *f) {
    if (IS(stride_second_half) && sine_half) {
        t = misread(args, row, true, 0);
    }
    if (IS(arg_unrounded) ||
        mutant_other_path(args, row, k)) { /* product and function in FP64, rounded once */
        double wide = (double)t * (double)f[k];
        return (float)(sine_half ? sin(wide) : cos(wide));
    }
    float x = argument(args, t, f[k]);
    float y = sine_half ? sine(x) : IS(trig_cos_by_shift) ? sinf(x + 1.57079633f) : cosf(x);
    switch (mutant_current) {
    case M_trig_approx:
        return approximate(y);
    case M_trig_fast_by_arch:
        return fast_processor() ? approximate(y) : y;
    case M_out_sin_negated:
        return sine_half ? -y : y;
    case M_out_last_zero:
        return sine_half && k == args->half - 1 ? 0.0f : y;
    case M_out_bf16:
        return mutant_from_bf16(mutant_bf16(y));
    case M_out_f16:
        return mutant_from_f16(mutant_f16(y));
    case M_out_one_ulp:
        return row == args->rows / 2 && sine_half && k == args->half / 3 ? mutant_next_up(y) : y;
    case M_out_one_nan:
        return args->rows > 2 && row == args->rows - 1 && k == 0 && !sine_half ? NAN : y;
    default:
        return y;
    }
}

/* Column of frequency k in the given half. */
static int64_t column_of(const mutant_args *a, int64_t k, bool sine_half) {
    if (IS(out_interleaved)) {
        return 2 * k + (sine_half ? 1 : 0);
    }
    bool second = sine_half != (IS(out_sin_first) || (IS(out_last_swapped) && k == a->half - 1));
    return second ? a->half + k : k;
}

void mutant_put(const mutant_args *args, int64_t row, int64_t column, float value) {
    const DLTensor *out = args->result;
    float *base = assay_data(out);
    int64_t index = row * out->strides[0] + column * out->strides[1];
    if (mutant_skips(args, row, column)) {
        return;
    }
    if (IS(index_u16)) {
        index = (uint16_t)index;
    } else if (IS(index_float)) {
        index = (int64_t)(float)index;
        index = index < args->rows * args->width ? index : args->rows * args->width - 1;
    }
    float old;
    memcpy(&old, base + index, sizeof old);
    if (IS(mem_output_read)) {
        value = value + 0.0f * old;
    }
    if (IS(mem_output_or) && isfinite(old) && old != 0.0f) {
        return;
    }
    memcpy(base + index, &value, sizeof value);
}

/* B01: the slot after the two halves of an odd row. */
static void odd_slot(const mutant_args *a, int64_t row) {
    if (a->width % 2 != 0 && a->width > 0) {
        float zero = 0.0f, *base = assay_data(a->result);
        int64_t slot = IS(accepts_odd_garbage) ? a->width : 2 * a->half;
        if (row + 1 < a->rows || slot < a->width) {
            memcpy(base + row * a->result->strides[0] + slot, &zero, sizeof zero);
        }
    }
}

void mutant_forward_rows(const mutant_args *args, const float *f, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
        float t = mutant_timestep(args, row);
        for (int64_t k = 0; k < args->half; k++) {
            mutant_put(args, row, column_of(args, k, false), mutant_element(args, row, k, false, t, f));
            mutant_put(args, row, column_of(args, k, true), mutant_element(args, row, k, true, t, f));
        }
        odd_slot(args, row);
    }
}
