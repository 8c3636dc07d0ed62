/* test_tensor.c - arena and tensors as the judge sees them, without a worker. */
#include "tensor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define POISON 0x7fc0a55au

static assay_arena *arena_of(size_t bytes) {
    assay_arena *arena = NULL;
    assay_error error = {0};
    cr_assert_eq(assay_arena_create(bytes, &arena, &error), ASSAY_CODE_OK, "%s", error.text);
    return arena;
}

static assay_tensor alloc(assay_arena *arena, const assay_tensor_spec *spec) {
    assay_tensor t;
    assay_error error = {0};
    cr_assert_eq(assay_tensor_alloc(arena, spec, &t, &error), ASSAY_CODE_OK, "%s", error.text);
    return t;
}

Test(tensor, file_cannot_be_resized) {
    assay_arena *arena = arena_of(1 << 20);
    cr_assert_eq(ftruncate(assay_arena_fd(arena), 0), -1);
    cr_assert_eq(errno, EPERM);
    cr_assert_eq(ftruncate(assay_arena_fd(arena), 1 << 21), -1);
    assay_arena_destroy(arena);
}

Test(tensor, placements_many_sizes) {
    assay_arena *arena = arena_of((size_t)64 << 20);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F64, ASSAY_DTYPE_U8};
    const assay_placement places[] = {ASSAY_PLACE_MIDDLE, ASSAY_PLACE_AT_END, ASSAY_PLACE_AT_START};
    for (int64_t n = 0; n < 2100; n += n < 70 ? 1 : 509) {
        for (size_t d = 0; d < 4; d++) {
            size_t previous_end = 0;
            const size_t span = (size_t)n * assay_dtype_bytes(dtypes[d]);
            assay_arena_reset(arena, false);
            for (size_t p = 0; p < 3; p++) {
                const assay_placement place = places[p];
                const assay_tensor_spec spec = {
                    .dtype = dtypes[d], .ndim = 1, .shape = {n}, .placement = place};
                const assay_tensor t = alloc(arena, &spec);
                const size_t before = t.data_offset - t.segment_offset;
                const size_t after = t.segment_bytes - before - span;
                cr_assert_eq(t.span_bytes, span);
                cr_assert_eq(t.segment_offset % page, 0);
                cr_assert_eq(t.segment_bytes % page, 0);
                cr_assert_geq(t.segment_offset, previous_end + page, "a gap page before every segment");
                cr_assert_leq(before + span, t.segment_bytes);
                cr_assert(place != ASSAY_PLACE_AT_END || after == 0);
                cr_assert(place != ASSAY_PLACE_AT_START || before == 0);
                cr_assert(place != ASSAY_PLACE_MIDDLE ||
                          (before >= ASSAY_ZONE_BYTES && after >= ASSAY_ZONE_BYTES));
                cr_assert(place != ASSAY_PLACE_MIDDLE || (uintptr_t)t.data % 64 == 0);
                previous_end = t.segment_offset + t.segment_bytes;
            }
        }
    }
    assay_arena_destroy(arena);
}

Test(tensor, misaligned_base) {
    assay_arena *arena = arena_of(1 << 20);
    for (size_t m = 1; m < 64; m++) {
        const assay_tensor_spec spec = {
            .dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {33}, .misalign_bytes = m};
        const assay_tensor t = alloc(arena, &spec);
        cr_assert_eq((uintptr_t)t.data % 64, m);
        cr_assert_geq(t.data_offset - t.segment_offset, ASSAY_ZONE_BYTES);
    }
    assay_arena_destroy(arena);
}

