/* worker_process.c - starting, talking to and ending one untrusted process.
 *
 * The process is watched through its pidfd, so the judge's SIGCHLD disposition is neither used nor changed.
 * Ending it kills its process group while the process is still a zombie: the number cannot have been given to
 * others yet. */
#include "worker_process.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_PATIENCE_MS 20000

bool assay_process_init(assay_process *process, assay_error *error) {
    *process = (assay_process){.pid = -1, .pidfd = -1, .socket = -1, .stderr_fd = -1};
    if (!assay_reader_init(&process->reader)) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
        return false;
    }
    return true;
}

void assay_process_free(assay_process *process) {
    assay_reader_free(&process->reader);
}

static void close_fd(int *fd) {
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

assay_code assay_process_start(assay_process *process, const char *const *argv, const assay_arena *arena,
                               size_t memory_limit_bytes, assay_error *error) {
    int sockets[2] = {-1, -1};
    int pipes[2] = {-1, -1};
    assay_code code = ASSAY_CODE_INTERNAL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 ||
        pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "starting a worker: %s", strerror(errno));
    } else {
        assay_spawn spawn = {.argv = argv,
                             .socket_fd = sockets[1],
                             .arena_fd = assay_arena_fd(arena),
                             .stderr_fd = pipes[1],
                             .memory_limit_bytes = memory_limit_bytes,
                             .arena_bytes = assay_arena_bytes(arena)};
        code = assay_spawn_run(&spawn, error);
        process->pid = code == ASSAY_CODE_OK ? spawn.pid : -1;
        process->pidfd = code == ASSAY_CODE_OK ? spawn.pidfd : -1;
    }
    close_fd(&sockets[1]);
    close_fd(&pipes[1]);
    if (code != ASSAY_CODE_OK) {
        close_fd(&sockets[0]);
        close_fd(&pipes[0]);
        return code;
    }
    process->socket = sockets[0];
    process->stderr_fd = pipes[0];
    process->reader.begin = process->reader.end = 0;
    process->tail_used = 0;
    return ASSAY_CODE_OK;
}

static void drain_stderr(assay_process *p) {
    char chunk[4096];
    for (int round = 0; round < 32; round++) { /* bounded: the writer may be faster than we are */
        const ssize_t n = p->stderr_fd < 0 ? 0 : read(p->stderr_fd, chunk, sizeof chunk);
        if (n == 0) {
            close_fd(&p->stderr_fd); /* every writer is gone; polling it further would spin */
        }
        if (n <= 0) {
            return;
        }
        const size_t got = (size_t)n;
        const size_t keep = got >= ASSAY_TAIL_BYTES                 ? 0
                            : p->tail_used + got > ASSAY_TAIL_BYTES ? ASSAY_TAIL_BYTES - got
                                                                    : p->tail_used;
        const size_t take = got > ASSAY_TAIL_BYTES ? ASSAY_TAIL_BYTES : got;
        memmove(p->tail, p->tail + p->tail_used - keep, keep);
        memcpy(p->tail + keep, chunk + got - take, take);
        p->tail_used = keep + take;
    }
}

const char *assay_process_tail(assay_process *process) {
    drain_stderr(process);
    while (process->tail_used > 0 && process->tail[process->tail_used - 1] == '\n') {
        process->tail_used--;
    }
    for (size_t i = 0; i < process->tail_used; i++) {
        const unsigned char c = (unsigned char)process->tail[i];
        process->tail[i] = c == '\n' ? '|' : c < 0x20 || c > 0x7e ? '?' : (char)c;
    }
    process->tail[process->tail_used] = '\0';
    return process->tail;
}

/* Milliseconds until the deadline, rounded up, as poll wants them. */
static int remaining_ms(uint64_t deadline_ns) {
    const uint64_t now = assay_deadline_ns();
    if (now >= deadline_ns) {
        return 0;
    }
    const uint64_t ms = (deadline_ns - now + 999999) / 1000000;
    return ms > 1000000 ? 1000000 : (int)ms;
}

