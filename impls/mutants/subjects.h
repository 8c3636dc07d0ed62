/* subjects.h - the one table of self-test subjects: broken implementations of timestep_sinusoid_h3, one fault
 * each, and correct variants that must not be refused. Pure data, no code: included by the adapters, read by
 * CMake (one shared library per row), by the self-test and by its tests.
 *
 * X(name, class, suite, expected, source, text)
 *   name      also the file: impls/mutants/<name>.so
 *   class     mutant, null, dishonest, runner, harness, variant
 *   suite     the suite meant to notice it ("" where the rule of the class says more)
 *   expected  fail        that suite ends fail
 *             crash       that suite ends error (a crash or time-out), or fail
 *             mistrusted  that suite ends mistrusted, or fail
 *             refused     parity, accuracy and gradients all end fail
 *             incomplete  nothing fails, but the run is not certified
 *             unloadable  the run is refused before it starts
 *             clean       every suite passes
 *   source    where the fault comes from, explained in SOURCES.md
 *   text      the fault in one line
 */
#ifndef ASSAY_MUTANTS_SUBJECTS_H
#define ASSAY_MUTANTS_SUBJECTS_H

/* clang-format off */
#define MUTANT_FORWARD_LIST(X) \
    X(freq_divide, mutant, "parity", fail, "h3 9.10", "divides by half instead of multiplying by the reciprocal: seen at half 48, 125, 160, 500 only") \
    X(freq_order, mutant, "parity", fail, "h3 1.1", "k * (c * inv) instead of (c * k) * inv: seen where half is no power of two") \
    X(freq_half_minus_one, mutant, "accuracy", fail, "B05", "exponent divided by half - 1") \
    X(freq_pow, mutant, "parity", fail, "defects, intro", "frequencies by powf instead of expf") \
    X(freq_fp64, mutant, "parity", fail, "h3 1.1", "frequencies in FP64, rounded once: more accurate, not the provider's bits") \
    X(freq_exp2, mutant, "parity", fail, "h3 4.1", "expf replaced by exp2f of a scaled argument, as fast math does") \
    X(freq_period_ignored, mutant, "parity", fail, "options ignored", "max_period is accepted and 10000 is used") \
    X(freq_period_10001, mutant, "parity", fail, "B126", "max_period 10001: the edited constant of a stale build") \
    X(freq_cache_stale, mutant, "parity", fail, "h3 9.35", "frequency cache keyed by width alone") \
    X(arg_times_1000, mutant, "accuracy", fail, "H10", "timestep multiplied by 1000") \
    X(arg_times_1000_bf16, mutant, "accuracy", fail, "H10", "timestep multiplied by 1000 for bf16 input only") \
    X(arg_unrounded, mutant, "parity", fail, "h3 1.1", "product t * f carried in FP64 into the trigonometry") \
    X(arg_bf16, mutant, "accuracy", fail, "H7", "product rounded to bf16") \
    X(arg_sigma, mutant, "accuracy", fail, "h3 0", "uses 1 - t: the other convention") \
    X(in_bf16_early, mutant, "accuracy", fail, "H7", "FP32 timestep cast to bf16 before use") \
    X(in_bf16_product, mutant, "accuracy", fail, "h3 1.1", "bf16 timestep not upcast: the product is a bf16 product") \
    X(in_bf16_as_f16, mutant, "parity", fail, "B14", "bf16 bytes read as f16") \
    X(in_f16_as_bf16, mutant, "parity", fail, "B14", "f16 bytes read as bf16") \
    X(in_row_zero, mutant, "parity", fail, "B85", "row 0 used for every row") \
    X(in_row_shift, mutant, "parity", fail, "off by one", "row r reads timestep r + 1") \
    X(in_reversed, mutant, "parity", fail, "layout", "rows written in reverse") \
    X(out_sin_first, mutant, "accuracy", fail, "h3 1.1", "sin half first") \
    X(out_interleaved, mutant, "accuracy", fail, "layout", "cos and sin alternate") \
    X(out_sin_negated, mutant, "accuracy", fail, "sign", "sin half negated") \
    X(out_last_swapped, mutant, "parity", fail, "h3 9.11", "cos and sin swapped at the last frequency only") \
    X(out_last_zero, mutant, "accuracy", fail, "B98", "last sin channel is zero: 1.07e-4 at most, an absolute 1e-3 would accept it") \
    X(out_bf16, mutant, "accuracy", fail, "H7", "output rounded to bf16") \
    X(out_f16, mutant, "accuracy", fail, "H7", "output rounded to f16") \
    X(out_one_ulp, mutant, "parity", fail, "B95", "one ulp too high in one channel of the middle row") \
    X(out_minus_zero, mutant, "parity", fail, "h3 9.40", "sin(0) is -0 instead of +0") \
    X(out_one_nan, mutant, "accuracy", fail, "B95", "a single NaN in the last row of a batch of more than two") \
    X(trig_cos_by_shift, mutant, "parity", fail, "fast math", "cos(x) as sin(x + pi/2)") \
    X(trig_sin_by_root, mutant, "accuracy", fail, "cancellation", "sin(x) as sqrt(1 - cos(x)^2)") \
    X(trig_taylor, mutant, "accuracy", fail, "approximation", "sin(x) by a Taylor polynomial of degree 5") \
    X(trig_small_angle, mutant, "parity", fail, "approximation", "sin(x) = x below 1e-3: inside every tolerance") \
    X(trig_approx, mutant, "parity", fail, "h3 9.1", "trigonometry with 2^-21 absolute error, as sin.approx has") \
    X(trig_fast_by_arch, mutant, "parity", fail, "B48", "the fast path is chosen because the processor has a feature") \
    X(env_ftz, mutant, "parity", fail, "B48", "computes with subnormals flushed to zero, as a fast-math start file does") \
    X(env_round_up, mutant, "parity", fail, "environment", "computes in rounding mode upward")

