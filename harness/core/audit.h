/* audit.h - what arithmetic the GPU code of a file uses, read from the instructions and from nothing else: no
 * flag, name or word of its author counts. For every function of every PTX text and cubin (device_code.h) it
 * lists the instructions that only relaxed compiler options or fast intrinsics produce.
 *
 * What makes PTX relaxed (measured with nvcc 13.0.88, one option at a time):
 *   --use_fast_math, -Xcicc -fast-math   sin.approx, cos.approx, tanh.approx; lg2.approx and ex2.approx as
 * log and exp; div.approx -ftz=true                            .ftz on anything that is not .approx
 *   -prec-div=false                      div.full, rcp.approx without .ftz
 *   -prec-sqrt=false                     sqrt.approx
 * Exact builds contain approximate instructions too: expf ends in ex2.approx.ftz after its range reduction,
 * tanhf, powf and others divide by rcp.approx.ftz, rsqrtf is rsqrt.approx, exp2f is ex2.approx. Such a use is
 * accepted where the instructions around it are those of CUDA's library. An approximate instruction that fits
 * neither makes the function unknown, never exact.
 *
 * Machine code (128-bit instructions, sm_70 and later) has neither names nor types of the source: MUFU.SIN,
 * COS, TANH and SQRT and a flush on FFMA, FMNMX, conversions or on every FADD and FMUL are relaxed; the other
 * MUFU occur in exact code as well and are accepted only where exact PTX of the same function in the same
 * file explains them. Otherwise the function is unknown.
 *
 * Contraction (a*b + c rounded once) is no relaxation by CUDA's rules, hence counted, not judged: `fused` are
 * fma, `open` are mul and add whose rounding is not spelled, which the assembler may still fuse.
 *
 * CUDA's functions of half and bfloat16 are approximations in every build: unknown, but for sin.approx and
 * cos.approx.
 *
 * What an audit cannot see: machine code that does not come from the PTX beside it and shows no relaxed
 * instruction itself (a division without its last correction, say); code that a program compiles while it
 * runs (a file that holds NVRTC's entry point is unknown for that reason), that it loads from other files, or
 * that its author has written to look like the library's sequences; whether the constants of a formula are
 * right. The other suites are for that. */
#ifndef ASSAY_AUDIT_H
#define ASSAY_AUDIT_H

#include "device_code.h"

#define ASSAY_AUDIT_MAX_FINDINGS 24
#define ASSAY_AUDIT_MAX_FILE     ((size_t)1 << 31)

/* X(identifier, text, meaning), from best to worst but for the first. */
#define ASSAY_AUDIT_VERDICT_LIST(X)                                                                          \
    X(NONE, "none", "there is no device code")                                                               \
    X(EXACT, "exact", "no relaxed instruction")                                                              \
    X(UNKNOWN, "unknown", "something could not be read or told apart")                                       \
    X(RELAXED, "relaxed", "relaxed instructions are there")

typedef enum assay_audit_verdict {
#define X(id, text, meaning) ASSAY_AUDIT_##id,
    ASSAY_AUDIT_VERDICT_LIST(X)
#undef X
} assay_audit_verdict;

/* How an instruction counts. */
#define ASSAY_AUDIT_CLASS_LIST(X)                                                                            \
    X(LIBRARY, "library", "approximate, inside a sequence that exact builds contain")                        \
    X(UNDECIDED, "undecided", "approximate, of unknown origin")                                              \
    X(FLUSHED, "flushed", "subnormals are flushed to zero")                                                  \
    X(APPROXIMATE, "approximate", "an approximation in place of the function")

typedef enum assay_audit_class {
#define X(id, text, meaning) ASSAY_AUDIT_CLASS_##id,
    ASSAY_AUDIT_CLASS_LIST(X)
#undef X
} assay_audit_class;

typedef struct assay_audit_finding {
    char instruction[40];
    assay_audit_class kind;
    uint64_t count;
} assay_audit_finding;

typedef struct assay_audit_function {
    char *name; /* as the linker sees it; printable */
    bool kernel;
    assay_audit_verdict verdict;
    assay_audit_finding findings[ASSAY_AUDIT_MAX_FINDINGS]; /* worst class first */
    size_t finding_count;
    uint64_t instructions, fused, open, rounded;
    unsigned kinds; /* private: approximate kinds present */
    bool explained; /* machine code: accepted because of its PTX */
} assay_audit_function;

typedef struct assay_audit_code {
    assay_device_code_kind kind;
    unsigned sm;
    uint64_t offset;
    assay_audit_verdict verdict;
    char reason[128]; /* "" when the functions say it all */
    assay_audit_function *functions;
    size_t function_count;
    unsigned kinds; /* private: approximate kinds in any function */
} assay_audit_code;

typedef struct assay_audit {
    assay_audit_verdict verdict; /* the worst of all pieces */
    char reason[256];            /* one line: what decided */
    assay_audit_code *codes;
    size_t code_count;
    uint64_t functions, instructions;
} assay_audit;

/* Audits a file of at most 2 GiB, or bytes. USAGE, one line, when it cannot be read or its device code is
 * malformed. The caller frees *audit. */
assay_code assay_audit_file(const char *path, assay_audit **audit, assay_error *error);
assay_code assay_audit_bytes(const void *data, size_t n, assay_audit **audit, assay_error *error);
void assay_audit_free(assay_audit *audit);

const char *assay_audit_verdict_text(assay_audit_verdict verdict);
const char *assay_audit_class_text(assay_audit_class kind);

#endif
