/* assay/criterion.h - certifies an adapter from your own Criterion tests, in one line.
 *
 *     #include <assay/criterion.h>
 *     ASSAY_CRITERION_TEST(my_kernel, "timestep_sinusoid_h3", "build/mine.so")
 *
 * defines the Criterion test `my_kernel` of suite `assay`. It runs `assay certify`; each broken promise is
 * one failed assertion that names promise and reason, and each required promise that could not be verified is
 * another.
 *
 * The program is found through the environment variable ASSAY_BIN, else as `assay` on PATH. The evidence goes
 * to the database named by ASSAY_DB (default: assay-criterion.db in the current directory). ASSAY_TIER
 * (quick, default or full) says how much runs where the test does not. Trees may be dirty: a test runs before
 * the commit, so the verdict `incomplete` for that reason alone is accepted; everything else must be as for a
 * certificate.
 *
 * Header only; needs Criterion and nothing else of Assay. */
#ifndef ASSAY_CRITERION_H
#define ASSAY_CRITERION_H

#include <criterion/criterion.h>

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct assay_criterion_run {
    int exit_code; /* of assay certify; -1 when it could not be started or died of a signal */
    unsigned promises, broken, unverified;
} assay_criterion_run;

/* Takes one line of `assay certify --porcelain` ("promise", name, state, required, reason; tab-separated) and
 * turns it into an assertion. */
static inline void assay_criterion_line(char *line, assay_criterion_run *run) {
    char *field[5] = {NULL};
    size_t n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *p = line; n < 5; n++) {
        field[n] = p;
        p = n < 4 ? strchr(p, '\t') : NULL;
        if (p == NULL) {
            n++;
            break;
        }
        *p++ = '\0';
    }
    if (n != 5 || strcmp(field[0], "promise") != 0) {
        return;
    }
    int required = strcmp(field[3], "required") == 0;
    run->promises++;
    if (strcmp(field[2], "broken") == 0 && required) {
        run->broken++;
        cr_expect(0, "promise %s is broken: %s", field[1], field[4]);
    } else if (strcmp(field[2], "kept") != 0 && required) {
        run->unverified++;
        cr_expect(0, "promise %s is not verified: %s", field[1], field[4]);
    } else {
        cr_expect(1, "promise %s", field[1]);
    }
}

/* Certifies `impl` for `op` (baseline and tier may be NULL) and asserts every promise. */
static inline assay_criterion_run assay_criterion_certify(const char *op, const char *impl,
                                                          const char *baseline, const char *tier) {
    assay_criterion_run run = {.exit_code = -1};
    const char *named[] = {getenv("ASSAY_BIN"), getenv("ASSAY_DB"), getenv("ASSAY_TIER")};
    const char *program = named[0] != NULL ? named[0] : "assay";
    const char *db = named[1] != NULL ? named[1] : "assay-criterion.db";
    const char *depth = tier != NULL ? tier : named[2] != NULL ? named[2] : "default";
    const char *argv[20] = {program,  "certify", "--op",   op,    "--impl",        impl,
                            "--db",   db,        "--tier", depth, "--allow-dirty", "--porcelain",
                            "--quiet"};
    size_t argc = 13;
    int ends[2];
    int status = 0;
    pid_t pid = 0;
    char line[2048];
    if (baseline != NULL) {
        argv[argc++] = "--baseline";
        argv[argc++] = baseline;
    }
    if (pipe(ends) != 0) {
        cr_expect(0, "assay: pipe: %s", strerror(errno));
        return run;
    }
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(&pid, program, &actions, NULL, (char **)(size_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    while (failed == 0 && in != NULL && fgets(line, sizeof line, in) != NULL) {
        assay_criterion_line(line, &run);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (failed == 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)) {
        run.exit_code = WEXITSTATUS(status);
    }
    cr_expect(failed == 0 && run.promises > 0,
              "%s certify --op %s --impl %s judged nothing: %s, exit code %d", program, op, impl,
              failed != 0 ? strerror(failed) : "see its message above", run.exit_code);
    /* 0 certified, 1 refused, 3 incomplete: anything else is no verdict, whatever was printed before it. */
    cr_expect(run.promises == 0 || run.exit_code == 0 || run.exit_code == 1 || run.exit_code == 3,
              "%s certify --op %s --impl %s ended without a verdict: exit code %d", program, op, impl,
              run.exit_code);
    return run;
}

#define ASSAY_CRITERION_TEST(identifier, op, impl)                                                           \
    Test(assay, identifier) {                                                                                \
        (void)assay_criterion_certify((op), (impl), NULL, NULL);                                             \
    }

#endif
