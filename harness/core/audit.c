/* audit.c - every piece of device code of a file, and what they come to together. */
#include "audit_private.h"

#include "file.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char nvrtc[] = "nvrtcCompileProgram"; /* what a program that compiles at run time refers to */

const char *assay_audit_verdict_text(assay_audit_verdict verdict) {
    static const char *const texts[] = {
#define X(id, text, meaning) text,
        ASSAY_AUDIT_VERDICT_LIST(X)
#undef X
    };
    return (size_t)verdict < sizeof texts / sizeof texts[0] ? texts[verdict] : "unknown";
}

const char *assay_audit_class_text(assay_audit_class kind) {
    static const char *const texts[] = {
#define X(id, text, meaning) text,
        ASSAY_AUDIT_CLASS_LIST(X)
#undef X
    };
    return (size_t)kind < sizeof texts / sizeof texts[0] ? texts[kind] : "unknown";
}

static void *grow(void *items, size_t count, size_t size) {
    if ((count & (count - 1)) != 0) {
        return items; /* room up to the next power of two */
    }
    void *const grown = reallocarray(items, count == 0 ? 1 : 2 * count, size);
    if (grown == NULL) {
        abort();
    }
    return grown;
}

assay_audit_function *audit_function_add(assay_audit_code *code, const char *name, size_t n, bool kernel) {
    code->functions = grow(code->functions, code->function_count, sizeof *code->functions);
    assay_audit_function *const f = &code->functions[code->function_count++];
    *f = (assay_audit_function){.name = strndup(name, n), .kernel = kernel};
    if (f->name == NULL) {
        abort();
    }
    assay_text_tidy(f->name);
    return f;
}

void audit_find(assay_audit_function *f, assay_audit_class kind, const char *instruction, size_t n) {
    char name[sizeof f->findings[0].instruction];
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), instruction);
    assay_text_tidy(name);
    for (size_t i = 0; i < f->finding_count; i++) {
        if (f->findings[i].kind == kind && strcmp(f->findings[i].instruction, name) == 0) {
            f->findings[i].count++;
            return;
        }
    }
    if (f->finding_count == ASSAY_AUDIT_MAX_FINDINGS) {
        assay_audit_finding *const last = &f->findings[ASSAY_AUDIT_MAX_FINDINGS - 1];
        (void)snprintf(last->instruction, sizeof last->instruction, "others");
        last->kind = kind > last->kind ? kind : last->kind;
        last->count++;
        return;
    }
    assay_audit_finding *const row = &f->findings[f->finding_count++];
    *row = (assay_audit_finding){.kind = kind, .count = 1};
    memcpy(row->instruction, name, sizeof name);
}

/* Worst class first, then the most frequent. */
static int by_class(const void *a, const void *b) {
    const assay_audit_finding *const x = a;
    const assay_audit_finding *const y = b;
    const int order = (x->count < y->count) - (x->count > y->count);
    return x->kind != y->kind ? (int)y->kind - (int)x->kind
           : order != 0       ? order
                              : strcmp(x->instruction, y->instruction);
}

static void settle_function(assay_audit_function *f) {
    qsort(f->findings, f->finding_count, sizeof f->findings[0], by_class);
    f->verdict = ASSAY_AUDIT_EXACT;
    if (f->finding_count > 0 && f->findings[0].kind >= ASSAY_AUDIT_CLASS_FLUSHED) {
        f->verdict = ASSAY_AUDIT_RELAXED;
    } else if (f->finding_count > 0 && f->findings[0].kind == ASSAY_AUDIT_CLASS_UNDECIDED) {
        f->verdict = ASSAY_AUDIT_UNKNOWN;
    }
}

/* True when the file has exact PTX whose instructions ask for these kinds, with a function of that name; the
 * toolkit's own slow paths, which relocatable code calls by name, belong to any. */
