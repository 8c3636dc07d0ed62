/* compare_simd.c - run-time choice of the instruction set. */
#include "compare_simd.h"

#include "compare.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define AUTOMATIC (-1)

static const char *const level_names[ASSAY_SIMD_COUNT] = {"scalar", "avx2", "avx512"};
static atomic_int forced = AUTOMATIC;
static atomic_int detected = AUTOMATIC;

static int detect(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2");
    const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx2 && avx512 ? ASSAY_SIMD_AVX512 : avx2 ? ASSAY_SIMD_AVX2 : ASSAY_SIMD_SCALAR;
#else
    return ASSAY_SIMD_SCALAR;
#endif
}

/* Two threads may both detect; they store the same answer. */
static int best(void) {
    int level = atomic_load_explicit(&detected, memory_order_relaxed);
    if (level == AUTOMATIC) {
        level = detect();
        atomic_store_explicit(&detected, level, memory_order_relaxed);
    }
    return level;
}

assay_simd assay_simd_level(void) {
    const int level = atomic_load_explicit(&forced, memory_order_relaxed);
    return (assay_simd)(level == AUTOMATIC ? best() : level);
}

const char *assay_simd_name(void) {
    return level_names[assay_simd_level()];
}

bool assay_simd_force(const char *name) {
    if (name == NULL) {
        atomic_store_explicit(&forced, AUTOMATIC, memory_order_relaxed);
        return true;
    }
    for (int level = 0; level < ASSAY_SIMD_COUNT && level <= best(); level++) {
        if (strcmp(name, level_names[level]) == 0) {
            atomic_store_explicit(&forced, level, memory_order_relaxed);
            return true;
        }
    }
    return false;
}
