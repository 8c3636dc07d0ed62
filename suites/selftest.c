/* selftest.c - runs the subjects of impls/mutants/subjects.h through the ordinary suites and sums up.
 *
 * Each subject gets a run of its own (kind "selftest"), carried out by the very function that `assay certify`
 * calls; nothing here knows how a suite works. The summarising run has one check per subject, journaled
 * before the subject starts, so that an interrupted self-test names the subject that was running. */
#include "selftest_internal.h"

#include "clock.h"
#include "digest.h"
#include "provenance.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char subject_operator[] = "timestep_sinusoid_h3"; /* the operator that the subjects implement */

static bool selected(const assay_selftest_options *o, const char *name) {
    return o->filter == NULL || fnmatch(o->filter, name, 0) == 0;
}

static void *must(void *memory) {
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Fills report->subjects with the rows that the filter selects, self-tests of the harness last. */
static void choose(const assay_selftest_options *o, assay_selftest_report *report) {
    size_t rows = 0;
    const assay_selftest_subject *table = assay_selftest_table(o->device, &rows);
    report->subjects = must(calloc(rows + assay_selftest_meta_count, sizeof *report->subjects));
    for (size_t i = 0; i < rows; i++) {
        if (selected(o, table[i].name)) {
            report->subjects[report->count++] = table[i];
        }
    }
    for (size_t i = 0; i < assay_selftest_meta_count; i++) { /* no device changes them */
        const assay_selftest_meta *m = &assay_selftest_metas[i];
        if (!assay_selftest_on_device(o) && selected(o, m->name)) {
            report->subjects[report->count++] = (assay_selftest_subject){.name = m->name,
                                                                         .class_name = "harness",
                                                                         .suite = "",
                                                                         .expected = "clean",
                                                                         .source = m->source,
                                                                         .text = m->text};
        }
    }
}

static const assay_selftest_meta *meta_of(const assay_selftest_subject *s) {
    for (size_t i = 0; i < assay_selftest_meta_count; i++) {
        if (strcmp(assay_selftest_metas[i].name, s->name) == 0) {
            return &assay_selftest_metas[i];
        }
    }
    return NULL;
}

/* The first call on a GPU loads its kernels. */
static unsigned call_timeout(const assay_selftest_options *o) {
    return o->call_timeout_ms != 0 ? o->call_timeout_ms : assay_selftest_on_device(o) ? 5000 : 1000;
}

assay_certify_options assay_selftest_certify_options(const assay_selftest_options *o, const char *name,
                                                     char *path, size_t n) {
    (void)snprintf(path, n, "%s/%s.so", o->directory, name);
    return (assay_certify_options){.kind = "selftest",
                                   .op = o->op,
                                   .impl_path = path,
                                   .impl_name = name,
                                   .device = o->device != NULL ? o->device : "cpu",
                                   .command = o->command,
                                   .tier = ASSAY_TIER_QUICK,
                                   .seed = 1,
                                   .threads = o->threads,
                                   .call_timeout_ms = call_timeout(o),
                                   .allow_dirty = true};
}

static int severity(assay_outcome outcome) {
    static const int order[ASSAY_OUTCOME_COUNT] = {
        [ASSAY_OUTCOME_NOT_RUN] = 0,     [ASSAY_OUTCOME_PASS] = 1,       [ASSAY_OUTCOME_UNAVAILABLE] = 2,
        [ASSAY_OUTCOME_UNSUPPORTED] = 3, [ASSAY_OUTCOME_MISTRUSTED] = 4, [ASSAY_OUTCOME_ERROR] = 5,
        [ASSAY_OUTCOME_FAIL] = 6};
    return order[outcome];
}

/* One run; merges its outcomes into the subject. */
static assay_code run_once(assay_store *store, const assay_selftest_options *o, assay_selftest_subject *s,
                           unsigned repetition, assay_error *error) {
    char path[4096];
    assay_certify_report report;
    assay_certify_options options = assay_selftest_certify_options(o, s->name, path, sizeof path);
    options.seed = 1 + repetition;
    assay_selftest_narrow(o, s, &options);
    assay_code code = assay_certify(store, &options, &report, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    s->run_id = report.run_id;
    s->runs++;
    s->checks += report.checks;
    s->passed += report.outcomes[ASSAY_OUTCOME_PASS];
    uint64_t unkept = assay_selftest_unkept(store, report.run_id);
    s->unkept = unkept > s->unkept ? unkept : s->unkept;
    if (s->runs == 1 || report.verdict == ASSAY_VERDICT_REFUSED) {
        s->verdict = report.verdict;
    }
    for (size_t i = 0; i < assay_suite_count && i < ASSAY_SELFTEST_SUITES; i++) {
        if (severity(report.suite[i]) > severity(s->outcome[i])) {
            s->outcome[i] = report.suite[i];
        }
    }
    return ASSAY_CODE_OK;
}

static void run_subject(assay_store *store, const assay_selftest_options *o, assay_selftest_subject *s) {
    const assay_selftest_meta *meta = meta_of(s);
    assay_error error = {0};
    assay_code code = ASSAY_CODE_OK;
    if (meta != NULL) {
        s->held = meta->run(store, o, s->detail, sizeof s->detail);
        s->checks = 1;
        s->passed = s->held ? 1 : 0;
        return;
    }
    bool variant = strcmp(s->class_name, "variant") == 0;
    unsigned runs = variant && o->repetitions > 1 ? o->repetitions : 1;
    for (unsigned i = 0; i < runs && code == ASSAY_CODE_OK; i++) {
        code = run_once(store, o, s, i, &error);
        if (variant) { /* the detail is that of the first repetition that went wrong */
            assay_selftest_judge(store, s, code, error.text);
            if (!s->held) {
                return;
            }
        }
    }
    assay_selftest_judge(store, s, code, error.text);
}

/* ---- the summarising run ---- */

static const struct {
    const char *class_name, *promise, *text;
} promises[] = {
    {"variant", "no_false_alarm", "every correct variant passes every suite"},
    {"mutant", "mutants_caught", "every broken implementation is refused by the suite meant for it"},
    {"null", "null_refused",
     "every candidate that does no work is refused by parity, accuracy and gradients"},
    {"dishonest", "dishonest_refused", "every candidate that cheats is noticed by the suite meant for it"},
    {"runner", "run_survives",
     "a candidate that takes its process down costs the checks that met it, not the run"},
    {"harness", "harness_holds", "faults of the harness itself that others have had do not occur here"},
};
enum { PROMISES = sizeof promises / sizeof promises[0] };

static const char *promise_of(const assay_selftest_subject *s) {
    assert(s->class_name != NULL);
    for (size_t i = 0; i < PROMISES; i++) {
        if (strcmp(promises[i].class_name, s->class_name) == 0) {
            return promises[i].promise;
        }
    }
    return promises[PROMISES - 1].promise;
}

static char *format(const char *pattern, const char *a, const char *b) {
    char *text = NULL;
    if (asprintf(&text, pattern, a, b) < 0) {
        abort();
    }
    return text;
}

static char *repro_of(const assay_selftest_options *o, const char *name) {
    char *device = assay_selftest_on_device(o) ? format(" --device %s%s", o->device, "") : format("", "", "");
    char *line = format("assay selftest --op %s%s", o->op, device);
    char *whole = format("%s --only %s", line, name);
    free(device);
    free(line);
    return whole;
}

/* Promises of the classes that occur; all of them without a filter. */
static size_t owed(const assay_selftest_report *report, assay_promise_record *out) {
    size_t n = 0;
    for (size_t i = 0; i < PROMISES; i++) {
        for (size_t j = 0; j < report->count; j++) {
            if (strcmp(report->subjects[j].class_name, promises[i].class_name) == 0) {
                out[n++] = (assay_promise_record){.name = promises[i].promise,
                                                  .suite = "selftest",
                                                  .relation = "validation",
                                                  .text = promises[i].text,
                                                  .required = true};
                break;
            }
        }
    }
    return n;
}

/* The base stands for all subjects: same sources, same build. */
static assay_code describe(const assay_selftest_options *o, assay_run_record *record,
                           assay_binary_record *binary, char *sha256, char *path, size_t path_bytes,
                           assay_contract **contract, assay_provenance **provenance, assay_error *error) {
    uint8_t hash[ASSAY_HASH_BYTES];
    const assay_operator_def *op = assay_operator_find(o->op);
    (void)snprintf(path, path_bytes, "%s/base.so", o->directory);
    if (assay_contract_parse(op->contract_json, *op->contract_bytes, contract, error) != ASSAY_CODE_OK ||
        assay_sha256_file(path, hash, &binary->bytes, error) != ASSAY_CODE_OK ||
        assay_provenance_collect(path, NULL, provenance, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    assay_hex(hash, sizeof hash, sha256);
    binary->role = "candidate";
    binary->path = path;
    binary->sha256 = sha256;
    *record = (assay_run_record){.kind = "selftest",
                                 .operator_name = o->op,
                                 .implementation = "mutants",
                                 .baseline = "",
                                 .device = o->device != NULL ? o->device : "cpu",
                                 .tier = assay_tier_text(ASSAY_TIER_QUICK),
                                 .command = o->command,
                                 .seed = 1,
                                 .contract_sha256 = (*contract)->sha256,
                                 .contract_text = (*contract)->text,
                                 .contract_version = (*contract)->version,
                                 .binaries = binary,
                                 .binary_count = 1};
    record->provenance = assay_provenance_pairs(*provenance, &record->provenance_count);
    return ASSAY_CODE_OK;
}

static assay_code begin(assay_store *store, const assay_selftest_options *o, assay_selftest_report *report,
                        assay_error *error) {
    assay_run_record record;
    assay_binary_record binary = {0};
    assay_promise_record owes[PROMISES];
    assay_contract *contract = NULL;
    assay_provenance *provenance = NULL;
    char path[4096], sha256[65];
    assay_plan_record *plan = must(calloc(report->count, sizeof *plan));
    for (size_t i = 0; i < report->count; i++) {
        const assay_selftest_subject *s = &report->subjects[i];
        plan[i] = (assay_plan_record){
            .suite = "selftest",
            .promise = promise_of(s),
            .required = true,
            .strength = ASSAY_STRENGTH_SAMPLED,
            .name = format("selftest/%s%s", s->name, ""),
            .case_json = format("{\"subject\":\"%s\",\"expected\":\"%s\"}", s->name, s->expected),
            .repro = repro_of(o, s->name)};
    }
    assay_code code = describe(o, &record, &binary, sha256, path, sizeof path, &contract, &provenance, error);
    if (code == ASSAY_CODE_OK) {
        record.promises = owes;
        record.promise_count = owed(report, owes);
        record.plan = plan;
        record.plan_count = report->count;
        code = assay_store_run_begin(store, &record, &report->run_id, report->uuid, error);
    }
    for (size_t i = 0; i < report->count; i++) {
        free((void *)(uintptr_t)plan[i].name);
        free((void *)(uintptr_t)plan[i].case_json);
        free((void *)(uintptr_t)plan[i].repro);
    }
    free(plan);
    assay_provenance_free(provenance);
    assay_contract_free(contract);
    return code;
}

static void tally(assay_selftest_report *report, const assay_selftest_subject *s) {
    assay_selftest_class *c = report->classes;
    while (c->name != NULL && strcmp(c->name, s->class_name) != 0) {
        c++;
    }
    report->class_count += c->name == NULL;
    c->name = s->class_name;
    c->total++;
    c->held += s->held;
    if (strcmp(s->class_name, "variant") == 0) {
        report->variants++;
        report->clean += s->held;
        report->false_alarms += !s->held;
    } else {
        report->to_catch++;
        report->caught += s->held;
    }
}

static assay_code carry_out(assay_store *store, const assay_selftest_options *o,
                            assay_selftest_report *report, size_t i, assay_error *error) {
    assay_selftest_subject *s = &report->subjects[i];
    int64_t seq = (int64_t)i + 1;
    if (assay_store_check_begin(store, report->run_id, seq, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    uint64_t start = assay_clock_ns();
    run_subject(o->subjects != NULL ? o->subjects : store, o, s);
    assay_check_record record = {.outcome = s->held ? ASSAY_OUTCOME_PASS : ASSAY_OUTCOME_FAIL,
                                 .reason = s->held ? "" : s->detail,
                                 .elements = s->checks > 0 ? s->checks : 1,
                                 .bad = s->held ? 0 : 1,
                                 .duration_ns = assay_clock_ns() - start};
    tally(report, s);
    if (assay_store_check_end(store, report->run_id, seq, &record, error) != ASSAY_CODE_OK ||
        assay_selftest_record_rows(store, report->run_id, s, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    return ASSAY_CODE_OK;
}

static assay_code usable(const assay_selftest_options *o, const assay_selftest_report *report,
                         assay_error *error) {
    char path[4096];
    if (assay_operator_find(o->op) == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)",
                          o->op);
    }
    if (strcmp(o->op, subject_operator) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: no self-test subjects (there are some for %s)",
                          o->op, subject_operator);
    }
    if (report->count == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "the filter %s matches none of the self-test subjects",
                          o->filter);
    }
    if (assay_selftest_device_there(o, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (o->directory == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "selftest: no folder with the broken implementations was found (--directory DIR)");
    }
    size_t rows = 0;
    const assay_selftest_subject *table = assay_selftest_table(o->device, &rows);
    for (size_t i = 0; i < rows; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.so", o->directory, table[i].name);
        if (access(path, R_OK) != 0) {
            return assay_fail(error, ASSAY_CODE_USAGE,
                              "%s is missing: the directory must hold one library per self-test subject",
                              path);
        }
    }
    return ASSAY_CODE_OK;
}

assay_code assay_selftest(assay_store *store, const assay_selftest_options *o, assay_selftest_report *report,
                          assay_error *error) {
    memset(report, 0, sizeof *report);
    choose(o, report);
    if (usable(o, report, error) != ASSAY_CODE_OK || begin(store, o, report, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    for (size_t i = 0; i < report->count; i++) {
        if (o->step != NULL) {
            o->step(o->context, i, report->count, report->subjects[i].name);
        }
        if (carry_out(store, o, report, i, error) != ASSAY_CODE_OK) {
            return error->code;
        }
        if (o->row != NULL) {
            o->row(o->context, &report->subjects[i]);
        }
    }
    if (o->step != NULL) {
        o->step(o->context, report->count, report->count, NULL);
    }
    if (assay_store_run_end(store, report->run_id, &report->verdict, report->reason, sizeof report->reason,
                            error) != ASSAY_CODE_OK) {
        return error->code;
    }
    return report->caught == report->to_catch && report->false_alarms == 0 ? ASSAY_CODE_OK
                                                                           : ASSAY_CODE_REFUSED;
}

void assay_selftest_report_free(assay_selftest_report *report) {
    free(report->subjects);
    report->subjects = NULL;
    report->count = 0;
}
