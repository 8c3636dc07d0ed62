/* test_fixture.h - synthetic but realistic evidence for the tests of plots. */
#ifndef ASSAY_PLOTS_TEST_FIXTURE_H
#define ASSAY_PLOTS_TEST_FIXTURE_H

#include <sqlite3.h>
#include <stdint.h>

enum {
    FIXTURE_CERTIFIED = 1, /* reference_c against libm, eight suites, everything passes */
    FIXTURE_REFUSED =
        2,             /* fast_math: parity and accuracy broken, an error, unavailable, not run, mistrusted */
    FIXTURE_PROVE = 3, /* exhaustive, two equal digest trees */
    FIXTURE_SELFTEST = 4,  /* mutants by suite */
    FIXTURE_HOSTILE = 5,   /* incomplete; every text is an attempt to break a format */
    FIXTURE_UNFINISHED = 6 /* begun, no result, a check that hangs */
};

/* Opens a database at `path` (":memory:" too) made from evidence/schema.sql with the runs above. Aborts on
 * any fault. */
sqlite3 *fixture_open(const char *path);
/* Runs one statement; aborts when it fails. */
void fixture_exec(sqlite3 *db, const char *format, ...);
/* One integer answer. */
int64_t fixture_int(sqlite3 *db, const char *format, ...);

#endif
