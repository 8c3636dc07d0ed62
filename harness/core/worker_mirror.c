/* worker_mirror.c - the device arena of a worker with CUDA memory: it has the layout of the host arena, and
 * the segments of a call travel there before the call and back after it. So suites see host memory only. */
#include "arena_internal.h"
#include "worker_private.h"

#include <string.h>
#include <unistd.h>

#define LEAST_BYTES  ((size_t)64 << 20)
#define SPARSE_BYTES ((size_t)64 << 20) /* larger segments may be mostly holes of the host arena's file */

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

/* ---- copies: holes of the host arena read as zero and do not travel ---- */

typedef struct extent {
    size_t offset, bytes;
    bool hole;
} extent;

/* The part of [offset, end) that starts at `offset` and is all data or all hole. */
static extent next_extent(const assay_worker *w, size_t offset, size_t end, bool sparse) {
    const int fd = w->arena->fd;
    const off_t data = sparse ? lseek(fd, (off_t)offset, SEEK_DATA) : (off_t)offset;
    if (data < 0 || (size_t)data >= end) {
        return (extent){offset, end - offset, true};
    }
    if ((size_t)data > offset) {
        return (extent){offset, (size_t)data - offset, true};
    }
    const off_t hole = sparse ? lseek(fd, (off_t)offset, SEEK_HOLE) : (off_t)end;
    return (extent){offset, (hole < 0 || (size_t)hole > end ? end : (size_t)hole) - offset, false};
}

static bool upload(assay_worker *w, size_t offset, size_t bytes, assay_error *error) {
    char *to = w->mirror.address;
    for (size_t at = offset; at < offset + bytes;) {
        const extent e = next_extent(w, at, offset + bytes, bytes > SPARSE_BYTES);
        const assay_code code =
            e.hole ? w->plugin->fill(w->device, to + at, e.bytes, 0, 0, error)
                   : w->plugin->upload(w->device, to + at, w->arena->base + at, e.bytes, error);
        if (code != ASSAY_CODE_OK) {
            return false;
        }
        at += e.bytes;
    }
    return true;
}

static bool download(assay_worker *w, size_t offset, size_t bytes, assay_error *error) {
    const char *from = w->mirror.address;
    for (size_t at = offset; at < offset + bytes;) {
        const extent e = next_extent(w, at, offset + bytes, bytes > SPARSE_BYTES);
        uint64_t damage = 1;
        uint64_t first = 0;
        if (e.hole &&
            w->plugin->damage(w->device, from + at, e.bytes, 0, 0, &damage, &first, error) != ASSAY_CODE_OK) {
            return false;
        }
        if (damage > 0 &&
            w->plugin->download(w->device, w->arena->base + at, from + at, e.bytes, error) != ASSAY_CODE_OK) {
            return false;
        }
        at += e.bytes;
    }
    return true;
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
        if (!upload(w, w->mirrored[i].offset, w->mirrored[i].bytes, error)) {
            return false;
        }
    }
    *call = (assay_device_call){.arena_handle = arena->handle,
                                .arena_bytes = arena->bytes,
                                .stream = spec->stream,
                                .delay_us = spec->delay_us,
                                .graph = spec->graph,
                                .peak = spec->peak,
                                .apart = spec->apart};
    return true;
}

bool assay_mirror_receive(assay_worker *w, assay_error *error) {
    for (size_t i = 0; i < w->mirrored_count; i++) {
        if (!download(w, w->mirrored[i].offset, w->mirrored[i].bytes, error)) {
            return false;
        }
    }
    w->mirrored_count = 0;
    return true;
}

bool assay_worker_refresh(assay_worker *worker, const assay_tensor *tensor, assay_error *error) {
    return worker->mirror.address == NULL ||
           download(worker, tensor->segment_offset, tensor->segment_bytes, error);
}
