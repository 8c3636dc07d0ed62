/* worker_spawn.c - starts a worker: clone with CLONE_VM|CLONE_VFORK (the judge may be large and threaded),
 * then only system calls until execve.
 *
 * PR_SET_PDEATHSIG refers to the thread that cloned, not to the process. Lanes come and go, so all workers
 * are started by one thread that lives as long as the judge; without it a worker would die with the lane that
 * restarted it. */
#include "worker_spawn.h"
#include "protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if ASSAY_UNDER_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define CHILD_STACK_BYTES ((size_t)256 * 1024)
#define FIRST_SPARE_FD    16
#define MAX_ENVIRONMENT   32

/* Variables of the judge that a worker inherits: those that dynamic loaders, device runtimes and sanitizers
 * need. A name that ends in '_' is a prefix. Everything else of the judge's environment stays with the judge.
 */
static const char *const inherited[] = {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "ASAN_OPTIONS",
                                        "UBSAN_OPTIONS", "ASSAY_ADAPTER_"};
static const char *const fixed[] = {
    "LANG=C",
    "HOME=/nonexistent",
    "ASSAY_PROTOCOL=1",
    "ASSAY_SOCKET_FD=3",
    "ASSAY_ARENA_FD=4",
#if ASSAY_UNDER_ASAN /* the judge wants to see the candidate's signals, not a sanitizer's report of them */
    "ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:detect_leaks=0",
#endif
};

typedef struct child_plan {
    assay_spawn *spawn;
    char *environment[MAX_ENVIRONMENT];
    char path[4096];
    pid_t judge;
} child_plan;

static bool is_inherited(const char *entry) {
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++) {
        const size_t n = strlen(inherited[i]);
        if (strncmp(entry, inherited[i], n) == 0 && (entry[n] == '=' || inherited[i][n - 1] == '_')) {
            return true;
        }
    }
    return false;
}

static void plan_environment(child_plan *plan) {
    size_t n = 0;
    const char *path = getenv("PATH");
    (void)snprintf(plan->path, sizeof plan->path, "PATH=%s", path == NULL ? "/usr/bin:/bin" : path);
    plan->environment[n++] = plan->path;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        plan->environment[n++] =
            (char *)(uintptr_t)fixed[i]; /* execve takes char *const[] and does not write */
    }
    for (char **e = environ; e != NULL && *e != NULL && n + 1 < MAX_ENVIRONMENT; e++) {
        if (is_inherited(*e)) {
            plan->environment[n++] = *e;
        }
    }
    plan->environment[n] = NULL;
}

/* ---- in the child: system calls only ---- */

static void child_fail(assay_spawn *spawn, const char *step) {
    spawn->error = errno;
    spawn->step = step;
    _exit(127);
}

static void lower_limit(int resource, rlim_t value) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) == 0) {
        limit.rlim_max = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value ? value : limit.rlim_max;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit((__rlimit_resource_t)resource, &limit);
    }
}

static void child_limits(const assay_spawn *spawn) {
    /* 1, not 0: with a core_pattern that is a pipe the kernel ignores 0 but honours 1, and no dump fits into
     * one byte. */
    lower_limit(RLIMIT_CORE, 1);
    if (!ASSAY_UNDER_ASAN && spawn->memory_limit_bytes != 0) {
        /* Private writable memory, exactly what the limit is about ... */
        lower_limit(RLIMIT_DATA, spawn->memory_limit_bytes);
        /* ... and addresses, so that shared mappings are bounded too. Libraries, stacks and PROT_NONE
         * reserves need room. */
        lower_limit(RLIMIT_AS, spawn->memory_limit_bytes + spawn->arena_bytes + ((rlim_t)4 << 30));
    }
    /* When the machine runs out of memory, the worker goes first. */
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
        (void)close(fd);
    }
}

static void child_close_from(unsigned first) {
    if (syscall(SYS_close_range, first, ~0u, 0u) == 0) {
        return;
    }
    struct rlimit limit = {0};
    (void)getrlimit(RLIMIT_NOFILE, &limit); /* kernels before 5.9 */
    for (unsigned fd = first; fd < limit.rlim_cur && fd < 1048576; fd++) {
        (void)close((int)fd);
    }
}

static void child_descriptors(assay_spawn *spawn) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int from[] = {null, null, spawn->stderr_fd, spawn->socket_fd, spawn->arena_fd};
    int spare[5];
    for (int i = 0; i < 5; i++) { /* first out of the way, so that no target is a source */
        spare[i] = fcntl(from[i], F_DUPFD, FIRST_SPARE_FD);
        if (spare[i] < 0) {
            child_fail(spawn, "dup");
        }
    }
    for (int i = 0; i < 5; i++) {
        if (dup2(spare[i], i) < 0) {
            child_fail(spawn, "dup2");
        }
    }
    child_close_from(5);
}

/* System calls that a candidate has no business with. They fail with EPERM. Never: leaving its process group
 * (its helpers could then outlive it), reading or writing other processes. When their first argument names
 * the judge, its process group or everybody: signals, limits and scheduling - a kill(-1) or a SIGSTOP to its
 * parent would take the run, or the user's session, with it. Best effort: without seccomp in the kernel the
 * worker runs unfiltered, and threads of the judge have numbers of their own. */
#if defined(__x86_64__) && !ASSAY_UNDER_ASAN
#define FILTER_RULES 64

