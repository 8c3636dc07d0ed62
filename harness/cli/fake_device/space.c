/* space.c - the fake device in the worker host: maps the arena that the call names. Tensors say kDLCPU, so
 * that candidates of the host can be judged as if they were on a device. Streams are numbers that nobody
 * looks at. */
#include "fake_device.h"

#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct fake_space {
    assay_host_space space; /* first: the table's functions get this address */
    uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES];
    uint8_t *arena;
    size_t bytes;
} fake_space;

static bool fake_bind(assay_host_space *space, const assay_message *call, assay_error *error) {
    fake_space *s = (fake_space *)space;
    uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES];
    if (call->arena == NULL || !assay_hex_parse(call->arena, handle, sizeof handle) ||
        handle[sizeof handle - 1] != '\0') {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "the call names no fake arena");
        return false;
    }
    if (s->arena != NULL && memcmp(handle, s->handle, sizeof handle) == 0) {
        return true;
    }
    if (s->arena != NULL) {
        (void)munmap(s->arena, s->bytes);
        s->arena = NULL;
    }
    const int fd = open((const char *)handle, O_RDWR | O_CLOEXEC);
    s->bytes = (size_t)call->arena_size;
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (at == MAP_FAILED) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "opening the fake arena");
        return false;
    }
    s->arena = at;
    memcpy(s->handle, handle, sizeof handle);
    return true;
}

static void *fake_address(assay_host_space *space, const assay_wire_tensor *tensor) {
    return ((fake_space *)space)->arena + tensor->offset;
}

static bool fake_run(assay_host_space *space, assay_host_run *run, assay_error *error) {
    const int64_t times = run->message->repeat * (run->message->graph > 0 ? run->message->graph : 1);
    const uint64_t start = assay_clock_ns();
    (void)space;
    (void)error;
    run->call->stream = (void *)(uintptr_t)(16 + (unsigned)run->message->stream);
    for (int64_t i = 0; i < times; i++) {
        run->status = run->entry(run->call);
        if (run->status == ASSAY_DEVICE_ERROR) {
            (void)assay_fail(error, ASSAY_CODE_INTERNAL, "fake error after the call");
            return false;
        }
        if (run->status != ASSAY_OK) {
            break;
        }
    }
    run->ns = assay_clock_ns() - start;
    run->device_ns = run->message->graph > 0 ? run->ns / (uint64_t)run->message->graph : run->ns;
    return true;
}

static void fake_close(assay_host_space *space) {
    fake_space *s = (fake_space *)space;
    if (s->arena != NULL) {
        (void)munmap(s->arena, s->bytes);
    }
    free(s);
}

assay_host_space *fake_space_open(int ordinal, size_t page_bytes, assay_error *error) {
    fake_space *s = calloc(1, sizeof *s);
    (void)page_bytes;
    if (s == NULL || ordinal != 0) {
        (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "no fake device %d", ordinal);
        free(s);
        return NULL;
    }
    s->space = (assay_host_space){{kDLCPU, 0}, fake_bind, fake_address, fake_run, fake_close};
    return &s->space;
}
