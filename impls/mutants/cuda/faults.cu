/* faults.cu - forward kernels with one fault each, correct ones with another layout, and the small kernels
 * that the adapter uses. */
#undef NDEBUG /* the assertion is the fault */
#include <cassert>

#include "element.cuh"

#define THREADS    256
#define MOST_BLOCK 65536

static unsigned blocks_for(int64_t elements) {
    const int64_t blocks = (elements + THREADS - 1) / THREADS;
    return (unsigned)(blocks > MOST_BLOCK ? MOST_BLOCK : blocks);
}

__global__ void row_per_block(const cuda_work w) {
    for (int64_t row = blockIdx.x; row < w.rows; row += gridDim.x) {
        for (int64_t k = threadIdx.x; k < w.half; k += blockDim.x) {
            element_row(w, row, k);
        }
    }
}

/* Four channels per thread, 16 bytes per store. */
__global__ void vector(const cuda_work w) {
    const int64_t quarter = w.half / 4;
    for (int64_t i = ELEMENT_FIRST; i < w.rows * quarter; i += ELEMENT_STEP) {
        const int64_t row = i / quarter;
        const int64_t k = i % quarter * 4;
        const float t = element_timestep(w, row);
        float *const out = (float *)w.out.data + row * w.out.row_stride + k;
        float c[4];
        float s[4];
        for (int j = 0; j < 4; j++) {
            const float a = __fmul_rn(t, element_frequency(w, k + j));
            c[j] = cosf(a);
            s[j] = sinf(a);
        }
        *(float4 *)out = make_float4(c[0], c[1], c[2], c[3]);
        *(float4 *)(out + w.half) = make_float4(s[0], s[1], s[2], s[3]);
    }
}

/* 32 bits for the address of the timestep or of the output. */
__global__ void narrow_index(const cuda_work w, bool input, bool output) {
    for (int64_t i = ELEMENT_FIRST; i < w.rows * w.half; i += ELEMENT_STEP) {
        const int64_t row = i / w.half;
        const int64_t k = i % w.half;
        const int64_t from = row * w.timestep.row_stride;
        const int64_t to = row * w.out.row_stride + k;
        const float t = element_load(w.timestep, w.type, input ? (int64_t)(int32_t)from : from);
        const float a = __fmul_rn(t, element_frequency(w, k));
        ((float *)w.out.data)[output ? (int64_t)(int32_t)to : to] = cosf(a);
        ((float *)w.out.data)[output ? (int64_t)(int32_t)(to + w.half) : to + w.half] = sinf(a);
    }
}

#pragma nv_diag_suppress 550 /* nobody uses it: that is the fault */
/* A load that the compiler keeps although nobody uses the value. */
__global__ void discard(const void *at, int bytes) {
    unsigned ignored;
    if (bytes == 4) {
        asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(ignored) : "l"(at));
    } else {
        asm volatile("{ .reg .u16 h; ld.volatile.global.u16 h, [%1]; cvt.u32.u16 %0, h; }"
                     : "=r"(ignored)
                     : "l"(at));
    }
}

__global__ void breaks(const cuda_work w, int how) {
    switch (how) {
    case C_run_assert:
        assert(w.rows != 7);
        break;
    case C_run_illegal:
        *(volatile float *)16 = 1.0f;
        break;
    case C_run_trap:
        __trap();
        break;
    default:
        while (*(volatile float *)w.out.data == *(volatile float *)w.out.data ||
               *(volatile float *)w.out.data != 0.0f) {
        }
        break;
    }
}

static cudaError_t launch_vector(const cuda_work *w) {
    vector<<<blocks_for(w->rows * (w->half / 4)), THREADS, 0, w->stream>>>(*w);
    return cudaGetLastError();
}

static bool vector_fits(const cuda_work *w, bool any_base) {
    return w->half % 4 == 0 && w->out.column_stride == 1 && w->out.row_stride % 4 == 0 &&
           (any_base || (uintptr_t)w->out.data % 16 == 0);
}

static cudaError_t launch_discard(const cuda_work *w, const void *at, int bytes) {
    discard<<<1, 1, 0, w->stream>>>(at, bytes);
    return cudaGetLastError();
}

/* Memory that nobody writes; taken at the first call. */
static const void *untouched() {
    static void *memory = nullptr;
    if (memory == nullptr) {
        (void)cudaMalloc(&memory, 4096);
    }
    return memory;
}

static cudaError_t plain(const cuda_work *w) {
    return mutant_plain_exact(w, blocks_for(w->rows * w->half), THREADS);
}

