/* runner_device.c - the GPU of a run: opened before anything is written, refused in one line when it is not
 * there.
 */
#include "runner_internal.h"

#include <stdio.h>
#include <string.h>

const assay_device_plugin *assay_runner_device_plugin(const char *device, assay_device **opened,
                                                      assay_error *error) {
    assay_error why = {0};
    const assay_device_plugin *plugin = assay_device_plugin_load(&why);
    *opened = NULL;
    if (plugin == NULL || plugin->open(assay_device_ordinal(device), opened, NULL, &why) != ASSAY_CODE_OK) {
        *opened = NULL;
        (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "--device %s: %s", device, why.text);
        return NULL;
    }
    return plugin;
}

assay_code assay_runner_device_open(assay_runner *r, const char *device, assay_error *error) {
    if (strcmp(device, "cpu") == 0) {
        return ASSAY_CODE_OK;
    }
    const int ordinal = assay_device_ordinal(device);
    if (ordinal < 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--device %s: unknown device (use cpu or cuda:N)", device);
    }
    r->context.plugin = assay_runner_device_plugin(device, &r->context.device, error);
    if (r->context.plugin == NULL) {
        return error->code;
    }
    (void)snprintf(r->device_name, sizeof r->device_name, "cuda:%d", ordinal);
    return ASSAY_CODE_OK;
}

void assay_runner_device_close(assay_runner *r) {
    if (r->context.device != NULL) {
        r->context.plugin->close(r->context.device);
        r->context.device = NULL;
    }
}

void assay_runner_device_options(const assay_runner *r, assay_worker_options *options) {
    if (r->context.device != NULL) {
        options->plugin = r->context.plugin;
        options->device = r->context.device;
        options->device_name = r->device_name;
    }
}

assay_code assay_runner_device_fits(const assay_runner *r, const assay_certify_options *o,
                                    assay_error *error) {
    const bool wants = assay_worker_get_info(r->lanes[0].candidate)->memory == ASSAY_MEMORY_CUDA;
    if (wants == (r->context.device != NULL)) {
        return ASSAY_CODE_OK;
    }
    return wants ? assay_fail(error, ASSAY_CODE_USAGE, "%s: the adapter wants CUDA memory, --device is %s",
                              o->impl_name, o->device)
                 : assay_fail(error, ASSAY_CODE_USAGE, "%s: the adapter works on host memory, --device is %s",
                              o->impl_name, o->device);
}

static void note_number(const assay_runner *r, const char *key, uint64_t value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    assay_provenance_set(r->provenance, key, text);
}

void assay_runner_device_note(const assay_runner *r) {
    if (r->context.device == NULL) {
        return;
    }
    const assay_device_info *info = r->context.plugin->info(r->context.device);
    char text[32];
    assay_provenance_set(r->provenance, "gpu.name", info->name);
    assay_provenance_set(r->provenance, "gpu.uuid_sha256", info->uuid_sha256);
    (void)snprintf(text, sizeof text, "sm_%d", info->sm);
    assay_provenance_set(r->provenance, "gpu.sm", text);
    note_number(r, "gpu.multiprocessors", (uint64_t)info->multiprocessors);
    note_number(r, "gpu.memory_bytes", info->memory_bytes);
    note_number(r, "gpu.l2_bytes", info->l2_bytes);
    (void)snprintf(text, sizeof text, "%d.%d", info->driver_version / 1000, info->driver_version % 1000 / 10);
    assay_provenance_set(r->provenance, "cuda.driver", text);
    (void)snprintf(text, sizeof text, "%d.%d", info->runtime_version / 1000,
                   info->runtime_version % 1000 / 10);
    assay_provenance_set(r->provenance, "cuda.runtime", text);
}

assay_code assay_runner_device_sweeps(const assay_runner *r, bool accuracy, assay_error *error) {
    const assay_worker *baseline = r->lanes[0].baseline;
    if (baseline != NULL && assay_worker_get_info(baseline)->memory != ASSAY_MEMORY_CUDA) {
        return assay_fail(
            error, ASSAY_CODE_USAGE,
            "--against %s: it works on host memory; a proof on a GPU compares on the device (give "
            "its root or database instead)",
            r->context.baseline_name);
    }
    if (accuracy && !r->context.plugin->has_golden(r->context.op->name)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "operator %s: the CUDA backend has no FP64 golden for it",
                          r->context.op->name);
    }
    return ASSAY_CODE_OK;
}
