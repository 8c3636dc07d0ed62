/* bench_worker.c - what one call costs, and where: an empty layout, a kept layout, and a layout that changes
 * with every call (as the invariance suite makes them). Usage: bench_worker SELF ADAPTER OP [CALLS]; the
 * operator gets a "mode" of "ok". */
#include "worker.h"

#include <stdlib.h>
#include <time.h>

static double now_us(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

typedef struct bench {
    assay_worker *worker;
    assay_call_spec spec;
    int calls;
} bench;

static double run(bench *b, bool change_layout) {
    assay_error error;
    assay_call_reply reply;
    assay_tensor tensors[2] = {0};
    const assay_tensor *pointers[2] = {&tensors[0], &tensors[1]};
    assay_arena *arena = assay_worker_arena(b->worker);
    assay_call_spec spec = b->spec;
    spec.inputs = &pointers[0];
    spec.outputs = &pointers[1];
    spec.input_count = spec.output_count = 1;
    const double start = now_us();
    for (int i = 0; i < b->calls; i++) {
        if (i == 0 || change_layout) {
            assay_arena_reset(arena, false);
            for (int k = 0; k < 2; k++) {
                const assay_tensor_spec shape = {
                    .dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {INT64_C(1024) * (i % 7 + 1)}};
                if (assay_tensor_alloc(arena, &shape, &tensors[k], &error) != ASSAY_CODE_OK) {
                    (void)fprintf(stderr, "%s\n", error.text);
                    exit(1);
                }
                assay_tensor_poison(&tensors[k], 0x7fc0a55au);
            }
        }
        if (!assay_worker_call(b->worker, &spec, &reply, &error) || reply.result != ASSAY_CALL_ANSWERED ||
            reply.status != ASSAY_OK) {
            (void)fprintf(stderr, "call failed: %s %s\n", reply.reason, reply.message);
            exit(1);
        }
    }
    return (now_us() - start) / b->calls;
}

int main(int argc, char **argv) {
    assay_error error;
    const assay_attr attr = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "ok"};
    if (argc < 4) {
        (void)fprintf(stderr, "usage: bench_worker SELF ADAPTER OP [CALLS]\n");
        return 2;
    }
    bench b = {.spec = {.op = argv[3], .attrs = &attr, .attr_count = 1},
               .calls = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 20000};
    const assay_worker_options options = {.adapter = argv[2], .self = argv[1]};
    if (assay_worker_open(&options, &b.worker, &error) != ASSAY_CODE_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    const double kept = run(&b, false);
    const double changing = run(&b, true);
    (void)printf("call with the same layout: %.1f us; with a new layout each time: %.1f us\n", kept,
                 changing);
    assay_worker_close(b.worker);
    return 0;
}