#define MUTANT_LOOP_LIST(X) \
    X(batch_256, mutant, "invariance", fail, "B61", "another algorithm from 256 rows on") \
    X(batch_one, mutant, "invariance", fail, "B61", "a special path for a single row") \
    X(batch_tail_4, mutant, "invariance", fail, "vector tail", "the last rows % 4 rows take another path") \
    X(position_first, mutant, "invariance", fail, "position", "row 0 takes another path") \
    X(position_odd, mutant, "invariance", fail, "position", "odd rows take another path") \
    X(neighbour_reuse, mutant, "invariance", fail, "neighbours", "a row reuses its predecessor's result when their timesteps are close") \
    X(neighbour_mean, mutant, "invariance", fail, "neighbours", "rows are centred on the mean of the batch and shifted back") \
    X(align_path, mutant, "invariance", fail, "B22", "a base address off 16 bytes takes another path") \
    X(align_rounded, mutant, "invariance", fail, "B22", "base address rounded down to 16 bytes: silently wrong") \
    X(align_crash, mutant, "invariance", crash, "B22", "aligned vector load from a base that is not aligned") \
    X(stride_ignored, mutant, "invariance", fail, "B19", "stride ignored") \
    X(stride_second_half, mutant, "invariance", fail, "B19", "stride honoured in the cos half, not in the sin half") \
    X(stride_rejected, mutant, "invariance", fail, "h3 1.1", "a strided view is refused although the contract allows it") \
    X(width_two, mutant, "parity", fail, "B05", "width 2 handled by a special case with frequency 0") \
    X(width_tail_8, mutant, "parity", fail, "vector tail", "the last half % 8 frequencies take another path") \
    X(width_over_256, mutant, "parity", fail, "h3 9.17", "channels from 256 on are not written") \
    X(rows_65536, mutant, "parity", fail, "h3 9.17", "rows from 65536 on are not written: the grid limit without a loop") \
    X(index_u16, mutant, "parity", fail, "B28", "element index wraps at 2^16, the reachable cousin of 2^31") \
    X(index_float, mutant, "parity", fail, "B28", "element index kept in a float: wrong from 2^24 on") \
    X(mem_last_element, mutant, "memory", fail, "unwritten", "the very last element is not written") \
    X(mem_last_row, mutant, "memory", fail, "unwritten", "the last row is not written in batches") \
    X(mem_tail_8, mutant, "memory", fail, "unwritten", "the last rows % 8 rows are not written") \
    X(mem_over_read, mutant, "memory", crash, "B32", "reads one timestep past the end and discards it") \
    X(mem_vector_read, mutant, "memory", crash, "B32", "loads the tail as a vector of four") \
    X(mem_under_read, mutant, "memory", crash, "B32", "reads one timestep before the start and discards it") \
    X(mem_over_write, mutant, "memory", crash, "bounds", "writes one element past the end") \
    X(mem_over_write_257, mutant, "invariance", crash, "bounds", "writes one element past the end when there are 257 rows: no size of the memory suite") \
    X(mem_under_write, mutant, "memory", crash, "bounds", "writes one element before the start") \
    X(mem_over_restore, mutant, "memory", crash, "bounds", "reads the element past the end of the output and writes it back") \
    X(mem_output_read, mutant, "memory", fail, "B35", "adds 0 * output, so that NaN in fresh memory survives") \
    X(mem_output_or, mutant, "memory", fail, "B35", "writes only where the buffer does not already hold a finite number") \
    X(mem_input_cleaned, mutant, "memory", crash, "h3 9.35", "halves its timesteps in place") \
    X(mem_scratch, mutant, "parity", fail, "uninitialised", "the last channel comes from scratch memory that was never filled") \
    X(det_random_ulp, mutant, "determinism", fail, "race", "one element in 97 is an ulp off, at random") \
    X(det_time, mutant, "determinism", fail, "race", "the clock decides which channel is an ulp off") \
    X(det_first_call, mutant, "determinism", fail, "warm-up", "the first call of a process differs") \
    X(det_every_third, mutant, "determinism", fail, "state", "every third call of a process differs") \
    X(det_every_twentieth, mutant, "determinism", fail, "state", "every twentieth call of a process differs") \
    X(det_every_hundredth, mutant, "invariance", fail, "state", "every hundredth call of a process differs: found by the number of calls") \
    X(det_process, mutant, "determinism", fail, "state", "depends on the process id") \
    X(det_thread, mutant, "determinism", fail, "thread local state", "differs on a thread other than the first") \
    X(det_race, mutant, "determinism", fail, "B66", "two threads share one scratch row without a barrier") \
    X(det_pointer_cache, mutant, "determinism", fail, "h3 9.35", "keeps the upcast timesteps of a pointer it has seen") \
    X(det_accumulates, mutant, "determinism", fail, "state", "the number of calls decides which channel is an ulp off")

