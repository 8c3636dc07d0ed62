/* nvml.h - clocks, temperature, power and throttle reasons of a GPU, through NVIDIA's management library. The
 * library is opened at run time and may be missing: then there are no readings, and nothing fails. It must
 * not be used inside a timed region: some queries take a millisecond. */
#ifndef ASSAY_NVML_H
#define ASSAY_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_NVML_LIBRARY "libnvidia-ml.so.1"

/* X(identifier, bit, text): why clocks are what they are, as NVML numbers the reasons. */
#define ASSAY_NVML_REASON_LIST(X)                                                                            \
    X(IDLE, 0x1, "idle")                                                                                     \
    X(APPLICATION, 0x2, "application clocks setting")                                                        \
    X(SW_POWER_CAP, 0x4, "software power cap")                                                               \
    X(HW_SLOWDOWN, 0x8, "hardware slowdown")                                                                 \
    X(SYNC_BOOST, 0x10, "sync boost")                                                                        \
    X(SW_THERMAL, 0x20, "software thermal slowdown")                                                         \
    X(HW_THERMAL, 0x40, "hardware thermal slowdown")                                                         \
    X(HW_POWER_BRAKE, 0x80, "hardware power brake")                                                          \
    X(DISPLAY, 0x100, "display clock setting")

enum {
#define X(id, bit, text) ASSAY_NVML_REASON_##id = (bit),
    ASSAY_NVML_REASON_LIST(X)
#undef X
};

/* Reasons that slow nothing down which was asked for: an idle GPU, and clocks that somebody set. */
#define ASSAY_NVML_HARMLESS ((uint64_t)ASSAY_NVML_REASON_IDLE | (uint64_t)ASSAY_NVML_REASON_APPLICATION)

/* One reading. What the library could not tell is absent: its has_ flag is false and its value 0. */
typedef struct assay_nvml_reading {
    bool has_sm_clock, has_memory_clock, has_temperature, has_power, has_reasons;
    unsigned sm_clock_mhz, memory_clock_mhz, temperature_c, power_mw;
    uint64_t reasons; /* bits of ASSAY_NVML_REASON_LIST, others as the driver sets them */
} assay_nvml_reading;

typedef struct assay_nvml assay_nvml;

/* Opens `library` (NULL = ASSAY_NVML_LIBRARY) and finds the GPU whose UUID has this SHA-256 (64 hex digits,
 * of its 16 bytes; "" or NULL = unknown), else the one with this number in NVML's order. NULL when there is
 * no library, it lacks a function or it knows no such GPU; then `why` (why_bytes long) has one line. */
assay_nvml *assay_nvml_open(const char *library, const char *uuid_sha256, int ordinal, char *why,
                            size_t why_bytes);
/* Accepts NULL. */
void assay_nvml_close(assay_nvml *nvml);

/* True when the GPU was recognised by its UUID, false when its number had to do. */
bool assay_nvml_by_uuid(const assay_nvml *nvml);

/* Reads everything once. */
void assay_nvml_read(const assay_nvml *nvml, assay_nvml_reading *reading);

/* True when the reading shows a reason that is not harmless. */
bool assay_nvml_throttled(const assay_nvml_reading *reading);

/* The reasons as words, separated by ", "; "none" for 0; bits without a name as hex. */
void assay_nvml_reasons_text(uint64_t reasons, char *text, size_t bytes);

#endif
