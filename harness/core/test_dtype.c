/* test_dtype.c - conversions against a reference definition: the nearest of all finite values of the narrow
 * type, by exact FP64 distance, ties to the even encoding. */
#include "dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

typedef struct narrow {
    assay_dtype dtype;
    int exponent_bits, fraction_bits;
    float (*widen)(uint16_t bits);
    uint16_t (*tighten)(float x);
} narrow;

static const narrow narrows[] = {
    {ASSAY_DTYPE_BF16, 8, 7, assay_bf16_to_f32, assay_f32_to_bf16},
    {ASSAY_DTYPE_F16, 5, 10, assay_f16_to_f32, assay_f32_to_f16},
};

/* The value of a finite magnitude by the IEEE formula. */
static double value_of(const narrow *t, uint32_t magnitude) {
    const int bias = (1 << (t->exponent_bits - 1)) - 1;
    const int e = (int)(magnitude >> t->fraction_bits);
    const double f = (double)(magnitude & ((1u << t->fraction_bits) - 1));
    return e == 0 ? ldexp(f, 1 - bias - t->fraction_bits)
                  : ldexp(f + (double)(1 << t->fraction_bits), e - bias - t->fraction_bits);
}

static uint32_t infinity_of(const narrow *t) {
    return ((1u << t->exponent_bits) - 1) << t->fraction_bits;
}

/* Bisection for the greatest magnitude with value <= |x|; infinity stands where the next finite value would.
 */
static uint16_t reference(const narrow *t, float x) {
    const uint32_t sign = signbit(x) ? 0x8000u : 0, inf = infinity_of(t);
    const double magnitude = fabs((double)x);
    uint32_t low = 0, high = inf;
    if (isinf(x)) {
        return (uint16_t)(sign | inf);
    }
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (value_of(t, middle) <= magnitude) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double below = magnitude - value_of(t, low), above = value_of(t, high) - magnitude;
    const bool up = above < below || (above == below && (low & 1u) != 0);
    return (uint16_t)(sign | (up ? high : low));
}

static void check_tighten(const narrow *t, uint32_t bits) {
    const float x = assay_f32_from_bits(bits);
    const uint16_t got = t->tighten(x);
    if (isnan(x)) {
        const uint32_t quiet = 1u << (t->fraction_bits - 1);
        cr_assert_gt(got & 0x7fffu, infinity_of(t), "%08x is NaN", bits);
        cr_assert_neq(got & quiet, 0, "%08x must become quiet", bits);
        cr_assert_eq(got >> 15, bits >> 31);
        return;
    }
    cr_assert_eq(got, reference(t, x), "%s of %08x: %04x, want %04x", assay_dtype_text(t->dtype), bits, got,
                 reference(t, x));
}

Test(dtype, widening_every_pattern) {
    for (size_t k = 0; k < 2; k++) {
        const narrow *const t = &narrows[k];
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const float x = t->widen((uint16_t)bits);
            const uint32_t magnitude = bits & 0x7fffu, inf = infinity_of(t);
            cr_assert_eq(assay_f32_bits(x) >> 31, bits >> 15);
            if (magnitude > inf) { /* payload in the upper bits, quietness kept */
                cr_assert_eq(assay_f32_bits(x) & 0x7fffffffu, 0x7f800000u | (magnitude - inf)
                                                                                << (23 - t->fraction_bits));
            } else if (magnitude == inf) {
                cr_assert(isinf(x));
            } else {
                cr_assert_eq(fabs((double)x), value_of(t, magnitude), "%04x", bits);
                cr_assert_eq(t->tighten(x), bits, "round trip of %04x", bits);
            }
        }
    }
}

/* Every narrow value, every middle between neighbours, and both FP32 neighbours of each. */
Test(dtype, narrowing_at_every_tie) {
    for (size_t k = 0; k < 2; k++) {
        const narrow *const t = &narrows[k];
        for (uint32_t magnitude = 0; magnitude < infinity_of(t); magnitude++) {
            const double here = value_of(t, magnitude), next = value_of(t, magnitude + 1);
            const float points[] = {(float)here, (float)(here + (next - here) / 2)};
            for (size_t i = 0; i < 2; i++) {
                const uint32_t bits = assay_f32_bits(points[i]);
                for (uint32_t b = bits == 0 ? 0 : bits - 1; b <= bits + 1; b++) {
                    check_tighten(t, b);
                    check_tighten(t, b | 0x80000000u);
                }
            }
        }
    }
}

Test(dtype, narrowing_stride) {
    for (size_t k = 0; k < 2; k++) {
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4099) {
            check_tighten(&narrows[k], (uint32_t)bits);
        }
        check_tighten(&narrows[k], 0x7f800001u); /* a signalling NaN whose payload would be cut off */
        check_tighten(&narrows[k], 0xff800001u);
        check_tighten(&narrows[k], UINT32_MAX);
    }
}

Test(dtype, known_answers) {
    cr_assert_eq(assay_f32_to_f16(65519.996f), 0x7bff);
    cr_assert_eq(assay_f32_to_f16(65520.0f), 0x7c00);
    cr_assert_eq(assay_f32_to_f16(-0.0f), 0x8000);
    cr_assert_eq(assay_f32_to_f16(0x1p-25f), 0x0000, "half of the smallest subnormal ties to zero");
    cr_assert_eq(assay_f32_to_f16(0x1.000002p-25f), 0x0001);
    cr_assert_eq(assay_f32_to_bf16(assay_f32_from_bits(0x7f7fffffu)), 0x7f80);
    cr_assert_eq(assay_f32_to_bf16(assay_f32_from_bits(0x3f808000u)), 0x3f80, "tie to even");
    cr_assert_eq(assay_f32_to_bf16(assay_f32_from_bits(0x3f818000u)), 0x3f82, "tie to even");
}

Test(dtype, table) {
    assay_dtype dtype;
    for (int i = 0; i < ASSAY_DTYPE_COUNT; i++) {
        cr_assert(assay_dtype_parse(assay_dtype_text((assay_dtype)i), &dtype));
        cr_assert_eq((int)dtype, i);
        cr_assert_eq(assay_dtype_bytes(dtype) * 8, assay_dtype_dlpack(dtype).bits);
        cr_assert_eq(assay_dtype_dlpack(dtype).lanes, 1);
    }
    cr_assert_not(assay_dtype_parse("float", &dtype));
    cr_assert_str_eq(assay_dtype_text(ASSAY_DTYPE_COUNT), "unknown");
    cr_assert_eq(assay_dtype_dlpack(ASSAY_DTYPE_BF16).code, kDLBfloat);
    cr_assert_eq(assay_dtype_bytes(ASSAY_DTYPE_F64), 8);
}

Test(dtype, load_and_store) {
    static const assay_dtype all[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    unsigned char raw[64];
    for (size_t k = 0; k < 3; k++) {
        unsigned char *const base = raw + 1; /* not aligned */
        for (size_t i = 0; i < 8; i++) {
            assay_dtype_store_f32(all[k], base, i, (float)i * 0.25f - 1.0f);
        }
        for (size_t i = 0; i < 8; i++) {
            cr_assert_eq(assay_dtype_load_f32(all[k], base, i), (float)i * 0.25f - 1.0f);
        }
    }
    cr_assert_eq(assay_f64_bits(assay_f64_from_bits(UINT64_C(0x8000000000000000))),
                 UINT64_C(0x8000000000000000));
}
