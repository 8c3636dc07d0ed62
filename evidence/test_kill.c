/* kill -9 at random moments: the database opens, is whole, and holds every check that was reported finished.
 */
#include "clock.h"
#include "test_common.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

TestSuite(kill, .init = scratch_enter, .fini = scratch_leave, .timeout = 120);

/* Starts the writer with its output in a file, kills it after `us` microseconds; returns false when it ended
 * by itself. */
static bool start_and_kill(const char *path, const char *output, useconds_t us) {
    char writer[] = KILL_WRITER, database[512];
    char *const argv[] = {writer, database, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int status = 0;
    (void)snprintf(database, sizeof database, "%s", path);
    cr_assert_eq(posix_spawn_file_actions_init(&actions), 0);
    cr_assert_eq(posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600),
                 0);
    cr_assert_eq(posix_spawn(&pid, writer, &actions, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)usleep(us);
    (void)kill(pid, SIGKILL);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Last number after `word` in the output of the writer, 0 when none. */
static long long last_number(const char *output, const char *word) {
    char line[64];
    long long last = 0;
    FILE *in = fopen(output, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        const size_t n = strlen(word);
        if (strchr(line, '\n') != NULL && strncmp(line, word, n) == 0 && line[n] == ' ') {
            last = strtoll(line + n, NULL, 10);
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return last;
}

Test(kill, nothing_reported_is_lost) {
    const uint64_t end = assay_deadline_ns() + UINT64_C(12000000000);
    char path[512], output[512], sql[640];
    unsigned rounds = 0, reported = 0;
    uint64_t state = (uint64_t)getpid();
    (void)snprintf(path, sizeof path, "%s", scratch("a.db"));
    (void)snprintf(output, sizeof output, "%s", scratch("out"));
    while (assay_deadline_ns() < end) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        /* A third of the rounds dies in the first moments: creation, the first transaction, recovery. */
        const useconds_t life = (useconds_t)((state >> 33) % (rounds % 3 == 0 ? 30000 : 250000));
        const bool killed = start_and_kill(path, output, life);
        rounds++;
        if (access(path, F_OK) != 0) {
            continue; /* killed before the file was linked to its name: nothing may have been reported */
        }
        const long long ended = last_number(output, "END"), begun = last_number(output, "BEGIN");
        assay_store *store = test_open(path, ASSAY_STORE_READ);
        assay_store_close(store);
        cr_expect_str_eq(raw_text(path, "PRAGMA integrity_check"), "ok");
        (void)snprintf(sql, sizeof sql,
                       "SELECT count(*)>=%lld AND count(*)=coalesce(max(seq),0) FROM check_outcome", ended);
        cr_expect_str_eq(raw_text(path, sql), "1", "round %u: check %lld was reported", rounds, ended);
        cr_expect_str_eq(
            raw_text(path, "SELECT (SELECT count(*) FROM metric)=(SELECT count(*) FROM check_outcome)"), "1");
        (void)snprintf(sql, sizeof sql, "SELECT coalesce(max(seq),0)>=%lld FROM check_start", begun);
        cr_expect_str_eq(raw_text(path, sql), "1", "round %u: the start of check %lld was reported", rounds,
                         begun);
        reported = ended > 0 ? (unsigned)ended : reported;
        if (rounds % 20 == 0 || !killed) {
            (void)unlink(path); /* creation is met again and again; a run of 2000 checks may also end */
            (void)snprintf(sql, sizeof sql, "rm -f '%s'-*", path);
            cr_assert_eq(system(sql), 0);
        }
    }
    test_lines *lines = malloc(sizeof *lines);
    if (access(path, F_OK) == 0) {
        cr_expect_eq(test_verify(path, lines), ASSAY_CODE_OK, "%s", lines->text);
    }
    free(lines);
    cr_log_info("%u rounds, last one at check %u", rounds, reported);
    cr_expect_gt(rounds, 20);
    cr_expect_gt(reported, 0);
}
