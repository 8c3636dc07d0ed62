/* cmd_identify.c - `assay identify ADAPTER`: the lineage whose bits an implementation has. */
#include "cli.h"

#include "identify.h"
#include "operator.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"op", "NAME", "operator (default: the first)", 0, false},
    {"device", "cpu|cuda:N", "where the candidate runs (default cpu)", 0, false},
    {"lineages", "DIR", "adapters to compare with (default: the lineages beside the implementations)", 0,
     false},
    {"all", NULL, "list every lineage, not only the nearest", 0, false},
    {"timeout-ms", "N", "deadline of one call (default 30000)", 0, false},
    {"json", NULL, "print the result as JSON", 0, false},
    {0}};

enum { MAX_LINEAGES = 256, SHOWN = 5 };

typedef struct lineage_paths {
    char *items[MAX_LINEAGES];
    size_t count;
} lineage_paths;

static void scan(const char *directory, lineage_paths *paths) {
    DIR *d = opendir(directory);
    if (d == NULL) {
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL && paths->count < MAX_LINEAGES;) {
        const size_t n = strlen(e->d_name);
        if (n > 3 && strcmp(e->d_name + n - 3, ".so") == 0) {
            char *path = NULL;
            if (asprintf(&path, "%s/%s", directory, e->d_name) < 0) {
                abort();
            }
            paths->items[paths->count++] = path;
        }
    }
    (void)closedir(d);
}

/* The first folder of lineages that holds any. */
static assay_code find_lineages(const cli_args *args, lineage_paths *paths, assay_error *error) {
    const char *given = cli_get(args, "lineages", NULL);
    if (given != NULL) {
        scan(given, paths);
        return paths->count > 0
                   ? ASSAY_CODE_OK
                   : assay_fail(error, ASSAY_CODE_USAGE, "--lineages %s: no adapter (*.so) there", given);
    }
    for (const char *const *d = cli_impl_directories(); *d != NULL && paths->count == 0; d++) {
        char directory[4096];
        (void)snprintf(directory, sizeof directory, "%s/lineages", *d);
        scan(directory, paths);
    }
    return paths->count > 0 ? ASSAY_CODE_OK
                            : assay_fail(error, ASSAY_CODE_INCOMPLETE,
                                         "no lineages are installed beside the implementations (--lineages "
                                         "DIR names a folder of adapters)");
}

static json_t *row_json(const assay_identify_row *row) {
    const assay_departure *d = &row->first;
    char words[3][16];
    (void)snprintf(words[0], sizeof words[0], "0x%08x", d->input);
    (void)snprintf(words[1], sizeof words[1], "0x%08x", d->got);
    (void)snprintf(words[2], sizeof words[2], "0x%08x", d->want);
    if (row->trouble[0] != '\0') {
        return json_pack("{s:s, s:s, s:s}", "name", row->name, "text", row->text, "unavailable",
                         row->trouble);
    }
    json_t *first = row->differing == 0
                        ? json_null()
                        : json_pack("{s:s, s:I, s:I, s:s, s:s, s:s}", "probe", d->probe, "row",
                                    (json_int_t)d->row, "channel", (json_int_t)d->channel, "input", words[0],
                                    "candidate", words[1], "lineage", words[2]);
    return json_pack("{s:s, s:s, s:I, s:I, s:f, s:b, s:o}", "name", row->name, "text", row->text, "compared",
                     (json_int_t)row->compared, "differing", (json_int_t)row->differing, "mean_abs",
                     row->mean_abs, "whole", (int)row->whole, "departs", first);
}

static void print_json(const cli_args *args, const assay_identify_report *r) {
    json_t *matching = json_array();
    json_t *rows = json_array();
    for (size_t i = 0; i < r->count; i++) {
        if (i < r->matching) {
            (void)json_array_append_new(matching, json_string(r->rows[i].name));
        }
        (void)json_array_append_new(rows, row_json(&r->rows[i]));
    }
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o}", "candidate", args->positional[0], "claims",
                  r->lineage, "outputs", (json_int_t)r->outputs, "probes", (json_int_t)r->probes, "answered",
                  (json_int_t)r->answered, "identified", matching, "lineages", rows);
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

