/* cmd_prove.c - `assay prove`: every FP32 value of the domain. */
#include "cli.h"

#include "prove.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"op", "NAME", "operator", 0, true},
    {"impl", "NAME|FILE", "the candidate", 0, true},
    {"against", "NAME|FILE|ROOT",
     "an implementation, a database with a digest tree, or a root of 64 hex digits", 0, false},
    {"accuracy", NULL, "measure every output against the FP64 golden (ulp histogram)", 0, false},
    {"device", "cpu|cuda:N", "where the candidate runs (default cpu)", 0, false},
    {"threads", "N", "parallel lanes, one worker each (default: processors)", 0, false},
    {"shard", "I/N", "only shard I of N, I from 1 to N; assay merge combines them", 0, false},
    {"segments", "N", "only the first N segments of 64 tiles (for trying out)", 0, false},
    {"resume", "RUN", "continue an interrupted run", 0, false},
    {"db", "FILE", "evidence database (default assay.db)", 0, false},
    {"source", "DIR", "the candidate's source tree", 0, false},
    {"timeout-ms", "N", "deadline of one call (default 30000)", 0, false},
    {"json", NULL, "print the result as JSON", 0, false},
    {"quiet", NULL, "no progress", 'q', false},
    {0}};

/* I/N, both plain decimal numbers. */
static assay_code parse_shard(const char *text, unsigned *shard, unsigned *shards, assay_error *error) {
    char *slash = NULL;
    char *end = NULL;
    if (text == NULL) {
        return ASSAY_CODE_OK;
    }
    unsigned long i = strtoul(text, &slash, 10);
    unsigned long n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    bool digits = strspn(text, "0123456789") == (size_t)(slash - text) && end != NULL &&
                  strspn(slash + 1, "0123456789") == strlen(slash + 1);
    if (!digits || i == 0 || i > n || n > 255) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--shard %s: need I/N with 1 <= I <= N <= 255", text);
    }
    *shard = (unsigned)i - 1;
    *shards = (unsigned)n;
    return ASSAY_CODE_OK;
}

static bool is_root(const char *text) {
    return strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}

static bool is_database(const char *path) {
    char magic[16] = {0};
    FILE *f = fopen(path, "rbe");
    bool yes = f != NULL && fread(magic, 1, sizeof magic, f) == sizeof magic &&
               memcmp(magic, "SQLite format 3", 16) == 0;
    if (f != NULL) {
        (void)fclose(f);
    }
    return yes;
}

