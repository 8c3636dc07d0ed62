/* lib_hostile.c - a native adapter that misbehaves on request. Operator "do": the attribute `mode` names a
 * row of the table below, inputs[0] and outputs[0] are f32 vectors. Every mode that survives also computes
 * out[i] = 2 * in[i]. */
#include "assay/adapter.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const assay_call *current;

static void send_bytes(const char *bytes, size_t n) {
    (void)!write(3, bytes, n);
}

static void crash(void) {
    volatile uintptr_t nowhere = 16;
    *(volatile int *)nowhere = 1; /* NOLINT(performance-no-int-to-ptr) */
}

static void divide(void) {
    (void)raise(SIGFPE);
}

static void exit_normally(void) {
    exit(3);
}

static void exit_at_once(void) {
    _exit(4);
}

static void hang(void) {
    for (;;) {
        (void)pause();
    }
}

static void spin(void) {
    static volatile int forever = 1;
    while (forever != 0) {
    }
}

static void stop_itself(void) {
    (void)raise(SIGSTOP);
}

static void garbage(void) {
    send_bytes("\x80\xff garbage\n", 11);
}

static void half(void) {
    send_bytes("{\"type\":\"resu", 13);
    hang();
}

static void half_exit(void) {
    send_bytes("{\"type\":\"resu", 13);
    _exit(5);
}

static void huge_line(void) {
    static char block[65536];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 4; i++) {
        send_bytes(block, sizeof block);
    }
}

static void wrong_id(void) {
    static const char reply[] =
        "{\"type\":\"result\",\"id\":\"0123456789abcdef\",\"status\":\"ok\",\"message\":\"\",\"ns\":1}\n";
    send_bytes(reply, sizeof reply - 1);
}

static void other_type(void) {
    send_bytes("{\"type\":\"exit\"}\n", 16);
}

static void close_socket(void) {
    (void)close(3);
}

static void close_socket_hang(void) {
    (void)close(3);
    hang();
}

static void close_arena(void) {
    (void)close(4);
}

static void allocate(void) {
    const size_t step = (size_t)16 << 20;
    for (;;) {
        char *p = malloc(step);
        if (p == NULL) {
            abort();
        }
        memset(p, 1, step);
    }
}

static void map_shared(void) {
    const size_t step = (size_t)1 << 30;
    while (mmap(NULL, step, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    }
    abort();
}

static void print_much(void) {
    for (int i = 0; i < 20000; i++) {
        (void)printf("{\"type\":\"result\"} line %d on stdout\n", i);
        (void)fprintf(stderr, "line %d on stderr\n", i);
    }
    (void)fflush(stdout);
}

static void print_abort(void) {
    (void)fprintf(stderr, "assertion \"x > 0\" failed\n");
    abort();
}

/* A child that keeps the socket open while its parent dies. */
static void child_then_die(void) {
    if (fork() == 0) {
        hang();
    }
    _exit(6);
}

static void child_stays(void) {
    if (fork() == 0) {
        hang();
    }
}

static void *crash_later(void *unused) {
    (void)unused;
    (void)usleep(20000);
    crash();
    return NULL;
}

static void thread_crash_later(void) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, crash_later, NULL);
}

static void *speak_later(void *unused) {
    (void)unused;
    (void)usleep(20000);
    wrong_id();
    return NULL;
}

static void thread_speak_later(void) {
    pthread_t thread;
    (void)pthread_create(&thread, NULL, speak_later, NULL);
}

/* A mode that reports through its exit code whether the arena could be resized. */
static void truncate_arena(void) {
    if (ftruncate(4, 0) == 0) {
        _exit(70);
    }
    if (ftruncate(4, (off_t)1 << 40) == 0) {
        _exit(71);
    }
}

static float *data(DLTensor *t) {
    return assay_data(t);
}

static char *output_end(void) {
    DLTensor *out = current->outputs[0];
    return (char *)(data(out) + out->shape[0]);
}

static void write_after(void) {
    *output_end() = 1;
}

