/* record_ex2.cu - derives the table of assay/cuda_math.h from this GPU, and checks the model against this
 * GPU.
 *
 * usage: record_ex2 TABLE_FILE [--sha256]
 * Measures ex2.approx.ftz.f32 on the 2^23 fractions, finds the coefficients of its 64 segments again and
 * writes them to TABLE_FILE in the form of cuda_ex2.inc; then compares the model with the device on all 2^32
 * inputs of expf, sinf, cosf and ex2. With --sha256 it also prints the digests that `assay model FUNCTION
 * --sha256` prints, of the device's answers. Exit status 0: table and answers are those of the model; 1:
 * something differs; 2: wrong use or no GPU.
 *
 * The device's side is compiled with the default flags: no fast math, no flush to zero. */
#define ASSAY_CUDA_MATH_FN    static __device__ inline
#define ASSAY_CUDA_MATH_TABLE static __constant__ const
#include "assay/cuda_math.h"

#include "ex2_fit.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sodium.h>

#ifdef __FAST_MATH__
#error "record_ex2 speaks for the default flags"
#endif

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t status_ = (call);                                                                        \
        if (status_ != cudaSuccess) {                                                                        \
            fprintf(stderr, "record_ex2: %s: %s\n", #call, cudaGetErrorString(status_));                     \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { EXPF, SINF, COSF, EX2F, FUNCTIONS, CHUNK = 65536, BATCH = 1 << 26, EXAMPLES = 8 };
static const char *const names[FUNCTIONS] = {"expf", "sinf", "cosf", "ex2f"};
/* What the model is made of. */
static const int32_t committed[64][3] = {
#include "assay/cuda_ex2.inc"
};

/* What the comparison of one function found. `chunks` are sums over 65536 inputs each, as in
 * test_cuda_functions.c. */
struct found {
    unsigned long long differing;
    uint32_t examples[EXAMPLES][3]; /* input, device, model */
    unsigned long long chunks[CHUNK];
};

__device__ static float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

template <int F> __device__ static float device_answer(float x) {
    return F == EXPF ? expf(x) : F == SINF ? sinf(x) : F == COSF ? cosf(x) : ex2(x);
}

template <int F> __device__ static float model_answer(float x) {
    return F == EXPF   ? assay_cuda_expf(x)
           : F == SINF ? assay_cuda_sinf(x)
           : F == COSF ? assay_cuda_cosf(x)
                       : assay_cuda_ex2f(x);
}

__device__ static uint64_t mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

__global__ void measure(uint32_t *y, uint32_t *square) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23; i += gridDim.x * blockDim.x) {
        y[i] = __float_as_uint(ex2((float)i * 0x1p-23f));
        if (i < EX2_FIT_POINTS) {
            square[i] = assay_cuda_ex2_square(i);
        }
    }
}

template <int F> __global__ void compare(found *f) {
    __shared__ unsigned long long total;
    if (threadIdx.x == 0) {
        total = 0;
    }
    __syncthreads();
    unsigned long long sum = 0;
    for (uint32_t i = threadIdx.x; i < CHUNK; i += blockDim.x) {
        const uint32_t x = blockIdx.x << 16 | i;
        const uint32_t got = __float_as_uint(device_answer<F>(__uint_as_float(x)));
        const uint32_t modelled = __float_as_uint(model_answer<F>(__uint_as_float(x)));
        sum += mix((uint64_t)x << 32 | got);
        if (got != modelled) {
            const unsigned long long at = atomicAdd(&f->differing, 1ull);
            if (at < EXAMPLES) {
                f->examples[at][0] = x;
                f->examples[at][1] = got;
                f->examples[at][2] = modelled;
            }
        }
    }
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) {
        f->chunks[blockIdx.x] = total;
    }
}

template <int F> __global__ void answers(uint32_t first, uint32_t *y) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < BATCH; i += gridDim.x * blockDim.x) {
        y[i] = __float_as_uint(device_answer<F>(__uint_as_float(first + i)));
    }
}

