/* The registry, and the functions of timestep_sinusoid_h3 against MPFR, against the definition, and against
 * themselves on other instruction sets. */
#include "compare.h"
#include "dtype.h"
#include "operator.h"
#include "philox.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

static const assay_operator_def *op(void) {
    const assay_operator_def *found = assay_operator_find("timestep_sinusoid_h3");
    cr_assert_not_null(found);
    return found;
}

static assay_attrs attrs_of(int64_t width, double max_period) {
    assay_attrs attrs = {.count = 2};
    attrs.items[0] = (assay_attr){.name = "width", .type = ASSAY_ATTR_INT, .i = width};
    attrs.items[1] = (assay_attr){.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = max_period};
    return attrs;
}

/* Inputs where an implementation changes its way: zeros, subnormals, powers of two, both ends, reduction
 * switch points. */
static const uint32_t hard[] = {0x00000000, 0x80000000, 0x00000001, 0x007fffff, 0x00800000,
                                0x33000000, 0x39800000, 0x3e22f983, 0x3f000000, 0x3f490fda,
                                0x3f490fdb, 0x3f490fdc, 0x3f7fffff, 0x3f800000};
#define HARD (sizeof hard / sizeof hard[0])

/* hard[] first, then Philox uniforms. */
static float *inputs(size_t n) {
    float *x = malloc(n * sizeof *x);
    assay_philox_uniform((assay_philox_key){{7, 11}}, 0, n, x);
    for (size_t i = 0; i < HARD && i < n; i++) {
        x[i] = assay_f32_from_bits(hard[i]);
    }
    return x;
}

/* |got - exact| for one element, exact at 300 bits, as a share of what FP64 must grant: one ulp of the
 * result, and the argument's two roundings (frequency, product) carried through a derivative of at most 1. */
