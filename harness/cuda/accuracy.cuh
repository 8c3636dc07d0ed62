/* accuracy.cuh - words against an FP64 golden that is computed beside them: golden and complete
 * accuracy in one pass over the data. Included by the device_golden.cu of an operator.
 *
 * A thread owns the same four words of every row and walks over rows. An element takes the fast way when it
 * is counted by its run (tally.cuh), is no near tie, and lies below every bound that a survey of some rows
 * has found (`cut`, `limit`): it then changes counters and sums only. The other elements of a step are
 * remembered as bits and judged one at a time, by definition, at the end of the step.
 *
 * A golden is a struct passed to kernels by value, with
 *     ceiling              no golden exceeds it in magnitude; finite in FP32
 *     struct unit          what a thread keeps for its four words
 *     open(j, channels)    the unit of words 2j, 2j+1 and the same two of the second half
 *     flat(bits)           true when words 0 and 1 of every unit are `level` for the input of these bits
 *     level                as an FP32 pattern
 *     four(unit, t, y)     their goldens for input t
 *     two(unit, t, y)      y[2] and y[3] alone, where flat(bits)
 *     one(t, channel)      one golden
 *     falls(q)             true when word q of a unit never rises along ascending FP32 inputs t >= 0
 * Goldens are finite. */
#ifndef ASSAY_CUDA_ACCURACY_CUH
#define ASSAY_CUDA_ACCURACY_CUH

#include "accuracy.h"
#include "digest.cuh"
#include "tally.cuh"

/* As in compare_private.h. */
#define TIE_HALF   (1ull << 28)
#define TIE_WINDOW (1ull << 9)
#define NONE       (~0ull)
#define UNTIED                                                                                               \
    (0x1p-150 - 0x1p-168) /* a rounding by less than this means no near tie where the spacing is 2^-149 */
#define LEAST 4.9406564584124654e-324 /* the least positive double */

typedef unsigned long long bits64;

struct accuracy_run {
    ulp_run run;
    uint32_t limit; /* roundings from run.low up to here, exclusive, may take the fast way */
    float cut;      /* and errors whose high word, read as FP32, is below this */
    double abs;     /* sum of |e| since the last flush */
};

#define ACCURACY_RUN_START                                                                                   \
    { RUN_START, 0, 0.0f, 0.0 }

struct accuracy_sums {
    double y, yy, e, ee, ey;
};

struct accuracy_shared {
    bits64 outside, apart, zero_sign, first;
    bits64 max_abs, max_golden, max_ulp; /* bit patterns of non-negative doubles */
    bits64 last_ulp, last_index;         /* what an element must reach to be among the worst */
    accuracy_known known;
    unsigned lock, count;
    accuracy_entry worst[ASSAY_WORST];
    double ulps[JUDGE_THREADS]; /* sum of ulps, by thread */
    double folded[SUMS][JUDGE_THREADS / 32];
};

__device__ static inline bits64 bits_of(double x) {
    return (bits64)__double_as_longlong(x);
}

__device__ static inline double double_of(bits64 bits) {
    return __longlong_as_double((long long)bits);
}

/* The exponent of FP32 numbers of the binade, as ulps count it. */
__device__ static inline unsigned ulp_exponent(uint32_t bits) {
    const unsigned e = bits >> 23 & 255u;
    return e < 1 ? 1 : e > 254 ? 254 : e;
}

/* 1 / ulp and ulp of FP32 numbers of the binade. */
__device__ static inline double ulp_inverse(uint32_t bits) {
    return __hiloint2double((int)((1023 + 150 - ulp_exponent(bits)) << 20), 0);
}

__device__ static inline double ulp_size(uint32_t bits) {
    return __hiloint2double((int)((1023 - 150 + ulp_exponent(bits)) << 20), 0);
}

