/* report.c - the public entry points: one format to a stream, or everything into a directory. */
#include "report.h"

#include "report_file.h"
#include "report_render.h"
#include "report_witness.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *file;
} formats[] = {
#define X(id, text, file) {text, file},
    ASSAY_REPORT_LIST(X)
#undef X
};

const char *assay_report_format_text(assay_report_format format) {
    return (size_t)format < ASSAY_REPORT_COUNT ? formats[format].text : "unknown";
}

int assay_report_format_parse(const char *text, assay_report_format *format) {
    for (size_t i = 0; i < ASSAY_REPORT_COUNT; i++) {
        if (strcmp(text, formats[i].text) == 0) {
            *format = (assay_report_format)i;
            return 1;
        }
    }
    return 0;
}

/* Renders one format into *text (malloc'ed). `figures` may be NULL; then `note` says why. */
static assay_code render(const report_model *model, const report_figures *figures, const char *note,
                         assay_report_format format, char **text, size_t *bytes, assay_error *error) {
    *text = NULL;
    FILE *out = open_memstream(text, bytes);
    if (out == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing a report");
    }
    assay_code code = ASSAY_CODE_OK;
    report_doc doc;
    switch (format) {
    case ASSAY_REPORT_MD:
    case ASSAY_REPORT_HTML:
        report_doc_build(model, figures, note, &doc);
        if (model->arena->failed) {
            break;
        }
        if (format == ASSAY_REPORT_HTML) {
            report_render_html(&doc, out);
        } else {
            code = report_render_md(&doc, out, error);
        }
        break;
    case ASSAY_REPORT_JSON:
        code = report_render_json(model, out, error);
        break;
    case ASSAY_REPORT_JUNIT:
        report_render_junit(model, out);
        break;
    case ASSAY_REPORT_CTRF:
        code = report_render_ctrf(model, out, error);
        break;
    default:
        code = assay_fail(error, ASSAY_CODE_USAGE, "unknown report format %d", (int)format);
    }
    if (fclose(out) != 0 || (code == ASSAY_CODE_OK && model->arena->failed)) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing a report");
    }
    return code;
}

/* Draws the figures; without gnuplot *note becomes the line that the report shows, and the same goes to
 * stderr. */
static assay_code draw(const report_model *model, bool with_png, report_figures *figures, const char **note,
                       assay_error *error) {
    assay_error why = {0};
    const assay_code code = report_figures_draw(model, with_png, figures, &why);
    if (code == ASSAY_CODE_INCOMPLETE) {
        *note = report_printf(model->arena, "Figures are left out: %s.", why.text);
        (void)fprintf(stderr, "assay: figures are left out: %s\n", why.text);
        return ASSAY_CODE_OK;
    }
    return code == ASSAY_CODE_OK ? code : assay_fail(error, code, "%s", why.text);
}

assay_code assay_report_write(sqlite3 *db, int64_t run_id, assay_report_format format, FILE *out,
                              assay_error *error) {
    report_arena arena = {0};
    report_model model;
    report_figures figures = {0};
    const char *note = NULL;
    char *text = NULL;
    size_t bytes = 0;
    assay_code code = report_load(db, run_id, &arena, &model, error);
    if (code == ASSAY_CODE_OK && format == ASSAY_REPORT_HTML) {
        code = draw(&model, false, &figures, &note, error);
    } else if (format == ASSAY_REPORT_MD) { /* a file alone cannot carry figures */
        note = "Figures are part of the HTML report and of a report directory.";
    }
    if (code == ASSAY_CODE_OK) {
        code =
            render(&model, format == ASSAY_REPORT_HTML ? &figures : NULL, note, format, &text, &bytes, error);
    }
    if (code == ASSAY_CODE_OK && (fwrite(text, 1, bytes, out) != bytes || fflush(out) != 0)) {
        code = assay_fail(error, ASSAY_CODE_INTERNAL, "cannot write the report: is the disk full?");
    }
    free(text);
    report_figures_free(&figures);
    report_arena_free(&arena);
    return code;
}

/* `svg` on white paper: the ink is black, and a page that shows the file may be dark. (Inside the HTML report
 * the ink follows the page instead.) */
static const char *on_paper(const report_model *model, const char *svg) {
    static const char none[] = "fill=\"none\"";
    const char *canvas = strstr(svg, "<g id=\"gnuplot_canvas\"");
    const char *fill = canvas == NULL ? NULL : strstr(canvas, none);
    return fill == NULL ? svg
                        : report_printf(model->arena, "%.*sfill=\"#fff\"%s", (int)(fill - svg), svg,
                                        fill + sizeof none - 1);
}

static assay_code write_figures(const report_model *model, const report_figures *figures,
                                const char *directory, assay_error *error) {
    for (size_t i = 0; i < figures->count; i++) {
        const report_figure *f = &figures->items[i];
        const char *svg = on_paper(model, f->wide_svg);
        assay_code code = report_file_write(report_printf(model->arena, "%s/%s.svg", directory, f->id), svg,
                                            strlen(svg), error);
        if (code == ASSAY_CODE_OK) {
            code = report_file_write(report_printf(model->arena, "%s/%s.png", directory, f->id), f->png,
                                     f->png_bytes, error);
        }
        if (code != ASSAY_CODE_OK) {
            return code;
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code write_all(const report_model *model, const report_figures *figures, const char *note,
                            const char *directory, assay_error *error) {
    assay_code code = report_directory_make(directory, error);
    if (code == ASSAY_CODE_OK) {
        code = write_figures(model, figures, directory, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = report_witness_write(model, directory, error);
    }
    for (size_t i = 0; i < ASSAY_REPORT_COUNT && code == ASSAY_CODE_OK; i++) {
        char *text = NULL;
        size_t bytes = 0;
        code = render(model, figures, note, (assay_report_format)i, &text, &bytes, error);
        if (code == ASSAY_CODE_OK) {
            code = report_file_write(report_printf(model->arena, "%s/%s", directory, formats[i].file), text,
                                     bytes, error);
        }
        free(text);
    }
    return code;
}

assay_code assay_report_directory(sqlite3 *db, int64_t run_id, const char *directory, assay_error *error) {
    report_arena arena = {0};
    report_model model;
    report_figures figures = {0};
    const char *note = NULL;
    assay_code code = report_load(db, run_id, &arena, &model, error);
    if (code == ASSAY_CODE_OK) {
        code = draw(&model, true, &figures, &note, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = write_all(&model, &figures, note, directory, error);
    }
    report_figures_free(&figures);
    report_arena_free(&arena);
    return code;
}
