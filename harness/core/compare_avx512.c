/* compare_avx512.c - the judge with 512-bit vectors. Same results as compare_scalar.c in every field; the
 * order of the sums is that of compare_private.h: one vector of eight doubles is the eight lanes. */
#include "compare_private.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

TARGET static bool equal(const uint32_t *got, const uint32_t *want, size_t n) {
    __m512i apart = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        /* apart | (got ^ want) */
        apart =
            _mm512_ternarylogic_epi32(apart, _mm512_loadu_si512(got + i), _mm512_loadu_si512(want + i), 0xf6);
    }
    const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
    const __m512i g = _mm512_maskz_loadu_epi32(rest, got + i), w = _mm512_maskz_loadu_epi32(rest, want + i);
    apart = _mm512_ternarylogic_epi32(apart, g, w, 0xf6);
    return _mm512_test_epi32_mask(apart, apart) == 0;
}

/* ---- parity ---- */

typedef struct parity_masks {
    __mmask16 differ, nan_number, nan_payload, infinite, zero_sign, numeric,
        beyond; /* beyond: NaN or infinity in one */
} parity_masks;

TARGET static inline parity_masks parity_classes(__m512i g, __m512i w) {
    const __m512i sign = _mm512_set1_epi32(0x7fffffff), inf = _mm512_set1_epi32(0x7f800000);
    const __m512i gm = _mm512_and_si512(g, sign), wm = _mm512_and_si512(w, sign);
    const __mmask16 g_nan = _mm512_cmpgt_epi32_mask(gm, inf), w_nan = _mm512_cmpgt_epi32_mask(wm, inf);
    const __mmask16 g_top = _mm512_cmpge_epi32_mask(gm, inf), w_top = _mm512_cmpge_epi32_mask(wm, inf);
    const __mmask16 differ = _mm512_cmpneq_epi32_mask(g, w);
    const __m512i either = _mm512_or_si512(gm, wm);
    parity_masks m;
    m.differ = differ;
    m.beyond = (__mmask16)(g_top | w_top);
    m.nan_number = (__mmask16)(g_nan ^ w_nan);
    m.nan_payload = (__mmask16)(g_nan & w_nan & differ);
    m.infinite = (__mmask16)(differ & m.beyond & ~(g_nan | w_nan));
    m.zero_sign = (__mmask16)(differ & _mm512_testn_epi32_mask(either, either));
    m.numeric = (__mmask16)(differ & ~m.beyond & ~m.zero_sign);
    return m;
}

/* Sign-magnitude word to monotone image. */
TARGET static inline __m512i image16(__m512i v) {
    const __m512i negative = _mm512_srai_epi32(v, 31);
    const __m512i magnitude = _mm512_and_si512(v, _mm512_set1_epi32(0x7fffffff));
    return _mm512_sub_epi32(_mm512_xor_si512(magnitude, negative), negative);
}

/* Cells of 16 elements. A difference of images that wraps is still outside [-HALF, HALF], and its side is
 * known from the comparison of the images. */
TARGET static inline __m256i cells16(__m512i g, __m512i w, parity_masks m) {
    const __m512i half = _mm512_set1_epi32(ASSAY_ULP_HALF);
    const __m512i gi = image16(g), wi = image16(w);
    const __m512i d = _mm512_sub_epi32(gi, wi);
    const __mmask16 far = _mm512_cmpgt_epu32_mask(_mm512_abs_epi32(d), half);
    const __mmask16 above = _mm512_cmpgt_epi32_mask(gi, wi);
    __m512i bin = _mm512_add_epi32(d, half);
    bin = _mm512_mask_mov_epi32(bin, far, _mm512_setzero_si512());
    bin = _mm512_mask_mov_epi32(bin, (__mmask16)(far & above), _mm512_set1_epi32(2 * ASSAY_ULP_HALF));
    const __m512i row = _mm512_and_si512(_mm512_srli_epi32(w, 23), _mm512_set1_epi32(255));
    __m512i cell = _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(row, 6), row), bin);
    cell = _mm512_mask_mov_epi32(cell, m.beyond, _mm512_set1_epi32((int)ASSAY_CELL_EQUAL));
    cell = _mm512_mask_mov_epi32(cell, (__mmask16)(m.beyond & m.differ),
                                 _mm512_set1_epi32((int)ASSAY_CELL_APART));
    return _mm512_cvtepi32_epi16(cell);
}
_Static_assert(ASSAY_ULP_BINS == 65, "row * 65 is a shift and an add");

