/* bench_impls.c - outputs per second and core of the built adapters and of each path, beside torch's CPU op
 * sequence measured in the same run.
 *
 * usage: bench_impls [--seconds S] [--no-torch] [ADAPTER.so...]   (default: every adapter that was built)
 *
 * One thread, width 256, contiguous timestep and output, best repetition, at two sizes. Hot: 4096 rows, a 4
 * MiB output that is written again and again and stays in the cache, as a sweep does that consumes each chunk
 * at once. Large: 65536 rows, 64 MiB. Torch is fastest hot; in large calls it pays for fresh pages of its
 * temporaries.
 *
 * Exit status 1 when reference_c misses 2.0 G outputs/s hot, or 40 times torch's large rate (both ratios are
 * printed).
 */
#include "assay/adapter.h"
#include "cpu_path.h"
#include "sinusoid.h"

#include "../libm/engine.h"
#include "../reference_c/rows.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 256, SIZES = 2 };

static const int64_t size_rows[SIZES] = {4096, 65536};
static const char *const size_names[SIZES] = {"hot", "large"};

static const double bar_rate = 2.0e9;
static const double bar_ratio = 40.0;

/* One buffer set, used by every measurement; rates are outputs per second, 0 when not measured. */
typedef struct bench {
    float *timestep;
    float *out;
    double seconds;
    double torch[SIZES];
} bench;

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One forward call on the bench's buffers. */
static bool call_once(bench *b, assay_entry forward, int64_t rows) {
    const assay_attr attrs[] = {{.name = "width", .type = ASSAY_ATTR_INT, .i = WIDTH}};
    int64_t t_shape[] = {rows}, t_strides[] = {1}, out_shape[] = {rows, WIDTH}, out_strides[] = {WIDTH, 1};
    const DLDataType f32 = {.code = kDLFloat, .bits = 32, .lanes = 1};
    const DLTensor t = {.data = b->timestep,
                        .device = {.device_type = kDLCPU},
                        .ndim = 1,
                        .dtype = f32,
                        .shape = t_shape,
                        .strides = t_strides};
    DLTensor out = {.data = b->out,
                    .device = {.device_type = kDLCPU},
                    .ndim = 2,
                    .dtype = f32,
                    .shape = out_shape,
                    .strides = out_strides};
    const DLTensor *inputs[] = {&t};
    DLTensor *outputs[] = {&out};
    char message[200] = "";
    const assay_call call = {.struct_bytes = sizeof call,
                             .attrs = attrs,
                             .attr_count = 1,
                             .inputs = inputs,
                             .input_count = 1,
                             .outputs = outputs,
                             .output_count = 1,
                             .message = message,
                             .message_bytes = sizeof message};
    const assay_status status = forward(&call);
    if (status != ASSAY_OK) {
        (void)fprintf(stderr, "bench_impls: %s: %s\n", assay_status_text(status), message);
    }
    return status == ASSAY_OK;
}

