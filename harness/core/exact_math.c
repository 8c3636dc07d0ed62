/* exact_math.c - the predicate of exact_math.h: a list of harmless options, and options files read under
 * limits. */
#include "exact_math.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { FILE_BYTES_MAX = 1 << 20, DEPTH_MAX = 8 };

typedef struct {
    const char *name;
    char *reason;
    size_t size;
} scan_t;

static const char *const harmless[] = {
    "--ftz=false",
    "-ftz=false",
    "--prec-div=true",
    "-prec-div=true",
    "--prec-sqrt=true",
    "-prec-sqrt=true",
    "--fmad=true",
    "-fmad=true",
    "-lineinfo",
    "-G",
    "-g",
    "-dopt=on",
    "-O0",
    "-O1",
    "-O2",
    "-O3",
    "--extra-device-vectorization",
};
static const char *const harmless_prefix[] = {"--maxrregcount=", "-maxrregcount=", "--Ofast-compile=", "-I"};
static const struct {
    const char *option;
    const char *value;
} pairs[] = {{"ftz", "false"}, {"prec-div", "true"}, {"prec-sqrt", "true"}, {"fmad", "true"}};

static bool relaxed(const scan_t *s, const char *what, const char *word) {
    (void)snprintf(s->reason, s->size, "%s: %s '%.200s'", s->name, what, word);
    return false;
}

static bool scan_text(const scan_t *s, char *text, const char *blanks, int depth);

static bool scan_file(const scan_t *s, const char *path, int depth) {
    struct stat st;
    if (depth >= DEPTH_MAX) {
        return relaxed(s, "options files nested too deep at", path);
    }
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not block */
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return relaxed(s, "not a readable regular file of at most 1 MiB", path);
    }
    const size_t bytes = (size_t)st.st_size;
    char *text = calloc(bytes + 1, 1);
    const bool whole = text != NULL && read(fd, text, bytes) == (ssize_t)bytes && strlen(text) == bytes;
    (void)close(fd);
    const bool ok =
        whole ? scan_text(s, text, " \t\r\n", depth + 1) : relaxed(s, "cannot read as text", path);
    free(text);
    return ok;
}

static bool scan_files(const scan_t *s, char *list, int depth) {
    char *rest = NULL;
    char *path = strtok_r(list, ",", &rest);
    if (path == NULL) {
        return relaxed(s, "options file without a name", "");
    }
    for (; path != NULL; path = strtok_r(NULL, ",", &rest)) {
        if (!scan_file(s, path, depth)) {
            return false;
        }
    }
    return true;
}

/* A macro may replace a function by its approximation (-Dexpf=__expf) or forge the feature, so only plain
 * upper-case names. */
