/* report_stats.h - what is derived from timing samples. Deterministic: the same samples give the same bits.
 */
#ifndef ASSAY_REPORT_STATS_H
#define ASSAY_REPORT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Resamples of a bootstrap, and the seed of its generator (splitmix64). Fixed, so that reports are
 * reproducible. */
#define REPORT_BOOTSTRAP_RESAMPLES 1000
#define REPORT_BOOTSTRAP_SEED      0x6173736179ull

/* Quantile q in [0, 1] of n >= 1 values by linear interpolation between order statistics (position q*(n-1));
 * q = 0.5 is the usual median. Reorders `values`. n = 0 gives NaN. */
double report_quantile(double *values, size_t n, double q);

typedef struct report_ratio {
    double ratio, low, high; /* of medians; percentile bootstrap interval, 2.5 % and 97.5 % */
} report_ratio;

/* median(a) / median(b). With paired, samples i of both belong to one interleaved iteration and are resampled
 * together (na must equal nb): drift that hits both cancels. Otherwise each is resampled on its own. False
 * (and NaN) when one is empty, median(b) is not positive, or memory runs out. */
bool report_bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb, bool paired,
                            report_ratio *out);

#endif
