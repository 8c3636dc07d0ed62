/* check_judge_bench.c - how fast the judge is: each mode over 4 GiB of outputs, and what the machine can do.
 * With an implementation the words are its own; the second half of the table repeats it along the domain. */
#include "check_judge.h"

#include "assay/adapter.h"

#include <dlfcn.h>

#define ROWS     (64u * 65536u)
#define CHANNELS 256u
#define BYTES    ((size_t)ROWS * CHANNELS * 4)
#define OP       "timestep_sinusoid_h3"
#define TIMES    5

static const assay_attr width = {.name = "width", .type = ASSAY_ATTR_INT, .i = CHANNELS};

static uint32_t settle(void *context, uint64_t index, double golden) {
    (void)context;
    (void)index;
    return assay_f32_bits((float)golden);
}

/* The forward function of timestep_sinusoid_h3 in an implementation, NULL when there is none. */
static assay_entry forward_of(const char *path) {
    union {
        void *object;
        assay_adapter_fn function;
    } symbol;
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    symbol.object = library == NULL ? NULL : dlsym(library, ASSAY_ADAPTER_SYMBOL);
    if (symbol.object == NULL) {
        if (path != NULL) {
            (void)printf("no implementation in %s: %s\n", path, dlerror());
        }
        return NULL;
    }
    const assay_adapter_info *info = symbol.function();
    for (size_t i = 0; i < info->operator_count; i++) {
        if (strcmp(info->operators[i].name, OP) == 0) {
            return info->operators[i].forward;
        }
    }
    return NULL;
}

/* Outputs for the rows from `first` on, in arena `k`; the inputs lie behind the outputs. */
static bool make_words(check *c, assay_entry forward, int k, uint32_t first) {
    assay_error error;
    char message[256] = "";
    char *at = c->arena[k].address;
    int64_t shape[2] = {ROWS, CHANNELS};
    int64_t strides[2] = {CHANNELS, 1};
    int64_t one = 1;
    if (c->plugin->iota(c->device, at + BYTES, ROWS, first, &error) != ASSAY_CODE_OK) {
        return check_code(c, ASSAY_CODE_INTERNAL, &error, "inputs");
    }
    if (forward == NULL) {
        return check_code(c, c->plugin->fill(c->device, at, BYTES, 0x3f123456u, 0, &error), &error, "fill");
    }
    const DLDevice device = {kDLCUDA, c->plugin->info(c->device)->ordinal};
    const DLTensor x = {.data = at + BYTES,
                        .device = device,
                        .ndim = 1,
                        .dtype = {kDLFloat, 32, 1},
                        .shape = shape,
                        .strides = &one};
    DLTensor y = {.data = at,
                  .device = device,
                  .ndim = 2,
                  .dtype = {kDLFloat, 32, 1},
                  .shape = shape,
                  .strides = strides};
    const DLTensor *const inputs[] = {&x};
    DLTensor *const outputs[] = {&y};
    const assay_call call = {.struct_bytes = sizeof call,
                             .attrs = &width,
                             .attr_count = 1,
                             .inputs = inputs,
                             .input_count = 1,
                             .outputs = outputs,
                             .output_count = 1,
                             .message = message,
                             .message_bytes = sizeof message};
    const assay_status status = forward(&call);
    uint32_t word = 0; /* waits for the default stream */
    if (status != ASSAY_OK || c->plugin->download(c->device, &word, at, 4, &error) != ASSAY_CODE_OK) {
        check_report(c, false, "the implementation answers %s: %s", assay_status_text(status), message);
        return false;
    }
    return c->plugin->roof(c->device, ASSAY_ROOF_READ, at + BYTES, 1 << 20, &(double){0}, &error) ==
           ASSAY_CODE_OK;
}

typedef struct mode {
    const char *name;
    bool digest, parity, accuracy;
} mode;

