/* parity.cu - candidate words against baseline words: classes by definition, signed ulp histogram by the
 * baseline's exponent, the first and the worst difference.
 *
 * Words of one binade and a small distance are counted in runs (tally.cuh). The other words of a step are
 * remembered as bits and judged one at a time at the end of the step. Nothing tracks indices in that loop: a
 * second kernel looks for the first and for the worst difference in the two blocks that have them. */
#include "digest.cuh"
#include "tally.cuh"

/* Of a call; counters of a block in shared memory, then added to the one in global memory. */
struct parity_counts {
    unsigned long long zero_sign, nan_number, nan_payload, infinite, numeric;
    unsigned long long first_block;  /* lowest block with a difference */
    unsigned long long worst_block;  /* block_key: most distant, then lowest block; 0 = none */
    unsigned long long first, worst; /* indices inside the call; all ones = none */
    uint32_t first_got, first_want, worst_got, worst_want;
};

#define BLOCK_BITS 24 /* of a block number; a distance has 33 */
#define BLOCK_MASK ((1ull << BLOCK_BITS) - 1)
#define NONE       (~0ull)

struct parity_shared {
    unsigned long long zero_sign, nan_number, nan_payload, infinite, numeric, max_ulp;
};

/* One pair of words in full. */
__device__ static inline void parity_word(ulp_run &run, unsigned *tally, parity_shared *shared, uint32_t got,
                                          uint32_t want) {
    const uint32_t g = got & MAGNITUDE;
    const uint32_t w = want & MAGNITUDE;
    if (g >= INFINITE || w >= INFINITE) {
        atomicAdd(&tally[got == want ? CELL_EQUAL : CELL_APART], 1u);
        if (got != want) {
            const bool g_nan = g > INFINITE;
            const bool w_nan = w > INFINITE;
            atomicAdd(g_nan && w_nan   ? &shared->nan_payload
                      : g_nan || w_nan ? &shared->nan_number
                                       : &shared->infinite,
                      1ull);
        }
        return;
    }
    const int64_t distance = ulp_image(got) - ulp_image(want);
    const int clamped = ulp_clamped(distance);
    const uint32_t low = want & RUN_NONE;
    if (g == 0 && w == 0 && got != want) {
        atomicAdd(&shared->zero_sign, 1ull);
    }
    if (distance > ASSAY_ULP_HALF || distance < -ASSAY_ULP_HALF) {
        const unsigned long long ulp = (unsigned long long)(distance < 0 ? -distance : distance);
        if (ulp > *(volatile unsigned long long *)&shared->max_ulp) {
            atomicMax(&shared->max_ulp, ulp);
        }
    }
    if (low >> 31 != 0) {
        atomicAdd(&tally[tally_cell(want, clamped)], 1u);
        return;
    }
    if (low != run.low) {
        run_flush(run, tally);
        run.low = low;
    }
    run_count(run, want, clamped, tally);
}

/* True when the run counted it. Both words lie in its binade, so their difference is their distance. */
__device__ static inline bool parity_fast(ulp_run &run, uint32_t got, uint32_t want) {
    const uint32_t s = got - want - (uint32_t)run.base;
    const bool mine = ((got - run.low) | (want - run.low)) < BINADE && s < RUN_BINS;
    if (mine) {
        run.counts += 1u << (RUN_BITS * s);
    }
    return mine;
}

__device__ static void parity_open(parity_shared *shared, unsigned *tally) {
    tally_clear(tally);
    if (threadIdx.x == 0) {
        *shared = {0, 0, 0, 0, 0, 0};
    }
    __syncthreads();
}

