/* selftest_internal.h - shared by selftest.c, selftest_judge.c, selftest_meta.c and selftest_table.c. Private
 * to suites. */
#ifndef ASSAY_SELFTEST_INTERNAL_H
#define ASSAY_SELFTEST_INTERNAL_H

#include "selftest.h"

/* X(enumerator, meaning): what a row of subjects.h may expect. */
#define ASSAY_EXPECT_LIST(X)                                                                                 \
    X(fail, "the suite meant for it ends fail and the run is refused")                                       \
    X(crash, "the suite meant for it ends error or fail and a required promise is not kept")                 \
    X(mistrusted, "the suite meant for it ends mistrusted, error or fail")                                   \
    X(refused, "parity, accuracy and gradients end fail and the run is refused")                             \
    X(incomplete, "nothing fails and a required promise is not kept")                                        \
    X(unloadable, "refused before anything is written")                                                      \
    X(clean, "every suite passes and every required promise is kept")

typedef enum assay_expect {
#define X(id, meaning) ASSAY_EXPECT_##id,
    ASSAY_EXPECT_LIST(X)
#undef X
        ASSAY_EXPECT_COUNT
} assay_expect;

bool assay_expect_parse(const char *text, assay_expect *expect);

/* selftest_judge.c: sets held and detail of a subject from its outcomes. `code` is what assay_certify
 * returned last, `said` its message. The detail names the first check that noticed, from the subject's last
 * run. */
void assay_selftest_judge(assay_store *store, assay_selftest_subject *subject, assay_code code,
                          const char *said);
/* Required promises of a finished run that are broken or not verified; UINT64_MAX when the rows cannot be
 * read. A run of kind selftest is never certified, so that its verdict alone says little. */
uint64_t assay_selftest_unkept(assay_store *store, int64_t run_id);
/* Index of a suite in ASSAY_SUITE_LIST order; -1 when there is none of that name. */
int assay_selftest_suite(const char *name);
/* Writes the rows of the matrix for one subject. */
assay_code assay_selftest_record_rows(assay_store *store, int64_t run_id,
                                      const assay_selftest_subject *subject, assay_error *error);

/* selftest_meta.c: self-tests that need no adapter of their own, or look at the run of another subject. */
typedef struct assay_selftest_meta {
    const char *name, *source, *text;
    /* True when the harness did right; otherwise `detail` says what it did. Errors of the machine count as
     * wrong. */
    bool (*run)(assay_store *store, const assay_selftest_options *options, char *detail, size_t n);
} assay_selftest_meta;
extern const assay_selftest_meta assay_selftest_metas[];
extern const size_t assay_selftest_meta_count;

/* selftest_table.c */
/* The subjects for a device ("cpu", NULL, "cuda:N"). */
const assay_selftest_subject *assay_selftest_table(const char *device, size_t *count);
bool assay_selftest_on_device(const assay_selftest_options *options);
/* INCOMPLETE when the GPU that was asked for is not there. Each run opens it for itself. */
assay_code assay_selftest_device_there(const assay_selftest_options *options, assay_error *error);
/* Sets tier, suites and checks of a subject's run. */
void assay_selftest_narrow(const assay_selftest_options *o, const assay_selftest_subject *s,
                           assay_certify_options *options);

/* selftest.c: the options of a run of one subject; `path` receives its file. */
assay_certify_options assay_selftest_certify_options(const assay_selftest_options *options, const char *name,
                                                     char *path, size_t n);

#endif
