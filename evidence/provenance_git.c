/* provenance_git.c - runs git as a child with a deadline and a bare environment. */
#include "provenance_git.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OUTPUT ((size_t)64 << 20)

typedef struct output {
    char *text; /* malloc'ed, NUL after the last byte; NULL when empty */
    size_t bytes, capacity;
} output;

static bool output_add(output *out, const char *bytes, size_t n) {
    if (out->bytes + n + 1 > out->capacity) {
        const size_t wanted = (out->bytes + n + 1) * 2;
        char *grown = wanted > MAX_OUTPUT ? NULL : realloc(out->text, wanted);
        if (grown == NULL) {
            return false;
        }
        out->text = grown;
        out->capacity = wanted;
    }
    memcpy(out->text + out->bytes, bytes, n);
    out->bytes += n;
    out->text[out->bytes] = '\0';
    return true;
}

/* Only what git needs: no GIT_DIR and the like of a caller's hook may point it elsewhere. `slots` owns the
 * strings. */
static void make_environment(char slots[3][4200], char *environment[8]) {
    static const char *const kept[] = {"PATH", "HOME", "XDG_CONFIG_HOME"};
    static char fixed[4][32] = {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat"};
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(kept[i]);
        if (value != NULL && strlen(value) < 4096) {
            (void)snprintf(slots[i], sizeof slots[i], "%s=%s", kept[i], value);
            environment[n++] = slots[i];
        }
    }
    for (size_t i = 0; i < 4; i++) {
        environment[n++] = fixed[i];
    }
    environment[n] = NULL;
}

static bool spawn(char *const argv[], int write_end, pid_t *pid) {
    char slots[3][4200];
    char *environment[8];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    make_environment(slots, environment);
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool ok = posix_spawnattr_init(&attributes) == 0;
    if (ok) {
        /* A group of its own, so that a time-out ends git's children too. */
        ok = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP) == 0 &&
             posix_spawnattr_setpgroup(&attributes, 0) == 0 &&
             posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
             posix_spawn_file_actions_adddup2(&actions, write_end, 1) == 0 &&
             posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0 &&
             posix_spawnp(pid, argv[0], &actions, &attributes, argv, environment) == 0;
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return ok;
}

/* Reads until the end of the stream; false on time-out or too much output. */
static bool drain(int fd, unsigned timeout_ms, output *out) {
    const uint64_t deadline = assay_deadline_ns() + (uint64_t)timeout_ms * 1000000u;
    char chunk[16384];
    for (;;) {
        const uint64_t now = assay_deadline_ns();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now >= deadline) {
            return false;
        }
        const int ready = poll(&p, 1, (int)((deadline - now) / 1000000) + 1);
        if (ready <= 0) {
            if (ready < 0 && errno != EINTR) {
                return false;
            }
            continue;
        }
        const ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0) {
            return true;
        }
        if ((n < 0 && errno != EINTR) || (n > 0 && !output_add(out, chunk, (size_t)n))) {
            return false;
        }
    }
}

/* Runs a program; true when it exited with 0 in time. out->text is the caller's to free in any case. */
static bool ask(char *const argv[], unsigned timeout_ms, output *out) {
    int ends[2];
    pid_t pid = 0;
    *out = (output){.text = NULL};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    const bool started = spawn(argv, ends[1], &pid);
    (void)close(ends[1]);
    bool ok = started && drain(ends[0], timeout_ms, out);
    (void)close(ends[0]);
    if (started) {
        int status = 0;
        if (!ok) {
            (void)kill(-pid, SIGKILL);
        }
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return ok;
}

#define MAX_ARGS 8
/* Whom to ask, about what, for how long. */
typedef struct question {
    const char *git, *directory;
    unsigned timeout_ms;
} question;

/* git -C directory -c core.fsmonitor=false -c core.hooksPath=/dev/null <args...> */
static bool ask_git(const question *q, const char *const args[MAX_ARGS], output *out) {
    const char *argv[8 + MAX_ARGS] = {
        q->git, "-C", q->directory, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"};
    for (size_t i = 0; i < MAX_ARGS && args[i] != NULL; i++) {
        argv[7 + i] = args[i];
    }
    /* posix_spawn does not write to its arguments. */
    return ask((char *const *)(const void *)argv, q->timeout_ms, out);
}

/* One line into a fixed buffer; "unknown" when there is none or it does not fit. */
static bool ask_line(const question *q, const char *const args[MAX_ARGS], char *line, size_t bytes) {
    output out;
    bool ok =
        ask_git(q, args, &out) && out.bytes > 1 && out.text[out.bytes - 1] == '\n' && out.bytes <= bytes;
    if (ok) {
        out.text[out.bytes - 1] = '\0';
    }
    (void)snprintf(line, bytes, "%s", ok ? out.text : ASSAY_UNKNOWN);
    free(out.text);
    return ok;
}

/* True when the index was told not to look at some existing file: `list` is the output of ls-files -v -z, "T
 * path" NUL ... */
static bool hides_files(const char *root, const output *list) {
    char path[8192];
    for (size_t i = 0; i < list->bytes; i += strlen(list->text + i) + 1) {
        const char *entry = list->text + i;
        if (entry[0] >= 'a' && entry[0] <= 'z') {
            return true;
        }
        if (entry[0] == 'S' && entry[1] == ' ') {
            const int n = snprintf(path, sizeof path, "%s/%s", root, entry + 2);
            if (n < 0 || (size_t)n >= sizeof path || access(path, F_OK) == 0) {
                return true;
            }
        }
    }
    return false;
}

void assay_git_inspect(const char *git, const char *directory, unsigned timeout_ms, assay_git_state *state) {
    static const char *const toplevel[MAX_ARGS] = {"rev-parse", "--show-toplevel"};
    static const char *const head[MAX_ARGS] = {"rev-parse", "--verify", "HEAD"};
    static const char *const status[MAX_ARGS] = {"status", "--porcelain", "--untracked-files=normal",
                                                 "--ignore-submodules=none"};
    static const char *const index[MAX_ARGS] = {"ls-files", "-v", "-z"};
    question q = {git != NULL ? git : "git", directory, timeout_ms};
    output out;
    state->dirty = ASSAY_UNKNOWN;
    (void)snprintf(state->commit, sizeof state->commit, ASSAY_UNKNOWN);
    if (!ask_line(&q, toplevel, state->root, sizeof state->root)) {
        return;
    }
    q.directory = state->root;
    (void)ask_line(&q, head, state->commit, sizeof state->commit);
    if (ask_git(&q, status, &out)) {
        state->dirty = out.bytes > 0 ? "yes" : "no";
    }
    free(out.text);
    if (strcmp(state->dirty, "no") == 0) {
        const bool listed = ask_git(&q, index, &out);
        state->dirty = !listed ? ASSAY_UNKNOWN : hides_files(state->root, &out) ? "yes" : "no";
        free(out.text);
    }
}
