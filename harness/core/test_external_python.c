/* test_external_python.c - the Python adapter through the protocol: hello, a forward and a backward call with
 * values, rejections. */
#include "test_worker_support.h"

#include <math.h>

#define ROWS  5
#define WIDTH 6

static const float steps[ROWS] = {0.0f, 0.125f, 0.5f, 0.7f, 1.0f};

static assay_worker *open_python(void) {
    static char path[1024];
    const char *source = getenv("ASSAY_SOURCE");
    cr_assert_not_null(source, "ASSAY_SOURCE must name the source folder (ctest sets it)");
    cr_assert_eq(system("python3 -c 'import json, mmap, socket, struct'"), 0, "python3 is required");
    (void)snprintf(path, sizeof path, "%s/impls/python_stdlib/adapter.py", source);
    return open_adapter(path, NULL);
}

static assay_tensor tensor(assay_worker *w, assay_dtype dtype, int ndim, int64_t columns,
                           const int64_t *strides) {
    assay_tensor t;
    assay_error error = {0};
    const assay_tensor_spec spec = {
        .dtype = dtype, .ndim = ndim, .shape = {ROWS, columns}, .strides = strides};
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(w), &spec, &t, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    assay_tensor_poison(&t, POISON);
    return t;
}

static assay_call_reply call(assay_worker *w, bool backward, int64_t width, const assay_tensor *const *inputs,
                             size_t n, const assay_tensor *out) {
    assay_error error = {0};
    assay_call_reply reply;
    const assay_attr attrs[] = {{.name = "width", .type = ASSAY_ATTR_INT, .i = width},
                                {.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = 10000.0},
                                {.name = "check_range", .type = ASSAY_ATTR_BOOL, .i = 1}};
    const assay_call_spec spec = {.op = "timestep_sinusoid_h3",
                                  .backward = backward,
                                  .attrs = attrs,
                                  .attr_count = 3,
                                  .inputs = inputs,
                                  .input_count = n,
                                  .outputs = &out,
                                  .output_count = 1,
                                  .repeat = 2,
                                  .other_thread = backward};
    cr_assert(assay_worker_call(w, &spec, &reply, &error), "%s", error.text);
    cr_assert_eq(reply.result, ASSAY_CALL_ANSWERED, "%s", reply.reason);
    return reply;
}

static double frequency(int k) {
    return exp(-log(10000.0) * k * 2 / WIDTH);
}

Test(python, hello) {
    assay_worker *w = open_python();
    const assay_worker_info *info = assay_worker_get_info(w);
    cr_assert_str_eq(info->name, "python_stdlib");
    cr_assert(info->external && !info->guards);
    cr_assert(assay_worker_offers(w, "timestep_sinusoid_h3", false) &&
              assay_worker_offers(w, "timestep_sinusoid_h3", true));
    assay_worker_close(w);
}

Test(python, forward_values) {
    assay_worker *w = open_python();
    const int64_t apart[1] = {3};
    const assay_tensor t = tensor(w, ASSAY_DTYPE_F32, 1, 0, apart),
                       out = tensor(w, ASSAY_DTYPE_F32, 2, WIDTH, NULL);
    const assay_tensor *inputs[] = {&t};
    float got[ROWS][WIDTH];
    assay_tensor_put(&t, steps);
    const assay_call_reply reply = call(w, false, WIDTH, inputs, 1, &out);
    cr_assert_eq(reply.status, ASSAY_OK, "%s", reply.message);
    cr_assert_gt(reply.worker_ns, 0);
    assay_tensor_get(&out, got);
    for (int r = 0; r < ROWS; r++) {
        for (int k = 0; k < WIDTH / 2; k++) {
            const double a = (double)steps[r] * frequency(k);
            cr_assert_leq(fabs((double)got[r][k] - cos(a)), 0x1p-23, "row %d cos %d: %a", r, k,
                          (double)got[r][k]);
            cr_assert_leq(fabs((double)got[r][WIDTH / 2 + k] - sin(a)), 0x1p-23, "row %d sin %d", r, k);
        }
    }
    cr_assert_eq(assay_tensor_zone_damage(&out, POISON, NULL), 0);
    assay_worker_close(w);
}

