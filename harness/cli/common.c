/* common.c - what several commands need: finding adapters, opening the database, progress. */
#include "cli.h"

#include "device.h"

#include "clock.h"
#include "text.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directory of the running binary (static storage). */
static const char *self_directory(void) {
    static char directory[PATH_MAX];
    if (directory[0] == '\0') {
        ssize_t n = readlink("/proc/self/exe", directory, sizeof directory - 1);
        directory[n > 0 ? n : 0] = '\0';
        char *slash = strrchr(directory, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    return directory;
}

#define MAX_DIRECTORIES 16

const char *const *cli_impl_directories(void) {
    static char *list[MAX_DIRECTORIES + 1];
    size_t n = 0;
    if (list[0] != NULL) {
        return (const char *const *)list;
    }
    const char *extra = getenv("ASSAY_IMPL_PATH");
    char *copy = strdup(extra != NULL ? extra : "");
    for (char *save = NULL, *p = strtok_r(copy, ":", &save); p != NULL && n < 8;
         p = strtok_r(NULL, ":", &save)) {
        list[n++] = strdup(p);
    }
    free(copy);
    static const char *const places[] = {
        "impls",          "../../impls",        "../../impls/shims",   "../impls",
        "../impls/shims", "../lib/assay/impls", "../lib/*/assay/impls"};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && n < MAX_DIRECTORIES; i++) {
        char pattern[PATH_MAX + 64];
        char resolved[PATH_MAX];
        glob_t found = {0};
        (void)snprintf(pattern, sizeof pattern, "%s/%s", self_directory(), places[i]);
        if (glob(pattern, GLOB_ONLYDIR, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc && n < MAX_DIRECTORIES; k++) {
                if (realpath(found.gl_pathv[k], resolved) != NULL) {
                    list[n++] = strdup(resolved);
                }
            }
        }
        globfree(&found);
    }
    list[n] = NULL;
    return (const char *const *)list;
}

static bool regular(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

assay_code cli_resolve_impl(const char *option, const char *text, char **path, assay_error *error) {
    struct stat st;
    if (text[0] == '\0') {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: the name is empty", option);
    }
    if (!assay_text_printable(text)) { /* it stands in the verdict line, in evidence and in JSON */
        return assay_fail(error, ASSAY_CODE_USAGE, "%s %s: the name must be printable UTF-8 on one line",
                          option, text);
    }
    for (const char *const *d = cli_impl_directories();
         *d != NULL && strncmp(text, "./", 2) != 0 && text[0] != '/'; d++) {
        static const char *const forms[] = {".so", "/adapter.py", ""};
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            if (asprintf(path, "%s/%s%s", *d, text, forms[i]) < 0) {
                abort();
            }
            if (regular(*path)) {
                return ASSAY_CODE_OK;
            }
            free(*path);
            *path = NULL;
        }
    }
    if (stat(text, &st) != 0) {
        bool name = strchr(text, '/') == NULL && strchr(text, '.') == NULL;
        return assay_fail(error, ASSAY_CODE_USAGE, "%s %s: %s%s", option, text,
                          name ? "no such implementation" : strerror(errno),
                          name ? " (assay list shows them; a file needs its path, e.g. ./mine.so)" : "");
    }
    if (!S_ISREG(st.st_mode)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s %s: not a regular file", option, text);
    }
    *path = realpath(text, NULL);
    if (*path == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s %s: %s", option, text, strerror(errno));
    }
    return ASSAY_CODE_OK;
}

assay_code cli_open_store(const cli_args *args, assay_store_mode mode, assay_store **store,
                          assay_error *error) {
    return assay_store_open(cli_get(args, "db", "assay.db"), mode, store, error);
}

void cli_close_store(const cli_args *args, assay_store *store, bool existed) {
    sqlite3_stmt *s = NULL;
    bool empty =
        sqlite3_prepare_v2(assay_store_handle(store), "SELECT 1 FROM run", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_DONE;
    (void)sqlite3_finalize(s);
    assay_store_close(store);
    if (empty && !existed) {
        (void)unlink(cli_get(args, "db", "assay.db"));
    }
}

assay_code cli_find_resumed(const cli_args *args, int64_t *run_id, assay_error *error) {
    assay_store *store = NULL;
    const char *resume = cli_get(args, "resume", NULL);
    if (resume == NULL) {
        return ASSAY_CODE_OK;
    }
    assay_code code = cli_open_store(args, ASSAY_STORE_READ, &store, error);
    if (code == ASSAY_CODE_OK) {
        code = assay_store_run_find(store, resume, run_id, error);
        assay_store_close(store);
    }
    return code;
}

assay_code cli_check_device(const cli_args *args, assay_error *error) {
    const char *device = cli_get(args, "device", "cpu");
    if (strcmp(device, "cpu") == 0 || assay_device_ordinal(device) >= 0) {
        return ASSAY_CODE_OK;
    }
    return assay_fail(error, ASSAY_CODE_USAGE, "--device %s: unknown device (use cpu or cuda:N)", device);
}

assay_code cli_check_source(const cli_args *args, assay_error *error) {
    struct stat st;
    const char *source = cli_get(args, "source", NULL);
    if (source == NULL) {
        return ASSAY_CODE_OK;
    }
    if (stat(source, &st) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--source %s: %s", source, strerror(errno));
    }
    return S_ISDIR(st.st_mode) ? ASSAY_CODE_OK
                               : assay_fail(error, ASSAY_CODE_USAGE, "--source %s: not a directory", source);
}

void cli_progress_start(cli_progress *p, bool quiet) {
    *p = (cli_progress){.start_ns = assay_deadline_ns(),
                        .terminal = isatty(STDERR_FILENO) != 0,
                        .quiet = quiet,
                        .unit = "checks",
                        .scale = 1.0};
    p->last_ns = p->start_ns;
}

static void print_time(FILE *out, double seconds) {
    if (seconds < 100.0) {
        (void)fprintf(out, "%.0f s", seconds);
    } else {
        (void)fprintf(out, "%ld min %02ld s", (long)seconds / 60, (long)seconds % 60);
    }
}

void cli_progress_show(cli_progress *p, uint64_t done, uint64_t total, const char *what) {
    uint64_t now = assay_deadline_ns();
    uint64_t pause = p->terminal ? 100000000U : 10000000000U;
    if (p->quiet || now - p->last_ns < pause) {
        return;
    }
    p->last_ns = now;
    double elapsed = (double)(now - p->start_ns) * 1e-9;
    double share = total > 0 ? (double)done / (double)total : 0.0;
    double rate = elapsed > 0.0 ? (double)done * p->scale / elapsed : 0.0;
    if (p->terminal) {
        char bar[31];
        for (int i = 0; i < 30; i++) {
            bar[i] = (double)i < share * 30.0 ? '#' : '-';
        }
        bar[30] = '\0';
        (void)fprintf(stderr, "\r\033[K[%s] %3.0f %%  %.3g %s/s  ETA ", bar, share * 100.0, rate, p->unit);
        print_time(stderr, share > 0.0 ? elapsed * (1.0 - share) / share : 0.0);
        (void)fprintf(stderr, "  %.40s", what != NULL ? what : "");
        p->open_line = true;
    } else {
        (void)fprintf(stderr, "assay: %3.0f %%, %.3g %s/s, ETA ", share * 100.0, rate, p->unit);
        print_time(stderr, share > 0.0 ? elapsed * (1.0 - share) / share : 0.0);
        (void)fprintf(stderr, ", at %s\n", what != NULL ? what : "the end");
    }
    (void)fflush(stderr);
}

void cli_progress_end(cli_progress *p) {
    if (p->open_line) {
        (void)fputs("\r\033[K", stderr);
        p->open_line = false;
    }
}

static void hook_step(void *context, uint64_t done, uint64_t total, const char *name) {
    cli_progress_show(context, done, total, name);
}

static void hook_trouble(void *context, const char *name, assay_outcome outcome, const char *reason,
                         const char *repro) {
    cli_progress *p = context;
    if (p->quiet) {
        return;
    }
    cli_progress_end(p);
    (void)fprintf(stderr, "%s %s: %s\n", assay_outcome_text(outcome), name, reason);
    if (outcome == ASSAY_OUTCOME_FAIL || outcome == ASSAY_OUTCOME_ERROR ||
        outcome == ASSAY_OUTCOME_MISTRUSTED) {
        (void)fprintf(stderr, "  reproduce: %s\n", repro);
    }
}

assay_progress cli_progress_hooks(cli_progress *p) {
    return (assay_progress){.step = hook_step, .trouble = hook_trouble, .context = p};
}
