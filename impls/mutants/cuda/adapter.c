/* adapter.c - the descriptor and the two entries of every CUDA subject, and the faults that are made on the
 * host: streams, errors, work after the answer, caches. */
#include "mutant_cuda.h"
#include "sinusoid.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static mutant_fault current; /* one subject per process */
#define IS(name) (current == C_##name)

#define SPOIL_NS    10000000ull
#define LATER_NS    5000000L
#define CACHED_ROWS 4096
#define GIBIBYTE    ((size_t)1 << 30)
#define RUNNER_ROWS 7
#define NOTHING_BAD UINT64_MAX

static assay_status answer(const assay_call *call, cudaError_t status) {
    if (status == cudaSuccess) {
        return ASSAY_OK;
    }
    (void)cudaGetLastError();
    if (call->message != NULL && call->message_bytes > 0) {
        (void)snprintf(call->message, call->message_bytes, "%s", cudaGetErrorString(status));
    }
    return status == cudaErrorMemoryAllocation ? ASSAY_OUT_OF_MEMORY
           : status == cudaErrorNotSupported   ? ASSAY_UNSUPPORTED
                                               : ASSAY_DEVICE_ERROR;
}

/* ---- the call, taken apart ---- */

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

/* A word that the device writes and the host reads; one call at a time. */
static assay_status check_range(const assay_call *call, const cuda_work *work) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned long long *word;
    cudaError_t status = cudaSuccess;
    uint64_t bad = NOTHING_BAD;
    (void)pthread_mutex_lock(&lock);
    if (word == NULL) {
        status = cudaHostAlloc((void **)&word, sizeof *word, cudaHostAllocPortable | cudaHostAllocMapped);
    }
    if (status == cudaSuccess) {
        *(volatile unsigned long long *)word = NOTHING_BAD;
        status = mutant_range(work, IS(range_first_block), word);
    }
    if (status == cudaSuccess) {
        status = cudaStreamSynchronize(work->stream);
    }
    if (status == cudaSuccess) {
        bad = *(volatile unsigned long long *)word;
    }
    (void)pthread_mutex_unlock(&lock);
    return status != cudaSuccess ? answer(call, status)
           : bad != NOTHING_BAD  ? assay_reject(call, "timestep must be finite and in [0, 1]")
                                 : ASSAY_OK;
}

/* ---- faults and variants of the host ---- */

