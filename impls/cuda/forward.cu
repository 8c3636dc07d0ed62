/* forward.cu - out[r][k] = cosf(t[r] * f[k]), out[r][half + k] = sinf(t[r] * f[k]), the cosine half first.
 *
 * A thread owns four neighbouring channels k, keeps their frequencies in registers and walks over rows,
 * several at a time, so that the exponentials are paid once and stores of 16 bytes are in flight back to
 * back. Other widths and alignments take one element per thread and step. All indices are 64 bits wide. */
#include "device_math.cuh"

#if !defined(ASSAY_EXACT_MATH) && !defined(ASSAY_FAST_MATH_BUILD)
#error "ASSAY_EXACT_MATH is not defined: the compiler options were not found to be exact"
#endif

#include <atomic>

#define MAX_GRID 2147483647LL
#define FEW_ROWS (1 << 20)
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

/* A kernel of few rows starts while its predecessor on the stream still runs: it computes its frequencies,
 * which depend on no memory, and waits for the predecessor's results before it touches any. Both are no-ops
 * in a kernel that was launched the ordinary way. Code for sm_80 has neither, see launch_with. */
__device__ static inline void release_successor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ static inline void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Few rows stay in the cache, for whoever reads them next; many only pass through. */
template <bool STREAMING> static __device__ inline void put(float *to, float4 v) {
    if (STREAMING) {
        __stcs((float4 *)to, v);
    } else {
        *(float4 *)to = v;
    }
}

