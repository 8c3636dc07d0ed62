/* nvml.c - NVIDIA's management library through dlopen. Types and numbers are those of its documented C
 * interface; no header of it is needed. */
#include "nvml.h"

#include "digest.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID_TEXT_BYTES 96
#define UUID_BYTES      16
#define CLOCK_SM        1
#define CLOCK_MEMORY    2
#define SENSOR_GPU      0

typedef void *device_handle; /* an opaque pointer of the library */

/* X(field, symbol, fallback symbol or NULL, required, parameters): all return 0 for success. */
#define FUNCTION_LIST(X)                                                                                     \
    X(init, "nvmlInit_v2", "nvmlInit", true, (void))                                                         \
    X(shutdown, "nvmlShutdown", NULL, true, (void))                                                          \
    X(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", true, (unsigned *))                              \
    X(by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", true,                         \
      (unsigned, device_handle *))                                                                           \
    X(uuid, "nvmlDeviceGetUUID", NULL, false, (device_handle, char *, unsigned))                             \
    X(clock, "nvmlDeviceGetClockInfo", NULL, false, (device_handle, int, unsigned *))                        \
    X(temperature, "nvmlDeviceGetTemperature", NULL, false, (device_handle, int, unsigned *))                \
    X(power, "nvmlDeviceGetPowerUsage", NULL, false, (device_handle, unsigned *))                            \
    X(reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", false, \
      (device_handle, unsigned long long *))

struct assay_nvml {
    void *library;
    device_handle device;
    bool initialised, by_uuid;
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator */
#define X(field, symbol, fallback, required, parameters) int(*field) parameters;
    FUNCTION_LIST(X)
#undef X
};

__attribute__((format(printf, 3, 4))) static bool say(char *why, size_t bytes, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, bytes, format, args);
    va_end(args);
    return false;
}

/* Stores the address of a function into a function pointer of any type; false when there is none. */
static bool resolve(void *library, const char *symbol, const char *fallback, void *function, size_t bytes) {
    void *address = dlsym(library, symbol);
    if (address == NULL && fallback != NULL) {
        address = dlsym(library, fallback);
    }
    memcpy(function, &address, bytes < sizeof address ? bytes : sizeof address);
    return address != NULL;
}

static bool load(assay_nvml *n, const char *library, char *why, size_t bytes) {
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) {
        (void)say(why, bytes, "NVML: %s cannot be opened", library);
        return false;
    }
#define X(field, symbol, fallback, required, parameters)                                                     \
    if (!resolve(n->library, symbol, fallback, &n->field, sizeof n->field) && (required)) {                  \
        (void)say(why, bytes, "NVML: %s has no function %s", library, symbol);                               \
        return false;                                                                                        \
    }
    FUNCTION_LIST(X)
#undef X
    const int status = n->init();
    if (status != 0) {
        (void)say(why, bytes, "NVML: it does not start (error %d)", status);
        return false;
    }
    n->initialised = true;
    return true;
}

/* "GPU-" and 16 bytes in hex with hyphens anywhere. */
static bool parse_uuid(const char *text, uint8_t uuid[UUID_BYTES]) {
    char hex[2 * UUID_BYTES + 1];
    size_t used = 0;
    if (strncmp(text, "GPU-", 4) != 0) {
        return false;
    }
    for (const char *c = text + 4; *c != '\0'; c++) {
        if (*c == '-') {
            continue;
        }
        if (used == sizeof hex - 1 || !isxdigit((unsigned char)*c)) {
            return false;
        }
        hex[used++] = (char)tolower((unsigned char)*c);
    }
    hex[used] = '\0';
    return used == sizeof hex - 1 && assay_hex_parse(hex, uuid, UUID_BYTES);
}

static bool has_uuid(const assay_nvml *n, device_handle device, const char *uuid_sha256) {
    char text[UUID_TEXT_BYTES] = "";
    uint8_t uuid[UUID_BYTES];
    uint8_t hash[ASSAY_HASH_BYTES];
    char hex[2 * ASSAY_HASH_BYTES + 1];
    if (n->uuid == NULL || n->uuid(device, text, sizeof text - 1) != 0 || !parse_uuid(text, uuid)) {
        return false;
    }
    assay_sha256(uuid, sizeof uuid, hash);
    assay_hex(hash, sizeof hash, hex);
    return strcmp(hex, uuid_sha256) == 0;
}

