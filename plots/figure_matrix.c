/* figure_matrix.c - the checks of a suite as coloured cells with words: colour is never the only sign. */
#include "figure.h"
#include "report_matrix.h"

#include <string.h>

#define MOST_ROWS 36

/* Kinds of cell, drawn as one plot each so that they have a key: equal, differ, other, in that order. */
static int cell_kind(const report_check *c) {
    return c->outcome == ASSAY_OUTCOME_PASS ? 1 : c->outcome == ASSAY_OUTCOME_FAIL ? 2 : 3;
}

static const char *cell_text(report_arena *a, const report_check *c, bool roomy) {
    if (c->outcome == ASSAY_OUTCOME_PASS) {
        return roomy ? report_printf(a, "equal \xc2\xb7 %s judged", report_short_count(a, c->elements)) : "=";
    }
    if (c->outcome == ASSAY_OUTCOME_FAIL) {
        const char *share = report_share_text(a, c->bad, c->elements);
        return roomy ? report_printf(a, "\xe2\x89\xa0 %s \xc2\xb7 %s of %s", share, report_short_count(a, c->bad),
                                     report_short_count(a, c->elements))
                     : report_printf(a, "\xe2\x89\xa0 %s", share);
    }
    return roomy ? report_words(a, assay_outcome_text(c->outcome)) : "?";
}

bool figure_matrix(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    report_arena *a = m->arena;
    report_matrix matrix;
    uint64_t kinds[4] = {0};
    uint64_t checks = 0;
    if (!report_matrix_build(m, subject, &matrix)) {
        return false;
    }
    const size_t rows = matrix.row_count < MOST_ROWS ? matrix.row_count : MOST_ROWS;
    const bool roomy = matrix.column_count == 1;
    size_t longest = 0;
    (void)fputs("YTICS = '(", set);
    for (size_t r = 0; r < rows; r++) {
        longest = strlen(matrix.rows[r]) > longest ? strlen(matrix.rows[r]) : longest;
        (void)fputs(r == 0 ? "" : ", ", set);
        figure_field(set, report_printf(a, "%.34s", matrix.rows[r]));
        (void)fprintf(set, " %zu", r);
    }
    (void)fputs(")'\nXTICS = '(", set);
    for (size_t k = 0; k < matrix.column_count; k++) {
        (void)fputs(k == 0 ? "" : ", ", set);
        figure_field(set, roomy ? "" : matrix.columns[k]);
        (void)fprintf(set, " %zu", k);
    }
    (void)fputs(")'\n", set);
    for (int kind = 1; kind <= 3; kind++) {
        for (size_t r = 0; r < rows; r++) {
            for (size_t k = 0; k < matrix.column_count; k++) {
                const report_check *c = matrix.cells[r * matrix.column_count + k];
                if (c != NULL && cell_kind(c) == kind) {
                    kinds[kind]++;
                    checks++;
                    (void)fprintf(data, "%zu %zu ", k, r);
                    figure_field(data, cell_text(a, c, roomy));
                    (void)fputc('\n', data);
                }
            }
        }
        (void)fputs("\n\n", data);
    }
    (void)fprintf(set, "ROWS = %zu\nCOLUMNS = %zu\nLONGEST = %zu\nHAS1 = %d\nHAS2 = %d\nHAS3 = %d\n", rows, matrix.column_count,
                  longest > 34 ? (size_t)34 : longest, kinds[1] > 0, kinds[2] > 0, kinds[3] > 0);
    (void)fprintf(set, "AT1 = 0\nAT2 = 1\nAT3 = 2\n");
    plan->title = report_printf(a, "%s of %s", strcmp(subject, "parity") == 0 ? "Parity" : "Invariance", m->implementation);
    plan->caption = report_printf(a, "%s equal, %s differ, %s neither, of %s.%s", report_count_text(a, kinds[1]),
                                  report_count_text(a, kinds[2]), report_count_text(a, kinds[3]),
                                  report_printf(a, "%s checks", report_count_text(a, checks)),
                                  rows < matrix.row_count
                                      ? report_printf(a, " The first %zu of %zu rows.", rows, matrix.row_count)
                                      : roomy ? "" : " Columns are sizes or seeds, as in the names of the checks.");
    plan->template_name = "figure_matrix.gp";
    plan->wide_height = 110 + 26 * (int)rows;
    plan->narrow_height = 130 + 24 * (int)rows;
    return true;
}
