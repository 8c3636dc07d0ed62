/* check_judge.c - the plugin against the CPU: patterns, inputs, marks, digest, parity.
 *
 *     check_judge [--device N]                         all checks
 *     check_judge [--device N] --bench [impls/X.so]    rates over 4 GiB, words by that implementation
 *
 * Exit code 0 when all passed, 1 when one failed, 3 without a GPU. */
#include "check_judge.h"

#include <stdarg.h>

#define ARENA_BYTES ((size_t)80 << 20)
#define BENCH_BYTES ((size_t)4 << 30)

void check_report(check *c, bool good, const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)printf("%s ", good ? "PASS" : "FAIL");
    (void)vprintf(format, list);
    (void)printf("\n");
    (void)fflush(stdout);
    va_end(list);
    c->passed += good;
    c->failed += !good;
}

bool check_code(check *c, assay_code code, const assay_error *error, const char *what) {
    if (code != ASSAY_CODE_OK) {
        check_report(c, false, "%s: code %d, %s", what, (int)code, error->text);
    }
    return code == ASSAY_CODE_OK;
}

void *check_alloc(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        (void)fprintf(stderr, "check_judge: out of memory\n");
        exit(4);
    }
    return memory;
}

uint32_t *check_random(check *c, size_t n) {
    uint32_t *words = check_alloc(n * sizeof *words);
    assay_philox_words((assay_philox_key){{17, 29}}, c->random, n, words);
    c->random += n;
    return words;
}

/* ---- copies, patterns ---- */

static void check_copies(check *c) {
    static const size_t sizes[] = {0, 1, 4097, (size_t)8 << 20, ((size_t)24 << 20) + 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        assay_error error;
        uint32_t *from = check_random(c, n / 4 + 1);
        uint32_t *back = check_alloc(n + 4);
        char *at = (char *)c->arena[0].address + 3;
        if (check_code(c, c->plugin->upload(c->device, at, from, n, &error), &error, "upload") &&
            check_code(c, c->plugin->download(c->device, back, at, n, &error), &error, "download")) {
            check_report(c, memcmp(from, back, n) == 0, "copy of %zu bytes there and back", n);
        }
        free(from);
        free(back);
    }
}

static uint8_t pattern_byte(uint32_t pattern, size_t phase, size_t i) {
    return (uint8_t)(pattern >> 8 * ((phase + i) & 3));
}

/* Fills [offset, offset + bytes) on the device and looks at every byte around it here. */
static void check_fill(check *c, size_t offset, size_t bytes, size_t phase) {
    const uint32_t pattern = 0x7fa5c317u;
    const size_t all = offset + bytes + 64;
    assay_error error;
    uint8_t *here = check_alloc(all);
    uint8_t *want = check_alloc(all);
    char *base = c->arena[0].address;
    uint64_t count = 0;
    uint64_t first = 0;
    memset(want, 0x11, all);
    bool good = c->plugin->upload(c->device, base, want, all, &error) == ASSAY_CODE_OK &&
                c->plugin->fill(c->device, base + offset, bytes, pattern, phase, &error) == ASSAY_CODE_OK &&
                c->plugin->download(c->device, here, base, all, &error) == ASSAY_CODE_OK;
    for (size_t i = 0; i < bytes; i++) {
        want[offset + i] = pattern_byte(pattern, phase, i);
    }
    good = good && memcmp(here, want, all) == 0;
    good = good && c->plugin->damage(c->device, base + offset, bytes, pattern, phase, &count, &first,
                                     &error) == ASSAY_CODE_OK;
    good = good && count == 0;
    /* Three bytes of damage, the last byte among them. */
    const size_t places[] = {bytes / 3, bytes / 2, bytes - 1};
    uint64_t planted = 0;
    for (size_t i = 0; i < 3 && bytes > 0; i++) {
        uint8_t *at = &here[offset + places[i]];
        planted += *at == pattern_byte(pattern, phase, places[i]);
        *at = (uint8_t)~pattern_byte(pattern, phase, places[i]);
    }
    good = good && c->plugin->upload(c->device, base, here, all, &error) == ASSAY_CODE_OK &&
           c->plugin->damage(c->device, base + offset, bytes, pattern, phase, &count, &first, &error) ==
               ASSAY_CODE_OK &&
           count == planted && (count == 0 || first == bytes / 3);
    check_report(c, good, "pattern of %zu bytes at offset %zu, phase %zu", bytes, offset, phase);
    free(here);
    free(want);
}

