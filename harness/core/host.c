/* host.c - the worker host: the process that loads a native adapter and answers the judge's messages.
 *
 * It shares its address space with the candidate and is therefore not trusted by the judge. Nothing that the
 * candidate changes (MXCSR, signal handlers, threads, limits) is repaired between calls. */
#include "device.h"
#include "host_adapter.h"
#include "host_space.h"
#include "protocol.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_PROTOCOL 2
#define EXIT_MAPPING  4
#define EXIT_DEVICE   5

typedef struct operator_state {
    bool prepared;
    assay_status status; /* what prepare returned */
    void *state;
    char message[256];
} operator_state;

typedef struct host {
    const assay_adapter_info *info;
    operator_state *operators; /* info->operator_count */
    assay_host_space *space;
    assay_reader reader;
    assay_line line;
    char message[256]; /* the candidate's text of the current call */
} host;

/* One run, prepared so that it can go to any thread. */
typedef struct invocation {
    assay_host_space *space;
    assay_host_run run;
    bool good;
    assay_error error;
} invocation;

static bool send_line(host *h) {
    size_t done = 0;
    while (!h->line.failed && done < h->line.used) {
        const ssize_t n = send(ASSAY_SOCKET_FD, h->line.bytes + done, h->line.used - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n < 0 ? 0 : (size_t)n;
    }
    const bool ok = !h->line.failed;
    h->line.used = 0;
    h->line.failed = false;
    return ok;
}

/* The next message of the judge; false at end of file, on an error and on nonsense. */
static bool receive(host *h, assay_message *message) {
    size_t n = 0;
    const char *line = NULL;
    while ((line = assay_reader_line(&h->reader, &n)) == NULL) {
        long got = assay_reader_spin(&h->reader, ASSAY_SOCKET_FD);
        if (got == -1 && errno == EAGAIN) {
            got = assay_reader_fill(&h->reader, ASSAY_SOCKET_FD, 0);
        }
        if (got <= 0) {
            return false;
        }
    }
    return assay_protocol_parse(line, n, message, NULL) == ASSAY_CODE_OK;
}

static void *invoke(void *context) {
    invocation *v = context;
    v->good = v->space->run(v->space, &v->run, &v->error);
    return NULL;
}

static assay_status run_invocation(host *h, invocation *v, bool other_thread) {
    if (!other_thread) {
        (void)invoke(v);
    } else {
        pthread_t thread;
        if (pthread_create(&thread, NULL, invoke, v) != 0 || pthread_join(thread, NULL) != 0) {
            (void)snprintf(h->message, sizeof h->message, "the worker host cannot run another thread");
            return ASSAY_INTERNAL;
        }
    }
    if (!v->good) {
        if (v->error.code == ASSAY_CODE_INTERNAL) {
            /* The device context of this process is lost: a fresh process has a new one. */
            (void)fprintf(stderr, "%s\n", v->error.text);
            _exit(EXIT_DEVICE);
        }
        (void)snprintf(h->message, sizeof h->message, "%.200s", v->error.text);
        return v->error.code == ASSAY_CODE_INCOMPLETE ? ASSAY_UNSUPPORTED : ASSAY_DEVICE_ERROR;
    }
    if ((unsigned)v->run.status > ASSAY_INTERNAL) {
        (void)snprintf(h->message, sizeof h->message, "the adapter returned %d, which is no status",
                       (int)v->run.status);
        return ASSAY_INTERNAL;
    }
    return v->run.status;
}

/* Builds the DLTensors of one list; a null tensor becomes a NULL pointer. */
static void build(host *h, assay_wire_tensor *wire, size_t n, DLTensor *tensors, DLTensor **pointers) {
    for (size_t i = 0; i < n; i++) {
        pointers[i] = NULL;
        if (!wire[i].null) {
            tensors[i] = (DLTensor){.data = h->space->address(h->space, &wire[i]),
                                    .device = h->space->device,
                                    .ndim = wire[i].ndim,
                                    .dtype = assay_dtype_dlpack(wire[i].dtype),
                                    .shape = wire[i].shape,
                                    .strides = wire[i].strides};
            pointers[i] = &tensors[i];
        }
    }
}

/* Finds the operator and prepares it once per process. NULL with *status set when it cannot run. */
static const assay_operator *ready(host *h, const assay_message *m, void **state, assay_status *status) {
    for (size_t i = 0; i < h->info->operator_count; i++) {
        const assay_operator *o = &h->info->operators[i];
        operator_state *s = &h->operators[i];
        if (strcmp(o->name, m->op) != 0) {
            continue;
        }
        if (m->backward && o->backward == NULL) {
            break;
        }
        if (!s->prepared) {
            s->prepared = true;
            s->status = o->prepare == NULL ? ASSAY_OK : o->prepare(&s->state, s->message, sizeof s->message);
            s->message[sizeof s->message - 1] = '\0';
        }
        *state = s->state;
        *status = (unsigned)s->status > ASSAY_INTERNAL ? ASSAY_INTERNAL : s->status;
        (void)snprintf(h->message, sizeof h->message, "%s", s->message);
        return *status == ASSAY_OK ? o : NULL;
    }
    *status = ASSAY_UNSUPPORTED;
    (void)snprintf(h->message, sizeof h->message, "the adapter offers no such operator");
    return NULL;
}

static assay_status run_call(host *h, assay_message *m, assay_host_run *took) {
    DLTensor inputs[ASSAY_MAX_TENSORS], outputs[ASSAY_MAX_TENSORS];
    DLTensor *input_pointers[ASSAY_MAX_TENSORS], *output_pointers[ASSAY_MAX_TENSORS];
    assay_status status = ASSAY_OK;
    assay_error error = {0};
    void *state = NULL;
    const assay_operator *o = ready(h, m, &state, &status);
    if (o == NULL) {
        return status;
    }
    h->message[0] = '\0';
    if (!h->space->bind(h->space, m, &error)) {
        if (error.code == ASSAY_CODE_INTERNAL) {
            /* This process cannot map the arena any more: a fresh one can. */
            (void)fprintf(stderr, "worker host: %s\n", error.text);
            _exit(EXIT_MAPPING);
        }
        (void)snprintf(h->message, sizeof h->message, "worker host: %.200s", error.text);
        return ASSAY_INTERNAL;
    }
    build(h, m->inputs, m->input_count, inputs, input_pointers);
    build(h, m->outputs, m->output_count, outputs, output_pointers);
    assay_call call = {.struct_bytes = sizeof call,
                       .attrs = m->attrs,
                       .attr_count = m->attr_count,
                       .inputs = (const DLTensor *const *)input_pointers,
                       .input_count = m->input_count,
                       .outputs = output_pointers,
                       .output_count = m->output_count,
                       .state = state,
                       .message = h->message,
                       .message_bytes = sizeof h->message};
    invocation v = {.space = h->space,
                    .run = {.entry = m->backward ? o->backward : o->forward,
                            .call = &call,
                            .message = m,
                            .status = ASSAY_INTERNAL}};
    status = run_invocation(h, &v, m->other_thread);
    h->message[sizeof h->message - 1] = '\0';
    *took = v.run;
    return status;
}

/* Serves until the judge says exit or goes away. */
static int serve(host *h) {
    assay_message m;
    while (receive(h, &m)) {
        assay_host_run took = {0};
        if (m.type == ASSAY_MESSAGE_CALL) {
            h->message[0] = '\0';
            const assay_status status = run_call(h, &m, &took);
            assay_write_result(&h->line, m.id, status, h->message, took.ns, took.device_ns, took.peak_bytes);
        } else if (m.type == ASSAY_MESSAGE_PING) {
            assay_write_plain(&h->line, ASSAY_MESSAGE_PONG, m.id);
        } else {
            const bool polite = m.type == ASSAY_MESSAGE_EXIT;
            assay_message_free(&m);
            return polite ? 0 : EXIT_PROTOCOL;
        }
        assay_message_free(&m);
        if (!send_line(h)) {
            return EXIT_PROTOCOL;
        }
    }
    return EXIT_PROTOCOL;
}

/* The memory space that the adapter wants. */
static assay_host_space *open_space(const host *h, const assay_message *judge, assay_error *error) {
    if (h->info->memory == ASSAY_MEMORY_HOST) {
        return assay_host_space_open(ASSAY_ARENA_FD, (size_t)judge->arena_bytes, (size_t)judge->page_bytes,
                                     error);
    }
    if (judge->device == NULL) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "wants CUDA memory: use --device cuda:N");
        return NULL;
    }
    const assay_device_plugin *plugin = assay_device_plugin_load(error);
    return plugin == NULL
               ? NULL
               : plugin->space_open(assay_device_ordinal(judge->device), (size_t)judge->page_bytes, error);
}

