/* paths.c - faults of the kind "the same row, another path": which elements take it, and which are not
 * written at all. The other path computes in FP64 and rounds once: accurate, but other bits in about a third
 * of all elements. */
#include "mutant.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t calls; /* of this process */
static pthread_t first_thread;

void mutant_count_call(void) {
    if (calls == 0) {
        first_thread = pthread_self();
    }
    calls++;
}

/* A channel drawn from `seed`. */
static bool chosen(const mutant_args *a, int64_t k, uint64_t seed) {
    return (uint64_t)k == (seed * 0x9e3779b97f4a7c15u >> 33) % (uint64_t)a->half;
}

static uint64_t now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t draw(void) {
    static uint32_t state;
    if (state == 0) {
        state = (uint32_t)now_ns() | 1u;
    }
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static bool by_history(const mutant_args *a, int64_t k) {
    switch (mutant_current) {
    case M_det_random_ulp:
        return draw() % 97u == 0;
    case M_grad_random_ulp:
        return a->backward && draw() % 3u == 0;
    case M_det_time:
        return chosen(a, k, now_ns() >> 10);
    case M_det_first_call:
        return calls == 1;
    case M_det_every_third:
        return calls % 3 == 0;
    case M_det_every_twentieth:
        return calls % 20 == 0;
    case M_det_every_hundredth:
        return calls % 100 == 0;
    case M_det_process:
        return chosen(a, k, (uint64_t)getpid());
    case M_det_thread:
        return !pthread_equal(first_thread, pthread_self());
    case M_det_accumulates:
        return chosen(a, k, calls);
    default:
        return false;
    }
}

bool mutant_other_path(const mutant_args *args, int64_t row, int64_t k) {
    switch (mutant_current) {
    case M_batch_256:
        return args->rows >= 256;
    case M_grad_batch_256:
        return args->backward && args->rows >= 256;
    case M_batch_one:
        return args->rows == 1;
    case M_batch_tail_4:
        return row >= args->rows - args->rows % 4;
    case M_position_first:
        return row == 0;
    case M_position_odd:
        return row % 2 != 0;
    case M_align_path:
        return ((uintptr_t)assay_data(args->timestep) & 15u) != 0;
    case M_width_tail_8:
        return k >= args->half - args->half % 8;
    default:
        return by_history(args, k);
    }
}

bool mutant_skips(const mutant_args *args, int64_t row, int64_t column) {
    bool last_row = row == args->rows - 1;
    switch (mutant_current) {
    case M_mem_last_element:
        return last_row && column == args->width - 1;
    case M_mem_last_row:
        return last_row && args->rows > 1;
    case M_mem_tail_8:
        return args->rows > 8 && row >= args->rows - args->rows % 8;
    case M_width_over_256:
        return column >= 256;
    case M_rows_65536:
        return row >= 65536;
    default:
        return false;
    }
}
