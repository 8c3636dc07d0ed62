/* fill.cu - patterns, inputs and marks in device memory, and whether they are still there. */
#include "cuda_private.h"

#include <cstring>

#define BLOCKS 1024

/* The pattern as it stands at an address whose byte 0 has this phase. */
static uint32_t turned(uint32_t pattern, size_t phase) {
    const unsigned shift = 8u * (unsigned)(phase & 3);
    return shift == 0 ? pattern : pattern >> shift | pattern << (32 - shift);
}

__device__ static uint8_t byte_of(uint32_t word, size_t i) {
    return (uint8_t)(word >> (8 * (i & 3)));
}

/* `word` is the pattern at byte 0 of the address; 16 bytes at a time where the address allows. */
__global__ void fill_kernel(uint8_t *to, size_t bytes, uint32_t word) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t head = (16 - ((size_t)to & 15)) & 15;
    const size_t skip = head < bytes ? head : bytes;
    const size_t vectors = (bytes - skip) / 16;
    const unsigned shift = 8u * (unsigned)(skip & 3);
    const uint32_t w = shift == 0 ? word : word >> shift | word << (32 - shift);
    for (size_t i = first; i < vectors; i += step) {
        ((uint4 *)(to + skip))[i] = make_uint4(w, w, w, w);
    }
    for (size_t i = first; i < skip; i += step) {
        to[i] = byte_of(word, i);
    }
    for (size_t i = skip + vectors * 16 + first; i < bytes; i += step) {
        to[i] = byte_of(word, i);
    }
}

__global__ void damage_kernel(const uint8_t *at, size_t bytes, uint32_t word, unsigned long long *count,
                              unsigned long long *lowest) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    const size_t head = (16 - ((size_t)at & 15)) & 15;
    const size_t skip = head < bytes ? head : bytes;
    const unsigned shift = 8u * (unsigned)(skip & 3);
    const uint32_t w = shift == 0 ? word : word >> shift | word << (32 - shift);
    const size_t vectors = (bytes - skip) / 16;
    const size_t units = vectors + skip + (bytes - skip - vectors * 16);
    for (size_t u = (size_t)blockIdx.x * blockDim.x + threadIdx.x; u < units; u += step) {
        size_t from;
        size_t n = 1;
        if (u < vectors) {
            const uint4 v = ((const uint4 *)(at + skip))[u];
            if (v.x == w && v.y == w && v.z == w && v.w == w) {
                continue;
            }
            from = skip + u * 16;
            n = 16;
        } else {
            const size_t single = u - vectors;
            from = single < skip ? single : vectors * 16 + single;
        }
        for (size_t i = from; i < from + n; i++) {
            if (at[i] != byte_of(word, i)) {
                atomicAdd(count, 1ull);
                atomicMin(lowest, (unsigned long long)i);
            }
        }
    }
}

__global__ void iota_kernel(uint32_t *to, uint64_t rows, uint32_t first) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += step) {
        to[r] = first + (uint32_t)r;
    }
}

__global__ void iota_check(const uint32_t *at, uint64_t rows, uint32_t first, unsigned long long *count) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += step) {
        if (at[r] != first + (uint32_t)r) {
            atomicAdd(count, 1ull);
        }
    }
}

__device__ static uint64_t mark_place(uint64_t key, uint64_t row, uint64_t channels) {
    return row * channels + (key * 0x9e3779b97f4a7c15ull + row * 0xbf58476d1ce4e5b9ull >> 33) % channels;
}

__global__ void mark_kernel(uint32_t *at, uint64_t rows, uint64_t channels, uint64_t key, uint32_t pattern) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += step) {
        at[mark_place(key, r, channels)] = pattern;
    }
}

__global__ void mark_check(const uint32_t *at, uint64_t rows, uint64_t channels, uint64_t key,
                           uint32_t pattern, unsigned long long *count) {
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += step) {
        if (at[mark_place(key, r, channels)] == pattern) {
            atomicAdd(count, 1ull);
        }
    }
}

