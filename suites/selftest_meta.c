/* selftest_meta.c - faults of test harnesses that others have had, tried on the harness's own parts. */
#include "selftest_internal.h"

#include "compare.h"
#include "dtype.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(char *detail, size_t n, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool wrong(char *detail, size_t n, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(detail, n, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(arguments);
    return false;
}

/* ---- B95: the comparator ---- */

enum { ELEMENTS = 1000 };

typedef struct comparison {
    const char *name;
    uint32_t got, want; /* of one element among ELEMENTS equal ones */
    bool differs;
} comparison;

static bool comparator(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    static const comparison cases[] = {
        {"equal", 0x3f000000u, 0x3f000000u, false},
        {"NaN in the result", 0x7fc00000u, 0x3f000000u, true},
        {"NaN in the reference", 0x3f000000u, 0x7fc00000u, true},
        {"one element off by one", 0x3fc00000u, 0x3f000000u, true},
        {"one element an ulp off", 0x3f000001u, 0x3f000000u, true},
        {"two NaN with other payloads", 0x7fc00001u, 0x7fc00000u, true},
        {"signs of zero", 0x80000000u, 0x00000000u, true},
        {"infinity", 0x7f800000u, 0x7f7fffffu, true},
    };
    uint32_t got[ELEMENTS], want[ELEMENTS];
    (void)store, (void)o;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (size_t place = 0; place < ELEMENTS; place += ELEMENTS - 1) {
            assay_parity both[2] = {0};
            for (size_t i = 0; i < ELEMENTS; i++) {
                got[i] = want[i] = 0x3e000000u + (uint32_t)i;
            }
            got[place] = cases[c].got;
            want[place] = cases[c].want;
            assay_parity_add_f32(&both[0], got, want, ELEMENTS, 0);
            assay_scalar_parity_f32(&both[1], got, want, ELEMENTS, 0);
            for (int judge = 0; judge < 2; judge++) {
                if (assay_parity_ok(&both[judge]) == cases[c].differs ||
                    both[judge].differing != (cases[c].differs ? 1u : 0u)) {
                    return wrong(detail, n, "parity judge %d, %s at %zu: %llu differing", judge,
                                 cases[c].name, place, (unsigned long long)both[judge].differing);
                }
            }
        }
    }
    assay_parity nothing = {0};
    return !assay_parity_ok(&nothing) ? true : wrong(detail, n, "zero judged elements passed");
}

/* A running maximum with '>' or fmaxf reports 1e-6 for the errors {1e-7, NaN, 1e-6} and calls it a pass. */
static bool tolerance(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    const float values[3] = {0.5f, NAN, 0.5f};
    const double golden[3] = {0.5 + 1e-7, 0.5, 0.5 + 1e-6};
    uint32_t bits[3];
    (void)store, (void)o;
    memcpy(bits, values, sizeof bits);
    assay_accuracy both[2] = {{.tolerance = {1e-3, 1e-3}}, {.tolerance = {1e-3, 1e-3}}},
                   nothing = {.tolerance = {1e-3, 1e-3}};
    assay_accuracy_add(&both[0], bits, golden, 3, 0);
    assay_scalar_accuracy(&both[1], bits, golden, 3, 0);
    for (int judge = 0; judge < 2; judge++) {
        if (assay_accuracy_ok(&both[judge]) || both[judge].outside != 1 || both[judge].not_comparable != 1) {
            return wrong(detail, n, "accuracy judge %d: outside %llu, not comparable %llu", judge,
                         (unsigned long long)both[judge].outside,
                         (unsigned long long)both[judge].not_comparable);
        }
    }
    return !assay_accuracy_ok(&nothing) ? true : wrong(detail, n, "zero judged elements passed");
}

/* ---- thresholds: a tolerance where bytes are owed ---- */

static bool contract_refuses(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    static const char *const owed[] = {"parity", "invariance", "repeat"};
    const assay_operator_def *op = assay_operator_find(o->op);
    (void)store;
    for (size_t i = 0; i < sizeof owed / sizeof owed[0]; i++) {
        assay_contract *contract = NULL;
        assay_error error = {0};
        json_t *root = json_loadb(op->contract_json, *op->contract_bytes, 0, NULL);
        json_t *row = json_deep_copy(json_array_get(json_object_get(root, "tolerances"), 0));
        (void)json_object_set_new(row, "relation", json_string(owed[i]));
        (void)json_array_append_new(json_object_get(root, "tolerances"), row);
        char *text = json_dumps(root, 0);
        assay_code code = assay_contract_parse(text, strlen(text), &contract, &error);
        assay_contract_free(contract);
        free(text);
        json_decref(root);
        if (code != ASSAY_CODE_USAGE) {
            return wrong(detail, n, "a tolerance for relation %s was accepted", owed[i]);
        }
    }
    return true;
}

/* ---- runs ---- */

static int64_t count(assay_store *store, const char *sql, int64_t run_id) {
    sqlite3_stmt *statement = NULL;
    int64_t result = -1;
    if (sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &statement, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, run_id);
        result = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    }
    (void)sqlite3_finalize(statement);
    return result;
}