static cudaStream_t own_stream(void) {
    static cudaStream_t stream;
    if (stream == NULL) {
        (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    return stream;
}

static cudaError_t compute(const cuda_work *work, bool backward) {
    return backward ? mutant_backward(work, current) : mutant_forward(work, current);
}

/* Timesteps are read from `scratch` instead. */
static cuda_work packed(const cuda_work *work, float *scratch) {
    cuda_work other = *work;
    other.type = CUDA_TYPE_F32;
    other.timestep = (cuda_view){.data = scratch, .row_stride = 1, .column_stride = 1};
    return other;
}

static cudaError_t with_scratch(const cuda_work *work) {
    float *scratch = NULL;
    cudaError_t status =
        cudaMallocAsync((void **)&scratch, (size_t)work->rows * sizeof *scratch, work->stream);
    if (status != cudaSuccess) {
        return status;
    }
    status = mutant_gather(work, scratch);
    if (status == cudaSuccess) {
        const cuda_work other = packed(work, scratch);
        status = mutant_forward(&other, current);
    }
    const cudaError_t freed = cudaFreeAsync(scratch, work->stream);
    return status == cudaSuccess ? freed : status;
}

static cudaError_t with_cache(const cuda_work *work) {
    static float *cache;
    static const void *seen;
    static int64_t rows, stride;
    cudaError_t status = cudaSuccess;
    if (work->rows > CACHED_ROWS) {
        return mutant_forward(work, current);
    }
    if (cache == NULL) {
        status = cudaMalloc((void **)&cache, CACHED_ROWS * sizeof *cache);
    }
    if (status == cudaSuccess &&
        (seen != work->timestep.data || rows != work->rows || stride != work->timestep.row_stride)) {
        status = mutant_gather(work, cache);
        seen = work->timestep.data;
        rows = work->rows;
        stride = work->timestep.row_stride;
    }
    if (status != cudaSuccess) {
        return status;
    }
    const cuda_work other = packed(work, cache);
    return mutant_forward(&other, current);
}

typedef struct later {
    cuda_work work;
    bool backward;
} later;

static void *launch_later(void *argument) {
    static const struct timespec pause = {.tv_nsec = LATER_NS};
    later *l = argument;
    (void)nanosleep(&pause, NULL);
    (void)compute(&l->work, l->backward);
    free(l);
    return NULL;
}

static cudaError_t by_thread(const cuda_work *work, bool backward) {
    pthread_t thread;
    later *l = malloc(sizeof *l);
    if (l == NULL) {
        return cudaErrorMemoryAllocation;
    }
    *l = (later){.work = *work, .backward = backward};
    l->work.stream = own_stream();
    if (pthread_create(&thread, NULL, launch_later, l) != 0) {
        free(l);
        return cudaErrorUnknown;
    }
    (void)pthread_detach(thread);
    return cudaSuccess;
}

/* Keeps what it took until the process ends. */
static cudaError_t take_everything(void) {
    void *piece = NULL;
    while (cudaMalloc(&piece, GIBIBYTE) == cudaSuccess) {
    }
    return cudaErrorMemoryAllocation;
}

static cudaError_t carry_out(const cuda_work *work, bool backward) {
    cuda_work other = *work;
    cudaError_t status = cudaSuccess;
    switch (current) {
    case C_null_zeros:
    case C_null_ones:
    case C_null_nan:
    case C_null_copy:
        return mutant_fill(work, backward, IS(null_copy),
                           IS(null_ones)  ? 1.0f
                           : IS(null_nan) ? (float)NAN
                                          : 0.0f);
    case C_stream_own_waits:
        other.stream = own_stream();
        status = compute(&other, backward);
        return status == cudaSuccess ? cudaStreamSynchronize(other.stream) : status;
    case C_late_stream:
        status = compute(work, backward);
        other.stream = own_stream();
        other.out = backward ? work->grad : work->out;
        return status == cudaSuccess && (!backward || work->type == CUDA_TYPE_F32)
                   ? mutant_spoil_late(&other, SPOIL_NS)
                   : status;
    case C_late_thread:
        return by_thread(work, backward);
    case C_run_memory:
        return work->rows == RUNNER_ROWS ? take_everything() : compute(work, backward);
    case C_var_scratch:
        return backward ? compute(work, true) : with_scratch(work);
    case C_pointer_cache:
        return backward ? compute(work, true) : with_cache(work);
    case C_grid_zero:
        (void)compute(work, backward);
        return cudaSuccess;
    default:
        return compute(work, backward);
    }
}

/* ---- entry points ---- */

static assay_status enter(const assay_call *call, bool backward) {
    sinusoid_args args;
    assay_status status = backward ? sinusoid_check_backward_in(kDLCUDA, call, &args)
                                   : sinusoid_check_forward_in(kDLCUDA, call, &args);
    if (status != ASSAY_OK) {
        return status;
    }
    cuda_work work = work_of(call, &args);
    if (IS(stream_default)) {
        work.stream = cudaStreamLegacy;
    } else if (IS(stream_own)) {
        work.stream = own_stream();
    }
    if (args.check_range) {
        status = check_range(call, &work);
    }
    return status != ASSAY_OK ? status : answer(call, carry_out(&work, backward));
}

static assay_status forward(const assay_call *call) {
    return enter(call, false);
}

static assay_status backward(const assay_call *call) {
    return enter(call, true);
}

ASSAY_EXPORT const assay_adapter_info *mutant_cuda_adapter(int fault);

const assay_adapter_info *mutant_cuda_adapter(int fault) {
    static const char *const names[C_COUNT] = {
#define X(name, class_, suite, expected, source, text) #name,
        CUDA_MUTANT_LIST(X)
#undef X
    };
    static const assay_operator operators[] = {
        {.name = SINUSOID_OPERATOR, .forward = forward, .backward = backward}};
    static assay_adapter_info info;
    current = (mutant_fault)fault;
    info = (assay_adapter_info){.abi_version = ASSAY_ABI_VERSION,
                                .struct_bytes = sizeof info,
                                .name = names[fault],
                                .version = "1",
                                .description = "self-test subject on a GPU",
                                .lineage = "h3-cuda",
                                .memory = ASSAY_MEMORY_CUDA,
                                .operators = operators,
                                .operator_count = 1};
    return &info;
}
