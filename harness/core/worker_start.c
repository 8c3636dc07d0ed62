/* worker_start.c - opening a handle, starting its process, and losing it. */
#include "worker_private.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEFAULT_ARENA_BYTES  ((size_t)8 << 30)
#define DEFAULT_MEMORY_BYTES ((size_t)8 << 30)
#define DEFAULT_START_MS     60000u
#define DEFAULT_CALL_MS      30000u

/* ---- losing a process ---- */

void assay_worker_lose(assay_worker *w, unsigned patience_ms, const char *what) {
    char how[80];
    assay_process_end(&w->process, patience_ms, how, sizeof how);
    const char *tail = assay_process_tail(&w->process);
    (void)snprintf(w->reason, sizeof w->reason, "%s%s%s%s%s", what,
                   how[0] != '\0' && what[0] != '\0' ? ": " : "", how, tail[0] != '\0' ? "; stderr: " : "",
                   tail);
}

void assay_worker_lose_wait(assay_worker *w, assay_wait_end end, unsigned timeout_ms) {
    char what[128] = "";
    const size_t half = w->process.reader.end - w->process.reader.begin;
    switch (end) {
    case ASSAY_WAIT_DEADLINE:
        (void)snprintf(what, sizeof what, "no answer within %u ms%s", timeout_ms,
                       half > 0 ? ", only half a message" : "");
        assay_worker_lose(w, 0, what);
        return;
    case ASSAY_WAIT_TOO_LONG:
        (void)snprintf(what, sizeof what, "protocol error: line longer than %u bytes", ASSAY_LINE_BYTES);
        assay_worker_lose(w, 0, what);
        return;
    case ASSAY_WAIT_CLOSED:
    case ASSAY_WAIT_DEAD:
        if (half > 0) {
            (void)snprintf(what, sizeof what, "half a message (%zu bytes)", half);
        } else if (end == ASSAY_WAIT_CLOSED && !assay_process_has_ended(&w->process)) {
            (void)snprintf(what, sizeof what, "closed its socket");
        }
        assay_worker_lose(w, DYING_PATIENCE_MS, what);
        if (strncmp(w->reason, "closed its socket: killed", 25) == 0 ||
            strncmp(w->reason, "closed its socket: exited", 25) == 0) {
            memmove(w->reason, w->reason + 19, strlen(w->reason + 19) + 1); /* it closed because it died */
        }
        return;
    case ASSAY_WAIT_LINE:
        return;
    }
}

/* ---- starting ---- */

static void take_hello(assay_worker *w, assay_message *hello) {
    assay_message_free(&w->hello);
    w->hello = *hello;
    w->info = (assay_worker_info){.name = hello->name,
                                  .version = hello->version,
                                  .description = hello->description == NULL ? "" : hello->description,
                                  .lineage = hello->lineage == NULL ? "" : hello->lineage,
                                  .memory = hello->memory,
                                  .external = w->external,
                                  .guards = hello->guards,
                                  .operators = hello->operators,
                                  .knobs = hello->knobs == NULL ? w->nothing : hello->knobs};
}

/* Reads the worker's hello. On failure the process is gone and w->reason says why. */
static bool receive_hello(assay_worker *w, uint64_t deadline_ns) {
    const char *line = NULL;
    size_t n = 0;
    assay_message hello;
    assay_error fault;
    const assay_wait_end end = assay_process_wait(&w->process, deadline_ns, &line, &n);
    if (end != ASSAY_WAIT_LINE) {
        assay_worker_lose_wait(w, end, w->start_timeout_ms);
        return false;
    }
    if (assay_protocol_parse(line, n, &hello, &fault) != ASSAY_CODE_OK) {
        char what[160];
        (void)snprintf(what, sizeof what, "malformed hello: %.120s", fault.text);
        assay_worker_lose(w, 0, what);
        return false;
    }
    char what[256] = "";
    if (hello.type != ASSAY_MESSAGE_HELLO_WORKER) {
        (void)snprintf(what, sizeof what, "its first message is not a hello");
    } else if (hello.error != NULL) {
        (void)snprintf(what, sizeof what, "%.240s", hello.error);
    } else if (hello.protocol != ASSAY_PROTOCOL_VERSION) {
        (void)snprintf(what, sizeof what, "protocol version %lld, this build speaks %d",
                       (long long)hello.protocol, ASSAY_PROTOCOL_VERSION);
    } else if (assay_process_has_input(&w->process)) {
        (void)snprintf(what, sizeof what, "sent more than its hello before the first call");
    }
    if (what[0] != '\0') {
        assay_message_free(&hello);
        assay_process_end(&w->process, EXIT_PATIENCE_MS, NULL, 0);
        (void)snprintf(w->reason, sizeof w->reason, "%s", what);
        return false;
    }
    take_hello(w, &hello);
    return true;
}

