/* audit_ptx.c - judges the instructions of PTX, the approximate ones by where their operands come from. */
#include "audit_ptx.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REACH 1024 /* instructions searched for a definition or a use */

static bool same(ptx_span a, ptx_span b) {
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* True when `part` is one of the dotted parts of the name behind the first. */
static bool has_part(ptx_span name, const char *part) {
    const size_t n = strlen(part);
    for (const char *p = memchr(name.p, '.', name.n); p != NULL;) {
        const size_t left = name.n - (size_t)(p + 1 - name.p);
        const char *const next = memchr(p + 1, '.', left);
        const size_t length = next != NULL ? (size_t)(next - p - 1) : left;
        if (length == n && memcmp(p + 1, part, n) == 0) {
            return true;
        }
        p = next;
    }
    return false;
}

/* True when the name is `family` or begins with `family.`. */
static bool is(ptx_span name, const char *family) {
    const size_t n = strlen(family);
    return name.n >= n && memcmp(name.p, family, n) == 0 && (name.n == n || name.p[n] == '.');
}

static bool is_any(ptx_span name, const char *const *families) {
    for (; *families != NULL; families++) {
        if (is(name, *families)) {
            return true;
        }
    }
    return false;
}

/* ---- data flow inside a function, in textual order ---- */

/* The instruction before `at` that last wrote the register; NULL when it is not near. */
static const ptx_instruction *definition(const ptx_body *b, size_t at, ptx_span reg) {
    for (size_t i = at; i-- > 0 && at - i <= REACH;) {
        if (b->items[i].count > 0 && same(b->items[i].operands[0], reg)) {
            return &b->items[i];
        }
    }
    return NULL;
}

/* True when operand `k` is the FP32 constant with those digits ("3FB8AA3B"), written there or moved before.
 */
static bool is_constant(const ptx_body *b, const ptx_instruction *in, size_t k, const char *digits) {
    if (k >= in->count) {
        return false;
    }
    ptx_span s = in->operands[k];
    if (s.n > 0 && s.p[0] == '%') {
        const ptx_instruction *const from = definition(b, (size_t)(in - b->items), s);
        if (from == NULL || !is(from->name, "mov") || from->count < 2) {
            return false;
        }
        s = from->operands[1];
    }
    return s.n == 10 && s.p[0] == '0' && (s.p[1] == 'f' || s.p[1] == 'F') &&
           strncasecmp(s.p + 2, digits, 8) == 0;
}

static bool has_constant(const ptx_body *b, const ptx_instruction *in, const char *const *digits) {
    for (; *digits != NULL; digits++) {
        if (is_constant(b, in, 1, *digits) || is_constant(b, in, 2, *digits)) {
            return true;
        }
    }
    return false;
}

/* What defines operand k of `in`. */
static const ptx_instruction *source(const ptx_body *b, const ptx_instruction *in, size_t k) {
    return k < in->count ? definition(b, (size_t)(in - b->items), in->operands[k]) : NULL;
}

/* The first instruction behind `in` that reads its result. */
static const ptx_instruction *user(const ptx_body *b, const ptx_instruction *in) {
    for (size_t i = (size_t)(in - b->items) + 1; i < b->count && i - (size_t)(in - b->items) <= REACH; i++) {
        for (size_t k = 1; k < b->items[i].count; k++) {
            if (same(b->items[i].operands[k], in->operands[0])) {
                return &b->items[i];
            }
        }
    }
    return NULL;
}

/* ---- where CUDA's library uses approximations in exact builds ---- */

static const char *const log2e[] = {"3FB8AA3B", "40549A78", NULL};      /* log2(e), log2(10) */
static const char *const cube_roots[] = {"BF2AAAAB", "BEAAAAAB", NULL}; /* cbrtf: -2/3, rcbrtf: -1/3 */
static const char *const exp_tails[] = {"32A57060", "33979A37", NULL};  /* expf, exp10f: second step */
static const char *const sinh_tail[] = {"3102E308", NULL};              /* sinhf, coshf: ln 2, second part */
static const char *const tanh_scale[] = {"4038AA3B", NULL};             /* tanhf: 2 log2(e) */
static const char *const quarters[] = {"3E800000", "BE000000", "3E000000",
                                       NULL}; /* numerators of erfcxf, sinhf, coshf */

static bool of_log2(const ptx_body *b, const ptx_instruction *product) {
    for (size_t k = 1; k <= 2; k++) {
        const ptx_instruction *const from = source(b, product, k);
        if (from != NULL && is(from->name, "lg2")) {
            return true;
        }
    }
    return false;
}

/* ex2.approx: 2^x. Without .ftz it is exp2f, unless x was just multiplied as expf, exp10f or powf would. */
static assay_audit_class judge_ex2(const ptx_body *b, const ptx_instruction *in) {
    const ptx_instruction *const from = source(b, in, 1);
    const bool flush = has_part(in->name, "ftz");
    if (from != NULL && is(from->name, "mul")) {
        if (of_log2(b, from)) {
            return has_constant(b, from, cube_roots) ? ASSAY_AUDIT_CLASS_LIBRARY
                                                     : ASSAY_AUDIT_CLASS_APPROXIMATE;
        }
        if (has_constant(b, from, log2e)) {
            const ptx_instruction *const reduced = source(b, from, 1);
            return reduced != NULL && is(reduced->name, "fma") && has_constant(b, reduced, sinh_tail)
                       ? ASSAY_AUDIT_CLASS_LIBRARY
                       : ASSAY_AUDIT_CLASS_APPROXIMATE;
        }
        if (has_constant(b, from, tanh_scale)) {
            return ASSAY_AUDIT_CLASS_LIBRARY;
        }
    }
    if (!flush) {
        return ASSAY_AUDIT_CLASS_LIBRARY;
    }
    if (from != NULL && is(from->name, "fma") && from->count == 4) {
        const bool exp = has_constant(b, from, exp_tails);
        const bool erf = same(from->operands[2], from->operands[3]); /* erff: p*x + x */
        return exp || erf ? ASSAY_AUDIT_CLASS_LIBRARY : ASSAY_AUDIT_CLASS_UNDECIDED;
    }
    return ASSAY_AUDIT_CLASS_UNDECIDED;
}

static assay_audit_class judge_lg2(const ptx_body *b, const ptx_instruction *in) {
    const ptx_instruction *const next = user(b, in);
    const bool root = next != NULL && is(next->name, "mul") && has_constant(b, next, cube_roots);
    const bool inverse = next != NULL && is(next->name, "neg"); /* erfcinvf, normcdfinvf */
    return root || inverse ? ASSAY_AUDIT_CLASS_LIBRARY : ASSAY_AUDIT_CLASS_APPROXIMATE;
}

static assay_audit_class judge_div(const ptx_body *b, const ptx_instruction *in) {
    const ptx_instruction *const next = user(b, in);
    const bool fmod = next != NULL && is(next->name, "cvt") && has_part(next->name, "rzi");
    const bool quarter = is_constant(b, in, 1, quarters[0]) || is_constant(b, in, 1, quarters[1]) ||
                         is_constant(b, in, 1, quarters[2]);
    return !has_part(in->name, "full") && (fmod || quarter) ? ASSAY_AUDIT_CLASS_LIBRARY
                                                            : ASSAY_AUDIT_CLASS_APPROXIMATE;
}

/* The result is rounded to 16 bits at once, or after one operation: CUDA's own functions of half and bfloat16
 * have no other form, so it says nothing. */
static bool narrowed(const ptx_body *b, const ptx_instruction *in) {
    const ptx_instruction *next = user(b, in);
    if (next != NULL && (is(next->name, "mul") || is(next->name, "fma"))) {
        next = user(b, next);
    }
    return next != NULL && is(next->name, "cvt") &&
           (has_part(next->name, "f16") || has_part(next->name, "bf16"));
}

/* The first guess of an FP64 function, refined after it: its argument was narrowed or its result is widened.
 */
static bool seeds_f64(const ptx_body *b, const ptx_instruction *in) {
    const ptx_instruction *const from = source(b, in, 1);
    const ptx_instruction *const next = user(b, in);
    return (from != NULL && is(from->name, "cvt") && has_part(from->name, "f64")) ||
           (next != NULL && is(next->name, "cvt") && has_part(next->name, "f64"));
}

/* tgammaf divides approximately too, in no pattern of its own; it is known by sqrt(2 pi). */
static bool beside_tgamma(const ptx_body *b) {
    for (size_t i = 0; i < b->count; i++) {
        for (size_t k = 1; k < b->items[i].count; k++) {
            if (same(b->items[i].operands[k], (ptx_span){"0f40206C99", 10})) {
                return true;
            }
        }
    }
    return false;
}

/* `ftz_off`: some FP32 arithmetic of the text does not flush, so the option is off, and what flushes beside
 * an approximation is the library's own choice. */
static assay_audit_class judge_approximate(const ptx_body *b, const ptx_instruction *in, bool ftz_off) {
    static const char *const never[] = {"sin", "cos", "tanh", "sqrt", NULL};
    const bool flush = has_part(in->name, "ftz");
    if (is_any(in->name, never)) {
        return ASSAY_AUDIT_CLASS_APPROXIMATE;
    }
    if (has_part(in->name, "f64")) {
        return ASSAY_AUDIT_CLASS_LIBRARY; /* no option relaxes FP64 */
    }
    if ((is(in->name, "ex2") || is(in->name, "lg2")) && seeds_f64(b, in)) {
        return ASSAY_AUDIT_CLASS_LIBRARY;
    }
    if (is(in->name, "ex2")) {
        return judge_ex2(b, in);
    }
    if (is(in->name, "lg2")) {
        return judge_lg2(b, in);
    }
    if (is(in->name, "div")) {
        return judge_div(b, in);
    }
    if (is(in->name, "rcp") && !flush) {
        return ASSAY_AUDIT_CLASS_APPROXIMATE;
    }
    if (is(in->name, "rsqrt") && !flush) {
        return ASSAY_AUDIT_CLASS_LIBRARY; /* rsqrtf */
    }
    return ftz_off && (is(in->name, "rcp") || is(in->name, "rsqrt")) ? ASSAY_AUDIT_CLASS_LIBRARY
                                                                     : ASSAY_AUDIT_CLASS_UNDECIDED;
}

/* The judgment, softened where exact builds give the same instructions. */
static assay_audit_class judge_in_place(const ptx_body *b, const ptx_instruction *in, bool ftz_off) {
    const assay_audit_class kind = judge_approximate(b, in, ftz_off);
    const bool trigonometric = is(in->name, "sin") || is(in->name, "cos");
    if (kind != ASSAY_AUDIT_CLASS_APPROXIMATE || trigonometric || has_part(in->name, "full")) {
        return kind;
    }
    return narrowed(b, in) || (is(in->name, "div") && beside_tgamma(b)) ? ASSAY_AUDIT_CLASS_UNDECIDED : kind;
}

static void count_arithmetic(const ptx_instruction *in, assay_audit_function *f) {
    static const char *const sums[] = {"add", "sub", "mul", NULL};
    if (!has_part(in->name, "f32") && !has_part(in->name, "f32x2")) {
        return;
    }
    if (is(in->name, "fma")) {
        f->fused++;
    } else if (is_any(in->name, sums)) {
        const bool spelled = has_part(in->name, "rn") || has_part(in->name, "rz") ||
                             has_part(in->name, "rm") || has_part(in->name, "rp");
        *(spelled ? &f->rounded : &f->open) += 1;
    }
}

/* What the machine code of this instruction may use. */
static unsigned kinds_of(ptx_span name) {
    const bool precise =
        has_part(name, "rn") || has_part(name, "rz") || has_part(name, "rm") || has_part(name, "rp");
    if (is(name, "ex2")) {
        return AUDIT_EX2;
    }
    if (is(name, "lg2")) {
        return AUDIT_LG2;
    }
    if (is(name, "div") || is(name, "rcp") || is(name, "rem")) {
        return AUDIT_RCP | (precise ? AUDIT_SLOW : 0u);
    }
    if (is(name, "sqrt") || is(name, "rsqrt")) {
        return AUDIT_RSQ | (precise ? AUDIT_SLOW : 0u);
    }
    return 0;
}

static bool shows_ftz_off(const ptx_body *b) {
    static const char *const arithmetic[] = {"add", "sub", "mul", "fma", "setp", "abs", "neg", "div", NULL};
    for (size_t i = 0; i < b->count; i++) {
        const ptx_span name = b->items[i].name;
        if (is_any(name, arithmetic) && has_part(name, "f32") && !has_part(name, "ftz")) {
            return true;
        }
    }
    return false;
}

void audit_ptx_judge(ptx_body *b, assay_audit_code *code) {
    const bool ftz_off = shows_ftz_off(b);
    for (size_t i = 0; i < b->count; i++) {
        const ptx_instruction *const in = &b->items[i];
        const bool approximate = has_part(in->name, "approx") || has_part(in->name, "full");
        b->function->instructions++;
        b->function->kinds |= kinds_of(in->name);
        count_arithmetic(in, b->function);
        if (approximate && (is(in->name, "div") || has_part(in->name, "approx"))) {
            audit_find(b->function, judge_in_place(b, in, ftz_off), in->name.p, in->name.n);
        } else if (has_part(in->name, "ftz")) {
            audit_find(b->function, ASSAY_AUDIT_CLASS_FLUSHED, in->name.p, in->name.n);
        }
    }
    code->kinds |= b->function->kinds;
    if (b->cut) {
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason, "a function has more than %zu instructions",
                       PTX_MAX_INSTRUCTIONS);
    }
    b->count = 0;
    b->cut = false;
    b->function = NULL;
}
