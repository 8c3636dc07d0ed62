/* compare_simd.h - the one choice of instruction set that comparison and digest share. */
#ifndef ASSAY_COMPARE_SIMD_H
#define ASSAY_COMPARE_SIMD_H

typedef enum assay_simd {
    ASSAY_SIMD_SCALAR,
    ASSAY_SIMD_AVX2,
    ASSAY_SIMD_AVX512,
    ASSAY_SIMD_COUNT
} assay_simd;

/* The forced set, or the best one that this machine and this build offer. */
assay_simd assay_simd_level(void);

#endif
