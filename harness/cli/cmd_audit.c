/* cmd_audit.c - `assay audit`: what arithmetic the GPU code of a file uses. */
#include "cli.h"

#include "audit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const cli_option options[] = {
    {"kernel", "NAME", "only functions whose name contains NAME, with everything found in them", 0, false},
    {"json", NULL, "print the result as JSON", 0, false},
    {0}};

static const char *kind_text(const assay_audit_code *code) {
    return code->kind == ASSAY_DEVICE_CODE_PTX     ? "ptx"
           : code->kind == ASSAY_DEVICE_CODE_CUBIN ? "sass"
                                                   : "other";
}

static bool wanted(const assay_audit_function *f, const char *filter) {
    return filter == NULL || strstr(f->name, filter) != NULL;
}

static json_t *function_json(const assay_audit_function *f) {
    json_t *findings = json_array();
    for (size_t i = 0; i < f->finding_count; i++) {
        (void)json_array_append_new(findings,
                                    json_pack("{s:s, s:s, s:I}", "instruction", f->findings[i].instruction,
                                              "class", assay_audit_class_text(f->findings[i].kind), "count",
                                              (json_int_t)f->findings[i].count));
    }
    return json_pack("{s:s, s:b, s:s, s:b, s:I, s:I, s:I, s:I, s:o}", "name", f->name, "kernel",
                     (int)f->kernel, "verdict", assay_audit_verdict_text(f->verdict), "explained_by_ptx",
                     (int)f->explained, "instructions", (json_int_t)f->instructions, "fused",
                     (json_int_t)f->fused, "open", (json_int_t)f->open, "rounded", (json_int_t)f->rounded,
                     "findings", findings);
}

