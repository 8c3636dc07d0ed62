/* lineage.h - a row of the table of lineages.h, as data. */
#ifndef ASSAY_LINEAGE_H
#define ASSAY_LINEAGE_H

#include "assay/adapter.h"
#include "lineages.h"

typedef enum lineage_exponent {
    EXPONENT_RECIPROCAL,
    EXPONENT_DIVIDE,
    EXPONENT_RATIO,
    EXPONENT_STEP,
    EXPONENT_STEP_FP32,
    EXPONENT_SHIFT1,
    EXPONENT_DIVIDE_SHIFT1,
    EXPONENT_STEP_SHIFT1,
    EXPONENT_LOGF,
    EXPONENT_POW,
    EXPONENT_FP64
} lineage_exponent;
typedef enum lineage_hop { HOP_NONE, HOP_TIMESTEP, HOP_FREQUENCY, HOP_PRODUCT, HOP_ARGUMENT } lineage_hop;
typedef enum lineage_scale { SCALE_NONE, SCALE_TIMESTEP, SCALE_PRODUCT, SCALE_SIGMA } lineage_scale;
typedef enum lineage_order { ORDER_COS_SIN, ORDER_SIN_COS, ORDER_INTERLEAVED, ORDER_PAIRS } lineage_order;
typedef enum lineage_math { MATH_CUDA, MATH_LIBM, MATH_ROUNDED, MATH_DOUBLE } lineage_math;

typedef struct lineage {
    const char *name, *text;
    lineage_exponent exponent;
    lineage_hop hop;
    lineage_scale scale;
    lineage_order order;
    lineage_math math;
} lineage;

/* lineage_<name>, one for each row. */
#define X(name, e, h, s, o, m, text) extern const lineage lineage_##name;
LINEAGE_LIST(X)
#undef X

extern const lineage *const lineage_current; /* subject.c: the row of this library */

/* adapter.c: the descriptor of lineage_current. */
const assay_adapter_info *lineage_adapter(void);

/* replay.c */
/* f[0..half) for a period that is finite and positive; half > 1 where the row divides by half-1. The element
 * type is double so that DOUBLE loses nothing; every other row stores FP32 values. */
void lineage_frequencies(const lineage *l, double max_period, size_t half, double *f);
/* One row of 2*half outputs. */
void lineage_row(const lineage *l, float t, const double *f, size_t half, float *out);
/* Divides by half-1, so that half 1 has no value. */
int lineage_shifts(const lineage *l);

#endif
