/* plain.cu - the promised forward pass, one channel per thread and step. Compiled once for each way to round:
 * MUTANT_PLAIN is the name of the function. */
#include "element.cuh"

__global__ void MUTANT_PLAIN_KERNEL(const cuda_work w) {
    for (int64_t i = ELEMENT_FIRST; i < w.rows * w.half; i += ELEMENT_STEP) {
        element_row(w, i / w.half, i % w.half);
    }
}

cudaError_t MUTANT_PLAIN(const cuda_work *w, unsigned blocks, unsigned threads) {
    MUTANT_PLAIN_KERNEL<<<blocks, threads, 0, w->stream>>>(*w);
    return cudaGetLastError();
}
