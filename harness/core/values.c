/* values.c - value sets, addressable by index. */
#include "values.h"

#include "dtype.h"

#include <assert.h>

static const char *const kind_texts[] = {
#define X(id, text, meaning) text,
    ASSAY_VALUES_LIST(X)
#undef X
};

/* Fills `count` of a bit-pattern interval; `step` >= 1. */
static assay_code interval_make(assay_values *values, uint32_t step, assay_error *error) {
    const char *const text = kind_texts[values->kind];
    if (step == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "value set %s: step is 0; give a step of at least 1",
                          text);
    }
    if (values->lo_bits > values->hi_bits) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "value set %s: first bit pattern %08x lies above the last one %08x; swap them",
                          text, values->lo_bits, values->hi_bits);
    }
    values->count = (uint64_t)(values->hi_bits - values->lo_bits) / step + 1;
    return ASSAY_CODE_OK;
}

assay_code assay_values_make(assay_values *values, assay_error *error) {
    if ((size_t)values->kind >= ASSAY_VALUES_COUNT) {
        return assay_fail(error, ASSAY_CODE_USAGE, "value set: kind %u is not in the list",
                          (unsigned)values->kind);
    }
    if (values->kind == ASSAY_VALUES_STRIDE) {
        return interval_make(values, values->step, error);
    }
    if (values->kind == ASSAY_VALUES_ALL) {
        return interval_make(values, 1, error);
    }
    if (values->count == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "value set %s: zero values prove nothing; give a count",
                          kind_texts[values->kind]);
    }
    if (values->kind == ASSAY_VALUES_LIST && values->list == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "value set list: no list given");
    }
    return ASSAY_CODE_OK;
}

/* The forced ends: a uniform set of two or more values always holds 0 and 1. */
static void uniform_fill(const assay_values *values, uint64_t first, size_t n, float *out) {
    assay_philox_uniform(values->key, first, n, out);
    if (values->count > 1 && first == 0) {
        out[0] = 0.0f;
    }
    if (values->count > 1 && first + n == values->count) {
        out[n - 1] = 1.0f;
    }
}

void assay_values_fill(const assay_values *values, uint64_t first, size_t n, float *out) {
    assert(first <= values->count && n <= values->count - first);
    if (n == 0) {
        return;
    }
    switch (values->kind) {
    case ASSAY_VALUES_UNIFORM:
        uniform_fill(values, first, n, out);
        break;
    case ASSAY_VALUES_GRID:
        for (size_t i = 0; i < n; i++) {
            out[i] = values->count == 1 ? 0.0f : (float)((double)(first + i) / (double)(values->count - 1));
        }
        break;
    case ASSAY_VALUES_STRIDE:
    case ASSAY_VALUES_ALL: {
        const uint64_t step = values->kind == ASSAY_VALUES_ALL ? 1 : values->step;
        for (size_t i = 0; i < n; i++) {
            out[i] = assay_f32_from_bits((uint32_t)(values->lo_bits + (first + i) * step));
        }
        break;
    }
    case ASSAY_VALUES_LIST:
        for (size_t i = 0; i < n; i++) {
            out[i] = assay_f32_from_bits(values->list[first + i]);
        }
        break;
    case ASSAY_VALUES_COUNT:
        assert(values->kind != ASSAY_VALUES_COUNT);
    }
}
