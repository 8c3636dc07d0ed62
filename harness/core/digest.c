/* digest.c - tile sums: cuts rows into strips and hands them to the chosen instruction set. */
#include "digest_private.h"

#include "compare_simd.h"

#include <pthread.h>

/* The constants of the first strip: rows of up to 1024 words need no other. */
static uint64_t first_strip[2][ASSAY_STRIP_PAIRS];
static pthread_once_t first_strip_once = PTHREAD_ONCE_INIT;

static void strip_constants(uint64_t b[2][ASSAY_STRIP_PAIRS], uint64_t first_pair) {
    for (uint64_t j = 0; j < ASSAY_STRIP_PAIRS; j++) {
        b[0][j] = assay_splitmix64(ASSAY_TILE_COLUMN_BASE_0 + first_pair + j);
        b[1][j] = assay_splitmix64(ASSAY_TILE_COLUMN_BASE_1 + first_pair + j);
    }
}

static void first_strip_fill(void) {
    strip_constants(first_strip, 0);
}

/* y = x ^ B ^ R; sum += lo(y) * hi(y) + y */
static uint64_t mix(uint64_t y) {
    return (y & 0xffffffffu) * (y >> 32) + y;
}

void assay_strip_add_scalar(const assay_strip *strip, uint64_t sum[2]) {
    const size_t full = strip->strip_words / 2;
    for (size_t r = 0; r < strip->rows; r++) {
        const uint32_t *const words = strip->words + r * strip->pitch_words;
        const uint64_t row = strip->first_row + (uint64_t)r;
        const uint64_t r0 = assay_splitmix64(ASSAY_TILE_ROW_BASE_0 + row);
        const uint64_t r1 = assay_splitmix64(ASSAY_TILE_ROW_BASE_1 + row);
        for (size_t j = 0; j < full; j++) {
            const uint64_t x = words[2 * j] | (uint64_t)words[2 * j + 1] << 32;
            sum[0] += mix(x ^ strip->b[0][j] ^ r0);
            sum[1] += mix(x ^ strip->b[1][j] ^ r1);
        }
        if ((strip->strip_words & 1u) != 0) {
            const uint64_t x = words[2 * full];
            sum[0] += mix(x ^ strip->b[0][full] ^ r0);
            sum[1] += mix(x ^ strip->b[1][full] ^ r1);
        }
    }
}

static assay_strip_add *strip_add_choose(void) {
    switch (assay_simd_level()) {
#if defined(__x86_64__)
    case ASSAY_SIMD_AVX512:
        return assay_strip_add_avx512;
    case ASSAY_SIMD_AVX2:
        return assay_strip_add_avx2;
#endif
    default:
        return assay_strip_add_scalar;
    }
}

void assay_tile_add(assay_tile *tile, const uint32_t *words, size_t row_words, uint32_t first_row,
                    size_t rows) {
    assay_strip_add *const add = strip_add_choose();
    uint64_t later_strip[2][ASSAY_STRIP_PAIRS];
    const size_t strip_words = 2 * (size_t)ASSAY_STRIP_PAIRS;
    (void)pthread_once(&first_strip_once, first_strip_fill);
    for (size_t column = 0; column < row_words; column += strip_words) {
        assay_strip strip = {.words = words + column,
                             .pitch_words = row_words,
                             .strip_words =
                                 row_words - column < strip_words ? row_words - column : strip_words,
                             .rows = rows,
                             .first_row = first_row,
                             .b = {first_strip[0], first_strip[1]}};
        if (column > 0) {
            strip_constants(later_strip, column / 2);
            strip.b[0] = later_strip[0];
            strip.b[1] = later_strip[1];
        }
        add(&strip, tile->sum);
    }
}

void assay_tile_merge(assay_tile *tile, const assay_tile *other) {
    tile->sum[0] += other->sum[0];
    tile->sum[1] += other->sum[1];
}
