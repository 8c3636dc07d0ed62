/* digest.cuh - the tile digest on the device, as harness/DIGEST.md specifies it:
 *
 *     y = x ^ B_s(j) ^ R_s(r)      sum_s += lo(y) * hi(y) + y      s = 0, 1
 *
 * A thread keeps the constants of the pairs it owns. The constants of a row come from a table. */
#ifndef ASSAY_CUDA_DIGEST_CUH
#define ASSAY_CUDA_DIGEST_CUH

#include "cuda_private.h"

extern "C" {
#include "digest_private.h"
}

__host__ __device__ static inline uint64_t digest_splitmix(uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

struct digest_column { /* of one pair */
    uint64_t b[2];
};

__device__ static inline digest_column digest_column_of(uint64_t pair) {
    return {
        {digest_splitmix(ASSAY_TILE_COLUMN_BASE_0 + pair), digest_splitmix(ASSAY_TILE_COLUMN_BASE_1 + pair)}};
}

__device__ static inline void digest_add(uint64_t sum[2], uint64_t x, const digest_column &column,
                                         ulonglong2 row) {
    const uint64_t y0 = x ^ column.b[0] ^ row.x;
    const uint64_t y1 = x ^ column.b[1] ^ row.y;
    sum[0] += (y0 & 0xffffffffu) * (y0 >> 32) + y0;
    sum[1] += (y1 & 0xffffffffu) * (y1 >> 32) + y1;
}

__device__ static inline uint64_t digest_pair(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

/* Adds the block's sums to its tile. All threads of the block must call it. */
__device__ static inline void digest_finish(uint64_t sum[2], unsigned long long *tile) {
    for (int apart = 16; apart > 0; apart /= 2) {
        sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], apart);
        sum[1] += __shfl_xor_sync(0xffffffffu, sum[1], apart);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(tile, (unsigned long long)sum[0]);
        atomicAdd(tile + 1, (unsigned long long)sum[1]);
    }
}

/* Rows are cut into units of four words: pair j of the first half and pair j of the second half. A block of
 * JUDGE_THREADS threads takes several rows at once. Usable when channels % 4 == 0 and channels / 4 <=
 * JUDGE_THREADS. */
static inline bool judge_has_units(size_t channels) {
    return channels % 4 == 0 && channels / 4 <= JUDGE_THREADS && channels > 0;
}

/* Queues the digest of the rows; adds to tiles[2 * tile + s], device memory. digest.cu */
void digest_launch(assay_device *d, const uint32_t *words, uint64_t rows, uint64_t channels,
                   unsigned long long *tiles);

/* Adds the sums of a call to the caller's tiles. */
static inline void judge_tiles(const assay_device_judgment *what, const assay_tile *sums) {
    for (uint64_t i = 0; i * ASSAY_TILE_ROWS < what->rows; i++) {
        assay_tile_merge(&what->tiles[i], &sums[i]);
    }
}

/* Parts of one allocation, each at a multiple of 256 bytes. */
struct judge_layout {
    size_t bytes;
    size_t add(size_t n) {
        const size_t at = bytes;
        bytes = (bytes + n + 255) / 256 * 256;
        return at;
    }
};

#endif
