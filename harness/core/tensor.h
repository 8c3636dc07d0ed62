/* tensor.h - an arena is the memory that one worker shares with the judge: one memfd. The judge maps all of
 * it; the worker host maps only the segments that a call names, so that every segment is followed (and
 * preceded) by an unmapped page in the worker's process.
 *
 * Layout of a segment inside the arena (all page aligned):  [gap page][zone .. data .. zone][gap page]
 * Placement decides where inside the mapped pages the data sits:
 *   MIDDLE  both guard zones are at least ASSAY_ZONE_BYTES (a small write beyond the tensor hits a zone, and
 * the judge sees it); AT_END  the last data byte is the last mapped byte (an over-read or over-write by one
 * byte is SIGSEGV); AT_START the first data byte is the first mapped byte (an under-read is SIGSEGV). */
#ifndef ASSAY_TENSOR_H
#define ASSAY_TENSOR_H

#include "dtype.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_ZONE_BYTES 256u
#define ASSAY_MAX_DIMS   4

typedef struct assay_arena assay_arena;

typedef enum assay_placement { ASSAY_PLACE_MIDDLE, ASSAY_PLACE_AT_END, ASSAY_PLACE_AT_START } assay_placement;

/* A tensor in an arena, as the judge sees it. Strides are in elements. `data` is the judge's address of
 * element 0. */
typedef struct assay_tensor {
    assay_dtype dtype;
    int ndim;
    int64_t shape[ASSAY_MAX_DIMS];
    int64_t strides[ASSAY_MAX_DIMS];
    void *data;
    size_t data_offset;    /* arena offset of element 0 */
    size_t span_bytes;     /* bytes from element 0 to the end of the last element */
    size_t segment_offset; /* arena offset of the first mapped page */
    size_t segment_bytes;  /* mapped pages */
} assay_tensor;

/* Creates an arena of at most `bytes` (sparse; pages cost nothing until touched). */
assay_code assay_arena_create(size_t bytes, assay_arena **arena, assay_error *error);
void assay_arena_destroy(assay_arena *arena);
int assay_arena_fd(const assay_arena *arena);
size_t assay_arena_bytes(const assay_arena *arena);
/* Forgets all tensors (their memory is returned to the system when `release` is true). */
void assay_arena_reset(assay_arena *arena, bool release);

/* What to allocate. strides NULL = contiguous. `misalign_bytes` moves the base address of a MIDDLE placement
 * off a 64-byte boundary (+4, +8, +12 ...). */
typedef struct assay_tensor_spec {
    assay_dtype dtype;
    int ndim;
    int64_t shape[ASSAY_MAX_DIMS];
    const int64_t *strides;
    assay_placement placement;
    size_t misalign_bytes;
} assay_tensor_spec;

/* Allocates; memory content is undefined. Refuses negative sizes, overflow, and a full arena. */
assay_code assay_tensor_alloc(assay_arena *arena, const assay_tensor_spec *spec, assay_tensor *tensor,
                              assay_error *error);

/* Fills data and zones of the whole segment with a 32-bit pattern: the byte at arena offset o gets byte o mod
 * 4 of it. Used for poison: two different NaN patterns. */
void assay_tensor_poison(const assay_tensor *tensor, uint32_t pattern);
/* Bytes of the segment outside the elements' span that no longer hold `pattern`; *first gets the place
 * of the one nearest to the data: -1 is the byte before its start, 0 the byte after its end; before wins over
 * after. */
size_t assay_tensor_zone_damage(const assay_tensor *tensor, uint32_t pattern, int64_t *first);
/* Elements whose 32-bit words (or 16-bit halves) still hold `pattern`: probably unwritten. */
size_t assay_tensor_count_pattern(const assay_tensor *tensor, uint32_t pattern);
/* SHA-256 over the whole mapped segment. */
void assay_tensor_hash(const assay_tensor *tensor, uint8_t hash[32]);
/* Copies between a strided arena tensor and a contiguous buffer of the same dtype. */
void assay_tensor_put(const assay_tensor *tensor, const void *contiguous);
void assay_tensor_get(const assay_tensor *tensor, void *contiguous);
int64_t assay_tensor_elements(const assay_tensor *tensor);

#endif
