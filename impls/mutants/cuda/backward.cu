/* backward.cu - the gradient of the timestep with the promised tree, and its faults:
 *
 *     p[k]        = -(g[k] * y[half + k]) * f[k]           y is the saved output: cosines, then sines
 *     p[half + k] =  (g[half + k] * y[k]) * f[k]
 *     pad p with +0 to a power of two n;  while n > 1:  n = n/2, p[i] = p[i] + p[i + n] for i < n
 */
#include "element.cuh"

#define THREADS     128
#define MOST_PADDED 8192
#define SKEW_NS     100000ull

__device__ static inline float at(const cuda_view &v, int64_t row, int64_t column) {
    return ((const float *)v.data)[row * v.row_stride + column * v.column_stride];
}

__device__ static inline float product(const cuda_work &w, int64_t row, int64_t i) {
    if (i < w.half) {
        return __fmul_rn(-__fmul_rn(at(w.upstream, row, i), at(w.saved, row, w.half + i)),
                         element_frequency(w, i));
    }
    return i >= 2 * w.half ? 0.0f
                           : __fmul_rn(__fmul_rn(at(w.upstream, row, i), at(w.saved, row, i - w.half)),
                                       element_frequency(w, i - w.half));
}

/* The first sum of the tree as one fused operation. */
__device__ static inline float fused(const cuda_work &w, int64_t row, int64_t i) {
    const float p = product(w, row, i);
    return __fmaf_rn(__fmul_rn(at(w.upstream, row, w.half + i), at(w.saved, row, i)), element_frequency(w, i),
                     p);
}

__global__ void tree(const cuda_work w, int padded, int fault) {
    extern __shared__ float p[];
    const int me = (int)threadIdx.x;
    for (int64_t row = blockIdx.x; row < w.rows; row += gridDim.x) {
        if (fault == C_grad_race && me >= 32) {
            element_wait(SKEW_NS);
        }
        for (int i = me; i < padded; i += THREADS) {
            p[i] = product(w, row, i);
        }
        if (fault == C_grad_race_lucky) {
            element_wait(SKEW_NS);
        } else if (fault != C_grad_race) {
            __syncthreads();
        }
        for (int n = padded / 2; n > 0; n /= 2) {
            for (int i = me; i < n; i += THREADS) {
                p[i] = fault == C_grad_fma && n == w.half ? fused(w, row, i) : __fadd_rn(p[i], p[i + n]);
            }
            __syncthreads();
        }
        if (me == 0) {
            element_store(w.grad, w.type, row * w.grad.row_stride, p[0]);
        }
        __syncthreads();
    }
}

/* In the order in which the threads come. */
__global__ void by_atomics(const cuda_work w) {
    __shared__ float sum;
    for (int64_t row = blockIdx.x; row < w.rows; row += gridDim.x) {
        if (threadIdx.x == 0) {
            sum = 0.0f;
        }
        __syncthreads();
        for (int64_t i = threadIdx.x; i < 2 * w.half; i += THREADS) {
            atomicAdd(&sum, product(w, row, i));
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            element_store(w.grad, w.type, row * w.grad.row_stride, sum);
        }
        __syncthreads();
    }
}

cudaError_t mutant_backward(const cuda_work *work, mutant_fault fault) {
    const cuda_work &w = *work;
    const unsigned blocks = (unsigned)(w.rows > 65536 ? 65536 : w.rows);
    int padded = 1;
    while (padded < 2 * w.half && padded <= MOST_PADDED) {
        padded *= 2;
    }
    if (padded > MOST_PADDED) {
        return cudaErrorNotSupported;
    }
    if (fault == C_grad_atomics) {
        by_atomics<<<blocks, THREADS, 0, w.stream>>>(w);
    } else {
        tree<<<blocks, THREADS, (size_t)padded * sizeof(float), w.stream>>>(w, padded, (int)fault);
    }
    return cudaGetLastError();
}
