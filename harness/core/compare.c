/* compare.c - ulp arithmetic, verdict helpers and the choice of a judge. */
#include "compare_private.h"

#include "compare_simd.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

int64_t assay_ulp_image_f32(uint32_t bits) {
    const int64_t magnitude = (int64_t)(bits & 0x7fffffffu);
    return (bits >> 31) != 0 ? -magnitude : magnitude;
}

int64_t assay_ulp_distance_f32(uint32_t a, uint32_t b) {
    return assay_ulp_image_f32(a) - assay_ulp_image_f32(b);
}

double assay_ulp_of_f32(float x) {
    const uint32_t e = assay_f32_bits(x) >> 23 & 255u;
    const uint64_t clamped = e < 1 ? 1 : e > 254 ? 254 : e;
    return assay_f64_from_bits((clamped + 1023 - 127 - 23) << 52);
}

bool assay_parity_ok(const assay_parity *parity) {
    return parity->elements > 0 && parity->differing == 0;
}

bool assay_accuracy_ok(const assay_accuracy *accuracy) {
    return accuracy->elements > 0 && accuracy->outside == 0;
}

double assay_accuracy_relrms(const assay_accuracy *accuracy) {
    if (accuracy->elements == accuracy->not_comparable) {
        return (double)NAN;
    }
    if (accuracy->sum_sq_err == 0.0) {
        return 0.0;
    }
    return sqrt(accuracy->sum_sq_err / accuracy->sum_sq_golden);
}

double assay_accuracy_correlation(const assay_accuracy *accuracy) {
    const long double n = (long double)(accuracy->elements - accuracy->not_comparable);
    const long double x = accuracy->sum_x, y = accuracy->sum_y;
    const long double xx = n * accuracy->sum_xx - x * x;
    const long double yy = n * accuracy->sum_yy - y * y;
    const long double xy = n * accuracy->sum_xy - x * y;
    if (!(xx > 0) || !(yy > 0)) {
        return (double)NAN;
    }
    const double r = (double)(xy / (sqrtl(xx) * sqrtl(yy)));
    return r > 1.0 ? 1.0 : r < -1.0 ? -1.0 : r;
}

const assay_judge *assay_judge_choose(void) {
    switch (assay_simd_level()) {
#if defined(__x86_64__)
    case ASSAY_SIMD_AVX512:
        return &assay_judge_avx512;
    case ASSAY_SIMD_AVX2:
        return &assay_judge_avx2;
#endif
    default:
        return &assay_judge_scalar;
    }
}

#if defined(__x86_64__)
#define MXCSR_DEFAULT 0x1f80u

unsigned assay_fp_enter(void) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(MXCSR_DEFAULT);
    return saved;
}

void assay_fp_leave(unsigned saved) {
    _mm_setcsr(saved);
}
#else
unsigned assay_fp_enter(void) {
    return 0;
}

void assay_fp_leave(unsigned saved) {
    (void)saved;
}
#endif
