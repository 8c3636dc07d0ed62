/* cuda_functions.c - runs of assay/cuda_math.h, compiled once for every machine and once for AVX2 with FMA.
 */
#include "cuda_functions.h"

#include "assay/cuda_math.h"
#include "compare.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are hashed as they lie in memory: little-endian"
#endif

enum { TILE = 4096, BATCH = 1 << 21 };

/* No bit pattern from `first` on, n of them, is at or beyond ASSAY_CUDA_FAR: the loop below needs no branch.
 */
static inline int all_near(uint32_t first, size_t n) {
    const uint32_t far = 0x47ce4780u;
    const uint32_t a = first & 0x7fffffffu;
    const uint32_t last = first + (uint32_t)n - 1;
    return a < far && (last & 0x7fffffffu) < far && (last >> 31) == (first >> 31);
}

static inline __attribute__((always_inline)) void sine_body(uint32_t first, size_t n, int32_t turn,
                                                            uint32_t *out) {
    if (all_near(first, n)) {
        for (size_t i = 0; i < n; i++) {
            int32_t q;
            const float r = assay_cuda_reduce_near(assay_cuda_float(first + (uint32_t)i), &q);
            out[i] = assay_cuda_bits(assay_cuda_quadrant(r, q + turn));
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = assay_cuda_bits(assay_cuda_sine(assay_cuda_float(first + (uint32_t)i), turn));
    }
}

static inline __attribute__((always_inline)) void tile_body(assay_cuda_function function, uint32_t first,
                                                            size_t n, uint32_t *out) {
    switch (function) {
    case ASSAY_CUDA_EXPF:
        for (size_t i = 0; i < n; i++) {
            out[i] = assay_cuda_bits(assay_cuda_expf(assay_cuda_float(first + (uint32_t)i)));
        }
        break;
    case ASSAY_CUDA_SINF:
        sine_body(first, n, 0, out);
        break;
    case ASSAY_CUDA_COSF:
        sine_body(first, n, 1, out);
        break;
    case ASSAY_CUDA_EX2F:
    default:
        for (size_t i = 0; i < n; i++) {
            out[i] = assay_cuda_bits(assay_cuda_ex2f(assay_cuda_float(first + (uint32_t)i)));
        }
    }
}

typedef void tile_fn(assay_cuda_function function, uint32_t first, size_t n, uint32_t *out);

static void tile_plain(assay_cuda_function function, uint32_t first, size_t n, uint32_t *out) {
    tile_body(function, first, n, out);
}

#if defined(__x86_64__)
#if !defined(__clang__)
__attribute__((optimize("O3")))
#endif
__attribute__((target("avx2,fma"))) static void
tile_avx2(assay_cuda_function function, uint32_t first, size_t n, uint32_t *out) {
    tile_body(function, first, n, out);
}
#endif

static tile_fn *tile_pick(void) {
#if defined(__x86_64__)
    if (strcmp(assay_simd_name(), "scalar") != 0 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma")) {
        return tile_avx2;
    }
#endif
    return tile_plain;
}

static const char *const names[] = {
#define X(id, name, what) #name,
    ASSAY_CUDA_FUNCTION_LIST(X)
#undef X
};

const char *assay_cuda_function_name(assay_cuda_function function) {
    return names[function];
}

assay_code assay_cuda_function_find(const char *name, assay_cuda_function *function, assay_error *error) {
    for (int i = 0; i < ASSAY_CUDA_FUNCTION_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *function = (assay_cuda_function)i;
            return ASSAY_CODE_OK;
        }
    }
#define X(id, name, what) " " #name
    return assay_fail(error, ASSAY_CODE_USAGE, "%s: no such function; there are:" ASSAY_CUDA_FUNCTION_LIST(X),
                      name);
#undef X
}

void assay_cuda_function_fill(assay_cuda_function function, uint32_t first, size_t n, uint32_t *out) {
    tile_fn *tile = tile_pick();
    for (size_t i = 0; i < n; i += TILE) {
        tile(function, first + (uint32_t)i, n - i < TILE ? n - i : TILE, out + i);
    }
}

/* One thread's share of a batch. */
typedef struct share {
    pthread_t thread;
    assay_cuda_function function;
    uint32_t first;
    size_t n;
    uint32_t *out;
} share;

static void *share_run(void *argument) {
    const share *s = argument;
    assay_cuda_function_fill(s->function, s->first, s->n, s->out);
    return NULL;
}

/* Starts the threads that fill `out` with the batch from `first` on; returns how many run. */
static unsigned batch_start(share *shares, unsigned threads, assay_cuda_function function, uint32_t first,
                            uint32_t *out) {
    for (unsigned t = 0; t < threads; t++) {
        const size_t from = (size_t)BATCH * t / threads;
        const size_t to = (size_t)BATCH * (t + 1) / threads;
        shares[t] =
            (share){.function = function, .first = first + (uint32_t)from, .n = to - from, .out = out + from};
        if (pthread_create(&shares[t].thread, NULL, share_run, &shares[t]) != 0) {
            return t;
        }
    }
    return threads;
}

static void batch_wait(share *shares, unsigned started) {
    for (unsigned t = 0; t < started; t++) {
        (void)pthread_join(shares[t].thread, NULL);
    }
}

assay_code assay_cuda_function_sha256(assay_cuda_function function, unsigned threads,
                                      void (*step)(void *context, uint64_t done, uint64_t total),
                                      void *context, uint8_t hash[32], assay_error *error) {
    const uint64_t total = UINT64_C(1) << 32;
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    share *shares = calloc(threads, sizeof *shares);
    uint32_t *buffers = malloc(2 * (size_t)BATCH * sizeof *buffers);
    assay_code code = ASSAY_CODE_OK;
    if (shares == NULL || buffers == NULL) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory: two batches of answers need 16 MiB");
        goto done;
    }
    /* While one batch is hashed the next one is computed. */
    for (uint64_t at = 0; at <= total; at += BATCH) {
        uint32_t *ahead = buffers + (at / BATCH % 2) * BATCH;
        uint32_t *behind = buffers + (at / BATCH % 2 ^ 1) * BATCH;
        const unsigned wanted = at < total ? threads : 0;
        const unsigned started = batch_start(shares, wanted, function, (uint32_t)at, ahead);
        if (at > 0) {
            (void)crypto_hash_sha256_update(&state, (const uint8_t *)behind, (size_t)BATCH * sizeof *behind);
        }
        batch_wait(shares, started);
        if (started != wanted) {
            code = assay_fail(error, ASSAY_CODE_INTERNAL, "could not start thread %u of %u", started + 1,
                              wanted);
            goto done;
        }
        if (step != NULL && at > 0) {
            step(context, at, total);
        }
    }
    (void)crypto_hash_sha256_final(&state, hash);
done:
    free(buffers);
    free(shares);
    return code;
}