static void print_row(const assay_identify_row *row) {
    if (row->trouble[0] != '\0') {
        (void)printf("  %-24s unavailable: %s\n", row->name, row->trouble);
        return;
    }
    (void)printf("  %-24s %8.4f %% of %llu differ, mean distance %.3g  (%s)\n", row->name,
                 row->compared > 0 ? 100.0 * (double)row->differing / (double)row->compared : 0.0,
                 (unsigned long long)row->compared, row->mean_abs, row->text);
}

static void print_text(const cli_args *args, const assay_identify_report *r) {
    const size_t shown = cli_flag(args, "all") || r->count < SHOWN ? r->count : SHOWN;
    const assay_identify_row *best = &r->rows[0];
    if (r->answered < r->probes) {
        (void)printf("%zu of %zu probes are rejected by the candidate and left out\n",
                     r->probes - r->answered, r->probes);
    }
    for (size_t i = 0; i < shown; i++) {
        print_row(&r->rows[i]);
    }
    if (r->matching == 0) {
        const assay_departure *d = &best->first;
        (void)printf("departs from %s first at %s, row %llu, channel %llu: timestep 0x%08x, candidate "
                     "0x%08x, lineage 0x%08x\n",
                     best->name, d->probe, (unsigned long long)d->row, (unsigned long long)d->channel,
                     d->input, d->got, d->want);
        (void)printf("NEAREST %s  differing=%llu outputs=%llu\n", best->name,
                     (unsigned long long)best->differing, (unsigned long long)best->compared);
        return;
    }
    (void)printf("LINEAGE %s", best->name);
    for (size_t i = 1; i < r->matching; i++) {
        (void)printf(" or %s", r->rows[i].name);
    }
    (void)printf("  differing=0 outputs=%llu\n", (unsigned long long)best->compared);
}

static assay_code run(const cli_args *args, assay_error *error) {
    lineage_paths paths = {0};
    assay_identify_report report = {0};
    uint64_t timeout = 0;
    char *impl = NULL;
    if (cli_check_device(args, error) != ASSAY_CODE_OK ||
        cli_get_number(args, "timeout-ms", 10, 86400000, 0, &timeout, error) != ASSAY_CODE_OK ||
        cli_resolve_impl("ADAPTER", args->positional[0], &impl, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    assay_code code = find_lineages(args, &paths, error);
    if (code == ASSAY_CODE_OK) {
        const assay_identify_options o = {.op = cli_get(args, "op", assay_operators[0]->name),
                                          .impl_path = impl,
                                          .impl_name = args->positional[0],
                                          .device = cli_get(args, "device", "cpu"),
                                          .lineages = (const char *const *)paths.items,
                                          .lineage_count = paths.count,
                                          .call_timeout_ms = (unsigned)timeout};
        code = assay_identify(&o, &report, error);
    }
    if (code == ASSAY_CODE_OK) {
        if (cli_flag(args, "json")) {
            print_json(args, &report);
        } else {
            print_text(args, &report);
        }
        code = report.matching > 0 ? ASSAY_CODE_OK : ASSAY_CODE_REFUSED;
    }
    assay_identify_free(&report);
    for (size_t i = 0; i < paths.count; i++) {
        free(paths.items[i]);
    }
    free(impl);
    return code;
}

const cli_command cli_identify = {
    .name = "identify",
    .operands = "ADAPTER",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "name the lineage of the formula whose bits an implementation has, or the nearest",
    .detail =
        "The candidate answers eight probes (several widths and periods); each lineage of impls/lineages "
        "answers "
        "the same in a process of its own, and the words are compared. The last line is\nLINEAGE <name>  "
        "differing=0 outputs=...\nor, when none has the candidate's bits, NEAREST <name>, before it the "
        "first "
        "output that departs. A lineage that is far off is compared on the first rows of each probe only. "
        "Exit "
        "code 0 identified, 1 not, 3 the candidate could not be asked.",
    .options = options,
    .run = run};
