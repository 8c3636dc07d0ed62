/* cmd_selftest.c - `assay selftest`: every broken implementation must be refused by the suite meant for it.
 */
#include "cli.h"

#include "selftest.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {
    {"op", "NAME", "operator (default timestep_sinusoid_h3)", 0, false},
    {"device", "cpu|cuda:N", "which subjects, and where they run (default cpu)", 0, false},
    {"only", "PATTERN", "only subjects whose name matches this shell pattern", 0, false},
    {"directory", "DIR", "where the broken implementations are (default: beside the built-in ones)", 0,
     false},
    {"repetitions", "N", "runs of each correct variant (default 1)", 0, false},
    {"threads", "N", "parallel lanes (default: processors)", 0, false},
    {"db", "FILE", "evidence database (default assay.db)", 0, false},
    {"subjects-db", "FILE", "database for the runs of single subjects (default: the same)", 0, false},
    {"json", NULL, "print the matrix as JSON", 0, false},
    {"quiet", NULL, "no progress", 'q', false},
    {0}};

typedef struct printer {
    cli_progress progress;
    bool json, has_head;
} printer;

/* One letter per suite: what the suite said about the subject. */
static char letter(assay_outcome outcome) {
    static const char letters[ASSAY_OUTCOME_COUNT] = {
        [ASSAY_OUTCOME_NOT_RUN] = '-',   [ASSAY_OUTCOME_PASS] = '.',        [ASSAY_OUTCOME_FAIL] = 'F',
        [ASSAY_OUTCOME_ERROR] = 'E',     [ASSAY_OUTCOME_UNAVAILABLE] = '?', [ASSAY_OUTCOME_UNSUPPORTED] = 'U',
        [ASSAY_OUTCOME_MISTRUSTED] = 'M'};
    return letters[outcome];
}

static void on_step(void *context, uint64_t done, uint64_t total, const char *name) {
    printer *p = context;
    cli_progress_show(&p->progress, done, total, name);
}

static void print_head(void) {
    (void)printf("%-34s %-10s ", "subject", "class");
    for (size_t i = 0; i < assay_suite_count; i++) {
        (void)printf(" %.4s", assay_suites[i]->name);
    }
    (void)puts("  result");
}

static void on_row(void *context, const assay_selftest_subject *s) {
    printer *p = context;
    if (p->json) {
        return;
    }
    cli_progress_end(&p->progress);
    if (!p->has_head) {
        print_head();
        p->has_head = true;
    }
    (void)printf("%-34s %-10s ", s->name, s->class_name);
    for (size_t i = 0; i < assay_suite_count; i++) {
        (void)printf(" %4c", letter(s->outcome[i]));
    }
    (void)printf("  %s%s%s\n", s->held ? "ok" : "NOT AS EXPECTED", s->held ? "" : ": ",
                 s->held ? "" : s->detail);
    (void)fflush(stdout);
}

static void print_json(const assay_selftest_report *r) {
    json_t *subjects = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const assay_selftest_subject *s = &r->subjects[i];
        json_t *suites = json_object();
        for (size_t k = 0; k < assay_suite_count; k++) {
            (void)json_object_set_new(suites, assay_suites[k]->name,
                                      json_string(assay_outcome_text(s->outcome[k])));
        }
        (void)json_array_append_new(subjects, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:o}", "name",
                                                        s->name, "class", s->class_name, "suite", s->suite,
                                                        "expected", s->expected, "source", s->source, "held",
                                                        (int)s->held, "detail", s->detail, "suites", suites));
    }
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "verdict", assay_verdict_text(r->verdict),
                  "run", r->uuid, "caught", (json_int_t)r->caught, "to_catch", (json_int_t)r->to_catch,
                  "clean", (json_int_t)r->clean, "variants", (json_int_t)r->variants, "false_alarms",
                  (json_int_t)r->false_alarms, "subjects", subjects);
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

static void print_summary(const assay_selftest_report *r) {
    (void)puts("\n. pass  F fail  E error  M mistrusted  U unsupported  ? unavailable  - not run");
    for (size_t i = 0; i < r->class_count; i++) {
        (void)printf("%-10s %zu of %zu as expected\n", r->classes[i].name, r->classes[i].held,
                     r->classes[i].total);
    }
    (void)printf("SELFTEST caught=%zu/%zu clean=%zu/%zu false_alarms=%zu run=%s\n", r->caught, r->to_catch,
                 r->clean, r->variants, r->false_alarms, r->uuid);
}

/* The folder mutants/ (on a GPU: mutants/cuda/) of the first implementation directory that has one. */
static const char *find_directory(bool host, char *buffer, size_t bytes) {
    struct stat st;
    for (const char *const *d = cli_impl_directories(); *d != NULL; d++) {
        (void)snprintf(buffer, bytes, "%s/%s", *d, host ? "mutants" : "mutants/cuda");
        if (stat(buffer, &st) == 0 && S_ISDIR(st.st_mode)) {
            return buffer;
        }
    }
    return NULL;
}

static assay_code run(const cli_args *args, assay_error *error) {
    printer p = {.json = cli_flag(args, "json")};
    assay_selftest_report report = {0};
    assay_store *store = NULL;
    const char *subjects = cli_get(args, "subjects-db", NULL);
    char folder[4096];
    uint64_t repetitions = 1;
    uint64_t threads = 0;
    bool existed = access(cli_get(args, "db", "assay.db"), F_OK) == 0;
    assay_selftest_options o = {.op = cli_get(args, "op", "timestep_sinusoid_h3"),
                                .device = cli_get(args, "device", "cpu"),
                                .filter = cli_get(args, "only", NULL),
                                .directory = cli_get(args, "directory", NULL),
                                .command = args->line,
                                .step = on_step,
                                .row = on_row,
                                .context = &p};
    if (cli_check_device(args, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (o.directory == NULL) {
        o.directory = find_directory(strcmp(o.device, "cpu") == 0, folder, sizeof folder);
    }
    if (cli_get_number(args, "repetitions", 1, 1000, 1, &repetitions, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "threads", 1, 64, 0, &threads, error) != ASSAY_CODE_OK ||
        cli_open_store(args, ASSAY_STORE_WRITE, &store, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (subjects != NULL &&
        assay_store_open(subjects, ASSAY_STORE_WRITE, &o.subjects, error) != ASSAY_CODE_OK) {
        cli_close_store(args, store, existed);
        return error->code;
    }
    o.repetitions = (unsigned)repetitions;
    o.threads = (unsigned)threads;
    cli_progress_start(&p.progress, cli_flag(args, "quiet"));
    p.progress.unit = "subjects";
    assay_code code = assay_selftest(store, &o, &report, error);
    cli_progress_end(&p.progress);
    if (code == ASSAY_CODE_OK || code == ASSAY_CODE_REFUSED) {
        if (p.json) {
            print_json(&report);
        } else {
            print_summary(&report);
        }
    }
    assay_selftest_report_free(&report);
    if (o.subjects != NULL) {
        assay_store_close(o.subjects);
    }
    cli_close_store(args, store, existed);
    return code;
}

const cli_command cli_selftest = {
    .name = "selftest",
    .operands = "",
    .summary = "show that the harness can fail: judge a library of broken implementations",
    .detail = "Every mutant, null and dishonest candidate must be refused by the suite meant for it, every "
              "correct variant must pass\n"
              "all suites. Prints the matrix subject x suite and stores it. Exit code 0 when all ended as "
              "expected, else 1.",
    .options = options,
    .run = run};
