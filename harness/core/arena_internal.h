/* arena_internal.h - what tensor.c needs to know of an arena. Private to harness/core. */
#ifndef ASSAY_ARENA_INTERNAL_H
#define ASSAY_ARENA_INTERNAL_H

#include "tensor.h"

struct assay_arena {
    int fd;
    uint8_t *base;
    size_t bytes;      /* multiple of page_bytes */
    size_t used;       /* bytes handed out, gap page after the last segment included */
    size_t page_bytes; /* of the system */
};

/* Reserves `bytes` (rounded up to pages) with a gap page before and after. Returns false when the arena is
 * full. */
bool assay_arena_take(assay_arena *arena, size_t bytes, size_t *offset, size_t *taken);

#endif
