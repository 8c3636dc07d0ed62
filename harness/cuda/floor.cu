/* floor.cu - what the machine can do at best: an empty kernel, and bytes moved by memset, copy and a reading
 * sum. Medians of several. */
#include "cuda_private.h"

#include <algorithm>

#define ROOF_TIMES  7
#define FLOOR_TIMES 101

__global__ void empty_kernel() {
}

/* A sum over 16-byte words, so that nothing can be left out. */
__global__ void __launch_bounds__(256) reading_sum(const uint4 *__restrict__ at, size_t n, unsigned *out) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned sum = 0;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 7 * step < n; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            v[k] = __ldcs(at + i + (size_t)k * step);
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            sum += v[k].x + v[k].y + v[k].z + v[k].w;
        }
    }
    for (; i < n; i += step) {
        const uint4 v = __ldcs(at + i);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 0x9e3779b9u) { /* hardly ever; the compiler cannot know */
        atomicAdd(out, 1u);
    }
}

static double median(std::vector<double> &v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

/* Nanoseconds between d->begin and d->end, both recorded. */
static assay_code elapsed(assay_device *d, double *ns, assay_error *error) {
    float ms = 0.0f;
    CUDA_TRY(cudaEventSynchronize(d->end), "event");
    CUDA_TRY(cudaEventElapsedTime(&ms, d->begin, d->end), "event");
    *ns = (double)ms * 1e6;
    return ASSAY_CODE_OK;
}

static assay_code floor_plain(assay_device *d, double *ns, assay_error *error) {
    std::vector<double> times(FLOOR_TIMES);
    for (double &time : times) {
        CUDA_TRY(cudaEventRecord(d->begin, d->stream), "floor");
        empty_kernel<<<1, 32, 0, d->stream>>>();
        CUDA_TRY(cudaGetLastError(), "floor");
        CUDA_TRY(cudaEventRecord(d->end, d->stream), "floor");
        CODE_TRY(elapsed(d, &time, error));
    }
    *ns = median(times);
    return ASSAY_CODE_OK;
}

static assay_code capture(assay_device *d, unsigned count, cudaGraphExec_t *exec, assay_error *error) {
    cudaGraph_t graph = nullptr;
    CUDA_TRY(cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal), "floor");
    for (unsigned i = 0; i < count; i++) {
        empty_kernel<<<1, 32, 0, d->stream>>>();
    }
    CUDA_TRY(cudaStreamEndCapture(d->stream, &graph), "floor");
    const assay_code code = assay_cuda_check(cudaGraphInstantiate(exec, graph, 0), "floor", error);
    (void)cudaGraphDestroy(graph);
    return code;
}

static assay_code floor_graph(assay_device *d, cudaGraphExec_t exec, unsigned count, double *ns,
                              assay_error *error) {
    std::vector<double> times(FLOOR_TIMES);
    CUDA_TRY(cudaGraphLaunch(exec, d->stream), "floor");
    for (double &time : times) {
        CUDA_TRY(cudaEventRecord(d->begin, d->stream), "floor");
        CUDA_TRY(cudaGraphLaunch(exec, d->stream), "floor");
        CUDA_TRY(cudaEventRecord(d->end, d->stream), "floor");
        CODE_TRY(elapsed(d, &time, error));
    }
    *ns = median(times) / (double)count;
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_floor(assay_device *d, bool graph, unsigned count, double *ns, assay_error *error) {
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    if (!graph) {
        return floor_plain(d, ns, error);
    }
    cudaGraphExec_t exec = nullptr;
    const unsigned kernels = count == 0 ? 1 : count;
    CODE_TRY(capture(d, kernels, &exec, error));
    const assay_code code = floor_graph(d, exec, kernels, ns, error);
    (void)cudaGraphExecDestroy(exec);
    return code;
}

static cudaError_t move_bytes(assay_device *d, assay_device_roof kind, char *at, size_t bytes) {
    switch (kind) {
    case ASSAY_ROOF_MEMSET:
        return cudaMemsetAsync(at, 0, bytes, d->stream);
    case ASSAY_ROOF_COPY:
        return cudaMemcpyAsync(at + bytes / 2, at, bytes / 2, cudaMemcpyDeviceToDevice, d->stream);
    case ASSAY_ROOF_READ:
        break;
    }
    reading_sum<<<(unsigned)d->info.multiprocessors * 8, 256, 0, d->stream>>>((const uint4 *)at, bytes / 16,
                                                                              (unsigned *)d->scratch.at);
    return cudaGetLastError();
}

assay_code assay_cuda_roof(assay_device *d, assay_device_roof kind, void *address, size_t bytes, double *ns,
                           assay_error *error) {
    std::vector<double> times(ROOF_TIMES);
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    CODE_TRY(assay_cuda_scratch(d, 256, error));
    CUDA_TRY(cudaMemsetAsync(d->scratch.at, 0, 256, d->stream), "roof");
    CUDA_TRY(move_bytes(d, kind, (char *)address, bytes), "roof");
    for (double &time : times) {
        CUDA_TRY(cudaEventRecord(d->begin, d->stream), "roof");
        CUDA_TRY(move_bytes(d, kind, (char *)address, bytes), "roof");
        CUDA_TRY(cudaEventRecord(d->end, d->stream), "roof");
        CODE_TRY(elapsed(d, &time, error));
    }
    *ns = median(times);
    return ASSAY_CODE_OK;
}
