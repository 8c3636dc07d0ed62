/* determinism_device.c - what can go wrong between a kernel and the stream it was given. The oracle is the
 * candidate's own answer to the same call when nothing else was going on. */
#include "determinism.h"

#include <time.h>

#define TIMES         3
#define PENDING_US    20000u /* the inputs arrive so much later than the call */
#define GRAPH_REPLAYS 5u
#define LATE_MS       30 /* work after the answer has this long to show itself */

/* How the call is made again. */
static const struct {
    const char *what;
    assay_exec_options options;
    /* Without the range check: it reads a value back, which no graph can hold, and which waits for the
     * stream even in a candidate that then computes elsewhere. */
    bool unchecked;
} ways[ASSAY_DETERMINISM_KIND_COUNT] = {
    [ASSAY_DETERMINISM_PENDING] = {"while its inputs are still being written on its stream",
                                   {.delay_us = PENDING_US},
                                   false},
    [ASSAY_DETERMINISM_OTHER_STREAM] = {"on another stream, with work pending",
                                        {.stream = ASSAY_STREAM_OTHER, .delay_us = PENDING_US},
                                        true},
    [ASSAY_DETERMINISM_LEGACY_STREAM] = {"on the legacy default stream, with work pending",
                                         {.stream = ASSAY_STREAM_LEGACY, .delay_us = PENDING_US},
                                         true},
    [ASSAY_DETERMINISM_PER_THREAD_STREAM] = {"on the per-thread default stream, with work pending",
                                             {.stream = ASSAY_STREAM_PER_THREAD, .delay_us = PENDING_US},
                                             true},
    [ASSAY_DETERMINISM_GRAPH] = {"as a CUDA graph, replayed", {.graph = GRAPH_REPLAYS}, true},
};

bool assay_determinism_stream(assay_context *context, const assay_check *check, assay_findings *findings,
                              assay_error *error) {
    assay_direct_call call;
    assay_exec exec = {0};
    assay_answer first = {0};
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_determinism_go(context, &call, NULL, &exec, findings, 0, "first call", error) &&
        assay_answer_keep(&exec, &first, error);
    if (good && ways[check->kind].unchecked) {
        (void)assay_direct_attr_set(&call.c.attrs, "check_range", 0.0); /* where there is one */
    }
    for (uint64_t i = 1; good && i <= TIMES; i++) {
        good = assay_determinism_go(context, &call, &ways[check->kind].options, &exec, findings, i,
                                    ways[check->kind].what, error);
        if (good) {
            assay_answer_compare(exec.output.data, &first, findings, i, ways[check->kind].what);
        }
    }
    assay_answer_free(&first);
    assay_direct_call_free(&call);
    return good;
}

bool assay_determinism_late(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error) {
    static const struct timespec pause = {.tv_nsec = LATE_MS * 1000000L};
    assay_direct_call call;
    assay_exec exec = {0};
    assay_answer first = {0};
    bool good =
        assay_direct_call_make(context, &check->c, check->p[0] != 0, (size_t)check->c.rows, &call, error) &&
        assay_determinism_go(context, &call, NULL, &exec, findings, 0, "first call", error) &&
        assay_answer_keep(&exec, &first, error);
    if (good) {
        (void)nanosleep(&pause, NULL);
        good = assay_worker_refresh(context->lanes[0].candidate, &exec.output, error);
    }
    if (good) {
        assay_answer_compare(exec.output.data, &first, findings, 1,
                             "the output, after the call was answered");
    }
    assay_answer_free(&first);
    assay_direct_call_free(&call);
    return good;
}
