/* provenance.c - collects provenance. Whatever cannot be found out is "unknown": a missing piece never stops
 * a run. */
#include "provenance.h"

#include "build_info.h"
#include "clock.h"
#include "manifest.h"
#include "provenance_git.h"

#include <gnu/libc-version.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Long enough for a large repository on a cold network disk. */
#define GIT_TIMEOUT_MS 30000u

extern char **environ;

struct assay_provenance {
    assay_pair *pairs; /* sorted by key; both strings are ours */
    size_t count, capacity;
    bool failed; /* memory ran short */
};

/* Index of the first key >= `key`. */
static size_t lower_bound(const assay_provenance *p, const char *key) {
    size_t low = 0, high = p->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(p->pairs[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has_key(const assay_provenance *p, size_t at, const char *key) {
    return at < p->count && strcmp(p->pairs[at].key, key) == 0;
}

static bool make_room(assay_provenance *p) {
    if (p->count == p->capacity) {
        const size_t wanted = p->capacity * 2 + 32;
        assay_pair *grown = realloc(p->pairs, wanted * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        p->pairs = grown;
        p->capacity = wanted;
    }
    return true;
}

void assay_provenance_set(assay_provenance *provenance, const char *key, const char *value) {
    const size_t at = lower_bound(provenance, key);
    const bool old = has_key(provenance, at, key);
    char *copy = strdup(value != NULL ? value : ASSAY_UNKNOWN);
    char *name = old ? NULL : strdup(key);
    if (copy == NULL || (!old && (name == NULL || !make_room(provenance)))) {
        free(name);
        free(copy);
        provenance->failed = true;
        return;
    }
    assay_pair *pair = &provenance->pairs[at];
    if (old) {
        free((char *)(uintptr_t)pair->value);
        pair->value = copy;
        return;
    }
    memmove(pair + 1, pair, (provenance->count - at) * sizeof *pair);
    pair->key = name;
    pair->value = copy;
    provenance->count++;
}

const char *assay_provenance_get(const assay_provenance *provenance, const char *key) {
    const size_t at = lower_bound(provenance, key);
    return has_key(provenance, at, key) ? provenance->pairs[at].value : NULL;
}

const assay_pair *assay_provenance_pairs(const assay_provenance *provenance, size_t *count) {
    *count = provenance->count;
    return provenance->pairs;
}

void assay_provenance_free(assay_provenance *provenance) {
    if (provenance == NULL) {
        return;
    }
    for (size_t i = 0; i < provenance->count; i++) {
        free((char *)(uintptr_t)provenance->pairs[i].key);
        free((char *)(uintptr_t)provenance->pairs[i].value);
    }
    free(provenance->pairs);
    free(provenance);
}

static void collect_build(assay_provenance *p) {
    static const assay_pair baked[] = {
        {"assay.version", ASSAY_BUILD_VERSION},   {"assay.commit", ASSAY_BUILD_COMMIT},
        {"assay.dirty", ASSAY_BUILD_DIRTY},       {"assay.source_sha256", ASSAY_BUILD_SOURCE_SHA256},
        {"assay.compiler", ASSAY_BUILD_COMPILER}, {"assay.flags", ASSAY_BUILD_FLAGS},
        {"assay.cuda", ASSAY_BUILD_CUDA}};
    for (size_t i = 0; i < sizeof baked / sizeof baked[0]; i++) {
        assay_provenance_set(p, baked[i].key, baked[i].value);
    }
}

static bool inside(const char *path, const char *folder) {
    const size_t n = strlen(folder);
    return n > 0 && strncmp(path, folder, n) == 0 && path[n] == '/';
}

static void collect_candidate(assay_provenance *p, const char *candidate_path, const char *source_dir) {
    char real[PATH_MAX];
    assay_git_state state = {.root = ASSAY_UNKNOWN, .commit = ASSAY_UNKNOWN, .dirty = ASSAY_UNKNOWN};
    const char *where = NULL;
    if (source_dir == NULL && candidate_path != NULL && assay_manifest_has(candidate_path)) {
        assay_provenance_set(p, "candidate.commit", ASSAY_BUILD_COMMIT);
        assay_provenance_set(p, "candidate.dirty", ASSAY_BUILD_DIRTY);
        assay_provenance_set(p, "candidate.source", "bundle");
        return;
    }
    if (source_dir != NULL) {
        where = source_dir;
    } else if (candidate_path != NULL && realpath(candidate_path, real) != NULL) {
        if (inside(real, ASSAY_BUILD_BINARY_DIR) && access(ASSAY_BUILD_SOURCE_DIR, R_OK) == 0) {
            /* Built by Assay's own build, wherever its build folder lies. */
            where = ASSAY_BUILD_SOURCE_DIR;
        } else {
            char *slash = strrchr(real, '/');
            slash[slash == real] = '\0';
            where = real;
        }
    }
    if (where != NULL) {
        assay_git_inspect(NULL, where, GIT_TIMEOUT_MS, &state);
    }
    assay_provenance_set(p, "candidate.commit", state.commit);
    assay_provenance_set(p, "candidate.dirty", state.dirty);
    assay_provenance_set(p, "candidate.source", state.root);
}

/* Value of the first "key<separators>value" line of a file, quotes removed. */
static void collect_line(assay_provenance *p, const char *name, const char *file, const char *key) {
    FILE *in = fopen(file, "re");
    char *line = NULL;
    size_t capacity = 0;
    const size_t n = strlen(key);
    const char *value = NULL;
    while (in != NULL && value == NULL && getline(&line, &capacity, in) > 0) {
        if (strncmp(line, key, n) == 0 && strchr(" \t:=", line[n]) != NULL) {
            char *start = line + n + strspn(line + n, " \t:=\"");
            start[strcspn(start, "\"\n")] = '\0';
            value = start;
        }
    }
    assay_provenance_set(p, name, value);
    free(line);
    if (in != NULL) {
        (void)fclose(in);
    }
}

static void set_format(assay_provenance *p, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set_format(assay_provenance *p, const char *key, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assay_provenance_set(p, key, text);
}

static void collect_machine(assay_provenance *p) {
    struct utsname kernel;
    cpu_set_t set;
    double load[3];
    collect_line(p, "cpu.model", "/proc/cpuinfo", "model name");
    collect_line(p, "cpu.features", "/proc/cpuinfo", "flags");
    collect_line(p, "os.name", "/etc/os-release", "PRETTY_NAME");
    /* The processors this process may use, not those the machine has. */
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        set_format(p, "cpu.count", "%d", CPU_COUNT(&set));
    } else {
        set_format(p, "cpu.count", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (uname(&kernel) == 0) {
        set_format(p, "os.kernel", "%s %s %s", kernel.sysname, kernel.release, kernel.machine);
    } else {
        assay_provenance_set(p, "os.kernel", NULL);
    }
    set_format(p, "libc.version", "glibc %s", gnu_get_libc_version());
    if (getloadavg(load, 3) == 3) {
        set_format(p, "load.average", "%.2f %.2f %.2f", load[0], load[1], load[2]);
    } else {
        assay_provenance_set(p, "load.average", NULL);
    }
#if defined(__x86_64__)
    /* Control bits only: rounding, flush-to-zero, masks. The sticky flags say nothing about the run. */
    set_format(p, "mxcsr", "0x%04x", _mm_getcsr() & 0xffc0u);
#else
    assay_provenance_set(p, "mxcsr", NULL);
#endif
}

static void collect_environment(assay_provenance *p) {
    static const char *const relevant[] = {
        "CUDA_", "NVCC_", "OMP_", "LD_PRELOAD=", "MALLOC_", "TORCH_", "GLIBC_TUNABLES="};
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        char key[256];
        for (size_t i = 0; equals != NULL && i < sizeof relevant / sizeof relevant[0]; i++) {
            if (strncmp(*entry, relevant[i], strlen(relevant[i])) == 0) {
                (void)snprintf(key, sizeof key, "env.%.*s", (int)(equals - *entry), *entry);
                assay_provenance_set(p, key, equals + 1);
            }
        }
    }
}

assay_code assay_provenance_collect(const char *candidate_path, const char *source_dir,
                                    assay_provenance **provenance, assay_error *error) {
    char now[32];
    assay_provenance *p = calloc(1, sizeof *p);
    *provenance = NULL;
    if (p != NULL) {
        collect_build(p);
        collect_candidate(p, candidate_path, source_dir);
        collect_machine(p);
        collect_environment(p);
        assay_wall_text(assay_wall_ms(), now);
        assay_provenance_set(p, "time", now);
    }
    if (p == NULL || p->failed) {
        assay_provenance_free(p);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while collecting provenance");
    }
    *provenance = p;
    return ASSAY_CODE_OK;
}
