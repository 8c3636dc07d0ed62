/* audit_private.h - shared by audit.c and its two readers. */
#ifndef ASSAY_AUDIT_PRIVATE_H
#define ASSAY_AUDIT_PRIVATE_H

#include "audit.h"

/* Approximate kinds: what machine code may contain when its PTX asks for it. */
enum {
    AUDIT_EX2 = 1,
    AUDIT_LG2 = 2,
    AUDIT_RCP = 4,  /* reciprocals and divisions, of integers too */
    AUDIT_RSQ = 8,  /* roots */
    AUDIT_SLOW = 16 /* a flush in the slow path of an exact division or root */
};

/* Adds a function to the code; memory exhaustion ends the process. */
assay_audit_function *audit_function_add(assay_audit_code *code, const char *name, size_t n, bool kernel);
/* Counts an instruction under its first `n` bytes. When the table is full, the last row counts for all. */
void audit_find(assay_audit_function *function, assay_audit_class kind, const char *instruction, size_t n);

/* Fill functions, kinds and, when something could not be read, verdict UNKNOWN with a reason. */
void audit_ptx(const char *text, size_t n, assay_audit_code *code);
void audit_sass(const uint8_t *cubin, size_t n, assay_audit_code *code);

#endif