template <typename T, int ROWS, bool EARLY_START>
__global__ void forward_vector(const T *timestep, int64_t stride, int64_t rows, int half, float c, float inv,
                               float *__restrict__ out, int64_t row_stride) {
    const int k = 4 * (int)(blockIdx.y * blockDim.x + threadIdx.x);
    if (k >= half) {
        return;
    }
    float f[4];
    float largest = 0.0f;
    if (EARLY_START) {
        release_successor();
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        f[i] = frequency(k + i, c, inv);
        largest = fmaxf(largest, f[i]);
    }
    if (EARLY_START) {
        wait_for_predecessor();
    }
    const int64_t step = (int64_t)gridDim.x * blockDim.y;
    float *const cosines = out + k;
    float *const sines = out + half + k;
    for (int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; r < rows; r += ROWS * step) {
        float t[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int64_t row = r + i * step;
            const T *const at = timestep + row * stride;
            t[i] = row >= rows ? 0.0f : EARLY_START ? load_written(at) : load(at);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int64_t row = r + i * step;
            float4 cosine;
            float4 sine;
            row4(t[i], f, largest, &cosine, &sine);
            if (row < rows) {
                put<!EARLY_START>(cosines + row * row_stride, cosine);
                put<!EARLY_START>(sines + row * row_stride, sine);
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
/* One pair per thread: for few rows, where a call is little more than a launch. */
template <typename T>
__global__ void forward_few(const T *timestep, int64_t stride, int rows, int half, float c, float inv,
                            float *__restrict__ out, int64_t row_stride) {
    const int k = (int)(blockIdx.y * blockDim.x + threadIdx.x);
    const int row = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    release_successor();
    const float f = frequency(k, c, inv);
    wait_for_predecessor();
    if (k >= half || row >= rows) {
        return;
    }
    const float a = __fmul_rn(load_written(timestep + row * stride), f);
    float *const at = out + row * row_stride + k;
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
#endif

/* What the kernels need to know of the current device, asked once. */
struct device_facts {
    int multiprocessors;
    bool early; /* the kernels that run here have the instructions of an early start */
};

static device_facts facts() {
    static std::atomic<int> known[64]; /* 2 * multiprocessors + early, 0 until asked */
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= 64) {
        return {1, false};
    }
    if (known[device] == 0) {
        int driver = 0;
        int multiprocessors = 0;
        cudaFuncAttributes attributes = {};
        (void)cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        /* Before 12.4 a graph could not hold such a launch. */
        const bool early =
            cudaFuncGetAttributes(&attributes, forward_vector<float, 1, true>) == cudaSuccess &&
            attributes.ptxVersion >= 90 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12040;
        known[device] = 2 * (multiprocessors > 0 ? multiprocessors : 1) + early;
    }
    return {known[device] / 2, known[device] % 2 != 0};
}

template <typename... P, typename... A>
static cudaError_t launch_with(void (*kernel)(P...), bool early, dim3 grid, dim3 block, cudaStream_t stream,
                               A... args) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early && facts().early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, (P)args...);
}

#ifdef ASSAY_EXACT_MATH
template <typename T> static cudaError_t launch_few(const cuda_work &w, int rows_a_block) {
    const unsigned threads = w.half > 96 ? 128 : w.half > 32 ? 64 : 32;
    const dim3 block(threads, (unsigned)rows_a_block);
    const dim3 grid((unsigned)((w.rows + rows_a_block - 1) / rows_a_block),
                    (unsigned)((w.half + threads - 1) / threads));
    return launch_with(forward_few<T>, true, grid, block, w.stream, (const T *)w.timestep.data,
                       w.timestep.row_stride, (int)w.rows, (int)w.half, w.c, w.inv, (float *)w.out.data,
                       w.out.row_stride);
}
#endif

/* The fastest of bench_cuda --tune on an H200. With many rows, an early start is for nothing and its wait in
 * the way. */
static cuda_tuning choose(int64_t rows) {
    return rows <= 128     ? cuda_tuning{CUDA_WAY_PAIR, 1, 0}
           : rows <= 512   ? cuda_tuning{CUDA_WAY_PAIR, 2, 0}
           : rows <= 2048  ? cuda_tuning{CUDA_WAY_PAIR, 4, 0}
           : rows <= 16384 ? cuda_tuning{CUDA_WAY_EARLY, 1, 8}
                           : cuda_tuning{CUDA_WAY_MANY, 4, 1};
}

template <typename T> static cudaError_t launch_vector(const cuda_work &w, cuda_tuning choice) {
    const bool early = choice.way == CUDA_WAY_EARLY;
    const int64_t groups = w.half / 4;
    unsigned x = 1;
    while (x < 32 && x < groups) {
        x *= 2;
    }
    const dim3 block(x, (unsigned)(choice.warps * 32) / x);
    const int64_t a_block = (int64_t)block.y * choice.rows;
    const int64_t blocks = (w.rows + a_block - 1) / a_block;
    const dim3 grid((unsigned)(blocks > MAX_GRID ? MAX_GRID : blocks), (unsigned)((groups + x - 1) / x));
    const auto kernel = early              ? forward_vector<T, 1, true>
                        : choice.rows == 2 ? forward_vector<T, 2, false>
                        : choice.rows == 8 ? forward_vector<T, 8, false>
                                           : forward_vector<T, 4, false>;
    return launch_with(kernel, early, grid, block, w.stream, (const T *)w.timestep.data,
                       w.timestep.row_stride, w.rows, (int)w.half, w.c, w.inv, (float *)w.out.data,
                       w.out.row_stride);
}

template <typename T> static cudaError_t launch(const cuda_work &w, const cuda_tuning *wanted) {
    const bool told = wanted != nullptr && wanted->way != CUDA_WAY_CHOSEN;
    const cuda_tuning choice = told ? *wanted : choose(w.rows);
#ifdef ASSAY_EXACT_MATH
    if (choice.way == CUDA_WAY_PAIR && w.rows <= FEW_ROWS && w.half <= FEW_HALF) {
        return launch_few<T>(w, choice.rows);
    }
#endif
    const bool aligned = (uintptr_t)w.out.data % 16 == 0 && w.half % 4 == 0 && w.out.row_stride % 4 == 0 &&
                         w.half / 4 <= 32 * 65535LL;
    if (aligned) {
        return launch_vector<T>(w, choice.way == CUDA_WAY_PAIR ? cuda_tuning{CUDA_WAY_EARLY, 1, 4} : choice);
    }
    int64_t blocks = (w.rows * w.half + 255) / 256;
    const int64_t most = (int64_t)facts().multiprocessors * 64;
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
    const cudaError_t status = cudaFuncGetAttributes(&attributes, forward_vector<float, 4, false>);
    if (status == cudaSuccess) {
        *binary = attributes.binaryVersion;
        *ptx = attributes.ptxVersion;
    }
    return status;
}
