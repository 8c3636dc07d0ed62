/* test_philox.c - the vectors of harness/GENERATOR.md and the statistics of the normal map. */
#include "dtype.h"
#include "philox.h"
#include "philox_private.h"
#include "test_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static assay_philox_key example_key(void) {
    return assay_philox_key_of("timestep_sinusoid_h3", "parity_uniform", "timestep", 20240607);
}

Test(philox, known_answers) {
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } rows[] = {
        {{0}, {0}, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         {UINT32_MAX, UINT32_MAX},
         {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
         {0xa4093822u, 0x299f31d0u},
         {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        assay_philox4x32(rows[i].counter, (assay_philox_key){{rows[i].key[0], rows[i].key[1]}}, out);
        cr_assert_arr_eq(out, rows[i].out, sizeof out, "row %zu", i);
    }
}

Test(philox, key) {
    const assay_philox_key key = example_key();
    cr_assert_eq(key.k[0], 0xba241fb2u);
    cr_assert_eq(key.k[1], 0x5c23dd7cu);
    /* the zero bytes keep names apart */
    const assay_philox_key a = assay_philox_key_of("ab", "c", "d", 0),
                           b = assay_philox_key_of("a", "bc", "d", 0);
    cr_assert_neq(memcmp(&a, &b, sizeof a), 0);
}

Test(philox, words) {
    static const uint32_t first[] = {0x16e2f124u, 0x745c9559u, 0x61c60bd5u, 0x76ce3702u,
                                     0xf4e2d7ddu, 0x59d4ea44u, 0xe5804637u, 0x82292a74u};
    static const uint32_t far[] = {0x6b1bcb5fu, 0xcc0ccce4u, 0xae28eba4u, 0x1c50431fu};
    uint32_t out[8];
    assay_philox_words(example_key(), 0, 8, out);
    cr_assert_arr_eq(out, first, sizeof first);
    assay_philox_words(example_key(), (UINT64_C(1) << 34) + 1, 4, out);
    cr_assert_arr_eq(out, far, sizeof far);
}

Test(philox, floats) {
    static const uint32_t uniform[] = {0x3db71788u, 0x3ee8b92au, 0x3ec38c16u, 0x3eed9c6eu};
    static const uint32_t normal[] = {0xc006f1dau, 0xbfad178eu, 0xbe34ba88u, 0xbeef03a9u,
                                      0xbf42118au, 0xbf2b5bf9u, 0xbfd48e37u, 0xbeffdf4bu};
    float out[8];
    assay_philox_uniform(example_key(), 0, 4, out);
    cr_assert_arr_eq(out, uniform, sizeof uniform);
    assay_philox_normal(example_key(), 0, 8, out);
    cr_assert_arr_eq(out, normal, sizeof normal);
}

/* Any partition gives the same elements, across the internal pieces too. */
Test(philox, partitions) {
    enum { N = 5000 };
    static uint32_t words[N], words_part[N];
    static float uniform[N], uniform_part[N], normal[N], normal_part[N];
    const assay_philox_key key = {{3, 4}};
    assay_philox_words(key, 9, N, words);
    assay_philox_uniform(key, 9, N, uniform);
    assay_philox_normal(key, 9, N, normal);
    draw_seed(1);
    for (size_t done = 0; done < N;) {
        size_t take = (size_t)(draw() % 1500);
        take = take > N - done ? N - done : take;
        assay_philox_words(key, 9 + done, take, words_part + done);
        assay_philox_uniform(key, 9 + done, take, uniform_part + done);
        assay_philox_normal(key, 9 + done, take, normal_part + done);
        done += take;
    }
    cr_assert_arr_eq(words, words_part, sizeof words);
    cr_assert_arr_eq(uniform, uniform_part, sizeof uniform);
    cr_assert_arr_eq(normal, normal_part, sizeof normal);
}

/* Against the C library's long double: a stride of the arguments and both ends. Bounds as stated in
 * GENERATOR.md. */
Test(philox, log_and_cos) {
    const long double pi = 3.14159265358979323846264338327950288L;
    for (uint64_t i = 0; i < UINT64_C(800000); i++) {
        const uint32_t w = i < 400000 ? (uint32_t)(i * 10739) : (uint32_t)(i - 600000);
        const long double log_want = logl(((long double)w + 0.5L) * 0x1p-32L);
        const long double cos_want = cosl(2 * pi * (long double)w * 0x1p-32L);
        cr_assert(fabsl(((long double)assay_philox_log(w) - log_want) / log_want) < 3e-16L, "log of %08x", w);
        cr_assert(fabsl((long double)assay_philox_cos(w) - cos_want) < 2.3e-16L, "cos of %08x", w);
    }
}

/* The C library's Box-Muller on the same words differs by at most one FP32 ulp: both are FP64 with errors
 * near 1e-15. */
Test(philox, normal_against_libm) {
    enum { N = 1 << 20 };
    const assay_philox_key key = {{5, 6}};
    float *const z = malloc(N * sizeof *z);
    uint32_t *const w = malloc((size_t)2 * N * sizeof *w);
    size_t differ = 0;
    assay_philox_normal(key, 0, N, z);
    assay_philox_words(key, 0, (size_t)2 * N, w);
    for (size_t i = 0; i < N; i++) {
        const double u = ((double)w[2 * i] + 0.5) * 0x1p-32, v = (double)w[2 * i + 1] * 0x1p-32;
        const float want = (float)(sqrt(-2.0 * log(u)) * cos(2 * 3.14159265358979323846 * v));
        cr_assert(z[i] == want || z[i] == nextafterf(want, 8) || z[i] == nextafterf(want, -8),
                  "element %zu: %a %a", i, (double)z[i], (double)want);
        differ += z[i] != want;
    }
    cr_assert_lt(differ, N / 10000, "%zu differ", differ);
    free(z);
    free(w);
}

/* N = 2^20: standard errors are 0.001 (mean), 0.0014 (variance), 0.0024 (skewness), 0.0048 (kurtosis); bounds
 * are five. */
Test(philox, normal_moments) {
    enum { N = 1 << 20 };
    float *const z = malloc(N * sizeof *z);
    double s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    assay_philox_normal((assay_philox_key){{7, 8}}, 0, N, z);
    for (size_t i = 0; i < N; i++) {
        const double x = (double)z[i];
        cr_assert(fabs(x) < 6.77);
        s1 += x;
        s2 += x * x;
        s3 += x * x * x;
        s4 += x * x * x * x;
    }
    cr_assert_float_eq(s1 / N, 0.0, 0.005);
    cr_assert_float_eq(s2 / N, 1.0, 0.007);
    cr_assert_float_eq(s3 / N, 0.0, 0.02);
    cr_assert_float_eq(s4 / N, 3.0, 0.05);
    free(z);
}
