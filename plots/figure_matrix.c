/* figure_matrix.c - the checks of a suite as coloured cells with words: colour is never the only sign. */
#include "figure.h"
#include "report_matrix.h"

#include <string.h>

#define MOST_LINES  60
#define LABEL_CHARS 24

/* Kinds of cell, drawn as one plot each so that they have a key: equal, differ, neither, in that order. */
static int cell_kind(const report_check *c) {
    return c->outcome == ASSAY_OUTCOME_PASS ? 0 : c->outcome == ASSAY_OUTCOME_FAIL ? 1 : 2;
}

static const char *result_text(report_arena *a, const report_check *c) {
    if (c->outcome == ASSAY_OUTCOME_PASS) {
        return "=";
    }
    return c->outcome == ASSAY_OUTCOME_FAIL
               ? report_printf(a, "\xe2\x89\xa0 %s", report_share_text(a, c->bad, c->elements))
               : report_words(a, assay_outcome_text(c->outcome));
}

/* Where each row of the matrix starts when a line holds `columns` cells; returns the number of lines, at most
 * MOST_LINES. *rows receives how many rows fit. */
static size_t lay_out(const report_matrix *m, size_t columns, size_t *starts, size_t *rows) {
    size_t lines = 0;
    *rows = 0;
    for (size_t r = 0; r < m->count && r < MOST_LINES; r++) {
        const size_t need = (m->rows[r].count + columns - 1) / columns;
        if (lines + need > MOST_LINES && r > 0) {
            break;
        }
        starts[r] = lines;
        lines += need;
        (*rows)++;
    }
    return lines;
}

/* Three blocks of cells (one per kind) for lines of `columns` cells, and the assignments that belong to them.
 */
static size_t write_layout(report_arena *a, const report_matrix *m, size_t columns, const char *suffix,
                           FILE *set, FILE *data) {
    size_t starts[MOST_LINES];
    size_t rows = 0;
    const size_t lines = lay_out(m, columns, starts, &rows);
    for (int kind = 0; kind < 3; kind++) {
        (void)fputs("-9 -9 \"\" \"\"\n", data); /* outside: gnuplot does not count an empty block */
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = 0; k < m->rows[r].count; k++) {
                const report_matrix_cell *cell = &m->rows[r].cells[k];
                if (cell_kind(cell->check) != kind || starts[r] + k / columns >= MOST_LINES) {
                    continue;
                }
                (void)fprintf(data, "%zu %zu ", k % columns, starts[r] + k / columns);
                figure_field(data, cell->label);
                (void)fputc(' ', data);
                figure_field(data, result_text(a, cell->check));
                (void)fputc('\n', data);
            }
        }
        (void)fputs("\n\n", data);
    }
    (void)fprintf(set, "LINES%s = %zu\nCOLUMNS%s = %zu\nYTICS%s = '(", suffix, lines, suffix, columns,
                  suffix);
    for (size_t r = 0; r < rows; r++) {
        const char *label = m->rows[r].label;
        size_t bytes = strlen(label);
        if (bytes > LABEL_CHARS) { /* never inside a UTF-8 sequence */
            bytes = LABEL_CHARS - 1;
            while (bytes > 0 && ((unsigned char)label[bytes] & 0xc0) == 0x80) {
                bytes--;
            }
            label = report_printf(a, "%.*s\xe2\x80\xa6", (int)bytes, label);
        }
        (void)fputs(r == 0 ? "" : ", ", set);
        figure_macro_field(set, label);
        (void)fprintf(set, " %zu", starts[r]);
    }
    (void)fputs(")'\n", set);
    return lines;
}

/* Cells per line when `room` characters of text fit in one: as many as the longest label allows, no more than
 * there are. */
static size_t columns_for(const report_matrix *m, size_t room, size_t most) {
    size_t widest = 1;
    size_t longest = 8; /* a result such as "\u2260 82.7 %" */
    for (size_t r = 0; r < m->count; r++) {
        widest = m->rows[r].count > widest ? m->rows[r].count : widest;
        for (size_t k = 0; k < m->rows[r].count; k++) {
            const size_t n = strlen(m->rows[r].cells[k].label);
            longest = n > longest ? n : longest;
        }
    }
    size_t columns = room / (longest + 1);
    columns = columns < 1 ? 1 : columns > most ? most : columns;
    return columns < widest ? columns : widest;
}

bool figure_matrix(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    report_arena *a = m->arena;
    report_matrix matrix;
    uint64_t kinds[3] = {0};
    size_t longest = 1;
    if (!report_matrix_build(m, subject, &matrix)) {
        return false;
    }
    for (size_t r = 0; r < matrix.count; r++) {
        const size_t n = strlen(matrix.rows[r].label);
        longest = n > longest ? n : longest;
        for (size_t k = 0; k < matrix.rows[r].count; k++) {
            kinds[cell_kind(matrix.rows[r].cells[k].check)]++;
        }
    }
    longest = longest > LABEL_CHARS ? LABEL_CHARS : longest;
    const size_t wide = write_layout(a, &matrix, columns_for(&matrix, 110 - longest, 8), "0", set, data);
    const size_t narrow = write_layout(a, &matrix, columns_for(&matrix, 62 - longest, 4), "1", set, data);
    (void)fprintf(set, "LONGEST = %zu\nHAS0 = %d\nHAS1 = %d\nHAS2 = %d\n", longest, kinds[0] > 0,
                  kinds[1] > 0, kinds[2] > 0);
    plan->title =
        report_printf(a, "%s of %s", strcmp(subject, "parity") == 0 ? "Parity" : "Invariance", m->candidate);
    plan->caption =
        report_printf(a,
                      "%s equal, %s with differences, %s neither, of %s checks. A cell is one check: its "
                      "size or place above, "
                      "the share of differing elements below.",
                      report_count_text(a, kinds[0]), report_count_text(a, kinds[1]),
                      report_count_text(a, kinds[2]), report_count_text(a, kinds[0] + kinds[1] + kinds[2]));
    plan->template_name = "figure_matrix.gp";
    plan->wide_height = 96 + 38 * (int)wide;
    plan->narrow_height = 128 + 34 * (int)narrow;
    if (wide >= MOST_LINES || narrow >= MOST_LINES) {
        plan->caption = report_printf(a, "%s Not all of them fit; the tables have the rest.", plan->caption);
    }
    return true;
}
