/* test_common.h - what the evidence tests share: scratch folders, a run record with everything in it, raw
 * SQL. */
#ifndef ASSAY_TEST_COMMON_H
#define ASSAY_TEST_COMMON_H

#include "store_internal.h"

/* Every test works in a fresh folder and leaves nothing: init and fini of the suites. */
void scratch_enter(void);
void scratch_leave(void);
/* Absolute path of a file in the scratch folder (static, rotating buffers). */
const char *scratch(const char *name);

#define TEST_SHA "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

/* A certify run with 2 promises (parity required, timing optional) and 3 checks: parity/a, parity/b,
 * timing/x. */
extern const assay_run_record test_run;
/* A check record that fills every detail table. */
extern const assay_check_record test_check_full;
extern const assay_check_record test_check_pass; /* nothing but 10 elements that passed */

assay_store *test_open(const char *path, assay_store_mode mode); /* aborts the test on failure */
/* Opens (creating), records test_run with the three checks of the given outcomes, ends it; returns the
 * verdict. */
assay_verdict test_finished_run(const char *path, const assay_run_record *run,
                                const assay_outcome outcomes[3]);
/* A finished run with rows in every table of the schema. */
void test_full_database(const char *path);

/* Raw SQL on a connection without any of our guards (writable_schema allowed). Returns SQLite's code. */
int raw_exec(const char *path, const char *sql);
/* The first column of the first row as text, "" when none (static buffer). */
const char *raw_text(const char *path, const char *sql);

/* Collects verify's lines. */
typedef struct test_lines {
    size_t count, bytes;
    char text[65536];
} test_lines;
void test_say(void *context, const char *line);
/* Verifies and returns the code; lines->text holds all lines, newline-separated. */
assay_code test_verify(const char *path, test_lines *lines);

#endif
