/* commands.h - one row per command; each is defined in cmd_<name>.c. */
#ifndef ASSAY_COMMANDS_H
#define ASSAY_COMMANDS_H

#include "cli.h"

#define CLI_COMMAND_LIST(X)                                                                                  \
    X(list)                                                                                                  \
    X(certify)                                                                                               \
    X(run)                                                                                                   \
    X(prove)                                                                                                 \
    X(merge)                                                                                                 \
    X(report)                                                                                                \
    X(explain)                                                                                               \
    X(verify)                                                                                                \
    X(audit)                                                                                                 \
    X(identify)                                                                                              \
    X(selftest)                                                                                              \
    X(model)                                                                                                 \
    X(doctor)                                                                                                \
    X(new)                                                                                                   \
    X(worker)

#define X(identifier) extern const cli_command cli_##identifier;
CLI_COMMAND_LIST(X)
#undef X

#endif
