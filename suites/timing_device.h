/* timing_device.h - the timing suite on a GPU. Tensors lie in device memory before the first timed call and
 * stay there; three figures are kept apart, each in a check of its own: device  a CUDA graph of several
 * calls, its device time divided by their number. What cannot be captured is timed by events around as many
 * calls, and its series says "events". launch  events around one ordinary call. host    the worker's clock
 * around one ordinary call and the wait for its stream. Floor and roof are measured by the judge's own
 * kernels before, between and after. Private to suites. */
#ifndef ASSAY_TIMING_DEVICE_H
#define ASSAY_TIMING_DEVICE_H

#include "direct.h"
#include "nvml.h"
#include "timing_math.h"

/* X(identifier, text) */
#define ASSAY_TIMING_FIGURE_LIST(X)                                                                          \
    X(DEVICE, "device")                                                                                      \
    X(LAUNCH, "launch")                                                                                      \
    X(HOST, "host")

typedef enum assay_timing_figure {
#define X(id, text) ASSAY_TIMING_FIGURE_##id,
    ASSAY_TIMING_FIGURE_LIST(X)
#undef X
        ASSAY_TIMING_FIGURE_COUNT
} assay_timing_figure;

extern const char *const assay_timing_figures[ASSAY_TIMING_FIGURE_COUNT];

/* What is timed. */
typedef struct assay_device_kind {
    const char *name, *scope;
    bool baseline, backward, checked;
    bool again; /* the candidate against itself: full tier only */
} assay_device_kind;

enum {
    ASSAY_DEVICE_CANDIDATE,
    ASSAY_DEVICE_CHECKED,
    ASSAY_DEVICE_AGAIN,
    ASSAY_DEVICE_BASELINE,
    ASSAY_DEVICE_BACKWARD,
    ASSAY_DEVICE_BASELINE_BACKWARD,
    ASSAY_DEVICE_KIND_COUNT
};
extern const assay_device_kind assay_device_kinds[ASSAY_DEVICE_KIND_COUNT];

#define ASSAY_DEVICE_INPUTS  4 /* distinct row inputs, in turn */
#define ASSAY_DEVICE_OUTPUTS 4 /* at most: several where one does not fill the cache by far */

/* Buffers of one worker, at the same offsets in its device arena. */
typedef struct assay_device_side {
    assay_worker *worker; /* NULL when this side is left out */
    char *arena;          /* device address of offset 0 */
    bool backward;
    assay_tensor inputs[ASSAY_DEVICE_INPUTS], outputs[ASSAY_DEVICE_OUTPUTS];
    size_t output_count;
    assay_tensor saved, upstream, gradient; /* saved is outputs[0] where memory is short */
} assay_device_side;

struct assay_device_bench;
typedef struct assay_device_slot {
    struct assay_device_bench *bench;
    const assay_device_kind *kind;
    const assay_device_side *side;
    uint64_t bytes;         /* that one call must move */
    unsigned repeat, graph; /* of a timed call */
    uint64_t calls;         /* made so far: each sees the next input and output */
    assay_call_reply reply;
} assay_device_slot;

#define ASSAY_DEVICE_READINGS 128 /* of the management library, and of floor and roofs, in one check */
#define ASSAY_DEVICE_SAMPLES  256 /* iterations in one check */

typedef enum assay_device_bound {
    ASSAY_DEVICE_FLOOR, /* an empty kernel, launched as the figure says */
    ASSAY_DEVICE_FILL,  /* memset of the output's bytes */
    ASSAY_DEVICE_READ,  /* reads as many bytes as a backward call must move */
    ASSAY_DEVICE_BOUND_COUNT
} assay_device_bound;

/* Readings between iterations. */
typedef struct assay_device_watch {
    assay_nvml *nvml; /* NULL when there is none */
    char why[128];    /* then */
    assay_nvml_reading readings[ASSAY_DEVICE_READINGS];
    size_t done[ASSAY_DEVICE_READINGS];
    bool bad[ASSAY_DEVICE_READINGS];
    size_t count;
    uint64_t bounds[ASSAY_DEVICE_BOUND_COUNT][ASSAY_DEVICE_READINGS]; /* ns, floor in a graph: of `repeat` */
    size_t bound_count;
} assay_device_watch;

typedef struct assay_device_bench {
    const assay_context *context;
    assay_timing_figure figure;
    size_t rows, channels;
    assay_attrs checked, unchecked;
    assay_device_side candidate, baseline;
    assay_device_arena read; /* the read roof's own memory; address NULL when there is none */
    uint64_t forward_bytes, backward_bytes, fill_bytes;
    unsigned floor_repeat; /* empty kernels per sample of the floor */
    assay_device_slot slots[ASSAY_DEVICE_KIND_COUNT];
    assay_timing_callable callables[ASSAY_DEVICE_KIND_COUNT];
    size_t count;
    uint64_t dropped; /* bit per kind that is left out because its call did not answer ok */
    assay_device_watch watch;
    assay_result trouble; /* of the candidate */
    bool troubled;
} assay_device_bench;

/* Lays out both sides, fills their inputs, makes the saved outputs and tries every callable once. What the
 * baseline cannot do is left out; what the candidate cannot do is trouble. False with trouble or an error
 * (code INCOMPLETE when device memory is short). Close it also after false. */
bool assay_device_bench_open(assay_device_bench *bench, assay_context *context, const assay_check *check,
                             assay_timing_figure figure, assay_error *error);
void assay_device_bench_close(assay_device_bench *bench);

/* Nanoseconds of the last reply that the figure counts. */
uint64_t assay_device_slot_ns(const assay_device_slot *slot);
/* One call like the timed ones, but for `repeat` and `graph`. */
bool assay_device_slot_call(assay_device_slot *slot, unsigned repeat, unsigned graph, bool peak,
                            assay_error *error);
/* Least time, by the judge's clock, of a call that is refused at once; 0 when it does not survive that. */
bool assay_device_round_trip(assay_device_bench *bench, double *ns, assay_error *error);
/* A timed call against a call with the range check that has the same new values at another address and
 * another output: *different tells whether their bytes are. False for trouble or an error. */
bool assay_device_same_bytes(assay_device_slot *slot, bool *different, assay_error *error);

/* assay_timing_rule.between: NVML every few iterations, floor and roofs more seldom. `user` is the bench. */
bool assay_device_watch_between(void *user, size_t done, assay_error *error);
/* The last reading, after `done` iterations. */
bool assay_device_watch_end(assay_device_bench *bench, size_t done, assay_error *error);

/* "<callable>_<what>" */
void assay_device_metric(assay_context *context, const char *callable, const char *what, double value,
                         const char *unit);
/* The least sample of a bound, nanoseconds per call; 0 when it was not measured. */
double assay_device_bound_least(const assay_device_bench *bench, size_t bound);
/* Records series, medians, ratios and readings. */
void assay_device_record(assay_context *context, const assay_check *check, const assay_device_bench *bench,
                         const assay_timing_samples *samples);

/* Runs the check of one size and figure. */
void assay_timing_device_run(assay_context *context, const assay_check *check, assay_result *result);
/* Plans them. */
void assay_timing_device_plan(const assay_context *context, const assay_suite *suite, assay_plan *out);

#endif
