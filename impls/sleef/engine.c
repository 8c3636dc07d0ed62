/* engine.c - which exponential and which kernels sleef is made of. */
#include "rows.h"

#include "scalar.h"

static float sleef_expf(float x) {
    return sleef_scalar()->exponential(x);
}

static const frequency_exp sleef_exp = {.name = "sleef expf u10", .evaluate = sleef_expf};

const sinusoid_engine sleef_engine = {
    .exp = &sleef_exp,
    .rows =
        {
            [CPU_PATH_SCALAR] = sleef_rows_scalar,
#if defined(__x86_64__)
            [CPU_PATH_AVX2] = sleef_rows_avx2,
            [CPU_PATH_AVX512] = sleef_rows_avx512,
#endif
        },
};
