/* audit_ptx.h - PTX as instructions: shared by the reader of statements and the judge of instructions. */
#ifndef ASSAY_AUDIT_PTX_H
#define ASSAY_AUDIT_PTX_H

#include "audit_private.h"

#define PTX_OPERANDS         4
#define PTX_MAX_INSTRUCTIONS ((size_t)1 << 22) /* of one function; more are not read */

typedef struct ptx_span {
    const char *p;
    size_t n;
} ptx_span;

typedef struct ptx_instruction {
    ptx_span name; /* "ex2.approx.ftz.f32" */
    ptx_span operands[PTX_OPERANDS];
    size_t count;
} ptx_instruction;

typedef struct ptx_body {
    ptx_instruction *items;
    size_t count, capacity;
    bool cut; /* it had more instructions than are read */
    assay_audit_function *function;
} ptx_body;

/* Judges the instructions of one function into body->function, and empties the body. */
void audit_ptx_judge(ptx_body *body, assay_audit_code *code);

#endif
