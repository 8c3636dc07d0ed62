/* figure_matrix.c - the checks of a suite as coloured cells with words: colour is never the only sign. */
#include "figure.h"
#include "report_matrix.h"

#include <string.h>

#define MOST_LINES  60
#define LABEL_CHARS 24

/* Kinds of cell, drawn as one plot each so that they have a key. */
enum { EQUAL, DIFFER, MEASURED, NEITHER, KINDS };

static int cell_kind(const report_model *m, const report_check *c) {
    if (c->outcome == ASSAY_OUTCOME_PASS) {
        return report_differing(m, c) == 0 ? EQUAL : MEASURED;
    }
    return c->outcome == ASSAY_OUTCOME_FAIL ? DIFFER : NEITHER;
}

static const char *result_text(const report_model *m, const report_check *c) {
    switch (cell_kind(m, c)) {
    case EQUAL:
        return "=";
    case NEITHER:
        return report_words(m->arena, assay_outcome_text(c->outcome));
    default:
        return report_printf(m->arena, "\xe2\x89\xa0 %s",
                             report_share_text(m->arena, report_differing(m, c), c->elements));
    }
}

/* Cells on a line of this row when a line holds `room` characters: as many as its longest label allows, no
 * more than it has. */
static size_t columns_of(const report_matrix_row *row, size_t room, size_t most) {
    size_t longest = 8; /* a result such as "\u2260 82.7 %" */
    for (size_t k = 0; k < row->count; k++) {
        const size_t n = strlen(row->cells[k].label);
        longest = n > longest ? n : longest;
    }
    const size_t columns = room / (longest + 1);
    return columns < 1 ? 1 : columns > most ? most : columns;
}

/* One row of the matrix over as many lines as it needs from `line` on; only cells of one kind are written. */
static void write_row(const report_model *m, const report_matrix_row *row, size_t columns, size_t line,
                      int kind, FILE *data) {
    const double width = 1.0 / (double)columns;
    for (size_t k = 0; k < row->count; k++) {
        const report_matrix_cell *cell = &row->cells[k];
        if (cell_kind(m, cell->check) != kind || line + k / columns >= MOST_LINES) {
            continue;
        }
        (void)fprintf(data, "%.6f %zu %.6f ", ((double)(k % columns) + 0.5) * width, line + k / columns,
                      width / 2 - 0.003);
        figure_field(data, cell->label);
        (void)fputc(' ', data);
        figure_field(data, result_text(m, cell->check));
        (void)fputc('\n', data);
    }
}

static void write_label(report_arena *a, const char *label, size_t line, FILE *set) {
    size_t bytes = strlen(label);
    if (bytes > LABEL_CHARS) { /* never inside a UTF-8 sequence */
        bytes = LABEL_CHARS - 1;
        while (bytes > 0 && ((unsigned char)label[bytes] & 0xc0) == 0x80) {
            bytes--;
        }
        label = report_printf(a, "%.*s\xe2\x80\xa6", (int)bytes, label);
    }
    (void)fputs(line == 0 ? "" : ", ", set);
    figure_macro_field(set, label);
    (void)fprintf(set, " %zu", line);
}

/* One block of cells per kind, for lines of `room` characters, and the assignments that belong to them;
 * returns the number of lines, at most MOST_LINES. */
static size_t write_layout(const report_model *m, const report_matrix *matrix, size_t room, size_t most,
                           const char *suffix, FILE *set, FILE *data) {
    size_t lines = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        (void)fputs("-9 -9 0 \"\" \"\"\n", data); /* outside: gnuplot does not count an empty block */
        lines = 0;
        for (size_t r = 0; r < matrix->count; r++) {
            const report_matrix_row *row = &matrix->rows[r];
            const size_t columns = columns_of(row, room, most);
            write_row(m, row, columns, lines, kind, data);
            lines += (row->count + columns - 1) / columns;
        }
        (void)fputs("\n\n", data);
    }
    size_t line = 0;
    (void)fprintf(set, "YTICS%s = '(", suffix);
    for (size_t r = 0; r < matrix->count && line < MOST_LINES; r++) {
        const size_t columns = columns_of(&matrix->rows[r], room, most);
        write_label(m->arena, matrix->rows[r].label, line, set);
        line += (matrix->rows[r].count + columns - 1) / columns;
    }
    lines = lines < MOST_LINES ? lines : MOST_LINES;
    (void)fprintf(set, ")'\nLINES%s = %zu\n", suffix, lines);
    return lines;
}

bool figure_matrix(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    report_arena *a = m->arena;
    report_matrix matrix;
    uint64_t kinds[KINDS] = {0};
    size_t longest = 1;
    if (!report_matrix_build(m, subject, &matrix)) {
        return false;
    }
    for (size_t r = 0; r < matrix.count; r++) {
        const size_t n = strlen(matrix.rows[r].label);
        longest = n > longest ? n : longest;
        for (size_t k = 0; k < matrix.rows[r].count; k++) {
            kinds[cell_kind(m, matrix.rows[r].cells[k].check)]++;
        }
    }
    longest = longest > LABEL_CHARS ? LABEL_CHARS : longest;
    const size_t wide = write_layout(m, &matrix, 110 - longest, 9, "0", set, data);
    const size_t narrow = write_layout(m, &matrix, 60 - longest, 4, "1", set, data);
    (void)fprintf(set, "LONGEST = %zu\n", longest);
    for (int kind = 0; kind < KINDS; kind++) {
        (void)fprintf(set, "HAS%d = %d\n", kind, kinds[kind] > 0);
    }
    plan->title =
        report_printf(a, "%s of %s", strcmp(subject, "parity") == 0 ? "Parity" : "Invariance", m->candidate);
    plan->caption = report_printf(
        a,
        "Of %s checks %s found equal bytes, %s broke the promise%s%s. A cell is one check: its size or place "
        "above, the share of "
        "differing elements below.%s",
        report_count_text(a, kinds[EQUAL] + kinds[DIFFER] + kinds[MEASURED] + kinds[NEITHER]),
        report_count_text(a, kinds[EQUAL]), report_count_text(a, kinds[DIFFER]),
        kinds[MEASURED] > 0 ? report_printf(a, ", %s only measure", report_count_text(a, kinds[MEASURED]))
                            : "",
        kinds[NEITHER] > 0 ? report_printf(a, ", %s came to no result", report_count_text(a, kinds[NEITHER]))
                           : "",
        wide >= MOST_LINES || narrow >= MOST_LINES ? " Not all of them fit; the tables have the rest." : "");
    plan->template_name = "figure_matrix.gp";
    plan->wide_height = 96 + 38 * (int)wide;
    plan->narrow_height = 128 + 34 * (int)narrow;
    return true;
}
