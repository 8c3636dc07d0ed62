/* fake_nvml.h - what tests set in the fake management library. They open it with dlopen and look the state up
 * as FAKE_NVML_STATE: one library, one state per process. */
#ifndef ASSAY_FAKE_NVML_H
#define ASSAY_FAKE_NVML_H

#define FAKE_NVML_STATE   "fake_nvml_state"
#define FAKE_NVML_DEVICES 3

typedef struct fake_nvml {
    int init_status, count_status, query_status; /* what the functions return; 0 = success */
    int started;                                 /* nvmlInit_v2 minus nvmlShutdown */
    unsigned count;                              /* GPUs, at most FAKE_NVML_DEVICES */
    const char *uuid[FAKE_NVML_DEVICES];
    unsigned sm_clock[FAKE_NVML_DEVICES], memory_clock, temperature, power;
    unsigned long long reasons;
} fake_nvml;

#endif
