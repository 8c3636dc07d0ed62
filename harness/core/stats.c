/* stats.c - see the header. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

double assay_quantile(double *values, size_t n, double q) {
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

static double copied_median(double *scratch, const double *values, size_t n) {
    memcpy(scratch, values, n * sizeof *scratch);
    return assay_quantile(scratch, n, 0.5);
}

/* Index in [0, n) by the multiply-high method; the bias is below n / 2^32. */
static size_t pick(uint32_t word, size_t n) {
    return (size_t)((uint64_t)word * n >> 32);
}

/* Room for resamples and for the ratios of their medians. */
typedef struct room {
    double *a, *b, *ratios;
    uint32_t *words;
} room;

/* The ratio of one resample; `words` has one word a pair, or one a sample. */
static double resample(const room *m, const double *a, size_t na, const double *b, size_t nb, bool paired) {
    for (size_t i = 0; i < na; i++) {
        m->a[i] = a[pick(m->words[i], na)];
    }
    for (size_t i = 0; i < nb; i++) {
        m->b[i] = b[pick(m->words[paired ? i : na + i], nb)];
    }
    return assay_quantile(m->a, na, 0.5) / assay_quantile(m->b, nb, 0.5);
}

bool assay_bootstrap_ratio(const double *a, size_t na, const double *b, size_t nb, bool paired,
                           assay_philox_key key, size_t draws, assay_ratio *ratio) {
    *ratio = (assay_ratio){(double)NAN, (double)NAN, (double)NAN};
    if (na == 0 || nb == 0 || draws == 0 || (paired && na != nb) || na > UINT32_MAX || nb > UINT32_MAX) {
        return false;
    }
    const size_t words = paired ? na : na + nb;
    const room m = {malloc(na * sizeof *m.a), malloc(nb * sizeof *m.b), malloc(draws * sizeof *m.ratios),
                    malloc(words * sizeof *m.words)};
    bool ok = m.a != NULL && m.b != NULL && m.ratios != NULL && m.words != NULL;
    if (ok) {
        const double below = copied_median(m.b, b, nb);
        ok = below > 0;
        ratio->value = ok ? copied_median(m.a, a, na) / below : (double)NAN;
    }
    size_t kept = 0;
    for (size_t d = 0; ok && d < draws; d++) {
        assay_philox_words(key, (uint64_t)d * words, words, m.words);
        m.ratios[kept] = resample(&m, a, na, b, nb, paired);
        kept += isfinite(m.ratios[kept]) != 0; /* a resample of b may have the median 0 */
    }
    if (ok) {
        ratio->low = assay_quantile(m.ratios, kept, 0.025);
        ratio->high = assay_quantile(m.ratios, kept, 0.975);
    }
    free(m.a);
    free(m.b);
    free(m.ratios);
    free(m.words);
    return ok;
}
