/* cmd_certify.c - `assay certify` and `assay run`: one candidate through the suites. */
#include "cli.h"

#include "report.h"
#include "report_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON_OPTIONS                                                                                       \
    {"op", "NAME", "operator whose contract is judged", 0, true},                                            \
        {"impl", "NAME|FILE", "the candidate: a built-in name, a shared library, or a program", 0, true},    \
        {"baseline", "NAME|FILE", "the implementation it is compared with", 0, false},                       \
        {"device", "cpu|cuda:N", "where the candidate runs (default cpu)", 0, false},                        \
        {"tier", "quick|default|full", "how much runs (default default)", 0, false},                         \
        {"db", "FILE", "evidence database (default assay.db)", 0, false},                                    \
        {"report", "DIR", "write reports, figures and witnesses into DIR", 0, false},                        \
        {"seed", "N", "seed of the inputs (default 1)", 0, false},                                           \
        {"threads", "N", "parallel lanes, one worker each (default: processors)", 0, false},                 \
        {"timeout-ms", "N", "deadline of one call (default 30000)", 0, false},                               \
        {"source", "DIR", "the candidate's source tree (default: the repository around it)", 0, false},      \
        {"resume", "RUN", "continue an interrupted run", 0, false},                                          \
        {"json", NULL, "print verdict and promises as JSON", 0, false},                                      \
        {"porcelain", NULL, "print promises as tab-separated lines, for programs", 0, false}, {              \
        "quiet", NULL, "no progress, only the verdict", 'q', false                                           \
    }

static const cli_option certify_options[] = {
    COMMON_OPTIONS,
    {"allow-dirty", NULL, "run with dirty or unknown trees; the verdict can only be incomplete", 0, false},
    {0}};

static const cli_option run_options[] = {
    COMMON_OPTIONS,
    {"suite", "LIST", "only these suites (comma list)", 0, false},
    {"check", "PATTERN", "only checks whose name matches this shell pattern", 0, false},
    {0}};

