/* engine.c - which exponential and which kernels cuda_model is made of. */
#include "rows.h"

const sinusoid_engine model_engine = {
    .exp = &frequency_exp_cuda,
    .rows =
        {
            [CPU_PATH_SCALAR] = model_rows_scalar,
#if defined(__x86_64__)
            [CPU_PATH_AVX2] = model_rows_avx2,
#endif
        },
};
