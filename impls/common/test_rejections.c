/* test_rejections.c - the poisoned calls of the contract, and the valid edges beside them. */
#include "test_call.h"

#include <criterion/criterion.h>
#include <math.h>

enum { ROWS = 5, WIDTH = 6, MAX_FLOATS = 64, FILL = 0xA5 };

/* A call that starts out valid; each case spoils one thing. */
typedef struct poisoned {
    test_attrs attrs;
    float timestep[ROWS];
    float memory[3][MAX_FLOATS]; /* upstream or out, saved, grad */
    test_tensor t, matrix, saved, grad;
    size_t input_count;
    int null_input;
    bool null_output;
} poisoned;

typedef struct rejection {
    const char *name;
    void (*spoil)(poisoned *p);
    bool forward;
    bool backward;
    bool value; /* the message names "finite" and the interval */
} rejection;

#define SPOIL(name, ...)                                                                                     \
    static void name(poisoned *p) {                                                                          \
        __VA_ARGS__;                                                                                         \
    }
SPOIL(null_timestep, p->null_input = 2)
SPOIL(null_upstream, p->null_input = 0)
SPOIL(null_saved, p->null_input = 1)
SPOIL(null_result, p->null_output = true)
SPOIL(null_data, p->t.dl.data = NULL)
SPOIL(few_inputs, p->input_count--)
SPOIL(timestep_matrix, p->t.dl.ndim = 2; p->t.shape[1] = 1; p->t.strides[1] = 1)
SPOIL(timestep_scalar, p->t.dl.ndim = 0)
SPOIL(empty, p->t.shape[0] = p->matrix.shape[0] = p->saved.shape[0] = p->grad.shape[0] = 0)
SPOIL(integer, p->t.dl.dtype.code = kDLInt)
SPOIL(float64, p->t.dl.dtype.bits = 64)
SPOIL(two_lanes, p->t.dl.dtype.lanes = 2)
SPOIL(width_odd, p->attrs.width = p->matrix.shape[1] = p->saved.shape[1] = 5)
SPOIL(width_odd_unchecked, width_odd(p); p->attrs.check_range = false)
SPOIL(width_odd_halved, width_odd_unchecked(p); p->matrix.shape[1] = p->saved.shape[1] = 4)
SPOIL(width_zero, p->attrs.width = p->matrix.shape[1] = p->saved.shape[1] = 0)
SPOIL(width_negative, p->attrs.width = -2; p->attrs.check_range = false)
SPOIL(value_nan, p->timestep[2] = NAN)
SPOIL(value_nan_first, p->timestep[0] = -NAN)
SPOIL(value_infinite, p->timestep[4] = INFINITY)
SPOIL(value_minus_infinite, p->timestep[4] = -INFINITY)
SPOIL(value_negative, p->timestep[1] = -0x1p-149f)
SPOIL(value_above, p->timestep[3] = 0x1.000002p0f)
SPOIL(value_large, p->timestep[0] = 1000.0f)
SPOIL(period_zero, p->attrs.max_period = 0.0)
SPOIL(period_negative, p->attrs.max_period = -10000.0)
SPOIL(period_nan, p->attrs.max_period = NAN)
SPOIL(period_infinite, p->attrs.max_period = INFINITY; p->attrs.check_range = false)
SPOIL(matrix_rows, p->matrix.shape[0] = ROWS - 1)
SPOIL(matrix_columns, p->matrix.shape[1] = WIDTH + 2)
SPOIL(matrix_rank, p->matrix.dl.ndim = 1)
SPOIL(matrix_type, p->matrix.dl.dtype.code = kDLInt)
SPOIL(matrix_bf16, p->matrix.dl.dtype = (DLDataType){.code = kDLBfloat, .bits = 16, .lanes = 1})
SPOIL(saved_rows, p->saved.shape[0] = ROWS + 1)
SPOIL(saved_columns, p->saved.shape[1] = WIDTH / 2)
SPOIL(saved_rank, p->saved.dl.ndim = 1)
SPOIL(saved_type, p->saved.dl.dtype.bits = 64)
SPOIL(grad_rows, p->grad.shape[0] = ROWS - 1)
SPOIL(grad_rank, p->grad.dl.ndim = 2; p->grad.shape[1] = 1; p->grad.strides[1] = 1)
SPOIL(grad_type, p->grad.dl.dtype = (DLDataType){.code = kDLBfloat, .bits = 16, .lanes = 1})
SPOIL(timestep_device, p->t.dl.device.device_type = kDLCUDA)
SPOIL(matrix_device, p->matrix.dl.device.device_type = kDLCUDA)
SPOIL(saved_device, p->saved.dl.device.device_type = kDLCUDA)
SPOIL(grad_device, p->grad.dl.device.device_type = kDLCUDA)

