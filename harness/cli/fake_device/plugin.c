/* plugin.c - a device plugin without a GPU: mapped files stand for the device's memory, the judge on the CPU
 * for its kernels. Everything around a GPU (mirrored and resident calls, sweeps, zones, recovery, reports)
 * runs over it on any machine. Never installed.
 *
 * ASSAY_FAKE in the judge's environment breaks it: "absent" no device, "lie" judges one tile wrongly, "short"
 * no memory for arenas. */
#include "fake_device.h"

#include "operator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct assay_device {
    assay_device_info info;
    uint64_t spent_ns;
    unsigned arenas;
};

static bool broken(const char *how) {
    const char *value = getenv("ASSAY_FAKE");
    return value != NULL && strcmp(value, how) == 0;
}

static assay_code fake_open(int ordinal, assay_device **device, int *count, assay_error *error) {
    if (count != NULL) {
        *count = 1;
    }
    if (broken("absent") || ordinal != 0) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "no fake device %d", ordinal);
    }
    assay_device *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
    }
    d->info = (assay_device_info){.name = "fake device",
                                  .sm = 90,
                                  .multiprocessors = 1,
                                  .driver_version = 13000,
                                  .runtime_version = 13000,
                                  .memory_bytes = (uint64_t)512 << 20,
                                  .l2_bytes = 1 << 20};
    memset(d->info.uuid_sha256, '0', 64);
    *device = d;
    return ASSAY_CODE_OK;
}

static void fake_close(assay_device *d) {
    free(d);
}

static const assay_device_info *fake_info(const assay_device *d) {
    return &d->info;
}

static uint64_t fake_free_bytes(assay_device *d) {
    return d->info.memory_bytes;
}

/* ---- arenas: files, which the handle names ---- */

static assay_code arena_create(assay_device *d, size_t bytes, assay_device_arena *arena, assay_error *error) {
    char name[ASSAY_DEVICE_HANDLE_BYTES] = "";
    if (broken("short")) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "device memory is short: %zu bytes", bytes);
    }
    (void)snprintf(name, sizeof name, "/tmp/assay-fake-%ld-%u", (long)getpid(), d->arenas++);
    const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *at = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0
                   ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (at == MAP_FAILED) {
        (void)unlink(name);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "fake arena of %zu bytes", bytes);
    }
    arena->address = at;
    arena->bytes = bytes;
    memcpy(arena->handle, name, sizeof name);
    return ASSAY_CODE_OK;
}

static void arena_destroy(assay_device *d, assay_device_arena *arena) {
    (void)d;
    (void)munmap(arena->address, arena->bytes);
    (void)unlink((const char *)arena->handle);
}

static assay_code copy(assay_device *d, void *to, const void *from, size_t bytes, assay_error *error) {
    (void)d;
    (void)error;
    memcpy(to, from, bytes);
    return ASSAY_CODE_OK;
}

/* ---- the judge's kernels ---- */

static uint8_t pattern_byte(uint32_t pattern, size_t phase, size_t i) {
    return (uint8_t)(pattern >> (8 * ((phase + i) & 3)));
}

static assay_code fill(assay_device *d, void *address, size_t bytes, uint32_t pattern, size_t phase,
                       assay_error *error) {
    (void)d;
    (void)error;
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)address)[i] = pattern_byte(pattern, phase, i);
    }
    return ASSAY_CODE_OK;
}