/* True when the golden lies within 2^-20 of an FP32 spacing from the middle between two neighbours. */
__device__ static inline bool near_tie(double golden) {
    const bits64 magnitude = bits_of(golden) & 0x7fffffffffffffffull;
    const int e = (int)(magnitude >> 52);
    const int shift = e < 1023 - 126 ? 29 + 1023 - 126 - e : 29;
    if (e >= 1023 + 128 || shift > 54) {
        return false;
    }
    const bits64 significand = (magnitude & 0x000fffffffffffffull) | 1ull << 52;
    const bits64 dropped = significand & ((1ull << shift) - 1);
    const bits64 half = 1ull << (shift - 1);
    const bits64 window = 1ull << (shift - 20);
    return dropped >= half - window && dropped <= half + window;
}

__device__ static inline void accuracy_flush(accuracy_run &now, accuracy_shared *shared, unsigned *tally) {
    run_flush(now.run, tally);
    shared->ulps[threadIdx.x] = __fma_rn(now.abs, ulp_inverse(now.run.low), shared->ulps[threadIdx.x]);
    now.abs = 0.0;
}

/* Enters the binade of a rounding `r`, whose element the caller measures in full: a golden that falls is
 * below that one from here on. The least tolerance follows from the least magnitude that rounds into the
 * binade. The last binade has no fast way. */
__device__ static inline void accuracy_enter(accuracy_run &now, const accuracy_work &w,
                                             const accuracy_known &known, double ceiling, bool falls,
                                             uint32_t r) {
    const uint32_t low = r & RUN_NONE;
    const unsigned e = low >> 23;
    const double least = __dmul_rn((double)__uint_as_float(low), 1.0 - 0x1p-24);
    const double tolerance = __dmul_rn(__dadd_rn(w.atol, __dmul_rn(w.rtol, least)), 1.0 - 0x1p-50);
    const double ulps = __dmul_rn(known.ulp, ulp_size(low));
    double cut = known.max_abs < ulps ? known.max_abs : ulps;
    cut = tolerance < cut ? tolerance : cut;
    const int high = __double2hiint(cut);
    now.run.low = low;
    now.cut = cut > 0.0 && tolerance > 0.0 ? __int_as_float(high < 0x7f000000 ? high : 0x7f000000) : 0.0f;
    const uint32_t top = __float_as_uint(__double2float_rn(known.max_golden));
    const bool free = known.max_golden >= ceiling || falls;
    const uint32_t below = top > low ? top - low : 0;
    now.limit = e > 253 ? 0 : free || below > BINADE ? BINADE : below;
}

/* True when the run counted it. */
__device__ static inline bool accuracy_fast(accuracy_run &now, accuracy_sums &sum, uint32_t got, double y) {
    const uint32_t r = __float_as_uint(__double2float_rn(y));
    const double e = __dsub_rn((double)__uint_as_float(got), y);
    const uint32_t s = got - r - (uint32_t)now.run.base;
    const uint32_t from_tie = ((uint32_t)__double2loint(y) << 3) - (uint32_t)((TIE_HALF - TIE_WINDOW) << 3);
    bool mine =
        (s < RUN_BINS) & (r - now.run.low < now.limit) & (fabsf(__int_as_float(__double2hiint(e))) < now.cut);
    if (now.run.low <= BINADE) { /* where the low bits of a golden do not tell */
        mine &= fabs(__dsub_rn(y, (double)__uint_as_float(r))) < UNTIED;
    } else {
        mine &= from_tie > (uint32_t)(TIE_WINDOW << 4);
    }
    if (mine) {
        now.run.counts += 1u << (RUN_BITS * s);
        now.abs = __dadd_rn(now.abs, fabs(e));
        sum.y = __dadd_rn(sum.y, y);
        sum.e = __dadd_rn(sum.e, e);
        sum.yy = __fma_rn(y, y, sum.yy);
        sum.ee = __fma_rn(e, e, sum.ee);
        sum.ey = __fma_rn(e, y, sum.ey);
    }
    return mine;
}

__device__ static inline void keep_max(bits64 *max, double value) {
    const bits64 bits = bits_of(value);
    if (bits > *(volatile bits64 *)max) {
        atomicMax(max, bits);
    }
}

__device__ static inline bool is_worse(double ulp, bits64 index, const accuracy_entry &than) {
    return ulp > than.ulp || (ulp == than.ulp && index < than.index);
}

