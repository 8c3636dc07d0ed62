/* store.h - writes evidence. One transaction per check, WAL, synchronous=FULL; insert-only. Readers use SQL
 * on assay_store_handle() against the views of schema.sql. Not thread-safe: the judge's main thread owns the
 * store. */
#ifndef ASSAY_STORE_H
#define ASSAY_STORE_H

#include "error.h"
#include "terms.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

typedef struct assay_store assay_store;

typedef enum assay_store_mode {
    ASSAY_STORE_WRITE, /* create when missing; refuse what is not an Assay database of this schema version */
    ASSAY_STORE_READ   /* existing only; opened read-only and defensive, schema checked, foreign content never
                          executed */
} assay_store_mode;

/* Errors (USAGE): unwritable or missing path, a directory, another program's database, a truncated or corrupt
 * one, a newer schema. */
assay_code assay_store_open(const char *path, assay_store_mode mode, assay_store **store, assay_error *error);
void assay_store_close(assay_store *store);
sqlite3 *assay_store_handle(assay_store *store);

typedef struct assay_pair {
    const char *key, *value;
} assay_pair;

typedef struct assay_binary_record {
    const char *role, *path, *sha256; /* sha256: 64 hex digits */
    uint64_t bytes;
} assay_binary_record;

typedef struct assay_knob_record {
    const char *role, *name, *requested, *effective;
} assay_knob_record;

typedef struct assay_promise_record {
    const char *name, *suite, *relation, *text;
    bool required;
} assay_promise_record;

typedef struct assay_plan_record {
    const char *suite, *name, *promise, *case_json, *repro;
    bool required;
    assay_strength strength;
} assay_plan_record;

typedef struct assay_run_record {
    const char *kind, *operator_name, *implementation, *baseline, *device, *tier, *command;
    uint64_t seed;
    const char *contract_sha256, *contract_text;
    int contract_version;
    const assay_pair *provenance;
    size_t provenance_count;
    const assay_binary_record *binaries;
    size_t binary_count;
    const assay_knob_record *knobs;
    size_t knob_count;
    const assay_promise_record *promises;
    size_t promise_count;
    const assay_plan_record *plan; /* seq = index + 1 */
    size_t plan_count;
} assay_run_record;

/* Inserts the run with everything above in one transaction; *run_id identifies it, uuid receives 32 hex
 * digits + NUL. */
assay_code assay_store_run_begin(assay_store *store, const assay_run_record *record, int64_t *run_id,
                                 char uuid[33], assay_error *error);
/* Finds a run by id ("3"), by unique uuid prefix of >= 4 digits, or "latest". Errors (USAGE): none, several,
 * malformed. */
assay_code assay_store_run_find(assay_store *store, const char *text, int64_t *run_id, assay_error *error);

/* Journals that check `seq` starts (own transaction). */
assay_code assay_store_check_begin(assay_store *store, int64_t run_id, int64_t seq, assay_error *error);

typedef struct assay_metric_record {
    const char *name, *unit;
    double value;
} assay_metric_record;

typedef struct assay_histogram_record {
    const char *subject;
    int exponent, distance;
    uint64_t count;
} assay_histogram_record;

typedef struct assay_element_record {
    const char *kind;
    int rank;
    uint64_t row, channel;
    uint32_t input_bits, got_bits, want_bits;
    bool has_golden;
    double golden, ulp;
} assay_element_record;

typedef struct assay_profile_record {
    const char *subject;
    int bin;
    double x, max_abs, mean_ulp, max_ulp;
} assay_profile_record;

typedef struct assay_series_record {
    const char *callable, *scope, *figure, *flags;
    uint64_t rows, bytes, repeat;
    const uint64_t *samples_ns;
    const uint32_t *positions; /* place in the order of that iteration */
    size_t count;
} assay_series_record;

typedef struct assay_witness_record {
    const char *text, *case_json;
    const void *input, *got, *want;
    size_t input_bytes, got_bytes, want_bytes;
} assay_witness_record;

