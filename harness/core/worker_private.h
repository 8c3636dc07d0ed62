/* worker_private.h - the judge's handle of a worker, shared by worker.c and worker_start.c. */
#ifndef ASSAY_WORKER_PRIVATE_H
#define ASSAY_WORKER_PRIVATE_H

#include "worker.h"
#include "worker_process.h"

#define DYING_PATIENCE_MS 250u /* a socket closes a little before its process is reported dead */
#define EXIT_PATIENCE_MS  100u

/* A call is in one of three states; LOST means lost before it could be sent, and the wait reports it. */
typedef enum flight { FLIGHT_NONE, FLIGHT_SENT, FLIGHT_LOST } flight;

struct assay_worker {
    char *adapter;
    char *self;
    const char *argv[24];
    bool external;
    size_t memory_limit_bytes;
    unsigned start_timeout_ms, call_timeout_ms, exit_patience_ms;
    assay_arena *arena;
    const assay_device_plugin *plugin;
    assay_device *device;
    char device_name[16];
    assay_device_arena mirror;      /* address NULL until the first call */
    assay_device_arena retired[48]; /* smaller ones that the running process may still have open */
    size_t retired_count;
    /* Segments of the call in flight that come back with its answer. */
    struct {
        size_t offset, bytes;
    } mirrored[2 * ASSAY_MAX_TENSORS];
    size_t mirrored_count;
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

/* ---- worker_mirror.c ---- */
/* Brings the call's segments to the device and fills *call. False with an error of the harness. */
bool assay_mirror_send(assay_worker *w, const assay_call_spec *spec, assay_device_call *call,
                       assay_error *error);
/* Frees arenas that no process has open any more: call it while none is running. */
void assay_mirror_release(assay_worker *w, bool all);
/* Brings them back. */
bool assay_mirror_receive(assay_worker *w, assay_error *error);

/* Ends the process and writes "<what>: <how it ended>; stderr: <tail>" into w->reason. */
void assay_worker_lose(assay_worker *w, unsigned patience_ms, const char *what);
/* The same after a wait that brought no usable line. */
void assay_worker_lose_wait(assay_worker *w, assay_wait_end end, unsigned timeout_ms);
/* Starts a fresh process and exchanges hellos. REFUSED (w->reason set) when the candidate is to blame,
 * INTERNAL when we are. */
assay_code assay_worker_start(assay_worker *w, assay_error *error);

#endif
