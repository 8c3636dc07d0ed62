/* figure_text.c - words, quoting and tics of figures. */
#include "figure.h"

#include <string.h>

void figure_string(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        switch (*p) {
        case '"':
        case '\\':
            (void)fputc('\\', out);
            (void)fputc(*p, out);
            break;
        case '`':
            (void)fputc('\'', out);
            break;
        case '\n':
            (void)fputs("\\n", out);
            break;
        case '>': /* gnuplot writes it as it is, and XML forbids "]]>" in text */
            (void)fputs(p > text && p[-1] == ']' ? " >" : ">", out);
            break;
        default:
            (void)fputc(*p, out);
        }
    }
    (void)fputc('"', out);
}

void figure_assign(FILE *out, const char *name, const char *text) {
    (void)fprintf(out, "%s = ", name);
    figure_string(out, text);
    (void)fputc('\n', out);
}

void figure_field(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        (void)fputs(*p == '>' && p > text && p[-1] == ']' ? " " : "", out);
        (void)fputc(*p == '"' || *p == '\\' ? '\'' : *p, out);
    }
    (void)fputc('"', out);
}

void figure_macro_field(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        (void)fputs(*p == '>' && p > text && p[-1] == ']' ? " " : "", out);
        (void)fputc(*p == '"' || *p == '\\' || *p == '\'' || *p == '`' ? '.' : *p, out);
    }
    (void)fputc('"', out);
}

/* 10^n as text with superscript digits. */
static void power_of_ten(FILE *out, int n) {
    static const char *const digits[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                         "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                         "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char text[16];
    if (n == 0 || n == 1) {
        (void)fputs(n == 0 ? "1" : "10", out);
        return;
    }
    (void)fputs(n < 0 ? "10\xe2\x81\xbb" : "10", out);
    (void)snprintf(text, sizeof text, "%d", n < 0 ? -n : n);
    for (const char *p = text; *p != '\0'; p++) {
        (void)fputs(digits[*p - '0'], out);
    }
}

void figure_decades(FILE *out, const char *name, int low, int high, int most) {
    int step = 1;
    while ((high - low) / step + 1 > most) {
        step++;
    }
    (void)fprintf(out, "%s = '(", name);
    for (int n = low; n <= high; n += step) {
        (void)fputs(n == low ? "\"" : ", \"", out);
        power_of_ten(out, n);
        (void)fprintf(out, "\" 1e%d", n);
    }
    (void)fputs(")'\n", out);
}

const char *figure_wrap(report_arena *arena, const char *text, size_t width) {
    const size_t bytes = strlen(text) + 1;
    char *copy = report_arena_alloc(arena, bytes);
    if (copy == NULL) {
        return "";
    }
    memcpy(copy, text, bytes);
    size_t column = 0;
    char *blank = NULL;
    for (char *p = copy; *p != '\0'; p++) {
        column += ((unsigned char)*p & 0xc0) != 0x80;
        if (*p == ' ') {
            blank = p;
        }
        if (column > width && blank != NULL) {
            *blank = '\n';
            column = 0;
            for (const char *q = blank + 1; q <= p; q++) {
                column += ((unsigned char)*q & 0xc0) != 0x80;
            }
            blank = NULL;
        }
    }
    return copy;
}

const char *figure_footer(const report_model *model) {
    const char *commit = report_provenance(model, "assay.commit");
    return report_printf(model->arena,
                         "%s \xc2\xb7 %s \xc2\xb7 %s of %s \xc2\xb7 Assay commit %.12s \xc2\xb7 run %.8s",
                         report_device(model), report_provenance(model, "cpu.model"), model->operator_name,
                         model->candidate, commit, model->uuid);
}
