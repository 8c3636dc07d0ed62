/* tensor.c - tensors in an arena: placement against guard pages, poison, zones, strided copies.
 *
 * Patterns are addressed by arena offset: the byte at offset o holds byte (o mod 4) of the pattern. So zones
 * and odd-sized elements need no special case. Nothing here interprets element values. */
#include "tensor.h"
#include "arena_internal.h"

#include <sodium/crypto_hash_sha256.h>
#include <string.h>

#define BASE_ALIGN ((size_t)64)
#define LEAD_BYTES (((size_t)ASSAY_ZONE_BYTES + BASE_ALIGN - 1) / BASE_ALIGN * BASE_ALIGN)

static uint8_t *segment_base(const assay_tensor *t) {
    return (uint8_t *)t->data - (t->data_offset - t->segment_offset);
}

/* Elements and span of a shape; false when a size is negative or something overflows. */
static bool measure(const assay_tensor_spec *spec, const int64_t *strides, size_t *span_bytes) {
    int64_t last = 0;
    int64_t elements = 1;
    int64_t bytes = 0;
    for (int d = 0; d < spec->ndim; d++) {
        int64_t reach = 0;
        if (spec->shape[d] < 0 || strides[d] < 0 ||
            __builtin_mul_overflow(elements, spec->shape[d], &elements)) {
            return false;
        }
        if (spec->shape[d] > 0 && (__builtin_mul_overflow(spec->shape[d] - 1, strides[d], &reach) ||
                                   __builtin_add_overflow(last, reach, &last))) {
            return false;
        }
    }
    if (elements == 0) {
        *span_bytes = 0;
        return true;
    }
    if (__builtin_add_overflow(last, 1, &last) ||
        __builtin_mul_overflow(last, (int64_t)assay_dtype_bytes(spec->dtype), &bytes)) {
        return false;
    }
    *span_bytes = (size_t)bytes;
    return true;
}

/* Row-major strides; false on overflow. Sizes of 0 count as 1 so that strides stay usable. */
static bool contiguous_strides(const assay_tensor_spec *spec, int64_t *strides) {
    int64_t step = 1;
    for (int d = spec->ndim - 1; d >= 0; d--) {
        strides[d] = step;
        if (__builtin_mul_overflow(step, spec->shape[d] > 1 ? spec->shape[d] : 1, &step)) {
            return false;
        }
    }
    return true;
}

assay_code assay_tensor_alloc(assay_arena *arena, const assay_tensor_spec *spec, assay_tensor *tensor,
                              assay_error *error) {
    assay_tensor t = {.dtype = spec->dtype, .ndim = spec->ndim};
    if (spec->ndim < 0 || spec->ndim > ASSAY_MAX_DIMS || (unsigned)spec->dtype >= ASSAY_DTYPE_COUNT) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "tensor: rank %d or dtype %d is not supported",
                          spec->ndim, (int)spec->dtype);
    }
    bool ok = true;
    if (spec->strides == NULL) {
        ok = contiguous_strides(spec, t.strides);
    } else {
        memcpy(t.strides, spec->strides, (size_t)spec->ndim * sizeof *t.strides);
    }
    memcpy(t.shape, spec->shape, (size_t)spec->ndim * sizeof *t.shape);
    if (!ok || !measure(spec, t.strides, &t.span_bytes) || t.span_bytes > SIZE_MAX / 4 ||
        spec->misalign_bytes >= arena->page_bytes) {
        return assay_fail(error, ASSAY_CODE_INTERNAL,
                          "tensor: sizes and strides must not be negative and must fit into 63 bits, "
                          "misalign_bytes must be below a page");
    }
    const size_t lead = spec->placement == ASSAY_PLACE_MIDDLE ? LEAD_BYTES + spec->misalign_bytes : 0;
    const size_t tail = spec->placement == ASSAY_PLACE_MIDDLE ? ASSAY_ZONE_BYTES : 0;
    const size_t need = lead + t.span_bytes + tail;
    if (!assay_arena_take(arena, need, &t.segment_offset, &t.segment_bytes)) {
        return assay_fail(error, ASSAY_CODE_INTERNAL,
                          "tensor: the arena of %zu bytes is full (%zu used, %zu needed)", arena->bytes,
                          arena->used, need);
    }
    t.data_offset = t.segment_offset + lead;
    if (spec->placement == ASSAY_PLACE_AT_END) {
        t.data_offset = t.segment_offset + t.segment_bytes - t.span_bytes;
    }
    t.data = arena->base + t.data_offset;
    *tensor = t;
    return ASSAY_CODE_OK;
}

/* ---- patterns ---- */

static uint8_t pattern_byte(uint32_t pattern, size_t offset) {
    return (uint8_t)(pattern >> (8 * (offset & 3)));
}

#define BLOCK_BYTES 4096u

static void pattern_block(uint32_t pattern, uint8_t block[BLOCK_BYTES]) {
    for (size_t i = 0; i < BLOCK_BYTES; i++) {
        block[i] = pattern_byte(pattern, i);
    }
}

void assay_tensor_poison(const assay_tensor *tensor, uint32_t pattern) {
    uint8_t block[BLOCK_BYTES];
    uint8_t *base = segment_base(tensor);
    pattern_block(pattern, block);
    for (size_t at = 0; at < tensor->segment_bytes; at += BLOCK_BYTES) {
        memcpy(base + at, block, BLOCK_BYTES); /* a segment is whole pages, a page is whole blocks */
    }
}

/* Bytes of [begin, end), relative to the segment, that differ from the pattern; *first gets the first, *last
 * the last. */
