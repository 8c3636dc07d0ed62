/* audit_ptx_read.c - PTX text as functions and statements. */
#include "audit_ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ptx_span trim(ptx_span s) {
    while (s.n > 0 && isspace((unsigned char)s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

/* Puts spaces where comments, strings and line directives stand, so that none of them can hide or fake a
 * statement. */
static void blank(char *text, size_t n) {
    char *const end = text + n;
    for (char *p = text; p < end; p++) {
        const size_t left = (size_t)(end - p);
        char *stop = NULL; /* the last character to blank */
        if (*p == '/' && left >= 2 && p[1] == '*') {
            stop = memmem(p + 2, left - 2, "*/", 2);
            stop = stop != NULL ? stop + 1 : end - 1;
        } else if ((*p == '/' && left >= 2 && p[1] == '/') ||
                   (*p == '.' && left >= 5 &&
                    (memcmp(p, ".loc\t", 5) == 0 || memcmp(p, ".loc ", 5) == 0 ||
                     memcmp(p, ".file", 5) == 0))) {
            stop = memchr(p, '\n', left);
            stop = stop != NULL ? stop : end - 1;
        } else if (*p == '"') {
            stop = memchr(p + 1, '"', left - 1);
            stop = stop != NULL ? stop : end - 1;
        }
        if (stop != NULL) {
            memset(p, ' ', (size_t)(stop - p) + 1);
            p = stop;
        }
    }
}

/* Splits "@%p1 name a, b, c" and adds it to the body. Labels were cut off by the caller. */
static void statement_add(ptx_body *b, ptx_span s) {
    ptx_instruction in = {.count = 0};
    s = trim(s);
    if (s.n > 0 && s.p[0] == '@') {
        while (s.n > 0 && !isspace((unsigned char)s.p[0])) {
            s.p++;
            s.n--;
        }
        s = trim(s);
    }
    if (s.n == 0 || s.p[0] == '.') {
        return; /* .reg, .local, .pragma */
    }
    in.name = s;
    in.name.n = 0;
    while (in.name.n < s.n && !isspace((unsigned char)s.p[in.name.n])) {
        in.name.n++;
    }
    s.p += in.name.n;
    s.n -= in.name.n;
    while (s.n > 0 && in.count < PTX_OPERANDS) {
        const char *const comma = memchr(s.p, ',', s.n);
        const size_t n = comma != NULL ? (size_t)(comma - s.p) : s.n;
        in.operands[in.count++] = trim((ptx_span){s.p, n});
        s.p += comma != NULL ? n + 1 : n;
        s.n -= comma != NULL ? n + 1 : n;
    }
    if (b->count == PTX_MAX_INSTRUCTIONS) {
        b->cut = true;
        return;
    }
    if (b->count == b->capacity) {
        b->capacity = b->capacity == 0 ? 256 : 2 * b->capacity;
        ptx_instruction *const grown = realloc(b->items, b->capacity * sizeof *grown);
        if (grown == NULL) {
            abort();
        }
        b->items = grown;
    }
    b->items[b->count++] = in;
}

static const char *find_word(ptx_span s, const char *word) {
    return memmem(s.p, s.n, word, strlen(word));
}

/* A '{' behind the head of a function opens its body. */
static bool head_read(ptx_span s, assay_audit_code *code, ptx_body *b) {
    const char *const entry = find_word(s, ".entry");
    const char *const func = entry != NULL ? NULL : find_word(s, ".func");
    const char *const end = s.p + s.n;
    const char *p = entry != NULL ? entry + 6 : func != NULL ? func + 5 : NULL;
    if (p == NULL) {
        return false;
    }
    while (p < end && isspace((unsigned char)*p)) {
        p++;
    }
    if (p < end && *p == '(') { /* the result of a .func */
        while (p < end && *p != ')') {
            p++;
        }
        p += p < end;
        while (p < end && isspace((unsigned char)*p)) {
            p++;
        }
    }
    const char *const name = p;
    while (p < end && (isalnum((unsigned char)*p) || *p == '_' || *p == '$' || *p == '%')) {
        p++;
    }
    b->function = audit_function_add(code, name, (size_t)(p - name), entry != NULL);
    return true;
}

typedef struct reader {
    const char *p, *end, *start; /* start of the statement */
    size_t depth;
    ptx_body b;
    assay_audit_code *code;
} reader;

static void open_brace(reader *r) {
    const ptx_span s = trim((ptx_span){r->start, (size_t)(r->p - r->start)});
    if (r->depth == 0 && head_read(s, r->code, &r->b)) {
        r->depth = 1;
    } else if (r->depth > 0 && s.n == 0) {
        r->depth++;
    } else {
        return; /* the operand of an instruction, or an initial value */
    }
    r->start = r->p + 1;
}

static void close_brace(reader *r) {
    const ptx_span s = trim((ptx_span){r->start, (size_t)(r->p - r->start)});
    if (r->depth > 0 && s.n == 0) {
        r->start = r->p + 1;
        if (--r->depth == 0) {
            audit_ptx_judge(&r->b, r->code);
        }
    } else if (r->depth == 0 && s.n > 8 && memcmp(s.p, ".section", 8) == 0) {
        r->start = r->p + 1;
    }
}

void audit_ptx(const char *text, size_t n, assay_audit_code *code) {
    char *const copy = malloc(n + 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    blank(copy, n);
    reader r = {.p = copy, .end = copy + n, .start = copy, .code = code};
    while (r.p < r.end) {
        if (*r.p == '{') {
            open_brace(&r);
        } else if (*r.p == '}') {
            close_brace(&r);
        } else if (*r.p == ':' && r.depth > 0 && r.p + 1 < r.end && r.p[1] != ':') {
            r.start = r.p + 1; /* behind a label */
        } else if (*r.p == ';') {
            if (r.depth > 0) {
                statement_add(&r.b, (ptx_span){r.start, (size_t)(r.p - r.start)});
            }
            r.start = r.p + 1;
        }
        r.p++;
    }
    if (r.depth > 0) {
        audit_ptx_judge(&r.b, code);
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason, "the PTX ends inside a function");
    }
    free(r.b.items);
    free(copy);
}
