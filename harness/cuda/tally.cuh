/* tally.cuh - the signed ulp histogram on the device. One per block in shared memory, cells as compare.h lays
 * them out.
 *
 * Along neighbouring rows of one channel the exponent hardly changes and the distances are few, so a thread
 * first counts in a run: five neighbouring distances of one binade, six bits each, in one register. It is
 * emptied into the histogram every RUN_MOST words and when the binade changes; what does not fit into it goes
 * to the histogram at once. */
#ifndef ASSAY_CUDA_TALLY_CUH
#define ASSAY_CUDA_TALLY_CUH

#include "cuda_private.h"

#define TALLY_CELLS (ASSAY_ULP_EXPONENTS * ASSAY_ULP_BINS)
#define TALLY_BYTES (TALLY_CELLS * 4)
#define CELL_EQUAL  (255 * ASSAY_ULP_BINS + ASSAY_ULP_HALF)
#define CELL_APART  (255 * ASSAY_ULP_BINS + 2 * ASSAY_ULP_HALF)

#define RUN_BINS 5u
#define RUN_BITS 6u
#define RUN_MOST 60u /* words between two flushes; a counter holds 63 */
#define RUN_NONE 0xff800000u
#define BINADE   0x00800000u

#define SIGN_BIT  0x80000000u
#define MAGNITUDE 0x7fffffffu
#define INFINITE  0x7f800000u

struct ulp_run {
    uint32_t low;    /* first bit pattern of the binade; RUN_NONE at the start */
    int base;        /* the distance that counter 0 counts */
    uint32_t counts; /* bits 6i .. 6i+5: words at distance base + i */
};

/* No two words of one binade are as far apart as this base: nothing fits into a run that has not begun. */
#define RUN_START                                                                                            \
    { RUN_NONE, 1 << 30, 0 }

__device__ static inline int64_t ulp_image(uint32_t bits) {
    const int64_t magnitude = bits & MAGNITUDE;
    return bits >> 31 != 0 ? -magnitude : magnitude;
}

/* Distance from `want` to `got`, cut to the histogram's range. */
__device__ static inline int ulp_clamped(int64_t distance) {
    return distance < -ASSAY_ULP_HALF  ? -ASSAY_ULP_HALF
           : distance > ASSAY_ULP_HALF ? ASSAY_ULP_HALF
                                       : (int)distance;
}

/* The cell of a clamped distance in the row of `want`. */
__device__ static inline unsigned tally_cell(uint32_t want, int distance) {
    return (want >> 23 & 255u) * ASSAY_ULP_BINS + (unsigned)(distance + ASSAY_ULP_HALF);
}

__device__ static inline void run_flush(ulp_run &run, unsigned *tally) {
#pragma unroll
    for (unsigned i = 0; i < RUN_BINS; i++) {
        const unsigned n = run.counts >> (RUN_BITS * i) & ((1u << RUN_BITS) - 1);
        if (n != 0) {
            atomicAdd(&tally[tally_cell(run.low, run.base + (int)i)], n);
        }
    }
    run.counts = 0;
}

/* Counts one word at this clamped distance from `want`, a number of the run's binade. An empty run is centred
 * on the distance first, inside the histogram: what lies beyond it never fits into a run unclamped. */
__device__ static inline void run_count(ulp_run &run, uint32_t want, int distance, unsigned *tally) {
    if (run.counts == 0) {
        const int most = ASSAY_ULP_HALF - (int)RUN_BINS + 1;
        const int base = distance - (int)RUN_BINS / 2;
        run.base = base < -ASSAY_ULP_HALF ? -ASSAY_ULP_HALF : base > most ? most : base;
    }
    const unsigned s = (unsigned)(distance - run.base);
    if (s < RUN_BINS) {
        run.counts += 1u << (RUN_BITS * s);
    } else {
        atomicAdd(&tally[tally_cell(want, distance)], 1u);
    }
}

__device__ static inline void tally_clear(unsigned *tally) {
    for (unsigned i = threadIdx.x; i < TALLY_CELLS; i += blockDim.x) {
        tally[i] = 0;
    }
}

__device__ static inline void tally_publish(const unsigned *tally, unsigned long long *global) {
    for (unsigned i = threadIdx.x; i < TALLY_CELLS; i += blockDim.x) {
        if (tally[i] != 0) {
            atomicAdd(&global[i], (unsigned long long)tally[i]);
        }
    }
}

#endif