static void print_result(const cli_args *args, const assay_prove_report *r, bool compared) {
    const char *against = cli_get(args, "against", "");
    if (cli_flag(args, "json")) {
        json_t *differing = compared ? json_integer((json_int_t)r->differing) : json_null();
        json_t *root =
            json_pack("{s:s?, s:I, s:o, s:I, s:I, s:I, s:b, s:b, s:b, s:s, s:I, s:s}", "root",
                      r->root[0] != '\0' ? r->root : NULL, "outputs", (json_int_t)r->outputs, "differing",
                      differing, "outside", (json_int_t)r->outside, "tiles", (json_int_t)r->tiles,
                      "tiles_differing", (json_int_t)r->tiles_differing, "root_differs", (int)r->root_differs,
                      "complete", (int)r->complete, "files_changed", (int)r->changed, "run", r->uuid,
                      "run_id", (json_int_t)r->run_id, "verdict", assay_verdict_text(r->verdict));
        (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(root);
        return;
    }
    if (r->failed > 0 || r->unjudged > 0) {
        (void)printf("checks failed: %llu, not judged: %llu (assay report %s shows them)\n",
                     (unsigned long long)r->failed, (unsigned long long)r->unjudged, r->uuid);
    }
    if (r->tiles_differing > 0) {
        (void)printf("%llu of %llu tiles differ from %s, the first is tile %llu\n",
                     (unsigned long long)r->tiles_differing, (unsigned long long)r->tiles, against,
                     (unsigned long long)r->first_differing_tile);
    } else if (r->root_differs) {
        (void)printf("the root is not %s\n", against);
    }
    if (r->changed) {
        (void)printf("mistrusted: a file was changed or replaced during the run\n");
    }
    if (r->worker_ns > 0) {
        (void)printf("device time: implementations %.3f s, judge %.3f s\n", (double)r->worker_ns * 1e-9,
                     (double)r->judge_ns * 1e-9);
    }
    (void)printf("ROOT %s  outputs=%llu differing=", r->root[0] != '\0' ? r->root : "none",
                 (unsigned long long)r->outputs);
    if (compared) {
        (void)printf("%llu", (unsigned long long)r->differing);
    } else {
        (void)putchar('-'); /* outputs were not compared one by one */
    }
    if (cli_flag(args, "accuracy")) {
        (void)printf(" outside=%llu", (unsigned long long)r->outside);
    }
    (void)printf(" coverage=%s run=%s\n", r->complete ? "complete" : "partial", r->uuid);
}

static assay_code fill(const cli_args *args, assay_prove_options *o, char **impl, char **baseline,
                       assay_error *error) {
    const char *against = cli_get(args, "against", NULL);
    uint64_t threads = 0;
    uint64_t timeout = 0;
    o->base = (assay_certify_options){.kind = "prove",
                                      .op = cli_get(args, "op", NULL),
                                      .impl_name = cli_get(args, "impl", NULL),
                                      .device = cli_get(args, "device", "cpu"),
                                      .source_dir = cli_get(args, "source", NULL),
                                      .command = args->line,
                                      .tier = ASSAY_TIER_FULL,
                                      .seed = 1};
    o->accuracy = cli_flag(args, "accuracy");
    if (assay_operator_find(o->base.op) == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)",
                          o->base.op);
    }
    if (cli_check_device(args, error) != ASSAY_CODE_OK || cli_check_source(args, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (parse_shard(cli_get(args, "shard", NULL), &o->shard, &o->shards, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "threads", 1, 64, 0, &threads, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "segments", 1, 1000000, 0, &o->limit_segments, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "timeout-ms", 10, 86400000, 0, &timeout, error) != ASSAY_CODE_OK ||
        cli_resolve_impl("--impl", o->base.impl_name, impl, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    o->base.threads = (unsigned)threads;
    o->base.call_timeout_ms = (unsigned)timeout;
    o->base.impl_path = *impl;
    if (against == NULL) {
        return ASSAY_CODE_OK;
    }
    if (is_root(against)) {
        o->against_root = against;
    } else if (is_database(against)) {
        o->against_database = against;
    } else if (cli_resolve_impl("--against", against, baseline, error) != ASSAY_CODE_OK) {
        return error->code;
    } else {
        o->base.baseline_path = *baseline;
        o->base.baseline_name = against;
    }
    return ASSAY_CODE_OK;
}

typedef struct database {
    const cli_args *args;
    assay_store *store;
} database;

static assay_code open_database(void *context, assay_store **store, assay_error *error) {
    database *d = context;
    assay_code code = cli_open_store(d->args, ASSAY_STORE_WRITE, &d->store, error);
    *store = d->store;
    return code;
}

static assay_code execute(const cli_args *args, assay_prove_options *o, assay_error *error) {
    database out = {.args = args};
    assay_prove_report report;
    cli_progress progress;
    if (!cli_flag(args, "quiet")) {
        (void)fprintf(stderr, "assay: prove %s, candidate %s\n", o->base.op, o->base.impl_name);
    }
    cli_progress_start(&progress, cli_flag(args, "quiet"));
    progress.unit = "G outputs";
    progress.scale = (double)ASSAY_SEGMENT_TILES * ASSAY_TILE_ROWS * 256.0 * 1e-9;
    assay_progress hooks = cli_progress_hooks(&progress);
    o->base.progress = &hooks;
    o->base.open_store = open_database;
    o->base.open_context = &out;
    assay_code code = assay_prove(NULL, o, &report, error);
    o->base.progress = NULL;
    o->base.open_context = NULL;
    cli_progress_end(&progress);
    if (code == ASSAY_CODE_OK) {
        print_result(args, &report, o->base.baseline_path != NULL);
        code = report.failed > 0                       ? ASSAY_CODE_REFUSED
               : report.unjudged > 0 || report.changed ? ASSAY_CODE_INCOMPLETE
                                                       : ASSAY_CODE_OK;
    }
    assay_store_close(out.store);
    return code;
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_prove_options o = {0};
    char *impl = NULL;
    char *baseline = NULL;
    assay_code code = fill(args, &o, &impl, &baseline, error);
    if (code == ASSAY_CODE_OK) {
        code = cli_find_resumed(args, &o.base.resume_run, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = execute(args, &o, error);
    }
    free(impl);
    free(baseline);
    return code;
}

const cli_command cli_prove = {
    .name = "prove",
    .operands = "",
    .summary = "sweep every FP32 value of the domain: digest, parity, accuracy",
    .detail = "The last line is\nROOT <64 hex>  outputs=... differing=...\n"
              "Exit code 0 when nothing differs and nothing is outside the "
              "tolerance, 1 otherwise, 3 when a segment could not be judged (then there is "
              "no root) or a file was changed meanwhile.",
    .options = options,
    .run = run};
