/* cli.h - the command line: one table of commands and options gives parsing, help text and the man page. */
#ifndef ASSAY_CLI_H
#define ASSAY_CLI_H

#include "error.h"
#include "runner.h"
#include "store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_MAX_OPTIONS 24

typedef struct cli_option {
    const char *name;  /* long name without dashes */
    const char *value; /* placeholder of the value, NULL for a flag */
    const char *help;  /* one line */
    char letter;       /* short form, 0 for none */
    bool required;
} cli_option;

typedef struct cli_args {
    const struct cli_command *command;
    const char
        *values[CLI_MAX_OPTIONS]; /* parallel to command->options; flags hold "" when given, NULL when not */
    char **positional;
    int positional_count;
    const char *line; /* the whole command line, shell-quoted */
} cli_args;

typedef struct cli_command {
    const char *name;
    const char *operands; /* e.g. "RUN", "" when none */
    int min_operands, max_operands;
    const char *summary;       /* one line */
    const char *detail;        /* a paragraph for --help and the man page, may be NULL */
    const cli_option *options; /* ends with a NULL name */
    assay_code (*run)(const cli_args *args, assay_error *error);
    bool hidden;
} cli_command;

extern const cli_command *const cli_commands[]; /* NULL-terminated, in help order */

/* The value of option `name`, `fallback` when not given. Asserts that the command has the option. */
const char *cli_get(const cli_args *args, const char *name, const char *fallback);
bool cli_flag(const cli_args *args, const char *name);
/* A whole number in [lo, hi]; USAGE error naming option, value and range. */
assay_code cli_get_number(const cli_args *args, const char *name, uint64_t lo, uint64_t hi, uint64_t fallback,
                          uint64_t *number, assay_error *error);

/* Turns NAME or FILE into the path of an adapter (malloc'ed). A name is looked up beside the binary: in
 * <prefix>/lib*[/triplet]/assay/impls, in impls/ of the build tree, and in the directories of
 * ASSAY_IMPL_PATH. USAGE error listing what was looked for. */
assay_code cli_resolve_impl(const char *option, const char *text, char **path, assay_error *error);
/* Directories in which implementations are looked up, NULL-terminated (static storage). */
const char *const *cli_impl_directories(void);

/* Opens --db for writing or reading; "assay.db" by default. */
assay_code cli_open_store(const cli_args *args, assay_store_mode mode, assay_store **store,
                          assay_error *error);

/* Closes it; when the file did not exist before and still holds no run, a refused command leaves none behind.
 */
void cli_close_store(const cli_args *args, assay_store *store, bool existed);
/* The number of the run that --resume names, from --db; leaves *run_id alone when the option is not given. */
assay_code cli_find_resumed(const cli_args *args, int64_t *run_id, assay_error *error);
/* --device: USAGE when it is no device, INCOMPLETE when this build cannot serve it. */
assay_code cli_check_device(const cli_args *args, assay_error *error);
/* --source: USAGE when it is given and is no directory. */
assay_code cli_check_source(const cli_args *args, assay_error *error);

/* Progress on stderr: a bar with rate and ETA on a terminal, a heartbeat line every few seconds otherwise. */
typedef struct cli_progress {
    uint64_t start_ns, last_ns;
    bool terminal, quiet, open_line;
    const char *unit;
    double scale; /* value of one unit in the printed rate */
} cli_progress;
void cli_progress_start(cli_progress *progress, bool quiet);
void cli_progress_show(cli_progress *progress, uint64_t done, uint64_t total, const char *what);
void cli_progress_end(cli_progress *progress);
assay_progress cli_progress_hooks(cli_progress *progress);

#endif
