/* parity.c - bytes of the candidate against the replay of the lineage it claims, and against a baseline.
 *
 * Which promise a comparison serves follows from what varies: same lineage owes bytes
 * (promise parity), another lineage is measured (promise cross_lineage_parity), the same file on both sides
 * proves nothing. A candidate that claims no lineage owes no bits: its parity checks are planned as optional
 * and end `unsupported`, so that its other promises can still be certified. */
#include "numeric.h"

#include <stdlib.h>
#include <string.h>

typedef enum parity_kind {
    REPLAY,          /* against the judge's replay of the claimed lineage */
    BASELINE,        /* against a baseline of the same lineage */
    CROSS,           /* against a baseline of another lineage: measured */
    UNKNOWN_LINEAGE, /* claimed, but the operator has no replay of it */
    NO_LINEAGE,
    SAME_FILE
} parity_kind;

extern const assay_suite assay_suite_parity;

/* ---- plan ---- */

static void plan_cases(const assay_context *context, assay_plan *plan, parity_kind kind, const char *promise,
                       const char *label) {
    assay_numeric_list *list = assay_numeric_alloc(1, sizeof *list);
    assay_numeric_forward(context, kind == CROSS ? "accuracy" : "parity",
                          list); /* measured: the smaller sets do */
    for (size_t i = 0; i < list->count; i++) {
        assay_check *check = assay_plan_add(plan, context, &assay_suite_parity, promise, "%s/%s", label,
                                            list->items[i].c.name);
        if (check != NULL) {
            check->c = list->items[i].c;
            check->p[ASSAY_NUMERIC_WHOLE] = list->items[i].whole;
            check->kind = (int)kind;
            check->strength = list->items[i].all ? ASSAY_STRENGTH_EXHAUSTIVE : ASSAY_STRENGTH_SAMPLED;
        }
    }
    free(list);
}

/* A check that only states why nothing was compared. */
static void plan_statement(const assay_context *context, assay_plan *plan, parity_kind kind,
                           const char *label, bool required) {
    assay_check *check = assay_plan_add(plan, context, &assay_suite_parity, "parity", "%s", label);
    if (check != NULL) {
        check->kind = (int)kind;
        check->required &= required;
        assay_direct_case(context, 0, ASSAY_DTYPE_F32, 1, context->seed, &check->c);
    }
}

static void parity_plan(const assay_context *context, assay_plan *plan) {
    bool claims = context->lineage[0] != '\0';
    bool same =
        claims && strcmp(context->lineage, context->baseline_lineage) == 0 && context->baseline_name != NULL;
    if (claims && assay_numeric_replayable(context, context->lineage)) {
        plan_cases(context, plan, REPLAY, "parity", "replay");
    } else if (!same || context->same_binary) {
        plan_statement(context, plan, claims ? UNKNOWN_LINEAGE : NO_LINEAGE, "replay", claims);
    }
    if (context->baseline_name == NULL) {
        return;
    }
    if (context->same_binary) {
        plan_statement(context, plan, SAME_FILE, "baseline", true);
    } else if (same) {
        plan_cases(context, plan, BASELINE, "parity", "baseline");
    } else {
        plan_cases(context, plan, CROSS, "cross_lineage_parity", "cross");
    }
}

/* ---- run ---- */

typedef struct parity_lane {
    assay_parity parity;
    assay_ulp_histogram histogram;
    assay_parity again[2]; /* both judges over the drawn blocks */
    assay_ulp_histogram again_histogram[2];
    uint32_t *want;  /* one block */
    uint32_t *first; /* the first differing row as seen: got, then want */
} parity_lane;

typedef struct parity_job {
    const assay_context *context;
    const assay_check *check;
    parity_lane *lanes;
    size_t channels;
} parity_job;

/* Keeps the row of a lane's first difference, because what a candidate answers alone may differ from what it
 * answered here. */
static void keep_first(parity_lane *lane, const assay_block *block, const uint32_t *want) {
    size_t offset = (size_t)(lane->parity.first_index / block->channels - block->first_row) * block->channels;
    memcpy(lane->first, block->got + offset, block->channels * sizeof *want);
    memcpy(lane->first + block->channels, want + offset, block->channels * sizeof *want);
}

static bool parity_block(void *user, unsigned index, const assay_block *block, assay_error *error) {
    parity_job *job = user;
    parity_lane *lane = &job->lanes[index];
    const uint32_t *want = block->other;
    size_t words = block->rows * block->channels;
    uint64_t base = block->first_row * block->channels;
    if (want == NULL) {
        float *replay = (float *)(void *)lane->want;
        if (!job->context->op->replay(job->context->lineage, &job->check->c.attrs, block->x, block->rows,
                                      replay)) {
            (void)assay_fail(error, ASSAY_CODE_INTERNAL, "lineage %s cannot be replayed",
                             job->context->lineage);
            return false;
        }
        want = lane->want;
    }
    bool clean = lane->parity.differing == 0;
    assay_parity_add_f32(&lane->parity, block->got, want, words, base);
    if (clean && lane->parity.differing > 0) {
        keep_first(lane, block, want);
    }
    if (block->again) {
        assay_parity_add_f32(&lane->again[0], block->got, want, words, base);
        assay_scalar_parity_f32(&lane->again[1], block->got, want, words, base);
    }
    return true;
}

