/* cmd_report.c - `assay report`: views over the evidence of one run. */
#include "cli.h"

#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option options[] = {
    {"db", "FILE", "evidence database (default assay.db)", 0, false},
    {"format", "md|html|json|junit|ctrf", "what to write (default md)", 0, false},
    {"output", "FILE", "write to FILE instead of standard output", 'o', false},
    {"directory", "DIR", "write all formats, figures and witnesses into DIR", 0, false},
    {0}};

/* Writes beside the target and renames, so that a failure leaves the old file alone. */
static assay_code write_file(sqlite3 *db, int64_t run_id, assay_report_format format, const char *path,
                             assay_error *error) {
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.tmp%ld", path, (long)getpid()) < 0) {
        abort();
    }
    FILE *out = fopen(temporary, "wxe");
    if (out == NULL) {
        assay_code code = assay_fail(error, ASSAY_CODE_USAGE, "-o %s: %s", path, strerror(errno));
        free(temporary);
        return code;
    }
    assay_code code = assay_report_write(db, run_id, format, out, error);
    bool bad = fflush(out) != 0 || ferror(out) != 0 || fsync(fileno(out)) != 0;
    int why = errno;
    bad |= fclose(out) != 0;
    if (code == ASSAY_CODE_OK && (bad || rename(temporary, path) != 0)) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "-o %s: %s", path, strerror(bad ? why : errno));
    }
    if (code != ASSAY_CODE_OK) {
        (void)unlink(temporary);
    }
    free(temporary);
    return code;
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_store *store = NULL;
    int64_t run_id = 0;
    assay_report_format format = ASSAY_REPORT_MD;
    const char *name = cli_get(args, "format", "md");
    const char *output = cli_get(args, "output", NULL);
    const char *directory = cli_get(args, "directory", NULL);
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
        code = output != NULL ? write_file(db, run_id, format, output, error)
                              : assay_report_write(db, run_id, format, stdout, error);
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
