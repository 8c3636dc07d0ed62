/* main.c - finds the command, parses its options by the table, runs it, turns an error into one line and an
 * exit code. */
#include "cli.h"

#include "text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "unknown"
#endif

static size_t option_count(const cli_command *command) {
    size_t n = 0;
    while (command->options[n].name != NULL) {
        n++;
    }
    assert(n <= CLI_MAX_OPTIONS);
    return n;
}

static size_t option_index(const cli_args *args, const char *name) {
    for (size_t i = 0; args->command->options[i].name != NULL; i++) {
        if (strcmp(args->command->options[i].name, name) == 0) {
            return i;
        }
    }
    (void)fprintf(stderr, "assay: internal: command %s has no option --%s\n", args->command->name, name);
    abort();
}

const char *cli_get(const cli_args *args, const char *name, const char *fallback) {
    const char *value = args->values[option_index(args, name)];
    return value != NULL ? value : fallback;
}

bool cli_flag(const cli_args *args, const char *name) {
    return args->values[option_index(args, name)] != NULL;
}

assay_code cli_get_number(const cli_args *args, const char *name, uint64_t lo, uint64_t hi, uint64_t fallback,
                          uint64_t *number, assay_error *error) {
    const char *text = cli_get(args, name, NULL);
    char *end = NULL;
    *number = fallback;
    if (text == NULL) {
        return ASSAY_CODE_OK;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < lo || value > hi) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--%s %s: need a whole number from %llu to %llu", name,
                          text, (unsigned long long)lo, (unsigned long long)hi);
    }
    *number = value;
    return ASSAY_CODE_OK;
}

/* ---- help ---- */

static void print_option(FILE *out, const cli_option *o) {
    char left[64];
    (void)snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter != 0 ? '-' : ' ',
                   o->letter != 0 ? o->letter : ' ', o->letter != 0 ? ", " : "  ", o->name,
                   o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
    (void)fprintf(out, "  %-34s %s%s\n", left, o->help, o->required ? " (required)" : "");
}

static void command_help(FILE *out, const cli_command *c) {
    (void)fprintf(out, "usage: assay %s%s%s%s\n\n%s\n", c->name,
                  c->options[0].name != NULL ? " [options]" : "", c->operands[0] != '\0' ? " " : "",
                  c->operands, c->summary);
    if (c->detail != NULL) {
        (void)fprintf(out, "\n%s\n", c->detail);
    }
    (void)fputs("\noptions:\n", out);
    for (const cli_option *o = c->options; o->name != NULL; o++) {
        print_option(out, o);
    }
    (void)fprintf(out, "  %-34s %s\n", "-h, --help", "this text");
}

static void general_help(FILE *out) {
    (void)fputs("usage: assay COMMAND [options]\n\nJudges numeric kernels promise by promise, from outside "
                "their process.\n\ncommands:\n",
                out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (!cli_commands[i]->hidden) {
            (void)fprintf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
        }
    }
    (void)fputs("\nassay COMMAND --help shows a command's options; assay help --man writes the manual page.\n"
                "exit codes: 0 certified or success, 1 refused or regression, 2 usage or bad input, 3 "
                "incomplete or cannot tell, 4 internal error\n",
                out);
}

/* The manual page, from the same tables. */
static void man_page(FILE *out) {
    (void)fputs(".TH ASSAY 1 \"\" \"assay " ASSAY_VERSION
                "\"\n.SH NAME\nassay \\- judge numeric kernels promise by promise\n"
                ".SH SYNOPSIS\n.B assay\n.I COMMAND\n[options]\n.SH COMMANDS\n",
                out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const cli_command *c = cli_commands[i];
        if (c->hidden) {
            continue;
        }
        (void)fprintf(out, ".SS %s %s\n%s\n", c->name, c->operands, c->summary);
        if (c->detail != NULL) {
            (void)fprintf(out, ".PP\n%s\n", c->detail);
        }
        for (const cli_option *o = c->options; o->name != NULL; o++) {
            (void)fputs(".TP\n", out);
            if (o->letter != 0) {
                (void)fprintf(out, "\\-%c, ", o->letter);
            }
            (void)fprintf(out, "\\-\\-%s %s\n%s%s\n", o->name, o->value != NULL ? o->value : "", o->help,
                          o->required ? " (required)" : "");
        }
    }
    (void)fputs(".SH EXIT STATUS\n0 certified or success, 1 refused or regression, 2 usage or bad input, 3 "
                "incomplete or cannot tell, "
                "4 internal error.\n",
                out);
}

/* ---- parsing ---- */

