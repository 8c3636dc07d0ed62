/* report_stats.c - see the header. */
#include "report_stats.h"

#include <math.h>
#include <stdlib.h>

static void swap(double *a, double *b) {
    const double t = *a;
    *a = *b;
    *b = t;
}

/* Quickselect with a median-of-three pivot: afterwards values[k] is the k-th smallest, smaller ones before
 * it. */
static double select_rank(double *values, size_t n, size_t k) {
    size_t low = 0;
    size_t high = n - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < values[low]) {
            swap(&values[middle], &values[low]);
        }
        if (values[high] < values[low]) {
            swap(&values[high], &values[low]);
        }
        if (values[high] < values[middle]) {
            swap(&values[high], &values[middle]);
        }
        const double pivot = values[middle];
        size_t i = low;
        size_t j = high;
        while (i <= j) {
            while (i < high && values[i] < pivot) {
                i++;
            }
            while (j > low && pivot < values[j]) {
                j--;
            }
            if (i <= j) {
                swap(&values[i], &values[j]);
                i++;
                if (j == 0) {
                    break;
                }
                j--;
            }
        }
        if (k <= j) {
            high = j;
        } else if (k >= i) {
            low = i;
        } else {
            break;
        }
    }
    return values[k];
}

double report_quantile(double *values, size_t n, double q) {
    if (n == 0) {
        return (double)NAN;
    }
    const double place = q * (double)(n - 1);
    const size_t k = (size_t)place;
    const double low = select_rank(values, n, k);
    if (k + 1 >= n || place <= (double)k) {
        return low;
    }
    double next = values[k + 1]; /* everything behind k is at least values[k] */
    for (size_t i = k + 2; i < n; i++) {
        if (values[i] < next) {
            next = values[i];
        }
    }
    return low + (place - (double)k) * (next - low);
}

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* Index in [0, n) by the multiply-high method on 32 bits; the bias is below n / 2^32. */
static size_t next_index(uint64_t *state, size_t n) {
    return (size_t)((next_random(state) >> 32) * (uint64_t)n >> 32);
}

static double copied_median(double *scratch, const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        scratch[i] = values[i];
    }
    return report_quantile(scratch, n, 0.5);
}

bool report_bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb, bool paired,
                            report_ratio *out) {
    *out = (report_ratio){(double)NAN, (double)NAN, (double)NAN};
    if (na == 0 || nb == 0 || (paired && na != nb) || na > UINT32_MAX || nb > UINT32_MAX) {
        return false;
    }
    double *ra = malloc(na * sizeof *ra);
    double *rb = malloc(nb * sizeof *rb);
    double *ratios = malloc(REPORT_BOOTSTRAP_RESAMPLES * sizeof *ratios);
    bool ok = ra != NULL && rb != NULL && ratios != NULL;
    if (ok) {
        const double mb = copied_median(rb, b, nb);
        ok = mb > 0;
        out->ratio = ok ? copied_median(ra, a, na) / mb : (double)NAN;
    }
    uint64_t state = REPORT_BOOTSTRAP_SEED;
    size_t kept = 0;
    for (size_t r = 0; ok && r < REPORT_BOOTSTRAP_RESAMPLES; r++) {
        for (size_t i = 0; i < na; i++) {
            const size_t k = next_index(&state, na);
            ra[i] = a[k];
            if (paired) {
                rb[i] = b[k];
            }
        }
        for (size_t i = 0; !paired && i < nb; i++) {
            rb[i] = b[next_index(&state, nb)];
        }
        const double mb = report_quantile(rb, nb, 0.5);
        if (mb > 0) {
            ratios[kept++] = report_quantile(ra, na, 0.5) / mb;
        }
    }
    if (ok) {
        out->low = report_quantile(ratios, kept, 0.025);
        out->high = report_quantile(ratios, kept, 0.975);
    }
    free(ra);
    free(rb);
    free(ratios);
    return ok;
}
