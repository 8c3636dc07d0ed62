/* range.cu - the range check: every timestep finite and in [0, 1], or -0.0. By bits, so that no compiler
 * option changes the answer. */
#include "device_math.cuh"

template <typename T>
__global__ void range(const T *__restrict__ timestep, int64_t stride, int64_t rows,
                      volatile unsigned long long *bad) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += step) {
        const uint32_t bits = __float_as_uint(load(timestep + i * stride));
        if (bits > 0x3f800000u && bits != 0x80000000u) {
            *bad = (unsigned long long)i; /* any of the bad ones will do */
        }
    }
}

template <typename T> static cudaError_t launch(const cuda_work &w, unsigned long long *bad) {
    const int64_t blocks = (w.rows + 255) / 256;
    range<T><<<(unsigned)(blocks > 4096 ? 4096 : blocks), 256, 0, w.stream>>>(
        (const T *)w.timestep.data, w.timestep.row_stride, w.rows, bad);
    return cudaGetLastError();
}

cudaError_t cuda_range(const cuda_work *work, unsigned long long *bad) {
    const cuda_work &w = *work;
    switch (w.type) {
    case CUDA_TYPE_BF16:
        return launch<__nv_bfloat16>(w, bad);
    case CUDA_TYPE_F16:
        return launch<__half>(w, bad);
    case CUDA_TYPE_F32:
        break;
    }
    return launch<float>(w, bad);
}
