/* cmd_worker.c - the process that hosts a native adapter. Started by the judge, not by people. */
#include "cli.h"

#include "worker.h"

static const cli_option options[] = {{"adapter", "FILE", "the shared library to host", 0, true}, {0}};

static assay_code run(const cli_args *args, assay_error *error) {
    (void)error;
    return (assay_code)assay_worker_main(cli_get(args, "adapter", NULL));
}

const cli_command cli_worker = {.name = "worker",
                                .operands = "",
                                .summary = "host an adapter (started by the judge)",
                                .options = options,
                                .run = run,
                                .hidden = true};
