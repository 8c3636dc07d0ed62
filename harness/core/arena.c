/* arena.c - the memory that one worker shares with the judge: one sealed memfd and a bump allocator.
 *
 * The seals forbid a worker to shrink the file (which would kill the judge with SIGBUS) or to grow it. */
#include "arena_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

assay_code assay_arena_create(size_t bytes, assay_arena **arena, assay_error *error) {
    const char *step = "allocation";
    assay_arena *a = calloc(1, sizeof *a);
    *arena = NULL;
    if (a == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "arena: out of memory");
    }
    a->fd = -1;
    a->base = MAP_FAILED;
    a->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0 || bytes > SIZE_MAX / 4) {
        free(a);
        return assay_fail(error, ASSAY_CODE_USAGE, "arena: %zu bytes is not a usable size", bytes);
    }
    a->bytes = round_up(bytes, a->page_bytes);
    step = "memfd_create";
    a->fd = memfd_create("assay-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (a->fd < 0) {
        goto fail;
    }
    step = "ftruncate";
    if (ftruncate(a->fd, (off_t)a->bytes) != 0) {
        goto fail;
    }
    step = "sealing";
    if (fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        goto fail;
    }
    step = "mmap";
    a->base = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, a->fd, 0);
    if (a->base == MAP_FAILED) {
        goto fail;
    }
    *arena = a;
    return ASSAY_CODE_OK;
fail:
    (void)assay_fail(error, ASSAY_CODE_INTERNAL, "arena of %zu bytes: %s: %s", a->bytes, step,
                     strerror(errno));
    assay_arena_destroy(a);
    return ASSAY_CODE_INTERNAL;
}

void assay_arena_destroy(assay_arena *arena) {
    if (arena == NULL) {
        return;
    }
    if (arena->base != MAP_FAILED) {
        (void)munmap(arena->base, arena->bytes);
    }
    if (arena->fd >= 0) {
        (void)close(arena->fd);
    }
    free(arena);
}

int assay_arena_fd(const assay_arena *arena) {
    return arena->fd;
}

size_t assay_arena_bytes(const assay_arena *arena) {
    return arena->bytes;
}

void assay_arena_reset(assay_arena *arena, bool release) {
    arena->used = 0;
    if (release) {
        /* The whole file, not only what was handed out: a worker may have touched other pages. */
        (void)fallocate(arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)arena->bytes);
    }
}

bool assay_arena_take(assay_arena *arena, size_t bytes, size_t *offset, size_t *taken) {
    if (bytes > arena->bytes) {
        return false;
    }
    const size_t pages = round_up(bytes == 0 ? 1 : bytes, arena->page_bytes);
    const size_t start = arena->used == 0 ? arena->page_bytes : arena->used; /* `used` ends with a gap page */
    if (start > arena->bytes || pages > arena->bytes - start ||
        arena->bytes - start - pages < arena->page_bytes) {
        return false;
    }
    *offset = start;
    *taken = pages;
    arena->used = start + pages + arena->page_bytes;
    return true;
}
