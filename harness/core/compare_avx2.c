/* compare_avx2.c - the judge with 256-bit vectors. Same results as compare_scalar.c in every field; the eight
 * lanes of the sums are two vectors of four doubles. */
#include "compare_private.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i load(const void *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}

TARGET static inline unsigned mask8(__m256i lanes) {
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

TARGET static bool equal(const uint32_t *got, const uint32_t *want, size_t n) {
    __m256i apart = _mm256_setzero_si256();
    uint32_t rest = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        apart = _mm256_or_si256(apart, _mm256_xor_si256(load(got + i), load(want + i)));
    }
    for (; i < n; i++) {
        rest |= got[i] ^ want[i];
    }
    return _mm256_testz_si256(apart, apart) && rest == 0;
}

/* Sign-magnitude word to monotone image. */
TARGET static inline __m256i image(__m256i v) {
    const __m256i negative = _mm256_srai_epi32(v, 31);
    const __m256i magnitude = _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
    return _mm256_sub_epi32(_mm256_xor_si256(magnitude, negative), negative);
}

/* Cells of comparable elements. A difference of images that wraps is still outside [-HALF, HALF], and its
 * side is known from the comparison of the images. */
TARGET static inline __m256i cells(__m256i g, __m256i w, __m256i row) {
    const __m256i half = _mm256_set1_epi32(ASSAY_ULP_HALF);
    const __m256i gi = image(g), wi = image(w);
    const __m256i d = _mm256_sub_epi32(gi, wi);
    const __m256i far = _mm256_or_si256(_mm256_cmpgt_epi32(d, half),
                                        _mm256_cmpgt_epi32(_mm256_set1_epi32(-ASSAY_ULP_HALF), d));
    const __m256i edge = _mm256_and_si256(_mm256_cmpgt_epi32(gi, wi), _mm256_set1_epi32(2 * ASSAY_ULP_HALF));
    const __m256i bin = _mm256_blendv_epi8(_mm256_add_epi32(d, half), edge, far);
    return _mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(row, 6), row), bin);
}
_Static_assert(ASSAY_ULP_BINS == 65, "row * 65 is a shift and an add");

TARGET static inline __m256i row_of(__m256i w) {
    return _mm256_and_si256(_mm256_srli_epi32(w, 23), _mm256_set1_epi32(255));
}

TARGET static inline void store_cells(uint16_t *out, __m256i cell) {
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(cell), _mm256_extracti128_si256(cell, 1));
    _mm_storeu_si128((__m128i *)(void *)out, packed);
}

/* ---- parity ---- */

/* The vectors of one step: all ones where the class applies. */
typedef struct parity_lanes {
    __m256i differ, beyond, any_nan, both_nan, zero_sign, numeric;
} parity_lanes;

TARGET static inline parity_lanes parity_classes(__m256i g, __m256i w) {
    const __m256i ones = _mm256_set1_epi32(-1), inf = _mm256_set1_epi32(0x7f800000);
    const __m256i finite_top = _mm256_set1_epi32(0x7f7fffff), sign = _mm256_set1_epi32(0x7fffffff);
    const __m256i gm = _mm256_and_si256(g, sign), wm = _mm256_and_si256(w, sign);
    const __m256i g_nan = _mm256_cmpgt_epi32(gm, inf), w_nan = _mm256_cmpgt_epi32(wm, inf);
    const __m256i zeros = _mm256_cmpeq_epi32(_mm256_or_si256(gm, wm), _mm256_setzero_si256());
    parity_lanes c;
    c.differ = _mm256_xor_si256(_mm256_cmpeq_epi32(g, w), ones);
    c.beyond = _mm256_or_si256(_mm256_cmpgt_epi32(gm, finite_top), _mm256_cmpgt_epi32(wm, finite_top));
    c.any_nan = _mm256_or_si256(g_nan, w_nan);
    c.both_nan = _mm256_and_si256(g_nan, w_nan);
    c.zero_sign = _mm256_and_si256(c.differ, zeros);
    c.numeric = _mm256_andnot_si256(_mm256_or_si256(c.beyond, c.zero_sign), c.differ);
    return c;
}

