/* worker.c - the judge's handle: calls, losses and restarts. See worker.h for the contract.
 *
 * A call is in one of three states: none, in flight, or lost before it could be sent (then the wait reports
 * it). */
#include "worker.h"
#include "worker_process.h"

#include <errno.h>
#include <limits.h>
#include <sodium/randombytes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_ARENA_BYTES  ((size_t)8 << 30)
#define DEFAULT_MEMORY_BYTES ((size_t)8 << 30)
#define DEFAULT_START_MS     60000u
#define DEFAULT_CALL_MS      30000u
#define DYING_PATIENCE_MS    250u /* a socket closes a little before its process is reported dead */
#define EXIT_PATIENCE_MS     100u

typedef enum flight { FLIGHT_NONE, FLIGHT_SENT, FLIGHT_LOST } flight;

struct assay_worker {
    char *adapter;
    char *self;
    const char *argv[6];
    bool external;
    size_t memory_limit_bytes;
    unsigned start_timeout_ms, call_timeout_ms;
    assay_arena *arena;
    assay_process process;
    unsigned generation;
    assay_message hello; /* owns the texts of `info` */
    assay_worker_info info;
    json_t *nothing; /* empty array: knobs of an adapter that has none */
    assay_line line;
    flight flight;
    char id[17];
    char reason[256];
    uint64_t sent_raw_ns, deadline_ns;
    unsigned timeout_ms;
};

static uint64_t raw_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- losing a process
 * ----------------------------------------------------------------------------------------- */

/* Ends the process and writes "<what>: <how it ended>; stderr: <tail>" into w->reason. */
static void lose(assay_worker *w, unsigned patience_ms, const char *what) {
    char how[80];
    assay_process_end(&w->process, patience_ms, how, sizeof how);
    const char *tail = assay_process_tail(&w->process);
    (void)snprintf(w->reason, sizeof w->reason, "%s%s%s%s%s", what,
                   how[0] != '\0' && what[0] != '\0' ? ": " : "", how, tail[0] != '\0' ? "; stderr: " : "",
                   tail);
}

/* Ends the process after a wait that brought no usable line. */
static void lose_wait(assay_worker *w, assay_wait_end end, unsigned timeout_ms) {
    char what[128] = "";
    const size_t half = w->process.reader.end - w->process.reader.begin;
    switch (end) {
    case ASSAY_WAIT_DEADLINE:
        (void)snprintf(what, sizeof what, "no answer within %u ms%s", timeout_ms,
                       half > 0 ? ", only half a message" : "");
        lose(w, 0, what);
        return;
    case ASSAY_WAIT_TOO_LONG:
        (void)snprintf(what, sizeof what, "protocol error: line longer than %u bytes", ASSAY_LINE_BYTES);
        lose(w, 0, what);
        return;
    case ASSAY_WAIT_CLOSED:
    case ASSAY_WAIT_DEAD:
        if (half > 0) {
            (void)snprintf(what, sizeof what, "half a message (%zu bytes)", half);
        } else if (end == ASSAY_WAIT_CLOSED && !assay_process_has_ended(&w->process)) {
            (void)snprintf(what, sizeof what, "closed its socket");
        }
        lose(w, DYING_PATIENCE_MS, what);
        if (strncmp(w->reason, "closed its socket: killed", 25) == 0 ||
            strncmp(w->reason, "closed its socket: exited", 25) == 0) {
            memmove(w->reason, w->reason + 19, strlen(w->reason + 19) + 1); /* it closed because it died */
        }
        return;
    case ASSAY_WAIT_LINE:
        return;
    }
}

