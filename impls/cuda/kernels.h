/* kernels.h - the device side of the adapters cuda and cuda_fast_math: what the adapter asks the kernels to
 * do. One source, two builds: ASSAY_EXACT_MATH marks CUDA code whose compiler options were found to be exact,
 * ASSAY_FAST_MATH_BUILD the other.
 */
#ifndef ASSAY_IMPL_CUDA_KERNELS_H
#define ASSAY_IMPL_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cuda_type { CUDA_TYPE_F32, CUDA_TYPE_BF16, CUDA_TYPE_F16 } cuda_type;

/* A vector or matrix of a checked call; strides in elements. */
typedef struct cuda_view {
    void *data;
    int64_t row_stride;
    int64_t column_stride;
} cuda_view;

/* A checked call. `c` is float(-ln(max_period)) and `inv` is 1/half, both rounded once on the host. */
typedef struct cuda_work {
    int64_t rows;
    int64_t half;
    float c, inv;
    cuda_type type; /* of timestep and gradient */
    cuda_view timestep, out, upstream, saved, grad;
    cudaStream_t stream;
} cuda_work;

/* How the forward kernel goes about it; CUDA_WAY_CHOSEN goes by the number of rows. For benchmarks. */
typedef enum cuda_way {
    CUDA_WAY_CHOSEN,
    CUDA_WAY_PAIR,  /* starts early; one pair of outputs per thread, `rows` rows a block */
    CUDA_WAY_EARLY, /* starts early; four pairs of one row per thread */
    CUDA_WAY_MANY   /* streams its outputs; four pairs of `rows` rows (2, 4 or 8) per thread */
} cuda_way;

typedef struct cuda_tuning {
    cuda_way way;
    int rows;
    int warps; /* per block; not for CUDA_WAY_PAIR */
} cuda_tuning;

/* Each queues its kernels on work.stream and returns what the launch said. */
cudaError_t cuda_forward(const cuda_work *work, const cuda_tuning *tuning); /* tuning may be NULL */
cudaError_t cuda_backward(const cuda_work *work);
/* Queues a kernel that writes the number of a bad timestep to *bad (mapped host memory) when there is one. */
cudaError_t cuda_range(const cuda_work *work, unsigned long long *bad);
/* Which code object the forward kernel runs from: binary and PTX version, e.g. 90 and 90. */
cudaError_t cuda_code_object(int *binary, int *ptx);

#ifdef __cplusplus
}
#endif
#endif