/* |image(got) - image(want)| as unsigned: of like sign a difference, else a sum of magnitudes. */
TARGET static inline __m512i distance16(__m512i g, __m512i w) {
    const __m512i d = _mm512_sub_epi32(image16(g), image16(w));
    const __mmask16 below = _mm512_cmplt_epi32_mask(image16(g), image16(w));
    return _mm512_mask_sub_epi32(d, below, _mm512_setzero_si512(), d);
}

TARGET static void classify(assay_parity_view *view) {
    assay_parity *const p = view->parity;
    uint64_t threshold = assay_parity_threshold(view);
    size_t i = 0;
    for (; i + 16 <= view->n; i += 16) {
        const __m512i g = _mm512_loadu_si512(view->got + i), w = _mm512_loadu_si512(view->want + i);
        const parity_masks m = parity_classes(g, w);
        if (view->cell != NULL) {
            _mm256_storeu_si256((__m256i *)(void *)(view->cell + i), cells16(g, w, m));
        }
        if (m.differ == 0) {
            continue;
        }
        p->differing += (unsigned)__builtin_popcount(m.differ);
        p->nan_number += (unsigned)__builtin_popcount(m.nan_number);
        p->nan_payload += (unsigned)__builtin_popcount(m.nan_payload);
        p->infinite += (unsigned)__builtin_popcount(m.infinite);
        p->zero_sign += (unsigned)__builtin_popcount(m.zero_sign);
        p->numeric += (unsigned)__builtin_popcount(m.numeric);
        const __m512i distance = distance16(g, w);
        const __m512i least = _mm512_set1_epi32((int)(uint32_t)threshold);
        unsigned worst = _mm512_mask_cmpge_epu32_mask(m.numeric, distance, least);
        if (worst != 0) {
            uint32_t lane[16];
            _mm512_storeu_si512(lane, distance);
            for (; worst != 0; worst &= worst - 1) {
                const unsigned k = (unsigned)__builtin_ctz(worst);
                assay_parity_note_worst(view, i + k, lane[k]);
            }
            threshold = assay_parity_threshold(view);
        }
    }
    for (; i < view->n; i++) {
        assay_parity_element(view, i);
    }
}

/* ---- accuracy ---- */

/* Elements whose golden may be a near tie: the window in the dropped bits; of magnitudes below the smallest
 * normal FP32, where the spacing is 2^-149 throughout, those within 2^-20 of the middle between two
 * multiples of it. */
TARGET static inline unsigned tie_suspects(__m512i bits) {
    const __m512i dropped = _mm512_and_si512(bits, _mm512_set1_epi64((1 << 29) - 1));
    const __m512i offset =
        _mm512_sub_epi64(dropped, _mm512_set1_epi64((int64_t)(ASSAY_TIE_HALF - ASSAY_TIE_WINDOW)));
    const __m512i twice = _mm512_slli_epi64(bits, 1); /* without the sign */
    const __m512i normal = _mm512_set1_epi64((int64_t)((UINT64_C(1023) - 126) << 53));
    const unsigned window =
        _mm512_cmple_epu64_mask(offset, _mm512_set1_epi64((int64_t)(2 * ASSAY_TIE_WINDOW)));
    const unsigned small = _mm512_cmplt_epu64_mask(twice, normal);
    if (__builtin_expect(small == 0, 1)) {
        return window;
    }
    /* Distance to the nearest multiple, in units of the spacing; exact, as the unit is a power of two. */
    const __m512d steps = _mm512_mul_pd(_mm512_castsi512_pd(bits), _mm512_set1_pd(0x1p149));
    const __m512d apart = _mm512_abs_pd(_mm512_reduce_pd(steps, _MM_FROUND_TO_NEAREST_INT));
    return (window & ~small) | (_mm512_cmp_pd_mask(apart, _mm512_set1_pd(0.5 - 0x1p-20), _CMP_GE_OQ) & small);
}

