/* report_html.c - the document as one self-contained page. Works without its script; asks the network for
 * nothing. */
#include "report_assets.h"
#include "report_render.h"

#include <string.h>

static const char *tone_class(report_tone tone) {
    static const char *const names[] = {"none", "good", "bad", "doubt", "muted"};
    return names[(size_t)tone % 5];
}

void report_escape_xml(FILE *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\'':
            (void)fputs("&#39;", out);
            break;
        default:
            (void)fputc(*p, out);
        }
    }
}

static void rich_text(FILE *out, const char *text) {
    char one[2] = {0};
    for (const char *p = text; *p != '\0'; p++) {
        const char *tag = *p == REPORT_CODE_ON[0]      ? "<code>"
                          : *p == REPORT_CODE_OFF[0]   ? "</code>"
                          : *p == REPORT_STRONG_ON[0]  ? "<strong>"
                          : *p == REPORT_STRONG_OFF[0] ? "</strong>"
                                                       : NULL;
        if (tag != NULL) {
            (void)fputs(tag, out);
        } else {
            one[0] = *p;
            report_escape_xml(out, one);
        }
    }
}

static void icon(FILE *out, report_tone tone) {
    (void)fprintf(out,
                  "<svg class=\"icon\" aria-hidden=\"true\" focusable=\"false\"><use href=\"#i-%s\"/></svg>",
                  tone_class(tone));
}

static void state(FILE *out, report_tone tone, const char *text) {
    (void)fprintf(out, "<span class=\"state %s\">", tone_class(tone));
    icon(out, tone);
    rich_text(out, text);
    (void)fputs("</span>", out);
}

/* A command line folded away: long, and wanted rarely. */
static void command(FILE *out, const char *text) {
    (void)fputs("<details class=\"repro\"><summary>command</summary><code>", out);
    rich_text(out, text);
    (void)fputs("</code></details>", out);
}

static void cell(FILE *out, const report_cell *c, bool first) {
    const char *class_name = c->kind == REPORT_CELL_NUMBER                            ? " class=\"num\""
                             : c->kind == REPORT_CELL_STATE                           ? " class=\"is-state\""
                             : strlen(c->text) > 40 && c->kind != REPORT_CELL_COMMAND ? " class=\"long\""
                             : c->detail != NULL                                      ? " class=\"has-why\""
                                                                                      : "";
    (void)fprintf(out, first ? "<th scope=\"row\"%s>" : "<td%s>", class_name);
    if (c->kind == REPORT_CELL_STATE) {
        state(out, c->tone, c->text);
    } else if (c->kind == REPORT_CELL_COMMAND) {
        command(out, c->text);
    } else if (c->kind == REPORT_CELL_CODE && c->text[0] != '\0') {
        (void)fputs("<code>", out);
        rich_text(out, c->text);
        (void)fputs("</code>", out);
    } else {
        rich_text(out, c->text);
    }
    if (c->detail != NULL) {
        (void)fputs("<span class=\"why\">", out);
        rich_text(out, c->detail);
        (void)fputs("</span>", out);
    }
    (void)fputs(first ? "</th>" : "</td>", out);
}

static void table_open(FILE *out, const char *label) {
    (void)fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", out);
    report_escape_xml(out, label);
    (void)fputs("\">\n<table>\n<caption>", out);
    rich_text(out, label);
    (void)fputs("</caption>\n<thead><tr>", out);
}

static void table(FILE *out, const report_table *t) {
    const size_t rows = t->cell_count / t->column_count;
    table_open(out, t->label);
    for (size_t k = 0; k < t->column_count; k++) {
        const bool number = rows > 0 && t->cells[k].kind == REPORT_CELL_NUMBER;
        (void)fputs(number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">", out);
        rich_text(out, t->columns[k]);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t r = 0; r < rows; r++) {
        (void)fputs("<tr>", out);
        for (size_t k = 0; k < t->column_count; k++) {
            cell(out, &t->cells[r * t->column_count + k], k == 0);
        }
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", out);
}

/* Does `p` start an attribute that names or refers to an id? Returns the length up to the id, else 0. */
static size_t id_reference(const char *p) {
    static const char *const forms[] = {" id=\"", " id='", "xlink:href=\"#", "xlink:href='#", "url(#"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strncmp(p, forms[i], strlen(forms[i])) == 0) {
            return strlen(forms[i]);
        }
    }
    return 0;
}