bool assay_process_send(assay_process *process, const assay_line *line, uint64_t deadline_ns) {
    size_t done = 0;
    while (done < line->used) {
        const ssize_t n =
            send(process->socket, line->bytes + done, line->used - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            done += (size_t)n;
            continue;
        }
        if (errno == EAGAIN) {
            struct pollfd ready = {.fd = process->socket, .events = POLLOUT};
            if (poll(&ready, 1, remaining_ms(deadline_ns)) == 0 && assay_deadline_ns() >= deadline_ns) {
                return false;
            }
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Reads what is there, the first time with some patience. Returns true when the wait is over, with *end set.
 */
static bool take(assay_process *p, bool patient, assay_wait_end *end, const char **line, size_t *n) {
    for (;; patient = false) {
        const long got = patient ? assay_reader_spin(&p->reader, p->socket)
                                 : assay_reader_fill(&p->reader, p->socket, MSG_DONTWAIT);
        *line = assay_reader_line(&p->reader, n);
        if (*line != NULL) {
            *end = ASSAY_WAIT_LINE;
            return true;
        }
        if (got == -2) {
            *end = ASSAY_WAIT_TOO_LONG;
            return true;
        }
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            *end = ASSAY_WAIT_CLOSED;
            return true;
        }
        if (got < 0) {
            return false;
        }
    }
}

assay_wait_end assay_process_wait(assay_process *process, uint64_t deadline_ns, const char **line,
                                  size_t *n) {
    assay_wait_end end = ASSAY_WAIT_DEADLINE;
    *line = assay_reader_line(&process->reader, n);
    if (*line != NULL) {
        return ASSAY_WAIT_LINE;
    }
    if (take(process, true, &end, line, n)) {
        return end;
    }
    for (;;) {
        struct pollfd fds[3] = {{.fd = process->socket, .events = POLLIN},
                                {.fd = process->pidfd, .events = POLLIN},
                                {.fd = process->stderr_fd, .events = POLLIN}};
        const int ready = poll(fds, 3, remaining_ms(deadline_ns));
        if (ready < 0 && errno != EINTR) {
            return ASSAY_WAIT_CLOSED;
        }
        if (ready > 0 && fds[0].revents != 0 && take(process, false, &end, line, n)) {
            return end;
        }
        if (ready > 0 && fds[2].revents != 0) {
            drain_stderr(process);
        }
        if (ready > 0 && fds[1].revents != 0) {
            /* Dead, but a last line may have arrived since; helpers may still hold the socket open. */
            return take(process, false, &end, line, n) && end == ASSAY_WAIT_LINE ? end : ASSAY_WAIT_DEAD;
        }
        if (assay_deadline_ns() >= deadline_ns) {
            return ASSAY_WAIT_DEADLINE;
        }
    }
}

bool assay_process_has_input(assay_process *process) {
    char byte = 0;
    if (process->reader.end > process->reader.begin) {
        return true;
    }
    return recv(process->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static bool ended_within(const assay_process *p, int ms) {
    const uint64_t deadline = assay_deadline_ns() + (uint64_t)ms * 1000000u;
    for (;;) {
        struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
        if (poll(&fd, 1, remaining_ms(deadline)) > 0) {
            return true;
        }
        if (assay_deadline_ns() >= deadline) {
            return false;
        }
    }
}

bool assay_process_has_ended(const assay_process *process) {
    return ended_within(process, 0);
}

static void describe(const siginfo_t *info, char *text, size_t text_bytes) {
    if (info->si_code == CLD_EXITED) {
        (void)snprintf(text, text_bytes, "exited with code %d", info->si_status);
        return;
    }
    const char *name = sigabbrev_np(info->si_status);
    const char *what = sigdescr_np(info->si_status);
    (void)snprintf(text, text_bytes, "killed by SIG%s (%s)", name == NULL ? "?" : name,
                   what == NULL ? "?" : what);
}

static bool is_stopped(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

void assay_process_end(assay_process *process, unsigned patience_ms, char *text, size_t text_bytes) {
    char unused[64];
    siginfo_t info = {0};
    if (text == NULL) {
        text = unused;
        text_bytes = sizeof unused;
    }
    text[0] = '\0';
    if (process->pid < 0) {
        return;
    }
    const bool by_itself = ended_within(process, (int)patience_ms);
    if (!by_itself && is_stopped(process->pid)) {
        (void)snprintf(text, text_bytes, "was stopped");
    }
    (void)kill(process->pid, SIGKILL);
    const bool ended = ended_within(process, KILL_PATIENCE_MS);
    (void)kill(-process->pid, SIGKILL); /* its children, while the zombie still reserves the number */
    if (!ended) {
        (void)snprintf(text, text_bytes, "does not end on SIGKILL (stuck in the kernel)");
    } else if (waitid(P_PID, (id_t)process->pid, &info, WEXITED) == 0 && by_itself) {
        describe(&info, text, text_bytes);
    } else if (by_itself) {
        (void)snprintf(text, text_bytes, "ended (how is unknown: SIGCHLD is ignored)");
    }
    (void)assay_process_tail(process);
    close_fd(&process->pidfd);
    close_fd(&process->socket);
    close_fd(&process->stderr_fd);
    process->pid = -1;
}
