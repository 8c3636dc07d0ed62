/* test_compare.c - parity: the comparator fault of report B95, every bit class, histogram ends, merge, all
 * paths. */
#include "compare.h"
#include "dtype.h"
#include "test_random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QNAN 0x7fc00000u
#define INF  0x7f800000u
#define ONE  0x3f800000u

static const char *const levels[] = {"scalar", "avx2", "avx512"};
#define LEVELS 3

static assay_parity judge(const uint32_t *got, const uint32_t *want, size_t n,
                          assay_ulp_histogram *histogram) {
    assay_parity p = {.histogram = histogram};
    assay_parity_add_f32(&p, got, want, n, 0);
    return p;
}

static uint64_t histogram_total(const assay_ulp_histogram *h) {
    uint64_t total = 0;
    for (size_t row = 0; row < ASSAY_ULP_EXPONENTS; row++) {
        for (size_t bin = 0; bin < ASSAY_ULP_BINS; bin++) {
            total += h->count[row][bin];
        }
    }
    return total;
}

static void expect_same(const assay_parity *a, const assay_parity *b, const char *what) {
    cr_assert_eq(a->elements, b->elements, "%s", what);
    cr_assert_eq(a->differing, b->differing, "%s", what);
    cr_assert_eq(a->zero_sign, b->zero_sign, "%s", what);
    cr_assert_eq(a->nan_number, b->nan_number, "%s", what);
    cr_assert_eq(a->nan_payload, b->nan_payload, "%s", what);
    cr_assert_eq(a->infinite, b->infinite, "%s", what);
    cr_assert_eq(a->numeric, b->numeric, "%s", what);
    cr_assert_eq(a->max_ulp, b->max_ulp, "%s: %lu %lu", what, a->max_ulp, b->max_ulp);
    if (a->differing > 0) {
        cr_assert_eq(a->first_index, b->first_index, "%s", what);
        cr_assert_eq(a->first_got, b->first_got, "%s", what);
        cr_assert_eq(a->first_want, b->first_want, "%s", what);
    }
    if (a->numeric > 0) {
        cr_assert_eq(a->worst_index, b->worst_index, "%s: %lu %lu", what, a->worst_index, b->worst_index);
        cr_assert_eq(a->worst_got, b->worst_got, "%s", what);
        cr_assert_eq(a->worst_want, b->worst_want, "%s", what);
    }
    if (a->histogram != NULL && b->histogram != NULL) {
        cr_assert_eq(memcmp(a->histogram, b->histogram, sizeof *a->histogram), 0, "%s", what);
    }
}

/* Report B95: a NaN on either side, one wrong element among 1000, both NaN, nothing judged. */
Test(compare, report_b95) {
    uint32_t got[1000], want[1000];
    for (size_t level = 0; level < LEVELS; level++) {
        if (!assay_simd_force(levels[level])) {
            continue;
        }
        for (size_t at = 0; at < 1000; at++) {
            for (size_t i = 0; i < 1000; i++) {
                got[i] = want[i] = assay_f32_bits((float)i);
            }
            assay_parity p = judge(got, want, 1000, NULL);
            cr_assert(assay_parity_ok(&p));
            got[at] = QNAN;
            p = judge(got, want, 1000, NULL);
            cr_assert_not(assay_parity_ok(&p), "NaN in the result");
            cr_assert_eq(p.nan_number, 1);
            cr_assert_eq(p.first_index, at);
            want[at] = QNAN + 1;
            p = judge(got, want, 1000, NULL);
            cr_assert_not(assay_parity_ok(&p), "NaN payloads");
            cr_assert_eq(p.nan_payload, 1);
            got[at] = assay_f32_bits(0.0f);
            p = judge(got, want, 1000, NULL);
            cr_assert_not(assay_parity_ok(&p), "NaN in the reference");
            cr_assert_eq(p.nan_number, 1);
            want[at] = assay_f32_bits((float)at);
            got[at] = assay_f32_bits((float)at + 1.0f);
            p = judge(got, want, 1000, NULL);
            cr_assert_not(assay_parity_ok(&p), "one element off by one");
            cr_assert_eq(p.differing, 1);
            cr_assert_eq(p.numeric, 1);
            cr_assert_eq(p.worst_index, at);
            cr_assert_eq(p.worst_got, got[at]);
        }
    }
    const assay_parity none = judge(got, want, 0, NULL);
    cr_assert_not(assay_parity_ok(&none), "zero elements prove nothing");
    (void)assay_simd_force(NULL);
}