static assay_code fill(const cli_args *args, assay_certify_options *o, assay_error *error) {
    uint64_t number = 0;
    const char *tier = cli_get(args, "tier", "default");
    o->op = cli_get(args, "op", NULL);
    o->impl_name = cli_get(args, "impl", NULL);
    o->baseline_name = cli_get(args, "baseline", NULL);
    o->device = cli_get(args, "device", "cpu");
    o->source_dir = cli_get(args, "source", NULL);
    o->command = args->line;
    if (!assay_tier_parse(tier, &o->tier)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--tier %s: unknown tier (quick, default, full)", tier);
    }
    if (assay_operator_find(o->op) == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)",
                          o->op);
    }
    if (cli_check_device(args, error) != ASSAY_CODE_OK || cli_check_source(args, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (cli_flag(args, "json") && cli_flag(args, "porcelain")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--json and --porcelain exclude each other");
    }
    if (cli_get_number(args, "seed", 0, INT64_MAX, 1, &o->seed, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "threads", 1, 64, 0, &number, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    o->threads = (unsigned)number;
    if (cli_get_number(args, "timeout-ms", 10, 86400000, 0, &number, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    o->call_timeout_ms = (unsigned)number;
    return ASSAY_CODE_OK;
}

/* Calls `row` for each promise of the run, in the contract's order. */
static void each_promise(assay_store *store, int64_t run_id, void (*row)(sqlite3_stmt *s, void *user),
                         void *user) {
    static const char sql[] =
        "SELECT p.name, p.state, p.required, p.strength, p.reason, sum(c.outcome = 'pass'), count(c.seq), "
        "sum(c.elements) "
        "FROM promises p LEFT JOIN checks c ON c.run_id = p.run_id AND c.promise = p.name "
        "WHERE p.run_id = ?1 GROUP BY p.name ORDER BY p.ordinal";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(assay_store_handle(store), sql, -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, run_id);
        while (sqlite3_step(s) == SQLITE_ROW) {
            row(s, user);
        }
    }
    (void)sqlite3_finalize(s);
}

static void json_row(sqlite3_stmt *s, void *user) {
    (void)json_array_append_new(
        user,
        json_pack("{s:s, s:s, s:b, s:s, s:s, s:I, s:I, s:I}", "name", sqlite3_column_text(s, 0), "state",
                  sqlite3_column_text(s, 1), "required", sqlite3_column_int(s, 2), "strength",
                  sqlite3_column_text(s, 3), "reason", sqlite3_column_text(s, 4), "passed",
                  (json_int_t)sqlite3_column_int64(s, 5), "checks", (json_int_t)sqlite3_column_int64(s, 6),
                  "elements", (json_int_t)sqlite3_column_int64(s, 7)));
}

static void porcelain_row(sqlite3_stmt *s, void *user) {
    (void)user;
    (void)printf("promise\t%s\t%s\t%s\t%s\n", (const char *)sqlite3_column_text(s, 0),
                 (const char *)sqlite3_column_text(s, 1),
                 sqlite3_column_int(s, 2) != 0 ? "required" : "optional",
                 (const char *)sqlite3_column_text(s, 4));
}

static void table_row(sqlite3_stmt *s, void *user) {
    char checks[48];
    (void)user;
    (void)snprintf(checks, sizeof checks, "%lld/%lld", (long long)sqlite3_column_int64(s, 5),
                   (long long)sqlite3_column_int64(s, 6));
    (void)printf("%-20s %-13s %-8s %12lld  %s%s\n", (const char *)sqlite3_column_text(s, 0),
                 (const char *)sqlite3_column_text(s, 1), checks, (long long)sqlite3_column_int64(s, 7),
                 sqlite3_column_int(s, 2) == 0 ? "(not required) " : "",
                 (const char *)sqlite3_column_text(s, 4));
}

static void print_json(const assay_certify_options *o, assay_store *store, const assay_certify_report *r) {
    json_t *outcomes = json_object();
    for (int i = 0; i < ASSAY_OUTCOME_COUNT; i++) {
        (void)json_object_set_new(outcomes, assay_outcome_text((assay_outcome)i),
                                  json_integer((json_int_t)r->outcomes[i]));
    }
    json_t *promises = json_array();
    each_promise(store, r->run_id, json_row, promises);
    json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "verdict",
                             assay_verdict_text(r->verdict), "reason", r->reason, "operator", o->op,
                             "implementation", o->impl_name, "run", r->uuid, "run_id", (json_int_t)r->run_id,
                             "checks", (json_int_t)r->checks, "outcomes", outcomes, "promises", promises);
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

static void print_table(const assay_certify_options *o, assay_store *store, const assay_certify_report *r) {
    (void)printf("%-20s %-13s %-8s %12s  %s\n", "promise", "state", "checks", "judged", "reason");
    each_promise(store, r->run_id, table_row, NULL);
    if (r->reason[0] != '\0') {
        (void)printf("%s\n", r->reason);
    }
    if (strcmp(o->kind, "run") == 0) { /* the verdict speaks of all checks, the user asked about some */
        (void)printf("checks run: %llu, passed: %llu\n",
                     (unsigned long long)(r->checks - r->outcomes[ASSAY_OUTCOME_NOT_RUN]),
                     (unsigned long long)r->outcomes[ASSAY_OUTCOME_PASS]);
    }
    (void)printf("VERDICT %s  op=%s impl=%s run=%s\n", assay_verdict_text(r->verdict), o->op, o->impl_name,
                 r->uuid);
}

static assay_code exit_code(assay_verdict verdict) {
    return verdict == ASSAY_VERDICT_CERTIFIED ? ASSAY_CODE_OK
           : verdict == ASSAY_VERDICT_REFUSED ? ASSAY_CODE_REFUSED
                                              : ASSAY_CODE_INCOMPLETE;
}

/* What is opened only when nothing is left that could refuse the run. */
typedef struct outputs {
    const cli_args *args;
    assay_store *store;
    bool made_directory;
} outputs;

static assay_code open_outputs(void *context, assay_store **store, assay_error *error) {
    outputs *o = context;
    const char *directory = cli_get(o->args, "report", NULL);
    struct stat st;
    o->made_directory = directory != NULL && stat(directory, &st) != 0;
    if (directory != NULL && report_directory_make(directory, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (directory != NULL && access(directory, W_OK | X_OK) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--report %s: %s", directory, strerror(errno));
    }
    assay_code code = cli_open_store(o->args, ASSAY_STORE_WRITE, &o->store, error);
    *store = o->store;
    return code;
}

static void print_result(const cli_args *args, const assay_certify_options *o, assay_store *store,
                         const assay_certify_report *report) {
    if (cli_flag(args, "json")) {
        print_json(o, store, report);
    } else if (cli_flag(args, "porcelain")) {
        each_promise(store, report->run_id, porcelain_row, NULL);
        (void)printf("verdict\t%s\t%s\n", assay_verdict_text(report->verdict), report->reason);
    } else {
        print_table(o, store, report);
    }
}

static assay_code execute(const cli_args *args, const assay_certify_options *o, assay_error *error) {
    outputs out = {.args = args};
    assay_certify_report report;
    cli_progress progress;
    const char *directory = cli_get(args, "report", NULL);
    cli_progress_start(&progress, cli_flag(args, "quiet"));
    assay_progress hooks = cli_progress_hooks(&progress);
    assay_certify_options full = *o;
    full.progress = &hooks;
    full.open_store = open_outputs;
    full.open_context = &out;
    assay_code code = assay_certify(NULL, &full, &report, error);
    cli_progress_end(&progress);
    if (code == ASSAY_CODE_OK) {
        print_result(args, o, out.store, &report);
        code = exit_code(report.verdict);
        /* The verdict stands in the database whatever becomes of the report. */
        if (directory != NULL && assay_report_directory(assay_store_handle(out.store), report.run_id,
                                                        directory, error) != ASSAY_CODE_OK) {
            code = error->code;
        }
    } else if (out.made_directory) {
        (void)rmdir(directory); /* only when it is still empty */
    }
    assay_store_close(out.store);
    return code;
}

static assay_code certify_with(const cli_args *args, assay_certify_options *o, assay_error *error) {
    char *impl = NULL;
    char *baseline = NULL;
    assay_code code = fill(args, o, error);
    if (code == ASSAY_CODE_OK) {
        code = cli_resolve_impl("--impl", o->impl_name, &impl, error);
    }
    if (code == ASSAY_CODE_OK && o->baseline_name != NULL) {
        code = cli_resolve_impl("--baseline", o->baseline_name, &baseline, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = cli_find_resumed(args, &o->resume_run, error);
    }
    if (code == ASSAY_CODE_OK) {
        if (!cli_flag(args, "quiet")) {
            (void)fprintf(stderr, "assay: %s %s, candidate %s%s%s, tier %s\n", o->kind, o->op, o->impl_name,
                          o->baseline_name != NULL ? ", baseline " : "",
                          o->baseline_name != NULL ? o->baseline_name : "", assay_tier_text(o->tier));
        }
        o->impl_path = impl;
        o->baseline_path = baseline;
        code = execute(args, o, error);
    }
    free(impl);
    free(baseline);
    return code;
}

static assay_code run_certify(const cli_args *args, assay_error *error) {
    assay_certify_options o = {.kind = "certify", .allow_dirty = cli_flag(args, "allow-dirty")};
    return certify_with(args, &o, error);
}

static assay_code run_run(const cli_args *args, assay_error *error) {
    assay_certify_options o = {.kind = "run",
                               .suite_filter = cli_get(args, "suite", NULL),
                               .check_filter = cli_get(args, "check", NULL)};
    for (const char *p = o.suite_filter; p != NULL && *p != '\0';) {
        size_t n = strcspn(p, ",");
        bool known = false;
        for (size_t i = 0; i < assay_suite_count; i++) {
            known |= strlen(assay_suites[i]->name) == n && strncmp(assay_suites[i]->name, p, n) == 0;
        }
        if (!known) {
            return assay_fail(error, ASSAY_CODE_USAGE, "--suite %.*s: unknown suite (assay list shows them)",
                              (int)n, p);
        }
        p += p[n] == ',' ? n + 1 : n;
    }
    return certify_with(args, &o, error);
}

const cli_command cli_certify = {
    .name = "certify",
    .operands = "",
    .summary = "judge a candidate promise by promise and record the evidence",
    .detail = "Runs every suite that the operator's contract asks for. The last line is\n"
              "VERDICT certified|refused|incomplete  op=... impl=... run=...\n"
              "Exit code 0 certified, 1 refused, 2 usage or bad input, 3 incomplete, 4 internal error.",
    .options = certify_options,
    .run = run_certify};

const cli_command cli_run = {
    .name = "run",
    .operands = "",
    .summary = "run some suites or checks (never certifies); reproduces a failing check",
    .detail = "Exit code 1 when a promise is broken, else 3: what a run leaves out is not verified.",
    .options = run_options,
    .run = run_run};