TARGET static void round_block(assay_accuracy_view *view) {
    size_t i = 0;
    for (; i + 8 <= view->n; i += 8) {
        const __m512d y = _mm512_loadu_pd(view->golden + i);
        _mm256_storeu_ps((float *)(void *)(view->rounded + i), _mm512_cvtpd_ps(y));
        for (unsigned s = tie_suspects(_mm512_castpd_si512(y)); s != 0; s &= s - 1) {
            assay_accuracy_check_tie(view, i + (unsigned)__builtin_ctz(s));
        }
    }
    assay_accuracy_round_from(view, i);
}

TARGET static inline __m256i image8(__m256i v) {
    const __m256i negative = _mm256_srai_epi32(v, 31);
    const __m256i magnitude = _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
    return _mm256_sub_epi32(_mm256_xor_si256(magnitude, negative), negative);
}

/* As cells16, for comparable elements; `row` is the exponent field of `want`. */
TARGET static inline __m128i cells8(__m256i g, __m256i w, __m256i row) {
    const __m256i half = _mm256_set1_epi32(ASSAY_ULP_HALF);
    const __m256i gi = image8(g), wi = image8(w);
    const __m256i d = _mm256_sub_epi32(gi, wi);
    const __mmask8 far = _mm256_cmpgt_epu32_mask(_mm256_abs_epi32(d), half);
    const __mmask8 above = _mm256_cmpgt_epi32_mask(gi, wi);
    __m256i bin = _mm256_add_epi32(d, half);
    bin = _mm256_mask_mov_epi32(bin, far, _mm256_setzero_si256());
    bin = _mm256_mask_mov_epi32(bin, (__mmask8)(far & above), _mm256_set1_epi32(2 * ASSAY_ULP_HALF));
    return _mm256_cvtepi32_epi16(_mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(row, 6), row), bin));
}

/* Named, not indexed: the compiler keeps them in registers. */
typedef struct lanes {
    __m512d ulp, err2, x, y, xx, yy, xy, max_abs, max_golden, max_ulp;
} lanes;

/* Adds one vector of finite pairs (x, y) with its errors to the lanes. */
TARGET static inline void lanes_add(lanes *l, __m512d x, __m512d y, __m512d err, __m512d abs, __m512d ulp) {
    l->max_abs = _mm512_max_pd(l->max_abs, abs);
    l->max_golden = _mm512_max_pd(l->max_golden, _mm512_abs_pd(y));
    l->max_ulp = _mm512_max_pd(l->max_ulp, ulp);
    l->ulp = _mm512_add_pd(l->ulp, ulp);
    l->err2 = _mm512_add_pd(l->err2, _mm512_mul_pd(err, err));
    l->x = _mm512_add_pd(l->x, x);
    l->y = _mm512_add_pd(l->y, y);
    l->xx = _mm512_add_pd(l->xx, _mm512_mul_pd(x, x));
    l->yy = _mm512_add_pd(l->yy, _mm512_mul_pd(y, y));
    l->xy = _mm512_add_pd(l->xy, _mm512_mul_pd(x, y));
}