typedef struct class_row {
    uint32_t got, want;
    uint64_t zero_sign, nan_number, nan_payload, infinite, numeric, ulp;
    int row, bin;
} class_row;

static const class_row class_rows[] = {
    {0x00000000u, 0x80000000u, 1, 0, 0, 0, 0, 0, 0, 0},
    {0x80000000u, 0x00000000u, 1, 0, 0, 0, 0, 0, 0, 0},
    {QNAN, ONE, 0, 1, 0, 0, 0, 0, 255, 32},
    {ONE, 0x7f800001u, 0, 1, 0, 0, 0, 0, 255, 32},
    {0xffffffffu, INF, 0, 1, 0, 0, 0, 0, 255, 32},
    {QNAN, 0xffc00000u, 0, 0, 1, 0, 0, 0, 255, 32},
    {INF, 0xff800000u, 0, 0, 0, 1, 0, 0, 255, 32},
    {INF, 0x7f7fffffu, 0, 0, 0, 1, 0, 0, 255, 32},
    {ONE, 0xff800000u, 0, 0, 0, 1, 0, 0, 255, 32},
    {0x00000001u, 0x80000001u, 0, 0, 0, 0, 1, 2, 0, 2},
    {0x00000001u, 0x80000000u, 0, 0, 0, 0, 1, 1, 0, 1},
    {0x00800000u, 0x007fffffu, 0, 0, 0, 0, 1, 1, 0, 1},
    {0x007fffffu, 0x00800000u, 0, 0, 0, 0, 1, 1, 1, -1},
    {0xbf800001u, 0xbf800000u, 0, 0, 0, 0, 1, 1, 127, -1},
    {ONE + 31, ONE, 0, 0, 0, 0, 1, 31, 127, 31},
    {ONE + 32, ONE, 0, 0, 0, 0, 1, 32, 127, 32},
    {ONE + 33, ONE, 0, 0, 0, 0, 1, 33, 127, 32},
    {ONE, ONE + 33, 0, 0, 0, 0, 1, 33, 127, -32},
    {0x7f7fffffu, 0xff7fffffu, 0, 0, 0, 0, 1, 4278190078u, 254, 32},
    {0xff7fffffu, 0x7f7fffffu, 0, 0, 0, 0, 1, 4278190078u, 254, -32},
    {0x40000000u, 0xc0000000u, 0, 0, 0, 0, 1, 0x80000000u, 128, 32},
    {ONE, ONE, 0, 0, 0, 0, 0, 0, 127, 0},
    {QNAN, QNAN, 0, 0, 0, 0, 0, 0, 255, 0},
    {0xff800000u, 0xff800000u, 0, 0, 0, 0, 0, 0, 255, 0},
};

/* Each class alone among equal words, at every place of a vector and in its tail, on every path and by the
 * second judge. */
Test(compare, every_class) {
    static assay_ulp_histogram histogram;
    enum { N = 37 };
    for (size_t k = 0; k < sizeof class_rows / sizeof class_rows[0]; k++) {
        const class_row *const c = &class_rows[k];
        for (size_t level = 0; level <= LEVELS; level++) {
            if (level < LEVELS && !assay_simd_force(levels[level])) {
                continue;
            }
            for (size_t at = 0; at < N; at++) {
                uint32_t got[N], want[N];
                for (size_t i = 0; i < N; i++) {
                    got[i] = want[i] = 0x41000000u;
                }
                got[at] = c->got;
                want[at] = c->want;
                memset(&histogram, 0, sizeof histogram);
                assay_parity p = {.histogram = &histogram};
                (level < LEVELS ? assay_parity_add_f32 : assay_scalar_parity_f32)(&p, got, want, N, 0);
                cr_assert_eq(p.elements, N);
                cr_assert_eq(p.differing, c->got != c->want);
                cr_assert_eq(p.zero_sign, c->zero_sign, "row %zu", k);
                cr_assert_eq(p.nan_number, c->nan_number, "row %zu", k);
                cr_assert_eq(p.nan_payload, c->nan_payload, "row %zu", k);
                cr_assert_eq(p.infinite, c->infinite, "row %zu", k);
                cr_assert_eq(p.numeric, c->numeric, "row %zu", k);
                cr_assert_eq(p.max_ulp, c->ulp, "row %zu: %lu", k, p.max_ulp);
                cr_assert_eq(histogram.count[c->row][ASSAY_ULP_HALF + c->bin], 1, "row %zu level %zu", k,
                             level);
                cr_assert_eq(histogram_total(&histogram), N);
            }
        }
    }
    (void)assay_simd_force(NULL);
}

