/* exact.c - the correctly rounded FP32 value of one output element: tiny arguments in double-double, all
 * others by MPFR.
 *
 * Tiny arguments. Let t > 0, f = freq[k], p = t*f, |p| < 2^-50. Then cos(p) > 1 - 2^-101 rounds to 1, and
 * p (1 - 2^-102) < sin(p) < p. Let T be the middle of the two FP32 numbers around p. sin(p) rounds to the
 * lower one when it is below T, to the upper one when it is above; sin(p) = T cannot be, as T is algebraic
 * and not 0. With f = hi + lo, |f - hi - lo| <= 2^-106 f,
 *
 *     ph = t*hi    pl = fma(t, hi, -ph) + t*lo    d = (ph - T) + pl
 *
 * the first term of pl is exact (24 + 53 bits), the rest of the rounding is below 2^-102 p, so that
 * |sin(p) - T - d| < 2^-100 p + 2^-53 |d|, and d tells the side whenever |d| > 2^-98 p.
 *
 * It does not when p is T itself, which happens where f is rational: 10000^(-32/128) is 1/10, and every tenth
 * subnormal times 1/10 is such a middle. For f = 1/N with a whole N <= 2^53 the sign of fma(N, T, -t) is the
 * exact sign of T - p. Equal: sin(p) < p = T, the lower number. Else p differs from T by more than 2^-80 p,
 * which the step from p to sin(p) does not bridge.
 *
 * MPFR decides what is left. */
#include "dtype.h"
#include "sinusoid.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Enough for a tie decision: an FP32 tie needs 25 bits, the closest known approach of sin/cos to one about 60
 * more; the exponent of the argument is added because the reduction modulo pi cancels it. */
#define BASE_BITS 160
#define BITS      (BASE_BITS + 128)
#define TINY      0x1p-50

/* freq[k] to BITS, as hi + lo, and as 1/inverse where that is a whole number up to 2^53 (else 0). */
typedef struct frequency {
    atomic_bool known; /* set last */
    double hi, lo, inverse;
    mpfr_t value;
} frequency;

/* base^exponent, 0 when it exceeds 2^53. */
static uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (uint64_t i = 0; i < exponent; i++) {
        if (base != 0 && result > (UINT64_C(1) << 53) / base) {
            return 0;
        }
        result *= base;
    }
    return result;
}

/* max_period^(k/half) when it is a whole number up to 2^53, else 0. With max_period = b^e, b no power itself,
 * it is whole exactly when half divides e*k. */
static double whole_inverse(sinusoid_attrs a, size_t k) {
    if (!(a.max_period >= 2.0 && a.max_period <= 0x1p53) || a.max_period != floor(a.max_period)) {
        return k == 0 ? 1.0 : 0.0;
    }
    for (uint64_t e = 53; e >= 1; e--) {
        uint64_t b = (uint64_t)llround(pow(a.max_period, 1.0 / (double)e));
        if (b >= 2 && (double)power(b, e) == a.max_period) {
            return e * k % a.half == 0 ? (double)power(b, e * k / a.half) : 0.0;
        }
    }
    return 0.0;
}

