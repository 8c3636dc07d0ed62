/* report_matrix.h - the checks of a suite in groups: a row for each kind of check, its sizes (or places) in
 * order. Used by the tables and by the figures, so that both show the same cells. */
#ifndef ASSAY_REPORT_MATRIX_H
#define ASSAY_REPORT_MATRIX_H

#include "report_model.h"

typedef struct report_matrix_cell {
    const char *label; /* "f32 64x256 s3"; "" when the name has no sizes */
    const report_check *check;
    int64_t rows; /* of its case */
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

/* Splits each name "<suite>/<row>_<cell>" before its first word (between '_' and '/') that holds a digit:
 * sizes, dtypes and seeds make the cell, "seedN" shortened to "sN"; a name without digits is a row with one
 * cell without a label. Rows in order of first appearance; a row "a/b" of one cell becomes a cell "b" of row
 * "a". Cells by the number of rows of their case, then in order of appearance. False when the suite has no
 * checks or memory runs out. */
bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix);

#endif
