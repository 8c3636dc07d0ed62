/* fake_nvml.c - a management library without a GPU, for tests. It has the event-reasons function under its
 * older name only, so that the fallback is used. */
#include "fake_nvml.h"

#include <stdio.h>

/* The library's interface: no header declares it. */
#pragma GCC visibility push(default)
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);

extern fake_nvml fake_nvml_state;
#pragma GCC visibility pop

fake_nvml fake_nvml_state;
static char handles[FAKE_NVML_DEVICES]; /* handle of GPU i is the address of element i */

static size_t index_of(const void *device) {
    return (size_t)((const char *)device - handles);
}

/* Writes the value also when the query fails, as the real one might. */
static int answer(unsigned *to, unsigned value) {
    *to = value;
    return fake_nvml_state.query_status;
}

int nvmlInit_v2(void) {
    fake_nvml_state.started += fake_nvml_state.init_status == 0;
    return fake_nvml_state.init_status;
}

int nvmlShutdown(void) {
    fake_nvml_state.started--;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = fake_nvml_state.count;
    return fake_nvml_state.count_status;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if (index >= fake_nvml_state.count || index >= FAKE_NVML_DEVICES) {
        return 2;
    }
    *device = &handles[index];
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes) {
    const char *uuid = fake_nvml_state.uuid[index_of(device)];
    (void)snprintf(text, bytes, "%s", uuid != NULL ? uuid : "");
    return uuid != NULL ? 0 : 3;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz) {
    return answer(mhz, type == 1   ? fake_nvml_state.sm_clock[index_of(device)]
                       : type == 2 ? fake_nvml_state.memory_clock
                                   : 0);
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    (void)device;
    return sensor == 0 ? answer(celsius, fake_nvml_state.temperature) : 2;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    (void)device;
    return answer(milliwatts, fake_nvml_state.power);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
    (void)device;
    *reasons = fake_nvml_state.reasons;
    return fake_nvml_state.query_status;
}
