/* report_process.c - see the header. */
#include "report_process.h"

#include "clock.h"
#include "report_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits for the child; false when it had to be killed. */
static bool wait_for(pid_t child, int timeout_ms, int *status) {
    const uint64_t deadline = assay_deadline_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        const pid_t done = waitpid(child, status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) {
            return done == child;
        }
        if (assay_deadline_ns() > deadline) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, status, 0);
            return false;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

static void last_line(const char *path, char *said, size_t bytes) {
    char *text = NULL;
    size_t n = 0;
    said[0] = '\0';
    if (!report_file_read(path, &text, &n)) {
        return;
    }
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) {
        text[--n] = '\0';
    }
    const char *line = strrchr(text, '\n');
    (void)snprintf(said, bytes, "%s", line == NULL ? text : line + 1);
    free(text);
}

static int spawn_in(pid_t *child, const char *const *argv, const char *directory) {
    /* No HOME: a user's settings and fonts stay out of the figures, and no cache is written. */
    char home[] = "HOME=/nonexistent";
    char cache[] = "XDG_CACHE_HOME=/nonexistent";
    char path[4096];
    const char *search = getenv("PATH");
    (void)snprintf(path, sizeof path, "PATH=%s", search == NULL ? "/usr/bin:/bin" : search);
    char lang[] = "LC_ALL=C.UTF-8";
    char zone[] = "TZ=UTC";
    char *const environment[] = {path, home, cache, lang, zone, NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) {
        return rc;
    }
    (void)posix_spawn_file_actions_addchdir_np(&actions, directory);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    rc = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (rc == 0) {
        rc = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environment);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

assay_code report_process_run(const char *const *argv, const char *directory, int timeout_ms, char *said,
                              size_t said_bytes, assay_error *error) {
    pid_t child = 0;
    int status = 0;
    char path[600];
    const int rc = spawn_in(&child, argv, directory);
    if (rc == ENOENT) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s is not installed", argv[0]);
    }
    if (rc != 0) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s cannot be started: %s", argv[0], strerror(rc));
    }
    const bool ended = wait_for(child, timeout_ms, &status);
    (void)snprintf(path, sizeof path, "%s/said", directory);
    last_line(path, said, said_bytes);
    if (!ended) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s did not end within %d s", argv[0],
                          timeout_ms / 1000);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s failed: %s", argv[0], said);
    }
    return ASSAY_CODE_OK;
}

void report_process_clear(const char *directory) {
    DIR *list = opendir(directory);
    if (list == NULL) {
        return;
    }
    for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            (void)unlinkat(dirfd(list), e->d_name, 0);
        }
    }
    (void)closedir(list);
    (void)rmdir(directory);
}
