/* invariance_kinds.c - one small function per way of putting rows together. Each forms sub-batches and hands
 * them to invariance_batch.c, which runs and compares them. */
#include "invariance_batch.h"

#include <stdlib.h>
#include <string.h>

static int64_t parameter(const assay_whole *whole) {
    return whole->check->p[0];
}

static assay_philox_key key_of(const assay_whole *whole, const char *purpose, uint64_t part) {
    return assay_philox_key_of(whole->context->op->name, whole->c->name, purpose,
                               whole->c->seed * 1000003U + part);
}

static size_t room_whole(const assay_case *c, int64_t p0) {
    (void)p0;
    return (size_t)c->rows;
}

/* ---- windows: every row at every sub-batch size ---- */

static size_t room_size(const assay_case *c, int64_t p0) {
    (void)c;
    return (size_t)p0;
}

static uint64_t windows_parts(const assay_whole *whole) {
    return assay_windows_count(whole->rows, (uint64_t)parameter(whole));
}

static bool windows_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t size = (uint64_t)parameter(whole);
    return assay_whole_window(whole, lane, part, assay_windows_start(whole->rows, size, part), size, error);
}

/* ---- the dense sweep of batch sizes ---- */

static size_t probes_of(const assay_whole *whole, uint64_t probes[16]) {
    const json_t *list = assay_direct_matrix(whole->context, "invariance", "sweep");
    list = json_object_get(list, "probes");
    size_t count = 0;
    for (size_t i = 0; i < assay_direct_count(list) && count < 16; i++) {
        uint64_t probe = (uint64_t)assay_direct_number(list, i, 0);
        if (probe < whole->rows) {
            probes[count++] = probe;
        }
    }
    return count;
}

static uint64_t sweep_parts(const assay_whole *whole) {
    uint64_t probes[16];
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    return probes_of(whole, probes) * (assay_sweep_sizes(whole->rows, sizes) + 1);
}

static bool run_rows(assay_whole *whole, assay_lane *lane, uint64_t part, const uint32_t *rows, uint64_t n,
                     assay_error *error) {
    float *x = assay_direct_memory(n, sizeof *x, error);
    if (x == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        x[i] = whole->x[rows[i]];
    }
    bool good = assay_whole_batch(whole, lane, part, x, rows, n, NULL, NULL, error);
    free(x);
    return good;
}

/* One probe at one size (all its positions); the part after the last size is the whole batch reversed,
 * rotated by the probe. */
static bool sweep_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t probes[16];
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    uint64_t positions[3];
    size_t probe_count = probes_of(whole, probes);
    size_t size_count = assay_sweep_sizes(whole->rows, sizes);
    if (probe_count == 0) { /* then there are no parts either */
        return true;
    }
    uint64_t probe = probes[part % probe_count];
    uint64_t which = part / probe_count;
    uint32_t *rows = assay_direct_memory(whole->rows, sizeof *rows, error);
    bool good = rows != NULL;
    if (good && which == size_count) {
        for (uint64_t i = 0; i < whole->rows; i++) {
            rows[i] = (uint32_t)((2 * whole->rows - 1 - i + probe) % whole->rows);
        }
        good = run_rows(whole, lane, part, rows, whole->rows, error);
    } else if (good) {
        size_t count = assay_sweep_positions(sizes[which], positions);
        for (size_t p = 0; good && p < count; p++) {
            assay_sweep_batch(key_of(whole, "sweep", part), whole->rows, probe, sizes[which], positions[p],
                              rows);
            good = run_rows(whole, lane, part, rows, sizes[which], error);
        }
    }
    free(rows);
    return good;
}

/* ---- one value alone against batches that carry it first, in the middle and last ---- */

static size_t room_largest(const assay_case *c, int64_t p0) {
    (void)c;
    return (size_t)p0;
}

static const json_t *lone_batches(const assay_whole *whole) {
    return json_object_get(assay_direct_matrix(whole->context, "invariance", "lone_value"), "batches");
}

static uint64_t probe_parts(const assay_whole *whole) {
    return assay_direct_count(lone_batches(whole));
}