static assay_code damage(assay_device *d, const void *address, size_t bytes, uint32_t pattern, size_t phase,
                         uint64_t *count, uint64_t *first, assay_error *error) {
    (void)d;
    (void)error;
    *count = 0;
    for (size_t i = bytes; i-- > 0;) {
        if (((const uint8_t *)address)[i] != pattern_byte(pattern, phase, i)) {
            (*count)++;
            *first = i;
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code iota(assay_device *d, void *address, uint64_t rows, uint32_t first_bits,
                       assay_error *error) {
    (void)d;
    (void)error;
    for (uint64_t r = 0; r < rows; r++) {
        ((uint32_t *)address)[r] = first_bits + (uint32_t)r;
    }
    return ASSAY_CODE_OK;
}

static assay_code iota_intact(assay_device *d, const void *address, uint64_t rows, uint32_t first_bits,
                              bool *intact, assay_error *error) {
    (void)d;
    (void)error;
    *intact = true;
    for (uint64_t r = 0; r < rows; r++) {
        *intact = *intact && ((const uint32_t *)address)[r] == first_bits + (uint32_t)r;
    }
    return ASSAY_CODE_OK;
}

static size_t mark_place(uint64_t key, uint64_t row, size_t channels) {
    return (size_t)(row * channels +
                    ((key * 0x9e3779b97f4a7c15U + row * 0xbf58476d1ce4e5b9U) >> 33) % channels);
}

static assay_code mark(assay_device *d, void *address, uint64_t rows, size_t channels, uint64_t key,
                       uint32_t pattern, assay_error *error) {
    (void)d;
    (void)error;
    for (uint64_t r = 0; r < rows; r++) {
        ((uint32_t *)address)[mark_place(key, r, channels)] = pattern;
    }
    return ASSAY_CODE_OK;
}

static assay_code marks_gone(assay_device *d, const void *address, uint64_t rows, size_t channels,
                             uint64_t key, uint32_t pattern, bool *gone, assay_error *error) {
    (void)d;
    (void)error;
    *gone = true;
    for (uint64_t r = 0; r < rows; r++) {
        *gone = *gone && ((const uint32_t *)address)[mark_place(key, r, channels)] != pattern;
    }
    return ASSAY_CODE_OK;
}

static assay_code measure(const assay_device_judgment *what, assay_error *error) {
    const assay_operator_def *op = assay_operator_find(what->op);
    assay_attrs attrs = {.count = what->attr_count};
    double *golden = malloc(what->channels * sizeof *golden);
    if (op == NULL || golden == NULL || attrs.count > sizeof attrs.items / sizeof *attrs.items) {
        free(golden);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "fake golden");
    }
    memcpy(attrs.items, what->attrs, attrs.count * sizeof *attrs.items);
    for (uint64_t r = 0; r < what->rows; r++) {
        const uint32_t bits = what->first_bits + (uint32_t)r;
        float x;
        memcpy(&x, &bits, sizeof x);
        op->golden(&attrs, &x, 1, golden);
        assay_accuracy_add(what->accuracy, (const uint32_t *)what->got + r * what->channels, golden,
                           what->channels, what->base + r * what->channels);
    }
    free(golden);
    return ASSAY_CODE_OK;
}

static assay_code judge(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    const uint32_t *got = what->got;
    const size_t words = (size_t)what->rows * what->channels;
    d->spent_ns += words;
    for (uint64_t row = 0; what->tiles != NULL && row < what->rows; row += ASSAY_TILE_ROWS) {
        const uint64_t left = what->rows - row;
        assay_tile_add(&what->tiles[row / ASSAY_TILE_ROWS], got + row * what->channels, what->channels, 0,
                       (size_t)(left < ASSAY_TILE_ROWS ? left : ASSAY_TILE_ROWS));
    }
    if (what->tiles != NULL && broken("lie")) {
        what->tiles[0].sum[0] ^= 1;
    }
    if (what->parity != NULL) {
        assay_parity_add_f32(what->parity, got, what->other, words, what->base);
    }
    return what->accuracy != NULL ? measure(what, error) : ASSAY_CODE_OK;
}

static bool has_golden(const char *op) {
    return assay_operator_find(op) != NULL;
}

static uint64_t spent_ns(const assay_device *d) {
    return d->spent_ns;
}

/* ---- floor and roofs: figures no candidate can beat ---- */

static assay_code floor_of(assay_device *d, bool graph, unsigned count, double *ns, assay_error *error) {
    (void)d;
    (void)graph;
    (void)count;
    (void)error;
    *ns = 10.0;
    return ASSAY_CODE_OK;
}

static assay_code roof_of(assay_device *d, assay_device_roof kind, void *address, size_t bytes, double *ns,
                          assay_error *error) {
    (void)d;
    (void)kind;
    (void)address;
    (void)error;
    *ns = 10.0 + (double)bytes * 1e-3;
    return ASSAY_CODE_OK;
}

/* The symbol has the name of a type. */
__attribute__((visibility("default"))) const assay_device_plugin *
fake_plugin(void) __asm__(ASSAY_DEVICE_PLUGIN_SYMBOL);

const assay_device_plugin *fake_plugin(void) {
    static const assay_device_plugin plugin = {.version = ASSAY_DEVICE_PLUGIN_VERSION,
                                               .struct_bytes = sizeof plugin,
                                               .name = "fake",
                                               .open = fake_open,
                                               .close = fake_close,
                                               .info = fake_info,
                                               .free_bytes = fake_free_bytes,
                                               .arena_create = arena_create,
                                               .arena_destroy = arena_destroy,
                                               .upload = copy,
                                               .download = copy,
                                               .fill = fill,
                                               .damage = damage,
                                               .iota = iota,
                                               .iota_intact = iota_intact,
                                               .mark = mark,
                                               .marks_gone = marks_gone,
                                               .judge = judge,
                                               .has_golden = has_golden,
                                               .spent_ns = spent_ns,
                                               .floor = floor_of,
                                               .roof = roof_of,
                                               .space_open = fake_space_open};
    return &plugin;
}
