/* forward.cu - out[r][k] = cosf(t[r] * f[k]), out[r][half + k] = sinf(t[r] * f[k]), the cosine half first.
 *
 * A thread owns four neighbouring channels k, keeps their frequencies in registers and walks over rows,
 * several at a time, so that the exponentials are paid once and stores of 16 bytes are in flight back to
 * back. Other widths and alignments take one element per thread and step. All indices are 64 bits wide. */
#include "device_math.cuh"

#if !defined(ASSAY_EXACT_MATH) && !defined(ASSAY_FAST_MATH_BUILD)
#error "ASSAY_EXACT_MATH is not defined: the compiler options were not found to be exact"
#endif

#define MAX_GRID 2147483647LL
#define FEW_ROWS 256
#define FEW_HALF (1 << 20)

/* The four channels of one row. `largest` bounds their frequencies, so that one product bounds the arguments:
 * rounding is monotonic. */
__device__ static inline void row4(float t, const float f[4], float largest, float4 *cosine, float4 *sine) {
    float c[4];
    float s[4];
#ifdef ASSAY_EXACT_MATH
    const float most = fabsf(__fmul_rn(t, largest)); /* a NaN compares false */
    if (most < CUDA_NEAR) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sincos_near(__fmul_rn(t, f[i]), &s[i], &c[i]);
        }
    } else if (most < CUDA_FAR) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sincos_reduced(__fmul_rn(t, f[i]), &s[i], &c[i]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 both = sincos_far(__fmul_rn(t, f[i]));
            s[i] = both.x;
            c[i] = both.y;
        }
    }
#else
#pragma unroll
    for (int i = 0; i < 4; i++) {
        s[i] = sinf(t * f[i]);
        c[i] = cosf(t * f[i]);
    }
#endif
    *cosine = make_float4(c[0], c[1], c[2], c[3]);
    *sine = make_float4(s[0], s[1], s[2], s[3]);
}

/* How rows leave the chip: 0 streaming, 1 ordinary. */
template <int STORE> __device__ static inline void put(float *to, float4 v) {
    if (STORE == 0) {
        __stcs((float4 *)to, v);
    } else {
        *(float4 *)to = v;
    }
}

template <typename T, int ROWS, int STORE>
__global__ void forward_vector(const T *__restrict__ timestep, int64_t stride, int64_t rows, int half,
                               float c, float inv, float *__restrict__ out, int64_t row_stride) {
    const int k = 4 * (int)(blockIdx.y * blockDim.x + threadIdx.x);
    if (k >= half) {
        return;
    }
    float f[4];
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        f[i] = frequency(k + i, c, inv);
        largest = fmaxf(largest, f[i]);
    }
    const int64_t step = (int64_t)gridDim.x * blockDim.y;
    float *const cosines = out + k;
    float *const sines = out + half + k;
    for (int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; r < rows; r += ROWS * step) {
        float t[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int64_t row = r + i * step;
            t[i] = row < rows ? load(timestep + row * stride) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int64_t row = r + i * step;
            float4 cosine;
            float4 sine;
            row4(t[i], f, largest, &cosine, &sine);
            if (row < rows) {
                put<STORE>(cosines + row * row_stride, cosine);
                put<STORE>(sines + row * row_stride, sine);
            }
        }
    }
}

template <typename T>
__global__ void forward_scalar(const T *__restrict__ timestep, int64_t stride, int64_t rows, int64_t half,
                               float c, float inv, float *__restrict__ out, int64_t row_stride) {
    const int64_t total = rows * half;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
        const int64_t row = i / half;
        const int64_t k = i - row * half;
        const float a = __fmul_rn(load(timestep + row * stride), frequency(k, c, inv));
        out[row * row_stride + k] = cosf(a);
        out[row * row_stride + half + k] = sinf(a);
    }
}

#ifdef ASSAY_EXACT_MATH
/* One pair per thread, one row per block of the grid: for few rows, where a call is little more than a
 * launch. */
template <typename T>
__global__ void forward_few(const T *__restrict__ timestep, int64_t stride, int half, float c, float inv,
                            float *__restrict__ out, int64_t row_stride) {
    const int k = (int)(blockIdx.y * blockDim.x + threadIdx.x);
    if (k >= half) {
        return;
    }
    const float a = __fmul_rn(load(timestep + blockIdx.x * stride), frequency(k, c, inv));
    float *const at = out + blockIdx.x * row_stride + k;
    float sine;
    float cosine;
    if (fabsf(a) < CUDA_FAR) {
        sincos_reduced(a, &sine, &cosine);
    } else {
        const float2 both = sincos_far(a);
        sine = both.x;
        cosine = both.y;
    }
    at[0] = cosine;
    at[half] = sine;
}

