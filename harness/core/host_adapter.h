/* host_adapter.h - loading a native adapter into the worker host and checking its descriptor. */
#ifndef ASSAY_HOST_ADAPTER_H
#define ASSAY_HOST_ADAPTER_H

#include "assay/adapter.h"
#include "error.h"

#include <jansson.h>

/* Loads the library and returns its descriptor after checking every pointer and count that the host uses.
 * NULL with one line that names the rule. The library stays loaded for the life of the process. */
const assay_adapter_info *assay_adapter_load(const char *path, assay_error *error);
/* The worker's hello for this descriptor (a new reference); NULL when a text is not UTF-8. */
json_t *assay_adapter_hello(const assay_adapter_info *info, assay_error *error);

#endif
