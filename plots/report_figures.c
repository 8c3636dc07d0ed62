/* report_figures.c - decides which figures there are, writes gnuplot's scripts and data into a private
 * directory, runs it, takes the results. The scripts are templates (*.gp) behind assignments; nothing of the
 * evidence is ever a command. */
#include "report_figures.h"

#include "figure.h"
#include "report_assets.h"
#include "report_file.h"
#include "report_process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *id, *subject;
    bool (*plan)(const report_model *model, const char *subject, figure_plan *plan, FILE *set, FILE *data);
} kinds[] = {{"matrix-parity", "parity", figure_matrix},
             {"ulp-parity", "parity", figure_ulp},
             {"exponents-parity", "parity", figure_exponents},
             {"ulp-measured", "measured", figure_ulp},
             {"ulp-accuracy", "accuracy", figure_ulp},
             {"error-by-input", "accuracy", figure_profile},
             {"exponents-accuracy", "accuracy", figure_exponents},
             {"matrix-invariance", "invariance", figure_matrix},
             {"latency", "launch", figure_latency}, /* host, where there is nothing to launch */
             {"latency-device", "device", figure_latency}};

/* The three outputs of a figure. */
static const struct {
    const char *ending, *terminal, *title_font, *key_font, *footer_font;
    int narrow, title_width, footer_width;
} outputs[] = {
    {"wide.svg", "svg size 800,%d font 'DejaVu Sans,13' noenhanced linewidth 1", ",14", ",12", ",10", 0, 90,
     200},
    {"narrow.svg", "svg size 420,%d font 'DejaVu Sans,12' noenhanced linewidth 1", ",13", ",11", ",9", 1, 48,
     72},
    {"png",
     "pngcairo size 1600,%d fontscale 2 font 'DejaVu Sans,9.75' noenhanced linewidth 2 background '#ffffff'",
     ",10.5", ",9", ",7.5", 0, 90, 200}};

static void write_output(FILE *script, const report_model *m, const figure_plan *p, size_t k) {
    const int height = outputs[k].narrow ? p->narrow_height : p->wide_height;
    (void)fputs("reset\nset terminal ", script);
    /* The format comes from the table above, never from evidence. */
    (void)fputs(report_printf(m->arena,
                              k == 2   ? outputs[2].terminal
                              : k == 1 ? outputs[1].terminal
                                       : outputs[0].terminal,
                              k == 2 ? height * 2 : height),
                script);
    (void)fprintf(script,
                  "\nset output '%s.%s'\nNARROW = %d\nDATA = '%s.data'\nTITLEFONT = '%s'\nKEYFONT = "
                  "'%s'\nFOOTERFONT = '%s'\n",
                  p->id, outputs[k].ending, outputs[k].narrow, p->id, outputs[k].title_font,
                  outputs[k].key_font, outputs[k].footer_font);
    figure_assign(script, "TITLE", figure_wrap(m->arena, p->title, (size_t)outputs[k].title_width));
    figure_assign(script, "FOOTER", figure_wrap(m->arena, figure_footer(m), (size_t)outputs[k].footer_width));
    (void)fprintf(script, "%s\n%s\n%s\nset output\n", p->settings, report_asset_text("figure_style.gp"),
                  report_asset_text(p->template_name));
}

static assay_code write_script(const report_model *m, const figure_plan *p, bool with_png,
                               const char *directory, assay_error *error) {
    char *script = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&script, &bytes);
    if (out == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while drawing figures");
    }
    for (size_t k = 0; k < (with_png ? 3u : 2u); k++) {
        write_output(out, m, p, k);
    }
    assay_code code =
        fclose(out) == 0 && !m->arena->failed
            ? report_file_write(report_printf(m->arena, "%s/%s.gp", directory, p->id), script, bytes, error)
            : assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while drawing figures");
    if (code == ASSAY_CODE_OK) {
        code = report_file_write(report_printf(m->arena, "%s/%s.data", directory, p->id), p->data,
                                 strlen(p->data), error);
    }
    free(script);
    return code;
}

