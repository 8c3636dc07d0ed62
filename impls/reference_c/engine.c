/* engine.c - which exponential and which kernels reference_c is made of. */
#include "rows.h"

const sinusoid_engine reference_engine = {
    .exp = &frequency_exp_rounded,
    .rows = {[CPU_PATH_SCALAR] = reference_rows_scalar},
};
