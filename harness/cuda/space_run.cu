/* space_run.cu - runs the candidate's function on a stream of the worker host and waits for that stream
 * alone.
 *
 * With a delay, the inputs hold 0xff bytes when the candidate is called and get their values on its stream so
 * much later: who reads them anywhere else reads NaN. With a graph, the calls are captured while the inputs
 * are zero; the true inputs and the output's poison are back before the last launch. So nothing that was
 * computed during the capture, or kept since, can be right. */
#include "space.cuh"

extern "C" {
#include "clock.h"
}

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#define WATCH_US 20

/* ---- device memory in use, watched from another thread ---- */

class watch {
  public:
    watch(bool wanted, int ordinal) : ordinal_(ordinal) {
        if (wanted) {
            (void)cudaDeviceSynchronize();
            before_ = least_ = free_now();
            running_ = true;
            thread_ = std::thread([this] { look(); });
        }
    }
    ~watch() {
        (void)stop();
    }
    /* Bytes taken at most. Once more after the work was queued, before anything can be given back. */
    uint64_t stop() {
        if (thread_.joinable()) {
            running_ = false;
            thread_.join();
        }
        return before_ - (least_ < before_ ? least_.load() : before_);
    }

  private:
    size_t free_now() const {
        size_t free = 0;
        size_t all = 0;
        return cudaMemGetInfo(&free, &all) == cudaSuccess ? free : 0;
    }
    void look() {
        (void)cudaSetDevice(ordinal_);
        do {
            const size_t now = free_now();
            if (now < least_) {
                least_ = now;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(WATCH_US));
        } while (running_);
    }
    int ordinal_;
    size_t before_ = 0;
    std::atomic<size_t> least_{0};
    std::atomic<bool> running_{false};
    std::thread thread_;
};

/* ---- keeping, spoiling and restoring tensors ---- */

struct kept_span {
    char *at, *copy;
    size_t bytes;
};

struct kept_list {
    kept_span spans[2 * ASSAY_MAX_TENSORS];
    size_t count, inputs; /* the first `inputs` spans are inputs */
};

static void list_spans(const cuda_space *s, const assay_wire_tensor *tensors, size_t n, kept_list *list,
                       size_t *room) {
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        size_t bytes = 0;
        if (!tensors[i].null) {
            assay_space_span(&tensors[i], &first, &bytes);
        }
        if (bytes > 0) {
            list->spans[list->count++] = {assay_space_address(s, first), (char *)*room, bytes};
            *room += (bytes + 255) / 256 * 256;
        }
    }
}

static assay_code keep(cuda_space *s, const assay_message *m, bool outputs, kept_list *list,
                       cudaStream_t stream, assay_error *error) {
    size_t room = 0;
    *list = {};
    list_spans(s, m->inputs, m->input_count, list, &room);
    list->inputs = list->count;
    if (outputs) {
        list_spans(s, m->outputs, m->output_count, list, &room);
    }
    if (room > s->kept.bytes) {
        (void)cudaFree(s->kept.at);
        s->kept = {};
        CUDA_TRY(cudaMalloc(&s->kept.at, room), "copies of the inputs");
        s->kept.bytes = room;
    }
    for (size_t i = 0; i < list->count; i++) {
        kept_span *k = &list->spans[i];
        k->copy = (char *)s->kept.at + (size_t)k->copy;
        CUDA_TRY(cudaMemcpyAsync(k->copy, k->at, k->bytes, cudaMemcpyDeviceToDevice, stream),
                 "keeping a tensor");
    }
    return ASSAY_CODE_OK;
}

static assay_code spoil(const kept_list *list, int byte, cudaStream_t stream, assay_error *error) {
    for (size_t i = 0; i < list->inputs; i++) {
        CUDA_TRY(cudaMemsetAsync(list->spans[i].at, byte, list->spans[i].bytes, stream), "spoiling an input");
    }
    return assay_cuda_check(cudaStreamSynchronize(stream), "spoiling the inputs", error);
}

static assay_code restore(const kept_list *list, size_t from, size_t to, cudaStream_t stream,
                          assay_error *error) {
    for (size_t i = from; i < to; i++) {
        const kept_span *k = &list->spans[i];
        CUDA_TRY(cudaMemcpyAsync(k->at, k->copy, k->bytes, cudaMemcpyDeviceToDevice, stream),
                 "restoring a tensor");
    }
    return ASSAY_CODE_OK;
}

__global__ void spin(unsigned long long ns) {
    unsigned long long start;
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < ns);
}

/* ---- the ways of a call ---- */

static void call_entry(assay_host_run *run, cudaStream_t stream) {
    run->call->stream = stream;
    for (int64_t i = 0; i < run->message->repeat; i++) {
        run->status = run->entry(run->call);
        if (run->status != ASSAY_OK) {
            break;
        }
    }
}

/* Nanoseconds between the two events, both done. */
static assay_code event_ns(const cuda_space *s, uint64_t *ns, assay_error *error) {
    float ms = 0.0f;
    CUDA_TRY(cudaEventElapsedTime(&ms, s->begin, s->end), "event");
    *ns = (uint64_t)((double)ms * 1e6);
    return ASSAY_CODE_OK;
}

/* After the candidate ran: its errors end the context. */
static assay_code settle(cudaError_t status, assay_error *error) {
    return status == cudaSuccess ? ASSAY_CODE_OK
                                 : assay_fail(error, ASSAY_CODE_INTERNAL, "CUDA error after the call: %s",
                                              cudaGetErrorString(status));
}