/* ---- starting
 * -------------------------------------------------------------------------------------------------- */

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
        lose_wait(w, end, w->start_timeout_ms);
        return false;
    }
    if (assay_protocol_parse(line, n, &hello, &fault) != ASSAY_CODE_OK) {
        char what[160];
        (void)snprintf(what, sizeof what, "malformed hello: %.120s", fault.text);
        lose(w, 0, what);
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

/* Starts a fresh process and exchanges hellos. REFUSED (w->reason set) when the candidate is to blame,
 * INTERNAL when we are. */
static assay_code start(assay_worker *w, assay_error *error) {
    const uint64_t deadline = assay_process_now_ns() + (uint64_t)w->start_timeout_ms * 1000000u;
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
    assay_write_hello_judge(&w->line, assay_arena_bytes(w->arena), (size_t)sysconf(_SC_PAGESIZE));
    if (!assay_process_send(&w->process, &w->line, deadline)) {
        lose(w, DYING_PATIENCE_MS, "does not take the judge's hello");
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
    if (!w->external) {
        w->argv[n++] = w->self;
        w->argv[n++] = "worker";
        w->argv[n++] = "--adapter";
    }
    w->argv[n] = w->adapter;
    w->memory_limit_bytes = o->memory_limit_bytes == 0 ? DEFAULT_MEMORY_BYTES : o->memory_limit_bytes;
    w->start_timeout_ms = o->start_timeout_ms == 0 ? DEFAULT_START_MS : o->start_timeout_ms;
    w->call_timeout_ms = o->call_timeout_ms == 0 ? DEFAULT_CALL_MS : o->call_timeout_ms;
    if (!assay_process_init(&w->process, error)) {
        return ASSAY_CODE_INTERNAL;
    }
    return assay_arena_create(o->arena_bytes == 0 ? DEFAULT_ARENA_BYTES : o->arena_bytes, &w->arena, error);
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
    w->process = (assay_process){.pid = -1, .pidfd = -1, .socket = -1, .stderr_fd = -1};
    assay_code code = prepare_handle(w, options, error);
    if (code == ASSAY_CODE_OK) {
        code = start(w, error);
        if (code == ASSAY_CODE_REFUSED) {
            code = assay_fail(error, ASSAY_CODE_USAGE, "adapter %s: %s", options->adapter, w->reason);
        }
    }
    if (code != ASSAY_CODE_OK) {
        assay_worker_close(w);
        return code;
    }
    *worker = w;
    return ASSAY_CODE_OK;
}

void assay_worker_restart(assay_worker *worker) {
    if (worker->process.pid >= 0) {
        const bool idle = worker->flight == FLIGHT_NONE;
        worker->line.used = 0;
        worker->line.failed = false;
        assay_write_plain(&worker->line, ASSAY_MESSAGE_EXIT, NULL);
        const bool polite =
            idle && assay_process_send(&worker->process, &worker->line, assay_process_now_ns());
        assay_process_end(&worker->process, polite ? EXIT_PATIENCE_MS : 0, NULL, 0);
    }
    if (worker->flight == FLIGHT_SENT) {
        worker->flight = FLIGHT_LOST;
        (void)snprintf(worker->reason, sizeof worker->reason, "the judge ended the worker");
    }
}

void assay_worker_close(assay_worker *worker) {
    if (worker == NULL) {
        return;
    }
    assay_worker_restart(worker);
    assay_process_free(&worker->process);
    assay_arena_destroy(worker->arena);
    assay_message_free(&worker->hello);
    json_decref(worker->nothing);
    free(worker->line.bytes);
    free(worker->adapter);
    free(worker->self);
    free(worker);
}

/* ---- what the handle knows
 * --------------------------------------------------------------------------------------- */

const assay_worker_info *assay_worker_get_info(const assay_worker *worker) {
    return &worker->info;
}

assay_arena *assay_worker_arena(assay_worker *worker) {
    return worker->arena;
}

bool assay_worker_offers(const assay_worker *worker, const char *op, bool backward) {
    for (size_t i = 0; i < json_array_size(worker->info.operators); i++) {
        const json_t *o = json_array_get(worker->info.operators, i);
        if (strcmp(json_string_value(json_object_get(o, "name")), op) == 0) {
            return json_is_true(json_object_get(o, backward ? "backward" : "forward"));
        }
    }
    return false;
}

int assay_worker_pid(const assay_worker *worker) {
    return worker->process.pid;
}

unsigned assay_worker_generation(const assay_worker *worker) {
    return worker->generation;
}

/* ---- calls
 * ---------------------------------------------------------------------------------------------------------
 */

static void fresh_id(char id[17]) {
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[8];
    randombytes_buf(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        id[2 * i] = hex[bytes[i] >> 4];
        id[2 * i + 1] = hex[bytes[i] & 15];
    }
    id[16] = '\0';
}

static bool compose(assay_worker *w, const assay_call_spec *spec, assay_error *error) {
    if (spec->op == NULL || spec->attr_count > ASSAY_MAX_ATTRS || spec->input_count > ASSAY_MAX_TENSORS ||
        spec->output_count > ASSAY_MAX_TENSORS || spec->repeat > ASSAY_MAX_REPEAT) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "call: at most %d attributes and %d tensors each way",
                         ASSAY_MAX_ATTRS, ASSAY_MAX_TENSORS);
        return false;
    }
    fresh_id(w->id);
    w->line.used = 0;
    w->line.failed = false;
    assay_write_call(&w->line, w->id, spec->op, spec->backward, spec->attrs, spec->attr_count, spec->inputs,
                     spec->input_count, spec->outputs, spec->output_count,
                     spec->repeat == 0 ? 1 : spec->repeat, spec->other_thread);
    if (w->line.failed) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "call of %s does not fit into a message", spec->op);
        return false;
    }
    return true;
}

