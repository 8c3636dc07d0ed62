/* accuracy_kernels.cuh - the kernels over accuracy.cuh's parts, which includes it, and their launch. */
#ifndef ASSAY_CUDA_ACCURACY_KERNELS_CUH
#define ASSAY_CUDA_ACCURACY_KERNELS_CUH

#define ACCURACY_AHEAD 2 /* rows of a step; the next step's are on their way meanwhile */

/* The words of a step: two of the first half and two of the second, of rows r0, r0 + at_once, ... below end.
 */
__device__ static inline void step_load(uint2 (&words)[ACCURACY_AHEAD][2], const uint2 *at, uint64_t r0,
                                        unsigned at_once, uint64_t end, unsigned units) {
#pragma unroll
    for (unsigned i = 0; i < ACCURACY_AHEAD; i++) {
        const uint64_t r = r0 + (uint64_t)i * at_once;
        if (r < end) {
            words[i][0] = __ldcs(at + r * (2 * units));
            words[i][1] = __ldcs(at + r * (2 * units) + units);
        }
    }
}

/* Counts `n` words that are the golden's level without an error. */
__device__ static inline void accuracy_level(unsigned n, uint32_t level, accuracy_sums &sum,
                                             accuracy_shared *shared, unsigned *tally) {
    const double y = (double)__uint_as_float(level);
    if (n != 0) {
        atomicAdd(&tally[tally_cell(level, 0)], n);
        keep_max(&shared->max_golden, y);
        sum.y = __fma_rn((double)n, y, sum.y);
        sum.yy = __fma_rn((double)n, __dmul_rn(y, y), sum.yy);
    }
}

template <class Golden>
__global__ void __launch_bounds__(JUDGE_THREADS, 2) accuracy_units(Golden golden, accuracy_work w) {
    extern __shared__ unsigned tally[];
    __shared__ accuracy_shared shared;
    const unsigned units = (unsigned)w.channels / 4;
    const unsigned at_once = JUDGE_THREADS / units;
    const unsigned sub = threadIdx.x / units;
    const unsigned j = threadIdx.x - sub * units;
    const uint64_t first = (uint64_t)blockIdx.x * w.block_rows;
    const uint64_t end = first + w.block_rows < w.rows ? first + w.block_rows : w.rows;
    const uint64_t step = (uint64_t)ACCURACY_AHEAD * at_once;
    const uint2 *const at = (const uint2 *)w.got + j;
    const bool idle = sub >= at_once;
    const typename Golden::unit unit = golden.open(idle ? 0 : j, (unsigned)w.channels);
    accuracy_sums sum = {0.0, 0.0, 0.0, 0.0, 0.0};
    accuracy_run run[4] = {ACCURACY_RUN_START, ACCURACY_RUN_START, ACCURACY_RUN_START, ACCURACY_RUN_START};
    uint2 ahead[ACCURACY_AHEAD][2];
    unsigned since = 0;
    unsigned level = 0; /* words that are the level, as they should be */
    accuracy_open(&shared, tally, w);
    const bool known = shared.known.max_golden >= (double)__uint_as_float(Golden::level);
    uint64_t r0 = idle ? end : first + sub;
    step_load(ahead, at, r0, at_once, end, units);
#pragma unroll 1
    for (; r0 < end; r0 += step) {
        uint2 words[ACCURACY_AHEAD][2];
        unsigned rare = 0;
#pragma unroll
        for (unsigned i = 0; i < ACCURACY_AHEAD; i++) {
            words[i][0] = ahead[i][0];
            words[i][1] = ahead[i][1];
        }
        step_load(ahead, at, r0 + step, at_once, end, units);
#pragma unroll
        for (unsigned i = 0; i < ACCURACY_AHEAD; i++) {
            const uint64_t r = r0 + (uint64_t)i * at_once;
            if (r < end) {
                const uint32_t bits = w.first_bits + (uint32_t)r;
                double y[4];
                if (golden.flat(bits) && known) {
                    const bool x = words[i][0].x == Golden::level;
                    const bool z = words[i][0].y == Golden::level;
                    golden.two(unit, (double)__uint_as_float(bits), y);
                    level += x + z;
                    rare |= (x ? 0 : 1u << (4 * i)) | (z ? 0 : 2u << (4 * i));
                } else {
                    golden.four(unit, (double)__uint_as_float(bits), y);
                    rare |= accuracy_fast(run[0], sum, words[i][0].x, y[0]) ? 0 : 1u << (4 * i);
                    rare |= accuracy_fast(run[1], sum, words[i][0].y, y[1]) ? 0 : 2u << (4 * i);
                }
                rare |= accuracy_fast(run[2], sum, words[i][1].x, y[2]) ? 0 : 4u << (4 * i);
                rare |= accuracy_fast(run[3], sum, words[i][1].y, y[3]) ? 0 : 8u << (4 * i);
            }
        }
#pragma unroll 1
        for (; rare != 0; rare &= rare - 1) {
            const unsigned bit = (unsigned)__ffs((int)rare) - 1;
            const unsigned q = bit & 3;
            const uint64_t r = r0 + (uint64_t)(bit >> 2) * at_once;
            const uint64_t channel = 2 * j + (q & 1) + (q >> 1) * (w.channels / 2);
            const uint64_t index = r * w.channels + channel;
            const double y = golden.one((double)__uint_as_float(w.first_bits + (uint32_t)r), channel);
            accuracy_run now = q == 0 ? run[0] : q == 1 ? run[1] : q == 2 ? run[2] : run[3];
            accuracy_word(now, sum, w, &shared, tally, Golden::ceiling, Golden::falls(q), w.got[index], y,
                          index);
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                if (q == k) {
                    run[k] = now;
                }
            }
        }
        since += ACCURACY_AHEAD;
        if (since + ACCURACY_AHEAD > RUN_MOST) {
            since = 0;
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                accuracy_flush(run[k], &shared, tally);
            }
        }
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        accuracy_flush(run[k], &shared, tally);
    }
    accuracy_level(level, Golden::level, sum, &shared, tally);
    accuracy_close(&shared, tally, sum, w);
}

