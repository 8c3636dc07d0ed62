/* test_worker_hostile.c - everything that a candidate does to its own process or to the protocol costs one
 * call, is named, and the next call works. */
#include "test_worker_support.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static int descriptors(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d) != NULL) {
        n++;
    }
    (void)closedir(d);
    return n;
}

static void sleep_ms(long ms) {
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* True when the group is still there after two seconds; a killed process needs a moment to go. */
static int outlives(int group) {
    for (int i = 0; i < 200 && group_lives(group); i++) {
        sleep_ms(10);
    }
    return group_lives(group);
}

static const struct {
    const char *mode, *reason;
    unsigned timeout_ms;
} losses[] = {
    {"crash", "killed by SIGSEGV", 5000},
    {"fpe", "killed by SIGFPE", 5000},
    {"abort", "killed by SIGABRT", 5000},
    {"exit", "exited with code 3", 5000},
    {"_exit", "exited with code 4", 5000},
    {"hang", "no answer within 150 ms", 150},
    {"spin", "no answer within 150 ms", 150},
    {"stop", "no answer within 150 ms: was stopped", 150},
    {"garbage", "protocol error: not JSON", 5000},
    {"half", "no answer within 150 ms, only half a message", 150},
    {"half_exit", "half a message (13 bytes): exited with code 5", 5000},
    {"huge_line", "line longer than 65536 bytes", 5000},
    {"wrong_id", "result with the wrong id", 5000},
    {"other_type", "expected a result", 5000},
    {"close_socket", "", 5000},
    {"close_socket_hang", "closed its socket", 5000},
    {"print_abort", "killed by SIGABRT (Aborted); stderr: assertion \"x > 0\" failed", 5000},
    {"child_then_die", "exited with code 6", 5000},
    {"write_after", "killed by SIGSEGV", 5000}, /* AT_END, as all of these are placed */
    {"read_after", "killed by SIGSEGV", 5000},
};

Test(hostile, every_loss_costs_one_call) {
    assay_worker *w = open_hostile();
    unsigned generation = 1;
    doing d = do_mode(w, "ok");
    const int before = descriptors();
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        const int pid = assay_worker_pid(w);
        d = do_mode_placed(w, losses[i].mode, ASSAY_PLACE_AT_END, losses[i].timeout_ms);
        assert_lost(&d, losses[i].reason);
        cr_assert_eq(assay_worker_pid(w), -1);
        cr_assert(kill(pid, 0) == -1 && errno == ESRCH, "%s: the process is reaped", losses[i].mode);
        cr_assert(!outlives(pid), "%s: a process of its group lives on", losses[i].mode);
        d = do_mode(w, "ok");
        assert_right(&d);
        cr_assert_eq(assay_worker_generation(w), ++generation);
        cr_assert_eq(descriptors(), before, "%s leaks a descriptor", losses[i].mode);
    }
    assay_worker_close(w);
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no child stays");
}

Test(hostile, fifty_losses_leak_nothing) {
    assay_worker *w = open_hostile();
    doing d = do_mode(w, "ok");
    const int before = descriptors();
    for (int i = 0; i < 50; i++) {
        d = do_mode(w, i % 2 == 0 ? "crash" : "half_exit");
        assert_lost(&d, i % 2 == 0 ? "SIGSEGV" : "half a message");
    }
    d = do_mode(w, "ok");
    assert_right(&d);
    cr_assert_eq(descriptors(), before);
    cr_assert_eq(assay_worker_generation(w), 51);
    assay_worker_close(w);
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no zombie stays");
}

static const char *const survivable[] = {"print_much", "truncate_arena", "edit_input"};

Test(hostile, survivable) {
    assay_worker *w = open_hostile();
    for (size_t i = 0; i < sizeof survivable / sizeof *survivable; i++) {
        const doing d = do_mode_placed(w, survivable[i], ASSAY_PLACE_MIDDLE, 20000);
        cr_assert_eq(d.reply.result, ASSAY_CALL_ANSWERED, "%s: %s", survivable[i], d.reply.reason);
        cr_assert_eq(d.reply.status, ASSAY_OK);
    }
    cr_assert_eq(assay_worker_generation(w), 1);
    doing d = do_mode(w, "bad_status");
    cr_assert_eq(d.reply.status, ASSAY_INTERNAL);
    cr_assert(strstr(d.reply.message, "77") != NULL, "%s", d.reply.message);
    d = do_mode(w, "bad_text");
    cr_assert_eq(d.reply.status, ASSAY_INVALID_ARGUMENT);
    cr_assert_eq(strspn(d.reply.message, "?"), 255);
    d = do_mode(w, "forged_text"); /* no line, no colour, no cursor of its own */
    cr_assert_str_eq(d.reply.message, "x?VERDICT certified?[2J??");
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}