#define BOTH(name)                                                                                           \
    { #name, name, true, true, false }
#define FORWARD(name)                                                                                        \
    { #name, name, true, false, false }
#define BACKWARD(name)                                                                                       \
    { #name, name, false, true, false }
#define VALUE(name)                                                                                          \
    { #name, name, true, true, true }
static const rejection rejections[] = {
    BOTH(null_timestep),
    BACKWARD(null_upstream),
    BACKWARD(null_saved),
    BOTH(null_result),
    BOTH(null_data),
    BOTH(few_inputs),
    BOTH(timestep_matrix),
    BOTH(timestep_scalar),
    BOTH(empty),
    BOTH(integer),
    BOTH(float64),
    BOTH(two_lanes),
    BOTH(width_odd),
    BOTH(width_odd_unchecked),
    BOTH(width_odd_halved),
    BOTH(width_zero),
    BOTH(width_negative),
    VALUE(value_nan),
    VALUE(value_nan_first),
    VALUE(value_infinite),
    VALUE(value_minus_infinite),
    VALUE(value_negative),
    VALUE(value_above),
    VALUE(value_large),
    BOTH(period_zero),
    BOTH(period_negative),
    BOTH(period_nan),
    BOTH(period_infinite),
    BOTH(matrix_rows),
    BOTH(matrix_columns),
    BOTH(matrix_rank),
    BOTH(matrix_type),
    BOTH(matrix_bf16),
    BACKWARD(saved_rows),
    BACKWARD(saved_columns),
    BACKWARD(saved_rank),
    BACKWARD(saved_type),
    BACKWARD(grad_rows),
    BACKWARD(grad_rank),
    BACKWARD(grad_type),
    BOTH(timestep_device),
    BOTH(matrix_device),
    BACKWARD(saved_device),
    BACKWARD(grad_device),
};

static void start(poisoned *p) {
    static const float valid[ROWS] = {0.0f, 1.0f, -0.0f, 0.5f, 0x1p-149f};
    *p = (poisoned){.attrs = {.width = WIDTH, .max_period = 10000.0, .check_range = true}, .null_input = -1};
    memcpy(p->timestep, valid, sizeof valid);
    memset(p->memory, FILL, sizeof p->memory);
    test_vector(&p->t, p->timestep, kDLFloat, 32, ROWS, 1);
    test_matrix(&p->matrix, p->memory[0], ROWS, WIDTH, WIDTH);
    test_matrix(&p->saved, p->memory[1], ROWS, WIDTH, WIDTH);
    test_vector(&p->grad, p->memory[2], kDLFloat, 32, ROWS, 1);
}

static assay_status run(const assay_operator *op, poisoned *p, bool backward, char *message) {
    if (!backward) {
        DLTensor *inputs[] = {p->null_input == 2 ? NULL : &p->t.dl};
        return test_run(op->forward, &p->attrs, inputs, p->input_count, p->null_output ? NULL : &p->matrix.dl,
                        message);
    }
    DLTensor *inputs[] = {&p->matrix.dl, &p->saved.dl, &p->t.dl};
    if (p->null_input >= 0) {
        inputs[p->null_input] = NULL;
    }
    return test_run(op->backward, &p->attrs, inputs, p->input_count, p->null_output ? NULL : &p->grad.dl,
                    message);
}

/* Bytes on purpose: a changed sign of zero or NaN payload is a write. */
static bool same_bytes(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

static void expect_rejected(const assay_operator *op, const rejection *r, bool backward) {
    static poisoned before, after;
    char message[200];
    start(&before);
    before.input_count = backward ? 3 : 1;
    r->spoil(&before);
    start(&after);
    after.input_count = backward ? 3 : 1;
    r->spoil(&after);
    const char *way = backward ? "backward" : "forward";
    cr_assert_eq(run(op, &after, backward, message), ASSAY_INVALID_ARGUMENT, "%s %s was not rejected", way,
                 r->name);
    cr_assert(message[0] != '\0', "%s %s left no message", way, r->name);
    cr_assert(same_bytes(before.memory, after.memory, sizeof before.memory), "%s %s wrote", way, r->name);
    cr_assert(!r->value || (strstr(message, "finite") && strstr(message, "[0, 1]")), "%s %s: %s", way,
              r->name, message);
}

static void expect_accepted(const assay_operator *op, bool backward) {
    static poisoned p;
    char message[200];
    start(&p);
    p.input_count = backward ? 3 : 1;
    if (backward) {
        memset(p.memory, 0, sizeof p.memory);
        memset(p.memory[2], FILL, sizeof p.memory[2]);
    }
    cr_assert_eq(run(op, &p, backward, message), ASSAY_OK, "%s", message);
    if (!backward) {
        cr_assert_eq(p.memory[0][0], 1.0f); /* cos(0) */
        cr_assert(p.memory[0][2 * WIDTH + WIDTH / 2] == 0 &&
                  signbit(p.memory[0][2 * WIDTH + WIDTH / 2])); /* sin(-0) */
    } else {
        cr_assert_eq(p.memory[2][3], 0.0f);
    }
}

void test_rejections(const assay_operator *op) {
    for (size_t i = 0; i < sizeof rejections / sizeof *rejections; i++) {
        for (int backward = 0; backward < 2; backward++) {
            if (backward ? rejections[i].backward : rejections[i].forward) {
                expect_rejected(op, &rejections[i], backward != 0);
                expect_accepted(op, backward != 0);
            }
        }
    }
}
