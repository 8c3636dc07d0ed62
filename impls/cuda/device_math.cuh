/* device_math.cuh - the FP32 steps of timestep_sinusoid_h3 on the device, each rounded once:
 *
 *     f[k] = expf(rn(rn(c * k) * inv))      a = rn(t * f[k])      cosf(a), sinf(a)
 *
 * expf, sinf and cosf are the CUDA library's precise functions. For |a| < pi/4 its sinf and cosf are two
 * polynomials (quadrant 0, no reduction), which are spelled here; the constants and the order were read from
 * the PTX of sinf and cosf (nvcc 13.0.88), and the bits equal the library's on every float. */
#ifndef ASSAY_IMPL_CUDA_DEVICE_MATH_CUH
#define ASSAY_IMPL_CUDA_DEVICE_MATH_CUH

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels.h"

/* The library rounds x * 2/pi to the quadrant; below this it is 0, with a margin. */
#define CUDA_NEAR 0x1.921fb0p-1f
/* From here on it reduces by 192 bits of 2/pi. */
#define CUDA_FAR 0x1.9c8f00p+16f

__device__ static inline float frequency(int64_t k, float c, float inv) {
    return expf(__fmul_rn(__fmul_rn(c, (float)k), inv));
}

#ifdef ASSAY_EXACT_MATH
/* Quadrant 0. A product fma(z, r, +0) instead of z * r keeps sin(-0) = -0. */
__device__ static inline void sincos_near(float r, float *sine, float *cosine) {
    const float z = __fmul_rn(r, r);
    const float even = __fmaf_rn(__fmaf_rn(-0x1.9a82a6p-13f, z, 0x1.110bc8p-7f), z, -0x1.555550p-3f);
    const float odd = __fmaf_rn(__fmaf_rn(__fmaf_rn(0x1.975800p-16f, z, -0x1.6c0fdap-10f), z, 0x1.555576p-5f),
                                z, -0x1.fffffep-2f);
    *sine = __fmaf_rn(even, __fmaf_rn(z, r, 0.0f), r);
    *cosine = __fmaf_rn(odd, z, 1.0f);
}

/* Any quadrant for |a| < CUDA_FAR, as the library reduces there, without a branch. Kept apart from the
 * library's functions because those carry the reduction of huge arguments with them: instructions that a
 * short kernel would have to fetch. */
__device__ static inline void sincos_reduced(float a, float *sine, float *cosine) {
    const int n = __float2int_rn(__fmul_rn(a, 0x1.45f306p-1f));
    const float q = (float)n;
    float r = __fmaf_rn(q, -0x1.921fb4p+0f, a);
    r = __fmaf_rn(q, -0x1.4442d0p-24f, r);
    r = __fmaf_rn(q, -0x1.84698ap-48f, r);
    float s;
    float c;
    sincos_near(r, &s, &c);
    const float first = n & 1 ? c : s;
    const float second = n & 1 ? s : c;
    *sine = n & 2 ? __fmaf_rn(first, -1.0f, 0.0f) : first;
    *cosine = (n + 1) & 2 ? __fmaf_rn(second, -1.0f, 0.0f) : second;
}
#endif

__device__ static __noinline__ float2 sincos_far(float a) {
    return make_float2(sinf(a), cosf(a));
}

__device__ static inline float load(const float *t) {
    return *t;
}
__device__ static inline float load(const __nv_bfloat16 *t) {
    return __bfloat162float(*t);
}
__device__ static inline float load(const __half *t) {
    return __half2float(*t);
}
/* From L2: another kernel may have written there while this one ran already. */
template <typename T> __device__ static inline float load_written(const T *t) {
    const T value = __ldcg(t);
    return load(&value);
}
__device__ static inline void store(float *to, float x) {
    *to = x;
}
__device__ static inline void store(__nv_bfloat16 *to, float x) {
    *to = __float2bfloat16_rn(x);
}
__device__ static inline void store(__half *to, float x) {
    *to = __float2half_rn(x);
}

#endif
