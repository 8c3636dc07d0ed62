/* space.cuh - the memory space of a worker host on the GPU: what its files share. */
#ifndef ASSAY_CUDA_SPACE_CUH
#define ASSAY_CUDA_SPACE_CUH

#include "cuda_private.h"

#include <cuda.h>

#define SPACE_SEGMENTS (2 * ASSAY_MAX_TENSORS)

/* Where a tensor's memory is for the candidate, when that is not the arena: a copy of the arena's bytes
 * [offset, offset + bytes), brought in before the call and back after it. */
struct space_place {
    size_t offset, bytes;
    char *at;
};

/* Addresses with physical memory between two granules that have none. */
struct space_region {
    CUdeviceptr reserved; /* first granule; 0 when there is none yet */
    size_t bytes;         /* with memory: whole granules */
    CUmemGenericAllocationHandle memory;
};

/* Functions of the driver that the runtime does not offer, found at run time. */
struct space_driver {
    CUresult (*granularity)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags);
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*unreserve)(CUdeviceptr, size_t);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
};

struct cuda_space {
    assay_host_space space; /* first: the table's functions get this address */
    int ordinal;
    bool opened; /* `arena` is open, by `handle` */
    uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES];
    char *arena;
    size_t arena_bytes;
    cudaStream_t own;
    cudaEvent_t begin, end;
    space_driver driver;
    size_t granule; /* 0 when the device cannot do it: then no call is guarded */
    space_region regions[SPACE_SEGMENTS];
    space_place places[SPACE_SEGMENTS]; /* of the call that is bound */
    size_t place_count;
    bool apart;           /* each place is an allocation of its own */
    assay_cuda_room kept; /* copies of inputs and outputs during a call with a delay or a graph */
};

/* space_place.cu */
/* Finds the driver's functions; leaves granule 0 when the device has no virtual memory management. */
void assay_space_guards_open(cuda_space *s);
void assay_space_guards_close(cuda_space *s);
/* Makes the places of a call and copies the arena's bytes there. */
assay_code assay_space_place(cuda_space *s, const assay_message *call, assay_error *error);
/* Copies them back. */
assay_code assay_space_return(cuda_space *s, assay_error *error);
/* The bytes of a tensor's elements, as offsets into the arena: [*first, *first + *bytes). */
void assay_space_span(const assay_wire_tensor *tensor, size_t *first, size_t *bytes);
/* The address that arena offset `offset` of a tensor has for the candidate. */
char *assay_space_address(const cuda_space *s, size_t offset);

/* space_run.cu */
bool assay_space_run(assay_host_space *space, assay_host_run *run, assay_error *error);

#endif