assay_code assay_worker_start(assay_worker *w, assay_error *error) {
    const uint64_t deadline = assay_deadline_ns() + (uint64_t)w->start_timeout_ms * 1000000u;
    assay_mirror_release(w, false);
    const assay_code code = assay_process_start(&w->process, w->argv, w->arena, w->memory_limit_bytes, error);
    if (code == ASSAY_CODE_USAGE && w->external) {
        (void)snprintf(w->reason, sizeof w->reason, "%.250s", error->text);
        return ASSAY_CODE_REFUSED;
    }
    if (code != ASSAY_CODE_OK) {
        return ASSAY_CODE_INTERNAL;
    }
    w->generation++;
    w->line.used = 0;
    w->line.failed = false;
    assay_write_hello_judge(&w->line, assay_arena_bytes(w->arena), (size_t)sysconf(_SC_PAGESIZE),
                            w->plugin == NULL ? NULL : w->device_name);
    if (!assay_process_send(&w->process, &w->line, deadline)) {
        assay_worker_lose(w, DYING_PATIENCE_MS, "does not take the judge's hello");
        return ASSAY_CODE_REFUSED;
    }
    return receive_hello(w, deadline) ? ASSAY_CODE_OK : ASSAY_CODE_REFUSED;
}

static assay_code prepare_handle(assay_worker *w, const assay_worker_options *o, assay_error *error) {
    assay_program_kind kind = ASSAY_PROGRAM_LIBRARY;
    size_t n = 0;
    const assay_code code = assay_program_detect(o->adapter, &kind, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    w->external = kind == ASSAY_PROGRAM_EXTERNAL;
    w->adapter = realpath(o->adapter, NULL); /* the worker's working directory is "/" */
    w->self = realpath(o->self == NULL ? "/proc/self/exe" : o->self, NULL);
    w->line.bytes = malloc(ASSAY_LINE_BYTES);
    w->nothing = json_array();
    if (w->adapter == NULL || w->self == NULL || w->line.bytes == NULL || w->nothing == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "opening %s: %s", o->adapter, strerror(errno));
    }
    for (const char *const *word = o->wrapper; !w->external && word != NULL && *word != NULL; word++) {
        if (n + 5 > sizeof w->argv / sizeof *w->argv) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "opening %s: the wrapper has too many words",
                              o->adapter);
        }
        w->argv[n++] = *word;
    }
    if (!w->external) {
        w->argv[n++] = w->self;
        w->argv[n++] = "worker";
        w->argv[n++] = "--adapter";
    }
    w->argv[n] = w->adapter;
    w->memory_limit_bytes = o->memory_limit_bytes == 0 ? DEFAULT_MEMORY_BYTES : o->memory_limit_bytes;
    w->plugin = o->plugin;
    w->device = o->device;
    if (o->plugin != NULL) {
        w->memory_limit_bytes = 0; /* none */
        (void)snprintf(w->device_name, sizeof w->device_name, "%s", o->device_name);
    }
    w->start_timeout_ms = o->start_timeout_ms == 0 ? DEFAULT_START_MS : o->start_timeout_ms;
    w->call_timeout_ms = o->call_timeout_ms == 0 ? DEFAULT_CALL_MS : o->call_timeout_ms;
    w->exit_patience_ms = o->exit_patience_ms == 0 ? EXIT_PATIENCE_MS : o->exit_patience_ms;
    if (!assay_process_init(&w->process, error)) {
        return ASSAY_CODE_INTERNAL;
    }
    return assay_arena_create(o->arena_bytes == 0 ? DEFAULT_ARENA_BYTES : o->arena_bytes, &w->arena, error);
}

/* Keeps processes of the same user from reading the judge: expected values, database and keys through
 * /proc/<judge>/mem and fd. Leak detection needs to trace its own process, so not in sanitizer builds. */
static void close_to_others(void) {
    if (!ASSAY_UNDER_ASAN) {
        (void)prctl(PR_SET_DUMPABLE, 0);
    }
}

assay_code assay_worker_open(const assay_worker_options *options, assay_worker **worker, assay_error *error) {
    *worker = NULL;
    if (options->adapter == NULL || options->adapter[0] == '\0') {
        return assay_fail(error, ASSAY_CODE_USAGE, "adapter: no file given");
    }
    assay_worker *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
    }
    close_to_others();
    w->process = (assay_process){.pid = -1, .pidfd = -1, .socket = -1, .stderr_fd = -1};
    assay_code code = prepare_handle(w, options, error);
    if (code == ASSAY_CODE_OK) {
        code = assay_worker_start(w, error);
        if (code == ASSAY_CODE_REFUSED) {
            /* Whether it was gone before or after our hello is chance. */
            static const char deaf[] = "does not take the judge's hello: exited";
            const bool early = strncmp(w->reason, deaf, strlen(deaf)) == 0;
            const char *why = early ? w->reason + strlen(deaf) - strlen("exited") : w->reason;
            const bool silent = w->external && strncmp(why, "exited", strlen("exited")) == 0;
            code = assay_fail(error, ASSAY_CODE_USAGE, "adapter %s: %s%s", options->adapter, why,
                              silent ? " before its hello (a program must speak harness/PROTOCOL.md)" : "");
        }
    }
    if (code != ASSAY_CODE_OK) {
        assay_worker_close(w);
        return code;
    }
    *worker = w;
    return ASSAY_CODE_OK;
}