static void check_patterns(check *c) {
    static const size_t sizes[] = {0, 1, 3, 15, 16, 17, 63, 4096, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_fill(c, i % 4 * 5, sizes[i], i % 4);
        check_fill(c, 16 + i % 3, sizes[i], (i + 1) % 4);
    }
}

/* ---- inputs and marks ---- */

static void check_inputs(check *c, uint64_t rows, uint32_t first) {
    assay_error error;
    uint32_t *here = check_alloc(rows * sizeof *here);
    bool before = false;
    bool after = true;
    bool good = c->plugin->iota(c->device, c->arena[0].address, rows, first, &error) == ASSAY_CODE_OK &&
                c->plugin->download(c->device, here, c->arena[0].address, rows * 4, &error) == ASSAY_CODE_OK;
    for (uint64_t r = 0; good && r < rows; r++) {
        good = here[r] == first + (uint32_t)r;
    }
    here[rows - 1] ^= 0x80u;
    good =
        good &&
        c->plugin->iota_intact(c->device, c->arena[0].address, rows, first, &before, &error) ==
            ASSAY_CODE_OK &&
        c->plugin->upload(c->device, c->arena[0].address, here, rows * 4, &error) == ASSAY_CODE_OK &&
        c->plugin->iota_intact(c->device, c->arena[0].address, rows, first, &after, &error) == ASSAY_CODE_OK;
    check_report(c, good && before && !after, "inputs: %lu rows from 0x%08x", rows, first);
    free(here);
}

static size_t mark_channel(uint64_t key, uint64_t row, size_t channels) {
    return (size_t)((key * 0x9e3779b97f4a7c15u + row * 0xbf58476d1ce4e5b9u) >> 33) % channels;
}

static void check_marks(check *c, uint64_t rows, size_t channels) {
    const uint32_t pattern = 0xffa5a5a5u;
    const uint64_t key = 0x123456789abcdef1u * (channels + 1);
    const size_t words = (size_t)rows * channels;
    void *at = c->arena[0].address;
    assay_error error;
    uint32_t *want = check_random(c, words);
    uint32_t *here = check_alloc(words * 4);
    bool present = true;
    bool gone = false;
    bool good =
        c->plugin->upload(c->device, at, want, words * 4, &error) == ASSAY_CODE_OK &&
        c->plugin->marks_gone(c->device, at, rows, channels, key, pattern, &gone, &error) == ASSAY_CODE_OK &&
        gone && c->plugin->mark(c->device, at, rows, channels, key, pattern, &error) == ASSAY_CODE_OK &&
        c->plugin->download(c->device, here, at, words * 4, &error) == ASSAY_CODE_OK;
    for (uint64_t r = 0; r < rows; r++) {
        want[r * channels + mark_channel(key, r, channels)] = pattern;
    }
    good = good && memcmp(here, want, words * 4) == 0;
    /* All but the last row's mark are overwritten. */
    for (uint64_t r = 0; r + 1 < rows; r++) {
        here[r * channels + mark_channel(key, r, channels)] = 1;
    }
    good =
        good && c->plugin->upload(c->device, at, here, words * 4, &error) == ASSAY_CODE_OK &&
        c->plugin->marks_gone(c->device, at, rows, channels, key, pattern, &present, &error) == ASSAY_CODE_OK;
    check_report(c, good && !present, "marks: %lu rows of %zu", rows, channels);
    free(want);
    free(here);
}

