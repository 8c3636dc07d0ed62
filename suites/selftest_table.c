/* selftest_table.c - the subjects of a self-test, on the host and on a GPU, and how much of a run shows the
 * fault of each. */
#include "selftest_internal.h"

#include "../impls/mutants/cuda/subjects_cuda.h"
#include "../impls/mutants/subjects.h"
#include "device.h"
#include "runner_internal.h"

#include <string.h>

#define X(id, class_, suite_, expected_, source_, text_)                                                     \
    {.name = #id,                                                                                            \
     .class_name = #class_,                                                                                  \
     .suite = (suite_),                                                                                      \
     .expected = #expected_,                                                                                 \
     .source = (source_),                                                                                    \
     .text = (text_)},
static const assay_selftest_subject host_table[] = {MUTANT_LIST(X)};
static const assay_selftest_subject cuda_table[] = {CUDA_MUTANT_LIST(X)};
#undef X

/* Subjects that need more than the quick tier. Without `checks`, the suite meant for it is run. */
typedef struct deeper {
    const char *name, *checks;
} deeper;

static const deeper host_default[] = {
#define X(id) {#id, NULL},
    MUTANT_DEFAULT_TIER_LIST(X)
#undef X
};
static const deeper cuda_full[] = {
#define X(id, checks) {#id, checks},
    CUDA_MUTANT_FULL_TIER_LIST(X)
#undef X
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const deeper *find(const deeper *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static bool is_host(const char *device) {
    return device == NULL || strcmp(device, "cpu") == 0;
}

bool assay_selftest_on_device(const assay_selftest_options *options) {
    return !is_host(options->device);
}

const assay_selftest_subject *assay_selftest_table(const char *device, size_t *count) {
    *count = is_host(device) ? COUNT(host_table) : COUNT(cuda_table);
    return is_host(device) ? host_table : cuda_table;
}

void assay_selftest_narrow(const assay_selftest_options *o, const assay_selftest_subject *s,
                           assay_certify_options *options) {
    const bool device = assay_selftest_on_device(o);
    const deeper *more = device ? find(cuda_full, COUNT(cuda_full), s->name)
                                : find(host_default, COUNT(host_default), s->name);
    options->tier = more == NULL ? ASSAY_TIER_QUICK : device ? ASSAY_TIER_FULL : ASSAY_TIER_DEFAULT;
    /* A whole deeper tier takes ten seconds; on a GPU a broken context has to be made anew after each
     * check. */
    if (more != NULL || (device && s->suite[0] != '\0')) {
        options->suite_filter = s->suite;
    }
    if (more != NULL && more->checks != NULL) {
        options->check_filter = more->checks;
    }
}

assay_code assay_selftest_device_there(const assay_selftest_options *o, assay_error *error) {
    assay_device *device = NULL;
    if (!assay_selftest_on_device(o)) {
        return ASSAY_CODE_OK;
    }
    const assay_device_plugin *plugin = assay_runner_device_plugin(o->device, &device, error);
    if (plugin == NULL) {
        return error->code;
    }
    plugin->close(device);
    return ASSAY_CODE_OK;
}