static bool find(assay_nvml *n, const char *uuid_sha256, int ordinal, char *why, size_t bytes) {
    unsigned count = 0;
    if (n->count(&count) != 0) {
        return say(why, bytes, "NVML: it does not tell how many GPUs there are");
    }
    for (unsigned i = 0; i < count && uuid_sha256 != NULL && uuid_sha256[0] != '\0'; i++) {
        if (n->by_index(i, &n->device) == 0 && has_uuid(n, n->device, uuid_sha256)) {
            n->by_uuid = true;
            return true;
        }
    }
    if (ordinal < 0 || (unsigned)ordinal >= count || n->by_index((unsigned)ordinal, &n->device) != 0) {
        return say(why, bytes, "NVML: it knows no GPU %d (it has %u)", ordinal, count);
    }
    return true;
}

assay_nvml *assay_nvml_open(const char *library, const char *uuid_sha256, int ordinal, char *why,
                            size_t why_bytes) {
    assay_nvml *n = calloc(1, sizeof *n);
    if (n == NULL) {
        (void)say(why, why_bytes, "NVML: out of memory");
        return NULL;
    }
    if (!load(n, library != NULL ? library : ASSAY_NVML_LIBRARY, why, why_bytes) ||
        !find(n, uuid_sha256, ordinal, why, why_bytes)) {
        assay_nvml_close(n);
        return NULL;
    }
    return n;
}

void assay_nvml_close(assay_nvml *nvml) {
    if (nvml == NULL) {
        return;
    }
    if (nvml->initialised) {
        (void)nvml->shutdown();
    }
    if (nvml->library != NULL) {
        (void)dlclose(nvml->library);
    }
    free(nvml);
}

bool assay_nvml_by_uuid(const assay_nvml *nvml) {
    return nvml->by_uuid;
}

void assay_nvml_read(const assay_nvml *nvml, assay_nvml_reading *reading) {
    const assay_nvml *n = nvml;
    unsigned long long reasons = 0;
    *reading = (assay_nvml_reading){0};
    reading->has_sm_clock = n->clock != NULL && n->clock(n->device, CLOCK_SM, &reading->sm_clock_mhz) == 0;
    reading->has_memory_clock =
        n->clock != NULL && n->clock(n->device, CLOCK_MEMORY, &reading->memory_clock_mhz) == 0;
    reading->has_temperature =
        n->temperature != NULL && n->temperature(n->device, SENSOR_GPU, &reading->temperature_c) == 0;
    reading->has_power = n->power != NULL && n->power(n->device, &reading->power_mw) == 0;
    reading->has_reasons = n->reasons != NULL && n->reasons(n->device, &reasons) == 0;
    /* What a failed query may have left behind is no reading. */
    reading->sm_clock_mhz *= reading->has_sm_clock;
    reading->memory_clock_mhz *= reading->has_memory_clock;
    reading->temperature_c *= reading->has_temperature;
    reading->power_mw *= reading->has_power;
    reading->reasons = reading->has_reasons ? reasons : 0;
}

bool assay_nvml_throttled(const assay_nvml_reading *reading) {
    return (reading->reasons & ~ASSAY_NVML_HARMLESS) != 0;
}

void assay_nvml_reasons_text(uint64_t reasons, char *text, size_t bytes) {
    static const struct {
        uint64_t bit;
        const char *text;
    } names[] = {
#define X(id, bit, text) {bit, text},
        ASSAY_NVML_REASON_LIST(X)
#undef X
    };
    size_t used = 0;
    uint64_t rest = reasons;
    (void)snprintf(text, bytes, "%s", reasons == 0 ? "none" : "");
    for (size_t i = 0; i < sizeof names / sizeof names[0] && used < bytes; i++) {
        if ((reasons & names[i].bit) != 0) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used > 0 ? ", " : "", names[i].text);
            rest &= ~names[i].bit;
        }
    }
    if (rest != 0 && used < bytes) {
        (void)snprintf(text + used, bytes - used, "%s0x%llx", used > 0 ? ", " : "", (unsigned long long)rest);
    }
}