/* ---- digest and parity ---- */

static const struct {
    uint64_t rows;
    size_t channels;
} shapes[] = {{1, 1},     {1, 2},      {7, 3},     {1, 256},    {5, 6},       {1023, 4},
              {1024, 96}, {1025, 250}, {3000, 96}, {2049, 256}, {1500, 1000}, {130, 1024},
              {70, 1028}, {66000, 4},  {66000, 6}, {131073, 8}, {66000, 256}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void digest_here(assay_tile *tiles, const uint32_t *words, uint64_t rows, size_t channels) {
    for (uint64_t r = 0; r < rows; r += ASSAY_TILE_ROWS) {
        const uint64_t n = rows - r < ASSAY_TILE_ROWS ? rows - r : ASSAY_TILE_ROWS;
        assay_tile_add(&tiles[r / ASSAY_TILE_ROWS], words + r * channels, channels, 0, (size_t)n);
    }
}

static void check_digest(check *c, uint64_t rows, size_t channels) {
    const size_t words = (size_t)rows * channels;
    assay_tile here[4] = {{{5, 6}}};
    assay_tile there[4] = {{{5, 6}}}; /* sums are added */
    assay_error error;
    uint32_t *data = check_random(c, words);
    const assay_device_judgment what = {
        .got = c->arena[0].address, .rows = rows, .channels = channels, .tiles = there};
    digest_here(here, data, rows, channels);
    if (check_code(c, c->plugin->upload(c->device, c->arena[0].address, data, words * 4, &error), &error,
                   "upload") &&
        check_code(c, c->plugin->judge(c->device, &what, &error), &error, "digest")) {
        check_report(c, memcmp(here, there, sizeof here) == 0, "digest of %lu rows of %zu", rows, channels);
    }
    free(data);
}

static const uint32_t specials[] = {
    0x00000000u, 0x80000000u, 0x00000001u, 0x80000001u, 0x00000002u, 0x007fffffu, 0x807fffffu, 0x00800000u,
    0x80800000u, 0x3f800000u, 0xbf800000u, 0x3f7fffffu, 0x3f800001u, 0x7f7fffffu, 0xff7fffffu, 0x7f800000u,
    0xff800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xffc00000u, 0xffffffffu, 0x7f7ffffeu, 0xff800001u,
    0x3f80001fu, 0x3f800020u, 0x3f800021u, 0x3f800022u, 0x3f800023u, 0x3f7fffe0u};
#define SPECIALS (sizeof specials / sizeof *specials)

typedef enum parity_kind { EQUAL, ANY, FEW, MOST, SPECIAL, ONE, ONE_UP, WIDE, KINDS } parity_kind;
static const char *const kind_names[KINDS] = {"equal words",    "unlike words",   "few differ",
                                              "most differ",    "special values", "one differs",
                                              "all one ulp up", "far apart"};

/* Makes `got` out of `want` and random bits. */
static uint32_t differ(parity_kind kind, uint32_t want, uint32_t random, size_t i, size_t n) {
    switch (kind) {
    case EQUAL:
    case KINDS:
        return want;
    case ANY:
        return random;
    case FEW:
        return random % 997 == 0 ? want + random / 997 % 7 - 3 : want;
    case MOST:
        return random % 5 != 0 ? want + random / 5 % 17 - 8 : want;
    case SPECIAL:
        return specials[random % SPECIALS];
    case ONE:
        return i == n / 2 ? want ^ 1u : want;
    case ONE_UP:
        return want + 1;
    case WIDE:
        return want + random % 90 - 45;
    }
    return want;
}

static uint32_t baseline(parity_kind kind, uint32_t random, size_t i, size_t channels) {
    if (kind == EQUAL || kind == ANY) {
        return random;
    }
    if (kind == SPECIAL) {
        return specials[random % SPECIALS];
    }
    /* Like the outputs of an operator: slowly changing along rows, any exponent along channels. */
    return 0x00700000u + (uint32_t)(i % channels) * 0x00234567u % 0x3f000000u + (uint32_t)(i / channels);
}

static bool same_parity(const assay_parity *a, const assay_parity *b) {
    return a->elements == b->elements && a->differing == b->differing && a->zero_sign == b->zero_sign &&
           a->nan_number == b->nan_number && a->nan_payload == b->nan_payload && a->infinite == b->infinite &&
           a->numeric == b->numeric && a->max_ulp == b->max_ulp &&
           (a->differing == 0 || (a->first_index == b->first_index && a->first_got == b->first_got &&
                                  a->first_want == b->first_want)) &&
           (a->numeric == 0 || (a->worst_index == b->worst_index && a->worst_got == b->worst_got &&
                                a->worst_want == b->worst_want)) &&
           (a->histogram == NULL || memcmp(a->histogram, b->histogram, sizeof *a->histogram) == 0);
}

static void check_parity(check *c, uint64_t rows, size_t channels, parity_kind kind, bool histogram,
                         bool digest) {
    const size_t words = (size_t)rows * channels;
    static assay_ulp_histogram cells[2];
    assay_error error;
    uint32_t *got = check_random(c, words);
    uint32_t *want = check_random(c, words);
    assay_tile here[4] = {{{0}}};
    assay_tile there[4] = {{{0}}};
    assay_parity a = {.histogram = histogram ? &cells[0] : NULL};
    assay_parity b = {.histogram = histogram ? &cells[1] : NULL};
    memset(cells, 0, sizeof cells);
    for (size_t i = 0; i < words; i++) {
        want[i] = baseline(kind, want[i], i, channels);
        got[i] = differ(kind, want[i], got[i], i, words);
    }
    const assay_device_judgment what = {.got = c->arena[0].address,
                                        .other = c->arena[1].address,
                                        .rows = rows,
                                        .channels = channels,
                                        .base = 1000003,
                                        .parity = &b,
                                        .tiles = digest ? there : NULL};
    assay_parity_add_f32(&a, got, want, words, what.base);
    if (digest) {
        digest_here(here, got, rows, channels);
    }
    if (check_code(c, c->plugin->upload(c->device, c->arena[0].address, got, words * 4, &error), &error,
                   "upload") &&
        check_code(c, c->plugin->upload(c->device, c->arena[1].address, want, words * 4, &error), &error,
                   "upload") &&
        check_code(c, c->plugin->judge(c->device, &what, &error), &error, "parity")) {
        bool good = same_parity(&a, &b) && memcmp(here, there, sizeof here) == 0;
        /* Once more, over later elements: everything is added. */
        assay_device_judgment more = what;
        more.base += words;
        more.tiles = NULL;
        assay_parity_add_f32(&a, got, want, words, more.base);
        good = c->plugin->judge(c->device, &more, &error) == ASSAY_CODE_OK && good && same_parity(&a, &b);
        check_report(c, good, "parity of %lu rows of %zu, %s%s%s", rows, channels, kind_names[kind],
                     histogram ? ", histogram" : "", digest ? ", digest" : "");
    }
    free(got);
    free(want);
}

static void check_refusals(check *c) {
    assay_error error = {.text = ""};
    assay_parity parity = {0};
    assay_accuracy accuracy = {0};
    assay_device_judgment what = {.got = (char *)c->arena[0].address + 4,
                                  .other = c->arena[1].address,
                                  .rows = 1,
                                  .channels = 4,
                                  .parity = &parity};
    check_report(c, c->plugin->judge(c->device, &what, &error) != ASSAY_CODE_OK,
                 "misaligned words are refused: %s", error.text);
    what.got = c->arena[0].address;
    what.parity = NULL;
    what.accuracy = &accuracy;
    what.op = "no_such_operator";
    check_report(c,
                 c->plugin->judge(c->device, &what, &error) == ASSAY_CODE_INCOMPLETE &&
                     !c->plugin->has_golden(what.op),
                 "an operator without golden is refused: %s", error.text);
    what.op = "timestep_sinusoid_h3";
    what.channels = 256;
    what.first_bits = 0x3f800001u;
    check_report(c,
                 c->plugin->judge(c->device, &what, &error) == ASSAY_CODE_INCOMPLETE &&
                     c->plugin->has_golden(what.op),
                 "inputs beyond the golden are refused: %s", error.text);
}

static void check_machine(check *c) {
    const assay_device_info *i = c->plugin->info(c->device);
    assay_error error;
    double ns[5] = {0};
    (void)printf("%s, sm_%d, %d multiprocessors, %.1f GiB, driver %d, runtime %d\n", i->name, i->sm,
                 i->multiprocessors, (double)i->memory_bytes / (double)(1 << 30), i->driver_version,
                 i->runtime_version);
    bool good = c->plugin->floor(c->device, false, 0, &ns[0], &error) == ASSAY_CODE_OK &&
                c->plugin->floor(c->device, true, 100, &ns[1], &error) == ASSAY_CODE_OK;
    for (int k = 0; k < 3; k++) {
        good = good && c->plugin->roof(c->device, (assay_device_roof)k, c->arena[0].address, ARENA_BYTES,
                                       &ns[2 + k], &error) == ASSAY_CODE_OK;
    }
    for (int k = 0; k < 5; k++) {
        good = good && ns[k] > 0.0;
    }
    check_report(c, good, "floor %.0f ns, in a graph %.0f ns; %zu MiB: memset %.0f, copy %.0f, read %.0f ns",
                 ns[0], ns[1], ARENA_BYTES >> 20, ns[2], ns[3], ns[4]);
}

static void check_all(check *c) {
    check_machine(c);
    check_copies(c);
    check_patterns(c);
    check_inputs(c, 1, 0x80000000u);
    check_inputs(c, 100001, 0x3f000000u);
    check_marks(c, 1, 1);
    check_marks(c, 3000, 256);
    check_marks(c, 70000, 6);
    for (size_t i = 0; i < SHAPES; i++) {
        check_digest(c, shapes[i].rows, shapes[i].channels);
    }
    for (size_t i = 0; i < SHAPES; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            check_parity(c, shapes[i].rows, shapes[i].channels, (parity_kind)kind,
                         (i + (size_t)kind) % 4 != 0, (i + (size_t)kind) % 3 == 0);
        }
    }
    check_refusals(c);
    check_accuracy(c);
}