/* Adds the block's counters and histogram to those of the call. */
__device__ static void parity_close(parity_shared *shared, unsigned *tally, unsigned long long *histogram,
                                    parity_counts *out) {
    unsigned long long numeric = 0;
    unsigned long long worst = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < TALLY_CELLS; i += JUDGE_THREADS) {
        const unsigned n = tally[i];
        const int distance = (int)(i % ASSAY_ULP_BINS) - ASSAY_ULP_HALF;
        const unsigned long long ulp = (unsigned long long)(distance < 0 ? -distance : distance);
        if (n != 0) {
            atomicAdd(&histogram[i], (unsigned long long)n);
        }
        if (n != 0 && ulp != 0 && i < 255 * ASSAY_ULP_BINS) {
            numeric += n;
            worst = ulp > worst ? ulp : worst;
        }
    }
    if (numeric != 0) {
        atomicAdd(&shared->numeric, numeric);
        atomicMax(&shared->max_ulp, worst);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const parity_shared s = *shared;
        if (s.zero_sign + s.nan_number + s.nan_payload + s.infinite + s.numeric != 0) {
            atomicAdd(&out->zero_sign, s.zero_sign);
            atomicAdd(&out->nan_number, s.nan_number);
            atomicAdd(&out->nan_payload, s.nan_payload);
            atomicAdd(&out->infinite, s.infinite);
            atomicAdd(&out->numeric, s.numeric);
            atomicMin(&out->first_block, (unsigned long long)blockIdx.x);
        }
        if (s.max_ulp != 0) {
            atomicMax(&out->worst_block, s.max_ulp << BLOCK_BITS | (BLOCK_MASK - blockIdx.x));
        }
    }
}

#define AHEAD 4 /* rows of a step */

/* Unit j of every row: words 2j, 2j+1 and the same two of the second half. */
template <bool DIGEST>
__global__ void __launch_bounds__(JUDGE_THREADS)
    parity_units(const uint32_t *__restrict__ got, const uint32_t *__restrict__ want, uint64_t rows,
                 unsigned channels, const ulonglong2 *__restrict__ row_constants, unsigned long long *tiles,
                 unsigned long long *histogram, parity_counts *out) {
    extern __shared__ unsigned tally[];
    __shared__ parity_shared shared;
    const unsigned units = channels / 4;
    const unsigned at_once = JUDGE_THREADS / units;
    const unsigned sub = threadIdx.x / units;
    const unsigned j = threadIdx.x - sub * units;
    const uint64_t first = (uint64_t)blockIdx.x * JUDGE_ROWS;
    const uint64_t end = first + JUDGE_ROWS < rows ? first + JUDGE_ROWS : rows;
    const digest_column low = digest_column_of(j);
    const digest_column high = digest_column_of(units + j);
    const unsigned pitch = channels / 2;
    const uint2 *const gots = (const uint2 *)got + j;
    const uint2 *const wants = (const uint2 *)want + j;
    uint64_t sum[2] = {0, 0};
    ulp_run run[4] = {RUN_START, RUN_START, RUN_START, RUN_START};
    unsigned since = 0;
    parity_open(&shared, tally);
    for (uint64_t r0 = sub < at_once ? first + sub : end; r0 < end; r0 += (uint64_t)AHEAD * at_once) {
        uint2 g[AHEAD][2];
        uint2 w[AHEAD][2];
        unsigned rare = 0;
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            const uint64_t r = r0 + (uint64_t)i * at_once;
            if (r < end) {
                g[i][0] = __ldcs(gots + r * pitch);
                g[i][1] = __ldcs(gots + r * pitch + units);
                w[i][0] = __ldcs(wants + r * pitch);
                w[i][1] = __ldcs(wants + r * pitch + units);
            }
        }
#pragma unroll
        for (unsigned i = 0; i < AHEAD; i++) {
            const uint64_t r = r0 + (uint64_t)i * at_once;
            if (r < end) {
                if (DIGEST) {
                    const ulonglong2 row = __ldg(row_constants + (r & (ASSAY_TILE_ROWS - 1)));
                    digest_add(sum, digest_pair(g[i][0].x, g[i][0].y), low, row);
                    digest_add(sum, digest_pair(g[i][1].x, g[i][1].y), high, row);
                }
                rare |= parity_fast(run[0], g[i][0].x, w[i][0].x) ? 0 : 1u << (4 * i);
                rare |= parity_fast(run[1], g[i][0].y, w[i][0].y) ? 0 : 2u << (4 * i);
                rare |= parity_fast(run[2], g[i][1].x, w[i][1].x) ? 0 : 4u << (4 * i);
                rare |= parity_fast(run[3], g[i][1].y, w[i][1].y) ? 0 : 8u << (4 * i);
            }
        }
        for (; rare != 0; rare &= rare - 1) {
            const unsigned bit = (unsigned)__ffs((int)rare) - 1;
            const unsigned q = bit & 3;
            const uint64_t at = (r0 + (uint64_t)(bit >> 2) * at_once) * channels + 2 * j + (q & 1) +
                                (q >> 1) * (channels / 2);
            ulp_run now = q == 0 ? run[0] : q == 1 ? run[1] : q == 2 ? run[2] : run[3];
            parity_word(now, tally, &shared, got[at], want[at]);
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                run[k] = q == k ? now : run[k];
            }
        }
        since += AHEAD;
        if (since + AHEAD > RUN_MOST) {
            since = 0;
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                run_flush(run[k], tally);
            }
        }
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        run_flush(run[k], tally);
    }
    if (DIGEST) {
        digest_finish(sum, tiles + 2 * (first / ASSAY_TILE_ROWS));
    }
    parity_close(&shared, tally, histogram, out);
}

