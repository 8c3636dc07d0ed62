/* audit_sass.c - machine code of sm_70 and later, as far as relaxed arithmetic shows in it. An instruction
 * has 16 bytes: bits 0-8 are the operation (bits 9-11 the form of its operands), bit 80 flushes subnormals in
 * FP32 operations, bits 74-79 say what MUFU computes. Positions and numbers were read from cubins that
 * ptxas 13.0 made from known PTX, for sm_75, 80, 90, 100 and 120, beside NVIDIA's disassembler. */
#include "audit_private.h"
#include "elf_read.h"

#include <stdio.h>
#include <string.h>

#define FIRST_SM     70u
#define LAST_SM      129u
#define FFMA         0x023u
#define NEAR         1024u /* bytes around a MUFU.RCP in which its operands are looked for */
#define STEP         16u
#define FLAG_EXECUTE 4u /* SHF_EXECINSTR */

/* How a flush on an operation counts. */
typedef enum flush_rule {
    FLUSH_NEVER,  /* exact code never flushes there */
    FLUSH_SLOW,   /* exact code does in the slow path of a division or a root */
    FLUSH_INTEGER /* exact code does where integers are divided */
} flush_rule;

typedef struct operation {
    const char *name;
    unsigned code;
    flush_rule rule;
} operation;

static const operation operations[] = {
    {"FFMA.FTZ", FFMA, FLUSH_NEVER},   {"FMNMX.FTZ", 0x009, FLUSH_NEVER}, {"FMNMX3.FTZ", 0x076, FLUSH_NEVER},
    {"F2I.FTZ", 0x105, FLUSH_INTEGER}, {"FRND.FTZ", 0x107, FLUSH_NEVER},  {"FADD.FTZ", 0x021, FLUSH_SLOW},
    {"FMUL.FTZ", 0x020, FLUSH_SLOW},
};

#define MUFU     0x108u
#define MUFU_RCP 4u

typedef struct special {
    const char *name;
    assay_audit_class kind;
    unsigned explained_by;
} special;
static const special specials[] = {
    {"MUFU.COS", ASSAY_AUDIT_CLASS_APPROXIMATE, 0},
    {"MUFU.SIN", ASSAY_AUDIT_CLASS_APPROXIMATE, 0},
    {"MUFU.EX2", ASSAY_AUDIT_CLASS_UNDECIDED, AUDIT_EX2},
    {"MUFU.LG2", ASSAY_AUDIT_CLASS_UNDECIDED, AUDIT_LG2},
    {"MUFU.RCP", ASSAY_AUDIT_CLASS_UNDECIDED, AUDIT_RCP},
    {"MUFU.RSQ", ASSAY_AUDIT_CLASS_UNDECIDED, AUDIT_RSQ},
    {"MUFU.RCP64H", ASSAY_AUDIT_CLASS_LIBRARY, 0},
    {"MUFU.RSQ64H", ASSAY_AUDIT_CLASS_LIBRARY, 0},
    {"MUFU.SQRT", ASSAY_AUDIT_CLASS_APPROXIMATE, 0},
    {"MUFU.TANH", ASSAY_AUDIT_CLASS_APPROXIMATE, 0},
};

/* What is judged when the whole function was read. */
typedef struct tally {
    uint64_t plain, flushed;           /* FADD and FMUL; FFMA only when plain */
    uint64_t conversions, reciprocals; /* F2I.FTZ; MUFU.RCP of integer divisions */
} tally;

static void find(assay_audit_function *f, assay_audit_class kind, const char *name) {
    audit_find(f, kind, name, strlen(name));
}

static void judge_mufu(assay_audit_function *f, unsigned what) {
    char name[16];
    if (what < sizeof specials / sizeof specials[0]) {
        f->kinds |= specials[what].explained_by;
        find(f, specials[what].kind, specials[what].name);
        return;
    }
    (void)snprintf(name, sizeof name, "MUFU.%u", what);
    f->kinds |= ~0u; /* nothing explains what is not known */
    find(f, ASSAY_AUDIT_CLASS_UNDECIDED, name);
}

