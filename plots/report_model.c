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

const report_check *report_check_of(const report_model *model, int64_t seq) {
    size_t low = 0;
    size_t high = model->check_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model->checks[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < model->check_count && model->checks[low].seq == seq ? &model->checks[low] : NULL;
}

const report_metric *report_metric_of(const report_model *model, int64_t seq, const char *name) {
    size_t low = 0;
    size_t high = model->metric_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (model->metrics[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < model->metric_count && model->metrics[low].seq == seq; low++) {
        if (strcmp(model->metrics[low].name, name) == 0) {
            return &model->metrics[low];
        }
    }
    return NULL;
}

const report_element *report_element_of(const report_model *model, int64_t seq, const char *kind) {
    for (size_t i = 0; i < model->element_count; i++) {
        const report_element *e = &model->elements[i];
        if (e->seq == seq && strcmp(e->kind, kind) == 0) {
            return e;
        }
    }
    return NULL;
}

const report_binary *report_binary_of(const report_model *model, const char *role) {
    for (size_t i = 0; i < model->binary_count; i++) {
        if (strcmp(model->binaries[i].role, role) == 0) {
            return &model->binaries[i];
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
