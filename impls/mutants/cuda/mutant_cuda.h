/* mutant_cuda.h - what the files of this folder share. One library holds all faults; each subject is a tiny
 * library that names its own. Not linked with any part of Assay. */
#ifndef ASSAY_MUTANT_CUDA_H
#define ASSAY_MUTANT_CUDA_H

#include "../../cuda/kernels.h"
#include "subjects_cuda.h"

typedef enum mutant_fault {
#define X(name, class_, suite, expected, source, text) C_##name,
    CUDA_MUTANT_LIST(X)
#undef X
        C_COUNT
} mutant_fault;

#ifdef __cplusplus
extern "C" {
#endif

/* The promised forward pass, `blocks` of `threads`: the same source with exact options, with --use_fast_math,
 * with -ftz=true. A grid of zero is passed on. */
cudaError_t mutant_plain_exact(const cuda_work *w, unsigned blocks, unsigned threads);
cudaError_t mutant_plain_fast(const cuda_work *w, unsigned blocks, unsigned threads);
cudaError_t mutant_plain_ftz(const cuda_work *w, unsigned blocks, unsigned threads);

/* faults.cu: the forward pass of one fault, on w->stream. */
cudaError_t mutant_forward(const cuda_work *w, mutant_fault fault);
/* Every output element gets `value`; with `copy` the timestep of its row. For backward too. */
cudaError_t mutant_fill(const cuda_work *w, int backward, int copy, float value);
/* Timesteps side by side as FP32 at `to`. */
cudaError_t mutant_gather(const cuda_work *w, float *to);
/* Waits, then zeroes the first element of the output. */
cudaError_t mutant_spoil_late(const cuda_work *w, unsigned long long wait_ns);
/* *bad (mapped host memory) gets the number of a bad timestep; the last blocks may be left out. */
cudaError_t mutant_range(const cuda_work *w, int first_block_only, unsigned long long *bad);

/* backward.cu */
cudaError_t mutant_backward(const cuda_work *w, mutant_fault fault);

#ifdef __cplusplus
}
#endif
#endif