/* Writes the coefficients; returns how many segments are not those of the model. */
static int record(const char *path) {
    uint32_t *y;
    uint32_t *square;
    CHECK(cudaMallocManaged(&y, sizeof *y << 23));
    CHECK(cudaMallocManaged(&square, sizeof *square * EX2_FIT_POINTS));
    measure<<<1024, 256>>>(y, square);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    int wrong = 0;
    for (int s = 0; s < 64; s++) {
        uint32_t *segment = y + (size_t)s * EX2_FIT_POINTS;
        int32_t c[3] = {0, 0, 0};
        bool fits = true;
        for (int u = 0; u < EX2_FIT_POINTS; u++) {
            fits = fits && segment[u] >> 23 == 127;
            segment[u] &= 0x7fffffu;
        }
        fits = fits && ex2_fit_segment(segment, square, s, c);
        if (!fits) {
            printf("segment %d: no coefficients fit\n", s);
        }
        wrong += !fits || memcmp(c, committed[s], sizeof c) != 0;
        fprintf(file, "{%d, %d, %d},\n", c[0], c[1], c[2]);
    }
    if (fclose(file) != 0) {
        perror(path);
        exit(2);
    }
    CHECK(cudaFree(y));
    CHECK(cudaFree(square));
    printf("ex2: %d of 64 segments differ from the model's\n", wrong);
    return wrong;
}

template <int F> static unsigned long long check(bool sha256) {
    found *f;
    CHECK(cudaMallocManaged(&f, sizeof *f));
    memset(f, 0, sizeof *f);
    compare<F><<<CHUNK, 256>>>(f);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    unsigned long long sum = 0;
    for (int c = 0; c < CHUNK; c++) {
        sum += f->chunks[c];
    }
    const unsigned long long differing = f->differing;
    printf("%s: %llu of 4294967296 inputs differ, sum %016llx\n", names[F], differing, sum);
    for (unsigned long long e = 0; e < differing && e < EXAMPLES; e++) {
        printf("  %08x -> %08x, model %08x\n", f->examples[e][0], f->examples[e][1], f->examples[e][2]);
    }
    CHECK(cudaFree(f));
    if (sha256) {
        crypto_hash_sha256_state state;
        unsigned char hash[crypto_hash_sha256_BYTES];
        uint32_t *y;
        uint32_t *host = (uint32_t *)malloc(sizeof *host * BATCH);
        if (host == NULL) {
            fprintf(stderr, "record_ex2: out of memory\n");
            exit(2);
        }
        CHECK(cudaMalloc(&y, sizeof *y * BATCH));
        crypto_hash_sha256_init(&state);
        for (uint64_t at = 0; at < 1ull << 32; at += BATCH) {
            answers<F><<<2048, 256>>>((uint32_t)at, y);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(host, y, sizeof *y * BATCH, cudaMemcpyDeviceToHost));
            crypto_hash_sha256_update(&state, (const unsigned char *)host, sizeof *host * BATCH);
        }
        crypto_hash_sha256_final(&state, hash);
        for (size_t i = 0; i < sizeof hash; i++) {
            printf("%02x", hash[i]);
        }
        printf("  %s\n", names[F]);
        CHECK(cudaFree(y));
        free(host);
    }
    fflush(stdout);
    return differing;
}

int main(int argc, char **argv) {
    const bool sha256 = argc == 3 && strcmp(argv[2], "--sha256") == 0;
    if (argc < 2 || (argc > 2 && !sha256) || argv[1][0] == '-') {
        fprintf(stderr, "usage: record_ex2 TABLE_FILE [--sha256]\n");
        return 2;
    }
    cudaDeviceProp p;
    int driver = 0;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDriverGetVersion(&driver));
    printf("%s sm_%d%d, driver for CUDA %d.%d, compiled with %d.%d\n", p.name, p.major, p.minor,
           driver / 1000, driver % 1000 / 10, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    const int segments = record(argv[1]);
    unsigned long long differing = check<EXPF>(sha256);
    differing += check<SINF>(sha256);
    differing += check<COSF>(sha256);
    differing += check<EX2F>(false);
    return segments != 0 || differing != 0 ? 1 : 0;
}