#define MUTANT_CHECK_LIST(X) \
    X(accepts_odd_width, mutant, "validation", fail, "B01", "odd width accepted, last slot zero") \
    X(accepts_odd_garbage, mutant, "validation", fail, "B01", "odd width accepted, the zero goes one slot too far and the last slot keeps garbage") \
    X(accepts_zero_width, mutant, "validation", fail, "h3 1.1", "width 0 accepted") \
    X(accepts_negative_width, mutant, "validation", fail, "h3 1.1", "negative width accepted") \
    X(accepts_period, mutant, "validation", fail, "h3 1.1", "max_period <= 0 accepted") \
    X(accepts_nan, mutant, "validation", fail, "h3 9.10", "NaN accepted") \
    X(accepts_inf, mutant, "validation", fail, "h3 9.10", "infinity accepted") \
    X(accepts_negative, mutant, "validation", fail, "h3 9.10", "negative timesteps accepted") \
    X(accepts_above_one, mutant, "validation", fail, "h3 9.10", "timesteps above 1 accepted") \
    X(accepts_just_above_one, mutant, "validation", fail, "tolerance", "timesteps up to 1 + 1e-4 accepted") \
    X(accepts_tiny_negative, mutant, "validation", fail, "tolerance", "timesteps down to -1e-4 accepted") \
    X(accepts_clamped, mutant, "validation", fail, "h3 1.5", "values out of range are clamped instead of refused") \
    X(accepts_all_values, mutant, "validation", fail, "h3 9.10", "no value check below the wrapper") \
    X(checks_first_only, mutant, "validation", fail, "h3 9.10", "only the first value is checked") \
    X(checks_not_last, mutant, "validation", fail, "h3 9.10", "the last value is not checked") \
    X(checks_by_max, mutant, "validation", fail, "B95", "range check by a running maximum: NaN is never above it") \
    X(rejects_minus_zero, mutant, "validation", fail, "h3 1.1", "-0 refused") \
    X(rejects_zero, mutant, "validation", fail, "h3 1.1", "0 refused") \
    X(rejects_one, mutant, "validation", fail, "h3 1.1", "1 refused") \
    X(unchecked_width, mutant, "validation", fail, "h3 1.1", "check_range = false also switches the width check off") \
    X(unchecked_ignored, mutant, "validation", fail, "options ignored", "check_range = false is ignored") \
    X(status_internal, mutant, "validation", fail, "status", "invalid input answered with internal") \
    X(status_unsupported, mutant, "validation", fail, "status", "invalid input answered with unsupported") \
    X(writes_then_rejects, mutant, "validation", fail, "fail closed", "output is written before the values are checked") \
    X(accepts_integer, mutant, "validation", fail, "h3 1.1", "integer timesteps accepted, bits read as FP32") \
    X(accepts_f64, mutant, "validation", fail, "h3 1.1", "FP64 timesteps accepted") \
    X(accepts_rank2, mutant, "validation", fail, "h3 1.1", "a matrix of timesteps accepted") \
    X(accepts_empty, mutant, "validation", fail, "B12", "zero rows accepted") \
    X(empty_crash, mutant, "validation", crash, "B12", "zero rows divide by zero") \
    X(empty_poisons_next, mutant, "validation", fail, "B12", "zero rows refused, but the next valid call fails") \
    X(accepts_null, mutant, "validation", crash, "h3 9.14", "null tensors are not checked") \
    X(accepts_output_shape, mutant, "validation", fail, "h3 9.14", "shape of the output not checked")