int main(int argc, char **argv) {
    check c = {0};
    assay_error error = {.text = ""};
    int ordinal = 0;
    bool bench = false;
    const char *candidate = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            ordinal = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--bench") == 0) {
            bench = true;
        } else {
            candidate = argv[i];
        }
    }
    c.plugin = assay_device_plugin_load(&error);
    if (c.plugin == NULL || c.plugin->open(ordinal, &c.device, NULL, &error) != ASSAY_CODE_OK) {
        (void)printf("check_judge: %s\n", error.text);
        return 3;
    }
    for (int i = 0; i < 2; i++) {
        const size_t bytes = bench ? BENCH_BYTES + ((size_t)64 << 20) : ARENA_BYTES;
        if (c.plugin->arena_create(c.device, bytes, &c.arena[i], &error) != ASSAY_CODE_OK) {
            (void)printf("check_judge: %s\n", error.text);
            return 3;
        }
    }
    if (bench) {
        check_bench(&c, candidate);
    } else {
        check_all(&c);
        (void)printf("%u passed, %u failed\n", c.passed, c.failed);
    }
    c.plugin->arena_destroy(c.device, &c.arena[0]);
    c.plugin->arena_destroy(c.device, &c.arena[1]);
    c.plugin->close(c.device);
    return c.failed == 0 ? 0 : 1;
}
