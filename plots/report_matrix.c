/* report_matrix.c - see the header. */
#include "report_matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool has_digit(const char *text) {
    while (*text != '\0' && !isdigit((unsigned char)*text)) {
        text++;
    }
    return *text != '\0';
}

/* The number inside a label ("T64", "seed3", "4097"), -1 without one. */
static double number_of(const char *label) {
    while (*label != '\0' && !isdigit((unsigned char)*label)) {
        label++;
    }
    return *label == '\0' ? -1.0 : strtod(label, NULL);
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

static void add(report_arena *arena, report_matrix *matrix, const report_check *check) {
    const char *rest = rest_of(check);
    const char *cut = NULL;
    for (const char *p = rest; *p != '\0'; p++) {
        if ((*p == '_' || *p == '/') && p != rest && p[1] != '\0') {
            cut = p;
        }
    }
    const char *label = cut == NULL ? rest : report_printf(arena, "%.*s", (int)(cut - rest), rest);
    report_matrix_row *row = row_of(arena, matrix, label);
    report_matrix_cell *cell =
        row == NULL ? NULL : report_arena_push(arena, (void **)&row->cells, &row->count, sizeof *cell);
    if (cell != NULL) {
        *cell = (report_matrix_cell){cut == NULL ? "" : cut + 1, check};
    }
}

/* Insertion sort by number: stable, and rows are short. */
static void sort_cells(report_matrix_row *row) {
    for (size_t i = 1; i < row->count; i++) {
        const report_matrix_cell cell = row->cells[i];
        size_t k = i;
        while (k > 0 && number_of(row->cells[k - 1].label) > number_of(cell.label)) {
            row->cells[k] = row->cells[k - 1];
            k--;
        }
        row->cells[k] = cell;
    }
}

bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix) {
    *matrix = (report_matrix){0};
    for (size_t i = 0; i < model->check_count; i++) {
        if (strcmp(model->checks[i].suite, suite) == 0) {
            add(model->arena, matrix, &model->checks[i]);
        }
    }
    for (size_t i = 0; i < matrix->count; i++) {
        report_matrix_row *row = &matrix->rows[i];
        if (row->count == 1 && !has_digit(row->cells[0].label)) {
            row->label = rest_of(row->cells[0].check);
            row->cells[0].label = "";
        }
        sort_cells(row);
    }
    return matrix->count > 0 && !model->arena->failed;
}
