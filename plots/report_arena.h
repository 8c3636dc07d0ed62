/* report_arena.h - memory and text of one rendering: everything is freed at once. A failed allocation is
 * remembered in `failed` and yields empty text, so that callers check once, at the end. Never writes files.
 */
#ifndef ASSAY_REPORT_ARENA_H
#define ASSAY_REPORT_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct report_arena_block report_arena_block;

typedef struct report_arena {
    report_arena_block *blocks;
    bool failed; /* an allocation failed; what was built is incomplete and must not be written */
} report_arena;

void report_arena_free(report_arena *arena);
/* Zeroed memory, aligned for any type; NULL when out of memory (failed is set). */
void *report_arena_alloc(report_arena *arena, size_t bytes);
/* Room for one more item in an array of `count` items that grows by doubling; NULL when out of memory. The
 * slot is zeroed and *count is increased. *items may move. */
void *report_arena_push(report_arena *arena, void **items, size_t *count, size_t item_bytes);

/* Formatted text; "" when out of memory. */
const char *report_printf(report_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *report_vprintf(report_arena *arena, const char *format, va_list args);

/* A copy of foreign text that is safe in every format: valid UTF-8 without control characters or characters
 * that XML 1.0 forbids. Newlines become U+2424, tabs a space, everything else unusable U+FFFD. NULL becomes
 * "". */
const char *report_clean(report_arena *arena, const char *text, size_t bytes);

/* ---- numbers as a reader wants them ---- */
const char *report_count_text(report_arena *arena, uint64_t value);  /* 1,065,353,217 */
const char *report_short_count(report_arena *arena, uint64_t value); /* 272.7 G; exact below 100,000 */
const char *report_share_text(report_arena *arena, uint64_t part,
                              uint64_t whole); /* 82.7 %; <0.1 % and >99.9 % are never rounded away */
const char *report_real_text(report_arena *arena, double value);  /* four significant digits; NaN, infinity */
const char *report_ns_text(report_arena *arena, double ns);       /* 12.3 µs */
const char *report_bits_text(report_arena *arena, uint32_t bits); /* 0x3f22f983 */
const char *report_float_text(report_arena *arena, uint32_t bits);  /* 0x3f22f983 (0.636619747) */
const char *report_bytes_text(report_arena *arena, uint64_t bytes); /* 1.5 MiB */
/* "2026-12-01 03:04:05 UTC" */
const char *report_time_text(report_arena *arena, int64_t wall_ms);
/* "not_verified" as words: "not verified". */
const char *report_words(report_arena *arena, const char *term);

#endif
