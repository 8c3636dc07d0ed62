/* report_matrix.c - see the header. */
#include "report_matrix.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

/* The number of rows in a check's case, which cells are sorted by; 0 when the case does not say. */
static json_int_t rows_of(const report_check *check) {
    json_t *root = json_loads(check->case_json, 0, NULL);
    const json_int_t rows = json_integer_value(json_object_get(root, "rows"));
    json_decref(root);
    return rows;
}

static const char *rest_of(const report_check *check) {
    const char *slash = strchr(check->name, '/');
    return slash == NULL ? check->name : slash + 1;
}

static report_matrix_row *row_of(report_arena *arena, report_matrix *matrix, const char *label) {
    for (size_t i = 0; i < matrix->count; i++) {
        if (strcmp(matrix->rows[i].label, label) == 0) {
            return &matrix->rows[i];
        }
    }
    report_matrix_row *row = report_arena_push(arena, (void **)&matrix->rows, &matrix->count, sizeof *row);
    if (row != NULL) {
        row->label = label;
    }
    return row;
}

/* Where the cell part of a name begins: the first word that holds a digit; NULL when none does. */
static const char *cell_part(const char *rest) {
    const char *word = rest;
    for (const char *p = rest; *p != '\0'; p++) {
        if (*p == '_' || *p == '/') {
            word = p + 1;
        } else if (isdigit((unsigned char)*p)) {
            return word;
        }
    }
    return NULL;
}

/* The label of a cell: "f32_2048x256_seed3" becomes "f32 2048x256 s3". */
static const char *cell_label(report_arena *arena, const char *part) {
    char *label = report_arena_alloc(arena, strlen(part) + 1);
    char *w = label;
    for (const char *p = part; label != NULL && *p != '\0';) {
        const bool seed =
            strncmp(p, "seed", 4) == 0 && isdigit((unsigned char)p[4]) && (p == part || p[-1] == '_');
        if (seed) {
            *w++ = 's';
            p += 4;
        } else {
            *w++ = *p == '_' ? ' ' : *p;
            p++;
        }
    }
    return label == NULL ? "" : label;
}

static void add(report_arena *arena, report_matrix *matrix, const report_check *check) {
    const char *rest = rest_of(check);
    const char *part = cell_part(rest);
    const char *label = rest;
    if (part != NULL) {
        label = part == rest ? check->suite : report_printf(arena, "%.*s", (int)(part - rest - 1), rest);
    }
    report_matrix_row *row = row_of(arena, matrix, label);
    report_matrix_cell *cell =
        row == NULL ? NULL : report_arena_push(arena, (void **)&row->cells, &row->count, sizeof *cell);
    if (cell != NULL) {
        *cell = (report_matrix_cell){part == NULL ? "" : cell_label(arena, part), check, rows_of(check)};
    }
}

/* Insertion sort: stable, and rows are short. */
static void sort_cells(report_matrix_row *row) {
    for (size_t i = 1; i < row->count; i++) {
        const report_matrix_cell cell = row->cells[i];
        size_t k = i;
        while (k > 0 && row->cells[k - 1].rows > cell.rows) {
            row->cells[k] = row->cells[k - 1];
            k--;
        }
        row->cells[k] = cell;
    }
}

/* Moves rows of one cell ("replay/hard") into the row of their first part ("replay"), so that they share
 * lines. */
static void fold(report_arena *arena, report_matrix *matrix) {
    report_matrix folded = {0};
    for (size_t i = 0; i < matrix->count; i++) {
        const report_matrix_row *row = &matrix->rows[i];
        const char *slash = row->count == 1 ? strchr(row->label, '/') : NULL;
        const char *label =
            slash == NULL ? row->label : report_printf(arena, "%.*s", (int)(slash - row->label), row->label);
        report_matrix_row *to = row_of(arena, &folded, label);
        for (size_t k = 0; k < row->count && to != NULL; k++) {
            report_matrix_cell *cell =
                report_arena_push(arena, (void **)&to->cells, &to->count, sizeof *cell);
            if (cell == NULL) {
                return;
            }
            *cell = row->cells[k];
            if (slash != NULL) {
                cell->label = report_printf(arena, "%s%s%s", cell_label(arena, slash + 1),
                                            cell->label[0] == '\0' ? "" : " ", cell->label);
            }
        }
    }
    *matrix = folded;
}

bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix) {
    *matrix = (report_matrix){0};
    for (size_t i = 0; i < model->check_count; i++) {
        if (strcmp(model->checks[i].suite, suite) == 0) {
            add(model->arena, matrix, &model->checks[i]);
        }
    }
    fold(model->arena, matrix);
    for (size_t i = 0; i < matrix->count; i++) {
        sort_cells(&matrix->rows[i]);
    }
    return matrix->count > 0 && !model->arena->failed;
}