static bool harmless_macro(const char *word) {
    return strncmp(word, "-D", 2) == 0 && word[2] >= 'A' && word[2] <= 'Z' &&
           strncmp(word + 2, "ASSAY_", 6) != 0 &&
           strcspn(word + 2, "=(") == strspn(word + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

/* True when the word is in the list, or, with `prefix`, begins with an entry and goes on. */
static bool listed(const char *word, const char *const *list, size_t n, bool prefix) {
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(list[i]);
        if (strncmp(word, list[i], length) == 0 && (word[length] != '\0') == prefix) {
            return true;
        }
    }
    return false;
}

static bool harmless_word(const char *word) {
    return listed(word, harmless, COUNT(harmless), false) ||
           listed(word, harmless_prefix, COUNT(harmless_prefix), true) || harmless_macro(word);
}

/* The value that a two-word option must have, or NULL. */
static const char *pair_value(const char *word) {
    for (size_t i = 0; word[0] == '-' && i < COUNT(pairs); i++) {
        if (strcmp(word + (word[1] == '-' ? 2 : 1), pairs[i].option) == 0) {
            return pairs[i].value;
        }
    }
    return NULL;
}

static bool scan_text(const scan_t *s, char *text, const char *blanks, int depth) {
    if (strpbrk(text, "\"'\\;") != NULL) {
        return relaxed(s, "quotes, backslashes and semicolons are not understood in", text);
    }
    char *rest = NULL;
    for (char *word = strtok_r(text, blanks, &rest); word != NULL; word = strtok_r(NULL, blanks, &rest)) {
        const char *value = pair_value(word);
        bool ok = false;
        if (value != NULL) {
            const char *next = strtok_r(NULL, blanks, &rest);
            ok = (next != NULL && strcmp(next, value) == 0) ||
                 relaxed(s, "relaxing or missing value of", word);
        } else if (strcmp(word, "--options-file") == 0 || strcmp(word, "-optf") == 0) {
            char *list = strtok_r(NULL, blanks, &rest);
            ok = list != NULL ? scan_files(s, list, depth) : relaxed(s, "no file after", word);
        } else if (strncmp(word, "--options-file=", 15) == 0 || strncmp(word, "-optf=", 6) == 0) {
            ok = scan_files(s, strchr(word, '=') + 1, depth);
        } else {
            ok = harmless_word(word) || relaxed(s, "not known to keep arithmetic exact:", word);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

bool assay_exact_math_options(const char *name, const char *text, char *reason, size_t size) {
    const scan_t s = {name, reason, size};
    if (text == NULL) {
        return true;
    }
    char *copy = strdup(text);
    const bool ok = copy != NULL ? scan_text(&s, copy, " \t", 0) : relaxed(&s, "out of memory for", text);
    free(copy);
    return ok;
}

bool assay_exact_math_environment(char *reason, size_t size) {
    static const char *const names[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "TORCH_NVCC_FLAGS",
                                        "CUDAFLAGS"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (!assay_exact_math_options(names[i], getenv(names[i]), reason, size)) {
            return false;
        }
    }
    return true;
}

/* ---- a command ---- */

static const char *const command_words[] = {
    "-c", "-MD", "-MMD", "-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler",
};
static const char *const command_prefix[] = {"-isystem=", "--generate-code=", "-std=c++", "-arch=sm_"};
static const char *const command_operand[] = {"-o", "-MF", "-MT", "-MQ", "-isystem", "-I", "-x"};

/* Options for the host compiler that concern neither arithmetic nor macros, separated by commas. */
static bool harmless_host(const char *text) {
    static const char *const whole[] = {"-fPIC", "-fPIE", "-fvisibility=hidden",
                                        "-fvisibility-inlines-hidden", "-g"};
    char copy[1024];
    char *rest = NULL;
    const int length = snprintf(copy, sizeof copy, "%s", text);
    bool ok = length > 0 && (size_t)length < sizeof copy;
    for (char *w = strtok_r(copy, ",", &rest); ok && w != NULL; w = strtok_r(NULL, ",", &rest)) {
        ok = listed(w, whole, COUNT(whole), false) ||
             (strncmp(w, "-W", 2) == 0 && strlen(w) > 3); /* -Wp, -Wa, -Wl hand the next one on */
    }
    return ok;
}

/* CMake's own macro of a shared library: -Dtarget_EXPORTS. */
static bool exports_macro(const char *word) {
    const size_t n = strlen(word);
    return n > 10 && strncmp(word, "-D", 2) == 0 && strchr(word, '=') == NULL &&
           strncmp(word + 2, "ASSAY_", 6) != 0 && strcmp(word + n - 8, "_EXPORTS") == 0;
}

static bool is_source(const char *word) {
    const size_t n = strlen(word);
    return n > 3 && word[0] != '-' && word[0] != '@' && strcmp(word + n - 3, ".cu") == 0;
}

/* Judges word i and what belongs to it; moves *i on to the last word used. */
static bool scan_command_word(const scan_t *s, char *const *command, size_t *i) {
    const char *word = command[*i];
    const char *value = pair_value(word);
    const char *next = command[*i + 1];
    const bool files = strcmp(word, "--options-file") == 0 || strcmp(word, "-optf") == 0;
    if (value != NULL || files || listed(word, command_operand, COUNT(command_operand), false)) {
        (*i)++;
        if (next == NULL) {
            return relaxed(s, "nothing follows", word);
        }
        if (!files) {
            value = strcmp(word, "-x") == 0 ? "cu" : value;
            return value == NULL || strcmp(next, value) == 0 || relaxed(s, "relaxing value of", word);
        }
    }
    if (files || strncmp(word, "--options-file=", 15) == 0 || strncmp(word, "-optf=", 6) == 0) {
        char *list = strdup(files ? next : strchr(word, '=') + 1);
        const bool ok = list != NULL ? scan_files(s, list, 0) : relaxed(s, "out of memory for", word);
        free(list);
        return ok;
    }
    return harmless_word(word) || exports_macro(word) || is_source(word) ||
           listed(word, command_words, COUNT(command_words), false) ||
           listed(word, command_prefix, COUNT(command_prefix), true) ||
           (strncmp(word, "-Xcompiler=", 11) == 0 && harmless_host(word + 11)) ||
           relaxed(s, "not known to keep arithmetic exact:", word);
}

bool assay_exact_math_command(char *const *command, char *reason, size_t size) {
    const scan_t s = {"command", reason, size};
    size_t i = 0;
    while (command[i] != NULL && command[i][0] != '-') {
        i++;
    }
    if (i == 0 || command[i] == NULL) {
        return relaxed(&s, "no compiler or no options in", i == 0 ? "" : command[0]);
    }
    for (; command[i] != NULL; i++) {
        if (!scan_command_word(&s, command, &i)) {
            return false;
        }
    }
    return true;
}