/* Loads the adapter and opens its memory space; the hello (new reference) says how that went. */
static json_t *introduce(host *h, const char *path, const assay_message *judge, assay_error *error) {
    if (judge->protocol != ASSAY_PROTOCOL_VERSION) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "the judge speaks protocol %lld, this worker %d",
                         (long long)judge->protocol, ASSAY_PROTOCOL_VERSION);
        return NULL;
    }
    h->info = assay_adapter_load(path, error);
    if (h->info == NULL) {
        return NULL;
    }
    h->operators = calloc(h->info->operator_count, sizeof *h->operators);
    h->space = open_space(h, judge, error);
    if (h->operators == NULL || h->space == NULL) {
        return NULL;
    }
    return assay_adapter_hello(h->info, error);
}

/* The hello of a worker that cannot serve (new reference). */
static json_t *refusal(const char *why) {
    return json_pack("{s:s, s:s, s:i, s:s}", "type", "hello", "role", "worker", "protocol",
                     ASSAY_PROTOCOL_VERSION, "error", why);
}

static bool started_by_judge(void) {
    struct stat s;
    return fstat(ASSAY_SOCKET_FD, &s) == 0 && S_ISSOCK(s.st_mode) && fstat(ASSAY_ARENA_FD, &s) == 0 &&
           S_ISREG(s.st_mode);
}

