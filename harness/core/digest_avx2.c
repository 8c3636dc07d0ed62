/* digest_avx2.c - the strip sum with 256-bit vectors: four pairs at a time. */
#include "digest_private.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

/* lo(y) * hi(y) + y in each lane, y = x ^ B ^ R */
TARGET static inline __m256i mix_pairs(__m256i x, const uint64_t *b, __m256i row) {
    const __m256i y =
        _mm256_xor_si256(_mm256_xor_si256(x, row), _mm256_loadu_si256((const __m256i *)(const void *)b));
    return _mm256_add_epi64(_mm256_mul_epu32(y, _mm256_srli_epi64(y, 32)), y);
}

TARGET static inline uint64_t lanes_sum(__m256i v) {
    uint64_t lane[4];
    _mm256_storeu_si256((__m256i *)(void *)lane, v);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

TARGET static void whole_vectors(const assay_strip *strip, size_t whole, uint64_t sum[2]) {
    const uint64_t *const b0 = strip->b[0], *const b1 = strip->b[1];
    __m256i s0 = _mm256_setzero_si256(), s1 = s0;
    for (size_t r = 0; r < strip->rows; r++) {
        const uint32_t *const words = strip->words + r * strip->pitch_words;
        const uint64_t number = strip->first_row + (uint64_t)r;
        const __m256i row0 = _mm256_set1_epi64x((long long)assay_splitmix64(ASSAY_TILE_ROW_BASE_0 + number));
        const __m256i row1 = _mm256_set1_epi64x((long long)assay_splitmix64(ASSAY_TILE_ROW_BASE_1 + number));
        for (size_t w = 0; w < whole; w += 8) {
            const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(words + w));
            s0 = _mm256_add_epi64(s0, mix_pairs(x, b0 + w / 2, row0));
            s1 = _mm256_add_epi64(s1, mix_pairs(x, b1 + w / 2, row1));
        }
    }
    sum[0] += lanes_sum(s0);
    sum[1] += lanes_sum(s1);
}

void assay_strip_add_avx2(const assay_strip *strip, uint64_t sum[2]) {
    const size_t whole = strip->strip_words / 8 * 8;
    if (whole > 0) {
        whole_vectors(strip, whole, sum);
    }
    if (whole < strip->strip_words) { /* the last 1..7 words of each row */
        assay_strip rest = *strip;
        rest.words += whole;
        rest.strip_words -= whole;
        rest.b[0] += whole / 2;
        rest.b[1] += whole / 2;
        assay_strip_add_scalar(&rest, sum);
    }
}
#endif
