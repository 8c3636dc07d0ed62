/* bench_cuda.cu - the speed of the kernels of impls/cuda against what the machine can do, measured in one
 * run.
 *
 *     bench_cuda             the automatic choice, PASS or FAIL for each bar
 *     bench_cuda --tune      every tuning, best first
 *
 * Large T: share of cudaMemset's rate on the same buffer; the backward, of a copy's bytes that it must move.
 * Small T: a CUDA graph of 100 calls against one of 100 empty kernels. Medians. Exit code 0 when all bars are
 * met, 1 when one is missed, 3 without a GPU. */
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        const cudaError_t status_ = (call);                                                                  \
        if (status_ != cudaSuccess) {                                                                        \
            fprintf(stderr, "bench_cuda: %s: %s\n", #call, cudaGetErrorString(status_));                     \
            exit(status_ == cudaErrorNoDevice || status_ == cudaErrorInsufficientDriver ? 3 : 1);            \
        }                                                                                                    \
    } while (0)

#define WIDTH 256
#define TIMES 31
#define NODES 100

static cudaStream_t stream;
static cudaEvent_t begin_event, end_event;

__global__ void empty_kernel() {
}

template <class F> static double microseconds(F work) {
    std::vector<double> times;
    work();
    for (int i = 0; i < TIMES; i++) {
        float ms = 0.0f;
        CHECK(cudaEventRecord(begin_event, stream));
        work();
        CHECK(cudaEventRecord(end_event, stream));
        CHECK(cudaEventSynchronize(end_event));
        CHECK(cudaEventElapsedTime(&ms, begin_event, end_event));
        times.push_back((double)ms * 1e3);
    }
    std::sort(times.begin(), times.end());
    return times[TIMES / 2];
}

/* Microseconds of one of NODES calls in a graph. */
template <class F> static double in_graph(F work) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < NODES; i++) {
        work();
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    const double us = microseconds([&] { CHECK(cudaGraphLaunch(exec, stream)); }) / NODES;
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return us;
}

static cuda_work work_of(float *t, float *out, int64_t rows) {
    cuda_work w = {};
    w.rows = rows;
    w.half = WIDTH / 2;
    w.c = (float)-log(10000.0);
    w.inv = 1.0f / (float)w.half;
    w.type = CUDA_TYPE_F32;
    w.timestep = {t, 1, 0};
    w.out = {out, WIDTH, 1};
    w.stream = stream;
    return w;
}

static std::vector<cuda_tuning> all_tunings(bool large) {
    std::vector<cuda_tuning> list = {{CUDA_WAY_CHOSEN, 0, 0}};
    for (int rows : {1, 2, 4, 8}) {
        if (!large) {
            list.push_back({CUDA_WAY_PAIR, rows, 0});
        }
    }
    for (int warps : {1, 2, 4, 8, 16}) {
        list.push_back({CUDA_WAY_EARLY, 1, warps});
        for (int rows : {2, 4, 8}) {
            list.push_back({CUDA_WAY_MANY, rows, warps});
        }
    }
    return list;
}

static std::string text(const cuda_tuning &t) {
    static const char *const ways[] = {"chosen", "a pair a thread", "an early start", "streaming"};
    char line[128];
    (void)snprintf(line, sizeof line, "%s, %d rows, %d warps a block", ways[t.way], t.rows, t.warps);
    return line;
}

template <class F> static void tune(const char *what, bool large, F measure) {
    std::vector<std::pair<double, std::string>> found;
    for (const cuda_tuning &t : all_tunings(large)) {
        found.push_back({measure(&t), text(t)});
    }
    const auto chosen = found[0];
    std::sort(found.begin(), found.end());
    printf("%s: chosen %.3f us\n", what, chosen.first);
    for (size_t i = 0; i < 6; i++) {
        printf("    %.3f us  %s\n", found[i].first, found[i].second.c_str());
    }
}

static bool bar(const char *what, double value, double limit, bool least) {
    const bool good = least ? value >= limit : value <= limit;
    printf("%s %s: %.3f (at %s %.3g)\n", good ? "PASS" : "FAIL", what, value, least ? "least" : "most",
           limit);
    return good;
}

int main(int argc, char **argv) {
    const bool tuning = argc > 1 && strcmp(argv[1], "--tune") == 0;
    const int64_t most = (int64_t)1 << 22;
    float *t;
    float *out;
    float *more[2];
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin_event));
    CHECK(cudaEventCreate(&end_event));
    CHECK(cudaMalloc(&t, (size_t)most * 4));
    CHECK(cudaMalloc(&out, (size_t)most * WIDTH * 4));
    CHECK(cudaMalloc(&more[0], (size_t)most * WIDTH * 4));
    CHECK(cudaMalloc(&more[1], (size_t)most * 4));
    std::vector<float> values((size_t)most);
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = (float)((i * 2654435761u) % 16777216u) * 0x1p-24f;
    }
    CHECK(cudaMemcpy(t, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
    bool good = true;
    const double floor_us = in_graph([] { empty_kernel<<<1, 32, 0, stream>>>(); });
    printf("empty kernel in a graph %.3f us\n", floor_us);
    for (int64_t rows : {1, 4, 64, 256, 1024, 4096, 8192, 16384, 65536}) {
        char what[96];
        const cuda_work w = work_of(t, out, rows);
        if (tuning) {
            (void)snprintf(what, sizeof what, "T = %lld, in a graph", (long long)rows);
            tune(what, false,
                 [&](const cuda_tuning *k) { return in_graph([&] { CHECK(cuda_forward(&w, k)); }); });
            continue;
        }
        const double us = in_graph([&] { CHECK(cuda_forward(&w, nullptr)); });
        (void)snprintf(what, sizeof what, "T = %lld, multiple of an empty kernel", (long long)rows);
        if (rows <= 64) {
            good = bar(what, us / floor_us, 2.0, false) && good;
        } else if (rows == 4096) {
            good = bar("T = 4096, us", us, 2.2, false) && good;
        } else {
            printf("     T = %lld: %.3f us\n", (long long)rows, us);
        }
    }
    for (int64_t rows : {(int64_t)1 << 20, most}) {
        char what[96];
        cuda_work w = work_of(t, out, rows);
        const size_t bytes = (size_t)rows * WIDTH * 4;
        const double fill = microseconds([&] { CHECK(cudaMemsetAsync(out, 0, bytes, stream)); });
        if (tuning) {
            (void)snprintf(what, sizeof what, "T = %lld, memset %.1f us", (long long)rows, fill);
            tune(what, true,
                 [&](const cuda_tuning *k) { return microseconds([&] { CHECK(cuda_forward(&w, k)); }); });
            continue;
        }
        const double us = microseconds([&] { CHECK(cuda_forward(&w, nullptr)); });
        (void)snprintf(what, sizeof what, "T = %lld, share of memset's rate", (long long)rows);
        good = bar(what, fill / us, 0.9, true) && good;
        w.upstream = {more[0], WIDTH, 1};
        w.saved = {out, WIDTH, 1};
        w.grad = {more[1], 1, 0};
        /* Reads 2 * bytes; a copy of `bytes` moves as many, half of them writes. */
        const double copy = microseconds(
            [&] { CHECK(cudaMemcpyAsync(more[0], out, bytes, cudaMemcpyDeviceToDevice, stream)); });
        const double back = microseconds([&] { CHECK(cuda_backward(&w)); });
        (void)snprintf(what, sizeof what, "T = %lld, backward, share of a copy's rate", (long long)rows);
        good = bar(what, copy / back, 0.9, true) && good;
    }
    return good ? 0 : 1;
}