static double golden_error(double max_period, size_t half, float x, size_t channel, double got) {
    mpfr_t v;
    mpfr_t g;
    mpfr_init2(v, 300);
    mpfr_init2(g, 300);
    mpfr_set_d(v, max_period, MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_mul_ui(v, v, channel % half, MPFR_RNDN);
    mpfr_div_ui(v, v, half, MPFR_RNDN);
    mpfr_neg(v, v, MPFR_RNDN);
    mpfr_exp(v, v, MPFR_RNDN);
    mpfr_mul_d(v, v, (double)x, MPFR_RNDN);
    double granted = fabs(mpfr_get_d(v, MPFR_RNDN)) * 0x1.04p-52;
    if (channel < half) {
        mpfr_cos(v, v, MPFR_RNDN);
    } else {
        mpfr_sin(v, v, MPFR_RNDN);
    }
    double near = fabs(mpfr_get_d(v, MPFR_RNDN));
    granted += nextafter(near, INFINITY) - near;
    mpfr_sub_d(g, v, got, MPFR_RNDN);
    double error = fabs(mpfr_get_d(g, MPFR_RNDN)) / granted;
    mpfr_clear(v);
    mpfr_clear(g);
    return error;
}

Test(operator, registry) {
    cr_assert_str_eq(op()->name, "timestep_sinusoid_h3");
    cr_assert_null(assay_operator_find("timestep_sinusoid"));
    cr_assert_null(assay_operator_find(""));
    const int64_t widths[] = {2, 256, 1000, 255, 0, -2};
    const size_t want[] = {2, 256, 1000, 0, 0, 0};
    for (size_t i = 0; i < 6; i++) {
        assay_attrs attrs = attrs_of(widths[i], 1e4);
        cr_expect_eq(op()->channels(&attrs), want[i]);
    }
    assay_attrs none = {.count = 0};
    cr_expect_eq(op()->channels(&none), 256);
}

Test(operator, golden_against_mpfr) {
    const int64_t widths[] = {2, 8, 96, 250, 256, 1000};
    const double periods[] = {1e4, 100.0, 1e6,
                              0.5}; /* below 1 the arguments leave [0, 1]: the other branch */
    float *x = inputs(64);
    for (size_t w = 0; w < 6; w++) {
        for (size_t p = 0; p < 4; p++) {
            assay_attrs attrs = attrs_of(widths[w], periods[p]);
            size_t channels = (size_t)widths[w];
            double *out = malloc(64 * channels * sizeof *out);
            op()->golden(&attrs, x, 64, out);
            for (size_t i = 0; i < 64 * channels; i += 1 + channels / 17) {
                double error = golden_error(periods[p], channels / 2, x[i / channels], i % channels, out[i]);
                cr_assert_lt(error, 1.0, "width %zu period %g x %a channel %zu: %a is %.3f of the grant off",
                             channels, periods[p], (double)x[i / channels], i % channels, out[i], error);
            }
            free(out);
        }
    }
    free(x);
}

/* Rounding the golden to FP32 must give the exact rounding wherever the golden is not within 2^-20 ulp of a
 * tie. */
Test(operator, exact_agrees_with_golden) {
    assay_attrs attrs = attrs_of(256, 1e4);
    float *x = inputs(512);
    double *out = malloc(512 * 256 * sizeof *out);
    op()->golden(&attrs, x, 512, out);
    for (size_t i = 0; i < 512 * 256; i += 13) {
        uint32_t want = op()->exact(&attrs, x[i / 256], i % 256);
        float rounded = (float)out[i];
        cr_assert_eq(assay_f32_bits(rounded), want, "x %a channel %zu", (double)x[i / 256], i % 256);
    }
    free(out);
    free(x);
}

Test(operator, exact_edges) {
    assay_attrs attrs = attrs_of(256, 1e4);
    cr_expect_eq(op()->exact(&attrs, 0.0F, 0), 0x3f800000U);
    cr_expect_eq(op()->exact(&attrs, 0.0F, 128), 0x00000000U);
    cr_expect_eq(op()->exact(&attrs, -0.0F, 128), 0x80000000U);
    cr_expect_eq(op()->exact(&attrs, assay_f32_from_bits(1), 128), 1U); /* sin of the smallest subnormal */
    cr_expect_eq(op()->exact(&attrs, 1.0F, 0), 0x3f0a5140U);            /* cos 1 = 0.54030230586814 */
    cr_expect_eq(op()->exact(&attrs, 1.0F, 128), 0x3f576aa4U);          /* sin 1 = 0.84147098480790 */
    double row[256];
    float zero = -0.0F;
    op()->golden(&attrs, &zero, 1, row);
    cr_expect_eq(assay_f64_bits(row[0]), 0x3ff0000000000000U);
    cr_expect_eq(assay_f64_bits(row[255]), 0x8000000000000000U);
}

/* The same bits on every instruction set, tails of every length included. */
Test(operator, same_bits_on_every_path) {
    static const char *const names[] = {"scalar", "avx2", "avx512"};
    float *x = inputs(97);
    const int64_t widths[] = {2, 62, 64, 66, 126, 256, 1000};
    for (size_t w = 0; w < 7; w++) {
        size_t channels = (size_t)widths[w];
        assay_attrs attrs = attrs_of(widths[w], 1e4);
        double *golden[2];
        float *replay[2];
        for (size_t j = 0; j < 2; j++) {
            golden[j] = malloc(97 * channels * sizeof(double));
            replay[j] = malloc(97 * channels * sizeof(float));
        }
        for (size_t i = 0; i < 3; i++) {
            size_t j = i > 0;
            if (!assay_simd_force(names[i])) {
                continue;
            }
            op()->golden(&attrs, x, 97, golden[j]);
            cr_assert(op()->replay("h3-cuda", &attrs, x, 97, replay[j]));
            cr_expect_eq(memcmp(golden[0], golden[j], 97 * channels * sizeof(double)), 0, "golden, %s",
                         names[i]);
            cr_expect_eq(memcmp(replay[0], replay[j], 97 * channels * sizeof(float)), 0, "replay, %s",
                         names[i]);
        }
        cr_assert(assay_simd_force(NULL));
        for (size_t j = 0; j < 2; j++) {
            free(golden[j]);
            free(replay[j]);
        }
    }
    free(x);
}

/* The replay of "libm" is the plain formula, written here a second time. */
Test(operator, replay_libm_is_the_formula) {
    const int64_t widths[] = {2, 96, 250, 256, 320, 1000};
    float *x = inputs(40);
    for (size_t w = 0; w < 6; w++) {
        size_t half = (size_t)widths[w] / 2;
        assay_attrs attrs = attrs_of(widths[w], 1e4);
        float *out = malloc(40 * 2 * half * sizeof *out);
        cr_assert(op()->replay("libm", &attrs, x, 40, out));
        for (size_t i = 0; i < 40 * half; i++) {
            float scaled = -9.21034050F * (float)(i % half);
            float exponent = scaled * (1.0F / (float)half);
            float a = x[i / half] * expf(exponent);
            float c = cosf(a);
            float s = sinf(a);
            const float *row = out + i / half * 2 * half;
            cr_assert_eq(assay_f32_bits(row[i % half]), assay_f32_bits(c));
            cr_assert_eq(assay_f32_bits(row[half + i % half]), assay_f32_bits(s));
        }
        free(out);
    }
    cr_expect_not(op()->replay("unknown", &(assay_attrs){.count = 0}, x, 1, x));
    free(x);
}

/* Near and far arguments of the CUDA sine: within 2 ulp of the exact value, signs and quadrants included.
 * CUDA documents 2 ulp. */
Test(operator, replay_cuda_reaches_far) {
    assay_attrs attrs = attrs_of(2, 1e4); /* one frequency, exactly 1: out = cos t, sin t */
    float far[400];
    float out[800];
    assay_philox_uniform((assay_philox_key){{1, 2}}, 0, 400, far);
    for (int i = 0; i < 400; i++) {
        far[i] = ldexpf(far[i] + 0.5F, i % 127) * (i % 2 == 0 ? 1.0F : -1.0F);
    }
    cr_assert(op()->replay("h3-cuda", &attrs, far, 400, out));
    for (size_t i = 0; i < 800; i++) {
        uint32_t want = op()->exact(&attrs, far[i / 2], i % 2);
        int64_t distance = assay_ulp_distance_f32(assay_f32_bits(out[i]), want);
        cr_expect(distance >= -2 && distance <= 2, "%s(%a): %a against %a", i % 2 ? "sin" : "cos",
                  (double)far[i / 2], (double)out[i], (double)assay_f32_from_bits(want));
    }
}

/* Values read off a device for B05 of the public reports: sin channels 16 and 127 at t = 1. */
Test(operator, known_values) {
    assay_attrs attrs = attrs_of(256, 1e4);
    float one = 1.0F;
    float out[256];
    double golden[256];
    cr_assert(op()->replay("h3-cuda", &attrs, &one, 1, out));
    op()->golden(&attrs, &one, 1, golden);
    cr_expect_float_eq(golden[128 + 16], 0.310983593, 1e-9);
    cr_expect_float_eq(golden[128 + 127], 1.0746078e-4, 1e-11);
    cr_expect_float_eq((double)out[128 + 16], 0.310983593, 1e-7);
}

/* The golden VJP against a sum in long double, and the replayed backward against a tree written by recursion.
 */
static float tree(const float *p, size_t n) {
    if (n == 1) {
        return p[0];
    }
    float *next = malloc(n / 2 * sizeof *next);
    for (size_t i = 0; i < n / 2; i++) {
        next[i] = p[i] + p[i + n / 2];
    }
    float sum = tree(next, n / 2);
    free(next);
    return sum;
}

Test(operator, backward) {
    const int64_t widths[] = {2, 96, 250, 256};
    float *x = inputs(70);
    for (size_t w = 0; w < 4; w++) {
        size_t channels = (size_t)widths[w];
        size_t half = channels / 2;
        assay_attrs attrs = attrs_of(widths[w], 1e4);
        float *g = malloc(70 * channels * sizeof *g);
        float *saved = malloc(70 * channels * sizeof *saved);
        assay_philox_normal((assay_philox_key){{5, 6}}, 0, 70 * channels, g);
        cr_assert(op()->replay("libm", &attrs, x, 70, saved));
        double golden[70];
        float grad[70];
        op()->vjp(&attrs, x, g, 70, golden);
        cr_assert(op()->replay_backward("libm", &attrs, x, saved, g, 70, grad));
        for (size_t r = 0; r < 70; r++) {
            float p[1024] = {0};
            long double sum = 0.0L;
            size_t length = 1;
            for (size_t k = 0; k < half; k++) {
                long double f = expl(-logl(1e4L) * (long double)k / (long double)half);
                float e = -9.21034050F * (float)k;
                float f32 = expf(e * (1.0F / (float)half));
                const float *gr = g + r * channels;
                sum += f * ((long double)gr[half + k] * cosl((long double)x[r] * f) -
                            (long double)gr[k] * sinl((long double)x[r] * f));
                float down = gr[k] * saved[r * channels + half + k];
                float up = gr[half + k] * saved[r * channels + k];
                p[k] = -down * f32;
                p[half + k] = up * f32;
            }
            while (length < channels) {
                length *= 2;
            }
            cr_assert_lt(fabsl(sum - (long double)golden[r]), 1e-13L);
            cr_assert_eq(assay_f32_bits(tree(p, length)), assay_f32_bits(grad[r]), "width %zu row %zu",
                         channels, r);
            cr_assert_lt(fabs((double)grad[r] - golden[r]), 1e-5);
        }
        cr_expect_not(op()->replay_backward("unknown", &attrs, x, saved, g, 70, grad));
        free(g);
        free(saved);
    }
    free(x);
}
