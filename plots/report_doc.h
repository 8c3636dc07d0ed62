/* report_doc.h - a report as a list of blocks, built once from the model and rendered as Markdown and as
 * HTML: the two cannot show different numbers. Text is plain; the only markup is REPORT_CODE_ON/OFF and
 * REPORT_STRONG_ON/OFF, control characters that report_clean() removes from all foreign text. */
#ifndef ASSAY_REPORT_DOC_H
#define ASSAY_REPORT_DOC_H

#include "report_figures.h"
#include "report_model.h"

#define REPORT_CODE_ON    "\x01"
#define REPORT_CODE_OFF   "\x02"
#define REPORT_STRONG_ON  "\x03"
#define REPORT_STRONG_OFF "\x04"

typedef enum report_tone {
    REPORT_TONE_NONE,
    REPORT_TONE_GOOD,
    REPORT_TONE_BAD,
    REPORT_TONE_DOUBT,
    REPORT_TONE_MUTED
} report_tone;

typedef enum report_cell_kind {
    REPORT_CELL_TEXT,
    REPORT_CELL_CODE,   /* a name, bits or a command */
    REPORT_CELL_NUMBER, /* right-aligned */
    REPORT_CELL_STATE,  /* a word with a tone, shown with a shape */
    REPORT_CELL_COMMAND /* a command line; folded away in HTML */
} report_cell_kind;

typedef struct report_cell {
    report_cell_kind kind;
    report_tone tone;
    const char *text;
    const char *detail; /* small print below the text; NULL = none */
} report_cell;

typedef struct report_table {
    const char *label;          /* what it shows; the table's accessible name */
    const char *const *columns; /* heads */
    size_t column_count;
    report_cell *cells; /* row by row */
    size_t cell_count;
} report_table;

typedef enum report_block_kind {
    REPORT_BLOCK_SECTION,
    REPORT_BLOCK_TEXT,
    REPORT_BLOCK_NOTE, /* small print under a table or a figure */
    REPORT_BLOCK_TABLE,
    REPORT_BLOCK_FIGURE,
    REPORT_BLOCK_COMMAND, /* one shell command */
    REPORT_BLOCK_CHECKS   /* HTML only: every check, by suite */
} report_block_kind;

typedef struct report_block {
    report_block_kind kind;
    const char *id;   /* section: anchor */
    const char *text; /* section: title; text, note, command: the text */
    report_table *table;
    const report_figure *figure;
} report_block;

typedef struct report_key_number {
    const char *value, *label;
} report_key_number;

typedef struct report_doc {
    report_arena *arena;
    const report_model *model;
    const char *title, *headline, *summary; /* summary: one paragraph */
    report_tone tone;
    report_key_number *keys;
    size_t key_count;
    report_block *blocks;
    size_t block_count;
} report_doc;

/* Builds the document. `figures` may be NULL: then the report says why there are none (`figure_note`). */
void report_doc_build(const report_model *model, const report_figures *figures, const char *figure_note,
                      report_doc *doc);

/* ---- used by the section files ---- */
void report_section(report_doc *doc, const char *id, const char *title);
void report_text(report_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_note(report_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_command(report_doc *doc, const char *command);
report_table *report_table_begin(report_doc *doc, const char *label, const char *const *columns,
                                 size_t column_count);
void report_cell_add(report_doc *doc, report_table *table, report_cell_kind kind, report_tone tone,
                     const char *text);
void report_cell_text(report_doc *doc, report_table *table, const char *text);
void report_cell_code(report_doc *doc, report_table *table, const char *text);
void report_cell_number(report_doc *doc, report_table *table, const char *text);
void report_cell_state(report_doc *doc, report_table *table, report_tone tone, const char *text);
/* Gives the cell added last its small print; "" adds none. */
void report_cell_detail(report_doc *doc, report_table *table, const char *text);
void report_cell_outcome(report_doc *doc, report_table *table, const report_check *check);
/* The figures whose id starts with `prefix`. */
void report_figures_add(report_doc *doc, const report_figures *figures, const char *prefix);

report_tone report_outcome_tone(assay_outcome outcome);
report_tone report_state_tone(assay_promise_state state);
/* "1 check", "2 checks" */
const char *report_plural(report_arena *arena, uint64_t n, const char *one, const char *many);

/* The table of a run on a GPU: one row per size and callable, its figures side by side
 * (report_timing_device.c). */
void report_timing_device_table(report_doc *doc);

/* Sections, in report_sections_*.c. */
void report_sections_promises(report_doc *doc);
void report_sections_findings(report_doc *doc);
void report_sections_parity(report_doc *doc, const report_figures *figures);
void report_sections_accuracy(report_doc *doc, const report_figures *figures);
void report_sections_invariance(report_doc *doc, const report_figures *figures);
void report_sections_others(report_doc *doc);
void report_sections_timing(report_doc *doc, const report_figures *figures);
void report_sections_selftest(report_doc *doc);
void report_sections_digests(report_doc *doc);
void report_sections_witnesses(report_doc *doc);
void report_sections_not_verified(report_doc *doc);
void report_sections_provenance(report_doc *doc);
void report_sections_reproduce(report_doc *doc);

#endif
