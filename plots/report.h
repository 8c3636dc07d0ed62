/* report.h - views over evidence. Reads the database only; the same evidence gives the same bytes. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "error.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

/* X(enumerator, text, file name in a report directory) */
#define ASSAY_REPORT_LIST(X)                                                                                 \
    X(MD, "md", "report.md")                                                                                 \
    X(HTML, "html", "report.html")                                                                           \
    X(JSON, "json", "report.json")                                                                           \
    X(JUNIT, "junit", "report.junit.xml")                                                                    \
    X(CTRF, "ctrf", "report.ctrf.json")

typedef enum assay_report_format {
#define X(id, text, file) ASSAY_REPORT_##id,
    ASSAY_REPORT_LIST(X)
#undef X
        ASSAY_REPORT_COUNT
} assay_report_format;

const char *assay_report_format_text(assay_report_format format);
int assay_report_format_parse(const char *text, assay_report_format *format); /* 1 on success */

/* Writes one report of a run to `out`. */
assay_code assay_report_write(sqlite3 *db, int64_t run_id, assay_report_format format, FILE *out,
                              assay_error *error);

/* Writes report.md, report.html, report.json, report.junit.xml, report.ctrf.json, figures (SVG and PNG)
 * (gnuplot; without it the figures are left out with a line on stderr and in the report) and witness bundles
 * (witness-*.npy + .json + .c) into a directory, created when missing. */
assay_code assay_report_directory(sqlite3 *db, int64_t run_id, const char *directory, assay_error *error);

#endif