static assay_code parse(const cli_command *c, int argc, char **argv, cli_args *args, bool *help,
                        assay_error *error) {
    struct option table[CLI_MAX_OPTIONS + 2];
    char letters[2 * CLI_MAX_OPTIONS + 4] = ":h";
    size_t n = option_count(c);
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &c->options[i];
        table[i] =
            (struct option){o->name, o->value != NULL ? required_argument : no_argument, NULL, 256 + (int)i};
        if (o->letter != 0) {
            size_t used = strlen(letters);
            letters[used] = o->letter;
            letters[used + 1] = o->value != NULL ? ':' : '\0';
            letters[used + 2] = '\0';
        }
    }
    table[n] = (struct option){"help", no_argument, NULL, 'h'};
    table[n + 1] = (struct option){0};
    opterr = 0;
    optind = 1;
    for (int got; (got = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        size_t index = n;
        if (got == 'h') {
            *help = true;
            return ASSAY_CODE_OK;
        }
        if (got == ':') {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: %s needs a value", c->name, argv[optind - 1]);
        }
        for (size_t i = 0; i < n; i++) {
            if (got == 256 + (int)i || (c->options[i].letter != 0 && got == c->options[i].letter)) {
                index = i;
            }
        }
        if (index == n) {
            char letter[3] = {'-', (char)optopt, '\0'};
            bool is_letter = optopt > 0 && optopt < 256;
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: unknown option %s (assay %s --help shows them)",
                              c->name, is_letter ? letter : argv[optind - 1], c->name);
        }
        if (args->values[index] != NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: --%s is given twice", c->name,
                              c->options[index].name);
        }
        args->values[index] = optarg != NULL ? optarg : "";
    }
    args->positional = argv + optind;
    args->positional_count = argc - optind;
    for (size_t i = 0; i < n; i++) {
        if (c->options[i].required && args->values[i] == NULL) {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: --%s %s is required", c->name, c->options[i].name,
                              c->options[i].value);
        }
    }
    if (args->positional_count < c->min_operands) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: needs %s (assay %s --help)", c->name, c->operands,
                          c->name);
    }
    if (args->positional_count > c->max_operands) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: unexpected argument '%s'", c->name,
                          args->positional[c->max_operands]);
    }
    return ASSAY_CODE_OK;
}

/* The command line with quotes where a shell needs them. */
static char *quote_line(int argc, char **argv) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        abort();
    }
    (void)fputs("assay", out);
    for (int i = 1; i < argc; i++) {
        char *word = assay_text_shell(argv[i]);
        (void)fprintf(out, " %s", word);
        free(word);
    }
    (void)fclose(out);
    return text;
}

static int finish(assay_code code, const assay_error *error) {
    if (error->text[0] != '\0') {
        (void)fprintf(stderr, "assay: %s\n", error->text);
    }
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
        bool reader_gone = poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
        if (!reader_gone) { /* a reader that has seen enough, like head, is no news */
            (void)fprintf(stderr, "assay: standard output: %s\n",
                          errno != 0 ? strerror(errno) : "not everything could be written");
        }
        return ASSAY_CODE_INTERNAL;
    }
    return (int)code;
}

/* A closed standard descriptor would be given to the next file opened, and what is printed would land in
 * it. The stand-in is opened the wrong way round, so that using it is an error. */
static void occupy_standard_descriptors(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) {
            _exit(ASSAY_CODE_INTERNAL);
        }
    }
}

static const cli_command *find_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (strcmp(name, cli_commands[i]->name) == 0) {
            return cli_commands[i];
        }
    }
    (void)fprintf(stderr, "assay: unknown command '%s' (assay --help shows them)\n", name);
    return NULL;
}

/* assay help [COMMAND | --man] */
static int help(const char *topic) {
    const assay_error none = {0};
    if (topic == NULL) {
        general_help(stdout);
    } else if (strcmp(topic, "--man") == 0) {
        man_page(stdout);
    } else {
        const cli_command *c = find_command(topic);
        if (c == NULL) {
            return ASSAY_CODE_USAGE;
        }
        command_help(stdout, c);
    }
    return finish(ASSAY_CODE_OK, &none);
}

int main(int argc, char **argv) {
    assay_error error = {0};
    occupy_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file size limit is reported like a full disk */
    if (argc < 2) {
        general_help(stderr);
        return ASSAY_CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        (void)printf("assay %s\n", ASSAY_VERSION);
        return finish(ASSAY_CODE_OK, &error);
    }
    const cli_command *c = find_command(argv[1]);
    if (c == NULL) {
        return ASSAY_CODE_USAGE;
    }
    char *line = quote_line(argc, argv);
    cli_args args = {.command = c, .line = line};
    bool wants_help = false;
    assay_code code = parse(c, argc - 1, argv + 1, &args, &wants_help, &error);
    if (wants_help) {
        command_help(stdout, c);
    } else if (code == ASSAY_CODE_OK) {
        code = c->run(&args, &error);
    }
    free(line);
    return finish(code, &error);
}