/* Places x[0] of the whole batch (one row) among `n` fresh random rows. */
static bool lone_among(assay_whole *whole, assay_lane *lane, uint64_t part, uint64_t n, uint64_t position,
                       assay_error *error) {
    float *x = assay_direct_memory(n, sizeof *x, error);
    uint32_t *map = assay_direct_memory(n, sizeof *map, error);
    bool good = x != NULL && map != NULL;
    if (good) {
        assay_philox_uniform(key_of(whole, "neighbours", part), 0, n, x);
        memset(map, 0xff, n * sizeof *map);
        x[position] = whole->x[0];
        map[position] = 0;
        good = assay_whole_batch(whole, lane, part, x, map, n, NULL, NULL, error);
    }
    free(x);
    free(map);
    return good;
}

static bool probe_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t positions[3];
    uint64_t n = (uint64_t)assay_direct_number(lone_batches(whole), (size_t)part, 2);
    size_t count = assay_sweep_positions(n, positions);
    for (size_t p = 0; p < count; p++) {
        if (!lone_among(whole, lane, part, n, positions[p], error)) {
            return false;
        }
    }
    return true;
}

/* ---- the whole batch repeated p0 times and permuted ---- */

static size_t room_repeated(const assay_case *c, int64_t p0) {
    return (size_t)c->rows * (size_t)p0;
}

static uint64_t permuted_parts(const assay_whole *whole) {
    (void)whole;
    return 4;
}

static bool permuted_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t n = (uint64_t)whole->rows * (uint64_t)parameter(whole);
    uint32_t *rows = assay_direct_memory(n, sizeof *rows, error);
    bool good = rows != NULL;
    if (good) {
        assay_shuffle(key_of(whole, "permutation", part), n, rows);
        for (uint64_t i = 0; i < n; i++) {
            rows[i] %= (uint32_t)whole->rows;
        }
        good = run_rows(whole, lane, part, rows, n, error);
    }
    free(rows);
    return good;
}

/* ---- every row but one changed to something else that is valid ---- */

static const uint32_t edge_values[] = {0x00000000U, 0x80000000U, 0x3f800000U,
                                       0x00000001U, 0x007fffffU, 0x3f7fffffU};
#define EDGE_COUNT (sizeof edge_values / sizeof edge_values[0])

static uint64_t neighbours_parts(const assay_whole *whole) {
    (void)whole;
    return EDGE_COUNT + 2; /* every edge value, and twice fresh random rows */
}

static bool neighbours_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t n = whole->rows;
    uint64_t positions[3];
    size_t count = assay_sweep_positions(n, positions);
    float *x = assay_direct_memory(n, sizeof *x, error);
    uint32_t *map = assay_direct_memory(n, sizeof *map, error);
    bool good = x != NULL && map != NULL;
    for (size_t p = 0; good && p < count; p++) {
        assay_philox_uniform(key_of(whole, "mutation", part), 0, n, x);
        memset(map, 0xff, n * sizeof *map);
        for (uint64_t i = 0; part < EDGE_COUNT && i < n; i++) {
            x[i] = assay_f32_from_bits(edge_values[part]);
        }
        x[positions[p]] = whole->x[positions[p]];
        map[positions[p]] = (uint32_t)positions[p];
        good = assay_whole_batch(whole, lane, part, x, map, n, NULL, NULL, error);
    }
    free(x);
    free(map);
    return good;
}

/* ---- padding rows before and after ---- */

static const uint32_t padding_rows[] = {1, 2, 3, 7, 8, 15, 16, 31, 64};
#define PADDING_COUNT (sizeof padding_rows / sizeof padding_rows[0])

static size_t room_padded(const assay_case *c, int64_t p0) {
    (void)p0;
    return (size_t)c->rows + 64;
}

static uint64_t padding_parts(const assay_whole *whole) {
    (void)whole;
    return 4 * PADDING_COUNT; /* left or right, zeros or ones */
}