/* A word of any class; small exponents and a narrow middle range so that near misses occur. */
static uint32_t random_word(void) {
    const uint32_t r = (uint32_t)draw() ^ (uint32_t)draw() << 16;
    switch (draw() % 10) {
    case 0:
        return r & 0x80000000u;
    case 1:
        return r & 0x807fffffu;
    case 2:
        return INF | (r & 0x80000000u);
    case 3:
        return INF | r;
    case 4:
        return r;
    default:
        return (r & 0x83ffffffu) | 0x3c000000u;
    }
}

static uint32_t random_partner(uint32_t word) {
    switch (draw() % 12) {
    case 0:
        return random_word();
    case 1:
        return word ^ 0x80000000u;
    case 2:
        return word + 1;
    case 3:
        return word - (uint32_t)(draw() % 40);
    case 4:
        return word + (uint32_t)(draw() % 40);
    default:
        return word;
    }
}

enum { MANY = 70000 };
static uint32_t many_got[MANY], many_want[MANY];

static void fill_many(unsigned seed) {
    draw_seed(seed);
    for (size_t i = 0; i < MANY; i++) {
        many_want[i] = random_word();
        many_got[i] = random_partner(many_want[i]);
    }
}

/* All paths, the second judge, and a random partition merged in random order agree in every field. */
Test(compare, paths_partitions_and_second_judge) {
    assay_ulp_histogram *const h = calloc(5, sizeof *h);
    for (unsigned seed = 1; seed <= 6; seed++) {
        const size_t n = seed == 6 ? MANY : 999 + 333 * seed; /* the last uses the interleaved sub-tables */
        assay_parity second = {.histogram = &h[0]}, merged = {.histogram = &h[1]};
        memset(h, 0, 5 * sizeof *h);
        fill_many(seed);
        assay_scalar_parity_f32(&second, many_got, many_want, n, 100);
        cr_assert_gt(
            second.zero_sign * second.nan_number * second.nan_payload * second.infinite * second.numeric, 0);
        for (size_t level = 0; level < LEVELS; level++) {
            if (assay_simd_force(levels[level])) {
                assay_parity p = {.histogram = &h[2 + level]}, plain = {.histogram = NULL};
                assay_parity_add_f32(&p, many_got, many_want, n, 100);
                assay_parity_add_f32(&plain, many_got, many_want, n, 100);
                expect_same(&p, &second, levels[level]);
                expect_same(&plain, &second, levels[level]);
            }
        }
        memset(&h[2], 0, sizeof *h);
        for (size_t end = n; end > 0;) { /* from the end, so that later parts have lower indices */
            const size_t take = 1 + (size_t)draw() % (end < 700 ? end : 700);
            assay_parity part = {.histogram = &h[2]};
            memset(&h[2], 0, sizeof *h);
            end -= take;
            (void)assay_simd_force(levels[draw() % LEVELS]);
            assay_parity_add_f32(&part, many_got + end, many_want + end, take, 100 + end);
            assay_parity_merge(&merged, &part);
        }
        expect_same(&merged, &second, "merged");
        merged = (assay_parity){.histogram = NULL};
        for (size_t end = n; end > 0;) { /* accumulated downwards instead of merged */
            const size_t take = 1 + (size_t)draw() % (end < 700 ? end : 700);
            end -= take;
            assay_parity_add_f32(&merged, many_got + end, many_want + end, take, 100 + end);
        }
        expect_same(&merged, &second, "accumulated downwards");
    }
    (void)assay_simd_force(NULL);
    free(h);
}

