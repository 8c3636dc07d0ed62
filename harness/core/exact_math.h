/* exact_math.h - does nvcc get options that leave device arithmetic exact?
 *
 * The answer fails closed: only options known to keep ftz=0, prec_div=1, prec_sqrt=1 and fmad=1 count as
 * exact. A word that is not known (-Xcicc, -Xptxas, a quoted word) may be harmless, and still counts as
 * relaxed. */
#ifndef ASSAY_EXACT_MATH_H
#define ASSAY_EXACT_MATH_H

#include <stdbool.h>
#include <stddef.h>

/* True if the options in text, the value of the variable called name, are exact; NULL and blanks are.
 * Otherwise false, and reason (size bytes, size > 0) names the variable and the word or file at fault.
 * Options files must be regular files of at most 1 MiB; relative names are taken from the working directory.
 */
bool assay_exact_math_options(const char *name, const char *text, char *reason, size_t size);

/* The same for NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS, TORCH_NVCC_FLAGS and CUDAFLAGS of this process: the
 * first that is relaxed. */
bool assay_exact_math_environment(char *reason, size_t size);

/* The same for a command that compiles one CUDA source: leading words that are no options (a cache, nvcc),
 * then options, argv style, NULL at the end. Each word counts as it stands. Beyond the options above, those
 * that CMake writes are known. A command that sets or unsets a macro of Assay's is relaxed. */
bool assay_exact_math_command(char *const *command, char *reason, size_t size);

#endif
