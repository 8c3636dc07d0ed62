/* candidate.c - an adapter that wants CUDA memory and hands its calls on to an adapter of the host, over the
 * fake device. ASSAY_ADAPTER_INNER names that adapter's file; ASSAY_ADAPTER_FAULT, if set, the fault that is
 * added to the forward calls of many rows (sweeps):
 *
 *     element   one bit of one output is wrong        row      the last row is not written
 *     outside   writes beyond its output              input    changes its input
 *     crash     dies by a signal                      exit     leaves the process
 *     hang      never answers                         device   reports a device error
 *     memory    reports that memory is short
 *
 * FAKE_BASELINE: a build without faults, to compare with. */
#include "assay/adapter.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY_ROWS 60000

static const assay_operator *inner;

static bool fault(const char *name) {
#ifdef FAKE_BASELINE
    const char *value = NULL;
#else
    const char *value = getenv("ASSAY_ADAPTER_FAULT");
#endif
    return value != NULL && strcmp(value, name) == 0;
}

/* Faults that come in place of the work; the status, or OK when there is none. */
static assay_status before(void) {
    if (fault("crash")) {
        (void)raise(SIGSEGV);
    }
    if (fault("exit")) {
        _exit(7);
    }
    while (fault("hang")) {
        (void)pause();
    }
    return fault("device") ? ASSAY_DEVICE_ERROR : fault("memory") ? ASSAY_OUT_OF_MEMORY : ASSAY_OK;
}

static void after(const DLTensor *x, const DLTensor *y, const float *row, int64_t channels) {
    float *const out = (float *)((char *)y->data + y->byte_offset);
    float *const last = out + (x->shape[0] - 1) * channels;
    if (fault("element")) {
        ((unsigned char *)(out + 77 * channels + 5))[0] ^= 1;
    }
    if (fault("row")) {
        memcpy(last, row, (size_t)channels * sizeof *row);
    }
    if (fault("outside")) {
        last[channels] = 1.0f;
    }
    if (fault("input")) {
        ((float *)((char *)x->data + x->byte_offset))[3] += 1.0f;
    }
}

static assay_status forward(const assay_call *call) {
    const DLTensor *x = call->input_count == 1 ? call->inputs[0] : NULL;
    const DLTensor *y = call->output_count == 1 ? call->outputs[0] : NULL;
    if (x == NULL || y == NULL || x->ndim != 1 || x->shape[0] < MANY_ROWS || y->ndim != 2) {
        return inner->forward(call);
    }
    const int64_t channels = y->shape[1];
    const float *last =
        (const float *)((const char *)y->data + y->byte_offset) + (x->shape[0] - 1) * channels;
    float row[4096];
    memcpy(row, last, (size_t)(channels < 4096 ? channels : 4096) * sizeof *row);
    assay_status status = before();
    status = status == ASSAY_OK ? inner->forward(call) : status;
    if (status == ASSAY_OK) {
        after(x, y, row, channels < 4096 ? channels : 4096);
    }
    return status;
}

static assay_status backward(const assay_call *call) {
    return inner->backward(call);
}

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void);

const assay_adapter_info *assay_adapter(void) {
    static assay_operator op;
    static assay_adapter_info info;
    union {
        void *object;
        assay_adapter_fn function;
    } symbol = {NULL};
    const char *path = getenv("ASSAY_ADAPTER_INNER");
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    symbol.object = library == NULL ? NULL : dlsym(library, ASSAY_ADAPTER_SYMBOL);
    if (symbol.object == NULL) {
        (void)fprintf(stderr, "fake candidate: no adapter in ASSAY_ADAPTER_INNER\n");
        return NULL;
    }
    info = *symbol.function();
    inner = &info.operators[0];
    op = *inner;
    op.forward = forward;
    op.backward = inner->backward == NULL ? NULL : backward;
    info.memory = ASSAY_MEMORY_CUDA;
    info.operators = &op;
    info.operator_count = 1;
    return &info;
}
