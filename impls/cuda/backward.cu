/* backward.cu - the gradient of the timestep, a sum over the channels of one row in a fixed order, every
 * operation rounded to FP32 on its own:
 *
 *     p[k]        = -(g[k] * y[half + k]) * f[k]           y is the saved output: cosines, then sines
 *     p[half + k] =  (g[half + k] * y[k]) * f[k]
 *     pad p with +0 to a power of two n;  while n > 1:  n = n/2, p[i] = p[i] + p[i + n] for i < n
 *
 * No atomics: a row belongs to one warp (width 256) or to one block (any width). */
#include "device_math.cuh"

#if !defined(ASSAY_EXACT_MATH) && !defined(ASSAY_FAST_MATH_BUILD)
#error "ASSAY_EXACT_MATH is not defined: the compiler options were not found to be exact"
#endif

__device__ static inline float cos_part(float g, float sine, float f) {
    return __fmul_rn(-__fmul_rn(g, sine), f);
}
__device__ static inline float sin_part(float g, float cosine, float f) {
    return __fmul_rn(__fmul_rn(g, cosine), f);
}

/* Width 256: lane l holds k = 4l .. 4l+3. The level 256 -> 128 pairs the two halves, which lie in the same
 * lane; 128 -> 4 pairs lanes 16, 8, 4, 2, 1 apart; the last two levels are inside a lane. Addition commutes,
 * so both lanes of a pair may form the sum. */
template <typename T>
__global__ void backward_256(const float *__restrict__ upstream, int64_t upstream_stride,
                             const float *__restrict__ saved, int64_t saved_stride, int64_t rows, float c,
                             float inv, T *__restrict__ grad, int64_t grad_stride) {
    const int lane = (int)threadIdx.x & 31;
    const int64_t warp = (int64_t)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    const int64_t step = (int64_t)gridDim.x * (blockDim.x >> 5);
    float f[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        f[i] = frequency(4 * lane + i, c, inv);
    }
    for (int64_t row = warp; row < rows; row += step) {
        const float4 *const g = (const float4 *)(upstream + row * upstream_stride);
        const float4 *const y = (const float4 *)(saved + row * saved_stride);
        const float4 g_cos = __ldcs(g + lane);
        const float4 g_sin = __ldcs(g + 32 + lane);
        const float4 cosine = __ldcs(y + lane);
        const float4 sine = __ldcs(y + 32 + lane);
        float p[4] = {__fadd_rn(cos_part(g_cos.x, sine.x, f[0]), sin_part(g_sin.x, cosine.x, f[0])),
                      __fadd_rn(cos_part(g_cos.y, sine.y, f[1]), sin_part(g_sin.y, cosine.y, f[1])),
                      __fadd_rn(cos_part(g_cos.z, sine.z, f[2]), sin_part(g_sin.z, cosine.z, f[2])),
                      __fadd_rn(cos_part(g_cos.w, sine.w, f[3]), sin_part(g_sin.w, cosine.w, f[3]))};
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                p[i] = __fadd_rn(p[i], __shfl_xor_sync(0xffffffffu, p[i], apart));
            }
        }
        if (lane == 0) {
            store(grad + row * grad_stride, __fadd_rn(__fadd_rn(p[0], p[2]), __fadd_rn(p[1], p[3])));
        }
    }
}

#define THREADS 256

/* Any width. The levels from n down to 2 * THREADS pair elements with the same remainder modulo THREADS, so
 * thread j first folds its own elements j + THREADS * m: the tree of an even count is the tree of the even m
 * plus the tree of the odd m, hence leaves in bit-reversed order and a stack. The rest is a tree in shared
 * memory. */
template <typename T>
__global__ void backward_any(cuda_view upstream, cuda_view saved, int64_t rows, int64_t half, int64_t padded,
                             int levels, float c, float inv, T *__restrict__ grad, int64_t grad_stride) {
    __shared__ float part[THREADS];
    const float *const g = (const float *)upstream.data;
    const float *const y = (const float *)saved.data;
    const int64_t per_thread = padded > THREADS ? padded / THREADS : 1;
    const int width = padded > THREADS ? THREADS : (int)padded;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *const g_row = g + row * upstream.row_stride;
        const float *const y_row = y + row * saved.row_stride;
        float stack[64];
        int top = 0;
        for (int64_t n = 0; n < per_thread; n++) {
            const int64_t m = levels == 0 ? 0 : (int64_t)(__brevll((unsigned long long)n) >> (64 - levels));
            const int64_t i = (int64_t)threadIdx.x + THREADS * m;
            float value = 0.0f;
            if (i < half) {
                value = cos_part(g_row[i * upstream.column_stride], y_row[(half + i) * saved.column_stride],
                                 frequency(i, c, inv));
            } else if (i < 2 * half) {
                value = sin_part(g_row[i * upstream.column_stride], y_row[(i - half) * saved.column_stride],
                                 frequency(i - half, c, inv));
            }
            for (int64_t bit = n; (bit & 1) != 0; bit >>= 1) {
                value = __fadd_rn(stack[--top], value);
            }
            stack[top++] = value;
        }
        __syncthreads();
        part[threadIdx.x] = stack[0];
        __syncthreads();
        for (int level = width / 2; level > 0; level /= 2) {
            if ((int)threadIdx.x < level) {
                part[threadIdx.x] = __fadd_rn(part[threadIdx.x], part[threadIdx.x + level]);
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            store(grad + row * grad_stride, part[0]);
        }
    }
}

static bool aligned(const cuda_view &v) {
    return (uintptr_t)v.data % 16 == 0 && v.row_stride % 4 == 0 && v.column_stride == 1;
}

template <typename T> static cudaError_t launch(const cuda_work &w) {
    T *grad = (T *)w.grad.data;
    if (w.half == 128 && aligned(w.upstream) && aligned(w.saved)) {
        const int64_t blocks = (w.rows + 7) / 8;
        backward_256<T><<<(unsigned)(blocks > 16384 ? 16384 : blocks), 256, 0, w.stream>>>(
            (const float *)w.upstream.data, w.upstream.row_stride, (const float *)w.saved.data,
            w.saved.row_stride, w.rows, w.c, w.inv, grad, w.grad.row_stride);
        return cudaGetLastError();
    }
    int64_t padded = 1;
    int levels = 0;
    while (padded < 2 * w.half) {
        padded *= 2;
    }
    while (((int64_t)THREADS << levels) < padded) {
        levels++;
    }
    backward_any<T><<<(unsigned)(w.rows > 65536 ? 65536 : w.rows), THREADS, 0, w.stream>>>(
        w.upstream, w.saved, w.rows, w.half, padded, levels, w.c, w.inv, grad, w.grad.row_stride);
    return cudaGetLastError();
}

cudaError_t cuda_backward(const cuda_work *work) {
    const cuda_work &w = *work;
    switch (w.type) {
    case CUDA_TYPE_BF16:
        return launch<__nv_bfloat16>(w);
    case CUDA_TYPE_F16:
        return launch<__half>(w);
    case CUDA_TYPE_F32:
        break;
    }
    return launch<float>(w);
}
