/* test_stats.c - medians, quantiles and the bootstrap against definitions and hand-made samples. */
#include "stats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const assay_philox_key key = {{1, 2}};

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double by_sorting(const double *values, size_t n, double q) {
    double sorted[512];
    memcpy(sorted, values, n * sizeof *values);
    qsort(sorted, n, sizeof *sorted, ascending);
    const double place = q * (double)(n - 1);
    const size_t k = (size_t)place;
    return k + 1 < n ? sorted[k] + (place - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

Test(stats, quantile_equals_the_definition) {
    uint64_t state = 7;
    for (size_t n = 1; n <= 300; n++) {
        double values[300];
        double copy[300];
        for (size_t i = 0; i < n; i++) {
            state = state * 6364136223846793005ull + 1;
            values[i] = (double)(state >> 33) / (n % 3 == 0 ? 5e8 : 1.0); /* many equal ones, too */
            values[i] = n % 3 == 0 ? floor(values[i]) : values[i];
        }
        static const double qs[] = {0.0, 0.025, 0.05, 0.5, 0.95, 0.975, 1.0};
        for (size_t k = 0; k < sizeof qs / sizeof qs[0]; k++) {
            memcpy(copy, values, n * sizeof *values);
            const double got = assay_quantile(copy, n, qs[k]);
            const double want = by_sorting(values, n, qs[k]);
            cr_assert_eq(got, want, "n %zu q %g: got %.17g want %.17g", n, qs[k], got, want);
        }
    }
}

Test(stats, median_of_even_count_is_the_mean_of_the_middle_two) {
    double values[] = {9, 1, 4, 2};
    cr_assert_eq(assay_quantile(values, 4, 0.5), 3.0);
    cr_assert(isnan(assay_quantile(values, 0, 0.5)));
}

Test(stats, constant_ratio_has_no_width) {
    double a[200];
    double b[200];
    for (int i = 0; i < 200; i++) {
        a[i] = 100.0 + i % 17;
        b[i] = 2 * a[i];
    }
    assay_ratio r;
    cr_assert(assay_bootstrap_ratio(a, 200, b, 200, true, key, ASSAY_BOOTSTRAP_DRAWS, &r));
    cr_assert_eq(r.value, 0.5);
    cr_assert_eq(r.low, 0.5);
    cr_assert_eq(r.high, 0.5);
}

Test(stats, pairing_cancels_common_drift) {
    double a[101];
    double b[101];
    for (int i = 0; i < 101; i++) { /* both drift by a factor of 3; a is 10 % faster throughout */
        b[i] = 100.0 + 2 * i;
        a[i] = 0.9 * b[i];
    }
    assay_ratio paired;
    assay_ratio loose;
    cr_assert(assay_bootstrap_ratio(a, 101, b, 101, true, key, ASSAY_BOOTSTRAP_DRAWS, &paired));
    cr_assert(assay_bootstrap_ratio(a, 101, b, 101, false, key, ASSAY_BOOTSTRAP_DRAWS, &loose));
    cr_assert_lt(paired.high - paired.low, 1e-12);
    cr_assert_gt(loose.high - loose.low, 0.05);
}

Test(stats, same_samples_give_the_same_bits_and_the_interval_covers_the_ratio) {
    double a[150];
    double b[150];
    uint64_t state = 3;
    for (int i = 0; i < 150; i++) {
        state = state * 6364136223846793005ull + 1;
        a[i] = 1000.0 + (double)(state >> 56);
        state = state * 6364136223846793005ull + 1;
        b[i] = 1500.0 + (double)(state >> 56);
    }
    assay_ratio first;
    assay_ratio second;
    cr_assert(assay_bootstrap_ratio(a, 150, b, 150, true, key, ASSAY_BOOTSTRAP_DRAWS, &first));
    cr_assert(assay_bootstrap_ratio(a, 150, b, 150, true, key, ASSAY_BOOTSTRAP_DRAWS, &second));
    cr_assert_eq(memcmp(&first, &second, sizeof first), 0);
    cr_assert_leq(first.low, first.value);
    cr_assert_geq(first.high, first.value);
    cr_assert_lt(first.low, first.high);
    cr_assert_float_eq(first.value, 1128.0 / 1628.0, 0.02);
}

Test(stats, nothing_to_compare_is_refused) {
    double one[] = {1};
    double zero[] = {0};
    assay_ratio r;
    cr_assert_not(assay_bootstrap_ratio(one, 0, one, 1, false, key, ASSAY_BOOTSTRAP_DRAWS, &r));
    cr_assert_not(assay_bootstrap_ratio(one, 1, one, 0, false, key, ASSAY_BOOTSTRAP_DRAWS, &r));
    cr_assert_not(assay_bootstrap_ratio(one, 1, zero, 1, true, key, ASSAY_BOOTSTRAP_DRAWS, &r));
    cr_assert_not(assay_bootstrap_ratio(one, 1, one, 1, true, key, 0, &r));
    cr_assert(isnan(r.value));
}
