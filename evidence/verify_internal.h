/* verify_internal.h - shared by verify.c and verify_derive.c. */
#ifndef ASSAY_VERIFY_INTERNAL_H
#define ASSAY_VERIFY_INTERNAL_H

#include "store_internal.h"

typedef struct assay_verifier {
    sqlite3 *db;
    void (*say)(void *context, const char *line);
    void *context;
    assay_verify_report *report;
} assay_verifier;

/* Counts a problem and says it; control characters (the file's text is foreign) become '?'. */
void assay_verify_problem(assay_verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prepares; on failure says so and returns NULL. */
sqlite3_stmt *assay_verify_query(assay_verifier *v, const char *what, const char *sql);
/* The next row: true while there is one; at the end finalises, and says what went wrong if something did. */
bool assay_verify_next(assay_verifier *v, const char *what, sqlite3_stmt *row);

/* Each re-derives one kind of thing. */
void assay_verify_contracts(assay_verifier *v);
void assay_verify_metrics(assay_verifier *v);
void assay_verify_trees(assay_verifier *v);
void assay_verify_log(assay_verifier *v);
void assay_verify_verdicts(assay_verifier *v);

#endif