TARGET static void count_classes(assay_parity *p, const parity_lanes *c) {
    const unsigned differ = mask8(c->differ), any_nan = mask8(c->any_nan), both_nan = mask8(c->both_nan);
    p->differing += (unsigned)__builtin_popcount(differ);
    p->nan_number += (unsigned)__builtin_popcount(any_nan & ~both_nan);
    p->nan_payload += (unsigned)__builtin_popcount(both_nan & differ);
    p->infinite += (unsigned)__builtin_popcount(differ & mask8(c->beyond) & ~any_nan);
    p->zero_sign += (unsigned)__builtin_popcount(mask8(c->zero_sign));
    p->numeric += (unsigned)__builtin_popcount(mask8(c->numeric));
}

/* Enters the numeric elements of a step whose distance reaches the threshold, in ascending order. The
 * distance is unsigned: comparing it as signed needs the top bit flipped. */
TARGET static void note_worst(assay_parity_view *view, size_t i, __m256i g, __m256i w, __m256i numeric,
                              uint64_t *threshold) {
    const __m256i top = _mm256_set1_epi32(INT32_MIN);
    const __m256i gi = image(g), wi = image(w), below = _mm256_cmpgt_epi32(wi, gi);
    const __m256i d = _mm256_sub_epi32(gi, wi);
    const __m256i distance = _mm256_sub_epi32(_mm256_xor_si256(d, below), below);
    const __m256i floor = _mm256_set1_epi32((int)(uint32_t)(*threshold - 1));
    const __m256i over = _mm256_cmpgt_epi32(_mm256_xor_si256(distance, top), _mm256_xor_si256(floor, top));
    unsigned worst = mask8(_mm256_and_si256(numeric, over));
    if (worst == 0) {
        return;
    }
    uint32_t lane[8];
    _mm256_storeu_si256((__m256i *)(void *)lane, distance);
    for (; worst != 0; worst &= worst - 1) {
        const unsigned k = (unsigned)__builtin_ctz(worst);
        assay_parity_note_worst(view, i + k, lane[k]);
    }
    *threshold = assay_parity_threshold(view);
}

TARGET static void classify(assay_parity_view *view) {
    uint64_t threshold = assay_parity_threshold(view);
    size_t i = 0;
    for (; i + 8 <= view->n; i += 8) {
        const __m256i g = load(view->got + i), w = load(view->want + i);
        const parity_lanes c = parity_classes(g, w);
        if (view->cell != NULL) {
            const __m256i apart = _mm256_set1_epi32((int)ASSAY_CELL_APART);
            const __m256i same = _mm256_set1_epi32((int)ASSAY_CELL_EQUAL);
            const __m256i other = _mm256_blendv_epi8(same, apart, c.differ);
            store_cells(view->cell + i, _mm256_blendv_epi8(cells(g, w, row_of(w)), other, c.beyond));
        }
        if (mask8(c.differ) != 0) {
            count_classes(view->parity, &c);
            note_worst(view, i, g, w, c.numeric, &threshold);
        }
    }
    for (; i < view->n; i++) {
        assay_parity_element(view, i);
    }
}

/* ---- accuracy ---- */

TARGET static inline unsigned mask4(__m256i lanes) {
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(lanes));
}

TARGET static inline __m256i magnitude_of(__m256i bits) {
    return _mm256_and_si256(bits, _mm256_set1_epi64x(INT64_MAX));
}

/* Elements whose golden may be a near tie: the window in the dropped bits; of magnitudes below the smallest
 * normal FP32, where the spacing is 2^-149 throughout, those within 2^-20 of the middle between two
 * multiples of it. */