static bool take(const report_model *m, const char *directory, const char *id, size_t k, char **text,
                 size_t *bytes) {
    return report_file_read(report_printf(m->arena, "%s/%s.%s", directory, id, outputs[k].ending), text,
                            bytes) &&
           *bytes > 0;
}

/* The time-out of one gnuplot run: three outputs of at most a few thousand cells take well under a second. */
#define GNUPLOT_TIMEOUT_MS 60000

static assay_code draw_one(const report_model *m, const figure_plan *p, bool with_png, const char *directory,
                           report_figures *figures, assay_error *error) {
    const char *const argv[] = {"gnuplot", "-d", report_printf(m->arena, "%s.gp", p->id), NULL};
    char said[256] = "";
    assay_code code = write_script(m, p, with_png, directory, error);
    if (code == ASSAY_CODE_OK) {
        code = report_process_run(argv, directory, GNUPLOT_TIMEOUT_MS, said, sizeof said, error);
    }
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    report_figure *f = &figures->items[figures->count++];
    *f = (report_figure){.id = p->id, .title = p->title, .caption = p->caption};
    if (!take(m, directory, p->id, 0, &f->wide_svg, &f->wide_bytes) ||
        !take(m, directory, p->id, 1, &f->narrow_svg, &f->narrow_bytes) ||
        (with_png && !take(m, directory, p->id, 2, &f->png, &f->png_bytes))) {
        figures->count--;
        free(f->wide_svg);
        free(f->narrow_svg);
        free(f->png);
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "gnuplot drew no figure %s: %s", p->id, said);
    }
    return ASSAY_CODE_OK;
}

/* Plans figure `k`; false when there is nothing to draw. Settings and data are malloc'ed in any case. */
static bool plan_one(const report_model *m, size_t k, figure_plan *p) {
    size_t set_bytes = 0;
    size_t data_bytes = 0;
    *p = (figure_plan){.id = kinds[k].id};
    FILE *set = open_memstream(&p->settings, &set_bytes);
    FILE *data = open_memstream(&p->data, &data_bytes);
    bool ok = set != NULL && data != NULL && kinds[k].plan(m, kinds[k].subject, p, set, data);
    ok = (set == NULL || fclose(set) == 0) && ok;
    ok = (data == NULL || fclose(data) == 0) && ok;
    return ok && !m->arena->failed;
}

assay_code report_figures_draw(const report_model *m, bool with_png, report_figures *figures,
                               assay_error *error) {
    const char *base = getenv("TMPDIR");
    char *directory = NULL;
    assay_code code = ASSAY_CODE_OK;
    assay_code worst = ASSAY_CODE_OK;
    *figures = (report_figures){0};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && code != ASSAY_CODE_INTERNAL; k++) {
        figure_plan p;
        if (plan_one(m, k, &p)) {
            if (directory == NULL) {
                directory = strdup(report_printf(m->arena, "%s/assay-figures-XXXXXX",
                                                 base != NULL && base[0] == '/' ? base : "/tmp"));
                if (directory == NULL || mkdtemp(directory) == NULL) {
                    code = assay_fail(error, ASSAY_CODE_INCOMPLETE,
                                      "no temporary directory could be made for gnuplot");
                    free(directory);
                    directory = NULL;
                }
            }
            if (directory != NULL) {
                code = draw_one(m, &p, with_png, directory, figures, worst == ASSAY_CODE_OK ? error : NULL);
            }
            worst = code != ASSAY_CODE_OK
                        ? code
                        : worst; /* one figure that fails does not take the others with it */
        }
        free(p.settings);
        free(p.data);
    }
    if (directory != NULL) {
        report_process_clear(directory);
        free(directory);
    }
    if (m->arena->failed) {
        worst = assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while drawing figures");
    }
    if (worst == ASSAY_CODE_INTERNAL) {
        report_figures_free(figures);
    }
    return worst;
}

void report_figures_free(report_figures *figures) {
    for (size_t i = 0; i < figures->count; i++) {
        free(figures->items[i].wide_svg);
        free(figures->items[i].narrow_svg);
        free(figures->items[i].png);
    }
    *figures = (report_figures){0};
}