/* Two counters in scratch: [0] = 0, [1] = all ones. */
static assay_code counters(assay_device *d, unsigned long long **c, assay_error *error) {
    CODE_TRY(assay_cuda_scratch(d, (size_t)1 << 20, error));
    *c = (unsigned long long *)d->scratch.at;
    CUDA_TRY(cudaMemsetAsync(*c, 0, 8, d->stream), "counter");
    CUDA_TRY(cudaMemsetAsync(*c + 1, 0xff, 8, d->stream), "counter");
    return ASSAY_CODE_OK;
}

static assay_code read_counters(assay_device *d, const unsigned long long *c, unsigned long long out[2],
                                const char *what, assay_error *error) {
    CODE_TRY(assay_cuda_results(d, 16, error)); /* pinned: a copy to other memory holds the stream up */
    CUDA_TRY(cudaMemcpyAsync(d->results.at, c, 16, cudaMemcpyDeviceToHost, d->stream), what);
    CODE_TRY(assay_cuda_end(d, what, error));
    memcpy(out, d->results.at, 16);
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_fill(assay_device *d, void *address, size_t bytes, uint32_t pattern, size_t phase,
                           assay_error *error) {
    CODE_TRY(assay_cuda_begin(d, error));
    fill_kernel<<<BLOCKS, 256, 0, d->stream>>>((uint8_t *)address, bytes, turned(pattern, phase));
    return assay_cuda_end(d, "fill", error);
}

assay_code assay_cuda_damage(assay_device *d, const void *address, size_t bytes, uint32_t pattern,
                             size_t phase, uint64_t *count, uint64_t *first, assay_error *error) {
    unsigned long long out[2] = {0, 0};
    unsigned long long *c = nullptr;
    CODE_TRY(assay_cuda_begin(d, error));
    CODE_TRY(counters(d, &c, error));
    damage_kernel<<<BLOCKS, 256, 0, d->stream>>>((const uint8_t *)address, bytes, turned(pattern, phase), c,
                                                 c + 1);
    CODE_TRY(read_counters(d, c, out, "damage", error));
    *count = out[0];
    *first = out[1];
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_iota(assay_device *d, void *address, uint64_t rows, uint32_t first_bits,
                           assay_error *error) {
    CODE_TRY(assay_cuda_begin(d, error));
    iota_kernel<<<BLOCKS, 256, 0, d->stream>>>((uint32_t *)address, rows, first_bits);
    return assay_cuda_end(d, "inputs", error);
}

assay_code assay_cuda_iota_intact(assay_device *d, const void *address, uint64_t rows, uint32_t first_bits,
                                  bool *intact, assay_error *error) {
    unsigned long long out[2] = {0, 0};
    unsigned long long *c = nullptr;
    CODE_TRY(assay_cuda_begin(d, error));
    CODE_TRY(counters(d, &c, error));
    iota_check<<<BLOCKS, 256, 0, d->stream>>>((const uint32_t *)address, rows, first_bits, c);
    CODE_TRY(read_counters(d, c, out, "inputs", error));
    *intact = out[0] == 0;
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_mark(assay_device *d, void *address, uint64_t rows, size_t channels, uint64_t key,
                           uint32_t pattern, assay_error *error) {
    CODE_TRY(assay_cuda_begin(d, error));
    mark_kernel<<<BLOCKS, 256, 0, d->stream>>>((uint32_t *)address, rows, channels, key, pattern);
    return assay_cuda_end(d, "marks", error);
}

assay_code assay_cuda_marks_gone(assay_device *d, const void *address, uint64_t rows, size_t channels,
                                 uint64_t key, uint32_t pattern, bool *gone, assay_error *error) {
    unsigned long long out[2] = {0, 0};
    unsigned long long *c = nullptr;
    CODE_TRY(assay_cuda_begin(d, error));
    CODE_TRY(counters(d, &c, error));
    mark_check<<<BLOCKS, 256, 0, d->stream>>>((const uint32_t *)address, rows, channels, key, pattern, c);
    CODE_TRY(read_counters(d, c, out, "marks", error));
    *gone = out[0] == 0;
    return ASSAY_CODE_OK;
}
