/* test_convert.c - the 16-bit conversions of the ABI header: every pattern, every tie, and both neighbours of
 * each. */
#include "assay/adapter.h"
#include "convert.h"

#include <criterion/criterion.h>
#include <math.h>

typedef struct format {
    DLDataTypeCode code;
    uint16_t infinity;
    int significand; /* bits, the hidden one included */
    int lowest;      /* exponent of the smallest subnormal */
} format;

static const format formats[] = {{kDLBfloat, 0x7f80, 8, -133}, {kDLFloat, 0x7c00, 11, -24}};

/* The value of a pattern, from the definition of the format. */
static double value_of(const format *f, uint16_t magnitude) {
    const int fraction_bits = f->significand - 1;
    const int exponent = magnitude >> fraction_bits;
    const int fraction = magnitude & ((1 << fraction_bits) - 1);
    return exponent == 0 ? ldexp(fraction, f->lowest)
                         : ldexp(fraction + (1 << fraction_bits), f->lowest + exponent - 1);
}

Test(convert, widening_is_exact) {
    for (size_t i = 0; i < 2; i++) {
        const format *f = &formats[i];
        for (uint32_t h = 0; h < f->infinity; h++) {
            const float x = assay_widen((uint16_t)h, f->code);
            cr_assert_eq((double)x, value_of(f, (uint16_t)h), "format %zu pattern %04x", i, h);
            const float minus = assay_widen((uint16_t)(h | 0x8000u), f->code);
            cr_assert_eq(convert_bits(minus), convert_bits(x) | 0x80000000u);
        }
        cr_assert_eq(convert_bits(assay_widen(f->infinity, f->code)), 0x7f800000u);
        for (uint32_t h = f->infinity + 1u; h < 0x8000u; h++) {
            cr_assert(isnan(assay_widen((uint16_t)h, f->code)));
        }
    }
}

static void expect(const format *f, double x, uint32_t h) {
    const float narrow = (float)x;
    cr_assert_eq(assay_narrow(narrow, f->code), h, "%a gives %04x, not %04x", x,
                 assay_narrow(narrow, f->code), h);
    cr_assert_eq(assay_narrow(-narrow, f->code), h | 0x8000u, "%a", -x);
}

/* Between neighbours a and b: the tie goes to the even one, everything else to the nearer one. Beyond the
 * largest finite value the next step of the grid stands for infinity. */
Test(convert, narrowing_rounds_to_nearest_even) {
    for (size_t i = 0; i < 2; i++) {
        const format *f = &formats[i];
        for (uint32_t h = 0; h < f->infinity; h++) {
            const double a = value_of(f, (uint16_t)h);
            const double b = value_of(f, (uint16_t)(h + 1));
            const double tie = (a + b) / 2;
            expect(f, a, h);
            expect(f, tie, h % 2 == 0 ? h : h + 1);
            expect(f, (double)nextafterf((float)tie, 0.0f), h);
            expect(f, (double)nextafterf((float)tie, INFINITY), h + 1);
        }
        expect(f, INFINITY, f->infinity);
        expect(f, 0x1p-149, 0);
        cr_assert_eq(assay_narrow(NAN, f->code), 0x7fff);
    }
    expect(&formats[1], 1e30, 0x7c00);
}

Test(convert, load_and_store_follow_strides) {
    const DLDataTypeCode codes[] = {kDLFloat, kDLBfloat, kDLFloat};
    const uint8_t bits[] = {32, 16, 16};
    for (size_t i = 0; i < 3; i++) {
        uint32_t memory[8] = {0};
        int64_t shape = 3, stride = 2;
        const DLTensor t = {.data = memory,
                            .ndim = 1,
                            .dtype = {(uint8_t)codes[i], bits[i], 1},
                            .shape = &shape,
                            .strides = &stride,
                            .byte_offset = 4};
        cr_assert(assay_is_float(&t));
        assay_store_f32(&t, 2, 0.5f);
        cr_assert_eq(assay_load_f32(&t, 2), 0.5f);
        const size_t at = 4 + 4 * (size_t)bits[i] / 8;
        cr_assert(memory[at / 4] != 0, "element 2 lies 4 elements behind the offset");
        cr_assert_eq(assay_load_f32(&t, 1), 0.0f);
    }
}
