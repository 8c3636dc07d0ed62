#include "operator.h"

const assay_operator_def *assay_operator_find(const char *name) {
    for (size_t i = 0; i < assay_operator_count; i++) {
        if (strcmp(assay_operators[i]->name, name) == 0) {
            return assay_operators[i];
        }
    }
    return NULL;
}
