/* report_process.h - runs a helper program (gnuplot) in a directory of its own. */
#ifndef ASSAY_REPORT_PROCESS_H
#define ASSAY_REPORT_PROCESS_H

#include "error.h"

#include <stddef.h>

/* Runs argv[0] (searched in PATH) in `directory` with a minimal fixed environment, no standard input, its
 * output kept. `said` receives the last line that it printed. Errors, all INCOMPLETE: not found, killed after
 * `timeout_ms`, non-zero exit. */
assay_code report_process_run(const char *const *argv, const char *directory, int timeout_ms, char *said,
                              size_t said_bytes, assay_error *error);

/* Removes the files of a directory and the directory itself; no recursion. */
void report_process_clear(const char *directory);

#endif