static void print_json(const char *path, const assay_audit *audit, const char *filter) {
    json_t *codes = json_array();
    for (size_t i = 0; i < audit->code_count; i++) {
        const assay_audit_code *const code = &audit->codes[i];
        json_t *functions = json_array();
        for (size_t k = 0; k < code->function_count; k++) {
            if (wanted(&code->functions[k], filter)) {
                (void)json_array_append_new(functions, function_json(&code->functions[k]));
            }
        }
        (void)json_array_append_new(codes,
                                    json_pack("{s:s, s:i, s:I, s:s, s:s, s:o}", "kind", kind_text(code), "sm",
                                              (int)code->sm, "offset", (json_int_t)code->offset, "verdict",
                                              assay_audit_verdict_text(code->verdict), "reason", code->reason,
                                              "functions", functions));
    }
    json_t *root =
        json_pack("{s:s, s:s, s:s, s:o}", "file", path, "verdict", assay_audit_verdict_text(audit->verdict),
                  "reason", audit->reason, "code", codes);
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

static void print_function(const assay_audit_function *f, bool everything) {
    (void)printf("  %-8s %s", assay_audit_verdict_text(f->verdict), f->name);
    if (everything) {
        (void)printf("\n    instructions %llu, fused %llu, open %llu, rounded %llu%s",
                     (unsigned long long)f->instructions, (unsigned long long)f->fused,
                     (unsigned long long)f->open, (unsigned long long)f->rounded,
                     f->explained ? ", explained by its PTX" : "");
    }
    (void)putchar('\n');
    const assay_audit_class worst =
        f->verdict == ASSAY_AUDIT_RELAXED ? ASSAY_AUDIT_CLASS_FLUSHED : ASSAY_AUDIT_CLASS_UNDECIDED;
    for (size_t i = 0; i < f->finding_count; i++) {
        const assay_audit_finding *const row = &f->findings[i];
        if (everything || row->kind >= worst) {
            (void)printf("    %-12s %s %llu\n", assay_audit_class_text(row->kind), row->instruction,
                         (unsigned long long)row->count);
        }
    }
}

static void print_text(const assay_audit *audit, const char *filter) {
    for (size_t i = 0; i < audit->code_count; i++) {
        const assay_audit_code *const code = &audit->codes[i];
        uint64_t counts[4] = {0};
        for (size_t k = 0; k < code->function_count; k++) {
            counts[code->functions[k].verdict]++;
        }
        (void)printf(
            "%s %s_%u at byte %llu: %s, %zu functions (%llu exact, %llu relaxed, %llu unknown)%s%s\n",
            kind_text(code), code->kind == ASSAY_DEVICE_CODE_PTX ? "compute" : "sm", code->sm,
            (unsigned long long)code->offset, assay_audit_verdict_text(code->verdict), code->function_count,
            (unsigned long long)counts[ASSAY_AUDIT_EXACT], (unsigned long long)counts[ASSAY_AUDIT_RELAXED],
            (unsigned long long)counts[ASSAY_AUDIT_UNKNOWN], code->reason[0] != '\0' ? ": " : "",
            code->reason);
        for (size_t k = 0; k < code->function_count; k++) {
            const assay_audit_function *const f = &code->functions[k];
            if (wanted(f, filter) && (filter != NULL || f->verdict > ASSAY_AUDIT_EXACT)) {
                print_function(f, filter != NULL);
            }
        }
    }
}

/* Verdict of the functions that --kernel selects; a name that matches nothing is a mistake. */
static assay_code judge_selected(const assay_audit *audit, const char *filter, assay_audit_verdict *verdict,
                                 assay_error *error) {
    size_t matching = 0;
    *verdict = ASSAY_AUDIT_NONE;
    for (size_t i = 0; i < audit->code_count; i++) {
        for (size_t k = 0; k < audit->codes[i].function_count; k++) {
            const assay_audit_function *const f = &audit->codes[i].functions[k];
            if (wanted(f, filter)) {
                matching++;
                *verdict = f->verdict > *verdict ? f->verdict : *verdict;
            }
        }
    }
    return matching > 0 ? ASSAY_CODE_OK
                        : assay_fail(error, ASSAY_CODE_USAGE,
                                     "--kernel %s: no function of that name among %llu in the device code",
                                     filter, (unsigned long long)audit->functions);
}

static assay_code run(const cli_args *args, assay_error *error) {
    static const assay_code codes[] = {[ASSAY_AUDIT_NONE] = ASSAY_CODE_OK,
                                       [ASSAY_AUDIT_EXACT] = ASSAY_CODE_OK,
                                       [ASSAY_AUDIT_UNKNOWN] = ASSAY_CODE_INCOMPLETE,
                                       [ASSAY_AUDIT_RELAXED] = ASSAY_CODE_REFUSED};
    const char *const path = args->positional[0];
    const char *const filter = cli_get(args, "kernel", NULL);
    assay_audit *audit = NULL;
    if (assay_audit_file(path, &audit, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    assay_audit_verdict verdict = audit->verdict;
    if (filter != NULL && judge_selected(audit, filter, &verdict, error) != ASSAY_CODE_OK) {
        assay_audit_free(audit);
        return error->code;
    }
    if (cli_flag(args, "json")) {
        print_json(path, audit, filter);
    } else {
        print_text(audit, filter);
        (void)printf("VERDICT %s  %s\n", assay_audit_verdict_text(verdict),
                     filter == NULL ? audit->reason : filter);
    }
    assay_audit_free(audit);
    return codes[verdict];
}

const cli_command cli_audit = {
    .name = "audit",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "read the GPU code inside a file and say whether its arithmetic is relaxed",
    .detail =
        "FILE is anything that holds PTX or CUDA machine code: a shared library, program, object, archive, "
        "fat "
        "binary, cubin or PTX text. Every function is read, and no flag or name is believed: fast sines, "
        "exponentials, logarithms, divisions and roots, and subnormals flushed to zero are relaxed; "
        "approximate "
        "instructions inside the sequences of CUDA's exact functions are not. Contraction is counted (fused, "
        "and "
        "open to fusing), not judged. Machine code is read for sm_70 and later and needs exact PTX of the "
        "same "
        "function in the file where its instructions alone do not tell. Exit code 0 exact, or no device code "
        "at "
        "all (verdict none), 1 relaxed, 2 not readable, 3 unknown.",
    .options = options,
    .run = run};
