/* cuda_functions.h - the functions of assay/cuda_math.h by name, over runs of consecutive bit patterns, on
 * the widest instructions of this machine. The answers do not depend on which those are. */
#ifndef ASSAY_CUDA_FUNCTIONS_H
#define ASSAY_CUDA_FUNCTIONS_H

#include "error.h"

#include <stddef.h>
#include <stdint.h>

/* X(id, name, what it is) */
#define ASSAY_CUDA_FUNCTION_LIST(X)                                                                          \
    X(EXPF, expf, "CUDA's expf")                                                                             \
    X(SINF, sinf, "CUDA's sinf")                                                                             \
    X(COSF, cosf, "CUDA's cosf")                                                                             \
    X(EX2F, ex2f, "the instruction ex2.approx.ftz.f32, the heart of expf")

typedef enum assay_cuda_function {
#define X(id, name, what) ASSAY_CUDA_##id,
    ASSAY_CUDA_FUNCTION_LIST(X)
#undef X
        ASSAY_CUDA_FUNCTION_COUNT
} assay_cuda_function;

/* The function's name in lower case (static storage). */
const char *assay_cuda_function_name(assay_cuda_function function);

/* USAGE when there is no function of that name; the message lists them. */
assay_code assay_cuda_function_find(const char *name, assay_cuda_function *function, assay_error *error);

/* out[i] = bits of FUNCTION(the float of bits first + i), i < n; first + i wraps at 2^32. */
void assay_cuda_function_fill(assay_cuda_function function, uint32_t first, size_t n, uint32_t *out);

/* SHA-256 of the 2^32 answers, inputs 0x00000000 upwards, as little-endian words. Computes on `threads` (1 to
 * 256) threads while the caller's thread hashes; `step` (may be NULL) is told the inputs done. INTERNAL when
 * memory or threads are short. */
assay_code assay_cuda_function_sha256(assay_cuda_function function, unsigned threads,
                                      void (*step)(void *context, uint64_t done, uint64_t total),
                                      void *context, uint8_t hash[32], assay_error *error);

#endif