/* Any width and any input: one word per thread and step, each in full. */
template <class Golden>
__global__ void __launch_bounds__(JUDGE_THREADS) accuracy_any(Golden golden, accuracy_work w) {
    extern __shared__ unsigned tally[];
    __shared__ accuracy_shared shared;
    const uint64_t first = (uint64_t)blockIdx.x * w.block_rows * w.channels;
    const uint64_t last = first + (uint64_t)w.block_rows * w.channels;
    const uint64_t end = last < w.rows * w.channels ? last : w.rows * w.channels;
    accuracy_sums sum = {0.0, 0.0, 0.0, 0.0, 0.0};
    accuracy_run run = ACCURACY_RUN_START;
    unsigned since = 0;
    accuracy_open(&shared, tally, w);
#pragma unroll 1
    for (uint64_t i = first + threadIdx.x; i < end; i += JUDGE_THREADS) {
        const uint64_t r = i / w.channels;
        const double y = golden.one((double)__uint_as_float(w.first_bits + (uint32_t)r), i - r * w.channels);
        accuracy_word(run, sum, w, &shared, tally, Golden::ceiling, false, w.got[i], y, i);
        if (++since == RUN_MOST) {
            accuracy_flush(run, &shared, tally);
            since = 0;
        }
    }
    accuracy_flush(run, &shared, tally);
    accuracy_close(&shared, tally, sum, w);
}

/* ---- the survey ---- */

__device__ static inline bool is_better(const accuracy_best &a, const accuracy_best &b) {
    return a.ulp > b.ulp || (a.ulp == b.ulp && a.index < b.index);
}

/* Some rows a block, spread over the call from its first row to its last without overlap. */
template <class Golden>
__global__ void __launch_bounds__(JUDGE_THREADS) accuracy_survey(Golden golden, accuracy_work w) {
    __shared__ accuracy_best all[JUDGE_THREADS];
    const uint64_t first = gridDim.x == 1 ? 0 : (w.rows - w.survey_rows) * blockIdx.x / (gridDim.x - 1);
    const uint64_t rows = w.survey_rows;
    accuracy_best mine = {0.0, NONE, 0.0, 0.0};
    for (uint64_t i = threadIdx.x; i < rows * w.channels; i += JUDGE_THREADS) {
        const uint64_t r = first + i / w.channels;
        const uint64_t index = first * w.channels + i;
        const uint32_t got = w.got[index];
        const double y = golden.one((double)__uint_as_float(w.first_bits + (uint32_t)r), i % w.channels);
        if (near_tie(y) || (got & MAGNITUDE) >= INFINITE) {
            continue;
        }
        const double abs = fabs(__dsub_rn((double)__uint_as_float(got), y));
        const double ulp = __dmul_rn(abs, ulp_inverse(__float_as_uint(__double2float_rn(y))));
        mine.max_abs = abs > mine.max_abs ? abs : mine.max_abs;
        mine.max_golden = fabs(y) > mine.max_golden ? fabs(y) : mine.max_golden;
        if (is_better({ulp, index, 0.0, 0.0}, mine)) {
            mine.ulp = ulp;
            mine.index = index;
        }
    }
    all[threadIdx.x] = mine;
    for (unsigned half = JUDGE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            accuracy_best &a = all[threadIdx.x];
            const accuracy_best b = all[threadIdx.x + half];
            if (is_better(b, a)) {
                a.ulp = b.ulp;
                a.index = b.index;
            }
            a.max_abs = b.max_abs > a.max_abs ? b.max_abs : a.max_abs;
            a.max_golden = b.max_golden > a.max_golden ? b.max_golden : a.max_golden;
        }
    }
    if (threadIdx.x == 0) {
        w.best[blockIdx.x] = all[0];
    }
}