/* The worker cannot map new segments without its arena: the call that needs them is lost, with the reason. */
Test(hostile, closes_the_arena) {
    assay_worker *w = open_hostile();
    doing d = do_mode(w, "close_arena");
    assert_right(&d);
    d = do_mode_placed(w, "ok", ASSAY_PLACE_AT_END, 0);
    assert_right(&d); /* the same segments */
    assay_error error;
    assay_call_reply reply;
    assay_tensor big;
    const assay_tensor_spec spec = {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {5000}};
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(w), &spec, &big, &error), ASSAY_CODE_OK);
    const assay_tensor *pointers[] = {&big};
    const assay_attr attr = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "ok"};
    const assay_call_spec call = {.op = "do",
                                  .attrs = &attr,
                                  .attr_count = 1,
                                  .inputs = pointers,
                                  .input_count = 1,
                                  .outputs = pointers,
                                  .output_count = 1};
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_eq(reply.result, ASSAY_CALL_LOST);
    cr_assert(strstr(reply.reason, "mapping a segment: Bad file descriptor") != NULL, "%s", reply.reason);
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_eq(reply.status, ASSAY_OK);
    assay_worker_close(w);
}

/* Work after returning: the call that follows is lost and says why. */
Test(hostile, after_returning) {
    static const char *const cases[][2] = {{"thread_crash_later", "between calls: killed by SIGSEGV"},
                                           {"thread_speak_later", "a message between calls"}};
    assay_worker *w = open_hostile();
    for (int i = 0; i < 2; i++) {
        doing d = do_mode(w, cases[i][0]);
        assert_right(&d);
        sleep_ms(300);
        d = do_mode(w, "ok");
        assert_lost(&d, cases[i][1]);
        d = do_mode(w, "ok");
        assert_right(&d);
    }
    const int pid = assay_worker_pid(w);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    sleep_ms(100);
    doing d = do_mode(w, "ok");
    assert_lost(&d, "killed by SIGKILL");
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}

static void *kill_soon(void *pid) {
    sleep_ms(100);
    (void)kill(*(int *)pid, SIGKILL);
    return NULL;
}

Test(hostile, killed_from_outside_during_a_call) {
    assay_worker *w = open_hostile();
    pthread_t thread;
    int pid = assay_worker_pid(w);
    cr_assert_eq(pthread_create(&thread, NULL, kill_soon, &pid), 0);
    doing d = do_mode_placed(w, "hang", ASSAY_PLACE_MIDDLE, 10000);
    assert_lost(&d, "killed by SIGKILL");
    (void)pthread_join(thread, NULL);
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}

/* Children of the candidate die with it, also when it has answered properly. */
Test(hostile, children_die_too) {
    assay_worker *w = open_hostile();
    const doing d = do_mode(w, "child_stays");
    assert_right(&d);
    const int group = assay_worker_pid(w);
    cr_assert(group_lives(group));
    assay_worker_close(w);
    cr_assert(!outlives(group));
}

#if !defined(__SANITIZE_ADDRESS__) /* limits and filter are off there */
Test(hostile, closed_to_others) {
    assay_worker *w = open_hostile();
    doing d = do_mode(w, "escape");
    assert_right(&d);
    d = do_mode(w, "signal_judge");
    assert_right(&d);
    cr_assert_eq(prctl(PR_GET_DUMPABLE), 0);
    assay_worker_close(w);
}

Test(hostile, memory_limit) {
    const assay_worker_options limited = {.memory_limit_bytes = (size_t)128 << 20};
    assay_worker *w = open_adapter(hostile_file("hostile.so"), &limited);
    doing d = do_mode_placed(w, "allocate", ASSAY_PLACE_MIDDLE, 20000);
    assert_lost(&d, "killed by SIGABRT");
    d = do_mode_placed(w, "map_shared", ASSAY_PLACE_MIDDLE, 20000);
    assert_lost(&d, "killed by SIGABRT");
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}
#endif

/* Guard pages in the worker, zones in the judge. */
Test(hostile, guards_and_zones) {
    assay_worker *w = open_hostile();
    int64_t first = 99;
    doing d = do_mode_placed(w, "read_after", ASSAY_PLACE_AT_END, 0);
    assert_lost(&d, "killed by SIGSEGV");
    d = do_mode_placed(w, "read_before", ASSAY_PLACE_AT_START, 0);
    assert_lost(&d, "killed by SIGSEGV");
    d = do_mode_placed(w, "write_before", ASSAY_PLACE_AT_START, 0);
    assert_lost(&d, "killed by SIGSEGV");
    d = do_mode(w, "write_after");
    assert_right(&d);
    cr_assert_eq(assay_tensor_zone_damage(&d.out, POISON, &first), 1);
    cr_assert_eq(first, 0);
    d = do_mode(w, "write_before");
    cr_assert_eq(assay_tensor_zone_damage(&d.out, POISON, &first), 1);
    cr_assert_eq(first, -1);
    d = do_mode(w, "read_after");
    assert_right(&d); /* inside the zone nobody sees a read */
    cr_assert_eq(assay_tensor_zone_damage(&d.in, POISON, &first), 0);
    d = do_mode_placed(w, "write_before", ASSAY_PLACE_AT_END, 0);
    cr_assert_eq(assay_tensor_zone_damage(&d.out, POISON, &first), 1);
    cr_assert_eq(first, -1);
    assay_worker_close(w);
}

