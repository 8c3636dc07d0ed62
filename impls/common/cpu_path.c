/* cpu_path.c - run-time choice of the instruction set. */
#include "cpu_path.h"

#include <stdatomic.h>
#include <stddef.h>

static const char *const path_texts[CPU_PATH_COUNT] = {
#define X(id, text) text,
    CPU_PATH_LIST(X)
#undef X
};

/* -1: not chosen yet. Any thread computes the same value, so a race writes it twice and harms nobody. */
static atomic_int chosen_path = -1;

const char *cpu_path_text(cpu_path path) {
    return (unsigned)path < CPU_PATH_COUNT ? path_texts[path] : "unknown";
}

bool cpu_path_available(cpu_path path) {
#if defined(__x86_64__)
    switch (path) {
    case CPU_PATH_SCALAR:
        return true;
    case CPU_PATH_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case CPU_PATH_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    default:
        return false;
    }
#else
    return path == CPU_PATH_SCALAR;
#endif
}

cpu_path cpu_path_current(void) {
    int path = atomic_load_explicit(&chosen_path, memory_order_relaxed);
    if (path < 0) {
        path = CPU_PATH_COUNT - 1;
        while (path > CPU_PATH_SCALAR && !cpu_path_available((cpu_path)path)) {
            path--;
        }
        atomic_store_explicit(&chosen_path, path, memory_order_relaxed);
    }
    return (cpu_path)path;
}

bool cpu_path_force(cpu_path path) {
    if (!cpu_path_available(path)) {
        return false;
    }
    atomic_store_explicit(&chosen_path, (int)path, memory_order_relaxed);
    return true;
}