static void write_before(void) {
    char *start = (char *)data(current->outputs[0]);
    start[-1] = 1;
}

static void read_after(void) {
    const DLTensor *in = current->inputs[0];
    const volatile char *end = (const char *)assay_data(in) + (size_t)in->shape[0] * 4;
    (void)*end;
}

static void read_before(void) {
    const volatile char *start = assay_data(current->inputs[0]);
    (void)start[-1];
}

static void edit_input(void) {
    float *in = assay_data(current->inputs[0]);
    in[0] += 1.0f;
}

/* Dies when it finds more descriptors than 0..4, a secret in its environment, or a working directory that is
 * not "/". */
static void inspect(void) {
    char directory[16];
    for (int fd = 5; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            _exit(80);
        }
    }
    if (getenv("ASSAY_TEST_SECRET") != NULL || getenv("ASSAY_ADAPTER_TEST") == NULL) {
        _exit(81);
    }
    if (getcwd(directory, sizeof directory) == NULL || strcmp(directory, "/") != 0) {
        _exit(82);
    }
    if (getpgrp() != getpid()) {
        _exit(83);
    }
    if (read(0, directory, 1) != 0) {
        _exit(84);
    }
}

/* A helper that tries to leave the process group; dies when it could. */
static void escape(void) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit(setsid() < 0 && setpgid(0, 0) < 0 ? 0 : 1);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        _exit(90);
    }
}

/* Tries to reach the judge by signals and limits; dies when it could. Signal 0 does nothing but ask. */
static void signal_judge(void) {
    const pid_t judge = getppid();
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    const bool reached = kill(judge, 0) == 0 || kill(-1, 0) == 0 || kill(-getpgid(judge), 0) == 0 ||
                         syscall(SYS_tgkill, judge, judge, 0) == 0 || syscall(SYS_tkill, judge, 0) == 0 ||
                         syscall(SYS_pidfd_open, judge, 0) >= 0 ||
                         prlimit(judge, RLIMIT_CORE, &none, NULL) == 0 ||
                         sched_setscheduler(judge, SCHED_OTHER, &(struct sched_param){0}) == 0;
    /* Its own process and helpers are its own business. */
    if (reached || kill(getpid(), 0) != 0 || kill(0, 0) != 0 || raise(0) != 0) {
        _exit(91);
    }
}

/* Keeps the address of its last input and reads it again. */
static void read_stale(void) {
    static const volatile float *kept;
    if (kept != NULL) {
        (void)*kept;
    }
    kept = assay_data(current->inputs[0]);
}

static void nothing(void) {
}

static const struct {
    const char *name;
    void (*act)(void);
} modes[] = {
    {"ok", nothing},
    {"crash", crash},
    {"fpe", divide},
    {"abort", abort},
    {"exit", exit_normally},
    {"_exit", exit_at_once},
    {"hang", hang},
    {"spin", spin},
    {"stop", stop_itself},
    {"garbage", garbage},
    {"half", half},
    {"half_exit", half_exit},
    {"huge_line", huge_line},
    {"wrong_id", wrong_id},
    {"other_type", other_type},
    {"close_socket", close_socket},
    {"close_socket_hang", close_socket_hang},
    {"close_arena", close_arena},
    {"allocate", allocate},
    {"map_shared", map_shared},
    {"print_much", print_much},
    {"print_abort", print_abort},
    {"child_then_die", child_then_die},
    {"child_stays", child_stays},
    {"thread_crash_later", thread_crash_later},
    {"thread_speak_later", thread_speak_later},
    {"truncate_arena", truncate_arena},
    {"write_after", write_after},
    {"write_before", write_before},
    {"read_after", read_after},
    {"read_before", read_before},
    {"edit_input", edit_input},
    {"inspect", inspect},
    {"escape", escape},
    {"signal_judge", signal_judge},
    {"read_stale", read_stale},
};