TARGET static inline unsigned tie_suspects(__m256i bits) {
    const __m256i low = _mm256_set1_epi64x((int64_t)(ASSAY_TIE_HALF - ASSAY_TIE_WINDOW) - 1);
    const __m256i high = _mm256_set1_epi64x((int64_t)(ASSAY_TIE_HALF + ASSAY_TIE_WINDOW) + 1);
    const __m256i normal = _mm256_set1_epi64x((int64_t)(1023 - 126) << 52);
    const __m256i dropped = _mm256_and_si256(bits, _mm256_set1_epi64x((1 << 29) - 1));
    const __m256i window =
        _mm256_and_si256(_mm256_cmpgt_epi64(dropped, low), _mm256_cmpgt_epi64(high, dropped));
    const __m256i small = _mm256_cmpgt_epi64(normal, magnitude_of(bits));
    if (__builtin_expect(_mm256_testz_si256(small, small), 1)) {
        return mask4(window);
    }
    /* Distance to the nearest multiple of 2^-149, in units of it; exact, as the unit is a power of two. */
    const __m256d steps = _mm256_mul_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(0x1p149));
    const __m256d nearest = _mm256_round_pd(steps, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256d apart = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(steps, nearest));
    const __m256d near = _mm256_cmp_pd(apart, _mm256_set1_pd(0.5 - 0x1p-20), _CMP_GE_OQ);
    return mask4(_mm256_blendv_epi8(window, _mm256_castpd_si256(near), small));
}

TARGET static void round_block(assay_accuracy_view *view) {
    size_t i = 0;
    for (; i + 4 <= view->n; i += 4) {
        const __m256d y = _mm256_loadu_pd(view->golden + i);
        _mm_storeu_ps((float *)(void *)(view->rounded + i), _mm256_cvtpd_ps(y));
        for (unsigned s = tie_suspects(_mm256_castpd_si256(y)); s != 0; s &= s - 1) {
            assay_accuracy_check_tie(view, i + (unsigned)__builtin_ctz(s));
        }
    }
    assay_accuracy_round_from(view, i);
}

/* Four lanes of the sums and maxima. Named, not indexed: the compiler keeps what it can in registers. */
typedef struct lanes {
    __m256d ulp, err2, x, y, xx, yy, xy, max_abs, max_golden, max_ulp;
} lanes;

TARGET static inline void lanes_add(lanes *l, __m256d x, __m256d y, __m256d err, __m256d abs, __m256d ulp) {
    l->max_abs = _mm256_max_pd(l->max_abs, abs);
    l->max_golden = _mm256_max_pd(l->max_golden, _mm256_andnot_pd(_mm256_set1_pd(-0.0), y));
    l->max_ulp = _mm256_max_pd(l->max_ulp, ulp);
    l->ulp = _mm256_add_pd(l->ulp, ulp);
    l->err2 = _mm256_add_pd(l->err2, _mm256_mul_pd(err, err));
    l->x = _mm256_add_pd(l->x, x);
    l->y = _mm256_add_pd(l->y, y);
    l->xx = _mm256_add_pd(l->xx, _mm256_mul_pd(x, x));
    l->yy = _mm256_add_pd(l->yy, _mm256_mul_pd(y, y));
    l->xy = _mm256_add_pd(l->xy, _mm256_mul_pd(x, y));
}

/* 2^(150 - biased exponent): one over the ulp, for rows 1..254. */
TARGET static inline __m256d inverse_ulp(__m128i row) {
    const __m128i e = _mm_min_epi32(_mm_max_epi32(row, _mm_set1_epi32(1)), _mm_set1_epi32(254));
    const __m128i field = _mm_sub_epi32(_mm_set1_epi32(1023 + 150), e);
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepu32_epi64(field), 52));
}

/* Half a step: four elements. */
typedef struct quad_masks {
    unsigned special, outside, worst;
} quad_masks;

typedef struct limits {
    __m256d atol, rtol, threshold;
} limits;

