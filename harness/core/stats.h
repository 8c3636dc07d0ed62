/* stats.h - what is derived from timing samples. Deterministic: the same samples and key give the same bits
 * on every machine. */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

#include "philox.h"

#include <stdbool.h>
#include <stddef.h>

/* Quantile q in [0, 1] of n >= 1 values by linear interpolation between order statistics (position q*(n-1));
 * q = 0.5 is the usual median. Reorders `values`. n = 0 gives NaN. */
double assay_quantile(double *values, size_t n, double q);

typedef struct assay_ratio {
    double value, low, high; /* of medians; percentile bootstrap interval, 2.5 % and 97.5 % */
} assay_ratio;

#define ASSAY_BOOTSTRAP_DRAWS 1000 /* the usual number of resamples */

/* median(a) / median(b) and its interval from `draws` resamples by the Philox stream of `key`. With paired,
 * samples i of both belong to one interleaved iteration and are resampled together (na must equal nb): drift
 * that hits both cancels. Otherwise each is resampled on its own. False (and NaN) when one is empty, draws is
 * 0, median(b) is not positive, or memory runs out. */
bool assay_bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb, bool paired,
                           assay_philox_key key, size_t draws, assay_ratio *ratio);

#endif
