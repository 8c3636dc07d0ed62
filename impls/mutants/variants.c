/* variants.c - correct implementations of another shape: other loop orders, blocks, threads, a copy, a cache
 * done right. Their bits are the promised ones, since every element is computed by the same sequence of
 * operations. */
#include "mutant.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs rows [first, last) of either direction. */
static bool rows(const mutant_args *a, const float *f, int64_t first, int64_t last) {
    if (a->backward) {
        return mutant_backward_rows(a, f, first, last);
    }
    mutant_forward_rows(a, f, first, last);
    return true;
}

/* Calls `body` with the frequencies of the call. */
static assay_status with_frequencies(const mutant_args *a, bool (*body)(const mutant_args *, const float *)) {
    float *f = malloc((size_t)(a->half > 0 ? a->half : 1) * sizeof *f);
    if (f == NULL) {
        return ASSAY_OUT_OF_MEMORY;
    }
    mutant_frequencies(a, f);
    bool done = body(a, f);
    free(f);
    return done ? ASSAY_OK : ASSAY_OUT_OF_MEMORY;
}

static bool blocks(const mutant_args *a, const float *f) {
    bool done = true;
    for (int64_t first = 0; done && first < a->rows; first += 48) {
        done = rows(a, f, first, first + 48 < a->rows ? first + 48 : a->rows);
    }
    return done;
}

static bool backwards(const mutant_args *a, const float *f) {
    bool done = true;
    for (int64_t row = a->rows; done && row-- > 0;) {
        done = rows(a, f, row, row + 1);
    }
    return done;
}

static bool channels_outside(const mutant_args *a, const float *f) {
    if (a->backward) {
        return rows(a, f, 0, a->rows);
    }
    for (int64_t k = 0; k < a->half; k++) {
        for (int64_t r = 0; r < a->rows; r++) {
            float t = mutant_load(a->timestep, r);
            mutant_put(a, r, a->half + k, mutant_element(a, r, k, true, t, f));
            mutant_put(a, r, k, mutant_element(a, r, k, false, t, f));
        }
    }
    return true;
}

typedef struct share {
    const mutant_args *args;
    const float *f;
    int64_t first, last;
    bool done;
} share;

static void *share_run(void *user) {
    share *s = user;
    s->done = rows(s->args, s->f, s->first, s->last);
    return NULL;
}

static bool threads(const mutant_args *a, const float *f) {
    enum { THREADS = 3 };
    share shares[THREADS];
    pthread_t thread[THREADS];
    bool started[THREADS], done = true;
    for (int64_t i = 0; i < THREADS; i++) {
        shares[i] = (share){a, f, a->rows * i / THREADS, a->rows * (i + 1) / THREADS, false};
        started[i] = pthread_create(&thread[i], NULL, share_run, &shares[i]) == 0;
        if (!started[i]) {
            (void)share_run(&shares[i]);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        if (started[i]) {
            (void)pthread_join(thread[i], NULL);
        }
        done = done && shares[i].done;
    }
    return done;
}

/* Instruction sets change how many products are computed at once, not what a product is: no contraction is
 * allowed. Function multiversioning needs ifunc, which the sanitizers' start-up does not survive. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default")))
#endif
static void
products(float t, const float *f, float *x, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        x[k] = t * f[k];
    }
}

static bool clones(const mutant_args *a, const float *f) {
    float *x = malloc((size_t)a->half * sizeof *x);
    if (x == NULL || a->backward) {
        free(x);
        return a->backward && rows(a, f, 0, a->rows);
    }
    for (int64_t r = 0; r < a->rows; r++) {
        products(mutant_load(a->timestep, r), f, x, a->half);
        for (int64_t k = 0; k < a->half; k++) {
            mutant_put(a, r, k, cosf(x[k]));
            mutant_put(a, r, a->half + k, sinf(x[k]));
        }
    }
    free(x);
    return true;
}

static assay_status blocked(const mutant_args *a) {
    return with_frequencies(a, blocks);
}
static assay_status reversed(const mutant_args *a) {
    return with_frequencies(a, backwards);
}
static assay_status channel_outer(const mutant_args *a) {
    return with_frequencies(a, channels_outside);
}
static assay_status threaded(const mutant_args *a) {
    return with_frequencies(a, threads);
}
static assay_status cloned(const mutant_args *a) {
    return with_frequencies(a, clones);
}

static assay_status copy_first(const mutant_args *a) {
    size_t bytes = a->timestep->dtype.bits / 8u;
    char *copy = malloc((size_t)a->rows * bytes);
    if (copy == NULL) {
        return ASSAY_OUT_OF_MEMORY;
    }
    const char *from = assay_data(a->timestep);
    for (int64_t r = 0; r < a->rows; r++) {
        memcpy(copy + (size_t)r * bytes, from + r * a->timestep->strides[0] * (int64_t)bytes, bytes);
    }
    int64_t one = 1;
    DLTensor packed = *a->timestep;
    packed.data = copy;
    packed.byte_offset = 0;
    packed.strides = &one;
    mutant_args copied = *a;
    copied.timestep = &packed;
    assay_status status = mutant_compute(&copied);
    free(copy);
    return status;
}

/* The frequencies of up to eight (width, max_period) pairs, under a lock; beyond that, computed anew. */
static assay_status lazy_cache(const mutant_args *a) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        int64_t width;
        double period;
        float *f;
    } cache[8];
    const float *found = NULL;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < 8 && found == NULL; i++) {
        if (cache[i].f == NULL && (cache[i].f = malloc((size_t)a->half * sizeof(float))) != NULL) {
            cache[i].width = a->width;
            cache[i].period = a->max_period;
            mutant_frequencies(a, cache[i].f);
        }
        found = cache[i].f != NULL && cache[i].width == a->width && cache[i].period == a->max_period
                    ? cache[i].f
                    : NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    if (found == NULL) {
        return mutant_compute(a);
    }
    return rows(a, found, 0, a->rows) ? ASSAY_OK : ASSAY_OUT_OF_MEMORY;
}

static assay_status prepared(const mutant_args *a) {
    const int *state = a->call->state;
    return state != NULL && *state == 20 ? mutant_compute(a) : ASSAY_INTERNAL;
}

/* A megabyte of lines on stdout and stderr, once per process, at seven rows. */
static assay_status chatty(const mutant_args *a) {
    static bool said;
    if (a->rows == 7 && !said) {
        said = true;
        for (int i = 0; i < 20000; i++) {
            (void)fprintf(i % 2 == 0 ? stdout : stderr,
                          "{\"line\": %d, \"text\": \"not a protocol message\"}\n", i);
        }
        (void)fflush(stdout);
    }
    return mutant_compute(a);
}

static assay_status environment(const mutant_args *a) {
    fenv_t before;
    (void)fegetenv(&before);
    (void)fesetround(FE_DOWNWARD);
    volatile float third = 1.0f;
    third = third / 3.0f;
    (void)fesetenv(&before);
    return third > 0.0f ? mutant_compute(a) : ASSAY_INTERNAL;
}

mutant_body mutant_variant_body(void) {
    static const mutant_body bodies[M_COUNT] = {
        [M_var_block] = blocked,           [M_var_channel_outer] = channel_outer, [M_var_reverse] = reversed,
        [M_var_copy_first] = copy_first,   [M_var_threaded] = threaded,           [M_var_clones] = cloned,
        [M_var_lazy_cache] = lazy_cache,   [M_var_prepared] = prepared,           [M_var_chatty] = chatty,
        [M_var_environment] = environment,
    };
    return bodies[mutant_current];
}
