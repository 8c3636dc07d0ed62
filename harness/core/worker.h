/* worker.h - the judge's end of a worker process (harness/PROTOCOL.md).
 *
 * The judge never loads a candidate. It starts `assay worker` (native adapters) or the adapter's own program
 * (external adapters), both over the same protocol, and survives whatever happens there: crash, exit, hang
 * past the deadline, garbage, half a message, a closed socket. Each of those turns one call into
 * ASSAY_CALL_LOST with a reason and leaves a handle whose next call starts a fresh process. Not thread-safe:
 * one handle per thread. */
#ifndef ASSAY_WORKER_H
#define ASSAY_WORKER_H

#include "assay/adapter.h"
#include "device.h"
#include "error.h"
#include "tensor.h"

#include <jansson.h>

typedef struct assay_worker assay_worker;

typedef struct assay_worker_options {
    const char *adapter; /* path of a shared library (ELF .so) or of an executable program; not a name */
    const char *self;    /* path of the assay binary that hosts native adapters; NULL = /proc/self/exe */
    size_t arena_bytes;  /* 0 = 8 GiB (sparse) */
    size_t memory_limit_bytes; /* private memory the worker may map beyond the arena; 0 = 8 GiB */
    unsigned start_timeout_ms; /* 0 = 60000 */
    unsigned call_timeout_ms;  /* 0 = 30000; assay_call_spec.timeout_ms overrides */
    unsigned exit_patience_ms; /* how long a process may take to end after `exit`; 0 = 100 */
    /* The GPU of the run; all three or none. They must outlive the worker. Memory limits do not hold then: a
     * CUDA context reserves far more addresses than it uses. */
    const assay_device_plugin *plugin;
    assay_device *device;
    const char *device_name; /* "cuda:0" */
    /* Runs a native adapter's host under another program, words separated by NULL at the end (a checker of
     * memory accesses); NULL = directly. argv of the host follows these words. */
    const char *const *wrapper;
} assay_worker_options;

/* What the adapter said of itself in `hello`; strings owned by the handle, valid until the next restart. */
typedef struct assay_worker_info {
    const char *name, *version, *description, *lineage; /* "" when absent */
    assay_memory memory;
    bool external;           /* speaks the protocol itself */
    bool guards;             /* maps segments one by one, so that guard pages hold */
    const json_t *operators; /* [{"name","forward":true,"backward":bool}] */
    const json_t *knobs;     /* [{"name","requested","effective"}] */
} assay_worker_info;

/* Starts the process and waits for its hello. Errors (code USAGE): no such file, not an adapter, symbol
 * missing, wrong ABI version, malformed hello, dies while loading - each one line naming the file and the
 * rule. */
assay_code assay_worker_open(const assay_worker_options *options, assay_worker **worker, assay_error *error);
void assay_worker_close(assay_worker *worker);
const assay_worker_info *assay_worker_get_info(const assay_worker *worker);
assay_arena *assay_worker_arena(assay_worker *worker);
/* The device arena of a worker with CUDA memory, at least as large as `bytes`; it grows when needed, and then
 * what it held is lost. Same offsets as the host arena. NULL with an error (INCOMPLETE when memory is short).
 */
const assay_device_arena *assay_worker_device_arena(assay_worker *worker, size_t bytes, assay_error *error);
bool assay_worker_offers(const assay_worker *worker, const char *op, bool backward);
/* Ends the process (SIGKILL after a polite exit message); the next call starts a fresh one on the same arena.
 */
void assay_worker_restart(assay_worker *worker);
int assay_worker_pid(const assay_worker *worker);             /* -1 when none is running */
unsigned assay_worker_generation(const assay_worker *worker); /* counts started processes, from 1 */

typedef enum assay_call_result {
    ASSAY_CALL_ANSWERED, /* `status` is what the adapter returned */
    ASSAY_CALL_LOST      /* crash, time-out, protocol error: `reason` says which; the process is gone */
} assay_call_result;

typedef struct assay_call_spec {
    const char *op;
    bool backward;
    const assay_attr *attrs;
    size_t attr_count;
    const assay_tensor *const *inputs; /* NULL entry = null argument */
    size_t input_count;
    const assay_tensor *const *outputs;
    size_t output_count;
    unsigned repeat;     /* 0 or 1 = once; N = N times in a row, ns is the total (timing) */
    bool other_thread;   /* run on a freshly created thread of the worker */
    unsigned timeout_ms; /* 0 = the handle's default */
    /* For a worker with CUDA memory only; see protocol.h. */
    bool resident; /* the tensors are in the device arena already, and stay there: nothing is mirrored */
    assay_stream_kind stream;
    unsigned delay_us, graph;
    bool peak, apart;
} assay_call_spec;

typedef struct assay_call_reply {
    assay_call_result result;
    assay_status status;
    char message[256];  /* the adapter's message */
    char reason[256];   /* why the call was lost */
    uint64_t worker_ns; /* the worker's own measurement around the adapter's function */
    uint64_t judge_ns;  /* the judge's, from send to reply */
    uint64_t device_ns; /* device time by the worker's events; 0 on the host */
    uint64_t peak_bytes;
} assay_call_reply;

/* One call. Returns false only for faults of the harness (error filled); everything the candidate does is in
 * *reply. */
bool assay_worker_call(assay_worker *worker, const assay_call_spec *spec, assay_call_reply *reply,
                       assay_error *error);
/* Brings the segment of a tensor of the last call once more from the device; nothing to do on the host. */
bool assay_worker_refresh(assay_worker *worker, const assay_tensor *tensor, assay_error *error);
/* Sends now, answers later: lets one judge thread keep a worker busy while it compares. At most one call in
 * flight. */
bool assay_worker_send(assay_worker *worker, const assay_call_spec *spec, assay_error *error);
bool assay_worker_wait(assay_worker *worker, assay_call_reply *reply, assay_error *error);

/* The worker host: `assay worker --adapter FILE`, file descriptors 3 (socket) and 4 (arena) inherited.
 * Returns the exit code. */
int assay_worker_main(const char *adapter_path);

#endif