/* The caller clears f->value. */
static void frequency_make(sinusoid_attrs a, size_t k, frequency *f) {
    mpfr_t low;
    mpfr_init2(f->value, BITS);
    (void)mpfr_set_d(f->value, a.max_period, MPFR_RNDN);
    (void)mpfr_log(f->value, f->value, MPFR_RNDN);
    (void)mpfr_mul_ui(f->value, f->value, (unsigned long)k, MPFR_RNDN);
    (void)mpfr_div_ui(f->value, f->value, (unsigned long)a.half, MPFR_RNDN);
    (void)mpfr_neg(f->value, f->value, MPFR_RNDN);
    (void)mpfr_exp(f->value, f->value, MPFR_RNDN);
    mpfr_init2(low, BITS);
    f->inverse = whole_inverse(a, k);
    f->hi = mpfr_get_d(f->value, MPFR_RNDN);
    (void)mpfr_sub_d(low, f->value, f->hi, MPFR_RNDN);
    f->lo = mpfr_get_d(low, MPFR_RNDN);
    mpfr_clear(low);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* Frequencies for one pair of attributes, shared by all threads, each made when first asked for. Kept until
 * the process ends: a run has few pairs. */
enum { KEPT = 512 };

typedef struct table {
    sinusoid_attrs attrs;
    struct table *next;
    pthread_mutex_t making;
    frequency f[KEPT];
} table;

/* The table of `a`; NULL when memory is short. */
static table *table_of(sinusoid_attrs a) {
    static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
    static table *first;
    static _Thread_local table *last;
    if (last != NULL && last->attrs.half == a.half && last->attrs.max_period == a.max_period) {
        return last;
    }
    (void)pthread_mutex_lock(&adding);
    table *t = first;
    while (t != NULL && (t->attrs.half != a.half || t->attrs.max_period != a.max_period)) {
        t = t->next;
    }
    if (t == NULL && (t = calloc(1, sizeof *t)) != NULL) {
        t->attrs = a;
        t->next = first;
        (void)pthread_mutex_init(&t->making, NULL);
        first = t;
    }
    (void)pthread_mutex_unlock(&adding);
    last = t;
    return t;
}

/* freq[k]: a shared one, or `own`, made for the caller, who then clears its value. */
static const frequency *frequency_of(sinusoid_attrs a, size_t k, frequency *own) {
    table *t = k < KEPT ? table_of(a) : NULL;
    if (t == NULL) {
        frequency_make(a, k, own);
        return own;
    }
    if (!atomic_load_explicit(&t->f[k].known, memory_order_acquire)) {
        (void)pthread_mutex_lock(&t->making);
        if (!atomic_load_explicit(&t->f[k].known, memory_order_relaxed)) {
            frequency_make(a, k, &t->f[k]);
            atomic_store_explicit(&t->f[k].known, true, memory_order_release);
        }
        (void)pthread_mutex_unlock(&t->making);
    }
    return &t->f[k];
}

/* sin(t*f) for t > 0, t*f < TINY, by the rule above; false when it does not decide. */
static bool sine_tiny(double t, const frequency *f, uint32_t *bits) {
    double ph = t * f->hi;
    if (ph < 0x1p-151) {
        *bits = 0;
        return true;
    }
    float below = (float)ph;
    uint32_t lower = assay_f32_bits(below) - ((double)below > ph);
    double middle = 0.5 * ((double)assay_f32_from_bits(lower) + (double)assay_f32_from_bits(lower + 1));
    if (f->inverse != 0.0) {
        *bits = lower + (fma(f->inverse, middle, -t) < 0.0);
        return true;
    }
    double pl = fma(t, f->hi, -ph) + t * f->lo;
    double d = (ph - middle) + pl;
    *bits = lower + (d > 0.0);
    return fabs(d) > 0x1p-98 * ph;
}

static uint32_t by_mpfr(const frequency *f, float x, bool cosine) {
    mpfr_t value;
    mpfr_t t;
    mpfr_init2(value, BITS);
    mpfr_init2(t, 24);
    (void)mpfr_set_flt(t, x, MPFR_RNDN);
    (void)mpfr_mul(value, f->value, t, MPFR_RNDN);
    (void)(cosine ? mpfr_cos(value, value, MPFR_RNDN) : mpfr_sin(value, value, MPFR_RNDN));
    uint32_t bits = assay_f32_bits(mpfr_get_flt(value, MPFR_RNDN));
    mpfr_clear(value);
    mpfr_clear(t);
    /* Lanes are threads that end: nothing else would free their constants. */
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return bits;
}

static uint32_t exact_of(const frequency *f, float x, bool cosine) {
    double t = fabs((double)x);
    uint32_t sign = assay_f32_bits(x) & 0x80000000U;
    uint32_t bits = 0;
    if (t * f->hi < TINY) {
        if (cosine) {
            return 0x3f800000U;
        }
        if (t == 0.0) {
            return sign;
        }
        if (sine_tiny(t, f, &bits)) {
            return sign | bits;
        }
    }
    return by_mpfr(f, x, cosine);
}

uint32_t sinusoid_exact(const assay_attrs *attrs, float x, size_t channel) {
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    frequency own;
    const frequency *f = frequency_of(a, channel % a.half, &own);
    uint32_t bits = exact_of(f, x, channel < a.half);
    if (f == &own) {
        mpfr_clear(own.value);
    }
    return bits;
}