template <typename T> static cudaError_t launch_few(const cuda_work &w) {
    const unsigned threads = w.half > 96 ? 128 : w.half > 32 ? 64 : 32;
    const dim3 grid((unsigned)w.rows, (unsigned)((w.half + threads - 1) / threads));
    forward_few<<<grid, threads, 0, w.stream>>>((const T *)w.timestep.data, w.timestep.row_stride,
                                                (int)w.half, w.c, w.inv, (float *)w.out.data,
                                                w.out.row_stride);
    return cudaGetLastError();
}
#endif

static int multiprocessors() {
    static int known[64];
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= 64) {
        return 1;
    }
    if (known[device] == 0) {
        int n = 0;
        (void)cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device);
        known[device] = n > 0 ? n : 1;
    }
    return known[device];
}

template <typename T, int STORE>
static void launch_rows(const cuda_work &w, int per_thread, dim3 grid, dim3 block) {
    const auto kernel = per_thread == 1   ? forward_vector<T, 1, STORE>
                        : per_thread == 2 ? forward_vector<T, 2, STORE>
                        : per_thread == 8 ? forward_vector<T, 8, STORE>
                                          : forward_vector<T, 4, STORE>;
    kernel<<<grid, block, 0, w.stream>>>((const T *)w.timestep.data, w.timestep.row_stride, w.rows,
                                         (int)w.half, w.c, w.inv, (float *)w.out.data, w.out.row_stride);
}

/* The fastest of bench_cuda --tune on an H200. Few rows stay in the cache, so they are stored there. */
static cuda_tuning choose(int64_t rows, const cuda_tuning *wanted) {
    if (wanted != nullptr && wanted->warps != 0) {
        return *wanted;
    }
    return rows <= 1024    ? cuda_tuning{1, 0, 4, 1, 1}
           : rows <= 16384 ? cuda_tuning{4, 0, 4, 1, 1}
                           : cuda_tuning{4, 0, 1, 0, 1};
}

template <typename T> static cudaError_t launch_vector(const cuda_work &w, const cuda_tuning *wanted) {
    const int64_t groups = w.half / 4;
    unsigned x = 1;
    while (x < 32 && x < groups) {
        x *= 2;
    }
    const cuda_tuning choice = choose(w.rows, wanted);
    const dim3 block(x, (unsigned)(choice.warps * 32) / x);
    const unsigned y = (unsigned)((groups + x - 1) / x);
    const int64_t most = ((int64_t)multiprocessors() * choice.blocks_per_sm + y - 1) / y;
    const int64_t a_block = (int64_t)block.y * choice.rows_per_thread;
    int64_t x_blocks = (w.rows + a_block - 1) / a_block;
    if (choice.all_blocks == 0 && x_blocks > most) {
        x_blocks = most;
    }
    x_blocks = x_blocks > MAX_GRID ? MAX_GRID : x_blocks;
    const dim3 grid((unsigned)x_blocks, y);
    if (choice.plain_stores != 0) {
        launch_rows<T, 1>(w, choice.rows_per_thread, grid, block);
    } else {
        launch_rows<T, 0>(w, choice.rows_per_thread, grid, block);
    }
    return cudaGetLastError();
}

template <typename T> static cudaError_t launch(const cuda_work &w, const cuda_tuning *wanted) {
#ifdef ASSAY_EXACT_MATH
    if (wanted == nullptr && w.rows <= FEW_ROWS && w.half <= FEW_HALF) {
        return launch_few<T>(w);
    }
#endif
    const bool aligned = (uintptr_t)w.out.data % 16 == 0 && w.half % 4 == 0 && w.out.row_stride % 4 == 0 &&
                         w.half / 4 <= 32 * 65535LL;
    if (aligned) {
        return launch_vector<T>(w, wanted);
    }
    int64_t blocks = (w.rows * w.half + 255) / 256;
    const int64_t most = (int64_t)multiprocessors() * 64;
    forward_scalar<T><<<(unsigned)(blocks > most ? most : blocks), 256, 0, w.stream>>>(
        (const T *)w.timestep.data, w.timestep.row_stride, w.rows, w.half, w.c, w.inv, (float *)w.out.data,
        w.out.row_stride);
    return cudaGetLastError();
}

cudaError_t cuda_forward(const cuda_work *work, const cuda_tuning *tuning) {
    const cuda_work &w = *work;
    switch (w.type) {
    case CUDA_TYPE_BF16:
        return launch<__nv_bfloat16>(w, tuning);
    case CUDA_TYPE_F16:
        return launch<__half>(w, tuning);
    case CUDA_TYPE_F32:
        break;
    }
    return launch<float>(w, tuning);
}

cudaError_t cuda_code_object(int *binary, int *ptx) {
    cudaFuncAttributes attributes;
    const cudaError_t status = cudaFuncGetAttributes(&attributes, forward_vector<float, 4, 0>);
    if (status == cudaSuccess) {
        *binary = attributes.binaryVersion;
        *ptx = attributes.ptxVersion;
    }
    return status;
}