/* The bounds: maxima over the survey, and the 16th of its blocks' worst, which are elements of their own. */
static __global__ void __launch_bounds__(SURVEY_BLOCKS) accuracy_rank(accuracy_work w) {
    __shared__ accuracy_best all[SURVEY_BLOCKS];
    __shared__ bits64 max_abs;
    __shared__ bits64 max_golden;
    const unsigned me = threadIdx.x;
    if (me == 0) {
        max_abs = max_golden = 0;
        w.known->ulp = LEAST;
        w.known->index = NONE;
    }
    if (me < w.survey) {
        all[me] = w.best[me];
    }
    __syncthreads();
    if (me < w.survey) {
        unsigned rank = 0;
        for (unsigned i = 0; i < w.survey; i++) {
            rank += is_better(all[i], all[me]);
        }
        atomicMax(&max_abs, bits_of(all[me].max_abs));
        atomicMax(&max_golden, bits_of(all[me].max_golden));
        if (rank == ASSAY_WORST - 1 && all[me].ulp > 0.0) {
            w.known->ulp = all[me].ulp;
            w.known->index = all[me].index;
        }
    }
    __syncthreads();
    if (me == 0) {
        w.known->max_abs = double_of(max_abs);
        w.known->max_golden = double_of(max_golden);
    }
}

/* Adds the blocks' sums in one order, and looks up the first element outside. */
template <class Golden>
__global__ void __launch_bounds__(JUDGE_THREADS) accuracy_total(Golden golden, accuracy_work w) {
    __shared__ double part[SUMS][JUDGE_THREADS];
    for (int k = 0; k < SUMS; k++) {
        double sum = 0.0;
        for (unsigned b = threadIdx.x; b < w.blocks; b += JUDGE_THREADS) {
            sum = __dadd_rn(sum, w.sums[(size_t)b * SUMS + k]);
        }
        part[k][threadIdx.x] = sum;
    }
    for (unsigned half = JUDGE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        for (int k = 0; threadIdx.x < half && k < SUMS; k++) {
            part[k][threadIdx.x] = __dadd_rn(part[k][threadIdx.x], part[k][threadIdx.x + half]);
        }
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        w.out->sum[threadIdx.x] = part[threadIdx.x][0];
    }
    const bits64 index = w.out->first;
    if (threadIdx.x == 0 && index != NONE) {
        const uint32_t bits = w.first_bits + (uint32_t)(index / w.channels);
        w.out->first_got = w.got[index];
        w.out->first_golden = golden.one((double)__uint_as_float(bits), index % w.channels);
    }
}

/* ---- launch ---- */

template <class Golden>
static assay_code accuracy_kernels(assay_device *d, const accuracy_work *work, const void *of_operator,
                                   assay_error *error) {
    const Golden golden = *(const Golden *)of_operator;
    const accuracy_work w = *work;
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    const bool units = judge_has_units(w.channels) && w.first_bits < SIGN_BIT;
    CUDA_TRY(cudaFuncSetAttribute(accuracy_units<Golden>, most, TALLY_BYTES), "accuracy");
    CUDA_TRY(cudaFuncSetAttribute(accuracy_any<Golden>, most, TALLY_BYTES), "accuracy");
    accuracy_survey<Golden><<<w.survey, JUDGE_THREADS, 0, d->stream>>>(golden, w);
    accuracy_rank<<<1, SURVEY_BLOCKS, 0, d->stream>>>(w);
    if (units) {
        accuracy_units<Golden><<<w.blocks, JUDGE_THREADS, TALLY_BYTES, d->stream>>>(golden, w);
    } else {
        accuracy_any<Golden><<<w.blocks, JUDGE_THREADS, TALLY_BYTES, d->stream>>>(golden, w);
    }
    accuracy_total<Golden><<<1, JUDGE_THREADS, 0, d->stream>>>(golden, w);
    return assay_cuda_check(cudaGetLastError(), "accuracy", error);
}

#endif
