/* report_arena.c - see the header. */
#include "report_arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_arena_block {
    report_arena_block *next;
    max_align_t data[];
};

void report_arena_free(report_arena *arena) {
    while (arena->blocks != NULL) {
        report_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}

void *report_arena_alloc(report_arena *arena, size_t bytes) {
    report_arena_block *block =
        bytes > SIZE_MAX / 2 ? NULL : calloc(1, sizeof(report_arena_block) + (bytes == 0 ? 1 : bytes));
    if (block == NULL) {
        arena->failed = true;
        return NULL;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

void *report_arena_push(report_arena *arena, void **items, size_t *count, size_t item_bytes) {
    /* The capacity is implied: arrays are full exactly at 0 and at powers of two from 8 on. */
    const bool full = *count == 0 || (*count >= 8 && (*count & (*count - 1)) == 0);
    if (full) {
        const size_t capacity = *count == 0 ? 8 : *count * 2;
        void *grown = report_arena_alloc(arena, capacity * item_bytes);
        if (grown == NULL) {
            return NULL;
        }
        if (*count > 0) {
            memcpy(grown, *items, *count * item_bytes);
        }
        *items = grown;
    }
    return (char *)*items + (*count)++ * item_bytes;
}

const char *report_vprintf(report_arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : report_arena_alloc(arena, (size_t)length + 1);
    if (text != NULL) {
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    } else {
        arena->failed = true;
    }
    va_end(again);
    return text == NULL ? "" : text;
}

const char *report_printf(report_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = report_vprintf(arena, format, args);
    va_end(args);
    return text;
}
