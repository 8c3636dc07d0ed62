/* report_matrix.c - see the header. */
#include "report_matrix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct split {
    const report_check *check;
    const char *row, *column;
} split;

static split split_name(report_arena *arena, const report_check *check) {
    const char *rest = strchr(check->name, '/');
    rest = rest == NULL ? check->name : rest + 1;
    const char *cut = NULL;
    for (const char *p = rest; *p != '\0'; p++) {
        if ((*p == '_' || *p == '/') && p != rest) {
            cut = p;
        }
    }
    bool digit = false;
    for (const char *p = cut == NULL ? "" : cut + 1; *p != '\0'; p++) {
        digit = digit || isdigit((unsigned char)*p);
    }
    if (!digit) {
        return (split){check, rest, "-"};
    }
    return (split){check, report_printf(arena, "%.*s", (int)(cut - rest), rest), report_printf(arena, "%s", cut + 1)};
}

/* The number inside a label ("T64", "seed3", "4097"), -1 without one. */
static double number_of(const char *label) {
    while (*label != '\0' && !isdigit((unsigned char)*label)) {
        label++;
    }
    return *label == '\0' ? -1.0 : strtod(label, NULL);
}

static int by_column(const void *a, const void *b) {
    const char *x = *(const char *const *)a;
    const char *y = *(const char *const *)b;
    const double nx = number_of(x);
    const double ny = number_of(y);
    return nx < ny ? -1 : nx > ny ? 1 : strcmp(x, y);
}

static size_t find(const char *const *labels, size_t count, const char *label) {
    size_t i = 0;
    while (i < count && strcmp(labels[i], label) != 0) {
        i++;
    }
    return i;
}

static void label_add(report_arena *arena, const char ***labels, size_t *count, const char *label) {
    const char **slot = report_arena_push(arena, (void **)labels, count, sizeof *slot);
    if (slot != NULL) {
        *slot = label;
    }
}

/* Places the splits; false when two checks want one cell or memory runs out. */
static bool place(report_arena *arena, const split *splits, size_t n, report_matrix *m) {
    for (size_t i = 0; i < n; i++) {
        if (find(m->rows, m->row_count, splits[i].row) == m->row_count) {
            label_add(arena, &m->rows, &m->row_count, splits[i].row);
        }
        if (find(m->columns, m->column_count, splits[i].column) == m->column_count) {
            label_add(arena, &m->columns, &m->column_count, splits[i].column);
        }
    }
    m->cells = report_arena_alloc(arena, m->row_count * m->column_count * sizeof(const report_check *));
    if (arena->failed) {
        return false;
    }
    qsort(m->columns, m->column_count, sizeof *m->columns, by_column);
    for (size_t i = 0; i < n; i++) {
        const size_t at = find(m->rows, m->row_count, splits[i].row) * m->column_count +
                          find(m->columns, m->column_count, splits[i].column);
        if (m->cells[at] != NULL) {
            return false;
        }
        m->cells[at] = splits[i].check;
    }
    return true;
}

bool report_matrix_build(const report_model *model, const char *suite, report_matrix *matrix) {
    split *splits = NULL;
    size_t n = 0;
    for (size_t i = 0; i < model->check_count; i++) {
        if (strcmp(model->checks[i].suite, suite) == 0) {
            split *slot = report_arena_push(model->arena, (void **)&splits, &n, sizeof *slot);
            if (slot == NULL) {
                return false;
            }
            *slot = split_name(model->arena, &model->checks[i]);
        }
    }
    if (n == 0) {
        return false;
    }
    *matrix = (report_matrix){0};
    const bool placed = place(model->arena, splits, n, matrix);
    if (placed && matrix->column_count <= 12 && n * 4 >= matrix->row_count * matrix->column_count) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        const char *rest = strchr(splits[i].check->name, '/');
        splits[i].row = rest == NULL ? splits[i].check->name : rest + 1;
        splits[i].column = "-";
    }
    *matrix = (report_matrix){0};
    return place(model->arena, splits, n, matrix);
}
