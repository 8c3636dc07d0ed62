/* memory.c - faults of memory, environment and state that replace the plain computation: reads and writes out
 * of bounds, changed floating point environment, stale copies, rows that look at their neighbours. */
#include "mutant.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static volatile float sink;

/* ---- bounds ---- */
static assay_status over_read(const mutant_args *a) {
    sink = mutant_load(a->timestep, a->rows);
    return mutant_compute(a);
}

static assay_status vector_read(const mutant_args *a) {
    for (int64_t i = a->rows - a->rows % 4; i < a->rows - a->rows % 4 + 4; i++) {
        sink = mutant_load(a->timestep, i);
    }
    return mutant_compute(a);
}

static assay_status under_read(const mutant_args *a) {
    sink = mutant_load(a->timestep, -1);
    return mutant_compute(a);
}

/* Element i of the result, counted from its start, as raw bytes of its dtype. */
static char *result_element(const mutant_args *a, int64_t i) {
    return (char *)assay_data(a->result) + i * (int64_t)(a->result->dtype.bits / 8);
}

static int64_t result_count(const mutant_args *a) {
    return a->backward ? a->rows : a->rows * a->width;
}

static assay_status over_write(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    memset(result_element(a, result_count(a)), 0, a->result->dtype.bits / 8u);
    return status;
}

static assay_status over_write_257(const mutant_args *a) {
    return a->rows == 257 ? over_write(a) : mutant_compute(a);
}

static assay_status under_write(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    memset(result_element(a, -1), 0, a->result->dtype.bits / 8u);
    return status;
}

static assay_status over_restore(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    volatile char *p = result_element(a, result_count(a));
    char same = *p;
    *p = same;
    return status;
}

static assay_status input_halved(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    DLTensor view = *a->timestep;
    for (int64_t i = 0; i < a->rows; i++) {
        mutant_store(&view, i, mutant_load(a->timestep, i) * 0.5f);
    }
    return status;
}

/* The last channel of a forward pass comes from scratch memory that nothing filled. */
static assay_status scratch(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    if (!a->backward) {
        float *unfilled = malloc((size_t)a->rows * sizeof *unfilled);
        for (int64_t r = 0; unfilled != NULL && r < a->rows; r++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): that it is uninitialised is the fault */
            mutant_put(a, r, a->width - 1, ((volatile float *)unfilled)[r]);
        }
        free(unfilled);
    }
    return status;
}

static assay_status aligned_load(const mutant_args *a) {
    const char *base = assay_data(a->timestep);
    if (a->rows >= 8) {
#if defined(__x86_64__)
        volatile __m128 vector = _mm_load_ps((const float *)(const void *)base);
        (void)vector;
#endif
        if (((uintptr_t)base & 15u) != 0) { /* where the processor forgives it */
            (void)raise(SIGBUS);
        }
    }
    return mutant_compute(a);
}

/* ---- floating point environment ---- */
static assay_status flushed(const mutant_args *a) {
#if defined(__x86_64__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u);
    assay_status status = mutant_compute(a);
    _mm_setcsr(before);
    return status;
#else
    return mutant_compute(a);
#endif
}

static assay_status round_up(const mutant_args *a) {
    (void)fesetround(FE_UPWARD);
    assay_status status = mutant_compute(a);
    (void)fesetround(FE_TONEAREST);
    return status;
}

/* ---- rows that look at other rows ---- */
static assay_status with_timesteps(const mutant_args *a,
                                   float (*timestep)(const mutant_args *, int64_t, void *), void *user) {
    float *f = malloc((size_t)a->half * sizeof *f);
    if (f == NULL) {
        return ASSAY_OUT_OF_MEMORY;
    }
    mutant_frequencies(a, f);
    for (int64_t r = 0; r < a->rows; r++) {
        float t = timestep(a, r, user);
        for (int64_t k = 0; k < a->half; k++) {
            mutant_put(a, r, k, mutant_element(a, r, k, false, t, f));
            mutant_put(a, r, a->half + k, mutant_element(a, r, k, true, t, f));
        }
    }
    free(f);
    return ASSAY_OK;
}

static float last_when_close(const mutant_args *a, int64_t row, void *user) {
    float *last = user, t = mutant_load(a->timestep, row);
    if (row == 0 || fabsf(t - *last) >= 0x1p-8f) {
        *last = t;
    }
    return *last;
}

static assay_status neighbour_reuse(const mutant_args *a) {
    float last = 0.0f;
    return a->backward ? mutant_compute(a) : with_timesteps(a, last_when_close, &last);
}

