/* golden.c - the FP64 golden: frequencies rounded once to FP64, a = t * freq[k] rounded once, then cos(a) and
 * sin(a).
 *
 * For |a| <= 1, which is all of the domain, both come from Taylor polynomials evaluated with fused
 * multiply-adds in one fixed order, so that the scalar, AVX2 and AVX-512 builds of the same loop give the
 * same bits:
 *
 *     z = a*a    cos = 1 + z*(C1 + z*(C2 + ... C10))     sin = a + (a*z)*(S1 + z*(S2 + ... S10))
 *
 * The neglected terms are below 2^-60 of the result; rounding costs less than one ulp. Beyond 1 (possible
 * with check_range = false or max_period < 1) the C library's sin and cos are used. */
#include "compare.h"
#include "sinusoid.h"

#include <math.h>
#include <stdlib.h>

#define TILE 32 /* channels per inner loop: a constant, so that compilers vectorise it whole */

#define C1  (-0x1p-1)
#define C2  (1.0 / 24.0)
#define C3  (-1.0 / 720.0)
#define C4  (1.0 / 40320.0)
#define C5  (-1.0 / 3628800.0)
#define C6  (1.0 / 479001600.0)
#define C7  (-1.0 / 87178291200.0)
#define C8  (1.0 / 20922789888000.0)
#define C9  (-1.0 / 6402373705728000.0)
#define C10 (1.0 / 2432902008176640000.0)
#define S1  (-1.0 / 6.0)
#define S2  (1.0 / 120.0)
#define S3  (-1.0 / 5040.0)
#define S4  (1.0 / 362880.0)
#define S5  (-1.0 / 39916800.0)
#define S6  (1.0 / 6227020800.0)
#define S7  (-1.0 / 1307674368000.0)
#define S8  (1.0 / 355687428096000.0)
#define S9  (-1.0 / 121645100408832000.0)
#define S10 (1.0 / 51090942171709440000.0)

#define FMA(x, y, z) __builtin_fma((x), (y), (z))

/* One tile: TILE frequencies, TILE cosines, TILE sines. */
static inline __attribute__((always_inline)) void tile_body(double t, const double *restrict freq,
                                                            double *restrict cosine, double *restrict sine) {
    for (size_t i = 0; i < TILE; i++) {
        double a = t * freq[i];
        double z = a * a;
        double c = FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, C10, C9), C8), C7), C6), C5);
        c = FMA(z, FMA(z, FMA(z, FMA(z, c, C4), C3), C2), C1);
        double s = FMA(z, FMA(z, FMA(z, FMA(z, FMA(z, S10, S9), S8), S7), S6), S5);
        s = FMA(z, FMA(z, FMA(z, FMA(z, s, S4), S3), S2), S1);
        cosine[i] = FMA(z, c, 1.0);
        /* a*z as fma(a, z, +0): for a = -0 the product must be +0, else the sum below would lose the sign of
         * zero. */
        sine[i] = FMA(FMA(a, z, 0.0), s, a);
    }
}

typedef void tile_fn(double t, const double *freq, double *cosine, double *sine);

static void tile_scalar(double t, const double *freq, double *cosine, double *sine) {
    tile_body(t, freq, cosine, sine);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void tile_avx2(double t, const double *freq, double *cosine,
                                                          double *sine) {
    tile_body(t, freq, cosine, sine);
}

__attribute__((target("avx512f,avx512vl,avx512dq,fma"))) static void
tile_avx512(double t, const double *freq, double *cosine, double *sine) {
    tile_body(t, freq, cosine, sine);
}
#endif

/* Follows the judge's own choice of instruction set, so that assay_simd_force reaches it too. */
static tile_fn *tile_pick(void) {
#if defined(__x86_64__)
    const char *name = assay_simd_name();
    if (strcmp(name, "avx512") == 0) {
        return tile_avx512;
    }
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("fma")) {
        return tile_avx2;
    }
#endif
    return tile_scalar;
}

/* One row by the C library. */
static void row_far(double t, const double *freq, size_t half, double *out) {
    for (size_t k = 0; k < half; k++) {
        out[k] = cos(t * freq[k]);
        out[half + k] = sin(t * freq[k]);
    }
}

#define KEPT 512 /* frequencies; wider rows make theirs each time */

/* Frequencies padded to whole tiles. Each costs a long double exponential, and callers come with few rows at
 * a time, so a thread keeps those of its last attributes. `own` receives what the caller must free, or NULL.
 */
static const double *frequencies(sinusoid_attrs a, double **own) {
    static _Thread_local struct {
        sinusoid_attrs attrs;
        double freq[KEPT];
    } cache;
    size_t padded = (a.half + TILE - 1) / TILE * TILE;
    *own = NULL;
    if (padded > KEPT) {
        *own = sinusoid_alloc(padded, sizeof **own);
        sinusoid_frequencies_f64(a, *own);
        return *own;
    }
    if (cache.attrs.half != a.half || cache.attrs.max_period != a.max_period) {
        memset(&cache, 0, sizeof cache);
        sinusoid_frequencies_f64(a, cache.freq);
        cache.attrs = a;
    }
    return cache.freq;
}

void sinusoid_golden(const assay_attrs *attrs, const float *x, size_t rows, double *out) {
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    double *own = NULL;
    const double *freq = frequencies(a, &own);
    double largest = a.max_period >= 1.0 || a.half == 0 ? 1.0 : freq[a.half - 1];
    tile_fn *tile = tile_pick();
    size_t whole = a.half / TILE * TILE;
    for (size_t r = 0; r < rows; r++) {
        double t = (double)x[r];
        double *row = out + r * 2 * a.half;
        if (!(fabs(t) * largest <= 1.0)) {
            row_far(t, freq, a.half, row);
            continue;
        }
        for (size_t k = 0; k < whole; k += TILE) {
            tile(t, freq + k, row + k, row + a.half + k);
        }
        if (whole < a.half) {
            double cosine[TILE];
            double sine[TILE];
            size_t rest = a.half - whole;
            tile(t, freq + whole, cosine, sine);
            memcpy(row + whole, cosine, rest * sizeof *row);
            memcpy(row + a.half + whole, sine, rest * sizeof *row);
        }
    }
    free(own);
}
