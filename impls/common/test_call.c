/* test_call.c - builds calls and tensors for tests. */
#include "test_call.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>

static void tensor(test_tensor *t, void *data, DLDataTypeCode code, int bits, int ndim) {
    t->dl = (DLTensor){.data = data,
                       .device = {.device_type = kDLCPU},
                       .ndim = ndim,
                       .dtype = {.code = (uint8_t)code, .bits = (uint8_t)bits, .lanes = 1},
                       .shape = t->shape,
                       .strides = t->strides};
}

void test_vector(test_tensor *t, void *data, DLDataTypeCode code, int bits, int64_t rows, int64_t stride) {
    tensor(t, data, code, bits, 1);
    t->shape[0] = rows;
    t->strides[0] = stride;
}

void test_matrix(test_tensor *t, void *data, int64_t rows, int64_t columns, int64_t row_stride) {
    tensor(t, data, kDLFloat, 32, 2);
    t->shape[0] = rows;
    t->shape[1] = columns;
    t->strides[0] = row_stride;
    t->strides[1] = 1;
}

assay_status test_run(assay_entry entry, const test_attrs *attrs, DLTensor *const *inputs, size_t input_count,
                      DLTensor *output, char *message) {
    const assay_attr list[] = {
        {.name = "width", .type = ASSAY_ATTR_INT, .i = attrs->width},
        {.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = attrs->max_period},
        {.name = "check_range", .type = ASSAY_ATTR_BOOL, .i = attrs->check_range},
    };
    DLTensor *const outputs[] = {output};
    const assay_call call = {.struct_bytes = sizeof call,
                             .attrs = list,
                             .attr_count = 3,
                             .inputs = (const DLTensor *const *)inputs,
                             .input_count = input_count,
                             .outputs = outputs,
                             .output_count = 1,
                             .message = message,
                             .message_bytes = 200};
    message[0] = '\0';
    return entry(&call);
}

uint32_t test_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

float test_random_unit(uint64_t *state) {
    return (float)(test_random(state) >> 8) * 0x1p-24f;
}

const assay_adapter_info *test_load(const char *name) {
    const char *build = getenv("ASSAY_BUILD");
    cr_assert_not_null(build, "ASSAY_BUILD names the build folder");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/impls/%s.so", build, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s", dlerror());
    assay_adapter_fn function = NULL;
    void *symbol = dlsym(library, ASSAY_ADAPTER_SYMBOL);
    cr_assert_not_null(symbol, "%s exports no " ASSAY_ADAPTER_SYMBOL, path);
    memcpy(&function, &symbol, sizeof function);
    const assay_adapter_info *info = function();
    cr_assert_eq(info->abi_version, ASSAY_ABI_VERSION);
    cr_assert_eq(info->struct_bytes, sizeof *info);
    cr_assert_str_eq(info->name, name);
    cr_assert_eq(info->operator_count, 1);
    cr_assert_str_eq(info->operators[0].name, "timestep_sinusoid_h3");
    return info;
}