cudaError_t mutant_forward(const cuda_work *work, mutant_fault fault) {
    const cuda_work &w = *work;
    cuda_work other = w;
    const int bytes = w.type == CUDA_TYPE_F32 ? 4 : 2;
    cudaError_t status = cudaSuccess;
    switch (fault) {
    case C_var_block_96:
        return mutant_plain_exact(work, 7, 96);
    case C_var_row_per_block:
        row_per_block<<<(unsigned)(w.rows > MOST_BLOCK ? MOST_BLOCK : w.rows), 128, 0, w.stream>>>(w);
        return cudaGetLastError();
    case C_var_vector:
        return vector_fits(work, false) ? launch_vector(work) : plain(work);
    case C_vector_misaligned:
        return vector_fits(work, true) ? launch_vector(work) : plain(work);
    case C_fast_math:
        return mutant_plain_fast(work, blocks_for(w.rows * w.half), THREADS);
    case C_ftz:
        return mutant_plain_ftz(work, blocks_for(w.rows * w.half), THREADS);
    case C_batch_256:
        return w.rows >= 256 ? mutant_plain_fast(work, blocks_for(w.rows * w.half), THREADS) : plain(work);
    case C_tail_mask:
        other.rows = (w.rows + 7) / 8 * 8;
        return plain(&other);
    case C_tail_unwritten:
        other.rows = w.rows / 8 * 8;
        return other.rows == 0 ? cudaSuccess : plain(&other);
    case C_grid_zero: /* the caller ignores the answer */
        return mutant_plain_exact(work, (unsigned)(w.rows / 64), THREADS);
    case C_error_unchecked: /* as above, and the error stays for whoever asks next */
        row_per_block<<<(unsigned)(w.rows > MOST_BLOCK ? MOST_BLOCK : w.rows), (unsigned)w.half * 4, 0,
                        w.stream>>>(w);
        return cudaSuccess;
    case C_index_input_32:
    case C_index_output_32:
        narrow_index<<<blocks_for(w.rows * w.half), THREADS, 0, w.stream>>>(w, fault == C_index_input_32,
                                                                            fault == C_index_output_32);
        return cudaGetLastError();
    case C_over_read:
        status = launch_discard(
            work, (const char *)w.timestep.data + ((w.rows - 1) * w.timestep.row_stride + 1) * bytes, bytes);
        return status == cudaSuccess ? plain(work) : status;
    case C_uninitialised:
        status = launch_discard(work, untouched(), 4);
        return status == cudaSuccess ? plain(work) : status;
    case C_run_assert:
    case C_run_illegal:
    case C_run_trap:
    case C_run_hang:
        if (w.rows == 7) {
            breaks<<<1, 1, 0, w.stream>>>(w, (int)fault);
        }
        return plain(work);
    default:
        return plain(work);
    }
}

__global__ void fill(const cuda_work w, bool backward, bool copy, float value) {
    const int64_t width = backward ? 1 : 2 * w.half;
    for (int64_t i = ELEMENT_FIRST; i < w.rows * width; i += ELEMENT_STEP) {
        const int64_t row = i / width;
        const float x = copy ? element_timestep(w, row) : value;
        if (backward) {
            element_store(w.grad, w.type, row * w.grad.row_stride, x);
        } else {
            element_put(w, row, i % width, x);
        }
    }
}

cudaError_t mutant_fill(const cuda_work *w, int backward, int copy, float value) {
    fill<<<blocks_for(w->rows * (backward != 0 ? 1 : 2 * w->half)), THREADS, 0, w->stream>>>(
        *w, backward != 0, copy != 0, value);
    return cudaGetLastError();
}

__global__ void gather(const cuda_work w, float *to) {
    for (int64_t i = ELEMENT_FIRST; i < w.rows; i += ELEMENT_STEP) {
        to[i] = element_timestep(w, i);
    }
}

cudaError_t mutant_gather(const cuda_work *w, float *to) {
    gather<<<blocks_for(w->rows), THREADS, 0, w->stream>>>(*w, to);
    return cudaGetLastError();
}

__global__ void spoil(float *at, unsigned long long wait_ns) {
    element_wait(wait_ns);
    *at = 0.0f;
}

cudaError_t mutant_spoil_late(const cuda_work *w, unsigned long long wait_ns) {
    spoil<<<1, 1, 0, w->stream>>>((float *)w->out.data, wait_ns);
    return cudaGetLastError();
}

/* By bits: finite and in [0, 1], or -0. */
__global__ void range(const cuda_work w, volatile unsigned long long *bad) {
    for (int64_t i = ELEMENT_FIRST; i < w.rows; i += ELEMENT_STEP) {
        const unsigned bits = __float_as_uint(element_timestep(w, i));
        if (bits > 0x3f800000u && bits != 0x80000000u) {
            *bad = (unsigned long long)i;
        }
    }
}

cudaError_t mutant_range(const cuda_work *w, int first_block_only, unsigned long long *bad) {
    cuda_work seen = *w;
    seen.rows = first_block_only != 0 && w->rows > THREADS ? THREADS : w->rows;
    range<<<blocks_for(seen.rows), THREADS, 0, w->stream>>>(seen, bad);
    return cudaGetLastError();
}
