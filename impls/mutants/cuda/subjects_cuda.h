/* subjects_cuda.h - the table of self-test subjects that run on a GPU: broken CUDA implementations of
 * timestep_sinusoid_h3, one fault each, and correct ones. Pure data, no code, read by CMake (one shared
 * library per row) and by the self-test. Columns as in ../subjects.h; the file is
 * impls/mutants/cuda/<name>.so. */
#ifndef ASSAY_MUTANTS_SUBJECTS_CUDA_H
#define ASSAY_MUTANTS_SUBJECTS_CUDA_H

/* clang-format off */
#define CUDA_MUTANT_VARIANT_LIST(X) \
    X(base, variant, "", clean, "", "the CUDA implementation that the others are changed from: one channel per thread, blocks of 256") \
    X(var_block_96, variant, "", clean, "", "blocks of 96 threads, a grid of 7 blocks that walks") \
    X(var_row_per_block, variant, "", clean, "", "a block per row, threads along the channels") \
    X(var_vector, variant, "", clean, "", "float4 stores where base and stride allow them, single stores elsewhere") \
    X(var_scratch, variant, "", clean, "", "timesteps gathered into stream-ordered scratch memory first")

#define CUDA_MUTANT_NUMBER_LIST(X) \
    X(fast_math, mutant, "parity", fail, "B48", "compiled with --use_fast_math") \
    X(ftz, mutant, "parity", fail, "B48", "compiled with -ftz=true: subnormal results become zero") \
    X(batch_256, mutant, "invariance", fail, "B61", "the fast-math kernel from 256 rows on") \
    X(grad_fma, mutant, "gradients", fail, "h3 9.12", "the first level of the tree contracted into a fused multiply-add") \
    X(grad_atomics, mutant, "gradients", fail, "h3 9.37", "the sum by atomicAdd") \
    X(grad_race, mutant, "gradients", fail, "B66", "no barrier between products and tree") \
    X(grad_race_lucky, mutant, "memory", fail, "B66", "no barrier between products and tree, but a wait that hides it: only racecheck can see")

#define CUDA_MUTANT_MEMORY_LIST(X) \
    X(tail_mask, mutant, "memory", crash, "bounds", "the tail mask is missing: rows are rounded up to 8") \
    X(tail_unwritten, mutant, "memory", fail, "unwritten", "the last rows % 8 rows are not written") \
    X(grid_zero, mutant, "memory", fail, "B12", "rows / 64 blocks: few rows make a grid of zero, and the error is swallowed") \
    X(error_unchecked, mutant, "parity", fail, "B131", "one thread per channel and row of four: wide rows ask for more threads than a block may have, and nobody looks") \
    X(vector_misaligned, mutant, "invariance", crash, "B22", "float4 stores to a base that is not aligned to 16 bytes") \
    X(index_input_32, mutant, "memory", crash, "B28", "row times stride of the timesteps in 32 bits") \
    X(index_output_32, mutant, "memory", crash, "B28", "index of the output in 32 bits: wrong from 2^31 elements on") \
    X(over_read, mutant, "memory", crash, "B32", "reads one timestep past the end and discards it") \
    X(uninitialised, mutant, "memory", fail, "uninitialised", "reads device memory that nobody wrote and discards it: only initcheck can see") \
    X(range_first_block, mutant, "validation", fail, "h3 9.10", "only the first block looks at the range")

#define CUDA_MUTANT_STREAM_LIST(X) \
    X(stream_default, mutant, "determinism", fail, "B116", "launches on the legacy default stream") \
    X(stream_own, mutant, "determinism", fail, "B116", "launches on a stream of its own") \
    X(stream_own_waits, mutant, "determinism", fail, "B116", "launches on a stream of its own and waits for it: a captured graph stays empty") \
    X(pointer_cache, mutant, "determinism", fail, "h3 9.35", "keeps the timesteps of a pointer it has seen") \
    X(late_stream, dishonest, "determinism", crash, "B116", "another stream changes the output 10 ms after the answer") \
    X(late_thread, dishonest, "memory", crash, "B116", "returns at once, a thread launches the kernel later")

#define CUDA_MUTANT_RUNNER_LIST(X) \
    X(run_assert, runner, "parity", crash, "h3 9.36", "a device assertion fails at seven rows") \
    X(run_illegal, runner, "parity", crash, "h3 9.36", "an illegal address at seven rows") \
    X(run_trap, runner, "parity", crash, "h3 9.36", "the kernel traps at seven rows") \
    X(run_hang, runner, "parity", crash, "h3 9.36", "the kernel never ends at seven rows") \
    X(run_memory, runner, "parity", crash, "h3 9.36", "takes all device memory at seven rows and wants more")

#define CUDA_MUTANT_NULL_LIST(X) \
    X(null_zeros, null, "", refused, "B98", "zeros") \
    X(null_ones, null, "", refused, "B98", "ones") \
    X(null_nan, null, "", refused, "B95", "NaN everywhere") \
    X(null_copy, null, "", refused, "B98", "the input copied through")

#define CUDA_MUTANT_LIST(X) \
    CUDA_MUTANT_VARIANT_LIST(X) CUDA_MUTANT_NUMBER_LIST(X) CUDA_MUTANT_MEMORY_LIST(X) CUDA_MUTANT_STREAM_LIST(X) \
    CUDA_MUTANT_RUNNER_LIST(X) CUDA_MUTANT_NULL_LIST(X)

/* X(name, checks): subjects that only checks of the full tier show; they are judged by those checks alone. */
#define CUDA_MUTANT_FULL_TIER_LIST(X) \
    X(grad_race_lucky, "memory/sanitizer_racecheck*") \
    X(uninitialised, "memory/sanitizer_initcheck*") \
    X(index_output_32, "memory/output_past_2_31_elements*")
/* clang-format on */

#endif