/* Among equal distances the lowest index wins, also across blocks. */
Test(compare, first_of_equals) {
    for (size_t level = 0; level < LEVELS; level++) {
        uint32_t got[3000], want[3000];
        for (size_t i = 0; i < 3000; i++) {
            want[i] = ONE;
            got[i] = ONE + (i % 700 == 699 ? 5 : i % 2);
        }
        if (assay_simd_force(levels[level])) {
            const assay_parity p = judge(got, want, 3000, NULL);
            cr_assert_eq(p.max_ulp, 5);
            cr_assert_eq(p.worst_index, 699);
            cr_assert_eq(p.first_index, 1);
            assay_parity down = {0}, merged = {0}, part = {0};
            assay_parity_add_f32(&down, got + 1500, want + 1500, 1500, 1500);
            merged = down;
            assay_parity_add_f32(&down, got, want, 1500, 0);
            assay_parity_add_f32(&part, got, want, 1500, 0);
            assay_parity_merge(&merged, &part);
            expect_same(&down, &p, "downwards");
            expect_same(&merged, &p, "merged");
        }
    }
    (void)assay_simd_force(NULL);
}

/* All pairs of a list that holds every class of both 16-bit formats, against parity of the widened values. */
Test(compare, sixteen_bits) {
    static const uint16_t words[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00,
                                     0x3c01, 0xbc00, 0x3f80, 0x3f81, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
                                     0xfe00, 0x7f7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xffff};
    const size_t count = sizeof words / sizeof words[0];
    for (int bf16 = 0; bf16 <= 1; bf16++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < count; j++) {
                uint16_t got[3000] = {0}, want[3000] = {0};
                assay_parity p = {0}, wide = {0};
                got[2500] = words[i];
                want[2500] = words[j];
                assay_parity_add_16(&p, bf16 != 0, got, want, 3000, 10);
                const uint32_t g = assay_f32_bits((bf16 ? assay_bf16_to_f32 : assay_f16_to_f32)(words[i]));
                const uint32_t w = assay_f32_bits((bf16 ? assay_bf16_to_f32 : assay_f16_to_f32)(words[j]));
                assay_scalar_parity_f32(&wide, &g, &w, 1, 2510);
                cr_assert_eq(p.elements, 3000);
                cr_assert_eq(p.differing, wide.differing);
                cr_assert_eq(p.zero_sign, wide.zero_sign);
                cr_assert_eq(p.nan_number, wide.nan_number);
                cr_assert_eq(p.nan_payload, wide.nan_payload);
                cr_assert_eq(p.infinite, wide.infinite);
                cr_assert_eq(p.numeric, wide.numeric);
                if (p.differing > 0) {
                    cr_assert_eq(p.first_index, 2510);
                    cr_assert_eq(p.first_got, words[i]);
                }
                if (p.numeric > 0) {
                    const int a = words[i] & 0x7fff, b = words[j] & 0x7fff;
                    const int distance = (words[i] >> 15 ? -a : a) - (words[j] >> 15 ? -b : b);
                    cr_assert_eq(p.max_ulp, (uint64_t)abs(distance));
                    cr_assert_eq(p.worst_index, 2510);
                }
            }
        }
    }
    assay_parity none = {0};
    assay_parity_add_16(&none, true, NULL, NULL, 0, 0);
    cr_assert_not(assay_parity_ok(&none));
}

/* Neighbours on the number line have images one apart, through zero. */
Test(compare, images_and_ulps) {
    float x = -0x1p-140f;
    for (int i = 0; i < 2000; i++) {
        const float next = nextafterf(x, 1.0f);
        cr_assert_eq(assay_ulp_distance_f32(assay_f32_bits(next), assay_f32_bits(x)), 1, "%a", (double)x);
        x = next;
    }
    cr_assert_eq(assay_ulp_image_f32(0x80000000u), 0);
    cr_assert_eq(assay_ulp_image_f32(0xff7fffffu), -0x7f7fffff);
    static const float samples[] = {1.0f, 1.9999999f, 0x1p-126f,       0x1p-149f,
                                    0.0f, -3.0f,      0x1.fffffep127f, 0x1.fffffep-127f};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const float magnitude = fabsf(samples[i]);
        const double gap = samples[i] == 0x1.fffffep127f
                               ? 0x1p104
                               : (double)nextafterf(magnitude, INFINITY) - (double)magnitude;
        cr_assert_eq(assay_ulp_of_f32(samples[i]), gap, "%a", (double)samples[i]);
    }
}

Test(compare, forcing_a_path) {
    cr_assert(assay_simd_force("scalar"));
    cr_assert_str_eq(assay_simd_name(), "scalar");
    cr_assert_not(assay_simd_force("sse9"));
    cr_assert_str_eq(assay_simd_name(), "scalar", "a refused choice changes nothing");
    cr_assert(assay_simd_force(NULL));
    cr_assert_not_null(assay_simd_name());
}
