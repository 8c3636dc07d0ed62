/* test_frequency.c - the table's order of operations, its exponential against MPFR, and the cache. */
#include "frequency.h"

#include "convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX_HALF = 1024 };

/* exp(x) rounded once to FP32. */
static float exact_exp(float x) {
    mpfr_t value;
    mpfr_init2(value, 24);
    mpfr_set_flt(value, x, MPFR_RNDN);
    mpfr_exp(value, value, MPFR_RNDN);
    const float rounded = mpfr_get_flt(value, MPFR_RNDN);
    mpfr_clear(value);
    return rounded;
}

static float identity(float x) {
    return x;
}

/* Shows the exponents themselves. */
static const frequency_exp exponents = {.name = "identity", .evaluate = identity};

/* CUDA documents 1 ulp from the rounded exponential on this range; of the H3 table's 128 frequencies 37 were
 * found to differ from the correctly rounded ones on an H200. */
Test(frequency, exponential_is_that_of_cuda) {
    static float e[MAX_HALF], f[MAX_HALF];
    for (size_t half = 1; half <= MAX_HALF; half++) {
        size_t differing = 0;
        frequency_fill(&exponents, 10000.0, half, e);
        frequency_fill(&frequency_exp_cuda, 10000.0, half, f);
        for (size_t k = 0; k < half; k++) {
            const uint32_t bits = convert_bits(f[k]);
            const uint32_t exact = convert_bits(exact_exp(e[k]));
            differing += bits != exact;
            cr_assert(bits - exact + 2 <= 4, "half %zu, k %zu: %08x, exactly %08x", half, k, bits, exact);
        }
        cr_assert(half != 128 || differing == 37, "%zu", differing);
    }
}

/* c of the H3 table, and the number of exponents that a true division would change (facts: 0 for powers of
 * two, 25, 64, 34 and 278 for halves 48, 125, 160 and 500). */
Test(frequency, exponents_multiply_by_the_reciprocal) {
    static const struct {
        size_t half;
        size_t differing;
    } cases[] = {{1, 0},   {2, 0},   {4, 0},    {64, 0},   {128, 0},
                 {512, 0}, {48, 25}, {125, 64}, {160, 34}, {500, 278}};
    const float c = convert_float(0xc1135d8eu);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static float e[MAX_HALF];
        const size_t half = cases[i].half;
        size_t differing = 0;
        frequency_fill(&exponents, 10000.0, half, e);
        for (size_t k = 0; k < half; k++) {
            const volatile float scaled = c * (float)k;
            differing += convert_bits(scaled / (float)half) != convert_bits(e[k]);
        }
        cr_assert_eq(differing, cases[i].differing, "half %zu: %zu", half, differing);
    }
}

Test(frequency, cache_tells_every_key_apart) {
    static const struct {
        const frequency_exp *exp;
        double period;
        size_t half;
    } keys[] = {{&frequency_exp_cuda, 10000.0, 128},
                {&frequency_exp_cuda, 10000.0, 64},
                {&frequency_exp_cuda, 9999.0, 128},
                {&frequency_exp_cuda, 10000.000000000002, 128},
                {&exponents, 10000.0, 128},
                {&frequency_exp_cuda, 0x1p-1074, 8},
                {&frequency_exp_cuda, 1.0, 3},
                {&exponents, 1e300, 77},
                {&exponents, 2.0, 1},
                {&exponents, 3.0, 2}};
    enum { KEYS = sizeof keys / sizeof *keys };
    for (int round = 0; round < 3; round++) {
        const frequency_table *held[KEYS];
        for (size_t i = 0; i < KEYS; i++) { /* more keys than slots, all held at once */
            float fresh[MAX_HALF];
            frequency_fill(keys[i].exp, keys[i].period, keys[i].half, fresh);
            held[i] = frequency_acquire(keys[i].exp, keys[i].period, keys[i].half);
            cr_assert_not_null(held[i]);
            cr_assert_eq(held[i]->half, keys[i].half);
            cr_assert_eq(memcmp(held[i]->f, fresh, keys[i].half * sizeof(float)), 0, "key %zu", i);
        }
        for (size_t i = 0; i < KEYS; i++) {
            frequency_release(held[i]);
        }
    }
}

Test(frequency, recent_tables_are_kept_and_large_ones_are_not) {
    const frequency_table *first = frequency_acquire(&frequency_exp_cuda, 10000.0, 128);
    const frequency_table *second = frequency_acquire(&frequency_exp_cuda, 10000.0, 128);
    cr_assert_eq(first, second);
    frequency_release(first);
    frequency_release(second);
    const size_t large = (size_t)1 << 17;
    first = frequency_acquire(&exponents, 10000.0, large);
    second = frequency_acquire(&exponents, 10000.0, large);
    cr_assert_neq(first, second);
    frequency_release(first);
    frequency_release(second);
    cr_assert_null(frequency_acquire(&exponents, 10000.0, SIZE_MAX / 2));
    frequency_release(NULL);
}

/* Threads that fight for the slots with more keys than there are. */
static void *hammer(void *argument) {
    uint64_t state = (uint64_t)(uintptr_t)argument;
    size_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        const size_t half = 1 + (size_t)(state >> 40) % 16;
        const frequency_table *table = frequency_acquire(&exponents, 10000.0, half);
        float fresh[16];
        frequency_fill(&exponents, 10000.0, half, fresh);
        wrong += table == NULL || table->half != half || memcmp(table->f, fresh, half * sizeof(float)) != 0;
        frequency_release(table);
    }
    return (void *)(uintptr_t)wrong;
}

Test(frequency, cache_is_safe_in_threads) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *wrong = NULL;
        cr_assert_eq(pthread_join(threads[i], &wrong), 0);
        cr_assert_null(wrong);
    }
}