/* A standalone SVG file inside the page: no prologue, ids made unique, ink in the text colour so that it
 * works light and dark, font and size left to the style sheet's family. */
static void inline_svg(FILE *out, const report_figure *f, const char *svg, const char *size) {
    static const struct {
        const char *from, *to;
    } swaps[] = {{"\"black\"", "\"currentColor\""},
                 {"'black'", "'currentColor'"},
                 {"'rgb(  0,   0,   0)'", "'currentColor'"},
                 {"\"rgb(0,0,0)\"", "\"currentColor\""},
                 {"xlink:href", "href"}};
    const char *body = strstr(svg, "<g id=\"gnuplot_canvas\"");
    const char *box = strstr(svg, "viewBox=\"");
    if (body == NULL || box == NULL) {
        return;
    }
    const char *box_end = strchr(box + 9, '"');
    (void)fprintf(out, "<svg class=\"%s\" role=\"img\" %.*s aria-label=\"", size,
                  box_end == NULL ? 0 : (int)(box_end - box + 1), box);
    report_escape_xml(out, f->title);
    (void)fputs("\">\n", out);
    for (const char *p = body; *p != '\0';) {
        const size_t id = id_reference(p);
        if (id > 0) {
            const size_t skip = strncmp(p, "xlink:", 6) == 0 ? 6 : 0;
            (void)fprintf(out, "%.*s%s-%s-", (int)(id - skip), p + skip, size, f->id);
            p += id;
            continue;
        }
        size_t k = 0;
        while (k < sizeof swaps / sizeof swaps[0] && strncmp(p, swaps[k].from, strlen(swaps[k].from)) != 0) {
            k++;
        }
        if (k < sizeof swaps / sizeof swaps[0]) {
            (void)fputs(swaps[k].to, out);
            p += strlen(swaps[k].from);
        } else {
            (void)fputc(*p++, out);
        }
    }
}

static void figure(FILE *out, const report_figure *f) {
    (void)fprintf(out, "<figure id=\"figure-%s\">\n", f->id);
    inline_svg(out, f, f->wide_svg, "wide");
    inline_svg(out, f, f->narrow_svg, "narrow");
    (void)fputs("<figcaption>", out);
    rich_text(out, f->caption);
    (void)fputs("</figcaption>\n</figure>\n", out);
}

static void check_row(FILE *out, report_arena *a, const report_check *c) {
    const char *outcome = assay_outcome_text(c->outcome);
    (void)fprintf(out, "<tr data-outcome=\"%s\"><th scope=\"row\" class=\"long\"><code>", outcome);
    rich_text(out, c->name);
    (void)fputs("</code>", out);
    if (c->reason[0] != '\0') {
        (void)fputs("<span class=\"why\">", out);
        rich_text(out, c->reason);
        (void)fputs("</span>", out);
    }
    (void)fputs("</th><td class=\"is-state\">", out);
    state(out, report_outcome_tone(c->outcome), report_words(a, outcome));
    (void)fprintf(
        out, "</td><td class=\"num\">%s</td><td class=\"num\">%s</td><td>%s%s</td><td class=\"num\">%s</td>",
        report_count_text(a, c->elements), report_count_text(a, c->bad), c->strength,
        c->required ? "" : ", optional", report_ns_text(a, (double)c->duration_ns));
    (void)fputs("<td>", out);
    command(out, c->repro);
    (void)fputs("</td></tr>\n", out);
}