TARGET static inline void lanes_store(assay_accuracy_view *view, const lanes *l) {
    _mm512_storeu_pd(view->sum[SUM_ULP], l->ulp);
    _mm512_storeu_pd(view->sum[SUM_ERR2], l->err2);
    _mm512_storeu_pd(view->sum[SUM_X], l->x);
    _mm512_storeu_pd(view->sum[SUM_Y], l->y);
    _mm512_storeu_pd(view->sum[SUM_XX], l->xx);
    _mm512_storeu_pd(view->sum[SUM_YY], l->yy);
    _mm512_storeu_pd(view->sum[SUM_XY], l->xy);
    _mm512_storeu_pd(view->max[MAX_ABS], l->max_abs);
    _mm512_storeu_pd(view->max[MAX_GOLDEN], l->max_golden);
    _mm512_storeu_pd(view->max[MAX_ULP], l->max_ulp);
}

/* 2^(150 - biased exponent): one over the ulp, for rows 1..254. */
TARGET static inline __m512d inverse_ulp(__m256i row) {
    const __m256i e = _mm256_min_epi32(_mm256_max_epi32(row, _mm256_set1_epi32(1)), _mm256_set1_epi32(254));
    const __m256i field = _mm256_sub_epi32(_mm256_set1_epi32(1023 + 150), e);
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_cvtepu32_epi64(field), 52));
}

TARGET static void measure_block(assay_accuracy_view *view) {
    const __m512d atol = _mm512_set1_pd(view->accuracy->tolerance.atol);
    const __m512d rtol = _mm512_set1_pd(view->accuracy->tolerance.rtol);
    double threshold = assay_accuracy_threshold(view);
    uint64_t correct = 0;
    size_t i = 0;
    const __m512d zero = _mm512_setzero_pd();
    lanes l = {zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
    for (; i + 8 <= view->n; i += 8) {
        const __m256i g = _mm256_loadu_si256((const __m256i *)(const void *)(view->got + i));
        const __m256i r = _mm256_loadu_si256((const __m256i *)(const void *)(view->rounded + i));
        const __m256i row = _mm256_and_si256(_mm256_srli_epi32(r, 23), _mm256_set1_epi32(255));
        __m512d y = _mm512_loadu_pd(view->golden + i);
        const __mmask8 special = (__mmask8)(_mm512_fpclass_pd_mask(y, 0x99) |
                                            _mm256_fpclass_ps_mask(_mm256_castsi256_ps(g), 0x99));
        const __mmask8 plain = (__mmask8)~special;
        __m512d x = _mm512_maskz_cvtps_pd(plain, _mm256_castsi256_ps(g));
        y = _mm512_maskz_mov_pd(plain, y);
        const __m512d err = _mm512_sub_pd(x, y);
        const __m512d abs = _mm512_abs_pd(err);
        const __m512d ulp = _mm512_mul_pd(abs, inverse_ulp(row));
        const __m512d limit = _mm512_add_pd(atol, _mm512_mul_pd(rtol, _mm512_abs_pd(y)));
        const __mmask8 outside = _mm512_mask_cmp_pd_mask(plain, abs, limit, _CMP_NLE_UQ);
        const __mmask8 worst = _mm512_mask_cmp_pd_mask(plain, ulp, _mm512_set1_pd(threshold), _CMP_GE_OQ);
        correct += (unsigned)__builtin_popcount((unsigned)(_mm256_cmpeq_epi32_mask(g, r) & plain));
        lanes_add(&l, x, y, err, abs, ulp);
        _mm_storeu_si128((__m128i *)(void *)(view->cell + i), cells8(g, r, row));
        if (__builtin_expect((special | outside | worst) != 0, 0)) {
            double ulps[8];
            _mm512_storeu_pd(ulps, ulp);
            assay_accuracy_rare(view, i, special, outside, worst, ulps);
            threshold = assay_accuracy_threshold(view);
        }
    }
    lanes_store(view, &l);
    view->accuracy->correctly_rounded += correct;
    assay_accuracy_measure_from(view, i);
}

const assay_judge assay_judge_avx512 = {
    .equal = equal, .classify = classify, .round = round_block, .measure = measure_block};
#endif
