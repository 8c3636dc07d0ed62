/* test_cuda_sincosf.c - the C form of CUDA's sinf and cosf against what the device answered. */
#include "cuda_sincosf.h"

#include "convert.h"

#include <criterion/criterion.h>
#include <math.h>

/* Measured on an H200 (sm_90, CUDA 13.0): there the C form equals the device on all 2^32 bit patterns. This
 * is the mix of the device's answers for every 4099th pattern, in ascending order, sin before cos. */
enum { STEP = 4099 };
#define DEVICE_MIX UINT64_C(0x73c4e8de8872fca9)

Test(cuda_sincosf, gives_the_device_bits) {
    uint64_t mix = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += STEP) {
        const float x = convert_float((uint32_t)bits);
        mix = mix * UINT64_C(0x9E3779B97F4A7C15) + convert_bits(cuda_sinf(x));
        mix = mix * UINT64_C(0x9E3779B97F4A7C15) + convert_bits(cuda_cosf(x));
    }
    cr_assert_eq(mix, DEVICE_MIX, "%016llx", (unsigned long long)mix);
}

Test(cuda_sincosf, special_arguments) {
    static const struct {
        uint32_t x, sine, cosine;
    } cases[] = {
        {0x00000000u, 0x00000000u, 0x3f800000u}, {0x80000000u, 0x80000000u, 0x3f800000u},
        {0x00000001u, 0x00000001u, 0x3f800000u}, {0x80000001u, 0x80000001u, 0x3f800000u},
        {0x7f800000u, 0x7fffffffu, 0x7fffffffu}, {0xff800000u, 0x7fffffffu, 0x7fffffffu},
        {0x7fc00000u, 0x7fffffffu, 0x7fffffffu}, {0xffc12345u, 0x7fffffffu, 0x7fffffffu},
        {0x7f800001u, 0x7fffffffu, 0x7fffffffu},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const float x = convert_float(cases[i].x);
        cr_assert_eq(convert_bits(cuda_sinf(x)), cases[i].sine, "sin %08x", cases[i].x);
        cr_assert_eq(convert_bits(cuda_cosf(x)), cases[i].cosine, "cos %08x", cases[i].x);
    }
}

/* CUDA documents 2 ulp for both; a wrong quadrant or reduction is off by far more. */
Test(cuda_sincosf, close_to_fp64_for_all_magnitudes) {
    for (uint64_t bits = 0; bits < 0x7f800000u; bits += 7919) {
        const float x = convert_float((uint32_t)bits);
        const double sine = sin((double)x);
        const double cosine = cos((double)x);
        cr_assert_leq(fabs((double)cuda_sinf(x) - sine), 2 * 0x1p-23 * fmax(fabs(sine), 0x1p-126), "sin(%a)",
                      (double)x);
        cr_assert_leq(fabs((double)cuda_cosf(x) - cosine), 2 * 0x1p-23 * fmax(fabs(cosine), 0x1p-126),
                      "cos(%a)", (double)x);
    }
}
