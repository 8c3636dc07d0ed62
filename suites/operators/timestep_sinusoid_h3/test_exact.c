/* test_exact.c - the exact value of tiny arguments, where it is decided without MPFR, against MPFR with
 * enough digits for every case, the exact middles between two numbers included. */
#include "dtype.h"
#include "operator.h"
#include "philox.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <mpfr.h>

/* p*p/6 of the smallest argument is about 2^-330 of it: the digits must reach well beyond that. */
#define BITS 1200

static const struct {
    int64_t width;
    double max_period;
} settings[] = {{256, 10000.0}, {8, 10000.0}, {96, 1e6},    {32, 65536.0},
                {12, 2.25},     {6, 0.5},     {320, 100.0}, {2, 10000.0}};

static assay_attrs attrs_of(size_t setting) {
    assay_attrs attrs = {.count = 2};
    attrs.items[0] = (assay_attr){.name = "width", .type = ASSAY_ATTR_INT, .i = settings[setting].width};
    attrs.items[1] =
        (assay_attr){.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = settings[setting].max_period};
    return attrs;
}

/* Frequencies of one setting at BITS digits. */
static void frequency(mpfr_t f, size_t setting, size_t k) {
    mpfr_set_d(f, settings[setting].max_period, MPFR_RNDN);
    mpfr_log(f, f, MPFR_RNDN);
    mpfr_mul_ui(f, f, (unsigned long)(2 * k), MPFR_RNDN);
    mpfr_div_ui(f, f, (unsigned long)settings[setting].width, MPFR_RNDN);
    mpfr_neg(f, f, MPFR_RNDN);
    mpfr_exp(f, f, MPFR_RNDN);
}

/* The FP32 number nearest to sin or cos of f*x, from its distance to the middle of its two neighbours. */
static uint32_t reference(mpfr_t f, float x, bool sine) {
    mpfr_t v;
    mpfr_t middle;
    mpfr_init2(v, BITS);
    mpfr_init2(middle, BITS);
    mpfr_mul_d(v, f, (double)fabsf(x), MPFR_RNDN);
    (void)(sine ? mpfr_sin(v, v, MPFR_RNDN) : mpfr_cos(v, v, MPFR_RNDN));
    uint32_t lower = assay_f32_bits(mpfr_get_flt(v, MPFR_RNDZ));
    mpfr_set_d(middle, (double)assay_f32_from_bits(lower), MPFR_RNDN);
    mpfr_add_d(middle, middle, (double)assay_f32_from_bits(lower + 1), MPFR_RNDN);
    mpfr_div_ui(middle, middle, 2, MPFR_RNDN);
    uint32_t bits = lower + (mpfr_cmp(v, middle) > 0);
    mpfr_clear(v);
    mpfr_clear(middle);
    return bits | (sine ? assay_f32_bits(x) & 0x80000000U : 0);
}

static const assay_operator_def *op(void) {
    return assay_operator_find("timestep_sinusoid_h3");
}

/* The n-th argument: all small subnormals (every middle of 1/10, 1/100, ... is among them), then patterns of
 * either sign spread over everything below 2^-40. */
static float argument(uint32_t n, uint32_t spread) {
    uint32_t bits = n < 600 ? n : (uint32_t)((uint64_t)(n - 600) * spread % 0x2b800000U);
    return assay_f32_from_bits(bits | (n % 5 == 4 ? 0x80000000U : 0));
}

ParameterizedTestParameters(exact, tiny) {
    static int indices[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return cr_make_param_array(int, indices, sizeof indices / sizeof indices[0]);
}

ParameterizedTest(int *index, exact, tiny) {
    size_t setting = (size_t)*index;
    assay_attrs attrs = attrs_of(setting);
    size_t half = (size_t)settings[setting].width / 2;
    size_t step = half > 8 ? half / 8 : 1; /* 0, half/4, half/2 and 3 half/4 are the decimal ones */
    mpfr_t f;
    mpfr_init2(f, BITS);
    for (size_t k = 0; k < half; k += step) {
        frequency(f, setting, k);
        for (uint32_t n = 0; n < 1400; n++) {
            float x = argument(n, 1234577U + (uint32_t)k);
            uint32_t got = op()->exact(&attrs, x, half + k);
            uint32_t want = reference(f, x, true);
            cr_assert_eq(got, want, "sin, channel %zu, input %08x: %08x, want %08x", k, assay_f32_bits(x),
                         got, want);
            if (n % 16 == 0) {
                got = op()->exact(&attrs, x, k);
                cr_assert_eq(got, 0x3f800000U, "cos, channel %zu, input %08x: %08x", k, assay_f32_bits(x),
                             got);
            }
        }
    }
    mpfr_clear(f);
    mpfr_free_cache();
}

/* The middles themselves, at both ends of the subnormals and above: one tenth of an odd multiple of five. */
Test(exact, middles_round_down) {
    assay_attrs attrs = attrs_of(0);
    mpfr_t f;
    mpfr_init2(f, BITS);
    frequency(f, 0, 32);
    static const uint32_t starts[] = {5, 4005, 4000005, 8388595};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
        for (uint32_t n = 0; n < 100; n++) {
            float x = assay_f32_from_bits(starts[s] + 10 * n);
            uint32_t got = op()->exact(&attrs, x, 128 + 32);
            cr_assert_eq(got, reference(f, x, true), "input %08x", starts[s] + 10 * n);
            if (starts[s] + 10 * n < 0x00800000U) {
                cr_assert_eq(got, (starts[s] + 10 * n) / 10, "the middle of input %08x", starts[s] + 10 * n);
            }
        }
    }
    mpfr_clear(f);
    mpfr_free_cache();
}