static void checks_of_suite(FILE *out, const report_model *m, const char *suite) {
    static const char *const heads[] = {"Check", "Outcome", "Judged", "Bad", "Strength", "Time", "Reproduce"};
    uint64_t all = 0;
    uint64_t passed = 0;
    for (size_t i = 0; i < m->check_count; i++) {
        if (strcmp(m->checks[i].suite, suite) == 0) {
            all++;
            passed += m->checks[i].outcome == ASSAY_OUTCOME_PASS;
        }
    }
    (void)fprintf(out, "<details class=\"suite\"%s>\n<summary>", passed == all ? "" : " open");
    (void)fprintf(out, "<span class=\"state %s\">", passed == all ? "good" : "doubt");
    icon(out, passed == all ? REPORT_TONE_GOOD : REPORT_TONE_DOUBT);
    (void)fputs("</span><strong>", out);
    rich_text(out, suite);
    (void)fprintf(out, "</strong> <span class=\"count\">%s of %s passed</span></summary>\n",
                  report_count_text(m->arena, passed), report_count_text(m->arena, all));
    table_open(out, report_printf(m->arena, "Checks of the suite %s", suite));
    for (size_t k = 0; k < sizeof heads / sizeof heads[0]; k++) {
        const bool number = k == 2 || k == 3 || k == 5;
        (void)fprintf(out, "<th scope=\"col\"%s>%s</th>", number ? " class=\"num\"" : "", heads[k]);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < m->check_count; i++) {
        if (strcmp(m->checks[i].suite, suite) == 0) {
            check_row(out, m->arena, &m->checks[i]);
        }
    }
    (void)fputs("</tbody>\n</table>\n</div>\n</details>\n", out);
}

static void checks(FILE *out, const report_model *m) {
    (void)fputs("<div id=\"filter\"></div>\n", out); /* the script puts its box here */
    for (size_t i = 0; i < m->check_count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) {
            seen = strcmp(m->checks[k].suite, m->checks[i].suite) == 0;
        }
        if (!seen) {
            checks_of_suite(out, m, m->checks[i].suite);
        }
    }
}

static void block(FILE *out, const report_doc *doc, const report_block *b) {
    switch (b->kind) {
    case REPORT_BLOCK_SECTION:
        (void)fputs(b == doc->blocks ? "" : "</section>\n", out);
        (void)fprintf(out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">", b->id, b->id,
                      b->id);
        rich_text(out, b->text);
        (void)fputs("</h2>\n", out);
        break;
    case REPORT_BLOCK_TEXT:
    case REPORT_BLOCK_NOTE:
        (void)fputs(b->kind == REPORT_BLOCK_NOTE ? "<p class=\"note\">" : "<p>", out);
        rich_text(out, b->text);
        (void)fputs("</p>\n", out);
        break;
    case REPORT_BLOCK_TABLE:
        table(out, b->table);
        break;
    case REPORT_BLOCK_COMMAND:
        (void)fputs("<pre tabindex=\"0\"><code>", out);
        rich_text(out, b->text);
        (void)fputs("</code></pre>\n", out);
        break;
    case REPORT_BLOCK_FIGURE:
        figure(out, b->figure);
        break;
    case REPORT_BLOCK_CHECKS:
        checks(out, doc->model);
        break;
    }
}

