/* protocol.h - the messages between judge and worker, one JSON object per line (harness/PROTOCOL.md is the
 * reference).
 *
 * Both ends use this file; it knows nothing of processes. Parsing is strict: unknown types, unknown or
 * duplicate keys, missing keys, wrong JSON types and values out of range are errors. Nothing here trusts its
 * input. */
#ifndef ASSAY_PROTOCOL_H
#define ASSAY_PROTOCOL_H

#include "assay/adapter.h"
#include "error.h"
#include "tensor.h"

#include <jansson.h>

#define ASSAY_PROTOCOL_VERSION    1
#define ASSAY_LINE_BYTES          65536u /* longest line, newline included */
#define ASSAY_MAX_TENSORS         16
#define ASSAY_MAX_ATTRS           16
#define ASSAY_MAX_OPERATORS       64
#define ASSAY_MAX_KNOBS           64
#define ASSAY_MAX_NAME            127u  /* bytes of a name, version, lineage, operator or knob text */
#define ASSAY_MAX_DESCRIPTION     1023u /* bytes of a description */
#define ASSAY_MAX_REPEAT          1000000000
#define ASSAY_MAX_DELAY_US        10000000
#define ASSAY_DEVICE_HANDLE_BYTES 64 /* cudaIpcMemHandle_t */
#define ASSAY_SOCKET_FD           3
#define ASSAY_ARENA_FD            4

/* X(enumerator, type text, role text or NULL, sender): every message. `hello` is told apart by its role. */
#define ASSAY_MESSAGE_LIST(X)                                                                                \
    X(HELLO_JUDGE, "hello", "judge", "judge")                                                                \
    X(HELLO_WORKER, "hello", "worker", "worker")                                                             \
    X(CALL, "call", NULL, "judge")                                                                           \
    X(RESULT, "result", NULL, "worker")                                                                      \
    X(PING, "ping", NULL, "judge")                                                                           \
    X(PONG, "pong", NULL, "worker")                                                                          \
    X(EXIT, "exit", NULL, "judge")

typedef enum assay_message_type {
#define X(id, type, role, sender) ASSAY_MESSAGE_##id,
    ASSAY_MESSAGE_LIST(X)
#undef X
        ASSAY_MESSAGE_COUNT
} assay_message_type;

/* X(enumerator, text, meaning): the stream that a CUDA candidate is given. */
#define ASSAY_STREAM_LIST(X)                                                                                 \
    X(ASSAY_STREAM_OWN, "own", "a non-blocking stream of the worker host, the same for all calls")           \
    X(ASSAY_STREAM_OTHER, "other", "another non-blocking stream, made for this call")                        \
    X(ASSAY_STREAM_LEGACY, "legacy", "the legacy default stream, cudaStreamLegacy")                          \
    X(ASSAY_STREAM_PER_THREAD, "per_thread", "the per-thread default stream, cudaStreamPerThread")

typedef enum assay_stream_kind {
#define X(id, text, meaning) id,
    ASSAY_STREAM_LIST(X)
#undef X
        ASSAY_STREAM_COUNT
} assay_stream_kind;

/* What a call to a worker with CUDA memory says beyond an ordinary one. All zero: the ordinary way. */
typedef struct assay_device_call {
    const uint8_t *arena_handle; /* ASSAY_DEVICE_HANDLE_BYTES of the device arena */
    size_t arena_bytes;
    assay_stream_kind stream;
    unsigned delay_us, graph;
    bool peak, apart;
} assay_device_call;

/* A tensor of a call. `null` stands for a null argument; then nothing else is set. Offsets are into the
 * arena. */
typedef struct assay_wire_tensor {
    bool null;
    assay_dtype dtype;
    int ndim;
    int64_t shape[ASSAY_MAX_DIMS];
    int64_t strides[ASSAY_MAX_DIMS];
    int64_t offset;
    int64_t segment_offset;
    int64_t segment_bytes;
} assay_wire_tensor;

/* A parsed message. Texts and arrays belong to `root`; assay_message_free releases them. Only the fields of
 * the message's type are set, the others are zero. */
