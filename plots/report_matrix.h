/* report_matrix.h - the checks of a suite in groups: a row for each kind of check, its sizes (or places) in order. Used by the
 * tables and by the figures, so that both show the same cells. */
#ifndef ASSAY_REPORT_MATRIX_H
#define ASSAY_REPORT_MATRIX_H

#include "report_model.h"

typedef struct report_matrix_cell {
    const char *label; /* "64", "first"; "" when the group has no sizes */
    const report_check *check;
} report_matrix_cell;

typedef struct report_matrix_row {
    const char *label;
    report_matrix_cell *cells;
    size_t count;
} report_matrix_row;

typedef struct report_matrix {
    report_matrix_row *rows;
    size_t count;
} report_matrix;

/* Splits each name "<suite>/<row>_<cell>" at its last '_' or '/'. A split that leaves a row with a single cell without a digit is
 * undone ("over_read" stays one name). Rows in order of first appearance; cells by number, then in order of appearance. False
 * when the suite has no checks or memory runs out. */
bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix);

#endif