static void time_mode(check *c, const mode *m, uint32_t first) {
    static assay_ulp_histogram cells[2];
    static assay_tile tiles[ROWS / ASSAY_TILE_ROWS];
    assay_error error;
    double best = 1e30;
    assay_parity parity;
    assay_accuracy accuracy;
    for (int i = 0; i < TIMES; i++) {
        parity = (assay_parity){.histogram = &cells[0]};
        accuracy = (assay_accuracy){.histogram = &cells[1], .tolerance = {1e-5, 1e-5}, .settle = settle};
        const assay_device_judgment what = {.got = c->arena[0].address,
                                            .other = c->arena[1].address,
                                            .rows = ROWS,
                                            .channels = CHANNELS,
                                            .first_bits = first,
                                            .tiles = m->digest ? tiles : NULL,
                                            .parity = m->parity ? &parity : NULL,
                                            .accuracy = m->accuracy ? &accuracy : NULL,
                                            .op = OP,
                                            .attrs = &width,
                                            .attr_count = 1};
        const uint64_t before = c->plugin->spent_ns(c->device);
        if (!check_code(c, c->plugin->judge(c->device, &what, &error), &error, m->name)) {
            return;
        }
        const double ns = (double)(c->plugin->spent_ns(c->device) - before);
        best = ns < best ? ns : best;
    }
    const double bytes = (double)BYTES * (m->parity ? 2.0 : 1.0);
    (void)printf("%-28s %9.1f us %8.1f GB/s  whole domain %.3f s", m->name, best * 1e-3, bytes / best,
                 best * 254e-9);
    if (m->parity) {
        (void)printf("  %lu differ", parity.differing);
    }
    if (m->accuracy) {
        (void)printf("  max %.2f ulp, %.1f %% right, %lu near ties, %lu outside", accuracy.max_ulp,
                     100.0 * (double)accuracy.correctly_rounded / (double)accuracy.elements,
                     accuracy.near_ties, accuracy.outside);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

static void roofs(check *c) {
    static const char *const names[] = {"memset", "copy", "read"};
    assay_error error;
    double ns = 0.0;
    for (int k = 0; k < 3; k++) {
        if (check_code(
                c, c->plugin->roof(c->device, (assay_device_roof)k, c->arena[0].address, BYTES, &ns, &error),
                &error, names[k])) {
            (void)printf("%-28s %9.1f us %8.1f GB/s\n", names[k], ns * 1e-3, (double)BYTES / ns);
        }
    }
    if (check_code(c, c->plugin->floor(c->device, false, 0, &ns, &error), &error, "floor")) {
        (void)printf("%-28s %9.3f us\n", "floor", ns * 1e-3);
    }
    if (check_code(c, c->plugin->floor(c->device, true, 100, &ns, &error), &error, "floor")) {
        (void)printf("%-28s %9.3f us\n", "floor in a graph", ns * 1e-3);
    }
}

/* What a segment of a sweep costs beside its judgment. */
static void overheads(check *c) {
    static const char *const names[] = {"inputs",       "inputs intact", "marks",        "marks gone",
                                        "a guard zone", "damage to it",  "64 rows again"};
    char *at = c->arena[0].address;
    for (int k = 0; k < 7; k++) {
        assay_error error;
        double best = 1e30;
        for (int i = 0; i < TIMES; i++) {
            static assay_ulp_histogram cells;
            const uint64_t before = c->plugin->spent_ns(c->device);
            uint64_t count = 0;
            uint64_t first = 0;
            bool yes = false;
            assay_tile tile = {{0, 0}};
            assay_accuracy accuracy = {.histogram = &cells, .tolerance = {1e-5, 1e-5}, .settle = settle};
            const assay_device_judgment what = {.got = at,
                                                .rows = 64,
                                                .channels = CHANNELS,
                                                .tiles = &tile,
                                                .accuracy = &accuracy,
                                                .op = OP,
                                                .attrs = &width,
                                                .attr_count = 1};
            const assay_device_plugin *p = c->plugin;
            assay_code code = ASSAY_CODE_OK;
            switch (k) {
            case 0:
                code = p->iota(c->device, at + BYTES, ROWS, 1, &error);
                break;
            case 1:
                code = p->iota_intact(c->device, at + BYTES, ROWS, 1, &yes, &error);
                break;
            case 2:
                code = p->mark(c->device, at, ROWS, CHANNELS, 1, 2, &error);
                break;
            case 3:
                code = p->marks_gone(c->device, at, ROWS, CHANNELS, 1, 2, &yes, &error);
                break;
            case 4:
                code = p->fill(c->device, at, 65536, 1, 0, &error);
                break;
            case 5:
                code = p->damage(c->device, at, 65536, 1, 0, &count, &first, &error);
                break;
            default:
                code = p->judge(c->device, &what, &error);
            }
            if (!check_code(c, code, &error, names[k])) {
                return;
            }
            const double ns = (double)(p->spent_ns(c->device) - before);
            best = ns < best ? ns : best;
        }
        (void)printf("%-28s %9.1f us\n", names[k], best * 1e-3);
    }
}

void check_bench(check *c, const char *candidate) {
    static const mode modes[] = {{"digest", true, false, false},          {"parity", false, true, false},
                                 {"parity, digest", true, true, false},   {"accuracy", false, false, true},
                                 {"accuracy, digest", true, false, true}, {"all", true, true, true}};
    static const uint32_t firsts[] = {0x3f800000u - ROWS, 0x3c000000u, 0x38800000u,
                                      0x30000000u,        0x08000000u, 0x00000000u};
    const assay_entry forward = forward_of(candidate);
    roofs(c);
    overheads(c);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
        (void)printf("rows from 0x%08x\n", firsts[f]);
        if (!make_words(c, forward, 0, firsts[f]) || !make_words(c, forward, 1, firsts[f])) {
            return;
        }
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
            if (forward != NULL || !modes[i].accuracy) {
                time_mode(c, &modes[i], firsts[f]);
            }
        }
        /* The baseline one step of the input off: nearly everything differs a little. */
        if (forward != NULL && make_words(c, forward, 1, firsts[f] + 3)) {
            time_mode(c, &(mode){"parity, most differ", false, true, false}, firsts[f]);
        }
    }
}
