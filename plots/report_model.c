/* report_model.c - look-ups and small rules over a loaded run. */
#include "report_model.h"

#include <jansson.h>
#include <string.h>

const char *report_provenance(const report_model *model, const char *key) {
    for (size_t i = 0; i < model->provenance_count; i++) {
        if (strcmp(model->provenance[i].key, key) == 0) {
            return model->provenance[i].value;
        }
    }
    return "unknown";
}

const char *report_device(const report_model *model) {
    const char *gpu = report_provenance(model, "gpu.name");
    return strcmp(gpu, "unknown") == 0 ? model->device
                                       : report_printf(model->arena, "%s (%s)", gpu, model->device);
}

/* Items of all kinds begin with their check's number and are sorted by it. */
size_t report_first_of(const void *items, size_t count, size_t item_bytes, int64_t seq) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        int64_t at;
        memcpy(&at, (const char *)items + middle * item_bytes, sizeof at);
        if (at < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const report_check *report_check_of(const report_model *model, int64_t seq) {
    const size_t i = report_first_of(model->checks, model->check_count, sizeof *model->checks, seq);
    return i < model->check_count && model->checks[i].seq == seq ? &model->checks[i] : NULL;
}

const report_metric *report_metric_of(const report_model *model, int64_t seq, const char *name) {
    size_t i = report_first_of(model->metrics, model->metric_count, sizeof *model->metrics, seq);
    for (; i < model->metric_count && model->metrics[i].seq == seq; i++) {
        if (strcmp(model->metrics[i].name, name) == 0) {
            return &model->metrics[i];
        }
    }
    return NULL;
}

const report_element *report_element_of(const report_model *model, int64_t seq, const char *kind) {
    size_t i = report_first_of(model->elements, model->element_count, sizeof *model->elements, seq);
    for (; i < model->element_count && model->elements[i].seq == seq; i++) {
        if (strcmp(model->elements[i].kind, kind) == 0) {
            return &model->elements[i];
        }
    }
    return NULL;
}

uint64_t report_differing(const report_model *model, const report_check *check) {
    const report_metric *metric = report_metric_of(model, check->seq, "differing");
    return metric != NULL && metric->value >= 0 && metric->value < 0x1p63 ? (uint64_t)metric->value
                                                                          : check->bad;
}

bool report_check_alarms(const report_check *check) {
    switch (check->outcome) {
    case ASSAY_OUTCOME_PASS:
        return false;
    case ASSAY_OUTCOME_UNAVAILABLE:
    case ASSAY_OUTCOME_UNSUPPORTED:
    case ASSAY_OUTCOME_NOT_RUN:
        return check->required;
    default:
        return true;
    }
}

bool report_selftest_ok(const report_selftest *row) {
    if (strcmp(row->expected, "any") == 0) {
        return true;
    }
    if (strcmp(row->expected, "clean") == 0) {
        return strcmp(row->got, "pass") == 0;
    }
    /* A suite that did not run has caught nothing. */
    return strcmp(row->expected, "caught") == 0 &&
           (strcmp(row->got, "fail") == 0 || strcmp(row->got, "error") == 0 ||
            strcmp(row->got, "mistrusted") == 0);
}

bool report_contract_tolerance(const report_model *model, const char *relation, double *atol, double *rtol,
                               double *max_abs) {
    json_t *root = json_loads(model->contract_text, 0, NULL);
    json_t *rows = json_object_get(root, "tolerances");
    bool found = false;
    for (size_t i = 0; i < json_array_size(rows) && !found; i++) {
        json_t *row = json_array_get(rows, i);
        const char *is = json_string_value(json_object_get(row, "relation"));
        const char *dtype = json_string_value(json_object_get(row, "dtype"));
        if (is != NULL && dtype != NULL && strcmp(is, relation) == 0 && strcmp(dtype, "f32") == 0) {
            *atol = json_number_value(json_object_get(row, "atol"));
            *rtol = json_number_value(json_object_get(row, "rtol"));
            *max_abs = json_number_value(json_object_get(row, "max_abs"));
            found = true;
        }
    }
    json_decref(root);
    return found;
}
