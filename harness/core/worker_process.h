/* worker_process.h - one untrusted process as the judge holds it: pid, pidfd, socket, captured stderr.
 * Private to worker.c.
 *
 * It knows bytes and deadlines, not calls. */
#ifndef ASSAY_WORKER_PROCESS_H
#define ASSAY_WORKER_PROCESS_H

#include "protocol.h"
#include "worker_spawn.h"

#include <signal.h>

#define ASSAY_TAIL_BYTES 200u

typedef struct assay_process {
    pid_t pid; /* -1 when none */
    int pidfd, socket, stderr_fd;
    assay_reader reader;
    char tail[ASSAY_TAIL_BYTES + 1]; /* the last bytes that it wrote to stderr */
    size_t tail_used;
} assay_process;

/* Why a wait for a line ended. */
typedef enum assay_wait_end {
    ASSAY_WAIT_LINE,     /* a line is there */
    ASSAY_WAIT_DEADLINE, /* nothing until the deadline */
    ASSAY_WAIT_CLOSED,   /* end of file or error on the socket */
    ASSAY_WAIT_DEAD,     /* the process ended and left no complete line */
    ASSAY_WAIT_TOO_LONG, /* a line without end */
} assay_wait_end;

bool assay_process_init(assay_process *process, assay_error *error);
void assay_process_free(assay_process *process);
assay_code assay_process_start(assay_process *process, const char *const *argv, const assay_arena *arena,
                               size_t memory_limit_bytes, assay_error *error);
/* Deadlines are times of assay_deadline_ns (clock.h).
 *
 * Sends the whole line before the deadline; false when it cannot (peer gone, or not reading). */
bool assay_process_send(assay_process *process, const assay_line *line, uint64_t deadline_ns);
/* Waits for a line; *line and *n are set for ASSAY_WAIT_LINE. */
assay_wait_end assay_process_wait(assay_process *process, uint64_t deadline_ns, const char **line, size_t *n);
/* True when bytes have arrived that nobody asked for. Does not block. */
bool assay_process_has_input(assay_process *process);
/* True when the process has ended (not reaped yet). Does not block. */
bool assay_process_has_ended(const assay_process *process);
/* Ends the process group and reaps the process. `text` (may be NULL) gets how the process ended if it ended
 * by itself within `patience_ms`, else "" - or "was stopped" when it had stopped itself. */
void assay_process_end(assay_process *process, unsigned patience_ms, char *text, size_t text_bytes);
/* The captured end of stderr as one printable line; "" when nothing was written. */
const char *assay_process_tail(assay_process *process);

#endif