#define MUTANT_GRADIENT_LIST(X) \
    X(grad_ones, mutant, "gradients", fail, "blind input", "upstream gradient taken as 1") \
    X(grad_sign, mutant, "gradients", fail, "sign", "sign of the cos half's contribution lost") \
    X(grad_no_f, mutant, "gradients", fail, "B74", "inner derivative f missing") \
    X(grad_f_twice, mutant, "gradients", fail, "B74", "inner derivative f multiplied twice") \
    X(grad_swapped, mutant, "gradients", fail, "h3 9.11", "saved output read with sin first") \
    X(grad_cos_only, mutant, "gradients", fail, "B78", "only the cos half contributes") \
    X(grad_sequential, mutant, "gradients", fail, "h3 1.0", "left-to-right sum instead of the pairwise tree") \
    X(grad_tree_adjacent, mutant, "gradients", fail, "h3 1.0", "pairwise tree over neighbours 2i, 2i+1") \
    X(grad_fma, mutant, "gradients", fail, "h3 9.12", "products contracted into the first level of the tree") \
    X(grad_fp64, mutant, "gradients", fail, "h3 1.1", "summed in FP64: more accurate, not the promised tree") \
    X(grad_mean, mutant, "gradients", fail, "B78", "mean over the channels instead of the sum") \
    X(grad_last_channel, mutant, "gradients", fail, "B78", "last channel only") \
    X(grad_row_zero, mutant, "gradients", fail, "B85", "upstream gradient of row 0 used for every row") \
    X(grad_running, mutant, "gradients", fail, "state", "accumulator not reset between rows") \
    X(grad_recomputed, mutant, "gradients", fail, "h3 1.1", "sin and cos recomputed in FP64 instead of read from the saved output") \
    X(grad_bf16_sum, mutant, "gradients", fail, "h3 1.0", "tree accumulated in bf16") \
    X(grad_truncated, mutant, "gradients", fail, "h3 1.0", "cast to bf16 by truncation") \
    X(grad_times_1000, mutant, "gradients", fail, "H10", "gradient of a timestep multiplied by 1000") \
    X(grad_batch_256, mutant, "gradients", fail, "B61", "another summation order from 256 rows on") \
    X(grad_last_row, mutant, "gradients", fail, "unwritten", "gradient of the last row not written") \
    X(grad_random_ulp, mutant, "gradients", fail, "h3 9.37", "an ulp off at random, as atomics do") \
    X(grad_saved_unchecked, mutant, "validation", fail, "h3 9.11", "shape of the saved output not checked")

