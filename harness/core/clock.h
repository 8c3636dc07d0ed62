/* clock.h - the judge's clocks. */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <stddef.h>
#include <stdint.h>

uint64_t assay_clock_ns(void);    /* CLOCK_MONOTONIC_RAW, for measuring */
uint64_t assay_deadline_ns(void); /* CLOCK_MONOTONIC, for deadlines */
int64_t assay_wall_ms(void);      /* CLOCK_REALTIME in milliseconds since 1970, for records only */
/* "2026-12-01T03:04:05.678Z"; `text` needs 32 bytes. */
void assay_wall_text(int64_t wall_ms, char *text);

#endif