/* Any width: one word per thread and step. */
__global__ void __launch_bounds__(JUDGE_THREADS)
    parity_any(const uint32_t *__restrict__ got, const uint32_t *__restrict__ want, uint64_t rows,
               uint64_t channels, unsigned long long *histogram, parity_counts *out) {
    extern __shared__ unsigned tally[];
    __shared__ parity_shared shared;
    const uint64_t first = (uint64_t)blockIdx.x * JUDGE_ROWS * channels;
    const uint64_t last = first + (uint64_t)JUDGE_ROWS * channels;
    const uint64_t end = last < rows * channels ? last : rows * channels;
    ulp_run run = RUN_START;
    unsigned since = 0;
    parity_open(&shared, tally);
    for (uint64_t i = first + threadIdx.x; i < end; i += JUDGE_THREADS) {
        parity_word(run, tally, &shared, got[i], want[i]);
        if (++since == RUN_MOST) {
            run_flush(run, tally);
            since = 0;
        }
    }
    run_flush(run, tally);
    parity_close(&shared, tally, histogram, out);
}

/* Block 0 finds the first difference, block 1 the lowest index of the largest distance, each in the block of
 * rows that is known to have it. */
__global__ void __launch_bounds__(JUDGE_THREADS)
    parity_find(const uint32_t *__restrict__ got, const uint32_t *__restrict__ want, uint64_t rows,
                uint64_t channels, parity_counts *out) {
    __shared__ unsigned long long lowest;
    const bool worst = blockIdx.x == 1;
    const unsigned long long key = worst ? out->worst_block : out->first_block;
    if (key == (worst ? 0 : NONE)) {
        return;
    }
    const uint64_t block = worst ? BLOCK_MASK - (key & BLOCK_MASK) : key;
    const int64_t ulp = (int64_t)(key >> BLOCK_BITS);
    const uint64_t first = block * JUDGE_ROWS * channels;
    const uint64_t last = first + (uint64_t)JUDGE_ROWS * channels;
    const uint64_t end = last < rows * channels ? last : rows * channels;
    if (threadIdx.x == 0) {
        lowest = NONE;
    }
    __syncthreads();
    for (uint64_t i = first + threadIdx.x; i < end; i += JUDGE_THREADS) {
        const uint32_t g = got[i];
        const uint32_t w = want[i];
        const int64_t distance = ulp_image(g) - ulp_image(w);
        const bool finite = (g & MAGNITUDE) < INFINITE && (w & MAGNITUDE) < INFINITE;
        if (worst ? finite && (distance == ulp || distance == -ulp) : g != w) {
            atomicMin(&lowest, (unsigned long long)i);
            break;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && lowest != NONE) {
        *(worst ? &out->worst : &out->first) = lowest;
        *(worst ? &out->worst_got : &out->first_got) = got[lowest];
        *(worst ? &out->worst_want : &out->first_want) = want[lowest];
    }
}

static const parity_counts nothing = {0, 0, 0, 0, 0, NONE, 0, NONE, NONE, 0, 0, 0, 0};

/* What the kernels brought back, in the judge's own terms. */
static void parity_report(const assay_device_judgment *what, const parity_counts *c,
                          assay_ulp_histogram *cells) {
    assay_parity one = {};
    one.elements = what->rows * what->channels;
    one.zero_sign = c->zero_sign;
    one.nan_number = c->nan_number;
    one.nan_payload = c->nan_payload;
    one.infinite = c->infinite;
    one.numeric = c->numeric;
    one.differing = c->zero_sign + c->nan_number + c->nan_payload + c->infinite + c->numeric;
    one.first_index = what->base + c->first;
    one.first_got = c->first_got;
    one.first_want = c->first_want;
    one.max_ulp = c->worst_block >> BLOCK_BITS;
    one.worst_index = what->base + c->worst;
    one.worst_got = c->worst_got;
    one.worst_want = c->worst_want;
    one.histogram = cells;
    assay_parity_merge(what->parity, &one);
}

static void parity_launch(assay_device *d, const assay_device_judgment *what, parity_counts *out,
                          unsigned long long *cells, unsigned long long *tiles) {
    const unsigned blocks = (unsigned)((what->rows + JUDGE_ROWS - 1) / JUDGE_ROWS);
    const uint32_t *const got = (const uint32_t *)what->got;
    const uint32_t *const want = (const uint32_t *)what->other;
    const ulonglong2 *const table = (const ulonglong2 *)d->row_constants;
    if (!judge_has_units(what->channels)) {
        parity_any<<<blocks, JUDGE_THREADS, TALLY_BYTES, d->stream>>>(got, want, what->rows, what->channels,
                                                                      cells, out);
    } else if (tiles != nullptr) {
        parity_units<true><<<blocks, JUDGE_THREADS, TALLY_BYTES, d->stream>>>(
            got, want, what->rows, (unsigned)what->channels, table, tiles, cells, out);
    } else {
        parity_units<false><<<blocks, JUDGE_THREADS, TALLY_BYTES, d->stream>>>(
            got, want, what->rows, (unsigned)what->channels, table, tiles, cells, out);
    }
    parity_find<<<2, JUDGE_THREADS, 0, d->stream>>>(got, want, what->rows, what->channels, out);
}

/* The kernels need more shared memory than they get unasked. */
static assay_code parity_prepare(assay_error *error) {
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    CUDA_TRY(cudaFuncSetAttribute(parity_any, most, TALLY_BYTES), "parity");
    CUDA_TRY(cudaFuncSetAttribute(parity_units<true>, most, TALLY_BYTES), "parity");
    CUDA_TRY(cudaFuncSetAttribute(parity_units<false>, most, TALLY_BYTES), "parity");
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_parity(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    const bool fused = what->tiles != nullptr && judge_has_units(what->channels);
    const uint64_t tiles = (what->rows + ASSAY_TILE_ROWS - 1) / ASSAY_TILE_ROWS;
    judge_layout layout = {0};
    const size_t counts_at = layout.add(sizeof(parity_counts));
    const size_t cells_at = layout.add(sizeof(assay_ulp_histogram));
    const size_t tiles_at = layout.add(tiles * sizeof(assay_tile));
    CODE_TRY(assay_cuda_scratch(d, layout.bytes, error));
    CODE_TRY(assay_cuda_results(d, layout.bytes, error));
    CODE_TRY(assay_cuda_begin(d, error));
    CODE_TRY(parity_prepare(error));
    CODE_TRY(assay_cuda_row_constants(d, error));
    char *const there = (char *)d->scratch.at;
    char *const here = (char *)d->results.at;
    parity_counts *const counts = (parity_counts *)(there + counts_at);
    CUDA_TRY(cudaMemsetAsync(there, 0, layout.bytes, d->stream), "parity");
    CUDA_TRY(cudaMemcpyAsync(counts, &nothing, sizeof nothing, cudaMemcpyHostToDevice, d->stream), "parity");
    parity_launch(d, what, counts, (unsigned long long *)(there + cells_at),
                  fused ? (unsigned long long *)(there + tiles_at) : nullptr);
    CUDA_TRY(cudaMemcpyAsync(here, there, layout.bytes, cudaMemcpyDeviceToHost, d->stream), "parity");
    CODE_TRY(assay_cuda_end(d, "parity", error));
    parity_report(what, (const parity_counts *)(here + counts_at), (assay_ulp_histogram *)(here + cells_at));
    if (fused) {
        judge_tiles(what, (const assay_tile *)(here + tiles_at));
    }
    return what->tiles != nullptr && !fused ? assay_cuda_digest(d, what, error) : ASSAY_CODE_OK;
}
