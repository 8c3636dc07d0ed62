/* commands.c - the list of commands, in help order. */
#include "commands.h"

const cli_command *const cli_commands[] = {
#define X(identifier) &cli_##identifier,
    CLI_COMMAND_LIST(X)
#undef X
        NULL};
