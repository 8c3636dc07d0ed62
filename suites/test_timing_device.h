/* test_timing_device.h - a machine with a GPU that is not there: the files of the timing suite are compiled
 * into the test with the worker, the clock and the management library replaced by stubs. Time is a number
 * that calls move, device memory is host memory, so every series, ratio and verdict is known beforehand.
 * Included once. */
#ifndef ASSAY_TEST_TIMING_DEVICE_H
#define ASSAY_TEST_TIMING_DEVICE_H

#include "clock.h"
#include "timing_device.h"

#include "digest.h"
#include "recorder.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../harness/core/fake_nvml/fake_nvml.h"

/* ---- a machine ---- */

#define CHANNELS    8
#define ROUND_NS    30000.0 /* of a message to a worker and back */
#define CAPTURE_NS  400000.0
#define EMPTY_NS    500.0 /* an empty kernel in a graph */
#define LAUNCH_NS   6000.0
#define CACHE_BYTES ((uint64_t)64 << 10)

typedef struct stub_worker {
    assay_arena *arena;
    assay_device_arena device;
    bool backward, no_capture, no_device_time, host_memory, cached, lazy, out_of_memory, no_room,
        dies_of_null;
    double byte_ns;               /* device time per output byte */
    double lie_graph, lie_single; /* factors on what it claims */
    char *cache[64];              /* by input address */
    const void *cache_key[64];
    size_t cached_count;
    unsigned calls, most_repeat, graphs, peaks, resident;
} stub_worker;

static double now_ns;
static stub_worker stubs[2];
static fake_nvml *nvml;
static char nvml_path[512];
static double memset_byte_ns; /* of the judge's own fill */
static unsigned floors, fills, reads;

static stub_worker *stub_of(const assay_worker *worker) {
    return (stub_worker *)(uintptr_t)worker;
}

static assay_arena *stub_arena(assay_worker *worker) {
    return stub_of(worker)->arena;
}

static bool stub_offers(const assay_worker *worker, const char *op, bool backward) {
    (void)op;
    return !backward || stub_of(worker)->backward;
}

static const assay_worker_info *stub_info(const assay_worker *worker) {
    static assay_worker_info info;
    info.memory = stub_of(worker)->host_memory ? ASSAY_MEMORY_HOST : ASSAY_MEMORY_CUDA;
    return &info;
}

static const assay_device_arena *stub_device_arena(assay_worker *worker, size_t bytes, assay_error *error) {
    stub_worker *w = stub_of(worker);
    if (w->no_room) {
        (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "device memory is short");
        return NULL;
    }
    if (w->device.bytes < bytes) {
        free(w->device.address);
        w->device = (assay_device_arena){.address = calloc(bytes, 1), .bytes = bytes};
        w->cached_count = 0;
    }
    return &w->device;
}

/* The answer: forward y[r][c] = x[r] + c; backward g[r] = x[r] + upstream[r][0] + saved[r][1]. */
static void compute(stub_worker *w, const assay_call_spec *spec) {
    float *base = w->device.address;
    const assay_tensor *x = spec->inputs[spec->input_count - 1];
    const assay_tensor *y = spec->outputs[0];
    const float *in = base + x->data_offset / sizeof *in;
    float *out = base + y->data_offset / sizeof *out;
    const size_t rows = (size_t)x->shape[0];
    for (size_t r = 0; r < rows; r++) {
        if (spec->backward) {
            const float *upstream = base + spec->inputs[0]->data_offset / sizeof *base;
            const float *saved = base + spec->inputs[1]->data_offset / sizeof *base;
            out[r] = in[r] + upstream[r * CHANNELS] + saved[r * CHANNELS + 1];
        }
        for (size_t c = 0; c < CHANNELS && !spec->backward; c++) {
            out[r * CHANNELS + c] = in[r] + (float)c;
        }
    }
    if (!w->cached || spec->backward) {
        return;
    }
    for (size_t i = 0; i < w->cached_count; i++) {
        if (w->cache_key[i] == in) {
            memcpy(out, w->cache[i], y->span_bytes);
            return;
        }
    }
    cr_assert_lt(w->cached_count, 64);
    w->cache_key[w->cached_count] = in;
    w->cache[w->cached_count] = malloc(y->span_bytes);
    memcpy(w->cache[w->cached_count++], out, y->span_bytes);
}

static bool unchecked(const assay_call_spec *spec) {
    for (size_t i = 0; i < spec->attr_count; i++) {
        if (strcmp(spec->attrs[i].name, "check_range") == 0) {
            return spec->attrs[i].i == 0;
        }
    }
    return false;
}

