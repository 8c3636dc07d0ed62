/* cmd_merge.c - `assay merge`: shards of one prove run into one run. */
#include "cli.h"

#include <stdio.h>

static const cli_option options[] = {
    {"db", "FILE", "database that receives the merged run (default assay.db)", 0, false}, {0}};

static assay_code run(const cli_args *args, assay_error *error) {
    char root[65];
    int64_t run_id = 0;
    assay_code code =
        assay_merge_shards(cli_get(args, "db", "assay.db"), (const char *const *)args->positional,
                           (size_t)args->positional_count, root, &run_id, error);
    if (code == ASSAY_CODE_OK) {
        (void)printf("ROOT %s  run=%lld\n", root, (long long)run_id);
    }
    return code;
}

const cli_command cli_merge = {.name = "merge",
                               .operands = "DB...",
                               .min_operands = 1,
                               .max_operands = 4096,
                               .summary =
                                   "combine the shards of a prove run into one run with the unsharded root",
                               .options = options,
                               .run = run};
