/* launcher.c - stands before nvcc when a kernel that promises exact arithmetic is compiled. The one place
 * that defines ASSAY_EXACT_MATH: after the environment and every word of the command were found to be exact,
 * else nothing is compiled. CMake asks the same program when it configures (exact_cuda.cmake). */
#include "exact_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFINE "-DASSAY_EXACT_MATH=1"

static int answer(bool exact, const char *reason) {
    if (!exact) {
        (void)puts(reason);
    }
    return exact ? 0 : 1;
}

/* The command with the definition before its first option. */
static char **with_define(char **command, size_t words) {
    char **longer = calloc(words + 2, sizeof *longer);
    size_t first = 0;
    if (longer == NULL) {
        return NULL;
    }
    while (command[first] != NULL && command[first][0] != '-') {
        first++;
    }
    memcpy(longer, command, first * sizeof *longer);
    longer[first] = DEFINE;
    memcpy(longer + first + 1, command + first, (words - first) * sizeof *longer);
    return longer;
}

int main(int argc, char **argv) {
    char reason[1024] = "";
    if (argc == 2 && strcmp(argv[1], "--environment") == 0) {
        return answer(assay_exact_math_environment(reason, sizeof reason), reason);
    }
    if (argc == 4 && strcmp(argv[1], "--options") == 0) {
        return answer(assay_exact_math_options(argv[2], argv[3], reason, sizeof reason), reason);
    }
    if (argc < 2 || argv[1][0] == '-') {
        (void)fputs("usage: exact_cuda --environment | --options NAME TEXT | COMPILER OPTIONS...\n", stderr);
        return 2;
    }
    if (!assay_exact_math_environment(reason, sizeof reason) ||
        !assay_exact_math_command(argv + 1, reason, sizeof reason)) {
        (void)fprintf(stderr, "exact_cuda: not compiled, the arithmetic would not be exact: %s\n", reason);
        return 1;
    }
    char **command = with_define(argv + 1, (size_t)argc - 1);
    if (command != NULL) {
        (void)execvp(command[0], command);
    }
    perror(argv[1]);
    free(command);
    return 1;
}
