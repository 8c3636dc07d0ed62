/* host_space.h - a memory space of the worker host: how tensors of a call become addresses there, and how the
 * candidate's function is run. Host memory is built in; CUDA comes as a plugin that fills the same table. */
#ifndef ASSAY_HOST_SPACE_H
#define ASSAY_HOST_SPACE_H

#include "protocol.h"

typedef struct assay_host_space assay_host_space;

/* One run of the candidate's function. */
typedef struct assay_host_run {
    assay_entry entry;
    assay_call *call; /* complete but for `stream` */
    const assay_message *message;
    assay_status status; /* out: what the candidate returned */
    uint64_t ns;         /* out: host time of all calls */
    uint64_t device_ns;  /* out: device time of all calls, by events; 0 on the host */
    uint64_t
        peak_bytes; /* out: device memory that the candidate took beyond what was in use, when asked for */
} assay_host_run;

struct assay_host_space {
    DLDevice device;
    /* Makes exactly the segments that the call names accessible; what the last call named and this one does
     * not becomes inaccessible. False with a message when a tensor does not fit into the arena. */
    bool (*bind)(assay_host_space *space, const assay_message *call, assay_error *error);
    /* The address of element 0. Valid until the next bind. */
    void *(*address)(assay_host_space *space, const assay_wire_tensor *tensor);
    /* Calls the entry as often as the message says, in the way it says (stream, delay, graph), and waits for
     * the work on the stream it gave, for nothing else. False with a message when the device reports an error
     * or cannot do what was asked: UNSUPPORTED work (a call that cannot be captured) has error code
     * INCOMPLETE; a device that is lost has code INTERNAL, and the process must end. May run on any thread.
     */
    bool (*run)(assay_host_space *space, assay_host_run *run, assay_error *error);
    void (*close)(assay_host_space *space);
};

/* The host memory space over the arena `fd` of `bytes`. NULL with a message on failure. */
assay_host_space *assay_host_space_open(int fd, size_t bytes, size_t page_bytes, assay_error *error);

#endif
