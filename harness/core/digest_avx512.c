/* digest_avx512.c - the strip sum with 512-bit vectors: eight pairs at a time. */
#include "digest_private.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define XOR3   0x96 /* truth table of a ^ b ^ c */

/* lo(y) * hi(y) + y in each lane */
TARGET static inline __m512i mix(__m512i y) {
    return _mm512_add_epi64(_mm512_mul_epu32(y, _mm512_srli_epi64(y, 32)), y);
}

TARGET static inline __m512i mix_pairs(__m512i x, const uint64_t *b, __m512i row) {
    return mix(_mm512_ternarylogic_epi64(x, _mm512_loadu_si512(b), row, XOR3));
}

TARGET static inline uint64_t lanes_sum(__m512i v) {
    uint64_t lane[8];
    _mm512_storeu_si512(lane, v);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* The last 1..15 words of a row: absent words read as zero, absent pairs add nothing (mix(0) = 0). */
TARGET static inline void add_rest(const uint32_t *words, unsigned rest, const uint64_t *b0,
                                   const uint64_t *b1, const __m512i row[2], __m512i sum[2]) {
    const __mmask8 pairs = (__mmask8)((1u << ((rest + 1) / 2)) - 1);
    const __m512i x = _mm512_maskz_loadu_epi32((__mmask16)((1u << rest) - 1), words);
    const __m512i y0 = _mm512_ternarylogic_epi64(x, _mm512_loadu_si512(b0), row[0], XOR3);
    const __m512i y1 = _mm512_ternarylogic_epi64(x, _mm512_loadu_si512(b1), row[1], XOR3);
    sum[0] = _mm512_add_epi64(sum[0], mix(_mm512_maskz_mov_epi64(pairs, y0)));
    sum[1] = _mm512_add_epi64(sum[1], mix(_mm512_maskz_mov_epi64(pairs, y1)));
}

TARGET void assay_strip_add_avx512(const assay_strip *strip, uint64_t sum[2]) {
    const size_t whole = strip->strip_words / 16 * 16;
    const unsigned rest = (unsigned)(strip->strip_words - whole);
    const uint64_t *const b0 = strip->b[0], *const b1 = strip->b[1];
    __m512i total[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t r = 0; r < strip->rows; r++) {
        const uint32_t *const words = strip->words + r * strip->pitch_words;
        const uint64_t number = strip->first_row + (uint64_t)r;
        const __m512i row[2] = {
            _mm512_set1_epi64((long long)assay_splitmix64(ASSAY_TILE_ROW_BASE_0 + number)),
            _mm512_set1_epi64((long long)assay_splitmix64(ASSAY_TILE_ROW_BASE_1 + number))};
        __m512i s0 = total[0], s1 = total[1];
        for (size_t w = 0; w < whole; w += 16) {
            const __m512i x = _mm512_loadu_si512(words + w);
            s0 = _mm512_add_epi64(s0, mix_pairs(x, b0 + w / 2, row[0]));
            s1 = _mm512_add_epi64(s1, mix_pairs(x, b1 + w / 2, row[1]));
        }
        total[0] = s0;
        total[1] = s1;
        if (rest > 0) {
            add_rest(words + whole, rest, b0 + whole / 2, b1 + whole / 2, row, total);
        }
    }
    sum[0] += lanes_sum(total[0]);
    sum[1] += lanes_sum(total[1]);
}
#endif