Test(tensor, damage_before_and_after) {
    assay_arena *arena = arena_of(1 << 20);
    const assay_tensor_spec spec = {
        .dtype = ASSAY_DTYPE_BF16, .ndim = 1, .shape = {101}, .misalign_bytes = 6};
    const assay_tensor t = alloc(arena, &spec);
    uint8_t *data = t.data;
    int64_t first = 77;
    assay_tensor_poison(&t, POISON);
    cr_assert_eq(assay_tensor_zone_damage(&t, POISON, &first), 0);
    cr_assert_eq(first, 77, "untouched without damage");
    memset(data, 0, t.span_bytes);
    cr_assert_eq(assay_tensor_zone_damage(&t, POISON, &first), 0, "the data itself is no zone");
    const struct {
        int64_t at, want;
    } cases[] = {{-1, -1},
                 {-17, -17},
                 {-(int64_t)(t.data_offset - t.segment_offset), -(int64_t)(t.data_offset - t.segment_offset)},
                 {202, 0},
                 {203, 1},
                 {202 + 200, 200}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        data[cases[i].at] ^= 0x40;
        cr_assert_eq(assay_tensor_zone_damage(&t, POISON, &first), 1, "case %zu", i);
        cr_assert_eq(first, cases[i].want, "case %zu: %ld", i, (long)first);
        data[cases[i].at] ^= 0x40;
    }
    memset(data - 4, 0, 4);
    memset(data + 202, 0, 3);
    cr_assert_eq(assay_tensor_zone_damage(&t, POISON, &first), 7);
    cr_assert_eq(first, -1, "the damage nearest to the data");
    cr_assert_eq(assay_tensor_zone_damage(&t, 0xffd5c33cu, NULL) > 200, true,
                 "another pattern is damage everywhere");
    assay_arena_destroy(arena);
}

Test(tensor, damage_in_large_zones) {
    assay_arena *arena = arena_of((size_t)1 << 20);
    const assay_tensor_spec spec = {
        .dtype = ASSAY_DTYPE_U8, .ndim = 1, .shape = {3}, .placement = ASSAY_PLACE_AT_END};
    const assay_tensor t = alloc(arena, &spec);
    int64_t first = 0;
    assay_tensor_poison(&t, POISON);
    ((uint8_t *)t.data)[-4000] ^= 1;
    cr_assert_eq(assay_tensor_zone_damage(&t, POISON, &first), 1);
    cr_assert_eq(first, -4000);
    assay_arena_destroy(arena);
}

Test(tensor, counts_unwritten_elements) {
    assay_arena *arena = arena_of(1 << 20);
    const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F64, ASSAY_DTYPE_U8};
    for (size_t d = 0; d < 4; d++) {
        const assay_tensor_spec spec = {
            .dtype = dtypes[d], .ndim = 2, .shape = {5, 7}, .placement = ASSAY_PLACE_AT_END};
        const assay_tensor t = alloc(arena, &spec);
        const size_t size = assay_dtype_bytes(dtypes[d]);
        assay_tensor_poison(&t, POISON);
        cr_assert_eq(assay_tensor_count_pattern(&t, POISON), 35);
        cr_assert_eq(assay_tensor_count_pattern(&t, ~POISON), 0);
        ((uint8_t *)t.data)[3 * size + size - 1] ^= 1;
        cr_assert_eq(assay_tensor_count_pattern(&t, POISON), 34, "dtype %zu", d);
    }
    assay_arena_destroy(arena);
}

Test(tensor, put_and_get_strided) {
    assay_arena *arena = arena_of(1 << 20);
    const int64_t strides[4] = {300, 100, 9, 2};
    const assay_tensor_spec spec = {
        .dtype = ASSAY_DTYPE_F32, .ndim = 4, .shape = {2, 3, 4, 5}, .strides = strides, .misalign_bytes = 4};
    const assay_tensor t = alloc(arena, &spec);
    float in[120], out[120];
    assay_tensor_poison(&t, POISON);
    for (int i = 0; i < 120; i++) {
        in[i] = (float)i + 0.5f;
    }
    cr_assert_eq(t.span_bytes, (size_t)4 * (300 + 200 + 27 + 8 + 1));
    cr_assert_eq(assay_tensor_elements(&t), 120);
    assay_tensor_put(&t, in);
    assay_tensor_get(&t, out);
    cr_assert_arr_eq(in, out, sizeof in);
    const float *data = t.data;
    cr_assert_eq(data[300 + 2 * 100 + 3 * 9 + 4 * 2], 119.5f);
    uint32_t between = 0;
    memcpy(&between, &data[1], 4);
    const size_t at = t.data_offset + 4;
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq((uint8_t)(between >> (8 * i)), (uint8_t)(POISON >> (8 * ((at + i) % 4))),
                     "gaps keep the poison");
    }
    cr_assert_eq(assay_tensor_zone_damage(&t, POISON, NULL), 0);
    assay_arena_destroy(arena);
}

