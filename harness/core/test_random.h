/* test_random.h - test data: splitmix64, so that a failure comes back on every machine and C library. */
#ifndef ASSAY_TEST_RANDOM_H
#define ASSAY_TEST_RANDOM_H

#include "digest_private.h"

#define DRAW_MAX 0x7fffffff

static uint64_t draw_state = 1;

static inline void draw_seed(uint64_t seed) {
    draw_state = assay_splitmix64(seed);
}

/* 0 .. DRAW_MAX */
static inline int draw(void) {
    draw_state += 1;
    return (int)(assay_splitmix64(draw_state) >> 33);
}

#endif