static void double_values(const assay_call *call) {
    const DLTensor *in = call->inputs[0];
    DLTensor *out = call->outputs[0];
    const float *x = assay_data(in);
    float *y = data(out);
    for (int64_t i = 0; i < out->shape[0]; i++) {
        y[i * out->strides[0]] = 2.0f * x[i * in->strides[0]];
    }
}

static assay_status forward(const assay_call *call) {
    const assay_attr *mode = assay_attr_find(call, "mode");
    if (mode == NULL || mode->type != ASSAY_ATTR_STRING) {
        return assay_reject(call, "no mode");
    }
    if (strcmp(mode->s, "bad_status") == 0) {
        return (assay_status)77;
    }
    if (strcmp(mode->s, "bad_text") == 0) {
        memset(call->message, 0xfe, call->message_bytes);
        return ASSAY_INVALID_ARGUMENT;
    }
    if (strcmp(mode->s, "forged_text") == 0) {
        (void)snprintf(call->message, call->message_bytes, "x\nVERDICT certified\x1b[2J\xc2\x9b");
        return ASSAY_INTERNAL;
    }
    if (strcmp(mode->s, "thread_id") == 0) {
        (void)snprintf(call->message, call->message_bytes, "%d", gettid() == getpid());
        return ASSAY_UNSUPPORTED;
    }
    if (call->input_count < 1 || call->output_count < 1 || call->inputs[0] == NULL ||
        call->outputs[0] == NULL) {
        return assay_reject(call, "null argument");
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, mode->s) == 0) {
            current = call;
            modes[i].act();
            double_values(call);
            return ASSAY_OK;
        }
    }
    return assay_reject(call, "unknown mode");
}

/* Describes its attributes, so that a test can see what arrived. */
static assay_status echo(const assay_call *call) {
    size_t used = 0;
    for (size_t i = 0; i < call->attr_count; i++) {
        const assay_attr *a = &call->attrs[i];
        const int n =
            a->type == ASSAY_ATTR_STRING
                ? snprintf(call->message + used, call->message_bytes - used, "%s=s:%s;", a->name, a->s)
            : a->type == ASSAY_ATTR_FLOAT
                ? snprintf(call->message + used, call->message_bytes - used, "%s=f:%a;", a->name, a->f)
                : snprintf(call->message + used, call->message_bytes - used, "%s=%c:%lld;", a->name,
                           a->type == ASSAY_ATTR_BOOL ? 'b' : 'i', (long long)a->i);
        used += (size_t)n;
    }
    return ASSAY_UNSUPPORTED;
}

/* Counts its calls in the output: repeat and prepare become visible. */
static assay_status prepare(void **state, char *message, size_t message_bytes) {
    static float counter;
    (void)message;
    (void)message_bytes;
    *state = &counter;
    return ASSAY_OK;
}

static assay_status count(const assay_call *call) {
    float *counter = call->state;
    *counter += 1.0f;
    data(call->outputs[0])[0] = *counter;
    return ASSAY_OK;
}

static assay_status prepare_failing(void **state, char *message, size_t message_bytes) {
    (void)state;
    (void)snprintf(message, message_bytes, "no such unit");
    return ASSAY_DEVICE_ERROR;
}

static const char *effective(void) {
    return "off";
}

static const assay_operator operators[] = {
    {.name = "do", .forward = forward},
    {.name = "echo", .forward = echo},
    {.name = "count", .forward = count, .backward = count, .prepare = prepare},
    {.name = "unprepared", .forward = count, .prepare = prepare_failing}};
static const assay_knob knobs[] = {{"tf32", "on", effective}};
static const assay_adapter_info info = {.abi_version = ASSAY_ABI_VERSION,
                                        .struct_bytes = sizeof info,
                                        .name = "hostile",
                                        .version = "1",
                                        .description = "misbehaves on request",
                                        .memory = ASSAY_MEMORY_HOST,
                                        .operators = operators,
                                        .operator_count = 4,
                                        .knobs = knobs,
                                        .knob_count = 1};

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void) {
    return &info;
}
