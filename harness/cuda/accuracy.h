/* accuracy.h - data that the accuracy kernels (accuracy.cuh) and the host (accuracy.cu) exchange. */
#ifndef ASSAY_CUDA_ACCURACY_H
#define ASSAY_CUDA_ACCURACY_H

#include "cuda_private.h"

enum accuracy_sum { SUM_ULP, SUM_Y, SUM_YY, SUM_E, SUM_EE, SUM_EY, SUMS };

/* An element that may be among the worst; also a near tie, whose ulp is not known yet. */
struct accuracy_entry {
    double ulp, golden;
    unsigned long long index; /* inside the call */
    uint32_t got, unused;
};

/* Found by a survey of some rows before the pass: bounds that the whole call can only exceed. An element
 * below all of them needs no second look. */
struct accuracy_known {
    double max_abs, max_golden;
    double ulp; /* of the 16th worst element surveyed, or the least positive number */
    unsigned long long index;
};

/* The best of one block of the survey. */
struct accuracy_best {
    double ulp;
    unsigned long long index;
    double max_abs, max_golden;
};

/* Results of a call but for the histogram. Maxima are bit patterns of non-negative doubles. */
struct accuracy_out {
    unsigned long long outside, apart, zero_sign, first;
    unsigned long long max_abs, max_golden, max_ulp;
    unsigned long long ties, worst; /* lengths of the lists; the first may exceed its room */
    double sum[SUMS];
    double first_golden;
    uint32_t first_got, unused;
};

/* Everything that the kernels of one call share; pointers into d->scratch. */
struct accuracy_work {
    const uint32_t *got;
    uint64_t rows, channels;
    uint32_t first_bits;
    double atol, rtol;
    unsigned long long *cells;
    accuracy_known *known;
    accuracy_best *best;
    unsigned survey, survey_rows; /* blocks of the survey, and rows of each */
    accuracy_out *out;
    double *sums; /* SUMS for each block */
    unsigned blocks, block_rows;
    accuracy_entry *worst; /* ASSAY_WORST for each block */
    accuracy_entry *ties;
    unsigned long long tie_room;
};

/* Blocks of a large call: four times what the 132 multiprocessors of an H200 hold at once. The same on every
 * GPU, since sums depend on it. A block's counters have 32 bits. */
#define ACCURACY_BLOCKS   1056u
#define ACCURACY_ROWS     4096u
#define ACCURACY_ELEMENTS ((uint64_t)1 << 31) /* of a block, at most */

#define SURVEY_BLOCKS 256u
#define SURVEY_ROWS   16u /* of a block, at most */

/* The kernels of one operator's golden, in this order on the stream. `golden` is the operator's own. */
typedef assay_code accuracy_launch(assay_device *d, const accuracy_work *work, const void *golden,
                                   assay_error *error);

/* Runs them, again with more room when there are more near ties than expected, settles the near ties and adds
 * everything to what->accuracy. */
assay_code assay_cuda_accuracy(assay_device *d, const assay_device_judgment *what, accuracy_launch *launch,
                               const void *golden, assay_error *error);

#endif
