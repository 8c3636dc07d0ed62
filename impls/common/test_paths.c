/* test_paths.c - compares the paths of an engine. */
#include "test_paths.h"

#include "convert.h"
#include "test_call.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHUNK = 8192, THREADS = 2, ROWS = 300, MAX_WIDTH = 1000, GAP = 5 };

typedef struct sweep {
    const sinusoid_engine *engine;
    uint64_t first, last, step;
    atomic_uint_fast64_t next; /* index of the next chunk */
    atomic_uint_fast64_t arguments;
    atomic_uint_fast64_t differing;
    atomic_uint_fast64_t example; /* bit pattern of some differing argument */
} sweep;

typedef struct buffers {
    float arguments[CHUNK];
    float scalar[2 * CHUNK];
    float vector[2 * CHUNK];
} buffers;

/* With t = 1 the products are the frequencies: one row is CHUNK arguments. */
static void sweep_chunk(sweep *s, buffers *b, uint64_t chunk) {
    const float one = 1.0f;
    size_t n = 0;
    for (uint64_t bits = s->first + chunk * CHUNK * s->step; n < CHUNK && bits <= s->last; bits += s->step) {
        b->arguments[n++] = convert_float((uint32_t)bits);
    }
    s->engine->rows[CPU_PATH_SCALAR](&one, 1, b->arguments, n, b->scalar, 0);
    atomic_fetch_add(&s->arguments, n);
    for (int path = CPU_PATH_SCALAR + 1; path < CPU_PATH_COUNT; path++) {
        if (s->engine->rows[path] == NULL || !cpu_path_available((cpu_path)path)) {
            continue;
        }
        s->engine->rows[path](&one, 1, b->arguments, n, b->vector, 0);
        if (memcmp(b->scalar, b->vector, 2 * n * sizeof(float)) == 0) {
            continue;
        }
        for (size_t i = 0; i < 2 * n; i++) {
            if (convert_bits(b->scalar[i]) != convert_bits(b->vector[i])) {
                atomic_fetch_add(&s->differing, 1);
                atomic_store(&s->example, convert_bits(b->arguments[i % n]));
            }
        }
    }
}

static void *sweep_thread(void *argument) {
    sweep *s = argument;
    buffers *b = malloc(sizeof *b);
    if (b == NULL) {
        atomic_fetch_add(&s->differing, 1);
        return NULL;
    }
    const uint64_t chunks = (s->last - s->first) / s->step / CHUNK + 1;
    for (uint64_t chunk = atomic_fetch_add(&s->next, 1); chunk < chunks;
         chunk = atomic_fetch_add(&s->next, 1)) {
        sweep_chunk(s, b, chunk);
    }
    free(b);
    return NULL;
}

uint64_t test_paths_sweep(const sinusoid_engine *engine, uint32_t first, uint32_t last, uint32_t step) {
    sweep s = {.engine = engine, .first = first, .last = last, .step = step};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, sweep_thread, &s), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
    cr_assert_eq(atomic_load(&s.differing), 0, "%llu outputs differ, one at %08llx",
                 (unsigned long long)atomic_load(&s.differing), (unsigned long long)atomic_load(&s.example));
    return atomic_load(&s.arguments);
}

typedef struct row_case {
    int64_t width;
    DLDataTypeCode code;
    int bits;
    int64_t stride; /* of the timestep, in elements */
    size_t shift;   /* bytes between a 64-byte boundary and the output */
    bool check;
} row_case;

/* Room for the timestep, the output and the gradient, each with slack that must not change. */
typedef struct arena {
    _Alignas(64) unsigned char t[4 * (3 * ROWS + 1)];
    _Alignas(64) unsigned char out[64 + 4 * ROWS * (MAX_WIDTH + GAP)];
    unsigned char grad[4 * ROWS + 16];
} arena;

static float value(uint64_t *state, size_t i, bool check) {
    static const float inside[] = {0.0f,      -0.0f,          1.0f,           0x1p-149f,
                                   0x1p-126f, 0x1.921fb4p-1f, 0x1.921fb6p-1f, 0.785f};
    static const float outside[] = {NAN,   -NAN,  INFINITY, -INFINITY, 1e30f,   -3.7f, 105615.0f, -105614.9f,
                                    65504, 2e38f, -0.25f,   7.0f,      40000.f, 1e5f,  0x1p23f,   -1e10f};
    if (check) {
        return i % 7 == 3 ? inside[test_random(state) % 8] : test_random_unit(state);
    }
    return i % 3 == 1 ? outside[test_random(state) % 16] : 8.0f * test_random_unit(state) - 4.0f;
}