/* Inserts into the block's list, which is ordered; the caller holds the lock. Readers without the lock must
 * never see the index of another ulp, so it is withdrawn before the ulp grows. */
__device__ static inline void enter_worst(accuracy_shared *shared, const accuracy_entry &entry) {
    volatile bits64 *const last_ulp = &shared->last_ulp;
    volatile bits64 *const last_index = &shared->last_index;
    unsigned at = shared->count;
    while (at > 0 && is_worse(entry.ulp, entry.index, shared->worst[at - 1])) {
        at--;
    }
    if (at == ASSAY_WORST) {
        return;
    }
    const unsigned last = shared->count < ASSAY_WORST ? shared->count : ASSAY_WORST - 1;
    for (unsigned i = last; i > at; i--) {
        shared->worst[i] = shared->worst[i - 1];
    }
    shared->worst[at] = entry;
    shared->count = last + 1;
    if (last + 1 == ASSAY_WORST) {
        *last_index = NONE;
        __threadfence_block();
        *last_ulp = bits_of(shared->worst[ASSAY_WORST - 1].ulp);
        __threadfence_block();
        *last_index = shared->worst[ASSAY_WORST - 1].index;
    }
}

/* An element that may be among the worst of the block. */
__device__ static inline void note_worst(accuracy_shared *shared, double ulp, double golden, uint32_t got,
                                         bits64 index) {
    const bits64 bits = bits_of(ulp);
    const bits64 least = *(volatile bits64 *)&shared->last_ulp;
    const bits64 last = *(volatile bits64 *)&shared->last_index;
    const bits64 again = *(volatile bits64 *)&shared->last_ulp;
    if (bits < least || (bits == least && bits == again && index > last)) {
        return;
    }
    const accuracy_entry entry = {ulp, golden, index, got, 0};
    for (bool done = false; !done;) {
        if (atomicCAS(&shared->lock, 0u, 1u) == 0u) {
            __threadfence_block();
            enter_worst(shared, entry);
            __threadfence_block();
            atomicExch(&shared->lock, 0u);
            done = true;
        }
    }
}

__device__ static inline void note_outside(accuracy_shared *shared, bits64 index) {
    atomicAdd(&shared->outside, 1ull);
    if (index < *(volatile bits64 *)&shared->first) {
        atomicMin(&shared->first, index);
    }
}

/* A finite pair that is no near tie, `r` the golden's rounding. */
__device__ static inline void accuracy_measure(accuracy_run &now, accuracy_sums &sum, const accuracy_work &w,
                                               accuracy_shared *shared, unsigned *tally, uint32_t got,
                                               uint32_t r, double y, bits64 index) {
    const double e = __dsub_rn((double)__uint_as_float(got), y);
    const double abs = fabs(e);
    const double ulp = __dmul_rn(abs, ulp_inverse(r));
    const int distance = ulp_clamped(ulp_image(got) - ulp_image(r));
    if (!(abs <= __dadd_rn(w.atol, __dmul_rn(w.rtol, fabs(y))))) {
        note_outside(shared, index);
    }
    keep_max(&shared->max_abs, abs);
    keep_max(&shared->max_golden, fabs(y));
    keep_max(&shared->max_ulp, ulp);
    if (ulp > 0.0) {
        note_worst(shared, ulp, y, got, index);
    }
    if (got != r && distance == 0) {
        atomicAdd(&shared->zero_sign, 1ull);
    }
    if (r >> 31 != 0) {
        atomicAdd(&tally[tally_cell(r, distance)], 1u);
    } else {
        run_count(now.run, r, distance, tally);
    }
    now.abs = __dadd_rn(now.abs, abs);
    sum.y = __dadd_rn(sum.y, y);
    sum.e = __dadd_rn(sum.e, e);
    sum.yy = __fma_rn(y, y, sum.yy);
    sum.ee = __fma_rn(e, e, sum.ee);
    sum.ey = __fma_rn(e, y, sum.ey);
}