TARGET static inline quad_masks measure_quad(lanes *l, const limits *lim, __m128i g, __m256d y, __m128i row,
                                             double *ulps) {
    const __m128i g_top =
        _mm_cmpgt_epi32(_mm_and_si128(g, _mm_set1_epi32(0x7fffffff)), _mm_set1_epi32(0x7f7fffff));
    const __m256i y_top = _mm256_cmpgt_epi64(magnitude_of(_mm256_castpd_si256(y)),
                                             _mm256_set1_epi64x(INT64_C(0x7fefffffffffffff)));
    const __m256i special = _mm256_or_si256(_mm256_cvtepi32_epi64(g_top), y_top);
    const __m256d not_plain = _mm256_castsi256_pd(special), sign = _mm256_set1_pd(-0.0);
    const __m256d x = _mm256_andnot_pd(not_plain, _mm256_cvtps_pd(_mm_castsi128_ps(g)));
    y = _mm256_andnot_pd(not_plain, y);
    const __m256d err = _mm256_sub_pd(x, y);
    const __m256d abs = _mm256_andnot_pd(sign, err);
    const __m256d ulp = _mm256_mul_pd(abs, inverse_ulp(row));
    const __m256d limit = _mm256_add_pd(lim->atol, _mm256_mul_pd(lim->rtol, _mm256_andnot_pd(sign, y)));
    const unsigned plain = ~mask4(special) & 15u;
    lanes_add(l, x, y, err, abs, ulp);
    _mm256_storeu_pd(ulps, ulp);
    return (quad_masks){
        .special = mask4(special),
        .outside = plain & (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(abs, limit, _CMP_NLE_UQ)),
        .worst = plain & (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(ulp, lim->threshold, _CMP_GE_OQ))};
}

TARGET static inline void lanes_store(assay_accuracy_view *view, const lanes *l, size_t first) {
    _mm256_storeu_pd(view->sum[SUM_ULP] + first, l->ulp);
    _mm256_storeu_pd(view->sum[SUM_ERR2] + first, l->err2);
    _mm256_storeu_pd(view->sum[SUM_X] + first, l->x);
    _mm256_storeu_pd(view->sum[SUM_Y] + first, l->y);
    _mm256_storeu_pd(view->sum[SUM_XX] + first, l->xx);
    _mm256_storeu_pd(view->sum[SUM_YY] + first, l->yy);
    _mm256_storeu_pd(view->sum[SUM_XY] + first, l->xy);
    _mm256_storeu_pd(view->max[MAX_ABS] + first, l->max_abs);
    _mm256_storeu_pd(view->max[MAX_GOLDEN] + first, l->max_golden);
    _mm256_storeu_pd(view->max[MAX_ULP] + first, l->max_ulp);
}

TARGET static void measure_block(assay_accuracy_view *view) {
    limits lim = {.atol = _mm256_set1_pd(view->accuracy->tolerance.atol),
                  .rtol = _mm256_set1_pd(view->accuracy->tolerance.rtol),
                  .threshold = _mm256_set1_pd(assay_accuracy_threshold(view))};
    uint64_t correct = 0;
    size_t i = 0;
    const __m256d zero = _mm256_setzero_pd();
    lanes first = {zero, zero, zero, zero, zero, zero, zero, zero, zero, zero}, second = first;
    double ulps[ASSAY_LANES];
    for (; i + 8 <= view->n; i += 8) {
        const __m256i g = load(view->got + i), r = load(view->rounded + i), row = row_of(r);
        const quad_masks low =
            measure_quad(&first, &lim, _mm256_castsi256_si128(g), _mm256_loadu_pd(view->golden + i),
                         _mm256_castsi256_si128(row), ulps);
        const quad_masks high =
            measure_quad(&second, &lim, _mm256_extracti128_si256(g, 1), _mm256_loadu_pd(view->golden + i + 4),
                         _mm256_extracti128_si256(row, 1), ulps + 4);
        const unsigned special = low.special | high.special << 4;
        const unsigned outside = low.outside | high.outside << 4;
        const unsigned worst = low.worst | high.worst << 4;
        correct += (unsigned)__builtin_popcount(mask8(_mm256_cmpeq_epi32(g, r)) & ~special);
        store_cells(view->cell + i, cells(g, r, row));
        if (__builtin_expect((special | outside | worst) != 0, 0)) {
            assay_accuracy_rare(view, i, special, outside, worst, ulps);
            lim.threshold = _mm256_set1_pd(assay_accuracy_threshold(view));
        }
    }
    lanes_store(view, &first, 0);
    lanes_store(view, &second, 4);
    view->accuracy->correctly_rounded += correct;
    assay_accuracy_measure_from(view, i);
}

const assay_judge assay_judge_avx2 = {
    .equal = equal, .classify = classify, .round = round_block, .measure = measure_block};
#endif
