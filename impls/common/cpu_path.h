/* cpu_path.h - which instruction set the kernels of this library use. One table. */
#ifndef ASSAY_IMPL_CPU_PATH_H
#define ASSAY_IMPL_CPU_PATH_H

#include <stdbool.h>

/* X(enumerator, text), from the slowest to the fastest. AVX2 includes FMA; AVX512 means F, DQ and VL. */
#define CPU_PATH_LIST(X)                                                                                     \
    X(SCALAR, "scalar")                                                                                      \
    X(AVX2, "avx2")                                                                                          \
    X(AVX512, "avx512")

typedef enum cpu_path {
#define X(id, text) CPU_PATH_##id,
    CPU_PATH_LIST(X)
#undef X
        CPU_PATH_COUNT
} cpu_path;

/* The text of a path, "unknown" outside the enum. */
const char *cpu_path_text(cpu_path path);

/* True when this processor and kernel can run the path. */
bool cpu_path_available(cpu_path path);

/* The path in force: the fastest available one unless cpu_path_force() chose another. */
cpu_path cpu_path_current(void);

/* For tests and benches that link the objects directly: use `path` from now on, in every thread. False, and
 * nothing changes, when the processor lacks it. */
bool cpu_path_force(cpu_path path);

#endif
