/* test_values.c - value sets. */
#include "dtype.h"
#include "philox.h"
#include "values.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(values, uniform_forces_its_ends) {
    assay_values set = {.kind = ASSAY_VALUES_UNIFORM, .count = 100, .key = {{1, 2}}};
    float all[100], raw[100];
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    assay_values_fill(&set, 0, 100, all);
    assay_philox_uniform((assay_philox_key){{1, 2}}, 0, 100, raw);
    cr_assert_eq(assay_f32_bits(all[0]), 0);
    cr_assert_eq(all[99], 1.0f);
    cr_assert_arr_eq(all + 1, raw + 1, 98 * sizeof raw[0]);
    set.count = 1;
    assay_values_fill(&set, 0, 1, all);
    cr_assert_eq(all[0], raw[0], "a single value is not forced");
}

Test(values, grid_is_a_quotient) {
    assay_values set = {.kind = ASSAY_VALUES_GRID, .count = 100001};
    size_t product_differs = 0;
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    for (size_t i = 0; i < 100001; i++) {
        float x;
        assay_values_fill(&set, i, 1, &x);
        cr_assert_eq(x, (float)((double)i / 100000.0));
        product_differs += x != (float)i * (1.0f / 100000.0f);
    }
    cr_assert_gt(product_differs, 0, "the test must be able to tell the two forms apart");
    set.count = 1;
    float x = 5;
    assay_values_fill(&set, 0, 1, &x);
    cr_assert_eq(assay_f32_bits(x), 0);
}

Test(values, stride_and_all) {
    assay_values set = {.kind = ASSAY_VALUES_STRIDE, .lo_bits = 0, .hi_bits = 0x3f800000u, .step = 997};
    float x[3];
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    cr_assert_eq(set.count, 0x3f800000u / 997 + 1);
    assay_values_fill(&set, set.count - 3, 3, x);
    cr_assert_eq(assay_f32_bits(x[2]), 0x3f800000u / 997 * 997);
    cr_assert_eq(assay_f32_bits(x[1]) + 997, assay_f32_bits(x[2]));
    set = (assay_values){.kind = ASSAY_VALUES_ALL, .lo_bits = 0, .hi_bits = 0x3f800000u};
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    cr_assert_eq(set.count, 1065353217u);
    assay_values_fill(&set, set.count - 1, 1, x);
    cr_assert_eq(x[0], 1.0f);
    set = (assay_values){.kind = ASSAY_VALUES_ALL, .lo_bits = 0, .hi_bits = UINT32_MAX};
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    cr_assert_eq(set.count, UINT64_C(1) << 32);
    assay_values_fill(&set, UINT32_MAX, 1, x);
    cr_assert_eq(assay_f32_bits(x[0]), UINT32_MAX);
}

Test(values, list_keeps_bits) {
    static const uint32_t list[] = {0x80000000u, 0x7f800001u, 1u};
    assay_values set = {.kind = ASSAY_VALUES_LIST, .count = 3, .list = list};
    float x[3];
    cr_assert_eq(assay_values_make(&set, NULL), ASSAY_CODE_OK);
    assay_values_fill(&set, 0, 3, x);
    cr_assert_arr_eq(x, list, sizeof list);
    assay_values_fill(&set, 3, 0, NULL);
}

Test(values, refusals) {
    const assay_values bad[] = {
        {.kind = ASSAY_VALUES_UNIFORM},
        {.kind = ASSAY_VALUES_GRID},
        {.kind = ASSAY_VALUES_LIST, .count = 2},
        {.kind = ASSAY_VALUES_LIST, .list = (const uint32_t[]){1}},
        {.kind = ASSAY_VALUES_STRIDE, .hi_bits = 4},
        {.kind = ASSAY_VALUES_STRIDE, .lo_bits = 5, .hi_bits = 4, .step = 1},
        {.kind = ASSAY_VALUES_ALL, .lo_bits = 5, .hi_bits = 4},
        {.kind = ASSAY_VALUES_COUNT, .count = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assay_values set = bad[i];
        assay_error error = {0};
        cr_assert_eq(assay_values_make(&set, &error), ASSAY_CODE_USAGE, "row %zu", i);
        cr_assert_neq(error.text[0], '\0');
    }
}

/* Any part equals the same part of the whole. */
Test(values, partitions) {
    static const uint32_t list[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    const assay_values sets[] = {
        {.kind = ASSAY_VALUES_UNIFORM, .count = 13, .key = {{9, 9}}},
        {.kind = ASSAY_VALUES_GRID, .count = 13},
        {.kind = ASSAY_VALUES_STRIDE, .count = 13, .lo_bits = 7, .hi_bits = 100, .step = 7},
        {.kind = ASSAY_VALUES_ALL, .count = 13, .lo_bits = 7, .hi_bits = 19},
        {.kind = ASSAY_VALUES_LIST, .count = 13, .list = list},
    };
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        float whole[13], part[13];
        assay_values_fill(&sets[k], 0, 13, whole);
        for (size_t first = 0; first < 13; first++) {
            for (size_t n = 0; first + n <= 13; n++) {
                assay_values_fill(&sets[k], first, n, part);
                cr_assert_arr_eq(part, whole + first, n * sizeof part[0], "set %zu", k);
            }
        }
    }
}
