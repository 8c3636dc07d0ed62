/* fake_device.h - the two halves of the fake plugin. */
#ifndef ASSAY_FAKE_DEVICE_H
#define ASSAY_FAKE_DEVICE_H

#include "device.h"

/* The worker host's half, space.c. */
assay_host_space *fake_space_open(int ordinal, size_t page_bytes, assay_error *error);

#endif
