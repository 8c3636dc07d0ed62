/* report_md.c - the document as GitHub-flavoured Markdown, short enough for a pull request. */
#include "report_render.h"

#include <stdlib.h>
#include <string.h>

#define CELL_LIMIT 500u /* bytes of one cell; JSON has the whole text */

typedef struct md {
    FILE *out;
    size_t row_limit; /* of each table */
} md;

static const char *tone_mark(report_tone tone) {
    switch (tone) {
    case REPORT_TONE_GOOD:
        return "\xe2\x9c\x93 ";
    case REPORT_TONE_BAD:
        return "\xe2\x9c\x97 ";
    case REPORT_TONE_DOUBT:
        return "? ";
    case REPORT_TONE_MUTED:
        return "\xe2\x97\x8b ";
    default:
        return "";
    }
}

static void plain_char(FILE *out, char c) {
    switch (c) {
    case '&':
        (void)fputs("&amp;", out);
        break;
    case '<':
        (void)fputs("&lt;", out);
        break;
    case '>':
        (void)fputs("&gt;", out);
        break;
    case '@': /* no mention of a person who happens to be called like a decorator */
        (void)fputs("&#64;", out);
        break;
    case '\\':
    case '`':
    case '*':
    case '_':
    case '[':
    case ']':
    case '|':
    case '~':
    case '#':
        (void)fputc('\\', out);
        (void)fputc(c, out);
        break;
    default:
        (void)fputc(c, out);
    }
}

/* A code span over text[0..n): fenced by one backtick more than its longest run; pipes escaped, since a table
 * cell is split first. */
static void code_span(FILE *out, const char *text, size_t n, bool in_table) {
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < n; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    const char *pad = longest > 0 ? " " : "";
    if (n == 0) {
        return;
    }
    for (size_t i = 0; i <= longest; i++) {
        (void)fputc('`', out);
    }
    (void)fputs(pad, out);
    for (size_t i = 0; i < n; i++) {
        if (in_table && text[i] == '|') {
            (void)fputc('\\', out);
        }
        (void)fputc(text[i], out);
    }
    (void)fputs(pad, out);
    for (size_t i = 0; i <= longest; i++) {
        (void)fputc('`', out);
    }
}

/* Text with the markup of report_doc.h. */
static void rich_text(FILE *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == REPORT_CODE_ON[0]) {
            const char *end = strchr(p, REPORT_CODE_OFF[0]);
            const size_t n = end == NULL ? strlen(p + 1) : (size_t)(end - p - 1);
            code_span(out, p + 1, n, false);
            p += n + (end != NULL);
        } else if (*p == REPORT_STRONG_ON[0] || *p == REPORT_STRONG_OFF[0]) {
            (void)fputs("**", out);
        } else {
            plain_char(out, *p);
        }
    }
}

/* Bytes of `text` that a cell shows: cut before a UTF-8 continuation byte. */
static size_t cell_bytes(const char *text) {
    size_t n = strlen(text);
    if (n > CELL_LIMIT) {
        n = CELL_LIMIT;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
            n--;
        }
    }
    return n;
}

static void detail(FILE *out, const char *text) {
    const size_t n = cell_bytes(text);
    (void)fputs("<br>", out);
    for (size_t i = 0; i < n; i++) {
        plain_char(out, text[i]);
    }
    (void)fputs(text[n] != '\0' ? "\xe2\x80\xa6" : "", out);
}

static void cell(FILE *out, const report_cell *c) {
    const size_t n = cell_bytes(c->text);
    (void)fputc(' ', out);
    if (c->kind == REPORT_CELL_STATE) {
        (void)fputs(tone_mark(c->tone), out);
    }
    if (c->kind == REPORT_CELL_CODE || c->kind == REPORT_CELL_COMMAND) {
        code_span(out, c->text, n, true);
    } else {
        for (size_t i = 0; i < n; i++) {
            plain_char(out, c->text[i]);
        }
    }
    (void)fputs(c->text[n] != '\0' ? "\xe2\x80\xa6" : "", out);
    if (c->detail != NULL) {
        detail(out, c->detail);
    }
    (void)fputs(" |", out);
}

static bool row_alarms(const report_table *t, size_t row) {
    for (size_t k = 0; k < t->column_count; k++) {
        const report_cell *c = &t->cells[row * t->column_count + k];
        if (c->kind == REPORT_CELL_STATE && (c->tone == REPORT_TONE_BAD || c->tone == REPORT_TONE_DOUBT)) {
            return true;
        }
    }
    return false;
}