#define MUTANT_NULL_LIST(X) \
    X(null_zeros, null, "", refused, "B98", "zeros") \
    X(null_ones, null, "", refused, "B98", "ones") \
    X(null_copy, null, "", refused, "B98", "the input copied through") \
    X(null_other_seed, null, "", refused, "B98", "the right answer of another seed") \
    X(null_shifted, null, "", refused, "B98", "the right answer, one row shifted") \
    X(null_nan, null, "", refused, "B95", "NaN everywhere") \
    X(null_constant, null, "", refused, "B98", "the answer of the first row for all rows") \
    X(null_scaled, null, "", refused, "B105", "the right answer multiplied by 2: invariance and determinism hold")

#define MUTANT_DISHONEST_LIST(X) \
    X(liar_edits_input, dishonest, "memory", crash, "B116", "zeroes the input and returns the answer of zero") \
    X(liar_cached_pointer, dishonest, "determinism", fail, "B116", "returns the answer it gave for the same pointer") \
    X(liar_cached_shape, dishonest, "invariance", fail, "B116", "computes once per shape and returns that answer again") \
    X(liar_stale_output, dishonest, "memory", fail, "B116", "returns the buffer as it is, after the first time") \
    X(liar_poison_aware, dishonest, "memory", fail, "B116", "computes only when it recognises NaN poison in the output") \
    X(liar_works_after, dishonest, "memory", crash, "B116", "returns at once, a thread writes later") \
    X(liar_fork, dishonest, "memory", fail, "B116", "forks, returns at once, the child writes later") \
    X(liar_writes_far, dishonest, "memory", crash, "B116", "writes 64 bytes past the end of its output and before the start of its input") \
    X(liar_unchecked_noop, dishonest, "validation", fail, "B116", "does nothing when check_range is false") \
    X(liar_wrong_when_timed, dishonest, "timing", mistrusted, "B116", "leaves out the last half of a row that comes alone and without the range check") \
    X(liar_patches_oracle, dishonest, "invariance", fail, "B116", "wrong for a row alone, and changes the earlier answer to it in the arena, so that both agree") \
    X(liar_freezes_clock, dishonest, "timing", mistrusted, "B121", "overwrites clock_gettime in its process: time stands still while it sleeps") \
    X(liar_skips_repeats, dishonest, "timing", mistrusted, "B116", "does nothing when called again with the same buffers") \
    X(liar_forges_guess, dishonest, "parity", crash, "forgery", "writes a reply with a guessed id itself and computes nothing") \
    X(liar_forges_reply, dishonest, "parity", crash, "forgery", "finds the id in the host's memory, writes the reply itself and computes nothing") \
    X(liar_forges_late, dishonest, "timing", crash, "forgery", "writes a reply that claims 1 ns itself, then computes")

