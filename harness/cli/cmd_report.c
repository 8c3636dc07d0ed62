/* cmd_report.c - `assay report`: views over the evidence of one run. */
#include "cli.h"

#include "report.h"
#include "report_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"db", "FILE", "evidence database (default assay.db)", 0, false},
    {"format", "md|html|json|junit|ctrf", "what to write (default md)", 0, false},
    {"output", "FILE", "write to FILE instead of standard output", 'o', false},
    {"directory", "DIR", "write all formats, figures and witnesses into DIR", 0, false},
    {0}};

/* Renders first, so that a report is written whole or not at all: to `path`, or to standard output when it is
 * NULL (main reports what that refuses). */
static assay_code write_report(sqlite3 *db, int64_t run_id, assay_report_format format, const char *path,
                               assay_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (memory == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "report: %s", strerror(errno));
    }
    assay_code code = assay_report_write(db, run_id, format, memory, error);
    if (fclose(memory) != 0 && code == ASSAY_CODE_OK) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL, "report: out of memory");
    }
    if (code == ASSAY_CODE_OK && path != NULL) {
        code = report_file_write(path, text, bytes, error);
    } else if (code == ASSAY_CODE_OK) {
        (void)fwrite(text, 1, bytes, stdout);
    }
    free(text);
    return code;
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_store *store = NULL;
    int64_t run_id = 0;
    assay_report_format format = ASSAY_REPORT_MD;
    const char *name = cli_get(args, "format", "md");
    const char *output = cli_get(args, "output", NULL);
    const char *directory = cli_get(args, "directory", NULL);
    if (output != NULL && directory != NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--output and --directory exclude each other");
    }
    if (assay_report_format_parse(name, &format) != 1) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "--format %s: unknown format (md, html, json, junit, ctrf)", name);
    }
    if (cli_open_store(args, ASSAY_STORE_READ, &store, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    sqlite3 *db = assay_store_handle(store);
    assay_code code = assay_store_run_find(store, args->positional[0], &run_id, error);
    if (code == ASSAY_CODE_OK && directory != NULL) {
        code = assay_report_directory(db, run_id, directory, error);
    } else if (code == ASSAY_CODE_OK) {
        code = write_report(db, run_id, format, output, error);
    }
    assay_store_close(store);
    return code;
}

const cli_command cli_report = {.name = "report",
                                .operands = "RUN",
                                .min_operands = 1,
                                .max_operands = 1,
                                .summary = "write a report of a run (Markdown, HTML, JSON, JUnit, CTRF)",
                                .detail = "RUN is a run number, a unique prefix of its id, or latest.",
                                .options = options,
                                .run = run};
