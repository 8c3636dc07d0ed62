/* report_figures.h - the figures of a run: which ones there are, and drawing them with gnuplot. */
#ifndef ASSAY_REPORT_FIGURES_H
#define ASSAY_REPORT_FIGURES_H

#include "error.h"
#include "report_model.h"

typedef struct report_figure {
    const char *id;      /* file name without ending, e.g. "ulp-accuracy" */
    const char *title;   /* one line */
    const char *caption; /* what is drawn, from how many elements; the text alternative */
    char *wide_svg;      /* 800 px wide; owned */
    char *narrow_svg;    /* 420 px wide, for phones; owned */
    char *png;           /* owned; NULL when not asked for */
    size_t wide_bytes, narrow_bytes, png_bytes;
} report_figure;

typedef struct report_figures {
    report_figure items[12];
    size_t count;
} report_figures;

/* Draws every figure that the evidence has data for, with `gnuplot` from PATH in a temporary directory of its
 * own. Figures live until report_figures_free. Returns OK with count = 0 when there is nothing to draw.
 * Errors: INCOMPLETE when gnuplot is missing or fails on a figure (text says why; the other figures are there
 * and must be freed), INTERNAL for faults of the machine. */
assay_code report_figures_draw(const report_model *model, bool with_png, report_figures *figures,
                               assay_error *error);
void report_figures_free(report_figures *figures);

#endif