static bool padding_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t pad = padding_rows[part / 4];
    uint64_t before = (part & 1) != 0 ? pad : 0;
    uint64_t n = whole->rows + pad;
    float *x = assay_direct_memory(n, sizeof *x, error);
    uint32_t *map = assay_direct_memory(n, sizeof *map, error);
    bool good = x != NULL && map != NULL;
    if (good) {
        for (uint64_t i = 0; i < n; i++) {
            bool own = i >= before && i < before + whole->rows;
            x[i] = own ? whole->x[i - before] : (part & 2) != 0 ? 1.0F : 0.0F;
            map[i] = own ? (uint32_t)(i - before) : UINT32_MAX;
        }
        good = assay_whole_batch(whole, lane, part, x, map, n, NULL, NULL, error);
    }
    free(x);
    free(map);
    return good;
}

/* ---- another base alignment, another stride ---- */

static uint64_t misaligned_parts(const assay_whole *whole) {
    (void)whole;
    return 3; /* input only, output only, both */
}

/* The whole batch again in tensors of another layout; NaN fills the gaps of a strided input. */
static bool relaid(assay_whole *whole, assay_lane *lane, uint64_t part, int64_t stride, size_t input_off,
                   size_t output_off, assay_error *error) {
    assay_tensor input;
    assay_tensor output;
    assay_whole_lane *state = assay_whole_prepare(whole, lane, error);
    uint32_t *map = assay_direct_memory(whole->rows, sizeof *map, error);
    assay_arena *arena = assay_worker_arena(lane->candidate);
    bool good =
        state != NULL && map != NULL &&
        assay_direct_alloc(arena, whole->c->dtype, whole->rows, 0, stride, input_off, &input, error) &&
        assay_direct_alloc(arena, ASSAY_DTYPE_F32, whole->rows, whole->channels, 0, output_off, &output,
                           error);
    if (good) {
        for (uint32_t i = 0; i < whole->rows; i++) {
            map[i] = i;
        }
        assay_tensor_poison(&input, ASSAY_POISON_A);
        good = assay_whole_batch(whole, lane, part, whole->x, map, whole->rows, &input, &output, error);
    }
    free(map);
    return good;
}

static bool misaligned_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    size_t off = (size_t)parameter(whole);
    size_t input_off = part == 1 ? 0 : off;
    size_t output_off = part == 0 ? 0 : off & ~(size_t)3; /* the output is FP32 */
    return relaid(whole, lane, part, 1, input_off, output_off, error);
}

static uint64_t strided_parts(const assay_whole *whole) {
    (void)whole;
    return 1;
}

static bool strided_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    return relaid(whole, lane, part, parameter(whole), 0, 0, error);
}

/* ---- batch sizes around powers of two, as heads and tails of the whole batch, every row compared ---- */

static uint64_t switches_parts(const assay_whole *whole) {
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    return 2 * assay_sweep_sizes(whole->rows, sizes);
}

static bool switches_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    assay_whole *whole = user;
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    (void)assay_sweep_sizes(whole->rows, sizes);
    uint64_t n = sizes[part / 2];
    return assay_whole_window(whole, lane, part, (part & 1) != 0 ? whole->rows - n : 0, n, error);
}

const assay_invariance_kind assay_invariance_kinds[ASSAY_INVARIANCE_KIND_COUNT] = {
    [ASSAY_INVARIANCE_WINDOWS] = {windows_parts, windows_part, room_size},
    [ASSAY_INVARIANCE_SWEEP] = {sweep_parts, sweep_part, room_whole},
    [ASSAY_INVARIANCE_PROBE] = {probe_parts, probe_part, room_largest},
    [ASSAY_INVARIANCE_PERMUTED] = {permuted_parts, permuted_part, room_repeated},
    [ASSAY_INVARIANCE_NEIGHBOURS] = {neighbours_parts, neighbours_part, room_whole},
    [ASSAY_INVARIANCE_PADDING] = {padding_parts, padding_part, room_padded},
    [ASSAY_INVARIANCE_MISALIGNED] = {misaligned_parts, misaligned_part, room_whole},
    [ASSAY_INVARIANCE_STRIDED] = {strided_parts, strided_part, room_whole},
    [ASSAY_INVARIANCE_SWITCHES] = {switches_parts, switches_part, room_whole},
};
