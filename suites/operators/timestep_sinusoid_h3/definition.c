/* definition.c - the entry of timestep_sinusoid_h3 in the registry. */
#include "assay_contract_timestep_sinusoid_h3.h"
#include "sinusoid.h"

#include <math.h>
#include <stdlib.h>

sinusoid_attrs sinusoid_attrs_read(const assay_attrs *attrs) {
    sinusoid_attrs result = {.half = 128, .max_period = 10000.0};
    for (size_t i = 0; i < attrs->count; i++) {
        const assay_attr *a = &attrs->items[i];
        if (strcmp(a->name, "width") == 0) {
            int64_t width = a->type == ASSAY_ATTR_FLOAT ? (int64_t)a->f : a->i;
            result.half = width > 0 && width % 2 == 0 ? (size_t)width / 2 : 0;
        } else if (strcmp(a->name, "max_period") == 0) {
            result.max_period = a->type == ASSAY_ATTR_FLOAT ? a->f : (double)a->i;
        }
    }
    return result;
}

void *sinusoid_alloc(size_t count, size_t size) {
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL) {
        (void)fputs("assay: out of memory in timestep_sinusoid_h3\n", stderr);
        abort();
    }
    return memory;
}

void sinusoid_frequencies_f64(sinusoid_attrs attrs, double *freq) {
    long double log_period = logl((long double)attrs.max_period);
    for (size_t k = 0; k < attrs.half; k++) {
        freq[k] = (double)expl(-log_period * (long double)k / (long double)attrs.half);
    }
}

/* Channels of an output row; 0 for widths that the contract forbids. */
static size_t channels(const assay_attrs *attrs) {
    return 2 * sinusoid_attrs_read(attrs).half;
}

static const char *const lineages[] = {"h3-cuda", "libm", NULL};

extern const assay_operator_def assay_operator_timestep_sinusoid_h3;
const assay_operator_def assay_operator_timestep_sinusoid_h3 = {
    .name = "timestep_sinusoid_h3",
    .contract_json = assay_contract_timestep_sinusoid_h3,
    .contract_bytes = &assay_contract_timestep_sinusoid_h3_bytes,
    .channels = channels,
    .golden = sinusoid_golden,
    .exact = sinusoid_exact,
    .vjp = sinusoid_vjp,
    .lineages = lineages,
    .replay = sinusoid_replay,
    .replay_backward = sinusoid_replay_backward,
};
