/* runner.c - one run from contract to verdict. Everything that can be refused is refused before a row is
 * written; after that every check is journaled, survives its candidate, and is stored in one transaction. */
#include "runner_internal.h"

#include "clock.h"
#include "text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static assay_code check_trees(assay_runner *r, assay_error *error) {
    static const char *const trees[][2] = {{"assay.dirty", "the tree Assay was built from"},
                                           {"candidate.dirty", "the candidate's tree"}};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        const char *dirty = assay_provenance_get(r->provenance, trees[i][0]);
        if (dirty == NULL || strcmp(dirty, "no") != 0) {
            bool unknown = dirty == NULL || strcmp(dirty, "yes") != 0;
            return assay_fail(error, ASSAY_CODE_USAGE,
                              "%s is %s: certify needs clean, committed sources%s (--allow-dirty runs, but "
                              "can only end incomplete)",
                              trees[i][1], unknown ? "not a git repository or cannot be read" : "dirty",
                              i == 1 ? " (or --source DIR)" : "");
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code open_contract(assay_runner *r, const assay_certify_options *o, assay_error *error) {
    const assay_operator_def *op = assay_operator_find(o->op);
    if (op == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)",
                          o->op);
    }
    r->context.op = op;
    if (assay_contract_parse(op->contract_json, *op->contract_bytes, &r->contract, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    r->context.contract = r->contract;
    return ASSAY_CODE_OK;
}

assay_code assay_runner_lane(assay_runner *r, unsigned index, assay_error *error) {
    assay_lane *lane = &r->lanes[index];
    lane->index = index;
    if (lane->candidate == NULL &&
        assay_worker_open(&r->candidate_options, &lane->candidate, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (lane->baseline == NULL && r->context.baseline_name != NULL &&
        assay_worker_open(&r->baseline_options, &lane->baseline, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    return ASSAY_CODE_OK;
}

static assay_code open_workers(assay_runner *r, const assay_certify_options *o, assay_error *error) {
    /* The full tier places outputs past 2^31 elements, 8.6 GB each; pages cost nothing until they are
     * touched. */
    size_t arena = o->tier == ASSAY_TIER_FULL ? (size_t)12 << 30 : 0;
    /* The files that were hashed: not again whatever a link leads to. */
    r->candidate_options = (assay_worker_options){
        .adapter = r->paths[0], .arena_bytes = arena, .call_timeout_ms = o->call_timeout_ms};
    assay_runner_device_options(r, &r->candidate_options);
    r->baseline_options = r->candidate_options;
    r->baseline_options.adapter = r->paths[1];
    r->context.baseline_name = o->baseline_path != NULL ? o->baseline_name : NULL;
    r->context.lanes = r->lanes;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned lanes = o->threads != 0 ? o->threads : processors > 0 ? (unsigned)processors : 1;
    const unsigned most = r->context.device != NULL ? ASSAY_DEVICE_LANES : ASSAY_MAX_LANES;
    r->context.lane_count = lanes > most ? most : lanes;
    if (assay_runner_lane(r, 0, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    const assay_worker_info *const candidate = assay_worker_get_info(r->lanes[0].candidate);
    r->context.candidate_path = r->paths[0];
    r->context.candidate_memory = candidate->memory;
    r->context.candidate_external = candidate->external;
    const struct {
        assay_worker *worker;
        const char *name;
        const char **lineage;
    } sides[] = {{r->lanes[0].candidate, o->impl_name, &r->context.lineage},
                 {r->lanes[0].baseline, o->baseline_name, &r->context.baseline_lineage}};
    for (size_t i = 0; i < 2; i++) {
        *sides[i].lineage = "";
        if (sides[i].worker == NULL) {
            continue;
        }
        const assay_worker_info *info = assay_worker_get_info(sides[i].worker);
        if (!assay_worker_offers(sides[i].worker, o->op, false)) {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: the adapter does not offer operator %s",
                              sides[i].name, o->op);
        }
        (void)snprintf(r->lineages[i], sizeof r->lineages[i], "%s", info->lineage); /* outlives restarts */
        *sides[i].lineage = r->lineages[i];
    }
    return assay_runner_device_fits(r, o, error);
}

assay_code assay_runner_open(assay_runner *r, const assay_certify_options *o, bool needs_clean,
                             assay_error *error) {
    char self[4096];
    memset(r, 0, sizeof *r);
    r->context.tier = o->tier;
    r->context.seed = o->seed;
    r->context.lineage = r->context.baseline_lineage = "";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (open_contract(r, o, error) != ASSAY_CODE_OK ||
        assay_runner_device_open(r, o->device, error) != ASSAY_CODE_OK ||
        assay_run_files_add(r, "candidate", o->impl_path, error) != ASSAY_CODE_OK ||
        (o->baseline_path != NULL &&
         assay_run_files_add(r, "baseline", o->baseline_path, error) != ASSAY_CODE_OK) ||
        assay_run_files_add(r, "assay", self, error) != ASSAY_CODE_OK ||
        open_workers(r, o, error) != ASSAY_CODE_OK ||
        assay_provenance_collect(o->impl_path, o->source_dir, &r->provenance, error) != ASSAY_CODE_OK ||
        (needs_clean && check_trees(r, error) != ASSAY_CODE_OK)) {
        assay_code code = error->code;
        assay_runner_close(r);
        return code;
    }
    r->context.same_binary = o->baseline_path != NULL && strcmp(r->sha256[0], r->sha256[1]) == 0;
    r->context.recorder = assay_recorder_new();
    assay_provenance_set(r->provenance, "candidate.lineage", r->context.lineage);
    assay_provenance_set(r->provenance, "baseline.lineage", r->context.baseline_lineage);
    assay_provenance_set(r->provenance, "assay.simd", assay_simd_name());
    assay_runner_device_note(r);
    return ASSAY_CODE_OK;
}

void assay_runner_close(assay_runner *r) {
    for (unsigned i = 0; i < ASSAY_MAX_LANES; i++) {
        if (r->lanes[i].candidate != NULL) {
            assay_worker_close(r->lanes[i].candidate);
        }
        if (r->lanes[i].baseline != NULL) {
            assay_worker_close(r->lanes[i].baseline);
        }
        r->lanes[i] = (assay_lane){0};
    }
    assay_runner_device_close(r);
    assay_recorder_free(r->context.recorder);
    r->context.recorder = NULL;
    assay_provenance_free(r->provenance);
    r->provenance = NULL;
    assay_contract_free(r->contract);
    r->contract = NULL;
}

static size_t add_knobs(const assay_worker *worker, const char *role, assay_knob_record *knobs, size_t used,
                        size_t limit) {
    size_t index = 0;
    const json_t *knob = NULL;
    if (worker == NULL) {
        return used;
    }
    json_array_foreach(assay_worker_get_info(worker)->knobs, index, knob) {
        if (used < limit) {
            knobs[used++] =
                (assay_knob_record){.role = role,
                                    .name = json_string_value(json_object_get(knob, "name")),
                                    .requested = json_string_value(json_object_get(knob, "requested")),
                                    .effective = json_string_value(json_object_get(knob, "effective"))};
        }
    }
    return used;
}

void assay_runner_record(const assay_runner *r, const assay_certify_options *o, assay_run_record *record,
                         assay_knob_record *knobs, const assay_pair **pairs) {
    *record = (assay_run_record){.kind = o->kind,
                                 .operator_name = o->op,
                                 .implementation = o->impl_name,
                                 .baseline = o->baseline_path != NULL ? o->baseline_name : "",
                                 .device = o->device,
                                 .tier = assay_tier_text(o->tier),
                                 .command = o->command,
                                 .seed = o->seed,
                                 .contract_sha256 = r->contract->sha256,
                                 .contract_text = r->contract->text,
                                 .contract_version = r->contract->version,
                                 .binaries = r->binaries,
                                 .binary_count = r->binary_count,
                                 .knobs = knobs};
    *pairs = assay_provenance_pairs(r->provenance, &record->provenance_count);
    record->provenance = *pairs;
    record->knob_count = add_knobs(r->lanes[0].candidate, "candidate", knobs, 0, ASSAY_RUN_KNOBS);
    record->knob_count =
        add_knobs(r->lanes[0].baseline, "baseline", knobs, record->knob_count, ASSAY_RUN_KNOBS);
}

/* ---- plan and filters ---- */

static bool suite_listed(const char *list, const char *suite) {
    size_t n = strlen(suite);
    for (const char *p = list; p != NULL && *p != '\0';
         p = strchr(p, ',') != NULL ? strchr(p, ',') + 1 : NULL) {
        if (strncmp(p, suite, n) == 0 && (p[n] == ',' || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool selected(const assay_certify_options *o, const assay_check *check) {
    return (o->suite_filter == NULL || suite_listed(o->suite_filter, check->suite->name)) &&
           (o->check_filter == NULL || fnmatch(o->check_filter, check->name, 0) == 0);
}

static char *repro_line(const assay_certify_options *o, const assay_check *check) {
    char *line = NULL;
    bool baseline = o->baseline_path != NULL;
    char *impl = assay_text_shell(o->impl_name);
    char *other = assay_text_shell(baseline ? o->baseline_name : "");
    if (asprintf(&line, "assay run --op %s --impl %s%s%s --tier %s --seed %llu --check '%s'", o->op, impl,
                 baseline ? " --baseline " : "", baseline ? other : "", assay_tier_text(o->tier),
                 (unsigned long long)o->seed, check->name) < 0) {
        abort();
    }
    free(impl);
    free(other);
    return line;
}

/* A required promise is owed by this run unless the suites planned nothing but optional checks for it: a
 * candidate that claims no lineage owes nobody its bits, and can still be certified for the rest. */
static bool promise_owed(const assay_promise *promise, const assay_plan *plan) {
    size_t planned = 0;
    size_t required = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->items[i].promise, promise->name) == 0) {
            planned++;
            required += plan->items[i].required;
        }
    }
    return promise->required && (planned == 0 || required > 0);
}

static assay_code begin_run(assay_runner *r, assay_store *store, const assay_certify_options *o,
                            const assay_plan *plan, assay_certify_report *report, assay_error *error) {
    assay_run_record record;
    assay_knob_record knobs[ASSAY_RUN_KNOBS];
    const assay_pair *pairs = NULL;
    size_t promise_count = 0;
    assay_plan_record *rows = calloc(plan->count + 1, sizeof *rows);
    assay_promise_record *promises = calloc(r->contract->promise_count + 1, sizeof *promises);
    if (rows == NULL || promises == NULL) {
        abort();
    }
    for (size_t i = 0; i < r->contract->promise_count; i++) {
        const assay_promise *p = &r->contract->promises[i];
        if (p->cuda_only && r->context.candidate_memory != ASSAY_MEMORY_CUDA) {
            continue; /* nobody owes it here */
        }
        promises[promise_count++] = (assay_promise_record){.name = p->name,
                                                           .suite = p->suite,
                                                           .relation = p->relation,
                                                           .text = p->text,
                                                           .required = promise_owed(p, plan)};
    }
    for (size_t i = 0; i < plan->count; i++) {
        const assay_check *c = &plan->items[i];
        rows[i] = (assay_plan_record){.suite = c->suite->name,
                                      .name = c->name,
                                      .promise = c->promise,
                                      .required = c->required,
                                      .strength = c->strength,
                                      .case_json = assay_case_json(&r->context, c),
                                      .repro = repro_line(o, c)};
    }
    assay_runner_record(r, o, &record, knobs, &pairs);
    record.promises = promises;
    record.promise_count = promise_count;
    record.plan = rows;
    record.plan_count = plan->count;
    assay_code code = assay_store_run_begin(store, &record, &report->run_id, report->uuid, error);
    for (size_t i = 0; i < plan->count; i++) {
        free((void *)(uintptr_t)rows[i].case_json);
        free((void *)(uintptr_t)rows[i].repro);
    }
    free(rows);
    free(promises);
    return code;
}

/* ---- running ---- */

static int severity(assay_outcome outcome) {
    static const int order[ASSAY_OUTCOME_COUNT] = {
        [ASSAY_OUTCOME_NOT_RUN] = 0,     [ASSAY_OUTCOME_PASS] = 1,       [ASSAY_OUTCOME_UNAVAILABLE] = 2,
        [ASSAY_OUTCOME_UNSUPPORTED] = 3, [ASSAY_OUTCOME_MISTRUSTED] = 4, [ASSAY_OUTCOME_ERROR] = 5,
        [ASSAY_OUTCOME_FAIL] = 6};
    return order[outcome];
}

static void tally(assay_certify_report *report, const assay_check *check, assay_outcome outcome) {
    report->checks++;
    report->outcomes[outcome]++;
    for (size_t i = 0; i < assay_suite_count; i++) {
        if (assay_suites[i] == check->suite && severity(outcome) > severity(report->suite[i])) {
            report->suite[i] = outcome;
        }
    }
}

static assay_code run_check(assay_runner *r, assay_store *store, const assay_certify_options *o,
                            const assay_check *check, int64_t seq, assay_certify_report *report,
                            assay_error *error) {
    assay_result result = {.outcome = ASSAY_OUTCOME_NOT_RUN};
    assay_recorder_clear(r->context.recorder);
    if (assay_store_check_begin(store, report->run_id, seq, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    uint64_t start = assay_clock_ns();
    check->suite->run(&r->context, check, &result);
    uint64_t duration = assay_clock_ns() - start;
    if (result.outcome == ASSAY_OUTCOME_NOT_RUN) {
        assay_result_set(&result, ASSAY_OUTCOME_ERROR, "the suite set no outcome");
    }
    if (result.outcome == ASSAY_OUTCOME_PASS && result.elements == 0) {
        assay_result_set(&result, ASSAY_OUTCOME_MISTRUSTED, "judged no element");
    }
    if (strcmp(assay_contract_promise(r->contract, check->promise)->relation, "measured") == 0) {
        result.bad =
            0; /* a measured relation has no promise that an element could break; the counts are metrics */
    }
    assay_check_record record = {.outcome = result.outcome,
                                 .reason = result.reason,
                                 .elements = result.elements,
                                 .bad = result.bad,
                                 .duration_ns = duration};
    assay_recorder_fill(r->context.recorder, &record);
    if (assay_store_check_end(store, report->run_id, seq, &record, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    tally(report, check, result.outcome);
    if (o->progress != NULL && o->progress->trouble != NULL && result.outcome != ASSAY_OUTCOME_PASS) {
        char *line = repro_line(o, check);
        o->progress->trouble(o->progress->context, check->name, result.outcome, result.reason, line);
        free(line);
    }
    return ASSAY_CODE_OK;
}

/* Outcomes that an interrupted run already has; false when seq has none. */
static bool finished_before(assay_store *store, int64_t run_id, int64_t seq, assay_outcome *outcome) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    if (sqlite3_prepare_v2(assay_store_handle(store),
                           "SELECT outcome FROM check_outcome WHERE run_id = ?1 AND seq = ?2", -1, &statement,
                           NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(statement, 1, run_id);
        (void)sqlite3_bind_int64(statement, 2, seq);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            found = assay_outcome_parse((const char *)sqlite3_column_text(statement, 0), outcome);
        }
    }
    (void)sqlite3_finalize(statement);
    return found;
}

static assay_code run_checks(assay_runner *r, assay_store *store, const assay_certify_options *o,
                             const assay_plan *plan, assay_certify_report *report, assay_error *error) {
    const assay_progress *progress = o->progress;
    for (size_t i = 0; i < plan->count; i++) {
        const assay_check *check = &plan->items[i];
        int64_t seq = (int64_t)i + 1;
        assay_outcome before;
        if (!selected(o, check)) {
            continue;
        }
        if (o->resume_run != 0 && finished_before(store, report->run_id, seq, &before)) {
            tally(report, check, before);
            continue;
        }
        if (progress != NULL && progress->step != NULL) {
            progress->step(progress->context, i, plan->count, check->name);
        }
        if (run_check(r, store, o, check, seq, report, error) != ASSAY_CODE_OK) {
            return error->code;
        }
    }
    if (progress != NULL && progress->step != NULL) {
        progress->step(progress->context, plan->count, plan->count, NULL);
    }
    return ASSAY_CODE_OK;
}

/* A resumed run must be the same run: operator, binaries, contract, tier, seed and plan. */
static assay_code check_resume(assay_runner *r, assay_store *store, const assay_certify_options *o,
                               const assay_plan *plan, assay_certify_report *report, assay_error *error) {
    static const char sql[] =
        "SELECT r.uuid, r.kind = ?2 AND r.operator = ?3 AND r.tier = ?4 AND r.seed = ?5 AND c.sha256 = ?6"
        " AND (SELECT count(*) FROM check_plan p WHERE p.run_id = r.id) = ?7,"
        " EXISTS(SELECT 1 FROM run_result f WHERE f.run_id = r.id)"
        " FROM run r JOIN contract c ON c.id = r.contract_id WHERE r.id = ?1";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &s, NULL) != SQLITE_OK) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "resume: %s",
                          sqlite3_errmsg(assay_store_handle(store)));
    }
    (void)sqlite3_bind_int64(s, 1, o->resume_run);
    (void)sqlite3_bind_text(s, 2, o->kind, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 3, o->op, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 4, assay_tier_text(o->tier), -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 5, (sqlite3_int64)o->seed);
    (void)sqlite3_bind_text(s, 6, r->contract->sha256, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 7, (sqlite3_int64)plan->count);
    assay_code code = ASSAY_CODE_OK;
    if (sqlite3_step(s) != SQLITE_ROW) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "--resume %lld: no such run", (long long)o->resume_run);
    } else if (sqlite3_column_int(s, 2) != 0) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "--resume %lld: the run is already finished",
                          (long long)o->resume_run);
    } else if (sqlite3_column_int(s, 1) != 1) {
        code = assay_fail(error, ASSAY_CODE_USAGE,
                          "--resume %lld: that run has another operator, contract, tier or seed",
                          (long long)o->resume_run);
    } else if (assay_run_files_resumable(r, store, o->resume_run, error) != ASSAY_CODE_OK) {
        code = error->code;
    } else {
        report->run_id = o->resume_run;
        (void)snprintf(report->uuid, sizeof report->uuid, "%s", (const char *)sqlite3_column_text(s, 0));
    }
    (void)sqlite3_finalize(s);
    return code;
}

assay_code assay_certify(assay_store *store, const assay_certify_options *o, assay_certify_report *report,
                         assay_error *error) {
    assay_runner *r = malloc(sizeof *r);
    assay_plan plan = {0};
    memset(report, 0, sizeof *report);
    if (r == NULL) {
        abort();
    }
    bool certifies = strcmp(o->kind, "certify") == 0;
    assay_code code = assay_runner_open(r, o, certifies && !o->allow_dirty, error);
    if (code != ASSAY_CODE_OK) {
        free(r);
        return code;
    }
    size_t matching = 0;
    for (size_t i = 0; i < assay_suite_count; i++) {
        assay_suites[i]->plan(&r->context, &plan);
    }
    for (size_t i = 0; i < plan.count; i++) {
        matching += selected(o, &plan.items[i]);
    }
    if (matching == 0) {
        code = assay_fail(error, ASSAY_CODE_USAGE,
                          "the filter matches none of the %zu checks (assay list --checks shows them)",
                          plan.count);
    }
    if (code == ASSAY_CODE_OK && store == NULL) {
        code = o->open_store(o->open_context, &store, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = o->resume_run != 0 ? check_resume(r, store, o, &plan, report, error)
                                  : begin_run(r, store, o, &plan, report, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = run_checks(r, store, o, &plan, report, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = assay_run_files_note(r, store, report->run_id, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = assay_store_run_end(store, report->run_id, &report->verdict, report->reason,
                                   sizeof report->reason, error);
    }
    free(plan.items);
    assay_runner_close(r);
    free(r);
    return code;
}