static size_t filter_rules(struct sock_filter rules[FILTER_RULES], pid_t judge, pid_t group) {
    static const unsigned never[] = {SYS_setsid, SYS_setpgid, SYS_ptrace, SYS_process_vm_readv,
                                     SYS_process_vm_writev};
    static const unsigned not_to_judge[] = {SYS_kill,
                                            SYS_tkill,
                                            SYS_tgkill,
                                            SYS_rt_sigqueueinfo,
                                            SYS_rt_tgsigqueueinfo,
                                            SYS_pidfd_open,
                                            SYS_prlimit64,
                                            SYS_sched_setaffinity,
                                            SYS_sched_setscheduler,
                                            SYS_sched_setparam,
                                            SYS_sched_setattr};
    const uint32_t targets[] = {(uint32_t)judge, (uint32_t)-group, UINT32_MAX};
    const unsigned guarded = sizeof not_to_judge / sizeof not_to_judge[0];
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    size_t n = 0;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    rules[n++] = allow;
    rules[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    /* The x32 numbers of the same calls. */
    rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1);
    rules[n++] = refuse;
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, never[i], 0, 1);
        rules[n++] = refuse;
    }
    for (unsigned i = 0; i < guarded; i++) { /* to the rule behind the next `allow` */
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, not_to_judge[i],
                                                  (uint8_t)(guarded - i), 0);
    }
    rules[n++] = allow;
    /* Process numbers are ints: the lower half of the argument. */
    rules[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        rules[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, targets[i], 0, 1);
        rules[n++] = refuse;
    }
    rules[n++] = allow;
    return n;
}

static void child_filter(pid_t judge, pid_t group) {
    struct sock_filter rules[FILTER_RULES];
    const struct sock_fprog program = {.len = (unsigned short)filter_rules(rules, judge, group),
                                       .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
}
#else
static void child_filter(pid_t judge, pid_t group) {
    (void)judge;
    (void)group;
}
#endif

static int child_main(void *context) {
    const child_plan *plan = context;
    assay_spawn *spawn = plan->spawn;
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int s = 1; s < NSIG; s++) {
        (void)sigaction(s, &normal, NULL);
    }
    const pid_t group = getpgrp(); /* the judge's */
    (void)setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != plan->judge) {
        child_fail(spawn, "dying with the judge");
    }
    child_limits(spawn);
    child_descriptors(spawn);
    if (chdir("/") != 0) {
        child_fail(spawn, "chdir");
    }
    child_filter(plan->judge, group);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(spawn->argv[0], (char *const *)(uintptr_t)spawn->argv, plan->environment);
    child_fail(spawn, "execve");
    return 127;
}

/* ---- in the judge ---- */

/* Clones from the calling thread, which must outlive the worker. */
static void spawn_here(assay_spawn *spawn) {
    child_plan plan = {.spawn = spawn, .judge = getpid()};
    sigset_t all, old;
    spawn->error = 0;
    spawn->step = NULL;
    spawn->pidfd = -1;
    plan_environment(&plan);
    char *stack =
        mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        spawn->error = errno;
        spawn->step = "mmap";
        return;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    spawn->pid = clone(child_main, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                       &plan, &spawn->pidfd);
    if (spawn->pid < 0) {
        spawn->error = errno;
        spawn->step = "clone";
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
#if ASSAY_UNDER_ASAN /* the child left marks for its frames; who gets these addresses next must not trip */
    __asan_unpoison_memory_region(stack, CHILD_STACK_BYTES);
#endif
    (void)munmap(stack, CHILD_STACK_BYTES);
    if (spawn->pid > 0 && spawn->error != 0) {
        siginfo_t info;
        (void)waitid(P_PID, (id_t)spawn->pid, &info, WEXITED);
        (void)close(spawn->pidfd);
        spawn->pid = -1;
        spawn->pidfd = -1;
    }
}

/* The starter thread and its one-place mailbox. The only mutable state of harness/core outside handles. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t change;
    pid_t owner; /* the process that the thread belongs to: a forked judge starts its own */
    assay_spawn *request;
    bool done;
} starter = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static void *starter_main(void *context) {
    sigset_t all;
    (void)context;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    (void)pthread_mutex_lock(&starter.lock);
    for (;;) {
        while (starter.request == NULL || starter.done) {
            (void)pthread_cond_wait(&starter.change, &starter.lock);
        }
        spawn_here(starter.request);
        starter.done = true;
        (void)pthread_cond_broadcast(&starter.change);
    }
    return NULL;
}

/* With the lock held: makes sure that this process has a starter thread. */
static int ensure_starter(void) {
    pthread_t thread;
    pthread_attr_t attr;
    if (starter.owner == getpid()) {
        return 0;
    }
    starter.request = NULL;
    starter.done = false;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const int code = pthread_create(&thread, &attr, starter_main, NULL);
    (void)pthread_attr_destroy(&attr);
    starter.owner = code == 0 ? getpid() : 0;
    return code;
}

assay_code assay_spawn_run(assay_spawn *spawn, assay_error *error) {
    (void)pthread_mutex_lock(&starter.lock);
    const int code = ensure_starter();
    if (code != 0) {
        (void)pthread_mutex_unlock(&starter.lock);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "starting a worker: pthread_create: %s",
                          strerror(code));
    }
    while (starter.request != NULL) { /* another lane is starting one */
        (void)pthread_cond_wait(&starter.change, &starter.lock);
    }
    starter.request = spawn;
    starter.done = false;
    (void)pthread_cond_broadcast(&starter.change);
    while (!starter.done) {
        (void)pthread_cond_wait(&starter.change, &starter.lock);
    }
    starter.request = NULL;
    starter.done = false;
    (void)pthread_cond_broadcast(&starter.change);
    (void)pthread_mutex_unlock(&starter.lock);
    if (spawn->error != 0) {
        const bool file = strcmp(spawn->step, "execve") == 0;
        return assay_fail(error, file ? ASSAY_CODE_USAGE : ASSAY_CODE_INTERNAL, "starting %s: %s: %s",
                          spawn->argv[0], spawn->step, strerror(spawn->error));
    }
    return ASSAY_CODE_OK;
}