static void judge_instruction(assay_audit_function *f, const uint8_t *at, tally *t) {
    const unsigned code = assay_le16(at) & 0x1ffu;
    const uint64_t high = assay_le64(at + 8);
    const bool flush = (high >> 16 & 1) != 0;
    f->instructions++;
    f->fused += code == FFMA;
    if (code == MUFU) {
        judge_mufu(f, (unsigned)(high >> 10 & 0x3f));
        return;
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const operation *const o = &operations[i];
        if (o->code != code) {
            continue;
        }
        t->plain += code == FFMA && !flush;
        if (o->rule == FLUSH_SLOW) {
            t->plain += !flush;
            t->flushed += flush;
        } else if (o->rule == FLUSH_INTEGER) {
            t->conversions += flush;
        } else if (flush) {
            find(f, ASSAY_AUDIT_CLASS_FLUSHED, o->name);
        }
    }
}

/* Integers are divided by converting the divisor, a MUFU.RCP, and an integer addition to the bits of its
 * result. True when the MUFU.RCP at `i` is one of those: no FP32 division adds to bits. */
static bool divides_integers(const assay_elf_section *s, size_t i) {
    const uint8_t *const at = s->bytes + i;
    const uint8_t to = at[2];
    const uint8_t from = at[4];
    bool converted = false;
    for (size_t k = i; k >= STEP && i - k < NEAR && !converted; k -= STEP) {
        const uint8_t *const before = s->bytes + k - STEP;
        const unsigned code = assay_le16(before) & 0x1ffu;
        if (before[2] == from && (code == 0x106 || code == 0x112 || code == 0x045)) { /* I2F, I2F.64, I2FP */
            converted = true;
        }
    }
    for (size_t k = i + STEP; k + STEP <= s->n && k - i <= NEAR && converted; k += STEP) {
        const uint8_t *const after = s->bytes + k;
        const unsigned code = assay_le16(after) & 0x1ffu;
        if ((after[3] == to || after[4] == to) && (code == 0x010 || code == 0x036)) { /* IADD3, VIADD */
            return true;
        }
    }
    return false;
}

static void judge_text(const assay_elf_section *s, assay_audit_code *code) {
    tally t = {0};
    const char *name = s->name + sizeof ".text" - 1;
    name += *name == '.';
    assay_audit_function *const f = audit_function_add(code, name, strlen(name), true);
    for (size_t i = 0; i + STEP <= s->n; i += STEP) {
        const uint8_t *const at = s->bytes + i;
        if ((assay_le16(at) & 0x1ffu) == MUFU && (assay_le64(at + 8) >> 10 & 0x3f) == MUFU_RCP &&
            divides_integers(s, i)) {
            t.reciprocals++;
            f->instructions++;
        } else {
            judge_instruction(f, at, &t);
        }
    }
    if (t.conversions > t.reciprocals) { /* of FP32 values */
        f->kinds |= AUDIT_RCP;
        find(f, ASSAY_AUDIT_CLASS_UNDECIDED, "F2I.FTZ");
    }
    if (t.flushed > 0 && t.plain == 0) { /* -ftz=true reaches all; the slow paths leave plain ones beside */
        find(f, ASSAY_AUDIT_CLASS_FLUSHED, "FADD/FMUL.FTZ");
    } else if (t.flushed > 0) {
        f->kinds |= AUDIT_SLOW;
        find(f, ASSAY_AUDIT_CLASS_UNDECIDED, "FADD/FMUL.FTZ");
    }
    code->kinds |= f->kinds;
}

void audit_sass(const uint8_t *cubin, size_t n, assay_audit_code *code) {
    if (!assay_elf_is_cubin(cubin, n)) {
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason, "the entry is no 64-bit cubin");
        return;
    }
    code->sm = assay_elf_sm(cubin);
    if (code->sm < FIRST_SM || code->sm > LAST_SM) {
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason, "machine code of sm_%u is not read", code->sm);
        return;
    }
    const size_t sections = assay_elf_section_count(cubin, n);
    bool whole = sections > 0;
    for (size_t i = 0; i < sections && whole; i++) {
        assay_elf_section s;
        whole = assay_elf_section_at(cubin, n, i, &s);
        if (whole && s.bytes != NULL && (s.flags & FLAG_EXECUTE) != 0) {
            if (strncmp(s.name, ".text", 5) == 0) {
                judge_text(&s, code);
            } else {
                whole = false; /* code that is called something else */
            }
        }
    }
    if (!whole) {
        code->verdict = ASSAY_AUDIT_UNKNOWN;
        (void)snprintf(code->reason, sizeof code->reason, "the cubin's sections cannot be read");
    }
}
