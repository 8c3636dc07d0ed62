/* timing_run.h - callables of the timing suite on real workers: layouts, pinning, batches. Private to suites.
 */
#ifndef ASSAY_TIMING_RUN_H
#define ASSAY_TIMING_RUN_H

#include "direct.h"
#include "timing_math.h"

typedef enum assay_timing_role {
    ASSAY_TIMING_CANDIDATE, /* check_range off */
    ASSAY_TIMING_CHECKED,   /* check_range on */
    ASSAY_TIMING_BASELINE,  /* check_range off */
    ASSAY_TIMING_BACKWARD,  /* backward alone; its saved output was made before */
    ASSAY_TIMING_BASELINE_BACKWARD,
    ASSAY_TIMING_FLOOR, /* a call that is refused at once */
    ASSAY_TIMING_ROOF,  /* the judge fills as many bytes as the output has */
    ASSAY_TIMING_ROLE_COUNT
} assay_timing_role;

typedef struct assay_timing_text {
    const char *name, *scope;
} assay_timing_text;
extern const assay_timing_text assay_timing_roles[ASSAY_TIMING_ROLE_COUNT];

/* Buffers of one worker. */
typedef struct assay_timing_layout {
    assay_tensor input, output, saved, upstream, gradient;
    assay_tensor one_input, one_output; /* views of the first row */
} assay_timing_layout;

struct assay_timing_bench;
typedef struct assay_timing_slot {
    struct assay_timing_bench *bench;
    assay_timing_role role;
    assay_worker *worker; /* NULL for the roof */
    const assay_timing_layout *layout;
    uint64_t bytes; /* that the callable must move */
    unsigned repeat;
    uint64_t calls; /* made so far: each sees other inputs */
    assay_call_reply reply;
} assay_timing_slot;

typedef struct assay_timing_bench {
    const assay_context *context;
    size_t rows, channels;
    assay_attrs checked, unchecked;
    assay_timing_layout candidate, baseline;
    void *fill; /* the roof's memory */
    size_t fill_bytes;
    assay_timing_slot slots[ASSAY_TIMING_ROLE_COUNT];
    assay_timing_callable callables[ASSAY_TIMING_ROLE_COUNT];
    size_t count;
    bool floor_refused;   /* the floor is a call without an input; else the smallest valid call */
    assay_result trouble; /* set when a call did not answer ok */
    bool troubled;
} assay_timing_bench;

/* Lays everything out and makes the saved output of the backward calls. False with trouble set or an error.
 */
bool assay_timing_bench_open(assay_timing_bench *bench, assay_context *context, const assay_check *check,
                             assay_error *error);
void assay_timing_bench_close(assay_timing_bench *bench);

/* Batches of one slot, long enough by the judge's clock to be checked against it; keeps the batch that the
 * judge saw end fastest. */
bool assay_timing_batch(assay_timing_slot *slot, assay_timing_claim *claim, assay_error *error);

/* One more call like the timed ones, and the same with the range check on: their bytes must be equal. False
 * with `different` set when they are not; else as for calls: false with trouble or an error. */
bool assay_timing_same_bytes(assay_timing_slot *slot, bool *different, assay_error *error);

/* Puts this thread and both workers (all their threads) on one processor. Returns its number, -1 when that
 * was refused. */
typedef struct assay_timing_pin assay_timing_pin;
assay_timing_pin *assay_timing_pin_open(const assay_lane *lane, int *cpu);
void assay_timing_pin_close(assay_timing_pin *pin, const assay_lane *lane);

#endif
