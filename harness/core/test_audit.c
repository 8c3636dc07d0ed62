/* test_audit.c - device code in files: found wherever it lies, read in every packing, refused when malformed,
 * judged by its instructions. Fat binaries are put together here, so no toolkit is needed; code that nvcc
 * wrote is judged by harness/cli/test_audit_nvcc.sh. */
#include "audit.h"

#include "file.h"

#include <criterion/criterion.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, ROOM = 65536 };

static char *fixture(const char *name, size_t *n) {
    char path[4096];
    const char *const source = getenv("ASSAY_SOURCE");
    (void)snprintf(path, sizeof path, "%s/harness/core/ptx/%s", source != NULL ? source : ".", name);
    char *const text = assay_file_read(path, ROOM, n);
    cr_assert_not_null(text, "%s", path);
    return text;
}

static void put(uint8_t *at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* A fat binary with one entry behind 24 bytes of something else; *n gets its length. */
static uint8_t *fatbin(unsigned kind, unsigned flags, const char *payload, size_t bytes, size_t *n) {
    uint8_t *const out = calloc(1, ROOM);
    uint8_t *const header = out + 24;
    uint8_t *const entry = header + 16;
    size_t packed = bytes;
    if (flags == ZSTD) {
        packed = ZSTD_compress(entry + 64, ROOM - 200, payload, bytes, 3);
    } else if (flags == LZ4) {
        packed = (size_t)LZ4_compress_default(payload, (char *)entry + 64, (int)bytes, ROOM - 200);
    } else {
        memcpy(entry + 64, payload, bytes);
    }
    const size_t padded = (packed + 7) / 8 * 8;
    put(header, 0xba55ed50u, 4);
    put(header + 4, 1, 2);
    put(header + 6, 16, 2);
    put(header + 8, 64 + padded, 8);
    put(entry, kind, 2);
    put(entry + 2, 0x101, 2);
    put(entry + 4, 64, 4);
    put(entry + 8, padded, 8);
    put(entry + 16, flags == PLAIN ? 0 : packed, 4);
    put(entry + 28, 80, 4);
    put(entry + 40, flags, 8);
    put(entry + 56, flags == PLAIN ? 0 : bytes, 8);
    *n = 24 + 16 + 64 + padded;
    return out;
}

static assay_audit *audit(const void *data, size_t n) {
    assay_audit *result = NULL;
    assay_error error = {0};
    cr_assert_eq(assay_audit_bytes(data, n, &result, &error), ASSAY_CODE_OK, "%s", error.text);
    return result;
}

static const assay_audit_function *function(const assay_audit *a, const char *name) {
    for (size_t i = 0; i < a->codes[0].function_count; i++) {
        if (strcmp(a->codes[0].functions[i].name, name) == 0) {
            return &a->codes[0].functions[i];
        }
    }
    cr_assert_fail("no function %s", name);
    return NULL;
}

Test(audit, exact_sequences_of_the_library_are_exact) {
    size_t n = 0;
    char *const text = fixture("exact.ptx", &n);
    assay_audit *const a = audit(text, n);
    cr_assert_eq(a->code_count, 1);
    cr_expect_eq(a->codes[0].sm, 80);
    cr_expect_eq(a->codes[0].function_count, 2);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_EXACT, "%s", a->reason);
    cr_expect_eq(function(a, "exact_exp")->fused, 2);
    cr_expect_eq(function(a, "exact_exp")->open, 1);
    cr_expect_eq(function(a, "exact_exp")->instructions, 12);
    cr_expect_eq(function(a, "exact_root")->rounded, 1);
    assay_audit_free(a);
    free(text);
}

Test(audit, each_relaxed_instruction_is_named_and_counted) {
    static const struct {
        const char *function, *instruction;
        assay_audit_class kind;
        uint64_t count;
    } rows[] = {{"fast_sine", "sin.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 2},
                {"fast_sine", "cos.approx", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"fast_exp", "ex2.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"fast_log", "lg2.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"fast_division", "div.full.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"fast_division", "rcp.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"fast_root", "sqrt.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1},
                {"flushed", "add.ftz.f32", ASSAY_AUDIT_CLASS_FLUSHED, 1},
                {"fast_helper", "tanh.approx.f32", ASSAY_AUDIT_CLASS_APPROXIMATE, 1}};
    size_t n = 0;
    char *const text = fixture("relaxed.ptx", &n);
    assay_audit *const a = audit(text, n);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_RELAXED);
    cr_expect_eq(function(a, "clean")->verdict, ASSAY_AUDIT_EXACT);
    cr_expect_not(function(a, "fast_helper")->kernel);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const assay_audit_function *const f = function(a, rows[i].function);
        uint64_t count = 0;
        for (size_t k = 0; k < f->finding_count; k++) {
            if (strcmp(f->findings[k].instruction, rows[i].instruction) == 0 &&
                f->findings[k].kind == rows[i].kind) {
                count = f->findings[k].count;
            }
        }
        cr_expect_eq(f->verdict, ASSAY_AUDIT_RELAXED, "%s", f->name);
        cr_expect_eq(count, rows[i].count, "%s %s: %llu", f->name, rows[i].instruction,
                     (unsigned long long)count);
    }
    assay_audit_free(a);
    free(text);
}

