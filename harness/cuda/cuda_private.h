/* cuda_private.h - what the files of the CUDA plugin share. C++ only; the engine sees device.h alone. */
#ifndef ASSAY_CUDA_PRIVATE_H
#define ASSAY_CUDA_PRIVATE_H

extern "C" {
#include "device.h"
}

#include <cuda_runtime.h>
#include <mutex>
#include <vector>

/* Rows that one thread block judges: a divisor of ASSAY_TILE_ROWS, so that no block crosses a tile. */
#define JUDGE_ROWS    1024
#define JUDGE_THREADS 256

/* Memory that grows and keeps its contents only from one request to the next. */
struct assay_cuda_room {
    void *at;
    size_t bytes;
};

struct assay_device {
    int ordinal;
    assay_device_info info;
    cudaStream_t stream; /* of the judge's kernels */
    cudaEvent_t begin, end;
    uint64_t spent_ns;
    std::mutex copies; /* upload and download share the staging buffers */
    cudaStream_t copy_stream;
    void *staging[2]; /* pinned, used in turn */
    cudaEvent_t staged[2];
    assay_cuda_room scratch; /* device memory of the call in progress */
    assay_cuda_room results; /* pinned host memory for what the call brings back */
    assay_cuda_room constants;
    std::vector<char> constants_held;  /* what `constants` holds */
    unsigned long long *row_constants; /* of the digest: two for each row of a tile; NULL until needed */
    size_t tie_room;                   /* near ties that a call has room for; 0 until needed */
};

/* Formats "what: error" into *error and returns INTERNAL (INCOMPLETE when memory is short); OK for success.
 */
assay_code assay_cuda_check(cudaError_t status, const char *what, assay_error *error);

/* Returns from the calling function with the code of a failed CUDA call. `error` is the caller's. */
#define CUDA_TRY(call, what)                                                                                 \
    do {                                                                                                     \
        const assay_code code_ = assay_cuda_check((call), (what), error);                                    \
        if (code_ != ASSAY_CODE_OK) {                                                                        \
            return code_;                                                                                    \
        }                                                                                                    \
    } while (0)

/* The same for a function that returns an assay_code. */
#define CODE_TRY(call)                                                                                       \
    do {                                                                                                     \
        const assay_code code_ = (call);                                                                     \
        if (code_ != ASSAY_CODE_OK) {                                                                        \
            return code_;                                                                                    \
        }                                                                                                    \
    } while (0)

/* At least `bytes` of device memory at d->scratch.at, valid until the next call of this function. */
assay_code assay_cuda_scratch(assay_device *d, size_t bytes, assay_error *error);
/* The same for pinned host memory at d->results.at. */
assay_code assay_cuda_results(assay_device *d, size_t bytes, assay_error *error);
/* A copy of `data` in device memory at d->constants.at; nothing is moved when it is there already. */
assay_code assay_cuda_constants(assay_device *d, const void *data, size_t bytes, assay_error *error);

/* Between these two, work on d->stream counts as spent. The second waits for it. */
assay_code assay_cuda_begin(assay_device *d, assay_error *error);
assay_code assay_cuda_end(assay_device *d, const char *what, assay_error *error);

/* ---- entries of the table, as device.h describes them ---- */

/* fill.cu */
assay_code assay_cuda_fill(assay_device *, void *, size_t, uint32_t, size_t, assay_error *);
assay_code assay_cuda_damage(assay_device *, const void *, size_t, uint32_t, size_t, uint64_t *, uint64_t *,
                             assay_error *);
assay_code assay_cuda_iota(assay_device *, void *, uint64_t, uint32_t, assay_error *);
assay_code assay_cuda_iota_intact(assay_device *, const void *, uint64_t, uint32_t, bool *, assay_error *);
assay_code assay_cuda_mark(assay_device *, void *, uint64_t, size_t, uint64_t, uint32_t, assay_error *);
assay_code assay_cuda_marks_gone(assay_device *, const void *, uint64_t, size_t, uint64_t, uint32_t, bool *,
                                 assay_error *);
/* judge.cu */
assay_code assay_cuda_judge(assay_device *, const assay_device_judgment *, assay_error *);
bool assay_cuda_has_golden(const char *op);
/* floor.cu */
assay_code assay_cuda_floor(assay_device *, bool, unsigned, double *, assay_error *);
assay_code assay_cuda_roof(assay_device *, assay_device_roof, void *, size_t, double *, assay_error *);
/* space.cu */
extern "C" assay_host_space *assay_cuda_space_open(int ordinal, size_t page_bytes, assay_error *error);

/* ---- parts of judge() ---- */

/* The digest's constants of every row of a tile at d->row_constants. */
assay_code assay_cuda_row_constants(assay_device *d, assay_error *error);
/* Adds the digest of the rows to what->tiles. */
assay_code assay_cuda_digest(assay_device *d, const assay_device_judgment *what, assay_error *error);
/* Adds to what->parity and, when it is not NULL, to what->tiles in the same pass. */
assay_code assay_cuda_parity(assay_device *d, const assay_device_judgment *what, assay_error *error);

/* The FP64 golden of one operator on the device. `measure` adds to what->accuracy; it refuses inputs that the
 * golden does not cover. An operator has one when its folder has a device_golden.cu that defines
 * `assay_cuda_golden_<folder>`; the list is made at build time. */
struct assay_cuda_golden {
    const char *op;
    assay_code (*measure)(assay_device *d, const assay_device_judgment *what, assay_error *error);
};
extern const assay_cuda_golden *const assay_cuda_goldens[]; /* NULL at the end */

#endif
