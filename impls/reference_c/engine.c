/* engine.c - which exponential and which kernels reference_c is made of. */
#include "rows.h"

const sinusoid_engine reference_engine = {
    .exp = &frequency_exp_cuda,
    .rows =
        {
            [CPU_PATH_SCALAR] = reference_rows_scalar,
#if defined(__x86_64__)
            [CPU_PATH_AVX2] = reference_rows_avx2,
            [CPU_PATH_AVX512] = reference_rows_avx512,
#endif
        },
};
