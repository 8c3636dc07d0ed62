/* test_clock.c */
#include "clock.h"

#include <criterion/criterion.h>
#include <time.h>

Test(clock, wall_text) {
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1796094245678, "2026-12-01T03:04:05.678Z"},
        {951827696789, "2000-02-29T12:34:56.789Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {-1000, "1969-12-31T23:59:59.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {253402300800000, "0000-00-00T00:00:00.000Z"},
        {INT64_MAX, "0000-00-00T00:00:00.000Z"},
        {INT64_MIN, "0000-00-00T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        assay_wall_text(rows[i].ms, text);
        cr_assert_str_eq(text, rows[i].text);
    }
}

Test(clock, clocks_advance_together) {
    const uint64_t raw = assay_clock_ns(), steady = assay_deadline_ns();
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)nanosleep(&pause, NULL);
    const uint64_t raw_ns = assay_clock_ns() - raw, steady_ns = assay_deadline_ns() - steady;
    cr_assert_geq(raw_ns, 19000000u);
    cr_assert_geq(steady_ns, 19000000u);
    cr_assert_lt(raw_ns, UINT64_C(10000000000));
}

Test(clock, wall_is_now) {
    const int64_t before = (int64_t)time(NULL) * 1000;
    const int64_t now = assay_wall_ms();
    cr_assert_geq(now, before - 1000);
    cr_assert_leq(now, (int64_t)time(NULL) * 1000 + 2000);
}
