/* report_model.h - one run's evidence in memory: what every format and figure is a view over. report_load()
 * is the only place that reads the database, so that two formats cannot disagree. All text has passed
 * report_clean(). */
#ifndef ASSAY_REPORT_MODEL_H
#define ASSAY_REPORT_MODEL_H

#include "error.h"
#include "report_arena.h"
#include "terms.h"

#include <sqlite3.h>

typedef struct report_pair {
    const char *key, *value;
} report_pair;

typedef struct report_binary {
    const char *role, *path, *sha256;
    uint64_t bytes;
} report_binary;

typedef struct report_knob {
    const char *role, *name, *requested, *effective;
} report_knob;

typedef struct report_promise {
    const char *name, *suite, *relation, *text, *strength, *reason;
    assay_promise_state state;
    bool required;
    /* counted over the promise's checks */
    uint64_t checks, passed, elements, bad;
} report_promise;

typedef struct report_check {
    int64_t seq;
    const char *suite, *name, *promise, *strength, *case_json, *repro, *reason;
    assay_outcome outcome;
    bool required;
    uint64_t elements, bad, duration_ns, attempts;
} report_check;

typedef struct report_metric {
    int64_t seq;
    const char *name, *unit;
    uint64_t bits;
    double value; /* from the bits */
} report_metric;

typedef struct report_bin {
    int64_t seq;
    const char *subject;
    int exponent, distance;
    uint64_t count;
} report_bin;

typedef struct report_element {
    int64_t seq;
    const char *kind;
    int64_t rank;
    uint64_t row, channel;
    uint32_t input_bits, got_bits, want_bits;
    bool has_golden;
    uint64_t golden_bits;
    double ulp; /* NaN when absent */
} report_element;

typedef struct report_profile {
    int64_t seq;
    const char *subject;
    int64_t bin;
    double x, max_abs, mean_ulp, max_ulp;
} report_profile;

typedef struct report_series {
    int64_t seq;
    const char *callable, *scope, *figure, *flags;
    uint64_t rows, bytes, repeat;
    double *samples_ns; /* per sample, as stored */
    int64_t *positions;
    size_t count;
    /* derived, see report_timing.c; per call, that is divided by `repeat` */
    double median_ns, low_ns, high_ns;                  /* 5th, 50th, 95th percentile */
    double gbps;                                        /* bytes / median; 0 when bytes is 0 */
    const struct report_series *against, *floor, *roof; /* same check; NULL when absent */
    double ratio, ratio_low, ratio_high;                /* median / median of `against`, 95 % interval */
} report_series;

typedef struct report_tree {
    const char *name, *root;
    uint64_t tile_rows, row_words, rows, tiles, first_tile, all_tiles, stored_tiles;
} report_tree;

typedef struct report_witness {
    int64_t seq, ordinal;
    const char *text, *case_json;
    const uint8_t *input, *got, *want;
    size_t input_bytes, got_bytes, want_bytes;
} report_witness;

typedef struct report_selftest {
    const char *subject, *class_name, *suite, *expected, *got, *detail;
} report_selftest;

typedef struct report_model {
    report_arena *arena;
    int64_t id;
    const char *uuid, *kind, *operator_name, *implementation, *baseline, *device, *tier, *command;
    const char *candidate, *other; /* short names for titles and legends: "fast_math" of
                                      "build/impls/fast_math.so"; other: the baseline's */
    const char *verdict;           /* certified, refused, incomplete, unfinished */
    const char *reason;
    const char *contract_sha256;
    const char *contract_text;                               /* as stored: JSON to parse, not text to show */
    int64_t contract_version, seed, started_ms, finished_ms; /* finished_ms = started_ms while unfinished */
    const char *log_root;                                    /* "" when the run is not in the log */
    int64_t log_index;

    report_pair *provenance;
    size_t provenance_count;
    report_binary *binaries;
    size_t binary_count;
    report_knob *knobs;
    size_t knob_count;
    report_promise *promises;
    size_t promise_count;
    report_check *checks;
    size_t check_count;
    report_metric *metrics; /* by seq, name */
    size_t metric_count;
    report_bin *bins; /* by seq, subject, exponent, distance */
    size_t bin_count;
    report_element *elements; /* by seq, kind, rank */
    size_t element_count;
    report_profile *profile;
    size_t profile_count;
    report_series *series;
    size_t series_count;
    report_tree *trees;
    size_t tree_count;
    report_witness *witnesses;
    size_t witness_count;
    report_selftest *selftest;
    size_t selftest_count;

    /* counted over the checks */
    uint64_t outcome[ASSAY_OUTCOME_COUNT];
    uint64_t elements_judged, elements_bad, duration_ns;
} report_model;

/* Reads run `run_id` in one read transaction. Errors: USAGE when there is no such run, INTERNAL when the
 * database cannot be read or memory runs out. The model lives as long as `arena`. */
assay_code report_load(sqlite3 *db, int64_t run_id, report_arena *arena, report_model *model,
                       assay_error *error);

/* Value of a provenance key, "unknown" when absent. */
const char *report_provenance(const report_model *model, const char *key);
/* The run's device as a person knows it: "NVIDIA H200 (cuda:0)", "cpu". */
const char *report_device(const report_model *model);
/* Index of the first item of check `seq` in an array whose items begin with `int64_t seq` and are sorted by
 * it. */
size_t report_first_of(const void *items, size_t count, size_t item_bytes, int64_t seq);
const report_check *report_check_of(const report_model *model, int64_t seq); /* NULL when absent */
const report_metric *report_metric_of(const report_model *model, int64_t seq,
                                      const char *name); /* NULL when absent */
const report_element *report_element_of(const report_model *model, int64_t seq,
                                        const char *kind); /* rank 1; NULL */

/* Elements that differ: the metric "differing", else the bad ones. A check that only measures passes with a
 * difference. */
uint64_t report_differing(const report_model *model, const report_check *check);
/* Whether a check that did not pass must make a consumer of JUnit or CTRF fail: everything but an optional
 * check that is unavailable, unsupported or did not run. */
bool report_check_alarms(const report_check *check);
/* Whether a self-test row came out as expected; an unknown expectation never does. */
bool report_selftest_ok(const report_selftest *row);
/* Summary of a contract's tolerance row, false when the contract has none: the accuracy row of FP32. */
bool report_contract_tolerance(const report_model *model, const char *relation, double *atol, double *rtol,
                               double *max_abs);

/* Fills the derived fields of every series (report_timing.c). */
void report_timing_derive(report_model *model);
/* The rows that a series belongs to: a floor has no size of its own, it belongs to the sizes measured beside
 * it. */
uint64_t report_series_rows(const report_model *model, const report_series *series);
/* Whether there are series with this figure (host, launch, device). */
bool report_has_figure(const report_model *model, const char *figure);

#endif
