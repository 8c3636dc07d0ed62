/* worker_mirror.c - the device arena of a worker with CUDA memory: it has the layout of the host arena, and
 * the segments of a call travel there before the call and back after it. So suites see host memory only. */
#include "arena_internal.h"
#include "worker_private.h"

#include <string.h>

#define LEAST_BYTES ((size_t)64 << 20)

const assay_device_arena *assay_worker_device_arena(assay_worker *worker, size_t bytes, assay_error *error) {
    assay_worker *w = worker;
    if (w->plugin == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "no device: the run is on the host");
        return NULL;
    }
    if (w->mirror.address != NULL && w->mirror.bytes >= bytes) {
        return &w->mirror;
    }
    size_t want = LEAST_BYTES;
    while (want < bytes) {
        want *= 2;
    }
    want = want > assay_arena_bytes(w->arena) ? assay_arena_bytes(w->arena) : want;
    if (want < bytes) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "device arena: %zu bytes are beyond the host arena",
                         bytes);
        return NULL;
    }
    if (w->mirror.address != NULL) {
        w->retired[w->retired_count++] = w->mirror; /* sizes double, so there are never many */
        memset(&w->mirror, 0, sizeof w->mirror);
    }
    return w->plugin->arena_create(w->device, want, &w->mirror, error) == ASSAY_CODE_OK ? &w->mirror : NULL;
}

void assay_mirror_release(assay_worker *w, bool all) {
    while (w->retired_count > 0) {
        w->plugin->arena_destroy(w->device, &w->retired[--w->retired_count]);
    }
    if (all && w->mirror.address != NULL) {
        w->plugin->arena_destroy(w->device, &w->mirror);
        memset(&w->mirror, 0, sizeof w->mirror);
    }
}

static void collect(assay_worker *w, const assay_tensor *const *tensors, size_t n, size_t *end) {
    for (size_t i = 0; i < n; i++) {
        const assay_tensor *t = tensors[i];
        bool known = t == NULL;
        for (size_t j = 0; !known && j < w->mirrored_count; j++) {
            known = w->mirrored[j].offset == t->segment_offset && w->mirrored[j].bytes == t->segment_bytes;
        }
        if (!known) {
            w->mirrored[w->mirrored_count].offset = t->segment_offset;
            w->mirrored[w->mirrored_count++].bytes = t->segment_bytes;
        }
        if (t != NULL && t->segment_offset + t->segment_bytes > *end) {
            *end = t->segment_offset + t->segment_bytes;
        }
    }
}

bool assay_mirror_send(assay_worker *w, const assay_call_spec *spec, assay_device_call *call,
                       assay_error *error) {
    size_t end = 1;
    w->mirrored_count = 0;
    collect(w, spec->inputs, spec->input_count, &end);
    collect(w, spec->outputs, spec->output_count, &end);
    if (spec->resident) {
        w->mirrored_count = 0;
    }
    const assay_device_arena *arena = assay_worker_device_arena(w, end, error);
    if (arena == NULL) {
        return false;
    }
    for (size_t i = 0; i < w->mirrored_count; i++) {
        const size_t offset = w->mirrored[i].offset;
        if (w->plugin->upload(w->device, (char *)arena->address + offset, w->arena->base + offset,
                              w->mirrored[i].bytes, error) != ASSAY_CODE_OK) {
            return false;
        }
    }
    *call = (assay_device_call){.arena_handle = arena->handle,
                                .arena_bytes = arena->bytes,
                                .stream = spec->stream,
                                .delay_us = spec->delay_us,
                                .graph = spec->graph,
                                .peak = spec->peak};
    return true;
}

bool assay_mirror_receive(assay_worker *w, assay_error *error) {
    for (size_t i = 0; i < w->mirrored_count; i++) {
        const size_t offset = w->mirrored[i].offset;
        if (w->plugin->download(w->device, w->arena->base + offset, (const char *)w->mirror.address + offset,
                                w->mirrored[i].bytes, error) != ASSAY_CODE_OK) {
            return false;
        }
    }
    w->mirrored_count = 0;
    return true;
}

bool assay_worker_refresh(assay_worker *worker, const assay_tensor *tensor, assay_error *error) {
    const size_t offset = tensor->segment_offset;
    return worker->mirror.address == NULL ||
           worker->plugin->download(worker->device, worker->arena->base + offset,
                                    (const char *)worker->mirror.address + offset, tensor->segment_bytes,
                                    error) == ASSAY_CODE_OK;
}
