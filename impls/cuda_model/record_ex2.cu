/* record_ex2.cu - writes down what ex2.approx.ftz.f32 answers on this GPU, and checks on all 2^32 inputs how the
 * answer depends on the argument.
 *
 * For x = n + i/2^23 with an integer n and 0 <= i < 2^23 (floor), the answer is expected to be 2^n * T[i], where
 * T[i] in [1, 2) is the answer for i/2^23. Usage: record_ex2 TABLE_FILE; the file gets the 2^23 low 23-bit
 * significands of T, three bytes each, little-endian. Built with: nvcc -O2 -arch=native record_ex2.cu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t status_ = (call);                                                                        \
        if (status_ != cudaSuccess) {                                                                        \
            fprintf(stderr, "record_ex2: %s: %s\n", #call, cudaGetErrorString(status_));                     \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static const uint32_t ENTRIES = 1u << 23;
static const int RULES = 4;

__device__ static float ex2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__global__ void fill(uint32_t *table) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < ENTRIES; i += gridDim.x * blockDim.x) {
        table[i] = __float_as_uint(ex2((float)i * 0x1p-23f));
    }
}

/* 2^n * T[i] with results below 2^-126 flushed; NaN, infinities and subnormal inputs as the instruction does. */
__device__ static uint32_t predict(const uint32_t *table, uint32_t bits, int rule) {
    const float x = __uint_as_float(bits);
    if (x != x) {
        return 0x7fffffffu;
    }
    if (x >= 128.0f) {
        return 0x7f800000u;
    }
    if (x < -200.0f) {
        return 0u;
    }
    if (fabsf(x) < 0x1p-126f) {
        return 0x3f800000u;
    }
    const double scaled = (double)x * 8388608.0;
    double fixed = rule == 0 ? floor(scaled) : rule == 1 ? trunc(scaled) : rule == 2 ? rint(scaled) : ceil(scaled);
    const int64_t whole = (int64_t)fixed;
    const int64_t n = whole >> 23;
    const uint32_t t = table[whole & (ENTRIES - 1)];
    const int64_t exponent = (int64_t)(t >> 23) + n;
    if (exponent >= 255) {
        return 0x7f800000u;
    }
    if (exponent <= 0) {
        return 0u;
    }
    return (uint32_t)exponent << 23 | (t & 0x7fffffu);
}

__global__ void verify(const uint32_t *table, unsigned long long *wrong, uint32_t *examples) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (1ull << 32); i += step) {
        const uint32_t got = __float_as_uint(ex2(__uint_as_float((uint32_t)i)));
        for (int rule = 0; rule < RULES; rule++) {
            if (predict(table, (uint32_t)i, rule) != got) {
                const unsigned long long at = atomicAdd(&wrong[rule], 1ull);
                if (at < 24) {
                    examples[(rule * 24 + at) * 2] = (uint32_t)i;
                    examples[(rule * 24 + at) * 2 + 1] = got;
                }
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: record_ex2 TABLE_FILE\n");
        return 2;
    }
    uint32_t *table;
    uint32_t *examples;
    unsigned long long *wrong;
    CHECK(cudaMallocManaged(&table, ENTRIES * sizeof *table));
    CHECK(cudaMallocManaged(&examples, RULES * 48 * sizeof *examples));
    CHECK(cudaMallocManaged(&wrong, RULES * sizeof *wrong));
    memset(wrong, 0, RULES * sizeof *wrong);
    fill<<<1024, 256>>>(table);
    verify<<<2048, 256>>>(table, wrong, examples);
    CHECK(cudaDeviceSynchronize());
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%s sm_%d%d\n", p.name, p.major, p.minor);
    static const char *const rules[] = {"floor", "truncate", "nearest", "ceiling"};
    for (int rule = 0; rule < RULES; rule++) {
        printf("rule %s: %llu of 4294967296 inputs differ\n", rules[rule], wrong[rule]);
        for (unsigned long long e = 0; e < wrong[rule] && e < 24; e++) {
            const uint32_t x = examples[(rule * 24 + e) * 2];
            float value;
            memcpy(&value, &x, sizeof value);
            printf("  %08x (%g) -> %08x, predicted otherwise\n", x, (double)value, examples[(rule * 24 + e) * 2 + 1]);
        }
    }
    FILE *f = fopen(argv[1], "wb");
    if (f == NULL) {
        perror(argv[1]);
        return 1;
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint32_t t = table[i];
        if (t >> 23 != 127) {
            printf("entry %u is %08x, outside [1, 2)\n", i, t);
        }
        const unsigned char b[3] = {(unsigned char)t, (unsigned char)(t >> 8), (unsigned char)(t >> 16 & 0x7f)};
        if (fwrite(b, 1, 3, f) != 3) {
            perror(argv[1]);
            return 1;
        }
    }
    return fclose(f) == 0 ? 0 : 1;
}