static size_t scan(const uint8_t *base, const uint8_t *block, size_t begin, size_t end, size_t *first,
                   size_t *last) {
    size_t bad = 0;
    for (size_t at = begin; at < end;) {
        const size_t phase = at % BLOCK_BYTES;
        const size_t room = BLOCK_BYTES - phase;
        const size_t n = end - at < room ? end - at : room;
        if (memcmp(base + at, block + phase, n) != 0) {
            for (size_t i = 0; i < n; i++) {
                if (base[at + i] != block[phase + i]) {
                    *first = bad == 0 ? at + i : *first;
                    *last = at + i;
                    bad++;
                }
            }
        }
        at += n;
    }
    return bad;
}

size_t assay_tensor_zone_damage(const assay_tensor *tensor, uint32_t pattern, int64_t *first) {
    uint8_t block[BLOCK_BYTES];
    const uint8_t *base = segment_base(tensor);
    const size_t start = tensor->data_offset - tensor->segment_offset;
    const size_t end = start + tensor->span_bytes;
    size_t low = 0, near_before = 0, near_after = 0, unused = 0;
    pattern_block(pattern, block);
    const size_t before = scan(base, block, 0, start, &low, &near_before);
    const size_t after = scan(base, block, end, tensor->segment_bytes, &near_after, &unused);
    if (first != NULL && before + after > 0) {
        /* The one nearest to the data says most: -1 is the byte just before it, 0 the byte just after its
         * end. */
        *first = before > 0 ? (int64_t)near_before - (int64_t)start : (int64_t)(near_after - end);
    }
    return before + after;
}

/* ---- elements ---- */

int64_t assay_tensor_elements(const assay_tensor *tensor) {
    int64_t n = 1;
    for (int d = 0; d < tensor->ndim; d++) {
        n *= tensor->shape[d];
    }
    return n;
}

/* Shapes of rank < 4 are treated as rank 4 with leading ones; `row` walks the three outer dimensions. */
typedef struct walk {
    int64_t shape[ASSAY_MAX_DIMS];
    int64_t strides[ASSAY_MAX_DIMS];
} walk;

static walk walk_of(const assay_tensor *t) {
    walk w;
    for (int d = 0; d < ASSAY_MAX_DIMS; d++) {
        const int from = d - (ASSAY_MAX_DIMS - t->ndim);
        w.shape[d] = from < 0 ? 1 : t->shape[from];
        w.strides[d] = from < 0 ? 0 : t->strides[from];
    }
    return w;
}

/* Calls fn(context, address of the first element of a row, flat index of that row) for every innermost row.
 */
static void walk_rows(const assay_tensor *t, const walk *w, void (*fn)(void *, uint8_t *, size_t),
                      void *context) {
    const int64_t size = (int64_t)assay_dtype_bytes(t->dtype);
    size_t row = 0;
    if (assay_tensor_elements(t) == 0) {
        return;
    }
    for (int64_t i = 0; i < w->shape[0]; i++) {
        for (int64_t j = 0; j < w->shape[1]; j++) {
            for (int64_t k = 0; k < w->shape[2]; k++) {
                const int64_t at = i * w->strides[0] + j * w->strides[1] + k * w->strides[2];
                fn(context, (uint8_t *)t->data + at * size, row++);
            }
        }
    }
}

typedef struct copy_context {
    uint8_t *flat;     /* contiguous side */
    int64_t n, stride; /* of the innermost dimension, elements */
    size_t size;       /* bytes of an element */
    bool into_arena;
} copy_context;

static void copy_row(void *context, uint8_t *row, size_t index) {
    const copy_context *c = context;
    uint8_t *flat = c->flat + index * (size_t)c->n * c->size;
    if (c->stride == 1) {
        memcpy(c->into_arena ? row : flat, c->into_arena ? flat : row, (size_t)c->n * c->size);
        return;
    }
    for (int64_t i = 0; i < c->n; i++) {
        uint8_t *a = row + (size_t)(i * c->stride) * c->size;
        uint8_t *b = flat + (size_t)i * c->size;
        memcpy(c->into_arena ? a : b, c->into_arena ? b : a, c->size);
    }
}

static void copy(const assay_tensor *t, uint8_t *flat, bool into_arena) {
    const walk w = walk_of(t);
    copy_context c = {flat, w.shape[3], w.strides[3], assay_dtype_bytes(t->dtype), into_arena};
    walk_rows(t, &w, copy_row, &c);
}

void assay_tensor_put(const assay_tensor *tensor, const void *contiguous) {
    copy(tensor, (uint8_t *)(uintptr_t)contiguous, true);
}

void assay_tensor_get(const assay_tensor *tensor, void *contiguous) {
    copy(tensor, contiguous, false);
}

typedef struct count_context {
    const assay_tensor *t;
    int64_t n, stride;
    size_t size, count;
    uint32_t pattern;
} count_context;

static void count_row(void *context, uint8_t *row, size_t index) {
    count_context *c = context;
    const size_t start = c->t->data_offset + (size_t)(row - (uint8_t *)c->t->data);
    (void)index;
    for (int64_t i = 0; i < c->n; i++) {
        const size_t at = (size_t)(i * c->stride) * c->size;
        size_t b = 0;
        while (b < c->size && row[at + b] == pattern_byte(c->pattern, start + at + b)) {
            b++;
        }
        c->count += b == c->size;
    }
}

size_t assay_tensor_count_pattern(const assay_tensor *tensor, uint32_t pattern) {
    const walk w = walk_of(tensor);
    count_context c = {tensor, w.shape[3], w.strides[3], assay_dtype_bytes(tensor->dtype), 0, pattern};
    walk_rows(tensor, &w, count_row, &c);
    return c.count;
}

void assay_tensor_hash(const assay_tensor *tensor, uint8_t hash[32]) {
    (void)crypto_hash_sha256(hash, segment_base(tensor), tensor->segment_bytes);
}
