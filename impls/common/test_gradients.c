/* test_gradients.c - the gradient again, from the contract's text, with loops of its own. */
#include "test_call.h"

#include "convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 9, MAX_WIDTH = 1000, MAX_PADDED = 1024, PITCH = MAX_WIDTH + 7 };

typedef struct type_case {
    DLDataTypeCode code;
    int bits;
} type_case;

static const type_case types[] = {{kDLFloat, 32}, {kDLBfloat, 16}, {kDLFloat, 16}};
static const int64_t widths[] = {2, 4, 6, 8, 96, 250, 256, 320, 1000};

/* Element k of the level with `size` elements, by recursion over the tree instead of in place. */
static float tree(const float *leaves, size_t k, size_t size, size_t padded) {
    if (size == padded) {
        return leaves[k];
    }
    return tree(leaves, k, 2 * size, padded) + tree(leaves, k + size, 2 * size, padded);
}

static float expected(const float *g, const float *y, size_t half, float (*exponential)(float)) {
    float leaves[MAX_PADDED] = {0};
    const volatile float c = (float)-log(10000.0);
    const volatile float inv = 1.0f / (float)half;
    size_t padded = 1;
    while (padded < 2 * half) {
        padded *= 2;
    }
    for (size_t k = 0; k < half; k++) {
        const volatile float scaled = c * (float)k;
        const volatile float exponent = scaled * inv;
        const float f = exponential(exponent);
        const volatile float down = -(g[k] * y[half + k]);
        const volatile float up = g[half + k] * y[k];
        leaves[k] = down * f;
        leaves[half + k] = up * f;
    }
    return tree(leaves, 0, 1, padded);
}

/* One case: rows of the upstream gradient and of the saved output lie PITCH apart, the gradient `stride`
 * apart. */
static void check_case(const assay_operator *op, float (*exponential)(float), int64_t width, type_case type,
                       int64_t stride) {
    static float g[ROWS * PITCH], y[ROWS * PITCH];
    static uint32_t t_memory[4 * ROWS], memory[4 * ROWS], before[4 * ROWS];
    uint64_t seed = (uint64_t)width * 31 + (uint64_t)type.bits + (uint64_t)type.code;
    for (int i = 0; i < ROWS * PITCH; i++) {
        g[i] = 4.0f * test_random_unit(&seed) - 2.0f;
        y[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    }
    memset(t_memory, 0, sizeof t_memory); /* the timestep's values play no part */
    memset(memory, 0xA5, sizeof memory);
    memcpy(before, memory, sizeof memory);
    test_tensor up, saved, t, grad;
    test_matrix(&up, g, ROWS, width, PITCH);
    test_matrix(&saved, y, ROWS, width, PITCH);
    test_vector(&t, t_memory, type.code, type.bits, ROWS, 1);
    test_vector(&grad, memory, type.code, type.bits, ROWS, stride);
    DLTensor *inputs[] = {&up.dl, &saved.dl, &t.dl};
    const test_attrs attrs = {.width = width, .max_period = 10000.0, .check_range = true};
    char message[200];
    cr_assert_eq(test_run(op->backward, &attrs, inputs, 3, &grad.dl, message), ASSAY_OK, "%s", message);
    test_vector(&t, before, type.code, type.bits, ROWS, stride);
    for (int64_t row = 0; row < ROWS; row++) {
        assay_store_f32(&t.dl, row,
                        expected(g + row * PITCH, y + row * PITCH, (size_t)width / 2, exponential));
    }
    cr_assert_eq(memcmp(before, memory, sizeof memory), 0,
                 "width %d, %d bits, code %d, stride %d: bits differ", (int)width, type.bits, (int)type.code,
                 (int)stride);
}

/* Transposed inputs: the column stride is not 1. */
static void check_transposed(const assay_operator *op, float (*exponential)(float)) {
    enum { WIDTH = 10 };
    float g[WIDTH][ROWS], y[WIDTH][ROWS], timestep[ROWS] = {0}, result[ROWS];
    uint64_t seed = 5;
    for (int k = 0; k < WIDTH; k++) {
        for (int row = 0; row < ROWS; row++) {
            g[k][row] = test_random_unit(&seed) - 0.5f;
            y[k][row] = test_random_unit(&seed) - 0.5f;
        }
    }
    test_tensor up, saved, t, grad;
    test_matrix(&up, g, ROWS, WIDTH, 1);
    test_matrix(&saved, y, ROWS, WIDTH, 1);
    up.strides[1] = saved.strides[1] = ROWS;
    test_vector(&t, timestep, kDLFloat, 32, ROWS, 1);
    test_vector(&grad, result, kDLFloat, 32, ROWS, 1);
    DLTensor *inputs[] = {&up.dl, &saved.dl, &t.dl};
    const test_attrs attrs = {.width = WIDTH, .max_period = 10000.0, .check_range = true};
    char message[200];
    cr_assert_eq(test_run(op->backward, &attrs, inputs, 3, &grad.dl, message), ASSAY_OK, "%s", message);
    for (int row = 0; row < ROWS; row++) {
        float g_row[WIDTH], y_row[WIDTH];
        for (int k = 0; k < WIDTH; k++) {
            g_row[k] = g[k][row];
            y_row[k] = y[k][row];
        }
        cr_assert_eq(convert_bits(result[row]), convert_bits(expected(g_row, y_row, WIDTH / 2, exponential)));
    }
}

void test_gradients(const assay_operator *op, float (*exponential)(float)) {
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t d = 0; d < sizeof types / sizeof *types; d++) {
            check_case(op, exponential, widths[w], types[d], 1);
            check_case(op, exponential, widths[w], types[d], 3);
        }
    }
    check_transposed(op, exponential);
}
