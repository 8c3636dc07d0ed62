/* test_worker_open.c - whatever cannot be opened is one line of usage error, and leaves nothing behind. */
#include "test_worker_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int descriptors(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d) != NULL) {
        n++;
    }
    (void)closedir(d);
    return n;
}

static void assert_refused(const char *file, const char *expected) {
    assay_worker *worker = NULL;
    assay_error error = {0};
    const int before = descriptors();
    const assay_worker_options options = {
        .adapter = file, .self = hostile_file("testhost"), .arena_bytes = 1 << 20, .start_timeout_ms = 1500};
    cr_assert_eq(assay_worker_open(&options, &worker, &error), ASSAY_CODE_USAGE, "%s: %s", expected,
                 error.text);
    cr_assert_null(worker);
    cr_assert(strstr(error.text, expected) != NULL, "\"%s\" lacks \"%s\"", error.text, expected);
    cr_assert(strstr(error.text, file) != NULL, "\"%s\" lacks the file", error.text);
    cr_assert_null(strchr(error.text, '\n'));
    cr_assert_eq(descriptors(), before);
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no child stays");
}

static const char *temporary(const char *name, const char *content, mode_t mode) {
    static char path[256];
    (void)snprintf(path, sizeof path, "/tmp/assay-open-%d-%s", (int)getpid(), name);
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    (void)fchmod(fd, mode);
    (void)close(fd);
    return path;
}

Test(open, files) {
    assert_refused("/nonexistent/a.so", "No such file");
    assert_refused("/tmp", "not a file");
    assert_refused("/dev/null", "not a file");
    const char *path = temporary("text.so", "hello", 0644);
    assert_refused(path, "cannot be loaded as a shared library");
    (void)unlink(path);
    path = temporary("text", "hello", 0644);
    assert_refused(path, "neither a shared library (.so) nor an executable");
    (void)unlink(path);
    path = temporary("empty", "", 0755);
    assert_refused(path, "execve");
    (void)unlink(path);
    path = temporary("interpreter", "#!/nonexistent/python\n", 0755);
    assert_refused(path, "No such file");
    (void)unlink(path);
    path = temporary("script", "#!/bin/sh\necho no >&2\nexit 3\n", 0755);
    assert_refused(path, "exited with code 3; stderr: no");
    (void)unlink(path);
    path = temporary("truncated.so",
                     "\x7f"
                     "ELF",
                     0755);
    assert_refused(path, "cannot be loaded");
    (void)unlink(path);
    assert_refused(hostile_file("nosymbol.so"), "symbol assay_adapter missing");
    assert_refused("/bin/true", "exited with code 0");
    assert_refused("/bin/cat", "exited with code 0");
}

static const char *const descriptor_cases[][2] = {
    {"abi7", "ABI version 7, this build speaks 1"},
    {"short", "struct_bytes is 8"},
    {"null", "returned NULL"},
    {"null_name", "name and version must not be NULL or empty"},
    {"empty_name", "name and version must not be NULL or empty"},
    {"null_version", "name and version must not be NULL or empty"},
    {"not_utf8", "not UTF-8"},
    {"memory9", "memory is not in the enum"},
    {"cuda", "CUDA"},
    {"null_operators", "1 to 64 operators"},
    {"no_operators", "1 to 64 operators"},
    {"many_operators", "1 to 64 operators"},
    {"null_operator", "no name or no forward"},
    {"null_forward", "no name or no forward"},
    {"same_operator", "listed twice"},
    {"null_knobs", "knobs must be NULL"},
    {"same_knob", "a knob is listed twice"},
    {"long_text", "its texts do not fit into one message"},
    {"two_lines", "lineage must be one line of printable text"},
    {"bad_knob", "a knob has no name"},
    {"load_crash", "killed by SIGABRT"},
    {"load_exit", "exited with code 9"},
    {"load_hang", "no answer within 1500 ms"},
    {"load_speaks", "malformed hello"},
};

Test(open, descriptors) {
    for (size_t i = 0; i < sizeof descriptor_cases / sizeof *descriptor_cases; i++) {
        cr_assert_eq(setenv("ASSAY_ADAPTER_MODE", descriptor_cases[i][0], 1), 0);
        assert_refused(hostile_file("descriptor.so"), descriptor_cases[i][1]);
    }
    cr_assert_eq(unsetenv("ASSAY_ADAPTER_MODE"), 0);
    assay_worker_close(open_adapter(hostile_file("descriptor.so"), NULL));
}

static const char *const external_cases[][2] = {
    {"hello_garbage", "malformed hello"},
    {"hello_call", "not a hello"},
    {"hello_version", "protocol version 2, this build speaks 1"},
    {"hello_empty", "malformed hello"},
    {"hello_refuses", "no licence"},
    {"hello_twice", "one"},
    {"early", "sent more than its hello"},
};

Test(open, external_hellos) {
    for (size_t i = 0; i < sizeof external_cases / sizeof *external_cases; i++) {
        cr_assert_eq(setenv("ASSAY_ADAPTER_MODE", external_cases[i][0], 1), 0);
        assert_refused(hostile_file("external"), external_cases[i][1]);
    }
}

Test(open, no_host_and_no_name) {
    assay_worker *worker = NULL;
    assay_error error = {0};
    assay_worker_options options = {.adapter = hostile_file("hostile.so"), .self = "/nonexistent/assay"};
    cr_assert_eq(assay_worker_open(&options, &worker, &error), ASSAY_CODE_INTERNAL);
    options.adapter = NULL;
    cr_assert_eq(assay_worker_open(&options, &worker, &error), ASSAY_CODE_USAGE);
}
