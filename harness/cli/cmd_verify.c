/* cmd_verify.c - `assay verify`: re-derives every verdict of a database from its rows. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>

static const cli_option options[] = {{"json", NULL, "print the result as JSON", 0, false}, {0}};

static void say_line(void *context, const char *line) {
    json_t *problems = context;
    if (problems != NULL) {
        (void)json_array_append_new(problems, json_string(line));
    } else {
        (void)printf("%s\n", line);
    }
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_verify_report report = {0};
    json_t *problems = cli_flag(args, "json") ? json_array() : NULL;
    assay_code code = assay_verify_database(args->positional[0], say_line, problems, &report, error);
    bool judged = code == ASSAY_CODE_OK || code == ASSAY_CODE_REFUSED;
    if (problems != NULL && judged) {
        json_t *root =
            json_pack("{s:s, s:I, s:I, s:O}", "database", args->positional[0], "runs",
                      (json_int_t)report.runs, "rows", (json_int_t)report.rows, "problems", problems);
        (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(root);
    } else if (judged) {
        (void)printf("%s: %llu runs, %llu rows, %llu problems\n", args->positional[0],
                     (unsigned long long)report.runs, (unsigned long long)report.rows,
                     (unsigned long long)report.problems);
    }
    json_decref(problems);
    return code;
}

const cli_command cli_verify = {
    .name = "verify",
    .operands = "DB",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "re-derive every verdict, hash and root of a database from its rows",
    .detail =
        "Prints one line per problem, naming table and row. Exit code 0 when nothing is wrong, 1 otherwise.",
    .options = options,
    .run = run};
