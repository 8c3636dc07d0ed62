/* faults.c - candidates that take the worker process down or talk nonsense to the judge (h3.md 9.36). They do
 * so at seven rows, forward only, so that the rest of the run shows that one check is lost and no more. */
#include "mutant.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONTROL_FD = 3 };

static void wait_for_ever(void) {
    for (;;) {
        (void)pause();
    }
}

static void say(const void *bytes, size_t n) {
    (void)send(CONTROL_FD, bytes, n, MSG_NOSIGNAL);
}

static void segv(void) {
    (void)raise(SIGSEGV);
}

static void exit_zero(void) {
    exit(0);
}

static void exit_three(void) {
    _exit(3);
}

static void loop(void) {
    for (volatile unsigned i = 0;; i++) {
    }
}

static void stop(void) {
    (void)raise(SIGSTOP);
}

static void garbage(void) {
    static const unsigned char bytes[] = "\xff\xfe\x80 no JSON {{{\n\0\n[1,2\n";
    say(bytes, sizeof bytes);
}

static void half_message(void) {
    static const char text[] = "{\"type\":\"result\",\"id\":\"00";
    say(text, sizeof text - 1);
    wait_for_ever();
}

static void close_socket(void) {
    (void)close(CONTROL_FD);
    wait_for_ever();
}

static void allocate(void) {
    for (;;) {
        volatile char *p = malloc((size_t)64 << 20);
        if (p == NULL) {
            abort();
        }
        *p = 1;
    }
}

static unsigned deeper(unsigned depth) {
    volatile char frame[4096] = {0};
    frame[depth % sizeof frame] = (char)depth;
    return depth == 0xffffffffu ? 0u : deeper(depth + 1u) + (unsigned)frame[0];
}

static void stack(void) {
    volatile unsigned result = deeper(0);
    (void)result;
}

static void *spin(void *user) {
    (void)user;
    loop();
    return NULL;
}

static void leave_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spin, NULL) == 0) {
        (void)pthread_detach(thread);
    }
    wait_for_ever();
}

static void (*fault(void))(void) {
    static void (*const faults[M_COUNT])(void) = {
        [M_run_segv] = segv,
        [M_run_abort] = abort,
        [M_run_exit_zero] = exit_zero,
        [M_run_exit_three] = exit_three,
        [M_run_loop] = loop,
        [M_run_stop] = stop,
        [M_run_garbage] = garbage,
        [M_run_half_message] = half_message,
        [M_run_close_socket] = close_socket,
        [M_run_allocate] = allocate,
        [M_run_stack] = stack,
        [M_run_threads] = leave_thread,
    };
    return faults[mutant_current];
}

static assay_status faulty(const mutant_args *a) {
    if (a->rows != 7 || a->backward) {
        return mutant_compute(a);
    }
    if (IS(run_bad_status)) {
        return (assay_status)77;
    }
    fault()();
    return mutant_compute(a);
}

mutant_body mutant_runner_body(void) {
    return fault() != NULL || IS(run_bad_status) ? faulty : NULL;
}