/* What the current call does not name is not mapped: a pointer kept from the last call faults. */
Test(hostile, stale_pointer_faults) {
    assay_worker *w = open_hostile();
    doing d = do_mode(w, "read_stale");
    assert_right(&d);
    d = do_mode(w, "read_stale");
    assert_right(&d); /* the same layout */
    assay_tensor shift;
    assay_error error;
    assay_call_reply reply;
    const assay_tensor_spec spec = {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {LENGTH}};
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(w), &spec, &shift, &error), ASSAY_CODE_OK);
    const assay_tensor *pointers[] = {&shift};
    const assay_attr attr = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "read_stale"};
    const assay_call_spec call = {.op = "do",
                                  .attrs = &attr,
                                  .attr_count = 1,
                                  .inputs = pointers,
                                  .input_count = 1,
                                  .outputs = pointers,
                                  .output_count = 1};
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_eq(reply.result, ASSAY_CALL_LOST);
    cr_assert(strstr(reply.reason, "SIGSEGV") != NULL, "%s", reply.reason);
    assay_worker_close(w);
}

Test(hostile, external_protocol_faults) {
    static const char *const cases[][2] = {
        {"twice", "more than one answer"}, {"bad_status", "status is not in"},
        {"extra_key", "does not know"},    {"negative_ns", "non-negative"},
        {"pong", "expected a result"},     {"deaf", "no answer within 200 ms: was stopped"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(setenv("ASSAY_ADAPTER_MODE", cases[i][0], 1), 0);
        assay_worker *w = open_adapter(hostile_file("external"), NULL);
        cr_assert(assay_worker_get_info(w)->external && !assay_worker_get_info(w)->guards);
        sleep_ms(20);
        doing d = do_mode_placed(w, "ok", ASSAY_PLACE_MIDDLE, 200);
        assert_lost(&d, cases[i][1]);
        assay_worker_close(w);
    }
    cr_assert_eq(setenv("ASSAY_ADAPTER_MODE", "slow_bytes", 1), 0);
    assay_worker *w = open_adapter(hostile_file("external"), NULL);
    const doing d = do_mode(w, "ok");
    cr_assert_eq(d.reply.result, ASSAY_CALL_ANSWERED, "one byte at a time is fine: %s", d.reply.reason);
    cr_assert_eq(d.reply.worker_ns, 5);
    assay_worker_close(w);
}

static void *restart_and_leave(void *context) {
    const doing d = do_mode(context, "ok");
    return d.reply.result == ASSAY_CALL_ANSWERED ? context : NULL;
}

/* The parent-death signal refers to a thread: a worker started by a lane must outlive it. */
Test(hostile, outlives_the_thread_that_started_it) {
    assay_worker *w = open_hostile();
    pthread_t thread;
    void *answered = NULL;
    assay_worker_restart(w);
    cr_assert_eq(pthread_create(&thread, NULL, restart_and_leave, w), 0);
    (void)pthread_join(thread, &answered);
    cr_assert_not_null(answered);
    sleep_ms(50);
    const unsigned generation = assay_worker_generation(w);
    const doing d = do_mode(w, "ok");
    assert_right(&d);
    cr_assert_eq(assay_worker_generation(w), generation);
    assay_worker_close(w);
}

/* A judge that dies by SIGKILL takes its workers along. */
Test(hostile, dies_with_the_judge) {
    int pipes[2];
    int worker = 0;
    cr_assert_not_null(
        hostile_file("testhost")); /* before the fork: a failed assertion belongs to the test's process */
    cr_assert_eq(pipe(pipes), 0);
    const pid_t judge = fork();
    if (judge == 0) {
        (void)alarm(20);
        assay_worker *w = open_hostile();
        worker = assay_worker_pid(w);
        (void)!write(pipes[1], &worker, sizeof worker);
        (void)do_mode_placed(w, "hang", ASSAY_PLACE_MIDDLE, 60000);
        _exit(1);
    }
    (void)close(pipes[1]);
    cr_assert_eq(read(pipes[0], &worker, sizeof worker), (ssize_t)sizeof worker);
    sleep_ms(100);
    cr_assert_eq(kill(worker, 0), 0);
    cr_assert_eq(kill(judge, SIGKILL), 0);
    cr_assert_eq(waitpid(judge, NULL, 0), judge);
    for (int i = 0; i < 200 && kill(worker, 0) == 0; i++) {
        sleep_ms(10);
    }
    cr_assert(kill(worker, 0) == -1 && errno == ESRCH);
}