static void table(md *m, const report_table *t) {
    const size_t rows = t->cell_count / t->column_count;
    size_t alarms = 0;
    for (size_t r = 0; r < rows; r++) {
        alarms += row_alarms(t, r);
    }
    const size_t room_alarms = alarms < m->row_limit ? alarms : m->row_limit;
    size_t left_alarms = room_alarms;
    size_t left_others = m->row_limit - room_alarms;
    size_t shown = 0;
    (void)fputs("\n|", m->out);
    for (size_t k = 0; k < t->column_count; k++) {
        const report_cell head = {.kind = REPORT_CELL_TEXT, .text = t->columns[k]};
        cell(m->out, &head);
    }
    (void)fputs("\n|", m->out);
    for (size_t k = 0; k < t->column_count; k++) {
        const bool number = rows > 0 && t->cells[k].kind == REPORT_CELL_NUMBER;
        (void)fputs(number ? "---:|" : "---|", m->out);
    }
    (void)fputc('\n', m->out);
    for (size_t r = 0; r < rows; r++) {
        size_t *left = row_alarms(t, r) ? &left_alarms : &left_others;
        if (*left == 0) {
            continue;
        }
        (*left)--;
        shown++;
        (void)fputc('|', m->out);
        for (size_t k = 0; k < t->column_count; k++) {
            cell(m->out, &t->cells[r * t->column_count + k]);
        }
        (void)fputc('\n', m->out);
    }
    if (shown < rows) {
        (void)fprintf(m->out, "\n%zu of %zu rows are shown; the HTML and JSON reports have all of them.\n",
                      shown, rows);
    }
}

static void command(FILE *out, const char *text) {
    size_t longest = 2;
    size_t run = 0;
    for (const char *p = text; *p != '\0'; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    (void)fputc('\n', out);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i <= longest; i++) {
            (void)fputc('`', out);
        }
        (void)fputs(side == 0 ? "sh\n" : "\n", out);
        if (side == 0) {
            (void)fprintf(out, "%s\n", text);
        }
    }
}

static void block(md *m, const report_block *b) {
    switch (b->kind) {
    case REPORT_BLOCK_SECTION:
        (void)fputs("\n## ", m->out);
        rich_text(m->out, b->text);
        (void)fputc('\n', m->out);
        break;
    case REPORT_BLOCK_TEXT:
    case REPORT_BLOCK_NOTE:
        (void)fputc('\n', m->out);
        rich_text(m->out, b->text);
        (void)fputc('\n', m->out);
        break;
    case REPORT_BLOCK_TABLE:
        table(m, b->table);
        break;
    case REPORT_BLOCK_COMMAND:
        command(m->out, b->text);
        break;
    case REPORT_BLOCK_FIGURE:
        (void)fputs("\n[![", m->out);
        rich_text(m->out, b->figure->title);
        (void)fprintf(m->out, "](%s.png)](%s.svg)\n\n", b->figure->id, b->figure->id);
        rich_text(m->out, b->figure->caption);
        (void)fputc('\n', m->out);
        break;
    case REPORT_BLOCK_CHECKS:
        break;
    }
}

/* The section whose only content is the list of checks has none here. */
static bool is_empty_section(const report_doc *doc, size_t i) {
    return doc->blocks[i].kind == REPORT_BLOCK_SECTION && i + 1 < doc->block_count &&
           doc->blocks[i + 1].kind == REPORT_BLOCK_CHECKS;
}

static void render(const report_doc *doc, md *m) {
    (void)fprintf(m->out, "# %s", tone_mark(doc->tone));
    rich_text(m->out, doc->title);
    (void)fputs("\n", m->out);
    if (doc->headline[0] != '\0') {
        (void)fputs("\n**", m->out);
        rich_text(m->out, doc->headline);
        (void)fputs("**\n", m->out);
    }
    (void)fputc('\n', m->out);
    rich_text(m->out, doc->summary);
    (void)fputs("\n\n", m->out);
    for (size_t i = 0; i < doc->key_count; i++) {
        (void)fputs(i == 0 ? "" : " \xc2\xb7 ", m->out);
        (void)fputs("**", m->out);
        rich_text(m->out, doc->keys[i].value);
        (void)fputs("** ", m->out);
        rich_text(m->out, doc->keys[i].label);
    }
    (void)fputc('\n', m->out);
    for (size_t i = 0; i < doc->block_count; i++) {
        if (!is_empty_section(doc, i)) {
            block(m, &doc->blocks[i]);
        }
    }
}

assay_code report_render_md(const report_doc *doc, FILE *out, assay_error *error) {
    static const size_t limits[] = {1000000, 400, 200, 120, 80, 50, 30, 20, 12, 7, 4, 2, 1};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char *text = NULL;
        size_t bytes = 0;
        md m = {.out = open_memstream(&text, &bytes), .row_limit = limits[i]};
        if (m.out == NULL) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing Markdown");
        }
        render(doc, &m);
        if (fclose(m.out) != 0) {
            free(text);
            return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing Markdown");
        }
        const bool fits = bytes <= REPORT_MD_LIMIT;
        if (fits) {
            (void)fwrite(text, 1, bytes, out);
        }
        free(text);
        if (fits) {
            return ASSAY_CODE_OK;
        }
    }
    return assay_fail(error, ASSAY_CODE_INTERNAL,
                      "this run's Markdown report does not fit %u bytes; use another format",
                      REPORT_MD_LIMIT);
}