static parity_lane *lanes_open(const assay_context *context, size_t channels) {
    size_t rows = channels < ASSAY_BLOCK_WORDS && channels > 0 ? ASSAY_BLOCK_WORDS / channels : 1;
    parity_lane *lanes = assay_numeric_alloc(context->lane_count, sizeof *lanes);
    for (unsigned i = 0; i < context->lane_count; i++) {
        lanes[i].parity.histogram = &lanes[i].histogram;
        lanes[i].again[0].histogram = &lanes[i].again_histogram[0];
        lanes[i].again[1].histogram = &lanes[i].again_histogram[1];
        lanes[i].want = assay_numeric_alloc(rows * channels, sizeof *lanes[i].want);
        lanes[i].first = assay_numeric_alloc(2 * channels, sizeof *lanes[i].first);
    }
    return lanes;
}

static void lanes_close(parity_lane *lanes, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        free(lanes[i].want);
        free(lanes[i].first);
    }
    free(lanes);
}

/* Turns the merged counts into an outcome, details and a witness. */
static void parity_judge(assay_context *context, const assay_check *check, const parity_lane *lanes,
                         assay_result *result) {
    parity_lane *total = assay_numeric_alloc(1, sizeof *total);
    const parity_lane *first = NULL;
    bool agree = true;
    total->parity.histogram = &total->histogram;
    for (unsigned i = 0; i < context->lane_count; i++) {
        assay_parity_merge(&total->parity, &lanes[i].parity);
        agree &= assay_numeric_same_parity(&lanes[i].again[0], &lanes[i].again[1]);
        if (lanes[i].parity.differing > 0 &&
            (first == NULL || lanes[i].parity.first_index < first->parity.first_index)) {
            first = &lanes[i];
        }
    }
    const assay_parity *p = &total->parity;
    size_t channels = context->op->channels(&check->c.attrs);
    const char *against = check->kind == REPLAY ? context->lineage : context->baseline_name;
    result->elements = p->elements;
    result->bad = p->differing;
    assay_record_parity(context, check, p);
    if (!agree) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR,
                         "judges disagree: the vector and the scalar comparison differ");
    } else if (p->elements == 0) {
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "no element was compared");
    } else if (check->kind == CROSS) {
        assay_result_set(result, ASSAY_OUTCOME_PASS,
                         "measured: %llu of %llu words differ from %s, at most %llu ulp",
                         (unsigned long long)p->differing, (unsigned long long)p->elements, against,
                         (unsigned long long)p->max_ulp);
    } else if (first != NULL) {
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%llu of %llu words differ from %s %s, at most %llu ulp",
                         (unsigned long long)p->differing, (unsigned long long)p->elements,
                         check->kind == REPLAY ? "the replay of" : "baseline", against,
                         (unsigned long long)p->max_ulp);
        assay_numeric_witness(context, check, p->first_index / channels, first->first,
                              first->first + channels);
    } else if (!assay_parity_ok(p)) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "words differ, but no lane kept the first");
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "every word equals %s %s",
                         check->kind == REPLAY ? "the replay of" : "baseline", against);
    }
    free(total);
}

static bool parity_statement(const assay_context *context, const assay_check *check, assay_result *result) {
    switch ((parity_kind)check->kind) {
    case UNKNOWN_LINEAGE:
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE,
                         "lineage \"%s\" has no replay for %s; give a --baseline of that lineage",
                         context->lineage, context->op->name);
        return true;
    case NO_LINEAGE:
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED,
                         "the candidate claims no lineage, so it owes no bits");
        return true;
    case SAME_FILE:
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED,
                         "candidate and baseline are the same file: comparing them proves nothing");
        return true;
    case REPLAY:
    case BASELINE:
    case CROSS:
        break;
    }
    return false;
}

static void parity_run(assay_context *context, const assay_check *check, assay_result *result) {
    if (parity_statement(context, check, result)) {
        return;
    }
    size_t channels = context->op->channels(&check->c.attrs);
    parity_job job = {
        .context = context, .check = check, .lanes = lanes_open(context, channels), .channels = channels};
    if (assay_numeric_walk(context, check, check->kind == REPLAY ? ASSAY_SECOND_NONE : ASSAY_SECOND_OWED,
                           parity_block, &job, result)) {
        parity_judge(context, check, job.lanes, result);
    }
    lanes_close(job.lanes, context->lane_count);
}

const assay_suite assay_suite_parity = {
    .name = "parity",
    .help = "bytes equal to the provider's replay and to a baseline of the same lineage",
    .plan = parity_plan,
    .run = parity_run,
};