static void run_case(const row_case *c, assay_entry forward, assay_entry backward, arena *a) {
    static float upstream[ROWS * MAX_WIDTH];
    uint64_t state = (uint64_t)c->width * 977 + c->shift;
    memset(a, 0xA5, sizeof *a);
    test_tensor t, out, grad, up;
    test_vector(&t, a->t + (c->stride < 0 ? (size_t)((ROWS - 1) * -c->stride * c->bits / 8) : 0), c->code,
                c->bits, ROWS, c->stride);
    test_matrix(&out, a->out + c->shift, ROWS, c->width, c->width + GAP);
    test_vector(&grad, a->grad, c->code, c->bits, ROWS, 1);
    test_matrix(&up, upstream, ROWS, c->width, c->width);
    for (int64_t i = 0; i < ROWS; i++) {
        assay_store_f32(&t.dl, i, value(&state, (size_t)i, c->check));
    }
    for (int64_t i = 0; i < ROWS * c->width; i++) {
        upstream[i] = 2.0f * test_random_unit(&state) - 1.0f;
    }
    const test_attrs attrs = {.width = c->width, .max_period = 10000.0, .check_range = c->check};
    char message[200];
    DLTensor *inputs[] = {&t.dl};
    cr_assert_eq(test_run(forward, &attrs, inputs, 1, &out.dl, message), ASSAY_OK, "%s", message);
    DLTensor *back[] = {&up.dl, &out.dl, &t.dl};
    cr_assert_eq(test_run(backward, &attrs, back, 3, &grad.dl, message), ASSAY_OK, "%s", message);
}

static size_t count_differing(const arena *a, const arena *b, size_t shift, bool nan_payload) {
    size_t differing = memcmp(a->t, b->t, sizeof a->t) != 0;
    differing += memcmp(a->grad, b->grad, sizeof a->grad) != 0;
    for (size_t i = shift; i + 4 <= sizeof a->out; i += 4) {
        float x, y;
        memcpy(&x, a->out + i, 4);
        memcpy(&y, b->out + i, 4);
        differing += convert_bits(x) != convert_bits(y) && (nan_payload || !isnan(x) || !isnan(y));
    }
    return differing;
}

static void compare_case(const sinusoid_engine *engine, const row_case *c, assay_entry forward,
                         assay_entry backward, bool nan_payload) {
    static arena scalar, vector;
    const cpu_path before = cpu_path_current();
    cr_assert(cpu_path_force(CPU_PATH_SCALAR));
    run_case(c, forward, backward, &scalar);
    for (int path = CPU_PATH_SCALAR + 1; path < CPU_PATH_COUNT; path++) {
        if (engine->rows[path] == NULL || !cpu_path_force((cpu_path)path)) {
            continue;
        }
        run_case(c, forward, backward, &vector);
        cr_assert_eq(count_differing(&scalar, &vector, c->shift, nan_payload), 0,
                     "%s: width %d, %d bits, code %d, stride %d, shift %zu, check %d",
                     cpu_path_text((cpu_path)path), (int)c->width, c->bits, (int)c->code, (int)c->stride,
                     c->shift, c->check);
    }
    cr_assert(cpu_path_force(before));
}

void test_paths_rows(const sinusoid_engine *engine, assay_entry forward, assay_entry backward,
                     bool nan_payload) {
    static const int64_t widths[] = {2, 8, 96, 250, 256, 320, 1000};
    static const struct {
        DLDataTypeCode code;
        int bits;
    } types[] = {{kDLFloat, 32}, {kDLBfloat, 16}, {kDLFloat, 16}};
    static const int64_t strides[] = {1, 3, -2, 0};
    int n = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (size_t d = 0; d < 3; d++) {
            for (size_t s = 0; s < 4; s++) {
                for (int check = 0; check < 2; check++) {
                    const row_case c = {.width = widths[w],
                                        .code = types[d].code,
                                        .bits = types[d].bits,
                                        .stride = strides[s],
                                        .shift = (size_t)(4 * (n++ % 16)),
                                        .check = check != 0};
                    compare_case(engine, &c, forward, backward, nan_payload);
                }
            }
        }
    }
}
