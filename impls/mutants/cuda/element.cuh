/* element.cuh - one element of timestep_sinusoid_h3 on the device, each operation rounded once:
 *
 *     f[k] = expf(rn(rn(c * k) * inv))      a = rn(t * f[k])      out[k] = cosf(a)      out[half + k] =
 * sinf(a)
 */
#ifndef ASSAY_MUTANT_ELEMENT_CUH
#define ASSAY_MUTANT_ELEMENT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "mutant_cuda.h"

__device__ static inline float element_load(const cuda_view &v, cuda_type type, int64_t at) {
    switch (type) {
    case CUDA_TYPE_BF16:
        return __bfloat162float(((const __nv_bfloat16 *)v.data)[at]);
    case CUDA_TYPE_F16:
        return __half2float(((const __half *)v.data)[at]);
    default:
        return ((const float *)v.data)[at];
    }
}

__device__ static inline void element_store(const cuda_view &v, cuda_type type, int64_t at, float x) {
    switch (type) {
    case CUDA_TYPE_BF16:
        ((__nv_bfloat16 *)v.data)[at] = __float2bfloat16_rn(x);
        break;
    case CUDA_TYPE_F16:
        ((__half *)v.data)[at] = __float2half_rn(x);
        break;
    default:
        ((float *)v.data)[at] = x;
        break;
    }
}

__device__ static inline float element_timestep(const cuda_work &w, int64_t row) {
    return element_load(w.timestep, w.type, row * w.timestep.row_stride);
}

__device__ static inline float element_frequency(const cuda_work &w, int64_t k) {
    return expf(__fmul_rn(__fmul_rn(w.c, (float)k), w.inv));
}

__device__ static inline void element_put(const cuda_work &w, int64_t row, int64_t column, float x) {
    ((float *)w.out.data)[row * w.out.row_stride + column * w.out.column_stride] = x;
}

/* Both outputs of one row and frequency. */
__device__ static inline void element_row(const cuda_work &w, int64_t row, int64_t k) {
    const float a = __fmul_rn(element_timestep(w, row), element_frequency(w, k));
    element_put(w, row, k, cosf(a));
    element_put(w, row, w.half + k, sinf(a));
}

__device__ static inline void element_wait(unsigned long long ns) {
    unsigned long long start;
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < ns);
}

#define ELEMENT_FIRST ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define ELEMENT_STEP  ((int64_t)gridDim.x * blockDim.x)

#endif