typedef struct assay_message {
    assay_message_type type;
    json_t *root;
    const char *id; /* call, result, ping, pong: 16 lower-case hex digits */
    /* hello */
    int64_t protocol, arena_bytes, page_bytes;
    const char *device; /* judge: "cuda:N" when the run is on a GPU; NULL otherwise */
    const char *error;  /* worker: why it cannot serve; NULL when it can */
    const char *name, *version, *description, *lineage;
    assay_memory memory;
    bool guards;
    const json_t *operators, *knobs;
    /* call */
    const char *op;
    bool backward;
    assay_attr attrs[ASSAY_MAX_ATTRS];
    size_t attr_count;
    assay_wire_tensor inputs[ASSAY_MAX_TENSORS], outputs[ASSAY_MAX_TENSORS];
    size_t input_count, output_count;
    int64_t repeat;
    bool other_thread;
    /* call of a worker with CUDA memory */
    const char *arena;        /* handle of the device arena: 128 lower-case hex digits; NULL on the host */
    int64_t arena_size;       /* its bytes */
    assay_stream_kind stream; /* which stream the candidate gets */
    int64_t delay_us;         /* > 0: the inputs arrive on that stream so much later */
    int64_t graph;            /* > 0: the calls are captured, and the graph is launched so often */
    bool peak;                /* device memory is watched during the call */
    bool apart;               /* every tensor gets an allocation of its own, of exactly its bytes */
    /* result */
    assay_status status;
    const char *text; /* the adapter's message */
    int64_t ns;
    int64_t device_ns, peak_bytes; /* 0 when absent */
} assay_message;

/* Parses one line of n bytes (without its newline). On success *message is filled and must be freed. On
 * failure nothing needs freeing and the error (USAGE) names the fault. Safe on any bytes: this is the fuzzing
 * entry. */
assay_code assay_protocol_parse(const char *line, size_t n, assay_message *message, assay_error *error);
void assay_message_free(assay_message *message);
/* "call", "hello", ...; "unknown" outside the enum. */
const char *assay_message_text(assay_message_type type);

/* A line under construction, newline included. `failed` is set when it does not fit or a text is not UTF-8.
 */
typedef struct assay_line {
    char *bytes; /* ASSAY_LINE_BYTES, owned by the caller */
    size_t used;
    bool failed;
} assay_line;

/* Each writes one whole message into an empty line. */
void assay_write_hello_judge(assay_line *line, size_t arena_bytes, size_t page_bytes, const char *device);
/* `device` is NULL for a worker with host memory. */
void assay_write_call(assay_line *line, const char *id, const char *op, bool backward,
                      const assay_attr *attrs, size_t attr_count, const assay_tensor *const *inputs,
                      size_t input_count, const assay_tensor *const *outputs, size_t output_count,
                      unsigned repeat, bool other_thread, const assay_device_call *device);
/* `message` may hold any bytes: what is not UTF-8 becomes '?'. */
void assay_write_result(assay_line *line, const char *id, assay_status status, const char *message,
                        uint64_t ns, uint64_t device_ns, uint64_t peak_bytes);
/* Messages that hold nothing but a type and, when not NULL, an id: ping, pong, exit. */
void assay_write_plain(assay_line *line, assay_message_type type, const char *id);
/* Any JSON object (hello of a worker). */
void assay_write_json(assay_line *line, const json_t *object);

/* Splits a byte stream into lines. */
typedef struct assay_reader {
    char *bytes; /* ASSAY_LINE_BYTES, owned by the reader */
    size_t begin, end;
} assay_reader;

bool assay_reader_init(assay_reader *reader);
void assay_reader_free(assay_reader *reader);
/* The next complete line in the buffer (without newline, valid until the next fill), NULL when there is none.
 */
const char *assay_reader_line(assay_reader *reader, size_t *n);
/* Receives once from the socket. Returns the bytes received, 0 at end of file, -1 on error (errno), -2 when a
 * line is too long. `flags` as for recv. */
long assay_reader_fill(assay_reader *reader, int fd, int flags);
/* Tries to receive for some tens of microseconds, giving the processor away between tries. Returns like
 * assay_reader_fill; -1 with EAGAIN when nothing came. Blocking at once costs a wake-up on another core,
 * which is dearer than most calls. */
long assay_reader_spin(assay_reader *reader, int fd);

#endif
