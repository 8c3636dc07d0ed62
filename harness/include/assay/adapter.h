/* assay/adapter.h - the adapter ABI, version 1.
 *
 * An adapter is a shared library that offers one or more operators to Assay. This header is the whole
 * interface and its manual; it needs nothing but DLPack's <dlpack/dlpack.h>.
 *
 * Tutorial. An adapter exports one function, `assay_adapter`, that returns a static descriptor:
 *
 *     static assay_status forward(const assay_call *call) {
 *         const DLTensor *t = call->inputs[0];
 *         DLTensor *out = call->outputs[0];
 *         if (t == NULL || t->ndim != 1) return assay_reject(call, "timestep must be a vector");
 *         ...
 *         return ASSAY_OK;
 *     }
 *     static const assay_operator operators[] = {{.name = "timestep_sinusoid_h3", .forward = forward}};
 *     static const assay_adapter_info info = {
 *         .abi_version = ASSAY_ABI_VERSION, .struct_bytes = sizeof info, .name = "mine", .version = "1",
 *         .memory = ASSAY_MEMORY_HOST, .operators = operators, .operator_count = 1};
 *     ASSAY_EXPORT const assay_adapter_info *assay_adapter(void) { return &info; }
 *
 * Build it with `cc -shared -fPIC -I<prefix>/include mine.c -o mine.so`, then run
 * `assay certify --op timestep_sinusoid_h3 --impl ./mine.so`.
 *
 * Rules that the suites check
 *   1. Inputs are read only. Outputs are written completely when ASSAY_OK is returned, and not at all when
 *      anything else is returned.
 *   2. The memory belongs to the caller. Keep no pointer to it after returning, and do no work after
 * returning.
 *   3. A null tensor, a wrong rank, dtype, shape or stride, or a value outside the operator's domain is
 *      answered with ASSAY_INVALID_ARGUMENT. What the operator allows but this adapter lacks is answered with
 *      ASSAY_UNSUPPORTED: honest, recorded, never a pass.
 *   4. Tensors may be strided (strides in elements, never null here) and aligned only to their element size.
 */
#ifndef ASSAY_ADAPTER_H
#define ASSAY_ADAPTER_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ABI_VERSION    1u
#define ASSAY_ADAPTER_SYMBOL "assay_adapter"

#if defined(__GNUC__)
#define ASSAY_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_EXPORT
#endif

/* X(enumerator, text, meaning): statuses that a call can return. */
#define ASSAY_STATUS_LIST(X)                                                                                 \
    X(ASSAY_OK, "ok", "every output element was written")                                                    \
    X(ASSAY_INVALID_ARGUMENT, "invalid_argument", "the contract forbids this input; no output byte changed") \
    X(ASSAY_UNSUPPORTED, "unsupported", "the contract allows it, this adapter does not offer it")            \
    X(ASSAY_OUT_OF_MEMORY, "out_of_memory", "an allocation failed")                                          \
    X(ASSAY_DEVICE_ERROR, "device_error", "the device reported an error")                                    \
    X(ASSAY_INTERNAL, "internal", "anything else")

typedef enum assay_status {
#define X(id, text, meaning) id,
    ASSAY_STATUS_LIST(X)
#undef X
} assay_status;

typedef enum assay_memory {
    ASSAY_MEMORY_HOST = 0, /* tensors are in host memory, kDLCPU */
    ASSAY_MEMORY_CUDA = 1  /* tensors are in CUDA device memory, kDLCUDA */
} assay_memory;

typedef enum assay_attr_type {
    ASSAY_ATTR_INT = 0,
    ASSAY_ATTR_FLOAT = 1,
    ASSAY_ATTR_BOOL = 2,
    ASSAY_ATTR_STRING = 3
} assay_attr_type;

/* One operator attribute. `i` also holds booleans (0 or 1). Strings live as long as the call. */
typedef struct assay_attr {
    const char *name;
    assay_attr_type type;
    int64_t i;
    double f;
    const char *s;
} assay_attr;

/* One call. All pointers are owned by the caller and valid until the function returns. An entry of `inputs`
 * or `outputs` may be NULL when the suite tests null arguments. The order of tensors is the contract's
 * signature. `stream` is a cudaStream_t for CUDA adapters, NULL on the host. `state` is what `prepare` left.
 * `message` is a buffer for one line of text that explains a status other than ASSAY_OK. */
typedef struct assay_call {
    size_t struct_bytes;
    const assay_attr *attrs;
    size_t attr_count;
    const DLTensor *const *inputs;
    size_t input_count;
    DLTensor *const *outputs;
    size_t output_count;
    void *stream;
    void *state;
    char *message;
    size_t message_bytes;
} assay_call;

typedef assay_status (*assay_entry)(const assay_call *call);

/* One operator offered by an adapter. `backward` may be NULL (then gradients are `unsupported`). Its inputs
 * and outputs follow the contract's backward signature. `prepare` may be NULL; it is called once per worker
 * process before the first call of the operator and may store a pointer in *state. */
typedef struct assay_operator {
    const char *name;
    assay_entry forward;
    assay_entry backward;
    assay_status (*prepare)(void **state, char *message, size_t message_bytes);
} assay_operator;

/* A knob: a mode that changes results or speed. `requested` is what was asked for (a static text), and
 * `effective` answers what took effect in this process (text owned by the adapter). */
typedef struct assay_knob {
    const char *name;
    const char *requested;
    const char *(*effective)(void);
} assay_knob;

