/* adapter.c - a complete adapter for timestep_sinusoid_h3, plain and slow: put your own kernel in its place.
 *
 * Build:   cc -O2 -shared -fPIC -ffp-contract=off -I<prefix>/include adapter.c -o adapter.so -lm
 * Certify: assay certify --op timestep_sinusoid_h3 --impl ./adapter.so --baseline libm */
#include <assay/adapter.h>
#include <math.h>

static int host(const DLTensor *t, int ndim) {
    return t != NULL && t->data != NULL && t->device.device_type == kDLCPU && t->ndim == ndim;
}
static int matrix(const DLTensor *m, int64_t rows, int64_t width) {
    return host(m, 2) && assay_is_dtype(m, kDLFloat, 32) && m->shape[0] == rows && m->shape[1] == width;
}
static float *at(const DLTensor *m, int64_t row, int64_t column) {
    return (float *)assay_data(m) + row * m->strides[0] + column * m->strides[1];
}
/* All that the contract forbids; tensors are {timestep} -> {out}, {upstream, out, timestep} -> {grad}. */
static assay_status check(const assay_call *call, size_t inputs) {
    const int64_t width = assay_attr_int(call, "width", 0);
    const double period = assay_attr_float(call, "max_period", 10000);
    const DLTensor *t = call->input_count == inputs ? call->inputs[inputs - 1] : NULL;
    const DLTensor *out = call->output_count == 1 ? call->outputs[0] : NULL;
    const int64_t rows = host(t, 1) ? t->shape[0] : 0;
    const char *fault =
        width <= 0 || width % 2 != 0         ? "width must be a positive even number"
        : !(period > 0 && period < INFINITY) ? "max_period must be finite and positive"
        : rows < 1                           ? "timestep must be a vector in host memory, not empty"
        : !assay_is_float(t)                 ? "timestep must be float32, bfloat16 or float16"
        : inputs == 1 ? matrix(out, rows, width) ? NULL : "out must be float32 (T, width)"
        : !matrix(call->inputs[0], rows, width) || !matrix(call->inputs[1], rows, width)
            ? "upstream gradient and saved output must be float32 (T, width)"
        : !host(out, 1) || out->shape[0] != rows || !assay_is_dtype(out, t->dtype.code, t->dtype.bits)
            ? "gradient must be like the timestep"
            : NULL;
    for (int64_t i = 0; fault == NULL && assay_attr_int(call, "check_range", 1) && i < rows; i++) {
        const float x = assay_load_f32(t, i);
        fault = x >= 0 && x <= 1 ? NULL : "timestep must be finite and in [0, 1]";
    }
    return fault == NULL ? ASSAY_OK : assay_reject(call, fault);
}
static float frequency(const assay_call *call, int64_t k) {
    const float c = (float)-log(assay_attr_float(call, "max_period", 10000)), scaled = c * (float)k;
    return expf(scaled * (1.0f / (float)(assay_attr_int(call, "width", 0) / 2)));
}
static assay_status forward(const assay_call *call) {
    const assay_status status = check(call, 1);
    const int64_t half = assay_attr_int(call, "width", 0) / 2, rows = status ? 0 : call->inputs[0]->shape[0];
    for (int64_t k = 0; k < half; k++) {
        const float f = frequency(call, k);
        for (int64_t i = 0; i < rows; i++) {
            const float a = assay_load_f32(call->inputs[0], i) * f;
            *at(call->outputs[0], i, k) = cosf(a);
            *at(call->outputs[0], i, half + k) = sinf(a);
        }
    }
    return status;
}
/* Element k of the pairwise tree over row i at the level that has `size` elements. */
static float tree(const assay_call *call, int64_t i, int64_t k, int64_t size, int64_t half) {
    const DLTensor *g = call->inputs[0], *y = call->inputs[1];
    return size < 2 * half ? tree(call, i, k, 2 * size, half) + tree(call, i, k + size, 2 * size, half)
           : k < half      ? -(*at(g, i, k) * *at(y, i, half + k)) * frequency(call, k)
           : k < 2 * half  ? *at(g, i, k) * *at(y, i, k - half) * frequency(call, k - half)
                           : 0.0f;
}
static assay_status backward(const assay_call *call) {
    const assay_status status = check(call, 3);
    for (int64_t i = 0; status == ASSAY_OK && i < call->inputs[2]->shape[0]; i++) {
        assay_store_f32(call->outputs[0], i, tree(call, i, 0, 1, assay_attr_int(call, "width", 0) / 2));
    }
    return status;
}
static const assay_operator op = {"timestep_sinusoid_h3", forward, backward, NULL};
static const assay_adapter_info info = {ASSAY_ABI_VERSION, sizeof info, "@NAME@", "1",  NULL, "libm",
                                        ASSAY_MEMORY_HOST, &op,         1,        NULL, 0};
ASSAY_EXPORT const assay_adapter_info *assay_adapter(void) {
    return &info;
}