Test(python, backward_values) {
    assay_worker *w = open_python();
    const assay_tensor g = tensor(w, ASSAY_DTYPE_F32, 2, WIDTH, NULL),
                       y = tensor(w, ASSAY_DTYPE_F32, 2, WIDTH, NULL);
    const assay_tensor t = tensor(w, ASSAY_DTYPE_BF16, 1, 0, NULL),
                       out = tensor(w, ASSAY_DTYPE_BF16, 1, 0, NULL);
    const assay_tensor *inputs[] = {&g, &y, &t};
    float upstream[ROWS][WIDTH], saved[ROWS][WIDTH];
    uint16_t narrow[ROWS], got[ROWS];
    double want[ROWS] = {0};
    for (int r = 0; r < ROWS; r++) {
        narrow[r] = assay_f32_to_bf16(steps[r]);
        for (int k = 0; k < WIDTH / 2; k++) {
            const double a = (double)assay_bf16_to_f32(narrow[r]) * frequency(k);
            saved[r][k] = (float)cos(a);
            saved[r][WIDTH / 2 + k] = (float)sin(a);
            upstream[r][k] = (float)(r - 2 * k) + 0.25f;
            upstream[r][WIDTH / 2 + k] = (float)(3 * k - r) - 0.75f;
            want[r] += frequency(k) *
                       ((double)upstream[r][WIDTH / 2 + k] * cos(a) - (double)upstream[r][k] * sin(a));
        }
    }
    assay_tensor_put(&g, upstream);
    assay_tensor_put(&y, saved);
    assay_tensor_put(&t, narrow);
    const assay_call_reply reply = call(w, true, WIDTH, inputs, 3, &out);
    cr_assert_eq(reply.status, ASSAY_OK, "%s", reply.message);
    assay_tensor_get(&out, got);
    for (int r = 0; r < ROWS; r++) {
        cr_assert_leq(fabs((double)assay_bf16_to_f32(got[r]) - want[r]), fabs(want[r]) * 0x1p-8 + 1e-6,
                      "row %d", r);
    }
    assay_worker_close(w);
}

Test(python, rejections) {
    assay_worker *w = open_python();
    const assay_tensor t = tensor(w, ASSAY_DTYPE_F32, 1, 0, NULL),
                       out = tensor(w, ASSAY_DTYPE_F32, 2, WIDTH, NULL);
    const assay_tensor *inputs[] = {&t, NULL};
    float bad[ROWS];
    memcpy(bad, steps, sizeof bad);
    assay_tensor_put(&t, bad);
    cr_assert_eq(call(w, false, 7, inputs, 1, &out).status, ASSAY_INVALID_ARGUMENT, "odd width");
    cr_assert_eq(call(w, false, 8, inputs, 1, &out).status, ASSAY_INVALID_ARGUMENT, "shape");
    cr_assert_eq(call(w, false, WIDTH, inputs, 2, &out).status, ASSAY_INVALID_ARGUMENT, "count");
    cr_assert_eq(call(w, false, WIDTH, &inputs[1], 1, &out).status, ASSAY_INVALID_ARGUMENT, "null");
    const float values[] = {NAN, INFINITY, -INFINITY, -0.1f, 1.0001f};
    for (int i = 0; i < 5; i++) {
        bad[i % ROWS] = values[i];
        assay_tensor_put(&t, bad);
        cr_assert_eq(call(w, false, WIDTH, inputs, 1, &out).status, ASSAY_INVALID_ARGUMENT, "value %d", i);
        bad[i % ROWS] = steps[i % ROWS];
    }
    cr_assert_eq(assay_tensor_count_pattern(&out, POISON), (size_t)ROWS * WIDTH, "no output byte changed");
    bad[2] = -0.0f;
    assay_tensor_put(&t, bad);
    cr_assert_eq(call(w, false, WIDTH, inputs, 1, &out).status, ASSAY_OK, "-0.0 is in the domain");
    assay_worker_close(w);
}