/* Outputs per second of the best call, 0 on failure. */
static double measure(bench *b, assay_entry forward, int64_t rows) {
    double best = 0;
    if (!call_once(b, forward, rows)) { /* warm-up: tables, page faults */
        return 0;
    }
    for (const double end = now_s() + b->seconds; now_s() < end;) {
        const double start = now_s();
        (void)call_once(b, forward, rows);
        const double rate = (double)(rows * WIDTH) / (now_s() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* Measures and prints one line; returns the hot rate. */
static double bench_line(bench *b, const char *name, const char *path, assay_entry forward) {
    double rates[SIZES];
    (void)printf("%-12s %-8s", name, path);
    for (int size = 0; size < SIZES; size++) {
        rates[size] = measure(b, forward, size_rows[size]);
        (void)printf("  %s %7.4f G/s", size_names[size], rates[size] / 1e9);
        if (b->torch[size] > 0) {
            (void)printf(" %6.1f x torch", rates[size] / b->torch[size]);
        }
    }
    (void)printf("\n");
    (void)fflush(stdout);
    return rates[0];
}

static assay_status reference_forward(const assay_call *call) {
    return sinusoid_forward(call, &reference_engine);
}

static assay_status libm_forward(const assay_call *call) {
    return sinusoid_forward(call, libm_engine());
}

/* Each path of one engine. */
static void bench_paths(bench *b, const char *name, assay_entry forward) {
    const cpu_path best = cpu_path_current();
    for (int path = 0; path < CPU_PATH_COUNT; path++) {
        if (cpu_path_force((cpu_path)path)) {
            (void)bench_line(b, name, cpu_path_text((cpu_path)path), forward);
        }
    }
    (void)cpu_path_force(best);
}

/* The adapter as a user gets it. Returns its rate, 0 when it cannot be measured. */
static double bench_adapter(bench *b, const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library == NULL ? NULL : dlsym(library, ASSAY_ADAPTER_SYMBOL);
    if (symbol == NULL) {
        (void)fprintf(stderr, "bench_impls: %s\n", dlerror());
        if (library != NULL) {
            (void)dlclose(library);
        }
        return 0;
    }
    assay_adapter_fn function;
    memcpy(&function, &symbol, sizeof function);
    const assay_adapter_info *info = function();
    const bool has_path = info->knob_count > 0 && strcmp(info->knobs[0].name, "path") == 0;
    const double rate = bench_line(b, info->name, has_path ? info->knobs[0].effective() : "adapter",
                                   info->operators[0].forward);
    const bool counts = strcmp(info->name, "reference_c") == 0;
    (void)dlclose(library);
    return counts ? rate : 0;
}

static double bench_torch(const bench *b, int64_t rows) {
    char command[4096], line[64] = "";
    (void)snprintf(command, sizeof command, "/usr/bin/python3 '%s' %d %d %g", ASSAY_BENCH_TORCH, WIDTH,
                   (int)rows, b->seconds);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed script of this tree */
    if (pipe == NULL) {
        return 0;
    }
    const double rate = fgets(line, sizeof line, pipe) == NULL ? 0 : strtod(line, NULL);
    return pclose(pipe) == 0 ? rate : 0;
}

static int verdict(const bench *b, double reference) {
    const bool torch = b->torch[0] > 0 && b->torch[1] > 0;
    const bool fast = reference >= bar_rate && (!torch || reference / b->torch[1] >= bar_ratio);
    (void)printf("reference_c hot: %.2f G outputs/s (bar %.1f)", reference / 1e9, bar_rate / 1e9);
    if (torch) {
        (void)printf(", %.1f x torch's large calls (bar %.0f), %.1f x torch's hot calls",
                     reference / b->torch[1], bar_ratio, reference / b->torch[0]);
    }
    (void)printf(": %s\n", fast ? "reached" : "missed");
    return fast ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Reads the options; the index of the first file, 0 after a usage error. */
static int parse(int argc, char **argv, bench *b, bool *torch) {
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--no-torch") == 0) {
            *torch = false;
        } else if (strcmp(argv[first], "--seconds") == 0 && first + 1 < argc &&
                   strtod(argv[first + 1], NULL) > 0) {
            b->seconds = strtod(argv[++first], NULL);
        } else {
            (void)fprintf(stderr, "usage: bench_impls [--seconds S] [--no-torch] [ADAPTER.so...]\n");
            return 0;
        }
    }
    return first;
}

/* The named files, or every default that was built on this system. Returns reference_c's rate, 0 when it was
 * not among them. */
static double bench_adapters(bench *b, char *const *files, int count) {
    static const char *const defaults[] = {"reference_c", "libm", "sleef", "fast_math", "template"};
    double reference = 0;
    for (int i = 0; i < count; i++) {
        reference += bench_adapter(b, files[i]);
    }
    for (size_t i = 0; count == 0 && i < sizeof defaults / sizeof *defaults; i++) {
        char file[4096];
        (void)snprintf(file, sizeof file, "%s/%s.so", ASSAY_IMPL_FOLDER, defaults[i]);
        if (access(file, R_OK) == 0) {
            reference += bench_adapter(b, file);
        }
    }
    return reference;
}

static bool allocate(bench *b) {
    const size_t rows = (size_t)size_rows[SIZES - 1];
    b->timestep = malloc(rows * sizeof(float));
    b->out = malloc(rows * WIDTH * sizeof(float));
    if (b->timestep == NULL || b->out == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < rows;
         i++) { /* golden-ratio sequence: even, in no order that a predictor learns */
        b->timestep[i] = (float)((i * 2654435769u) >> 8) * 0x1p-24f;
    }
    return true;
}

int main(int argc, char **argv) {
    bench b = {.seconds = 0.5};
    bool torch = true;
    const int first = parse(argc, argv, &b, &torch);
    if (first == 0) {
        return 2;
    }
    if (!allocate(&b)) {
        (void)fprintf(stderr, "bench_impls: no memory\n");
        free(b.timestep);
        free(b.out);
        return 4;
    }
    for (int size = 0; torch && size < SIZES; size++) {
        b.torch[size] = bench_torch(&b, size_rows[size]);
        (void)printf("torch        %-8s %7.4f G/s, %d rows a call\n", size_names[size], b.torch[size] / 1e9,
                     (int)size_rows[size]);
    }
    bench_paths(&b, "reference_c", reference_forward);
    bench_paths(&b, "libm", libm_forward);
    const double reference = bench_adapters(&b, argv + first, argc - first);
    const int status = reference > 0 ? verdict(&b, reference) : EXIT_SUCCESS;
    free(b.timestep);
    free(b.out);
    return status;
}
