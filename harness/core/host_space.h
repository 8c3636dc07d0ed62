/* host_space.h - a memory space of the worker host: how tensors of a call become addresses there. Host memory
 * is built in; CUDA comes as a plugin that fills the same table. */
#ifndef ASSAY_HOST_SPACE_H
#define ASSAY_HOST_SPACE_H

#include "protocol.h"

typedef struct assay_host_space assay_host_space;

struct assay_host_space {
    DLDevice device;
    /* Makes exactly the segments that the call names accessible; what the last call named and this one does
     * not becomes inaccessible. False with a message when a tensor does not fit into the arena. */
    bool (*bind)(assay_host_space *space, const assay_message *call, assay_error *error);
    /* The address of element 0. Valid until the next bind. */
    void *(*address)(assay_host_space *space, const assay_wire_tensor *tensor);
    /* The stream given to the candidate; NULL on the host. */
    void *(*stream)(assay_host_space *space);
    /* Waits for the work on that stream; false with a message when the device reports an error. */
    bool (*finish)(assay_host_space *space, assay_error *error);
    void (*close)(assay_host_space *space);
};

/* The host memory space over the arena `fd` of `bytes`. NULL with a message on failure. */
assay_host_space *assay_host_space_open(int fd, size_t bytes, size_t page_bytes, assay_error *error);

#endif
