/* exact.c - the correctly rounded FP32 value of one output element, by MPFR. */
#include "dtype.h"
#include "sinusoid.h"

#include <mpfr.h>

/* Enough for a tie decision: an FP32 tie needs 25 bits, the closest known approach of sin/cos to one about 60
 * more; the exponent of the argument is added because the reduction modulo pi cancels it. */
#define BASE_BITS 160

uint32_t sinusoid_exact(const assay_attrs *attrs, float x, size_t channel) {
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    size_t k = channel % a.half;
    mpfr_t value;
    mpfr_init2(value, BASE_BITS + 128);
    (void)mpfr_set_d(value, a.max_period, MPFR_RNDN);
    (void)mpfr_log(value, value, MPFR_RNDN);
    (void)mpfr_mul_ui(value, value, (unsigned long)k, MPFR_RNDN);
    (void)mpfr_div_ui(value, value, (unsigned long)a.half, MPFR_RNDN);
    (void)mpfr_neg(value, value, MPFR_RNDN);
    (void)mpfr_exp(value, value, MPFR_RNDN);
    mpfr_t t;
    mpfr_init2(t, 24);
    (void)mpfr_set_flt(t, x, MPFR_RNDN);
    (void)mpfr_mul(value, value, t, MPFR_RNDN);
    (void)(channel < a.half ? mpfr_cos(value, value, MPFR_RNDN) : mpfr_sin(value, value, MPFR_RNDN));
    uint32_t bits = assay_f32_bits(mpfr_get_flt(value, MPFR_RNDN));
    mpfr_clear(value);
    mpfr_clear(t);
    mpfr_free_cache2(
        MPFR_FREE_LOCAL_CACHE); /* lanes are threads that end: nothing else would free their constants */
    return bits;
}
