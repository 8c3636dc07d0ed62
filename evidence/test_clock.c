/* A wall clock that runs backwards: this program's own clock_gettime stands before libc's. Times are records;
 * nothing may depend on them. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long wall_s = 2000000000;
static bool backwards;

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now) {
    if (id == CLOCK_REALTIME && backwards) {
        wall_s -= 3600;
        *now = (struct timespec){.tv_sec = (time_t)wall_s};
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, id, now);
}

TestSuite(clock, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

Test(clock, set_back_during_a_run) {
    static test_lines lines;
    const char *path = scratch("a.db");
    backwards = true;
    test_full_database(path);
    test_full_database(path);
    backwards = false;
    cr_expect_str_eq(raw_text(path, "SELECT max(finished_ms < started_ms) FROM runs"), "1",
                     "the clock did not run backwards");
    cr_expect_str_eq(raw_text(path, "SELECT group_concat(verdict) FROM runs"), "certified,certified");
    cr_expect_str_eq(raw_text(path, "SELECT min(duration_ns) >= 0 FROM check_outcome"), "1");
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}