static float centred(const mutant_args *a, int64_t row, void *user) {
    const float *mean = user;
    return (mutant_load(a->timestep, row) - *mean) + *mean;
}

static assay_status neighbour_mean(const mutant_args *a) {
    float sum = 0.0f;
    for (int64_t r = 0; r < a->rows; r++) {
        sum += mutant_load(a->timestep, r);
    }
    float mean = sum / (float)a->rows;
    return a->backward ? mutant_compute(a) : with_timesteps(a, centred, &mean);
}

/* ---- zero rows ---- */
static assay_status block_per_row(const mutant_args *a) {
    volatile int64_t rows = a->rows, block = 1024;
    if (rows == 0) { /* some processors divide by zero in silence */
        (void)raise(SIGFPE);
    }
    block = block / rows; /* NOLINT(clang-analyzer-core.DivideZero): the fault */
    return mutant_compute(a);
}

/* ---- stale and shared state ---- */
static float remembered(const mutant_args *a, int64_t row, void *user) {
    const float *t = user;
    (void)a;
    return t[row];
}

static assay_status pointer_cache(const mutant_args *a) {
    static struct {
        const void *pointer;
        int64_t rows;
        float *t;
    } cache[64];
    if (a->backward) {
        return mutant_compute(a);
    }
    size_t slot = 0;
    while (slot < 63 && cache[slot].t != NULL &&
           (cache[slot].pointer != assay_data(a->timestep) || cache[slot].rows != a->rows)) {
        slot++;
    }
    if (cache[slot].pointer != assay_data(a->timestep) || cache[slot].rows != a->rows) {
        free(cache[slot].t);
        cache[slot].t = malloc((size_t)a->rows * sizeof(float));
        if (cache[slot].t == NULL) {
            return ASSAY_OUT_OF_MEMORY;
        }
        cache[slot].pointer = assay_data(a->timestep);
        cache[slot].rows = a->rows;
        for (int64_t r = 0; r < a->rows; r++) {
            cache[slot].t[r] = mutant_load(a->timestep, r);
        }
    }
    return cache[slot].t == NULL ? ASSAY_INTERNAL : with_timesteps(a, remembered, cache[slot].t);
}

/* Two threads, odd and even rows, one shared timestep and no barrier between setting and using it. */
static volatile float shared_timestep;

typedef struct half_share {
    const mutant_args *args;
    const float *f;
    int64_t first;
} half_share;

static void *racing_rows(void *user) {
    const half_share *s = user;
    for (int64_t r = s->first; r < s->args->rows; r += 2) {
        shared_timestep = mutant_load(s->args->timestep, r);
        (void)sched_yield();
        for (int64_t k = 0; k < s->args->half; k++) {
            mutant_put(s->args, r, k, mutant_element(s->args, r, k, false, shared_timestep, s->f));
            mutant_put(s->args, r, s->args->half + k,
                       mutant_element(s->args, r, k, true, shared_timestep, s->f));
        }
    }
    return NULL;
}

static assay_status race(const mutant_args *a) {
    float *f = malloc((size_t)a->half * sizeof *f);
    if (a->backward || f == NULL) {
        free(f);
        return a->backward ? mutant_compute(a) : ASSAY_OUT_OF_MEMORY;
    }
    mutant_frequencies(a, f);
    half_share even = {a, f, 0}, odd = {a, f, 1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, racing_rows, &odd) != 0) {
        free(f);
        return ASSAY_INTERNAL;
    }
    (void)racing_rows(&even);
    (void)pthread_join(thread, NULL);
    free(f);
    return ASSAY_OK;
}

mutant_body mutant_memory_body(void) {
    static const mutant_body bodies[M_COUNT] = {
        [M_mem_over_read] = over_read,
        [M_mem_vector_read] = vector_read,
        [M_mem_under_read] = under_read,
        [M_mem_over_write] = over_write,
        [M_mem_over_write_257] = over_write_257,
        [M_mem_under_write] = under_write,
        [M_mem_over_restore] = over_restore,
        [M_mem_input_cleaned] = input_halved,
        [M_mem_scratch] = scratch,
        [M_align_crash] = aligned_load,
        [M_env_ftz] = flushed,
        [M_env_round_up] = round_up,
        [M_neighbour_reuse] = neighbour_reuse,
        [M_neighbour_mean] = neighbour_mean,
        [M_empty_crash] = block_per_row,
        [M_det_pointer_cache] = pointer_cache,
        [M_det_race] = race,
    };
    return bodies[mutant_current];
}