Test(tensor, scalar_and_empty) {
    assay_arena *arena = arena_of(1 << 20);
    const assay_tensor scalar = alloc(arena, &(assay_tensor_spec){.dtype = ASSAY_DTYPE_F64, .ndim = 0});
    const double x = 3.5;
    double y = 0;
    assay_tensor_put(&scalar, &x);
    assay_tensor_get(&scalar, &y);
    cr_assert_eq(y, 3.5);
    const assay_tensor empty =
        alloc(arena, &(assay_tensor_spec){.dtype = ASSAY_DTYPE_F32, .ndim = 2, .shape = {0, 256}});
    cr_assert_eq(empty.span_bytes, 0);
    cr_assert_eq(assay_tensor_elements(&empty), 0);
    assay_tensor_put(&empty, NULL);
    cr_assert_eq(assay_tensor_count_pattern(&empty, 0), 0);
    assay_arena_destroy(arena);
}

Test(tensor, hash_sees_every_byte_of_the_segment) {
    assay_arena *arena = arena_of(1 << 20);
    const assay_tensor t =
        alloc(arena, &(assay_tensor_spec){.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {10}});
    uint8_t before[32], after[32];
    assay_tensor_poison(&t, POISON);
    assay_tensor_hash(&t, before);
    uint8_t *segment = (uint8_t *)t.data - (t.data_offset - t.segment_offset);
    for (size_t i = 0; i < t.segment_bytes; i += 97) {
        segment[i] ^= 1;
        assay_tensor_hash(&t, after);
        cr_assert_arr_neq(before, after, 32);
        segment[i] ^= 1;
    }
    assay_tensor_hash(&t, after);
    cr_assert_arr_eq(before, after, 32);
    assay_arena_destroy(arena);
}

Test(tensor, refusals) {
    assay_arena *arena = arena_of(1 << 20);
    const int64_t negative[1] = {-1}, huge[1] = {INT64_MAX / 2};
    const assay_tensor_spec bad[] = {
        {.dtype = ASSAY_DTYPE_F32, .ndim = 5},
        {.dtype = ASSAY_DTYPE_F32, .ndim = -1},
        {.dtype = ASSAY_DTYPE_COUNT, .ndim = 1, .shape = {1}},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {-1}},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {3}, .strides = negative},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {3}, .strides = huge},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {INT64_MAX}},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 2, .shape = {INT64_MAX / 2, 4}},
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {1 << 20}}, /* larger than the arena */
        {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {4}, .misalign_bytes = 1 << 16},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_tensor t = {.ndim = 42};
        assay_error error = {0};
        cr_assert_eq(assay_tensor_alloc(arena, &bad[i], &t, &error), ASSAY_CODE_INTERNAL, "case %zu", i);
        cr_assert_eq(t.ndim, 42, "untouched");
        cr_assert(strlen(error.text) > 0);
    }
    assay_arena_destroy(arena);
    cr_assert_eq(assay_arena_create(0, &arena, NULL), ASSAY_CODE_USAGE);
    cr_assert_null(arena);
}

Test(tensor, full_arena_and_reset) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assay_arena *arena = arena_of(page * 7);
    const assay_tensor_spec one = {.dtype = ASSAY_DTYPE_U8, .ndim = 1, .shape = {8}};
    assay_tensor t;
    assay_error error = {0};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) {
            t = alloc(arena, &one);
            memset(t.data, 0x55, 8);
        }
        cr_assert_eq(assay_tensor_alloc(arena, &one, &t, &error), ASSAY_CODE_INTERNAL);
        cr_assert(strstr(error.text, "full") != NULL, "%s", error.text);
        assay_arena_reset(arena, round == 1);
    }
    t = alloc(arena, &one);
    cr_assert_eq(((uint8_t *)t.data)[0], 0x55, "a reset without release keeps pages");
    assay_arena_reset(arena, true);
    t = alloc(arena, &one);
    cr_assert_eq(((uint8_t *)t.data)[0], 0, "a released page reads zero");
    assay_arena_destroy(arena);
}
