/* clock.c - the judge's clocks. */
#include "clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t read_ns(clockid_t id) {
    struct timespec t;
    (void)clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t assay_clock_ns(void) {
    return read_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t assay_deadline_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

int64_t assay_wall_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void assay_wall_text(int64_t wall_ms, char *text) {
    int64_t seconds = wall_ms / 1000;
    int64_t ms = wall_ms % 1000;
    if (ms < 0) { /* floor, so that times before 1970 read right too */
        ms += 1000;
        seconds -= 1;
    }
    const time_t t = (time_t)seconds;
    struct tm tm;
    /* A year beyond four digits does not fit the form of the text. */
    if (gmtime_r(&t, &tm) == NULL || tm.tm_year < -1900 || tm.tm_year > 8099) {
        (void)snprintf(text, 32, "0000-00-00T00:00:00.000Z");
        return;
    }
    char date[24];
    (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(text, 32, "%s.%03dZ", date, (int)ms);
}