static void head(FILE *out, const report_doc *doc) {
    (void)fputs(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>",
        out);
    rich_text(out, doc->title);
    (void)fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", report_asset_text("report.css"));
    (void)fputs(
        "<a class=\"skip\" href=\"#promises\">Skip to the promises</a>\n"
        "<svg width=\"0\" height=\"0\" class=\"symbols\" aria-hidden=\"true\" focusable=\"false\">\n"
        "<symbol id=\"i-good\" viewBox=\"0 0 16 16\"><circle cx=\"8\" cy=\"8\" r=\"8\"/>"
        "<path class=\"cut\" d=\"M4.2 8.3l2.6 2.6 5-5.4\"/></symbol>\n"
        "<symbol id=\"i-bad\" viewBox=\"0 0 16 16\"><path d=\"M4.7 0h6.6L16 4.7v6.6L11.3 16H4.7L0 "
        "11.3V4.7z\"/>"
        "<path class=\"cut\" d=\"M5 5l6 6M11 5l-6 6\"/></symbol>\n"
        "<symbol id=\"i-doubt\" viewBox=\"0 0 16 16\"><path d=\"M8 .6L16 15.4H0z\"/>"
        "<path class=\"cut\" d=\"M8 6v4.2M8 12.4v.9\"/></symbol>\n"
        "<symbol id=\"i-muted\" viewBox=\"0 0 16 16\"><circle class=\"ring\" cx=\"8\" cy=\"8\" r=\"7\"/>"
        "<path class=\"dash\" d=\"M5 8h6\"/></symbol>\n</svg>\n",
        out);
}

static void hero(FILE *out, const report_doc *doc) {
    const report_model *m = doc->model;
    (void)fprintf(out, "<header class=\"hero %s\">\n<p class=\"verdict\">", tone_class(doc->tone));
    icon(out, doc->tone);
    (void)fputs("<span>", out);
    rich_text(out, m->verdict);
    (void)fputs("</span></p>\n<h1>", out);
    rich_text(out, m->operator_name);
    (void)fputs("<small> ", out);
    rich_text(out, report_printf(m->arena, "%s of %s", m->kind, m->candidate));
    (void)fputs("</small></h1>\n", out);
    if (doc->headline[0] != '\0') {
        (void)fputs("<p class=\"reason\">", out);
        rich_text(out, doc->headline);
        (void)fputs("</p>\n", out);
    }
    (void)fputs("<ul class=\"chips\" aria-label=\"Promises and their states\">\n", out);
    for (size_t i = 0; i < m->promise_count; i++) {
        const report_promise *p = &m->promises[i];
        const report_tone tone = !p->required && p->state == ASSAY_PROMISE_NOT_VERIFIED
                                     ? REPORT_TONE_MUTED
                                     : report_state_tone(p->state);
        (void)fprintf(out, "<li class=\"chip %s\">", tone_class(tone));
        icon(out, tone);
        rich_text(out, report_words(m->arena, p->name));
        (void)fputs(" <b>", out);
        rich_text(out, report_words(m->arena, assay_promise_text(p->state)));
        (void)fputs("</b></li>\n", out);
    }
    (void)fputs("</ul>\n<dl class=\"keys\">\n", out);
    for (size_t i = 0; i < doc->key_count; i++) {
        (void)fputs("<div><dt>", out);
        rich_text(out, doc->keys[i].label);
        (void)fputs("</dt><dd>", out);
        rich_text(out, doc->keys[i].value);
        (void)fputs("</dd></div>\n", out);
    }
    (void)fputs("</dl>\n<p class=\"summary\">", out);
    rich_text(out, doc->summary);
    (void)fputs("</p>\n</header>\n", out);
}

void report_render_html(const report_doc *doc, FILE *out) {
    head(out, doc);
    hero(out, doc);
    (void)fputs("<div class=\"page\">\n<nav aria-label=\"Sections\"><ul>\n", out);
    for (size_t i = 0; i < doc->block_count; i++) {
        if (doc->blocks[i].kind == REPORT_BLOCK_SECTION) {
            (void)fprintf(out, "<li><a href=\"#%s\">", doc->blocks[i].id);
            rich_text(out, doc->blocks[i].text);
            (void)fputs("</a></li>\n", out);
        }
    }
    (void)fputs("</ul></nav>\n<main>\n", out);
    for (size_t i = 0; i < doc->block_count; i++) {
        block(out, doc, &doc->blocks[i]);
    }
    (void)fprintf(out, "</section>\n</main>\n</div>\n<script>\n%s</script>\n</body>\n</html>\n",
                  report_asset_text("report.js"));
}
