/* report_render.h - the formats: each writes a whole report to `out`. Nothing here reads the database. */
#ifndef ASSAY_REPORT_RENDER_H
#define ASSAY_REPORT_RENDER_H

#include "report_doc.h"

#include <stdio.h>

#define REPORT_MD_LIMIT 64000u /* bytes: a pull request comment takes 65,536 characters */

/* Markdown of at most REPORT_MD_LIMIT bytes: tables that do not fit are cut, rows that did not pass kept
 * first, and say so. Errors: INTERNAL when memory runs out or even the shortest form is too long. */
assay_code report_render_md(const report_doc *doc, FILE *out, assay_error *error);
/* One self-contained page; figures inline, in a wide and a narrow form. */
void report_render_html(const report_doc *doc, FILE *out);
/* Errors: INTERNAL when memory runs out. */
assay_code report_render_json(const report_model *model, FILE *out, assay_error *error);
void report_render_junit(const report_model *model, FILE *out);
assay_code report_render_ctrf(const report_model *model, FILE *out, assay_error *error);

/* Writes text with & < > " ' escaped; valid in HTML and XML. */
void report_escape_xml(FILE *out, const char *text);

#endif