static bool explained(const assay_audit *audit, const assay_audit_function *f) {
    const bool toolkit = strncmp(f->name, "__cuda_sm", 9) == 0;
    for (size_t i = 0; i < audit->code_count; i++) {
        const assay_audit_code *const code = &audit->codes[i];
        if (code->kind != ASSAY_DEVICE_CODE_PTX || code->verdict != ASSAY_AUDIT_EXACT ||
            (f->kinds & ~code->kinds) != 0) {
            continue;
        }
        for (size_t k = 0; k < code->function_count; k++) {
            if (toolkit || strcmp(code->functions[k].name, f->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Roots and hyperbolic tangents of 16 bits look like fast ones of 32 in machine code; its PTX, when it is
 * unknown and not relaxed, tells that they may be. */
static bool may_be_narrow(const assay_audit *audit, const assay_audit_function *f) {
    for (size_t i = 0; i < f->finding_count && f->findings[i].kind >= ASSAY_AUDIT_CLASS_FLUSHED; i++) {
        if (strcmp(f->findings[i].instruction, "MUFU.SQRT") != 0 &&
            strcmp(f->findings[i].instruction, "MUFU.TANH") != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < audit->code_count; i++) {
        const assay_audit_code *const code = &audit->codes[i];
        for (size_t k = 0; k < code->function_count && code->kind == ASSAY_DEVICE_CODE_PTX; k++) {
            if (code->functions[k].verdict == ASSAY_AUDIT_UNKNOWN &&
                strcmp(code->functions[k].name, f->name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void settle_code(const assay_audit *audit, assay_audit_code *code) {
    for (size_t i = 0; i < code->function_count; i++) {
        assay_audit_function *const f = &code->functions[i];
        settle_function(f);
        if (f->verdict == ASSAY_AUDIT_UNKNOWN && code->kind == ASSAY_DEVICE_CODE_CUBIN &&
            explained(audit, f)) {
            f->verdict = ASSAY_AUDIT_EXACT;
            f->explained = true;
        } else if (f->verdict == ASSAY_AUDIT_RELAXED && code->kind == ASSAY_DEVICE_CODE_CUBIN &&
                   may_be_narrow(audit, f)) {
            f->verdict = ASSAY_AUDIT_UNKNOWN;
        }
        code->verdict = f->verdict > code->verdict ? f->verdict : code->verdict;
    }
    if (code->verdict == ASSAY_AUDIT_NONE) {
        code->verdict = ASSAY_AUDIT_EXACT; /* data only */
    }
}

/* The line that says what decided. */
static void explain(assay_audit *audit) {
    for (size_t i = 0; i < audit->code_count; i++) {
        const assay_audit_code *const code = &audit->codes[i];
        const char *const prefix = code->kind == ASSAY_DEVICE_CODE_PTX ? "compute" : "sm";
        if (code->verdict != audit->verdict) {
            continue;
        }
        for (size_t k = 0; k < code->function_count; k++) {
            const assay_audit_function *const f = &code->functions[k];
            if (f->verdict == audit->verdict && f->finding_count > 0) {
                (void)snprintf(audit->reason, sizeof audit->reason, "%.120s (%s_%u): %s, %llu times", f->name,
                               prefix, code->sm, f->findings[0].instruction,
                               (unsigned long long)f->findings[0].count);
                return;
            }
        }
        if (code->reason[0] != '\0') {
            (void)snprintf(audit->reason, sizeof audit->reason, "%s_%u: %s", prefix, code->sm, code->reason);
            return;
        }
    }
}

static void settle(assay_audit *audit, bool compiles) {
    for (int machine = 0; machine < 2; machine++) { /* PTX first: it explains machine code */
        for (size_t i = 0; i < audit->code_count; i++) {
            assay_audit_code *const code = &audit->codes[i];
            if ((code->kind != ASSAY_DEVICE_CODE_PTX) == (machine != 0)) {
                settle_code(audit, code);
                audit->verdict = code->verdict > audit->verdict ? code->verdict : audit->verdict;
            }
        }
    }
    for (size_t i = 0; i < audit->code_count; i++) {
        audit->functions += audit->codes[i].function_count;
        for (size_t k = 0; k < audit->codes[i].function_count; k++) {
            audit->instructions += audit->codes[i].functions[k].instructions;
        }
    }
    if (compiles && audit->verdict < ASSAY_AUDIT_UNKNOWN) {
        audit->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(audit->reason, sizeof audit->reason,
                       "the file refers to %s: code that it compiles while it runs is not in it", nvrtc);
    } else if (audit->verdict == ASSAY_AUDIT_NONE) {
        (void)snprintf(audit->reason, sizeof audit->reason, "no device code");
    } else if (audit->verdict == ASSAY_AUDIT_EXACT) {
        (void)snprintf(audit->reason, sizeof audit->reason, "no relaxed instruction among %llu",
                       (unsigned long long)audit->instructions);
    } else {
        explain(audit);
    }
}

static bool add(void *user, const assay_device_code *found, assay_error *error) {
    (void)error;
    assay_audit *const audit = user;
    audit->codes = grow(audit->codes, audit->code_count, sizeof *audit->codes);
    assay_audit_code *const code = &audit->codes[audit->code_count++];
    *code = (assay_audit_code){.kind = found->kind, .sm = found->sm, .offset = found->offset};
    if (found->kind == ASSAY_DEVICE_CODE_PTX) {
        audit_ptx(found->bytes, found->n, code);
    } else if (found->kind == ASSAY_DEVICE_CODE_CUBIN) {
        audit_sass((const uint8_t *)found->bytes, found->n, code);
    } else {
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason,
                       "an entry is neither PTX nor machine code (IR for linking?)");
    }
    return true;
}

assay_code assay_audit_bytes(const void *data, size_t n, assay_audit **out, assay_error *error) {
    assay_audit *const audit = calloc(1, sizeof *audit);
    if (audit == NULL) {
        abort();
    }
    const assay_code code = assay_device_code_each(data, n, add, audit, NULL, error);
    if (code != ASSAY_CODE_OK) {
        assay_audit_free(audit);
        return code;
    }
    settle(audit, memmem(data, n, nvrtc, sizeof nvrtc - 1) != NULL);
    *out = audit;
    return ASSAY_CODE_OK;
}

assay_code assay_audit_file(const char *path, assay_audit **audit, assay_error *error) {
    size_t n = 0;
    assay_error why = {0};
    char *const data = assay_file_read(path, ASSAY_AUDIT_MAX_FILE, &n);
    if (data == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: %s", path, strerror(errno));
    }
    const assay_code code = assay_audit_bytes(data, n, audit, &why);
    free(data);
    return code == ASSAY_CODE_OK ? code : assay_fail(error, code, "%s: %s", path, why.text);
}

void assay_audit_free(assay_audit *audit) {
    if (audit == NULL) {
        return;
    }
    for (size_t i = 0; i < audit->code_count; i++) {
        for (size_t k = 0; k < audit->codes[i].function_count; k++) {
            free(audit->codes[i].functions[k].name);
        }
        free(audit->codes[i].functions);
    }
    free(audit->codes);
    free(audit);
}