typedef struct assay_tile_record {
    const char *name; /* digest tree it belongs to */
    uint64_t number, rows, sum[2];
} assay_tile_record;

typedef struct assay_check_record {
    assay_outcome outcome; /* never NOT_RUN */
    const char *reason;
    uint64_t elements, bad, duration_ns;
    const assay_metric_record *metrics;
    size_t metric_count;
    const assay_histogram_record *histogram;
    size_t histogram_count;
    const assay_element_record *element;
    size_t element_count;
    const assay_profile_record *profile;
    size_t profile_count;
    const assay_series_record *series;
    size_t series_count;
    const assay_witness_record *witnesses;
    size_t witness_count;
    const assay_tile_record *tiles;
    size_t tile_count;
} assay_check_record;

/* Everything a check found, in one transaction. A pass with zero elements is refused (INTERNAL): record
 * mistrusted instead. */
assay_code assay_store_check_end(assay_store *store, int64_t run_id, int64_t seq,
                                 const assay_check_record *record, assay_error *error);

typedef struct assay_tree_record {
    const char *name;
    uint64_t tile_rows, row_words, rows, tiles, first_tile, all_tiles;
    const char *root;
} assay_tree_record;
assay_code assay_store_tree(assay_store *store, int64_t run_id, const assay_tree_record *record,
                            assay_error *error);

/* Adds provenance that is known only at the end of a run. A key that is there already keeps its value. */
assay_code assay_store_note(assay_store *store, int64_t run_id, const char *key, const char *value,
                            assay_error *error);
/* Key of a note: which of the run's files was changed or replaced while it ran. Its presence keeps the run
 * from a certificate. */
#define ASSAY_KEY_CHANGED "run.changed"

typedef struct assay_selftest_record {
    const char *subject, *class_name, *suite, *expected, *got, *detail;
} assay_selftest_record;
assay_code assay_store_selftest(assay_store *store, int64_t run_id, const assay_selftest_record *rows,
                                size_t count, assay_error *error);

/* Derives promise states and the run's verdict from the rows (verdict.c), inserts promise_result and
 * run_result, appends the run's leaf to the log: one transaction; afterwards triggers refuse any change to
 * the run's rows. Verdict rule: refused if a required promise is broken; else certified if every required
 * promise is kept, provenance says that both trees are clean and known (assay.dirty = candidate.dirty =
 * "no"), candidate.sha256 is known, no file was changed during the run and every knob that was requested
 * (other than "auto") took effect; else incomplete with the first reason. */
assay_code assay_store_run_end(assay_store *store, int64_t run_id, assay_verdict *verdict, char *reason,
                               size_t reason_bytes, assay_error *error);

/* ---- verdict.c: the rule, as a pure function of rows (used by run_end and by verify) ---- */
assay_code assay_verdict_derive(sqlite3 *db, int64_t run_id, assay_verdict *verdict, char *reason,
                                size_t reason_bytes, assay_error *error);

/* ---- verify.c ---- */
typedef struct assay_verify_report {
    uint64_t runs, rows, problems;
} assay_verify_report;
/* Re-derives everything: row hashes, leaves, log roots, digest roots from tiles, promise states, verdicts;
 * calls `say` with one line per problem, each naming table and row. Returns OK (no problem), REFUSED
 * (problems), or an error. */
assay_code assay_verify_database(const char *path, void (*say)(void *context, const char *line),
                                 void *context, assay_verify_report *report, assay_error *error);

/* ---- merge.c: shards of one prove run into one, and databases into one ---- */
/* Combines the shard runs (same contract, candidate binary, tree geometry; tiles disjoint and complete) of
 * the given databases into a new finished run in `target`; its root equals that of the unsharded run.
 * Conflicts are refused with both sides named. */
assay_code assay_merge_shards(const char *target, const char *const *sources, size_t source_count,
                              char root_hex[65], int64_t *run_id, assay_error *error);

#endif
