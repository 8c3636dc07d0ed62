/* digest.cu - digests without anything else: units of four words for ordinary widths, single pairs for all
 * others. */
#include "digest.cuh"

#include <cstring>

/* R_0(r), R_1(r) for every row of a tile. */
__global__ void row_table(unsigned long long *table) {
    const uint64_t r = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < ASSAY_TILE_ROWS) {
        table[2 * r] = digest_splitmix(ASSAY_TILE_ROW_BASE_0 + r);
        table[2 * r + 1] = digest_splitmix(ASSAY_TILE_ROW_BASE_1 + r);
    }
}

assay_code assay_cuda_row_constants(assay_device *d, assay_error *error) {
    if (d->row_constants == nullptr) {
        CUDA_TRY(cudaMalloc(&d->row_constants, (size_t)ASSAY_TILE_ROWS * 16), "digest");
        row_table<<<ASSAY_TILE_ROWS / 256, 256, 0, d->stream>>>(d->row_constants);
    }
    return ASSAY_CODE_OK;
}

#define AHEAD 8 /* rows in flight per thread */

/* A thread owns two neighbouring pairs of every row it sees: loads of 16 bytes. `whole`: the block has all of
 * its JUDGE_ROWS rows, and every step of AHEAD * at_once rows is whole. */
template <bool whole>
__device__ static inline void digest_rows(const ulonglong2 *__restrict__ base, unsigned rows, unsigned sub,
                                          unsigned at_once, unsigned pitch, const ulonglong2 *constants,
                                          const digest_column &left, const digest_column &right,
                                          uint64_t sum[2]) {
    for (unsigned r0 = sub; r0 < rows; r0 += AHEAD * at_once) {
        ulonglong2 x[AHEAD];
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            const unsigned r = r0 + i * at_once;
            if (whole || r < rows) {
                x[i] = __ldcs(base + (size_t)r * pitch);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            const unsigned r = r0 + i * at_once;
            if (whole || r < rows) {
                const ulonglong2 row = constants[r];
                digest_add(sum, x[i].x, left, row);
                digest_add(sum, x[i].y, right, row);
            }
        }
    }
}

__global__ void __launch_bounds__(JUDGE_THREADS)
    digest_units(const uint32_t *__restrict__ words, uint64_t all_rows, unsigned channels,
                 const ulonglong2 *__restrict__ row_constants, unsigned long long *tiles) {
    __shared__ ulonglong2 constants[JUDGE_ROWS];
    const unsigned units = channels / 4;
    const unsigned at_once = JUDGE_THREADS / units;
    const unsigned sub = threadIdx.x / units;
    const unsigned j = threadIdx.x - sub * units;
    const uint64_t first = (uint64_t)blockIdx.x * JUDGE_ROWS;
    const unsigned rows = all_rows - first < JUDGE_ROWS ? (unsigned)(all_rows - first) : JUDGE_ROWS;
    uint64_t sum[2] = {0, 0};
    for (unsigned r = threadIdx.x; r < rows; r += JUDGE_THREADS) {
        constants[r] = __ldg(row_constants + ((first + r) & (ASSAY_TILE_ROWS - 1)));
    }
    __syncthreads();
    if (sub < at_once) {
        const digest_column left = digest_column_of(2 * j);
        const digest_column right = digest_column_of(2 * j + 1);
        const ulonglong2 *const base = (const ulonglong2 *)(words + first * channels) + j;
        if (rows % (AHEAD * at_once) == 0) {
            digest_rows<true>(base, rows, sub, at_once, units, constants, left, right, sum);
        } else {
            digest_rows<false>(base, rows, sub, at_once, units, constants, left, right, sum);
        }
    }
    digest_finish(sum, tiles + 2 * (first / ASSAY_TILE_ROWS));
}

/* Any width: one thread per pair and step; an odd last word is padded with zero. */
__global__ void __launch_bounds__(JUDGE_THREADS)
    digest_any(const uint32_t *__restrict__ words, uint64_t rows, uint64_t channels,
               const ulonglong2 *__restrict__ row_constants, unsigned long long *tiles) {
    const uint64_t pairs = (channels + 1) / 2;
    const uint64_t first = (uint64_t)blockIdx.x * JUDGE_ROWS;
    const uint64_t end = first + JUDGE_ROWS < rows ? first + JUDGE_ROWS : rows;
    uint64_t sum[2] = {0, 0};
    for (uint64_t i = threadIdx.x; i < (end - first) * pairs; i += JUDGE_THREADS) {
        const uint64_t r = first + i / pairs;
        const uint64_t j = i % pairs;
        const uint32_t *const at = words + r * channels + 2 * j;
        digest_add(sum, digest_pair(at[0], 2 * j + 1 < channels ? at[1] : 0), digest_column_of(j),
                   row_constants[r & (ASSAY_TILE_ROWS - 1)]);
    }
    digest_finish(sum, tiles + 2 * (first / ASSAY_TILE_ROWS));
}

void digest_launch(assay_device *d, const uint32_t *words, uint64_t rows, uint64_t channels,
                   unsigned long long *tiles) {
    const unsigned blocks = (unsigned)((rows + JUDGE_ROWS - 1) / JUDGE_ROWS);
    const ulonglong2 *const table = (const ulonglong2 *)d->row_constants;
    if (judge_has_units(channels)) {
        digest_units<<<blocks, JUDGE_THREADS, 0, d->stream>>>(words, rows, (unsigned)channels, table, tiles);
    } else {
        digest_any<<<blocks, JUDGE_THREADS, 0, d->stream>>>(words, rows, channels, table, tiles);
    }
}

assay_code assay_cuda_digest(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    const uint64_t tiles = (what->rows + ASSAY_TILE_ROWS - 1) / ASSAY_TILE_ROWS;
    CODE_TRY(assay_cuda_scratch(d, tiles * sizeof(assay_tile), error));
    CODE_TRY(assay_cuda_results(d, tiles * sizeof(assay_tile), error));
    CODE_TRY(assay_cuda_begin(d, error));
    CODE_TRY(assay_cuda_row_constants(d, error));
    unsigned long long *const sums = (unsigned long long *)d->scratch.at;
    CUDA_TRY(cudaMemsetAsync(sums, 0, tiles * sizeof(assay_tile), d->stream), "digest");
    digest_launch(d, (const uint32_t *)what->got, what->rows, what->channels, sums);
    CUDA_TRY(
        cudaMemcpyAsync(d->results.at, sums, tiles * sizeof(assay_tile), cudaMemcpyDeviceToHost, d->stream),
        "digest");
    CODE_TRY(assay_cuda_end(d, "digest", error));
    judge_tiles(what, (const assay_tile *)d->results.at);
    return ASSAY_CODE_OK;
}
