/* report_matrix.h - the checks of a suite as a matrix: rows are kinds of check, columns sizes. Used by the tables and by the
 * figures, so that both show the same cells. */
#ifndef ASSAY_REPORT_MATRIX_H
#define ASSAY_REPORT_MATRIX_H

#include "report_model.h"

typedef struct report_matrix {
    const char **rows, **columns; /* labels */
    size_t row_count, column_count;
    const report_check **cells; /* row * column_count + column; NULL = no such check */
} report_matrix;

/* Splits each name "<suite>/<row>_<column>" at its last '_' or '/', when what follows holds a digit; else the column is
 * "-". Rows in order of first appearance, columns by number, then by text. Two checks never share a cell: the later one gets
 * a row of its own. When the matrix would be mostly holes, everything goes into one column. False when the suite has no
 * checks or memory runs out. */
bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix);

#endif
