/* test_worker.c - the ordinary life of a worker: hello, calls, layouts, threads, repeats, restarts. */
#include "test_worker_support.h"

#include <signal.h>
#include <sys/wait.h>

Test(worker, hello) {
    assay_worker *w = open_hostile();
    const assay_worker_info *info = assay_worker_get_info(w);
    cr_assert_str_eq(info->name, "hostile");
    cr_assert_str_eq(info->version, "1");
    cr_assert_str_eq(info->description, "misbehaves on request");
    cr_assert_str_eq(info->lineage, "");
    cr_assert(!info->external && info->guards && info->memory == ASSAY_MEMORY_HOST);
    cr_assert_eq(json_array_size(info->operators), 4);
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(info->knobs, 0), "effective")), "off");
    cr_assert(assay_worker_offers(w, "do", false) && !assay_worker_offers(w, "do", true));
    cr_assert(assay_worker_offers(w, "count", true) && !assay_worker_offers(w, "undo", false));
    cr_assert_eq(assay_worker_generation(w), 1);
    cr_assert_gt(assay_worker_pid(w), 0);
    assay_worker_close(w);
}

Test(worker, calls_and_clocks) {
    assay_worker *w = open_hostile();
    for (int i = 0; i < 200; i++) {
        const doing d = do_mode_placed(w, "ok", (assay_placement)(i % 3), 0);
        assert_right(&d);
        cr_assert_eq(assay_tensor_zone_damage(&d.out, POISON, NULL), 0);
        cr_assert_gt(d.reply.judge_ns, d.reply.worker_ns);
    }
    cr_assert_eq(assay_worker_generation(w), 1);
    assay_worker_close(w);
}

/* Strided and misaligned tensors, many sizes, addresses kept or changed from call to call. */
Test(worker, layouts) {
    assay_worker *w = open_hostile();
    assay_arena *arena = assay_worker_arena(w);
    const assay_attr attr = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "ok"};
    for (int64_t n = 1; n < 5000; n += 1 + n / 3) {
        for (int64_t stride = 1; stride < 4; stride++) {
            assay_tensor in, out;
            assay_error error;
            assay_call_reply reply;
            float *values = malloc((size_t)n * sizeof *values), *got = malloc((size_t)n * sizeof *values);
            const assay_tensor_spec spec = {.dtype = ASSAY_DTYPE_F32,
                                            .ndim = 1,
                                            .shape = {n},
                                            .strides = &stride,
                                            .misalign_bytes = (size_t)(4 * (n % 4))};
            if (n % 2 == 0) {
                assay_arena_reset(arena, n % 4 == 0);
            }
            cr_assert_eq(assay_tensor_alloc(arena, &spec, &in, &error), ASSAY_CODE_OK);
            cr_assert_eq(assay_tensor_alloc(arena, &spec, &out, &error), ASSAY_CODE_OK);
            assay_tensor_poison(&out, POISON);
            for (int64_t i = 0; i < n; i++) {
                values[i] = (float)(i * 3 + n);
            }
            assay_tensor_put(&in, values);
            const assay_tensor *inputs[] = {&in}, *outputs[] = {&out};
            const assay_call_spec call = {.op = "do",
                                          .attrs = &attr,
                                          .attr_count = 1,
                                          .inputs = inputs,
                                          .input_count = 1,
                                          .outputs = outputs,
                                          .output_count = 1};
            cr_assert(assay_worker_call(w, &call, &reply, &error));
            cr_assert(reply.result == ASSAY_CALL_ANSWERED && reply.status == ASSAY_OK, "%s%s", reply.reason,
                      reply.message);
            assay_tensor_get(&out, got);
            for (int64_t i = 0; i < n; i++) {
                cr_assert_eq(got[i], 2.0f * values[i]);
            }
            cr_assert_eq(assay_tensor_count_pattern(&out, POISON), 0);
            cr_assert_eq(assay_tensor_zone_damage(&out, POISON, NULL), 0);
            free(values);
            free(got);
        }
    }
    assay_worker_close(w);
}

/* A call of `op` on one f32 output element. */
static assay_call_reply simple(assay_worker *w, assay_call_spec spec, assay_tensor *out) {
    assay_error error = {0};
    assay_call_reply reply;
    const assay_tensor_spec one = {.dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {1}};
    assay_arena_reset(assay_worker_arena(w), false);
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(w), &one, out, &error), ASSAY_CODE_OK);
    const assay_tensor *outputs[] = {out};
    spec.outputs = outputs;
    spec.output_count = 1;
    cr_assert(assay_worker_call(w, &spec, &reply, &error), "%s", error.text);
    return reply;
}

Test(worker, repeat_prepare_backward) {
    assay_worker *w = open_hostile();
    assay_tensor out;
    simple(w, (assay_call_spec){.op = "count"}, &out);
    cr_assert_eq(*(float *)out.data, 1.0f);
    simple(w, (assay_call_spec){.op = "count", .repeat = 1000}, &out);
    cr_assert_eq(*(float *)out.data, 1001.0f, "repeat runs the function that often");
    simple(w, (assay_call_spec){.op = "count", .backward = true}, &out);
    cr_assert_eq(*(float *)out.data, 1002.0f, "the state is the operator's");
    assay_worker_restart(w);
    simple(w, (assay_call_spec){.op = "count"}, &out);
    cr_assert_eq(*(float *)out.data, 1.0f, "a fresh process");
    cr_assert_eq(assay_worker_generation(w), 2);
    assay_call_reply r = simple(w, (assay_call_spec){.op = "unprepared"}, &out);
    cr_assert_eq(r.status, ASSAY_DEVICE_ERROR);
    cr_assert_str_eq(r.message, "no such unit");
    r = simple(w, (assay_call_spec){.op = "missing"}, &out);
    cr_assert_eq(r.status, ASSAY_UNSUPPORTED);
    r = simple(w, (assay_call_spec){.op = "do", .backward = true}, &out);
    cr_assert_eq(r.status, ASSAY_UNSUPPORTED);
    assay_worker_close(w);
}

