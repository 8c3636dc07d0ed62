/* test_cuda_functions.c - the CPU's expf, sinf, cosf and ex2 against checksums of what a GPU answered. */
#include "compare.h"
#include "cuda_functions.h"
#include "dtype.h"

#include <criterion/criterion.h>

enum { CHUNK = 65536 };

static uint64_t mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The sum, over the 65536 inputs whose upper half is `chunk`, of mix(input | answer). Same as in
 * record_ex2.cu. */
static uint64_t chunk_sum(assay_cuda_function function, uint32_t chunk) {
    static uint32_t y[CHUNK];
    uint64_t sum = 0;
    assay_cuda_function_fill(function, chunk << 16, CHUNK, y);
    for (uint32_t i = 0; i < CHUNK; i++) {
        sum += mix((uint64_t)(chunk << 16 | i) << 32 | y[i]);
    }
    return sum;
}

/* Every 257th chunk, so that each exponent meets other fractions; all fractions of ex2; the exponentials that
 * are subnormal or zero, and those around the overflow. */
static const struct {
    assay_cuda_function function;
    uint32_t first, last, stride;
    uint64_t sum;
} measured[] = {
#include "test_cuda_functions.inc"
};

Test(cuda_functions, answer_the_bits_of_the_device) {
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        uint64_t sum = 0;
        for (uint32_t chunk = measured[i].first; chunk <= measured[i].last; chunk += measured[i].stride) {
            sum += chunk_sum(measured[i].function, chunk);
        }
        cr_expect_eq(sum, measured[i].sum, "%s, chunks %04x to %04x by %u: %016llx",
                     assay_cuda_function_name(measured[i].function), measured[i].first, measured[i].last,
                     measured[i].stride, (unsigned long long)sum);
    }
}

Test(cuda_functions, do_not_depend_on_the_instructions) {
    static const uint32_t chunks[] = {0x0000, 0x3f80, 0x47ce, 0x7f7f, 0x7f80, 0xbf80, 0xc2af, 0xffff};
    for (int f = 0; f < ASSAY_CUDA_FUNCTION_COUNT; f++) {
        for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
            const uint64_t widest = chunk_sum((assay_cuda_function)f, chunks[i]);
            cr_assert(assay_simd_force("scalar"));
            const uint64_t scalar = chunk_sum((assay_cuda_function)f, chunks[i]);
            cr_assert(assay_simd_force(NULL));
            cr_expect_eq(widest, scalar, "%s, chunk %04x", assay_cuda_function_name((assay_cuda_function)f),
                         chunks[i]);
        }
    }
}

Test(cuda_functions, edges) {
    static const struct {
        uint32_t x, expf, sinf, cosf, ex2f;
    } edges[] = {
        {0x00000000, 0x3f800000, 0x00000000, 0x3f800000, 0x3f800000},
        {0x80000000, 0x3f800000, 0x80000000, 0x3f800000, 0x3f800000},
        {0x00000001, 0x3f800000, 0x00000001, 0x3f800000, 0x3f800000},
        {0x80000001, 0x3f800000, 0x80000001, 0x3f800000, 0x3f800000},
        {0x7f800000, 0x7f800000, 0x7fffffff, 0x7fffffff, 0x7f800000},
        {0xff800000, 0x00000000, 0x7fffffff, 0x7fffffff, 0x00000000},
        {0x7fc00000, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
        {0x7f800001, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
        {0xffc12345, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const uint32_t expected[] = {edges[i].expf, edges[i].sinf, edges[i].cosf, edges[i].ex2f};
        for (int f = 0; f < ASSAY_CUDA_FUNCTION_COUNT; f++) {
            uint32_t y = 0;
            assay_cuda_function_fill((assay_cuda_function)f, edges[i].x, 1, &y);
            cr_expect_eq(y, expected[f], "%s(%08x) = %08x", assay_cuda_function_name((assay_cuda_function)f),
                         edges[i].x, y);
        }
    }
}

Test(cuda_functions, are_found_by_name) {
    assay_cuda_function f = ASSAY_CUDA_EXPF;
    assay_error error = {0};
    cr_assert_eq(assay_cuda_function_find("cosf", &f, &error), ASSAY_CODE_OK);
    cr_assert_eq(f, ASSAY_CUDA_COSF);
    cr_assert_eq(assay_cuda_function_find("tanf", &f, &error), ASSAY_CODE_USAGE);
    cr_assert_str_eq(error.text, "tanf: no such function; there are: expf sinf cosf ex2f");
}
