/* simd.h - one vocabulary for the AVX2 and the AVX-512 form of a kernel.
 *
 * A kernel is written once against these names and compiled once per path, in files that end in _avx2.c and
 * _avx512.c (impls/CMakeLists.txt gives them their flags). Every operation is one IEEE operation per lane;
 * nothing contracts or reorders, so that both forms give the bits of the scalar one.
 *
 * vf: LANES floats, vd: LANES/2 doubles, vm: one truth value per float lane.
 */
#ifndef ASSAY_IMPL_SIMD_H
#define ASSAY_IMPL_SIMD_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__)

enum { LANES = 16 };
typedef __m512 vf;
typedef __m512d vd;
typedef __mmask16 vm;

#define SIMD_PATH_NAME(stem) stem##_avx512

static inline vf vf_set(float x) {
    return _mm512_set1_ps(x);
}
static inline vf vf_load(const float *p) {
    return _mm512_loadu_ps(p);
}
static inline void vf_store(float *p, vf x) {
    _mm512_storeu_ps(p, x);
}
static inline vf vf_load_n(const float *p, size_t n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
static inline void vf_store_n(float *p, size_t n, vf x) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), x);
}
static inline vf vf_mul(vf a, vf b) {
    return _mm512_mul_ps(a, b);
}
static inline vf vf_add(vf a, vf b) {
    return _mm512_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
    return _mm512_sub_ps(a, b);
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return _mm512_fmadd_ps(a, b, c);
}
/* The sign of `sign` put onto x, whose own sign must be clear or the same. */
static inline vf vf_or_sign(vf x, vf sign) {
    const __m512i s = _mm512_and_si512(_mm512_castps_si512(sign), _mm512_set1_epi32(INT32_MIN));
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(x), s));
}
static inline vm vm_bit(vf x, int bit) {
    return _mm512_test_epi32_mask(_mm512_castps_si512(x), _mm512_set1_epi32(1 << bit));
}
static inline vm vm_xor(vm a, vm b) {
    return (vm)(a ^ b);
}
static inline vm vm_ge(vf a, vf b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}
static inline vf vf_select(vm m, vf yes, vf no) {
    return _mm512_mask_blend_ps(m, no, yes);
}
/* Every lane has |x| < bound (false when one is NaN). */
static inline bool vf_all_below(vf x, float bound) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(bound), _CMP_LT_OQ) == 0xffff;
}
/* Every lane has low <= x <= high (false when one is NaN). */
static inline bool vf_all_within(vf x, float low, float high) {
    const vm above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(low), _CMP_GE_OQ);
    return _mm512_mask_cmp_ps_mask(above, x, _mm512_set1_ps(high), _CMP_LE_OQ) == 0xffff;
}

static inline vd vd_set(double x) {
    return _mm512_set1_pd(x);
}
static inline vd vd_low(vf x) {
    return _mm512_cvtps_pd(_mm512_castps512_ps256(x));
}
static inline vd vd_high(vf x) {
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}
static inline vf vf_join(vd low, vd high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
static inline vd vd_sub(vd a, vd b) {
    return _mm512_sub_pd(a, b);
}
static inline vd vd_mul(vd a, vd b) {
    return _mm512_mul_pd(a, b);
}
static inline vd vd_fma(vd a, vd b, vd c) {
    return _mm512_fmadd_pd(a, b, c);
}
/* Per lane: x >= bound ? yes : no. */
static inline vd vd_select_ge(vd x, vd bound, vd yes, vd no) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, bound, _CMP_GE_OQ), no, yes);
}

#elif defined(__AVX2__) && defined(__FMA__)

enum { LANES = 8 };
typedef __m256 vf;
typedef __m256d vd;
typedef __m256 vm; /* the sign bit of each lane counts */

#define SIMD_PATH_NAME(stem) stem##_avx2

/* Lanes below n, for masked memory. */
static inline __m256i simd_first(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline vf vf_set(float x) {
    return _mm256_set1_ps(x);
}
static inline vf vf_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline void vf_store(float *p, vf x) {
    _mm256_storeu_ps(p, x);
}
static inline vf vf_load_n(const float *p, size_t n) {
    return _mm256_maskload_ps(p, simd_first(n));
}
static inline void vf_store_n(float *p, size_t n, vf x) {
    _mm256_maskstore_ps(p, simd_first(n), x);
}
static inline vf vf_mul(vf a, vf b) {
    return _mm256_mul_ps(a, b);
}
static inline vf vf_add(vf a, vf b) {
    return _mm256_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
    return _mm256_sub_ps(a, b);
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return _mm256_fmadd_ps(a, b, c);
}
/* The sign of `sign` put onto x, whose own sign must be clear or the same. */
static inline vf vf_or_sign(vf x, vf sign) {
    return _mm256_or_ps(x, _mm256_and_ps(sign, _mm256_set1_ps(-0.0f)));
}
static inline vm vm_bit(vf x, int bit) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 31 - bit));
}
static inline vm vm_xor(vm a, vm b) {
    return _mm256_xor_ps(a, b);
}
static inline vm vm_ge(vf a, vf b) {
    return _mm256_cmp_ps(a, b, _CMP_GE_OQ);
}
static inline vf vf_select(vm m, vf yes, vf no) {
    return _mm256_blendv_ps(no, yes, m);
}
/* Every lane has |x| < bound (false when one is NaN). */
static inline bool vf_all_below(vf x, float bound) {
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
    return _mm256_movemask_ps(_mm256_cmp_ps(magnitude, _mm256_set1_ps(bound), _CMP_LT_OQ)) == 0xff;
}
/* Every lane has low <= x <= high (false when one is NaN). */
static inline bool vf_all_within(vf x, float low, float high) {
    const __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(low), _CMP_GE_OQ);
    const __m256 below = _mm256_cmp_ps(x, _mm256_set1_ps(high), _CMP_LE_OQ);
    return _mm256_movemask_ps(_mm256_and_ps(above, below)) == 0xff;
}

static inline vd vd_set(double x) {
    return _mm256_set1_pd(x);
}
static inline vd vd_low(vf x) {
    return _mm256_cvtps_pd(_mm256_castps256_ps128(x));
}
static inline vd vd_high(vf x) {
    return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}
static inline vf vf_join(vd low, vd high) {
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
static inline vd vd_sub(vd a, vd b) {
    return _mm256_sub_pd(a, b);
}
static inline vd vd_mul(vd a, vd b) {
    return _mm256_mul_pd(a, b);
}
static inline vd vd_fma(vd a, vd b, vd c) {
    return _mm256_fmadd_pd(a, b, c);
}
/* Per lane: x >= bound ? yes : no. */
static inline vd vd_select_ge(vd x, vd bound, vd yes, vd no) {
    return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(x, bound, _CMP_GE_OQ));
}

#else
#error "simd.h needs AVX2 with FMA, or AVX-512: name the file *_avx2.c or *_avx512.c"
#endif

#endif