int assay_worker_main(const char *adapter_path) {
    static char line_bytes[ASSAY_LINE_BYTES];
    host h = {.line = {.bytes = line_bytes}};
    assay_message m;
    assay_error error = {0};
    if (!started_by_judge()) {
        (void)fprintf(stderr, "assay worker: started by the judge only (descriptors 3 and 4 are missing)\n");
        return EXIT_PROTOCOL;
    }
    (void)fcntl(ASSAY_SOCKET_FD, F_SETFD, FD_CLOEXEC);
    (void)fcntl(ASSAY_ARENA_FD, F_SETFD, FD_CLOEXEC);
    if (!assay_reader_init(&h.reader) || !receive(&h, &m) || m.type != ASSAY_MESSAGE_HELLO_JUDGE) {
        return EXIT_PROTOCOL;
    }
    json_t *hello = introduce(&h, adapter_path, &m, &error);
    assay_message_free(&m);
    bool serving = hello != NULL;
    if (!serving) {
        hello = refusal(error.text[0] == '\0' ? "out of memory" : error.text);
    }
    assay_write_json(&h.line, hello);
    json_decref(hello);
    if (h.line.failed) {
        serving = false;
        hello = refusal("descriptor: its texts do not fit into one message");
        h.line.used = 0;
        h.line.failed = false;
        assay_write_json(&h.line, hello);
        json_decref(hello);
    }
    const int code = send_line(&h) && serving ? serve(&h) : EXIT_PROTOCOL;
    /* Not exit(): the candidate's destructors and atexit handlers have no business after the last call. */
    _exit(code);
}
