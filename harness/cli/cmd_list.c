/* cmd_list.c - `assay list`: operators, suites, implementations that this machine offers. */
#include "cli.h"

#include "suite.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const cli_option options[] = {
    {"checks", NULL, "list the checks of an operator instead: name, promise, required or not", 0, false},
    {"op", "NAME", "with --checks: the operator (default: the first)", 0, false},
    {"tier", "quick|default|full", "with --checks: the tier (default default)", 0, false},
    {"lineage", "NAME", "with --checks: what the candidate claims (default: the operator's first)", 0, false},
    {"json", NULL, "print as JSON", 0, false},
    {0}};

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the implementations of one directory (and of its subfolder mutants/ not at all: assay selftest lists
 * those). */
static size_t scan(const char *directory, char **names, size_t count, size_t limit) {
    DIR *d = opendir(directory);
    if (d == NULL) {
        return count;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL && count < limit;) {
        size_t n = strlen(e->d_name);
        char path[4096];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s/adapter.py", directory, e->d_name);
        if (n > 3 && strcmp(e->d_name + n - 3, ".so") == 0) {
            names[count++] = strndup(e->d_name, n - 3);
        } else if (e->d_name[0] != '.' && stat(path, &st) == 0) {
            names[count++] = strdup(e->d_name);
        }
    }
    (void)closedir(d);
    return count;
}

static size_t implementations(char **names, size_t limit) {
    size_t count = 0;
    size_t kept = 0;
    for (const char *const *d = cli_impl_directories(); *d != NULL; d++) {
        count = scan(*d, names, count, limit);
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(names[kept - 1], names[i]) == 0) {
            free(names[i]);
        } else {
            names[kept++] = names[i];
        }
    }
    return kept;
}

static void print_json(char **names, size_t count) {
    json_t *ops = json_array();
    json_t *suites = json_array();
    json_t *impls = json_array();
    for (size_t i = 0; i < assay_operator_count; i++) {
        (void)json_array_append_new(ops, json_string(assay_operators[i]->name));
    }
    for (size_t i = 0; i < assay_suite_count; i++) {
        (void)json_array_append_new(
            suites, json_pack("{s:s, s:s}", "name", assay_suites[i]->name, "help", assay_suites[i]->help));
    }
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(impls, json_string(names[i]));
    }
    json_t *root = json_pack("{s:o, s:o, s:o}", "operators", ops, "suites", suites, "implementations", impls);
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

/* Fills the parts of a context that a plan looks at; no candidate is opened. */
static assay_code plan_context(const cli_args *args, assay_context *context, assay_contract **contract,
                               assay_error *error) {
    const char *op = cli_get(args, "op", assay_operators[0]->name);
    const char *tier = cli_get(args, "tier", "default");
    *context = (assay_context){.op = assay_operator_find(op), .baseline_lineage = "", .seed = 1};
    if (context->op == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)", op);
    }
    if (!assay_tier_parse(tier, &context->tier)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--tier %s: unknown tier (quick, default, full)", tier);
    }
    const char *first = context->op->lineages != NULL ? context->op->lineages[0] : NULL;
    context->lineage = cli_get(args, "lineage", first != NULL ? first : "");
    if (assay_contract_parse(context->op->contract_json, *context->op->contract_bytes, contract, error) !=
        ASSAY_CODE_OK) {
        return error->code;
    }
    context->contract = *contract;
    return ASSAY_CODE_OK;
}

static assay_code list_checks(const cli_args *args, assay_error *error) {
    assay_context context;
    assay_contract *contract = NULL;
    assay_plan plan = {0};
    assay_code code = plan_context(args, &context, &contract, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < assay_suite_count; i++) {
        assay_suites[i]->plan(&context, &plan);
    }
    for (size_t i = 0; i < plan.count; i++) {
        const assay_check *c = &plan.items[i];
        if (cli_flag(args, "json")) {
            (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b}", "name", c->name, "suite",
                                                        c->suite->name, "promise", c->promise, "required",
                                                        (int)c->required));
        } else {
            (void)printf("%-60s %-22s %s\n", c->name, c->promise, c->required ? "required" : "optional");
        }
    }
    if (cli_flag(args, "json")) {
        (void)json_dumpf(list, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
    }
    json_decref(list);
    free(plan.items);
    assay_contract_free(contract);
    return ASSAY_CODE_OK;
}

static void print_text(char **names, size_t count) {
    (void)puts("operators:");
    for (size_t i = 0; i < assay_operator_count; i++) {
        (void)printf("  %s\n", assay_operators[i]->name);
    }
    (void)puts("suites:");
    for (size_t i = 0; i < assay_suite_count; i++) {
        (void)printf("  %-12s %s\n", assay_suites[i]->name, assay_suites[i]->help);
    }
    (void)puts("implementations:");
    for (size_t i = 0; i < count; i++) {
        (void)printf("  %s\n", names[i]);
    }
}

static assay_code run(const cli_args *args, assay_error *error) {
    static const char *const checks_only[] = {"op", "tier", "lineage"};
    char *names[256];
    if (cli_flag(args, "checks")) {
        return list_checks(args, error);
    }
    for (size_t i = 0; i < sizeof checks_only / sizeof checks_only[0]; i++) {
        if (cli_flag(args, checks_only[i])) {
            return assay_fail(error, ASSAY_CODE_USAGE, "list: --%s goes with --checks", checks_only[i]);
        }
    }
    size_t count = implementations(names, sizeof names / sizeof names[0]);
    if (cli_flag(args, "json")) {
        print_json(names, count);
    } else {
        print_text(names, count);
    }
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    return ASSAY_CODE_OK;
}

const cli_command cli_list = {.name = "list",
                              .operands = "",
                              .summary =
                                  "show operators, suites and implementations, or the checks of an operator",
                              .options = options,
                              .run = run};