static assay_code run_plain(cuda_space *s, assay_host_run *run, cudaStream_t stream, assay_error *error) {
    kept_list list;
    if (run->message->delay_us > 0) {
        CODE_TRY(keep(s, run->message, false, &list, stream, error));
        CODE_TRY(spoil(&list, 0xff, stream, error));
        spin<<<1, 1, 0, stream>>>((unsigned long long)run->message->delay_us * 1000u);
        CUDA_TRY(cudaGetLastError(), "delay");
        CODE_TRY(restore(&list, 0, list.inputs, stream, error));
    }
    CUDA_TRY(cudaEventRecord(s->begin, stream), "event");
    const uint64_t start = assay_clock_ns();
    call_entry(run, stream);
    cudaError_t status = cudaEventRecord(s->end, stream);
    status = status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
    run->ns = assay_clock_ns() - start;
    CODE_TRY(settle(status, error));
    return event_ns(s, &run->device_ns, error);
}

/* The captured calls as an executable graph; NULL when the candidate answered with another status than ok. */
static assay_code capture(assay_host_run *run, cudaStream_t stream, cudaGraphExec_t *exec,
                          assay_error *error) {
    cudaGraph_t graph = nullptr;
    *exec = nullptr;
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    call_entry(run, stream);
    const cudaError_t status = cudaStreamEndCapture(stream, &graph);
    if (status != cudaSuccess || graph == nullptr) {
        (void)cudaGetLastError();
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "the call cannot be captured in a CUDA graph: %s",
                          cudaGetErrorString(status));
    }
    assay_code code = ASSAY_CODE_OK;
    if (run->status == ASSAY_OK) {
        code = assay_cuda_check(cudaGraphInstantiate(exec, graph, 0), "graph", error);
    }
    (void)cudaGraphDestroy(graph);
    return code;
}

static assay_code replay(cuda_space *s, assay_host_run *run, const kept_list *list, cudaGraphExec_t exec,
                         cudaStream_t stream, assay_error *error) {
    for (int64_t i = 1; i < run->message->graph; i++) {
        CUDA_TRY(cudaGraphLaunch(exec, stream), "graph");
    }
    CODE_TRY(restore(list, list->inputs, list->count, stream, error));
    CODE_TRY(settle(cudaStreamSynchronize(stream), error));
    CUDA_TRY(cudaEventRecord(s->begin, stream), "event");
    const uint64_t start = assay_clock_ns();
    cudaError_t status = cudaGraphLaunch(exec, stream);
    status = status == cudaSuccess ? cudaEventRecord(s->end, stream) : status;
    status = status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
    run->ns = assay_clock_ns() - start;
    CODE_TRY(settle(status, error));
    return event_ns(s, &run->device_ns, error);
}

static assay_code run_graph(cuda_space *s, assay_host_run *run, cudaStream_t stream, assay_error *error) {
    kept_list list;
    cudaGraphExec_t exec = nullptr;
    CODE_TRY(keep(s, run->message, true, &list, stream, error));
    CODE_TRY(spoil(&list, 0, stream, error));
    assay_code code = capture(run, stream, &exec, error);
    /* Whatever came of it, the judge finds its inputs as they were. */
    assay_error ignored;
    const assay_code back = restore(&list, 0, list.inputs, stream, code == ASSAY_CODE_OK ? error : &ignored);
    code = code == ASSAY_CODE_OK ? back : code;
    if (code == ASSAY_CODE_OK && exec != nullptr) {
        code = replay(s, run, &list, exec, stream, error);
    }
    if (exec != nullptr) {
        (void)cudaGraphExecDestroy(exec);
    }
    const assay_code done = settle(cudaStreamSynchronize(stream), code == ASSAY_CODE_OK ? error : &ignored);
    return code == ASSAY_CODE_OK ? done : code;
}

static assay_code pick_stream(const cuda_space *s, assay_stream_kind kind, cudaStream_t *stream,
                              assay_error *error) {
    switch (kind) {
    case ASSAY_STREAM_OTHER:
        CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream");
        return ASSAY_CODE_OK;
    case ASSAY_STREAM_LEGACY:
        *stream = cudaStreamLegacy;
        return ASSAY_CODE_OK;
    case ASSAY_STREAM_PER_THREAD:
        *stream = cudaStreamPerThread;
        return ASSAY_CODE_OK;
    default:
        *stream = s->own;
        return ASSAY_CODE_OK;
    }
}

static assay_code run_call(cuda_space *s, assay_host_run *run, assay_error *error) {
    const assay_message *m = run->message;
    cudaStream_t stream = nullptr;
    CUDA_TRY(cudaSetDevice(s->ordinal), "device");
    CODE_TRY(pick_stream(s, m->stream, &stream, error));
    watch memory(m->peak, s->ordinal);
    assay_code code = m->graph > 0 ? run_graph(s, run, stream, error) : run_plain(s, run, stream, error);
    run->peak_bytes = memory.stop();
    if (m->stream == ASSAY_STREAM_OTHER) {
        (void)cudaStreamDestroy(stream);
    }
    return code == ASSAY_CODE_OK ? assay_space_return(s, error) : code;
}

bool assay_space_run(assay_host_space *space, assay_host_run *run, assay_error *error) {
    try {
        return run_call((cuda_space *)space, run, error) == ASSAY_CODE_OK;
    } catch (const std::exception &e) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "worker host: %s", e.what());
        return false;
    }
}
