/* figure.h - what one figure needs before gnuplot runs: its words, the gnuplot variables and the data.
 * Private to plots. */
#ifndef ASSAY_FIGURE_H
#define ASSAY_FIGURE_H

#include "report_model.h"

#include <stdio.h>

typedef struct figure_plan {
    const char *id, *title, *caption, *template_name;
    int wide_height, narrow_height; /* pixels, at 800 and 420 width */
    char *settings;                 /* gnuplot assignments; malloc'ed */
    char *data;                     /* the data file; malloc'ed */
} figure_plan;

/* Each fills words and heights, writes assignments to `set` and rows to `data`, and returns false when the
 * evidence has nothing for it. The assignments must define what the template's first lines name. */
bool figure_ulp(const report_model *model, const char *subject, figure_plan *plan, FILE *set, FILE *data);
bool figure_exponents(const report_model *model, const char *subject, figure_plan *plan, FILE *set,
                      FILE *data);
bool figure_profile(const report_model *model, const char *subject, figure_plan *plan, FILE *set, FILE *data);
bool figure_latency(const report_model *model, const char *subject, figure_plan *plan, FILE *set, FILE *data);
bool figure_matrix(const report_model *model, const char *subject, figure_plan *plan, FILE *set, FILE *data);

/* A gnuplot string in double quotes: quotes and backslashes escaped, backquotes (which would run a command)
 * replaced. "\n" in `text` is a line break. */
void figure_string(FILE *out, const char *text);
/* `name = "text"` and a newline. */
void figure_assign(FILE *out, const char *name, const char *text);
/* Text for a quoted field of the data file: double quotes replaced. */
void figure_field(FILE *out, const char *text);
/* The same inside a single-quoted macro that gnuplot evaluates later: single quotes and commands are
 * impossible in it. */
void figure_macro_field(FILE *out, const char *text);
/* Tics for a decimal logarithmic axis from 10^low to 10^high, as the argument of `set ytics`: ("10⁻⁵" 1e-05,
 * ...), at most `most` of them, as an assignment to the macro `name`. */
void figure_decades(FILE *out, const char *name, int low, int high, int most);
/* Title broken into lines of at most `width` characters, at blanks. */
const char *figure_wrap(report_arena *arena, const char *text, size_t width);
/* "cpu · AMD EPYC ... · commit 65b3c8d" */
const char *figure_footer(const report_model *model);

#endif