#define MUTANT_RUNNER_LIST(X) \
    X(run_segv, runner, "parity", crash, "h3 9.36", "SIGSEGV") \
    X(run_abort, runner, "parity", crash, "h3 9.36", "abort") \
    X(run_exit_zero, runner, "parity", crash, "h3 9.36", "exit(0)") \
    X(run_exit_three, runner, "parity", crash, "h3 9.36", "_exit(3)") \
    X(run_loop, runner, "parity", crash, "h3 9.36", "an endless loop") \
    X(run_stop, runner, "parity", crash, "h3 9.36", "stops itself with SIGSTOP") \
    X(run_garbage, runner, "parity", crash, "h3 9.36", "garbage bytes on the control socket") \
    X(run_half_message, runner, "parity", crash, "h3 9.36", "half a message on the control socket, then silence") \
    X(run_close_socket, runner, "parity", crash, "h3 9.36", "closes the control socket") \
    X(run_allocate, runner, "parity", crash, "h3 9.36", "allocates without end") \
    X(run_stack, runner, "parity", crash, "h3 9.36", "recurses without end") \
    X(run_threads, runner, "parity", crash, "h3 9.36", "leaves a spinning thread behind and never answers") \
    X(run_bad_status, runner, "parity", crash, "B131", "returns a status outside the enum")

#define MUTANT_HARNESS_LIST(X) \
    X(load_no_symbol, harness, "", unloadable, "issue 2", "exports no adapter") \
    X(load_wrong_abi, harness, "", unloadable, "issue 2", "another ABI version") \
    X(load_null, harness, "", unloadable, "issue 2", "returns no descriptor") \
    X(load_other_operator, harness, "", unloadable, "issue 2", "offers another operator only") \
    X(load_abort, harness, "", unloadable, "issue 2", "aborts while it is loaded") \
    X(says_unsupported, harness, "", incomplete, "h3 2.4", "answers unsupported to everything: zero judged outputs must not count as passed") \
    X(no_backward, harness, "", incomplete, "h3 2.4", "offers no gradient: missing backward is not a pass")

#define MUTANT_VARIANT_LIST(X) \
    X(base, variant, "", clean, "", "the implementation that all others are changed from") \
    X(var_block, variant, "", clean, "", "rows in blocks of 48") \
    X(var_channel_outer, variant, "", clean, "", "channels in the outer loop, rows in the inner") \
    X(var_reverse, variant, "", clean, "", "rows from last to first") \
    X(var_copy_first, variant, "", clean, "", "strided input gathered into a contiguous copy first") \
    X(var_threaded, variant, "", clean, "", "rows shared out over three threads") \
    X(var_clones, variant, "", clean, "", "compiled for several instruction sets, chosen at run time") \
    X(var_lazy_cache, variant, "", clean, "", "frequencies cached under a lock, keyed by width and max_period") \
    X(var_prepared, variant, "", clean, "", "uses prepare and its state") \
    X(var_chatty, variant, "", clean, "h3 9.36", "prints a megabyte to stdout and stderr") \
    X(var_environment, variant, "", clean, "", "changes rounding mode and FTZ inside, restores them, computes in between as promised")

#define MUTANT_LIST(X) \
    MUTANT_VARIANT_LIST(X) MUTANT_FORWARD_LIST(X) MUTANT_LOOP_LIST(X) MUTANT_CHECK_LIST(X) MUTANT_GRADIENT_LIST(X) \
    MUTANT_NULL_LIST(X) MUTANT_DISHONEST_LIST(X) MUTANT_RUNNER_LIST(X) MUTANT_HARNESS_LIST(X)
/* Subjects that only the sizes of the default tier show. They are judged by the suite meant for them alone. */
#define MUTANT_DEFAULT_TIER_LIST(X) \
    X(rows_65536) \
    X(index_float)
/* clang-format on */

#endif
