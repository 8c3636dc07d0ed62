/* worker_spawn.h - starting an untrusted program with nothing but what it needs. Private to worker.c. */
#ifndef ASSAY_WORKER_SPAWN_H
#define ASSAY_WORKER_SPAWN_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sanitizer builds need huge address spaces and ptrace: limits and the filter are off there. */
#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_UNDER_ASAN 1
#endif
#endif
#ifndef ASSAY_UNDER_ASAN
#define ASSAY_UNDER_ASAN 0
#endif

typedef struct assay_spawn {
    const char *const *argv; /* argv[0] is the file to execute */
    int socket_fd;           /* becomes descriptor 3 */
    int arena_fd;            /* becomes descriptor 4 */
    int stderr_fd;           /* becomes descriptor 2 */
    size_t memory_limit_bytes;
    size_t arena_bytes;
    pid_t pid;        /* out */
    int pidfd;        /* out */
    int error;        /* out: errno of the step that failed */
    const char *step; /* out: that step */
} assay_spawn;

/* Starts the program in its own process group; it dies with the judge. Returns INTERNAL with the failed step;
 * then nothing is left running. Safe from any thread. */
assay_code assay_spawn_run(assay_spawn *spawn, assay_error *error);

typedef enum assay_program_kind {
    ASSAY_PROGRAM_LIBRARY,  /* a shared library: hosted by `assay worker` */
    ASSAY_PROGRAM_EXTERNAL, /* an executable that speaks the protocol */
} assay_program_kind;

/* Says what a file is. USAGE with one line when it is neither, cannot be read, or is no regular file. */
assay_code assay_program_detect(const char *path, assay_program_kind *kind, assay_error *error);

#endif
