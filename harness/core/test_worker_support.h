/* test_worker_support.h - what the tests of the worker share: files under <build>/hostile and calls of its
 * adapters. */
#ifndef ASSAY_TEST_WORKER_SUPPORT_H
#define ASSAY_TEST_WORKER_SUPPORT_H

#include "worker.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POISON 0x7fc0a55au
#define LENGTH 8

/* "<build>/hostile/<name>"; up to four results are valid at a time. */
static inline const char *hostile_file(const char *name) {
    static char paths[4][1024];
    static unsigned next;
    const char *build = getenv("ASSAY_BUILD");
    cr_assert_not_null(build, "ASSAY_BUILD must name the build folder (ctest sets it)");
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/hostile/%s", build, name);
    return path;
}

static inline assay_worker *open_adapter(const char *file, const assay_worker_options *more) {
    assay_worker_options options = {0};
    if (more != NULL) {
        options = *more;
    }
    assay_worker *worker = NULL;
    assay_error error = {0};
    options.adapter = file;
    options.self = hostile_file("testhost");
    options.arena_bytes = (size_t)64 << 20;
    cr_assert_eq(assay_worker_open(&options, &worker, &error), ASSAY_CODE_OK, "%s", error.text);
    return worker;
}

static inline assay_worker *open_hostile(void) {
    return open_adapter(hostile_file("hostile.so"), NULL);
}

/* True when a process of this group is left that is not a zombie (orphans wait for init to reap them). */
static inline int group_lives(int group) {
    int lives = 0;
    DIR *d = opendir("/proc");
    cr_assert_not_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[300], text[512] = "";
        (void)snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        FILE *f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (f != NULL) {
            const char *name_end = fgets(text, sizeof text, f) == NULL ? NULL : strrchr(text, ')');
            if (name_end != NULL && strlen(name_end) > 4) { /* ") S parent group ..." */
                char *rest = NULL;
                (void)strtol(name_end + 3, &rest, 10);
                lives |= strtol(rest, NULL, 10) == group && strchr("ZX", name_end[2]) == NULL;
            }
            (void)fclose(f);
        }
    }
    (void)closedir(d);
    return lives;
}

/* Operator "do" with this mode on fresh tensors of LENGTH values 0.5, 1.5, ... */
typedef struct doing {
    assay_call_reply reply;
    assay_tensor in, out;
} doing;

static inline doing do_mode_placed(assay_worker *worker, const char *mode, assay_placement placement,
                                   unsigned timeout_ms) {
    doing d;
    float values[LENGTH];
    assay_error error = {0};
    const assay_attr attr = {.name = "mode", .type = ASSAY_ATTR_STRING, .s = mode};
    const assay_tensor_spec spec = {
        .dtype = ASSAY_DTYPE_F32, .ndim = 1, .shape = {LENGTH}, .placement = placement};
    assay_arena_reset(assay_worker_arena(worker), false);
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(worker), &spec, &d.in, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(assay_tensor_alloc(assay_worker_arena(worker), &spec, &d.out, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    assay_tensor_poison(&d.in, POISON);
    assay_tensor_poison(&d.out, POISON);
    for (int i = 0; i < LENGTH; i++) {
        values[i] = (float)i + 0.5f;
    }
    assay_tensor_put(&d.in, values);
    const assay_tensor *inputs[] = {&d.in}, *outputs[] = {&d.out};
    const assay_call_spec call = {.op = "do",
                                  .attrs = &attr,
                                  .attr_count = 1,
                                  .inputs = inputs,
                                  .input_count = 1,
                                  .outputs = outputs,
                                  .output_count = 1,
                                  .timeout_ms = timeout_ms};
    cr_assert(assay_worker_call(worker, &call, &d.reply, &error), "%s", error.text);
    return d;
}

static inline doing do_mode(assay_worker *worker, const char *mode) {
    return do_mode_placed(worker, mode, ASSAY_PLACE_MIDDLE, 2000);
}

/* The call answered ok and doubled its input. */
static inline void assert_right(const doing *d) {
    float got[LENGTH];
    cr_assert_eq(d->reply.result, ASSAY_CALL_ANSWERED, "lost: %s", d->reply.reason);
    cr_assert_eq(d->reply.status, ASSAY_OK, "%s", d->reply.message);
    assay_tensor_get(&d->out, got);
    for (int i = 0; i < LENGTH; i++) {
        cr_assert_eq(got[i], 2.0f * ((float)i + 0.5f));
    }
}

static inline void assert_lost(const doing *d, const char *expected) {
    cr_assert_eq(d->reply.result, ASSAY_CALL_LOST, "not lost; expected: %s", expected);
    cr_assert(strstr(d->reply.reason, expected) != NULL, "reason \"%s\" lacks \"%s\"", d->reply.reason,
              expected);
}

#endif