static bool stub_call(assay_worker *worker, const assay_call_spec *spec, assay_call_reply *reply,
                      assay_error *error) {
    stub_worker *w = stub_of(worker);
    (void)error;
    w->calls++;
    w->most_repeat = spec->repeat > w->most_repeat ? spec->repeat : w->most_repeat;
    w->graphs += spec->graph > 0;
    w->peaks += spec->peak;
    w->resident += spec->resident;
    *reply = (assay_call_reply){.result = ASSAY_CALL_ANSWERED, .judge_ns = (uint64_t)ROUND_NS};
    if (spec->inputs[0] == NULL) {
        now_ns += ROUND_NS;
        reply->status = ASSAY_INVALID_ARGUMENT;
        if (w->dies_of_null) {
            *reply = (assay_call_reply){.result = ASSAY_CALL_LOST, .reason = "died"};
        }
        return true;
    }
    if (w->out_of_memory || (spec->graph > 0 && (w->no_capture || !unchecked(spec)))) {
        reply->status = w->out_of_memory ? ASSAY_OUT_OF_MEMORY : ASSAY_UNSUPPORTED;
        return true;
    }
    if (!(w->lazy && unchecked(spec))) {
        compute(w, spec);
    }
    const double repeat = spec->repeat == 0 ? 1 : spec->repeat;
    const double work = (double)spec->outputs[0]->span_bytes * w->byte_ns;
    const double graph = repeat * (EMPTY_NS + work);
    const double ordinary = LAUNCH_NS + repeat * (2 * EMPTY_NS + work);
    const double real = spec->graph > 0 ? graph * spec->graph + CAPTURE_NS : ordinary + 1000;
    now_ns += ROUND_NS + real;
    reply->judge_ns = (uint64_t)(ROUND_NS + real);
    reply->worker_ns = (uint64_t)(real * w->lie_single);
    reply->device_ns = (uint64_t)(spec->graph > 0 ? graph * w->lie_graph : ordinary * w->lie_single);
    reply->device_ns = w->no_device_time ? 0 : reply->device_ns;
    reply->peak_bytes = spec->peak ? 4096 : 0;
    return true;
}

static uint64_t stub_clock(void) {
    return (uint64_t)now_ns;
}

static assay_nvml *stub_nvml(const char *library, const char *uuid, int ordinal, char *why, size_t bytes) {
    (void)library;
    return nvml == NULL ? assay_nvml_open("/nonexistent.so", uuid, ordinal, why, bytes)
                        : assay_nvml_open(nvml_path, uuid, ordinal, why, bytes);
}

/* ---- the judge's device ---- */

static const assay_device_info machine = {
    .name = "stub", .ordinal = 0, .l2_bytes = CACHE_BYTES, .memory_bytes = (uint64_t)1 << 40};

static const assay_device_info *plug_info(const assay_device *device) {
    (void)device;
    return &machine;
}

static uint64_t plug_free(assay_device *device) {
    (void)device;
    return (uint64_t)1 << 39;
}

static assay_code plug_create(assay_device *device, size_t bytes, assay_device_arena *arena,
                              assay_error *error) {
    (void)device;
    (void)error;
    *arena = (assay_device_arena){.address = calloc(bytes, 1), .bytes = bytes};
    return ASSAY_CODE_OK;
}

static void plug_destroy(assay_device *device, assay_device_arena *arena) {
    (void)device;
    free(arena->address);
    arena->address = NULL;
}

static assay_code plug_copy(assay_device *device, void *to, const void *from, size_t bytes,
                            assay_error *error) {
    (void)device;
    (void)error;
    memcpy(to, from, bytes);
    return ASSAY_CODE_OK;
}

static assay_code plug_fill(assay_device *device, void *address, size_t bytes, uint32_t pattern, size_t phase,
                            assay_error *error) {
    (void)device;
    (void)error;
    (void)phase;
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        memcpy((char *)address + i, &pattern, 4);
    }
    return ASSAY_CODE_OK;
}

static assay_code plug_floor(assay_device *device, bool graph, unsigned count, double *ns,
                             assay_error *error) {
    (void)device;
    (void)error;
    cr_expect_eq(count, graph ? 100 : 1);
    floors++;
    *ns = graph ? EMPTY_NS : LAUNCH_NS;
    return ASSAY_CODE_OK;
}

static assay_code plug_roof(assay_device *device, assay_device_roof kind, void *address, size_t bytes,
                            double *ns, assay_error *error) {
    (void)device;
    (void)error;
    fills += kind == ASSAY_ROOF_MEMSET;
    reads += kind == ASSAY_ROOF_READ;
    if (kind == ASSAY_ROOF_MEMSET) {
        memset(address, 0, bytes);
    }
    *ns = (double)bytes * memset_byte_ns;
    return ASSAY_CODE_OK;
}

static assay_code plug_judge(assay_device *device, const assay_device_judgment *what, assay_error *error) {
    (void)device;
    (void)error;
    for (uint64_t row = 0; row < what->rows; row += ASSAY_TILE_ROWS) {
        const uint64_t rows =
            what->rows - row < ASSAY_TILE_ROWS ? what->rows - row : (uint64_t)ASSAY_TILE_ROWS;
        assay_tile_add(&what->tiles[row / ASSAY_TILE_ROWS],
                       (const uint32_t *)what->got + row * what->channels, what->channels, 0, (size_t)rows);
    }
    return ASSAY_CODE_OK;
}

static const assay_device_plugin plugin = {.info = plug_info,
                                           .free_bytes = plug_free,
                                           .arena_create = plug_create,
                                           .arena_destroy = plug_destroy,
                                           .upload = plug_copy,
                                           .download = plug_copy,
                                           .fill = plug_fill,
                                           .judge = plug_judge,
                                           .floor = plug_floor,
                                           .roof = plug_roof};

/* ---- the files under test, on that machine ---- */

#define assay_worker_arena        stub_arena
#define assay_worker_offers       stub_offers
#define assay_worker_get_info     stub_info
#define assay_worker_device_arena stub_device_arena
#define assay_worker_call         stub_call
#define assay_clock_ns            stub_clock
#define assay_nvml_open           stub_nvml
/* NOLINTBEGIN(bugprone-suspicious-include) */
#include "timing_device.c"
#include "timing_device_record.c"
#include "timing_device_run.c"
#define DOWNLOAD_BYTES download_bytes
static size_t download_bytes = (size_t)64 << 20; /* smaller in one test, so that digests are used */
#include "timing_device_watch.c"
/* NOLINTEND(bugprone-suspicious-include) */

#endif