/* One element in full. A near tie goes to the host unjudged. */
__device__ static inline void accuracy_word(accuracy_run &now, accuracy_sums &sum, const accuracy_work &w,
                                            accuracy_shared *shared, unsigned *tally, double ceiling,
                                            bool falls, uint32_t got, double y, bits64 index) {
    const uint32_t r = __float_as_uint(__double2float_rn(y));
    if (near_tie(y)) {
        const bits64 slot = atomicAdd(&w.out->ties, 1ull);
        if (slot < w.tie_room) {
            w.ties[slot] = {0.0, y, index, got, 0};
        }
        return;
    }
    if ((got & MAGNITUDE) >= INFINITE) {
        const double infinity = double_of(0x7ff0000000000000ull);
        atomicAdd(&shared->apart, 1ull);
        atomicAdd(&tally[CELL_APART], 1u);
        note_outside(shared, index);
        keep_max(&shared->max_ulp, infinity);
        note_worst(shared, infinity, y, got, index);
        return;
    }
    if ((r & RUN_NONE) != now.run.low) {
        accuracy_flush(now, shared, tally);
        accuracy_enter(now, w, shared->known, ceiling, falls, r);
    }
    accuracy_measure(now, sum, w, shared, tally, got, r, y, index);
}

/* ---- a block's beginning and end ---- */

__device__ static void accuracy_open(accuracy_shared *shared, unsigned *tally, const accuracy_work &w) {
    tally_clear(tally);
    shared->ulps[threadIdx.x] = 0.0;
    if (threadIdx.x == 0) {
        shared->outside = shared->apart = shared->zero_sign = 0;
        shared->first = NONE;
        shared->max_abs = shared->max_golden = shared->max_ulp = 0;
        shared->known = *w.known;
        shared->last_ulp = bits_of(w.known->ulp);
        shared->last_index = w.known->index;
        shared->lock = shared->count = 0;
    }
    __syncthreads();
}

/* Sums in one order: lanes by halves, warps ascending. */
__device__ static void accuracy_fold(accuracy_shared *shared, const accuracy_sums &sum, double *out) {
    double v[SUMS];
    v[SUM_ULP] = shared->ulps[threadIdx.x];
    v[SUM_Y] = sum.y;
    v[SUM_YY] = sum.yy;
    v[SUM_E] = sum.e;
    v[SUM_EE] = sum.ee;
    v[SUM_EY] = sum.ey;
#pragma unroll
    for (int k = 0; k < SUMS; k++) {
        for (int apart = 16; apart > 0; apart /= 2) {
            v[k] = __dadd_rn(v[k], __shfl_xor_sync(0xffffffffu, v[k], apart));
        }
        if ((threadIdx.x & 31) == 0) {
            shared->folded[k][threadIdx.x / 32] = v[k];
        }
    }
    __syncthreads();
    if (threadIdx.x < SUMS) {
        double total = 0.0;
        for (int i = 0; i < JUDGE_THREADS / 32; i++) {
            total = __dadd_rn(total, shared->folded[threadIdx.x][i]);
        }
        out[threadIdx.x] = total;
    }
}

__device__ static void accuracy_close(accuracy_shared *shared, unsigned *tally, const accuracy_sums &sum,
                                      const accuracy_work &w) {
    __shared__ bits64 slot;
    __syncthreads();
    accuracy_fold(shared, sum, w.sums + (size_t)blockIdx.x * SUMS);
    tally_publish(tally, w.cells);
    if (threadIdx.x == 0) {
        accuracy_out *const out = w.out;
        if (shared->outside != 0) {
            atomicAdd(&out->outside, shared->outside);
            atomicAdd(&out->apart, shared->apart);
            atomicMin(&out->first, shared->first);
        }
        if (shared->zero_sign != 0) {
            atomicAdd(&out->zero_sign, shared->zero_sign);
        }
        keep_max(&out->max_abs, double_of(shared->max_abs));
        keep_max(&out->max_golden, double_of(shared->max_golden));
        keep_max(&out->max_ulp, double_of(shared->max_ulp));
        slot = shared->count == 0 ? 0 : atomicAdd(&out->worst, (bits64)shared->count);
    }
    __syncthreads();
    if (threadIdx.x < shared->count) {
        w.worst[slot + threadIdx.x] = shared->worst[threadIdx.x];
    }
}

#include "accuracy_kernels.cuh"

#endif
