/* adapter.c - the CUDA kernels of timestep_sinusoid_h3 behind the adapter ABI. Checks arguments on the host,
 * the range of the values on the device, and queues everything on the caller's stream.
 *
 * check_range true: one kernel looks at the timesteps and the host waits for its answer before anything is
 * written. check_range false: no waiting, no allocation, so the call can be captured in a CUDA graph. */
#include "kernels.h"
#include "sinusoid.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef ASSAY_FAST_MATH_BUILD
#define NAME        "cuda"
#define DESCRIPTION "CUDA kernels with the provider's FP32 order"
#define MATH        "exact"
#else
#define NAME        "cuda_fast_math"
#define DESCRIPTION "the same CUDA kernels built with --use_fast_math"
#define MATH        "fast"
#endif

#define NONE_BAD UINT64_MAX

/* ---- errors ---- */

static assay_status answer(const assay_call *call, cudaError_t status, const char *what) {
    if (status == cudaSuccess) {
        return ASSAY_OK;
    }
    (void)cudaGetLastError(); /* or the next launch would find this error again */
    if (call->message != NULL && call->message_bytes > 0) {
        (void)snprintf(call->message, call->message_bytes, "%s: %s", what, cudaGetErrorString(status));
    }
    return status == cudaErrorMemoryAllocation ? ASSAY_OUT_OF_MEMORY : ASSAY_DEVICE_ERROR;
}

/* ---- the answer of the range check: a word of mapped host memory, from a pool that any thread may use ----
 */

typedef struct flag {
    struct flag *next;
    unsigned long long *word; /* the same address on host and device */
} flag;

static pthread_mutex_t flags_lock = PTHREAD_MUTEX_INITIALIZER;
static flag *flags_free;

static flag *flag_take(cudaError_t *status) {
    (void)pthread_mutex_lock(&flags_lock);
    flag *f = flags_free;
    flags_free = f != NULL ? f->next : NULL;
    (void)pthread_mutex_unlock(&flags_lock);
    if (f != NULL) {
        return f;
    }
    f = calloc(1, sizeof *f);
    *status = f == NULL ? cudaErrorMemoryAllocation
                        : cudaHostAlloc((void **)&f->word, sizeof *f->word,
                                        cudaHostAllocPortable | cudaHostAllocMapped);
    if (*status != cudaSuccess) {
        free(f);
        return NULL;
    }
    return f;
}

static void flag_return(flag *f) {
    (void)pthread_mutex_lock(&flags_lock);
    f->next = flags_free;
    flags_free = f;
    (void)pthread_mutex_unlock(&flags_lock);
}

static assay_status check_range(const assay_call *call, const sinusoid_args *args, const cuda_work *work) {
    enum cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    if (!args->check_range) {
        return ASSAY_OK;
    }
    cudaError_t status = cudaStreamIsCapturing(work->stream, &capturing);
    if (status != cudaSuccess) {
        return answer(call, status, "range check");
    }
    if (capturing != cudaStreamCaptureStatusNone) {
        if (call->message != NULL && call->message_bytes > 0) {
            (void)snprintf(
                call->message, call->message_bytes,
                "a graph cannot hold the range check, which reads a value back: pass check_range false");
        }
        return ASSAY_UNSUPPORTED;
    }
    flag *f = flag_take(&status);
    if (f == NULL) {
        return answer(call, status, "range check");
    }
    *(volatile unsigned long long *)f->word = NONE_BAD;
    status = cuda_range(work, f->word);
    if (status == cudaSuccess) {
        status = cudaStreamSynchronize(work->stream);
    }
    const uint64_t bad = *(volatile unsigned long long *)f->word;
    flag_return(f);
    if (status != cudaSuccess) {
        return answer(call, status, "range check");
    }
    if (bad != NONE_BAD) {
        if (call->message != NULL && call->message_bytes > 0) {
            (void)snprintf(call->message, call->message_bytes,
                           "timestep must be finite and in [0, 1]: element %" PRIu64 " is not", bad);
        }
        return ASSAY_INVALID_ARGUMENT;
    }
    return ASSAY_OK;
}

/* ---- entry points ---- */

static cuda_view view_of(const sinusoid_view *v) {
    return (cuda_view){.data = v->data, .row_stride = v->row_stride, .column_stride = v->column_stride};
}

static cuda_work work_of(const assay_call *call, const sinusoid_args *args) {
    static const cuda_type types[] = {
        [SINUSOID_F32] = CUDA_TYPE_F32, [SINUSOID_BF16] = CUDA_TYPE_BF16, [SINUSOID_F16] = CUDA_TYPE_F16};
    return (cuda_work){.rows = (int64_t)args->rows,
                       .half = (int64_t)args->half,
                       .c = (float)-log(args->max_period),
                       .inv = 1.0f / (float)args->half,
                       .type = types[args->type],
                       .timestep = view_of(&args->timestep),
                       .out = view_of(&args->out),
                       .upstream = view_of(&args->upstream),
                       .saved = view_of(&args->saved),
                       .grad = view_of(&args->grad),
                       .stream = call->stream};
}

static assay_status forward(const assay_call *call) {
    sinusoid_args args;
    assay_status status = sinusoid_check_forward_in(kDLCUDA, call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    const cuda_work work = work_of(call, &args);
    status = check_range(call, &args, &work);
    return status != ASSAY_OK ? status : answer(call, cuda_forward(&work, NULL), "forward");
}

static assay_status backward(const assay_call *call) {
    sinusoid_args args;
    assay_status status = sinusoid_check_backward_in(kDLCUDA, call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    const cuda_work work = work_of(call, &args);
    status = check_range(call, &args, &work);
    return status != ASSAY_OK ? status : answer(call, cuda_backward(&work), "backward");
}

static const char *effective_math(void) {
    return MATH; /* what the compiler options gave: the exact sources do not compile otherwise */
}

static const char *effective_code(void) {
    static char text[64];
    int binary = 0;
    int ptx = 0;
    if (cuda_code_object(&binary, &ptx) != cudaSuccess) {
        return "unknown";
    }
    (void)snprintf(text, sizeof text,
                   binary == ptx ? "sm_%d" : "sm_%d, compiled at run time from PTX of compute_%d", binary,
                   ptx);
    return text;
}

static const assay_operator operators[] = {
    {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward}};

static const assay_knob knobs[] = {
    {.name = "math", .requested = MATH, .effective = effective_math},
    {.name = "code_object", .requested = "auto", .effective = effective_code},
};

static const assay_adapter_info info = {
    .abi_version = ASSAY_ABI_VERSION,
    .struct_bytes = sizeof info,
    .name = NAME,
    .version = "1",
    .description = DESCRIPTION,
    .lineage = "h3-cuda",
    .memory = ASSAY_MEMORY_CUDA,
    .operators = operators,
    .operator_count = sizeof operators / sizeof *operators,
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
};

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void);

const assay_adapter_info *assay_adapter(void) {
    return &info;
}