/* B105: the candidate compared with itself must not count as compared. */
static bool same_binary(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    char path[4096];
    assay_error error = {0};
    assay_certify_report report;
    assay_certify_options options = assay_selftest_certify_options(o, "null_scaled", path, sizeof path);
    options.baseline_path = path;
    options.baseline_name = "null_scaled";
    options.suite_filter = "parity";
    if (assay_certify(store, &options, &report, &error) != ASSAY_CODE_OK) {
        return wrong(detail, n, "%.200s", error.text);
    }
    int64_t passed = count(
        store,
        "SELECT count(*) FROM checks WHERE run_id = ?1 AND outcome = 'pass' AND name LIKE 'parity/baseline%'",
        report.run_id);
    int64_t mistrusted = count(
        store, "SELECT count(*) FROM checks WHERE run_id = ?1 AND outcome = 'mistrusted'", report.run_id);
    return passed == 0 && mistrusted > 0 && report.verdict != ASSAY_VERDICT_CERTIFIED
               ? true
               : wrong(detail, n, "%lld baseline checks passed, %lld mistrusted", (long long)passed,
                       (long long)mistrusted);
}

/* B48, B126: two builds that differ in one constant must not be recorded as one binary. */
static bool binary_named(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    static const char *const names[2] = {"base", "freq_period_10001"};
    char path[4096], hash[2][65] = {"", ""};
    for (int i = 0; i < 2; i++) {
        assay_error error = {0};
        assay_certify_report report;
        sqlite3_stmt *s = NULL;
        assay_certify_options options = assay_selftest_certify_options(o, names[i], path, sizeof path);
        options.suite_filter = "parity";
        if (assay_certify(store, &options, &report, &error) != ASSAY_CODE_OK) {
            return wrong(detail, n, "%.200s", error.text);
        }
        if (sqlite3_prepare_v2(assay_store_handle(store),
                               "SELECT sha256 FROM binary WHERE run_id = ?1 AND role = 'candidate'", -1, &s,
                               NULL) == SQLITE_OK) {
            (void)sqlite3_bind_int64(s, 1, report.run_id);
            if (sqlite3_step(s) == SQLITE_ROW) {
                (void)snprintf(hash[i], sizeof hash[i], "%s", (const char *)sqlite3_column_text(s, 0));
            }
        }
        (void)sqlite3_finalize(s);
    }
    return strlen(hash[0]) == 64 && strlen(hash[1]) == 64 && strcmp(hash[0], hash[1]) != 0
               ? true
               : wrong(detail, n, "recorded hashes '%.16s' and '%.16s'", hash[0], hash[1]);
}

/* B131: a candidate that is bad in one suite, judged by that suite alone: the verdict, from which the exit
 * status comes, is refused. */
static bool exit_status(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    static const char *const bad[][2] = {{"validation", "accepts_nan"},    {"parity", "freq_fp64"},
                                         {"accuracy", "out_bf16"},         {"invariance", "batch_256"},
                                         {"gradients", "grad_mean"},       {"memory", "mem_last_element"},
                                         {"determinism", "det_first_call"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[4096];
        assay_error error = {0};
        assay_certify_report report;
        assay_certify_options options = assay_selftest_certify_options(o, bad[i][1], path, sizeof path);
        options.suite_filter = bad[i][0];
        if (assay_certify(store, &options, &report, &error) != ASSAY_CODE_OK) {
            return wrong(detail, n, "%.200s", error.text);
        }
        if (report.verdict != ASSAY_VERDICT_REFUSED) {
            return wrong(detail, n, "suite %s alone on %s: verdict %s", bad[i][0], bad[i][1],
                         assay_verdict_text(report.verdict));
        }
    }
    return true;
}

/* A good candidate judged by one suite alone: the promises of the others are not kept. */
static bool partial_run(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    char path[4096];
    assay_error error = {0};
    assay_certify_report report;
    assay_certify_options options = assay_selftest_certify_options(o, "base", path, sizeof path);
    options.suite_filter = "accuracy";
    if (assay_certify(store, &options, &report, &error) != ASSAY_CODE_OK) {
        return wrong(detail, n, "%.200s", error.text);
    }
    uint64_t unkept = assay_selftest_unkept(store, report.run_id);
    return report.verdict != ASSAY_VERDICT_REFUSED && unkept >= 6 && unkept < 100
               ? true
               : wrong(detail, n, "%llu promises not kept", (unsigned long long)unkept);
}

static bool empty_filter(assay_store *store, const assay_selftest_options *o, char *detail, size_t n) {
    char path[4096];
    assay_error error = {0};
    assay_certify_report report;
    int64_t before = count(store, "SELECT count(*) FROM run WHERE ?1 = ?1", 0);
    assay_certify_options options = assay_selftest_certify_options(o, "base", path, sizeof path);
    options.check_filter = "no/such/check";
    assay_code code = assay_certify(store, &options, &report, &error);
    int64_t after = count(store, "SELECT count(*) FROM run WHERE ?1 = ?1", 0);
    return code == ASSAY_CODE_USAGE && before == after
               ? true
               : wrong(detail, n, "code %d, %lld runs written", (int)code, (long long)(after - before));
}

const assay_selftest_meta assay_selftest_metas[] = {
    {"meta_comparator", "B95",
     "NaN, one mismatch, signed zero, zero elements: both parity judges refuse them", comparator},
    {"meta_tolerance", "B95", "NaN among small errors is outside every tolerance, for both accuracy judges",
     tolerance},
    {"meta_contract", "design 6", "a contract that asks for a tolerance where bytes are owed is refused",
     contract_refuses},
    {"meta_same_binary", "B105", "a candidate compared with itself is mistrusted", same_binary},
    {"meta_binary_named", "B48, B126", "the recorded hash tells two builds apart", binary_named},
    {"meta_exit_status", "B131", "a fault in one suite alone decides the verdict", exit_status},
    {"meta_partial_run", "h3 9.41", "promises of suites that did not run are not kept", partial_run},
    {"meta_empty_filter", "h3 9.41", "a filter that matches nothing is wrong use and writes nothing",
     empty_filter},
};
const size_t assay_selftest_meta_count = sizeof assay_selftest_metas / sizeof assay_selftest_metas[0];
