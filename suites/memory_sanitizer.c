/* memory_sanitizer.c - the candidate under NVIDIA's compute-sanitizer, in a worker of its own. Every tensor
 * gets an allocation of exactly its bytes there, so that the tool knows where it ends and what was written.
 * The tool's summary decides; a run without one proves nothing. */
#include "memory_run.h"
#include "runner_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_MS 120000u
#define CALL_MS  120000u
#define EXIT_MS  60000u

const char *const assay_sanitizer_tools[ASSAY_SANITIZER_TOOLS] = {"memcheck", "racecheck", "initcheck",
                                                                  "synccheck"};

/* The program, on PATH or where the toolkit puts it. */
static bool find_tool(char path[4096]) {
    char places[8192];
    char *save = NULL;
    const char *search = getenv("PATH");
    (void)snprintf(places, sizeof places, "%s:/usr/local/cuda/bin", search != NULL ? search : "");
    for (char *p = strtok_r(places, ":", &save); p != NULL; p = strtok_r(NULL, ":", &save)) {
        (void)snprintf(path, 4096, "%.4000s/compute-sanitizer", p);
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* Calls around every block size and width class. False for harness faults; the candidate's troubles are found
 * elsewhere. */
static bool make_calls(assay_context *context, const assay_check *check, assay_worker *worker,
                       assay_findings *findings, assay_error *error) {
    static const size_t rows[] = {1, 33, 257, 4097};
    static const int64_t widths[] = {256, 6, 250, 34};
    static const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    const bool backward = assay_worker_offers(worker, context->op->name, true);
    const assay_exec_options options = {.apart = true};
    for (size_t i = 0; i < (size_t)4 * 4 * 3 * 2; i++) {
        const size_t n = rows[i % 4];
        const int64_t width = widths[i / 4 % 4];
        assay_direct_call call;
        assay_exec exec = {0};
        assay_case c;
        if (i / 48 != 0 && !backward) {
            break;
        }
        assay_direct_case(context, width, dtypes[i / 16 % 3], n, check->c.seed, &c);
        bool good = assay_direct_call_make(context, &c, i / 48 != 0, n, &call, error) &&
                    assay_direct_call_exec(context, worker, &call, &options, &exec, error);
        assay_direct_call_free(&call);
        if (!good) {
            return false;
        }
        assay_findings_count(findings, (uint64_t)assay_tensor_elements(&exec.output));
        if (exec.reply.result == ASSAY_CALL_LOST) {
            break; /* the log tells more */
        }
    }
    return true;
}

/* The tool's number of findings; -1 without a summary. `first` gets its first complaint. */
static long read_log(const char *path, char first[160]) {
    char line[512];
    long found = -1;
    FILE *f = fopen(path, "re");
    first[0] = '\0';
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *summary = strstr(line, "SUMMARY: ");
        line[strcspn(line, "\n")] = '\0';
        if (summary != NULL) {
            const long n = strtol(summary + strlen("SUMMARY: "), NULL, 10);
            found = n > found ? n : found;
        } else if (first[0] == '\0' && strncmp(line, "========= ", 10) == 0 &&
                   (strstr(line, "Invalid") != NULL || strstr(line, "Error: ") != NULL ||
                    strstr(line, "hazard") != NULL || strstr(line, "Uninitialized") != NULL ||
                    strstr(line, "Barrier") != NULL || strstr(line, "Program hit") != NULL)) {
            (void)snprintf(first, 160, "%.150s", line + 10);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return found;
}

static bool under_tool(assay_context *context, const assay_check *check, const char *program,
                       const char *tool, const char *log, assay_findings *findings, assay_error *error) {
    const char *const wrapper[] = {
        program, "--tool", tool, "--log-file", log, "--print-limit", "20", "--require-cuda-init", "no", NULL};
    assay_worker_options options = ((assay_runner *)context)->candidate_options;
    assay_worker *worker = NULL;
    char first[160];
    options.wrapper = wrapper;
    options.start_timeout_ms = START_MS;
    options.call_timeout_ms = CALL_MS;
    options.exit_patience_ms = EXIT_MS;
    if (assay_worker_open(&options, &worker, error) != ASSAY_CODE_OK) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE,
                           "the worker does not start under %s: %.160s", tool, error->text);
        return true;
    }
    const bool good = make_calls(context, check, worker, findings, error);
    assay_worker_close(worker);
    const long found = read_log(log, first);
    if (good && found < 0) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_ERROR, "%s left no summary: %s", tool, first);
    } else if (good && found > 0) {
        assay_findings_add(findings, 0, (uint64_t)found, ASSAY_OUTCOME_FAIL,
                           "%s: %ld findings, the first: %s", tool, found, first);
    }
    return good;
}

bool assay_memory_sanitized(assay_context *context, const assay_check *check, assay_findings *findings,
                            assay_error *error) {
    char program[4096];
    char log[] = "/tmp/assay-sanitizer-XXXXXX";
    if (!find_tool(program)) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE, "compute-sanitizer is not on PATH");
        return true;
    }
    if (assay_worker_get_info(context->lanes[0].candidate)->external) {
        assay_findings_add(findings, 0, 0, ASSAY_OUTCOME_UNAVAILABLE,
                           "an external program is not run under compute-sanitizer");
        return true;
    }
    const int fd = mkstemp(log);
    if (fd < 0) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "/tmp: no file for the log of compute-sanitizer");
        return false;
    }
    (void)close(fd);
    const bool good =
        under_tool(context, check, program, assay_sanitizer_tools[check->p[3]], log, findings, error);
    (void)unlink(log);
    return good;
}
