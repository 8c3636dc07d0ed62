/* host_memory.c - host memory space: a PROT_NONE reservation as large as the arena, in which only the
 * segments of the current call are mapped, each at its own offset. Everything between them faults. */
#include "host_space.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_SEGMENTS (2 * ASSAY_MAX_TENSORS)

typedef struct segment {
    size_t offset, bytes;
} segment;

typedef struct host_memory {
    assay_host_space space; /* first: the table's functions get this address */
    int fd;
    size_t bytes, page_bytes;
    uint8_t *base;
    segment mapped[MAX_SEGMENTS];
    size_t mapped_count;
} host_memory;

static bool has(const segment *list, size_t n, segment s) {
    for (size_t i = 0; i < n; i++) {
        if (list[i].offset == s.offset && list[i].bytes == s.bytes) {
            return true;
        }
    }
    return false;
}

/* Collects the distinct segments of one list of tensors. */
static bool collect(const host_memory *m, const assay_wire_tensor *tensors, size_t n, segment *list,
                    size_t *count, assay_error *error) {
    for (size_t i = 0; i < n; i++) {
        const segment s = {(size_t)tensors[i].segment_offset, (size_t)tensors[i].segment_bytes};
        if (tensors[i].null) {
            continue;
        }
        if (s.bytes == 0 || s.offset % m->page_bytes != 0 || s.bytes % m->page_bytes != 0 ||
            s.offset > m->bytes || s.bytes > m->bytes - s.offset) {
            (void)assay_fail(error, ASSAY_CODE_USAGE,
                             "segment [%zu,%zu] is not a range of whole pages of the arena", s.offset,
                             s.bytes);
            return false;
        }
        if (has(list, *count, s)) {
            continue;
        }
        for (size_t j = 0; j < *count; j++) {
            if (s.offset < list[j].offset + list[j].bytes && list[j].offset < s.offset + s.bytes) {
                (void)assay_fail(error, ASSAY_CODE_USAGE, "segments of one call must be the same or apart");
                return false;
            }
        }
        list[(*count)++] = s;
    }
    return true;
}

static bool host_bind(assay_host_space *space, const assay_message *call, assay_error *error) {
    host_memory *m = (host_memory *)space;
    segment want[MAX_SEGMENTS];
    size_t count = 0;
    if (!collect(m, call->inputs, call->input_count, want, &count, error) ||
        !collect(m, call->outputs, call->output_count, want, &count, error)) {
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->mapped_count; i++) {
        const segment s = m->mapped[i];
        if (has(want, count, s)) {
            m->mapped[kept++] = s;
            continue;
        }
        const void *at = mmap(m->base + s.offset, s.bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (at == MAP_FAILED) {
            (void)assay_fail(error, ASSAY_CODE_INTERNAL, "unmapping a segment: %s", strerror(errno));
            return false;
        }
    }
    m->mapped_count = kept;
    for (size_t i = 0; i < count; i++) {
        if (has(m->mapped, kept, want[i])) {
            continue;
        }
        const void *at = mmap(m->base + want[i].offset, want[i].bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, m->fd, (off_t)want[i].offset);
        if (at == MAP_FAILED) {
            (void)assay_fail(error, ASSAY_CODE_INTERNAL, "mapping a segment: %s", strerror(errno));
            return false;
        }
        m->mapped[m->mapped_count++] = want[i];
    }
    return true;
}

static void *host_address(assay_host_space *space, const assay_wire_tensor *tensor) {
    return ((host_memory *)space)->base + tensor->offset;
}

static bool host_run(assay_host_space *space, assay_host_run *run, assay_error *error) {
    const uint64_t start = assay_clock_ns();
    (void)space;
    (void)error;
    for (int64_t i = 0; i < run->message->repeat; i++) {
        run->status = run->entry(run->call);
        if (run->status != ASSAY_OK) {
            break;
        }
    }
    run->ns = assay_clock_ns() - start;
    return true;
}

static void host_close(assay_host_space *space) {
    host_memory *m = (host_memory *)space;
    (void)munmap(m->base, m->bytes);
    free(m);
}

assay_host_space *assay_host_space_open(int fd, size_t bytes, size_t page_bytes, assay_error *error) {
    host_memory *m = calloc(1, sizeof *m);
    if (m == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
        return NULL;
    }
    m->space = (assay_host_space){{kDLCPU, 0}, host_bind, host_address, host_run, host_close};
    m->fd = fd;
    m->bytes = bytes;
    m->page_bytes = page_bytes;
    m->base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->base == MAP_FAILED) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "reserving %zu bytes of addresses: %s", bytes,
                         strerror(errno));
        free(m);
        return NULL;
    }
    return &m->space;
}