Test(worker, attributes_arrive) {
    assay_worker *w = open_hostile();
    assay_tensor out;
    const assay_attr attrs[] = {{.name = "i", .type = ASSAY_ATTR_INT, .i = -5},
                                {.name = "b", .type = ASSAY_ATTR_BOOL, .i = 1},
                                {.name = "f", .type = ASSAY_ATTR_FLOAT, .f = 0x1.8p-3},
                                {.name = "n", .type = ASSAY_ATTR_FLOAT, .f = -__builtin_inf()},
                                {.name = "s", .type = ASSAY_ATTR_STRING, .s = "x \"y\""}};
    const assay_call_reply r =
        simple(w, (assay_call_spec){.op = "echo", .attrs = attrs, .attr_count = 5}, &out);
    cr_assert_str_eq(r.message, "i=i:-5;b=b:1;f=f:0x1.8p-3;n=f:-inf;s=s:x \"y\";");
    assay_worker_close(w);
}

Test(worker, null_arguments_and_other_thread) {
    assay_worker *w = open_hostile();
    assay_error error;
    assay_call_reply reply;
    const assay_tensor *none[] = {NULL};
    const assay_attr ok = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "ok"};
    assay_call_spec call = {.op = "do",
                            .attrs = &ok,
                            .attr_count = 1,
                            .inputs = none,
                            .input_count = 1,
                            .outputs = none,
                            .output_count = 1};
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_eq(reply.status, ASSAY_INVALID_ARGUMENT);
    cr_assert_str_eq(reply.message, "null argument");
    const assay_attr id = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "thread_id"};
    call.attrs = &id;
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_str_eq(reply.message, "1", "the main thread");
    call.other_thread = true;
    cr_assert(assay_worker_call(w, &call, &reply, &error));
    cr_assert_str_eq(reply.message, "0", "another thread");
    assay_worker_close(w);
}

Test(worker, send_then_wait) {
    assay_worker *w = open_hostile();
    assay_error error = {0};
    assay_call_reply reply;
    const assay_attr mode = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = "thread_id"};
    const assay_call_spec call = {.op = "do", .attrs = &mode, .attr_count = 1};
    cr_assert(!assay_worker_wait(w, &reply, &error), "nothing is in flight");
    cr_assert(assay_worker_send(w, &call, &error));
    cr_assert(!assay_worker_send(w, &call, &error), "one at a time");
    cr_assert(assay_worker_wait(w, &reply, &error));
    cr_assert_eq(reply.result, ASSAY_CALL_ANSWERED);
    cr_assert(assay_worker_send(w, &call, &error));
    assay_worker_restart(w);
    cr_assert(assay_worker_wait(w, &reply, &error));
    cr_assert_eq(reply.result, ASSAY_CALL_LOST);
    const assay_call_spec too_many = {.op = "do", .attr_count = 17};
    cr_assert(!assay_worker_call(w, &too_many, &reply, &error), "the harness's fault, not the candidate's");
    const doing d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}

/* What the worker inherits: 0-4, an allow list of variables, "/" as directory, its own process group, an
 * empty stdin. */
Test(worker, inherits_nothing_else) {
    cr_assert_eq(setenv("ASSAY_TEST_SECRET", "1", 1), 0);
    cr_assert_eq(setenv("ASSAY_ADAPTER_TEST", "1", 1), 0);
    int leak[8];
    for (int i = 0; i < 8; i++) {
        leak[i] = dup(1); /* without close-on-exec */
    }
    assay_worker *w = open_hostile();
    const doing d = do_mode(w, "inspect");
    assert_right(&d);
    assay_worker_close(w);
    for (int i = 0; i < 8; i++) {
        (void)close(leak[i]);
    }
}

static int handled;

static void count_signal(int number) {
    (void)number;
    handled++;
}

/* The judge's own SIGCHLD handling and other children are left alone. */
Test(worker, sigchld_is_the_judges) {
    const struct sigaction mine = {.sa_handler = count_signal};
    struct sigaction now;
    cr_assert_eq(sigaction(SIGCHLD, &mine, NULL), 0);
    const pid_t other = fork();
    if (other == 0) {
        _exit(33);
    }
    assay_worker *w = open_hostile();
    doing d = do_mode(w, "crash");
    assert_lost(&d, "SIGSEGV");
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
    int status = 0;
    cr_assert_eq(waitpid(other, &status, 0), other, "the judge's other child is still there to be reaped");
    cr_assert_eq(WEXITSTATUS(status), 33);
    cr_assert_eq(sigaction(SIGCHLD, NULL, &now), 0);
    cr_assert_eq(now.sa_handler, count_signal);
    /* Ignored SIGCHLD: the kernel reaps; the reason loses its detail, nothing else. */
    (void)signal(SIGCHLD, SIG_IGN);
    w = open_hostile();
    d = do_mode(w, "exit");
    assert_lost(&d, "ended (how is unknown");
    d = do_mode(w, "ok");
    assert_right(&d);
    assay_worker_close(w);
}
