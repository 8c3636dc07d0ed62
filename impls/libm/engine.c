/* engine.c - which kernels libm uses. */
#include "engine.h"

const sinusoid_engine *libm_engine(void) {
    static const sinusoid_engine scalar = {.exp = &libm_exp, .rows = {[CPU_PATH_SCALAR] = libm_rows_scalar}};
    return &scalar;
}