/* A fresh process when none is running. False for harness faults; a candidate that does not start again is a
 * lost call. */
static bool ensure_running(assay_worker *w, assay_error *error) {
    if (w->process.pid >= 0) {
        return true;
    }
    const assay_code code = start(w, error);
    if (code == ASSAY_CODE_REFUSED) {
        char what[sizeof w->reason];
        memcpy(what, w->reason, sizeof what);
        (void)snprintf(w->reason, sizeof w->reason, "did not start again: %.220s", what);
        w->flight = FLIGHT_LOST;
        return true;
    }
    return code == ASSAY_CODE_OK;
}

bool assay_worker_send(assay_worker *worker, const assay_call_spec *spec, assay_error *error) {
    assay_worker *w = worker;
    if (w->flight != FLIGHT_NONE) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "a call is already in flight");
        return false;
    }
    if (!ensure_running(w, error)) {
        return false;
    }
    w->timeout_ms = spec->timeout_ms == 0 ? w->call_timeout_ms : spec->timeout_ms;
    w->sent_raw_ns = raw_ns();
    if (w->flight == FLIGHT_LOST) {
        return true;
    }
    if (!compose(w, spec, error)) {
        return false;
    }
    if (assay_process_has_input(&w->process)) {
        lose(w, 0, "protocol error: a message between calls");
        w->flight = FLIGHT_LOST;
        return true;
    }
    w->deadline_ns = assay_process_now_ns() + (uint64_t)w->timeout_ms * 1000000u;
    w->sent_raw_ns = raw_ns();
    if (assay_process_send(&w->process, &w->line, w->deadline_ns)) {
        w->flight = FLIGHT_SENT;
    } else {
        lose(w, DYING_PATIENCE_MS, "ended or closed its socket between calls");
        w->flight = FLIGHT_LOST;
    }
    return true;
}

/* Judges the line that answers the call in flight. NULL when it is a valid result, else the rule that it
 * breaks. */
static const char *accept_result(assay_worker *w, const char *line, size_t n, assay_call_reply *reply,
                                 assay_error *fault) {
    assay_message m;
    const char *rule = NULL;
    if (assay_protocol_parse(line, n, &m, fault) != ASSAY_CODE_OK) {
        return fault->text;
    }
    if (m.type != ASSAY_MESSAGE_RESULT) {
        rule = "expected a result";
    } else if (strcmp(m.id, w->id) != 0) {
        rule = "result with the wrong id";
    } else if (assay_process_has_input(&w->process)) {
        rule = "more than one answer to a call";
    } else {
        reply->result = ASSAY_CALL_ANSWERED;
        reply->status = m.status;
        reply->worker_ns = (uint64_t)m.ns;
        (void)snprintf(reply->message, sizeof reply->message, "%s", m.text);
    }
    assay_message_free(&m);
    return rule;
}

bool assay_worker_wait(assay_worker *worker, assay_call_reply *reply, assay_error *error) {
    assay_worker *w = worker;
    const char *line = NULL;
    size_t n = 0;
    if (w->flight == FLIGHT_NONE) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "no call is in flight");
        return false;
    }
    *reply = (assay_call_reply){.result = ASSAY_CALL_LOST, .status = ASSAY_INTERNAL};
    if (w->flight == FLIGHT_SENT) {
        const assay_wait_end end = assay_process_wait(&w->process, w->deadline_ns, &line, &n);
        reply->judge_ns = raw_ns() - w->sent_raw_ns;
        if (end != ASSAY_WAIT_LINE) {
            lose_wait(w, end, w->timeout_ms);
        } else {
            assay_error fault = {0};
            const char *rule = accept_result(w, line, n, reply, &fault);
            if (rule != NULL) {
                char what[200];
                (void)snprintf(what, sizeof what, "protocol error: %.160s", rule);
                lose(w, 0, what);
            }
        }
    }
    if (reply->result == ASSAY_CALL_LOST) {
        memcpy(reply->reason, w->reason, sizeof reply->reason);
    }
    w->flight = FLIGHT_NONE;
    return true;
}

bool assay_worker_call(assay_worker *worker, const assay_call_spec *spec, assay_call_reply *reply,
                       assay_error *error) {
    return assay_worker_send(worker, spec, error) && assay_worker_wait(worker, reply, error);
}
