/* timing_math.h - the arithmetic of the timing suite, free of workers and clocks: the order of an iteration,
 * the measuring loop over any callables, medians, bootstrap intervals, and the rules that turn a claim of
 * speed into "mistrusted". Private to suites. */
#ifndef ASSAY_TIMING_MATH_H
#define ASSAY_TIMING_MATH_H

#include "error.h"
#include "stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_TIMING_MAX_CALLABLES 8

/* Order of iteration `iteration` over n callables (n <= ASSAY_TIMING_MAX_CALLABLES): reversed on odd
 * iterations; for more than two the list is also rotated by one every second iteration, so that over 2n
 * iterations every callable takes every place twice and follows every neighbour from both sides. order[place]
 * = callable. */
void assay_timing_order(uint64_t iteration, size_t n, uint32_t *order);

/* One thing to time. `call` does it once; it may set *own_ns to its own measurement (a worker times itself
 * beside the candidate), else the loop's clock counts. False ends the loop. */
typedef struct assay_timing_callable {
    const char *name;
    bool (*call)(void *user, uint64_t *own_ns, assay_error *error);
    void *user;
} assay_timing_callable;

/* When to stop: at max_iterations, or once budget_ns is spent and min_iterations are done. Warm-ups may use a
 * quarter of the budget; at least one is made when warmups > 0. `between`, when not NULL, is called before
 * the first measured iteration (done = 0) and after each, outside what is timed or counts as spent; false
 * ends the loop. */
typedef struct assay_timing_rule {
    uint64_t warmups, min_iterations, max_iterations, budget_ns;
    bool (*between)(void *user, size_t done, assay_error *error);
    void *between_user;
} assay_timing_rule;

/* Raw samples: [callable][iteration] at callable * capacity + iteration. `outer_ns` is the loop's own clock
 * around the call. */
typedef struct assay_timing_samples {
    uint64_t *own_ns, *outer_ns;
    uint32_t *positions;
    size_t count, capacity; /* iterations */
} assay_timing_samples;

/* Every iteration (warm-ups included) calls every callable once, in the order above. `samples` is allocated
 * here and freed with assay_timing_samples_free, also after false. */
bool assay_timing_measure(const assay_timing_callable *callables, size_t n, const assay_timing_rule *rule,
                          uint64_t (*clock)(void *user), void *clock_user, assay_timing_samples *samples,
                          assay_error *error);
void assay_timing_samples_free(assay_timing_samples *samples);

/* Median of n >= 1 values (mean of the middle two for even n). `scratch` holds n values. */
double assay_timing_median(const uint64_t *values, size_t n, double *scratch);

/* Decimal gigabytes per second of `bytes` in `ns`. 0 when ns is 0. */
double assay_timing_gbps(uint64_t bytes, double ns);

/* assay_bootstrap_ratio, paired, over samples of n iterations. */
bool assay_timing_bootstrap(const uint64_t *a, const uint64_t *b, size_t n, assay_philox_key key,
                            size_t draws, assay_ratio *ratio);

/* What is known of a self-timed callable. All in nanoseconds. */
typedef struct assay_timing_claim {
    double single_median; /* own time of single calls */
    double batch_own;     /* own time of the batch whose claim comes nearest to what the judge saw */
    double batch_outer;   /* the judge's time of that batch */
    double least_outer;   /* the judge's time of the shortest batch of as many calls */
    uint64_t batch_calls;
    double floor;   /* the judge's time of a round trip that computes (almost) nothing */
    double roof;    /* least time a plain fill of the same bytes took on this machine, 0 = unknown */
    uint64_t bytes; /* output bytes of one call */
} assay_timing_claim;

/* Limits of the rules, in one place. A batch must be long against the round trip to say anything. */
#define ASSAY_TIMING_CLAIM_SHARE                                                                             \
    0.8 /* own time of a batch must reach this share of (judge's time - round trip) */
#define ASSAY_TIMING_SINGLE_SHARE 0.5    /* the median single call against the batch's mean call */
#define ASSAY_TIMING_ROOF_SHARE   0.5    /* faster than this share of a plain fill is beyond physics */
#define ASSAY_TIMING_ROOF_BYTES   65536u /* below, a fill is too short for its clock */

/* True when the claim can be believed; else `reason` (bytes long) says in one line which rule it broke. */
bool assay_timing_trust(const assay_timing_claim *claim, char *reason, size_t bytes);

/* ---- on a GPU ---- */

/* Calls per sample, so that a sample lasts `target_ns` when one call takes `one_ns`: 1 .. most. */
unsigned assay_timing_repeat(double one_ns, double target_ns, unsigned most);

/* Device time of one call beside what the judge's own kernels need in the same run. Nanoseconds. */
typedef struct assay_timing_device_claim {
    double per_call;
    double floor;                /* least time of an empty kernel, launched the same way; 0 = unknown */
    double roof;                 /* least time to fill the output's bytes; 0 = unknown */
    uint64_t bytes, cache_bytes; /* of the output; of the L2 cache, where a fill says nothing about memory */
} assay_timing_device_claim;

#define ASSAY_TIMING_DEVICE_MARGIN 1.3 /* faster than floor or roof by more than this is beyond physics */
#define ASSAY_TIMING_GRAPH_SHARE                                                                             \
    0.7 /* as CLAIM_SHARE, for graphs one after another: there is a gap between them */

/* As assay_timing_trust. */
bool assay_timing_trust_device(const assay_timing_device_claim *claim, char *reason, size_t bytes);

/* Readings taken between iterations: reading i was made when done[i] iterations were over (ascending). */
typedef struct assay_timing_marks {
    const size_t *done;
    const bool *bad;
    size_t count;
} assay_timing_marks;

/* How many of n iterations lie next to a bad reading: the nearest one before or after them is bad. */
size_t assay_timing_marked(const assay_timing_marks *marks, size_t n);

#endif
