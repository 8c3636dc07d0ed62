/* replay.c - one program for all lineages: each step of the formula asks the row what to do. */
#include "lineage.h"

#include "assay/cuda_math.h"

#include <math.h>

#define X(n, e, h, s, o, m, t)                                                                               \
    const lineage lineage_##n = {.name = #n,                                                                 \
                                 .text = (t),                                                                \
                                 .exponent = EXPONENT_##e,                                                   \
                                 .hop = HOP_##h,                                                             \
                                 .scale = SCALE_##s,                                                         \
                                 .order = ORDER_##o,                                                         \
                                 .math = MATH_##m};
LINEAGE_LIST(X)
#undef X

/* FP32 to bfloat16 and back, round to nearest even. */
static float bf16(float x) {
    return assay_widen(assay_narrow(x, kDLBfloat), kDLBfloat);
}

static float exponential(lineage_math math, float x) {
    switch (math) {
    case MATH_CUDA:
        return assay_cuda_expf(x);
    case MATH_LIBM:
        return expf(x);
    case MATH_ROUNDED:
    case MATH_DOUBLE:
        break;
    }
    return (float)exp((double)x);
}

static float power(lineage_math math, float base, float x) {
    return math == MATH_LIBM ? powf(base, x) : (float)pow((double)base, (double)x);
}

int lineage_shifts(const lineage *l) {
    return l->exponent == EXPONENT_SHIFT1 || l->exponent == EXPONENT_DIVIDE_SHIFT1 ||
           l->exponent == EXPONENT_STEP_SHIFT1;
}

static double frequency_fp64(double max_period, size_t half, size_t index) {
    return exp(-log(max_period) * (double)index / (double)half);
}

static float frequency(const lineage *l, double max_period, size_t half, size_t index) {
    const double log_period = log(max_period);
    const float c = (float)-log_period;
    const float k = (float)index;
    const float n = (float)(half - (lineage_shifts(l) ? 1u : 0u));
    switch (l->exponent) {
    case EXPONENT_RECIPROCAL:
    case EXPONENT_SHIFT1: {
        const float reciprocal = 1.0F / n;
        const float product = c * k;
        return exponential(l->math, product * reciprocal);
    }
    case EXPONENT_DIVIDE:
    case EXPONENT_DIVIDE_SHIFT1: {
        const float product = c * k;
        return exponential(l->math, product / n);
    }
    case EXPONENT_RATIO: {
        const float ratio = k / n;
        return exponential(l->math, c * ratio);
    }
    case EXPONENT_STEP:
    case EXPONENT_STEP_SHIFT1: {
        const float step = (float)(-log_period / (double)n);
        return exponential(l->math, k * step);
    }
    case EXPONENT_STEP_FP32: {
        const float reciprocal = 1.0F / n;
        const float step = c * reciprocal;
        return exponential(l->math, k * step);
    }
    case EXPONENT_LOGF: {
        const float product = -logf((float)max_period) * k;
        return exponential(l->math, product / n);
    }
    case EXPONENT_POW: {
        const float ratio = k / n;
        return 1.0F / power(l->math, (float)max_period, ratio);
    }
    case EXPONENT_FP64:
        break;
    }
    return (float)frequency_fp64(max_period, half, index);
}

void lineage_frequencies(const lineage *l, double max_period, size_t half, double *f) {
    for (size_t k = 0; k < half; k++) {
        if (l->math == MATH_DOUBLE) {
            f[k] = frequency_fp64(max_period, half, k);
            continue;
        }
        const float value = frequency(l, max_period, half, k);
        f[k] = (double)(l->hop == HOP_FREQUENCY || l->hop == HOP_PRODUCT ? bf16(value) : value);
    }
}

/* The argument of both functions, for every set of functions that takes FP32. */
static float argument(const lineage *l, float t, float f) {
    if (l->hop == HOP_TIMESTEP || l->hop == HOP_PRODUCT) {
        t = bf16(t);
    }
    if (l->scale == SCALE_TIMESTEP) {
        t = 1000.0F * t;
    }
    if (l->scale == SCALE_SIGMA) {
        t = 1.0F - t;
    }
    float a = t * f;
    if (l->hop == HOP_PRODUCT || l->hop == HOP_ARGUMENT) {
        a = bf16(a);
    }
    return l->scale == SCALE_PRODUCT ? 1000.0F * a : a;
}

static void cosine_and_sine(const lineage *l, float t, double f, float *c, float *s) {
    const float a = argument(l, t, (float)f);
    switch (l->math) {
    case MATH_CUDA:
        *c = assay_cuda_cosf(a);
        *s = assay_cuda_sinf(a);
        return;
    case MATH_LIBM:
        *c = cosf(a);
        *s = sinf(a);
        return;
    case MATH_ROUNDED:
        *c = (float)cos((double)a);
        *s = (float)sin((double)a);
        return;
    case MATH_DOUBLE:
        break;
    }
    *c = (float)cos((double)t * f);
    *s = (float)sin((double)t * f);
}

void lineage_row(const lineage *l, float t, const double *f, size_t half, float *out) {
    for (size_t k = 0; k < half; k++) {
        float c;
        float s;
        cosine_and_sine(l, t, f[k], &c, &s);
        switch (l->order) {
        case ORDER_COS_SIN:
            out[k] = c;
            out[half + k] = s;
            break;
        case ORDER_SIN_COS:
            out[k] = s;
            out[half + k] = c;
            break;
        case ORDER_INTERLEAVED:
            out[2 * k] = s;
            out[2 * k + 1] = c;
            break;
        case ORDER_PAIRS:
            out[2 * k] = c;
            out[2 * k + 1] = s;
            break;
        }
    }
}