Test(audit, every_packing_gives_the_same_code) {
    static const unsigned packings[] = {PLAIN, LZ4, ZSTD};
    size_t n = 0;
    char *const text = fixture("relaxed.ptx", &n);
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = 0;
        uint8_t *const file = fatbin(1, packings[i], text, n + 1, &bytes);
        assay_audit *const a = audit(file, bytes);
        cr_assert_eq(a->code_count, 1);
        cr_expect_eq(a->codes[0].offset, 24);
        cr_expect_eq(a->functions, 8);
        cr_expect_eq(a->verdict, ASSAY_AUDIT_RELAXED);
        assay_audit_free(a);
        free(file);
    }
    free(text);
}

Test(audit, text_outside_of_fat_binaries_is_found) {
    size_t n = 0;
    char *const text = fixture("relaxed.ptx", &n);
    char *const file = calloc(1, n + 300);
    memset(file, 'x', 100);
    memcpy(file + 100, text, n);
    assay_audit *const a = audit(file, n + 300);
    cr_assert_eq(a->code_count, 1);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_RELAXED);
    assay_audit_free(a);
    free(file);
    free(text);
}

Test(audit, no_code_is_none_and_what_cannot_be_read_is_unknown) {
    size_t n = 0;
    assay_audit *a = audit("nothing here", 12);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_NONE);
    assay_audit_free(a);
    uint8_t *const other = fatbin(8, ZSTD, "bitcode", 7, &n); /* IR for linking */
    a = audit(other, n);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_UNKNOWN, "%s", a->reason);
    assay_audit_free(a);
    free(other);
    static const char open[] = ".version 8.0\n.target sm_80\n.visible .entry k() {\n add.f32 %f1, %f2, %f3;";
    a = audit(open, sizeof open - 1);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_UNKNOWN, "%s", a->reason);
    assay_audit_free(a);
    char *const text = fixture("exact.ptx", &n);
    char *const compiles = calloc(1, n + 64);
    memcpy(compiles, text, n);
    memcpy(compiles + n + 1, "nvrtcCompileProgram", 19);
    a = audit(compiles, n + 64);
    cr_expect_eq(a->verdict, ASSAY_AUDIT_UNKNOWN, "%s", a->reason);
    assay_audit_free(a);
    free(compiles);
    free(text);
}

Test(audit, malformed_fat_binaries_are_refused_in_one_line) {
    static const struct {
        const char *says;
        size_t at, bytes;
        uint64_t value;
    } rows[] = {{"longer than the rest of the file", 24 + 8, 8, 1 << 20},
                {"longer than the rest of the file", 24 + 8, 8, UINT64_MAX},
                {"an entry is cut off", 24 + 8, 8, 63},
                {"longer than the fat binary", 40 + 4, 4, 63},
                {"longer than the fat binary", 40 + 4, 4, UINT32_MAX},
                {"longer than the fat binary", 40 + 8, 8, UINT64_MAX - 63},
                {"compressed size", 40 + 16, 4, 60000},
                {"compressed size", 40 + 16, 4, 0},
                {"256 MiB", 40 + 56, 8, (uint64_t)1 << 40},
                {"256 MiB", 40 + 56, 8, 0},
                {"stated size", 40 + 56, 8, 20},
                {"stated size", 40 + 56, 8, 20000000},
                {"stated size", 40 + 64, 4, 0x12345678}};
    size_t text_bytes = 0;
    char *const text = fixture("relaxed.ptx", &text_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = 0;
        assay_audit *a = NULL;
        assay_error error = {0};
        uint8_t *const file = fatbin(1, ZSTD, text, text_bytes, &n);
        put(file + rows[i].at, rows[i].value, rows[i].bytes);
        cr_expect_eq(assay_audit_bytes(file, n, &a, &error), ASSAY_CODE_USAGE, "row %zu", i);
        cr_expect_neq(strstr(error.text, rows[i].says), NULL, "row %zu: %s", i, error.text);
        free(file);
    }
    free(text);
}

Test(audit, every_truncation_is_survived) {
    size_t text_bytes = 0;
    size_t n = 0;
    char *const text = fixture("exact.ptx", &text_bytes);
    uint8_t *const file = fatbin(1, LZ4, text, text_bytes, &n);
    for (size_t cut = 0; cut < n; cut++) {
        assay_audit *a = NULL;
        assay_error error = {0};
        char *const copy = malloc(cut + 1); /* so that a checker of memory sees the end */
        memcpy(copy, file, cut);
        const assay_code code = assay_audit_bytes(copy, cut, &a, &error);
        cr_expect(code == ASSAY_CODE_USAGE ? error.text[0] != '\0' : a->verdict == ASSAY_AUDIT_NONE,
                  "cut at %zu", cut);
        if (code == ASSAY_CODE_OK) {
            assay_audit_free(a);
        }
        free(copy);
    }
    free(file);
    free(text);
}