typedef struct assay_adapter_info {
    uint32_t abi_version; /* ASSAY_ABI_VERSION */
    size_t struct_bytes;  /* sizeof(assay_adapter_info) */
    const char *name;
    const char *version;
    const char *description; /* one line, may be NULL */
    const char *lineage;     /* the provider lineage whose bits are claimed, NULL when none is claimed */
    assay_memory memory;
    const assay_operator *operators;
    size_t operator_count;
    const assay_knob *knobs; /* may be NULL */
    size_t knob_count;
} assay_adapter_info;

typedef const assay_adapter_info *(*assay_adapter_fn)(void);

/* ---- helpers for adapter authors ------------------------------------------------------------------- */

/* The text of a status, "unknown" for a value outside the enum. */
static inline const char *assay_status_text(assay_status status) {
    switch (status) {
#define X(id, text, meaning)                                                                                 \
    case id:                                                                                                 \
        return text;
        ASSAY_STATUS_LIST(X)
#undef X
    }
    return "unknown";
}

/* Writes `text` as the call's message and returns ASSAY_INVALID_ARGUMENT. */
static inline assay_status assay_reject(const assay_call *call, const char *text) {
    if (call->message != NULL && call->message_bytes > 0) {
        (void)snprintf(call->message, call->message_bytes, "%s", text);
    }
    return ASSAY_INVALID_ARGUMENT;
}

/* The attribute called `name`, NULL when absent. */
static inline const assay_attr *assay_attr_find(const assay_call *call, const char *name) {
    for (size_t i = 0; i < call->attr_count; i++) {
        if (strcmp(call->attrs[i].name, name) == 0) {
            return &call->attrs[i];
        }
    }
    return NULL;
}

/* The integer or boolean attribute called `name`, `fallback` when absent. */
static inline int64_t assay_attr_int(const assay_call *call, const char *name, int64_t fallback) {
    const assay_attr *a = assay_attr_find(call, name);
    return a == NULL ? fallback : a->type == ASSAY_ATTR_FLOAT ? (int64_t)a->f : a->i;
}

/* The numeric attribute called `name` as a double, `fallback` when absent. */
static inline double assay_attr_float(const assay_call *call, const char *name, double fallback) {
    const assay_attr *a = assay_attr_find(call, name);
    return a == NULL ? fallback : a->type == ASSAY_ATTR_FLOAT ? a->f : (double)a->i;
}

/* The address of element 0 of a tensor. */
static inline void *assay_data(const DLTensor *t) {
    return (char *)t->data + t->byte_offset;
}

/* 1 when the tensor has dtype (code, bits) with one lane. */
static inline int assay_is_dtype(const DLTensor *t, DLDataTypeCode code, int bits) {
    return t->dtype.code == (uint8_t)code && t->dtype.bits == (uint8_t)bits && t->dtype.lanes == 1;
}

/* 1 when the tensor is float32, bfloat16 or float16: what assay_load_f32() and assay_store_f32() handle. */
static inline int assay_is_float(const DLTensor *t) {
    return assay_is_dtype(t, kDLFloat, 32) || assay_is_dtype(t, kDLFloat, 16) ||
           assay_is_dtype(t, kDLBfloat, 16);
}

/* A bfloat16 or float16 as FP32, exactly. */
static inline float assay_widen(uint16_t h, DLDataTypeCode code) {
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    uint32_t bits = code == kDLBfloat ? (uint32_t)h << 16 : sign | ((magnitude << 13) + 0x38000000u);
    float x;
    if (code != kDLBfloat && magnitude >= 0x7c00u) { /* Inf, NaN */
        bits = sign | 0x7f800000u | (magnitude & 0x3ffu) << 13;
    } else if (code != kDLBfloat && magnitude < 0x400u) { /* subnormal: magnitude units of 2^-24 */
        x = (float)magnitude * (1.0f / 16777216.0f);
        memcpy(&bits, &x, sizeof bits);
        bits |= sign;
    }
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* FP32 to bfloat16 or float16: nearest, ties to even; overflow gives Inf; NaN gives 0x7fff. */
static inline uint16_t assay_narrow(float x, DLDataTypeCode code) {
    uint32_t bits, sign, m, shift;
    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000u;
    m = bits & 0x7fffffffu;
    if (m > 0x7f800000u) {
        return 0x7fff;
    }
    if (code == kDLBfloat) {
        return (uint16_t)(sign | (m + 0x7fffu + (m >> 16 & 1u)) >> 16);
    }
    if (m >= 0x477ff000u) { /* rounds to 2^16, or is Inf */
        return (uint16_t)(sign | 0x7c00u);
    }
    shift = 13;
    if (m >= 0x38800000u) {
        m -= 0x38000000u;
    } else { /* subnormal: the significand in units of 2^-24; 31 makes anything below half a unit 0 */
        shift = m < 0x33000000u ? 31u : 126u - (m >> 23);
        m = shift == 31u ? 0 : (m & 0x7fffffu) | 0x800000u;
    }
    return (uint16_t)(sign | (m + (1u << (shift - 1u)) - 1u + (m >> shift & 1u)) >> shift);
}

/* Element i of a vector of float32, bfloat16 or float16 as FP32, and its inverse with one rounding. */
static inline float assay_load_f32(const DLTensor *t, int64_t i) {
    const int64_t at = i * t->strides[0];
    return t->dtype.bits == 32
               ? ((const float *)assay_data(t))[at]
               : assay_widen(((const uint16_t *)assay_data(t))[at], (DLDataTypeCode)t->dtype.code);
}
static inline void assay_store_f32(const DLTensor *t, int64_t i, float x) {
    const int64_t at = i * t->strides[0];
    if (t->dtype.bits == 32) {
        ((float *)assay_data(t))[at] = x;
    } else {
        ((uint16_t *)assay_data(t))[at] = assay_narrow(x, (DLDataTypeCode)t->dtype.code);
    }
}

#ifdef __cplusplus
}
#endif
#endif
