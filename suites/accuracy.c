/* accuracy.c - the forward output against the FP64 golden: tolerance row, ulp histogram, correctly rounded
 * share, and the error over t.
 *
 * A pass also needs a tolerance that rejects every null candidate on the same inputs, and two judges that
 * agree. */
#include "sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 64 /* of the profile over t in [0, 1] */

extern const assay_suite assay_suite_accuracy;

enum { PLAIN, SET }; /* assay_check.kind: a set also gets a profile, of the baseline too */

static void accuracy_plan(const assay_context *context, assay_plan *plan) {
    assay_numeric_list *list = assay_numeric_alloc(1, sizeof *list);
    assay_numeric_forward(context, "accuracy", list);
    for (size_t i = 0; i < list->count; i++) {
        assay_check *check = assay_plan_add(plan, context, &assay_suite_accuracy, "accuracy", "golden/%s",
                                            list->items[i].c.name);
        if (check != NULL) {
            check->c = list->items[i].c;
            check->p[ASSAY_NUMERIC_WHOLE] = list->items[i].whole;
            check->kind = list->items[i].set ? SET : PLAIN;
            check->strength = list->items[i].all ? ASSAY_STRENGTH_EXHAUSTIVE : ASSAY_STRENGTH_SAMPLED;
        }
    }
    free(list);
}

/* ---- judging blocks ---- */

/* One implementation's error, as one lane saw it: bin by bin for sets, all in bin 0 otherwise. The bins share
 * a histogram. */
typedef struct subject {
    assay_accuracy bins[BINS];
    assay_ulp_histogram histogram;
} subject;

typedef struct accuracy_job accuracy_job;

typedef struct accuracy_lane {
    subject mine, other; /* candidate, baseline */
    assay_accuracy again[2];
    assay_ulp_histogram again_histogram[2];
    double *golden;     /* one block */
    uint32_t *first;    /* the first row outside: got, then the golden rounded */
    uint64_t first_row; /* UINT64_MAX = none */
} accuracy_lane;

struct accuracy_job {
    const assay_context *context;
    const assay_check *check;
    const assay_tolerance *tolerance;
    accuracy_lane *lanes;
    size_t channels;
};

/* Near ties are decided by the exact value. */
static uint32_t settle(void *user, uint64_t index, double golden) {
    const accuracy_job *job = user;
    float x;
    (void)golden;
    assay_case_inputs(&job->check->c, index / job->channels, 1, &x);
    return job->context->op->exact(&job->check->c.attrs, x, (size_t)(index % job->channels));
}

static void accuracy_open(accuracy_job *job, assay_accuracy *accuracy, assay_ulp_histogram *histogram) {
    *accuracy = (assay_accuracy){.tolerance = {.atol = job->tolerance->atol, .rtol = job->tolerance->rtol},
                                 .histogram = histogram,
                                 .settle = settle,
                                 .settle_context = job};
}

static int bin_of(float t) {
    return !(t > 0.0F) ? 0 : t >= 1.0F ? BINS - 1 : (int)(t * (float)BINS);
}

/* Adds the block to the bins, consecutive rows of one bin at once. */
static void subject_add(subject *s, bool binned, const assay_block *block, const uint32_t *got,
                        const double *golden) {
    size_t from = 0;
    while (from < block->rows) {
        int bin = binned ? bin_of(block->x[from]) : 0;
        size_t to = binned ? from + 1 : block->rows;
        while (to < block->rows && bin_of(block->x[to]) == bin) {
            to++;
        }
        size_t offset = from * block->channels;
        assay_accuracy_add(&s->bins[bin], got + offset, golden + offset, (to - from) * block->channels,
                           block->first_row * block->channels + offset);
        from = to;
    }
}

/* Remembers the first row that breaks the tolerance row, as seen. */
static void keep_first(const accuracy_job *job, accuracy_lane *lane, const assay_block *block) {
    const assay_tolerance *t = job->tolerance;
    for (size_t i = 0; i < block->rows * block->channels; i++) {
        double golden = lane->golden[i];
        double error = fabs((double)assay_f32_from_bits(block->got[i]) - golden);
        if (error <= t->atol + t->rtol * fabs(golden) && (t->max_abs <= 0.0 || error <= t->max_abs)) {
            continue;
        }
        size_t row = i / block->channels;
        lane->first_row = block->first_row + row;
        memcpy(lane->first, block->got + row * block->channels, block->channels * sizeof *lane->first);
        for (size_t c = 0; c < block->channels; c++) {
            lane->first[block->channels + c] = assay_f32_bits((float)lane->golden[row * block->channels + c]);
        }
        return;
    }
}

static bool accuracy_block(void *user, unsigned index, const assay_block *block, assay_error *error) {
    accuracy_job *job = user;
    accuracy_lane *lane = &job->lanes[index];
    size_t words = block->rows * block->channels;
    uint64_t base = block->first_row * block->channels;
    bool binned = job->check->kind == SET;
    (void)error;
    job->context->op->golden(&job->check->c.attrs, block->x, block->rows, lane->golden);
    subject_add(&lane->mine, binned, block, block->got, lane->golden);
    if (block->other != NULL) {
        subject_add(&lane->other, binned, block, block->other, lane->golden);
    }
    for (int b = 0; lane->first_row == UINT64_MAX && b < BINS; b++) {
        if (lane->mine.bins[b].elements > 0 && !assay_within(&lane->mine.bins[b], job->tolerance)) {
            keep_first(job, lane, block);
        }
    }
    if (block->again) {
        assay_accuracy_add(&lane->again[0], block->got, lane->golden, words, base);
        assay_scalar_accuracy(&lane->again[1], block->got, lane->golden, words, base);
    }
    return true;
}

static void lanes_open(accuracy_job *job) {
    unsigned count = job->context->lane_count;
    size_t rows =
        job->channels < ASSAY_BLOCK_WORDS && job->channels > 0 ? ASSAY_BLOCK_WORDS / job->channels : 1;
    job->lanes = assay_numeric_alloc(count, sizeof *job->lanes);
    for (unsigned i = 0; i < count; i++) {
        accuracy_lane *lane = &job->lanes[i];
        for (int b = 0; b < BINS; b++) {
            accuracy_open(job, &lane->mine.bins[b], &lane->mine.histogram);
            accuracy_open(job, &lane->other.bins[b], &lane->other.histogram);
        }
        for (int a = 0; a < 2; a++) {
            accuracy_open(job, &lane->again[a], &lane->again_histogram[a]);
        }
        lane->golden = assay_numeric_alloc(rows * job->channels, sizeof *lane->golden);
        lane->first = assay_numeric_alloc(2 * job->channels, sizeof *lane->first);
        lane->first_row = UINT64_MAX;
    }
}

static void lanes_close(accuracy_job *job) {
    for (unsigned i = 0; i < job->context->lane_count; i++) {
        free(job->lanes[i].golden);
        free(job->lanes[i].first);
    }
    free(job->lanes);
}

/* ---- the outcome ---- */

/* All lanes' bins of one implementation: bin by bin into *merged, all of them into *total. */
static void subject_merge(const accuracy_job *job, bool baseline, subject *merged, assay_accuracy *total) {
    for (int b = 0; b < BINS; b++) {
        for (unsigned i = 0; i < job->context->lane_count; i++) {
            const subject *s = baseline ? &job->lanes[i].other : &job->lanes[i].mine;
            assay_accuracy part = s->bins[b];
            part.histogram = NULL; /* shared by the lane's bins: added once, below */
            assay_accuracy_merge(&merged->bins[b], &part);
        }
        assay_accuracy_merge(total, &merged->bins[b]);
    }
    for (unsigned i = 0; i < job->context->lane_count; i++) {
        const subject *s = baseline ? &job->lanes[i].other : &job->lanes[i].mine;
        for (int e = 0; e < ASSAY_ULP_EXPONENTS; e++) {
            for (int d = 0; d < ASSAY_ULP_BINS; d++) {
                merged->histogram.count[e][d] += s->histogram.count[e][d];
            }
        }
    }
    total->histogram = &merged->histogram;
}

static void record_profile(assay_context *context, const subject *merged, const char *name) {
    assay_profile_record rows[BINS];
    size_t count = 0;
    for (int b = 0; b < BINS; b++) {
        const assay_accuracy *a = &merged->bins[b];
        if (a->elements > 0) {
            rows[count++] = (assay_profile_record){.subject = name,
                                                   .bin = b,
                                                   .x = ((double)b + 0.5) / BINS,
                                                   .max_abs = a->max_abs,
                                                   .mean_ulp = a->sum_ulp / (double)a->elements,
                                                   .max_ulp = a->max_ulp};
        }
    }
    assay_record_profile(context, rows, count);
}

static void record_baseline(assay_context *context, accuracy_job *job) {
    subject *merged = assay_numeric_alloc(1, sizeof *merged);
    assay_accuracy total;
    accuracy_open(job, &total, NULL);
    subject_merge(job, true, merged, &total);
    double n = (double)total.elements;
    if (total.elements > 0) {
        assay_record_metric(context, "baseline_max_abs", total.max_abs, "");
        assay_record_metric(context, "baseline_max_ulp", total.max_ulp, "ulp");
        assay_record_metric(context, "baseline_mean_ulp", total.sum_ulp / n, "ulp");
        assay_record_metric(context, "baseline_correctly_rounded_share", (double)total.correctly_rounded / n,
                            "");
        record_profile(context, merged, "baseline");
    }
    free(merged);
}

static void accuracy_outcome(assay_context *context, accuracy_job *job, const assay_accuracy *total,
                             bool agree, assay_result *result) {
    const assay_tolerance *t = job->tolerance;
    const accuracy_lane *first = NULL;
    assay_null passing = ASSAY_NULL_ZEROS;
    for (unsigned i = 0; i < context->lane_count; i++) {
        const accuracy_lane *lane = &job->lanes[i];
        if (lane->first_row != UINT64_MAX && (first == NULL || lane->first_row < first->first_row)) {
            first = lane;
        }
    }
    if (!agree) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR,
                         "judges disagree: the vector and the scalar measurement differ");
    } else if (total->elements == 0) {
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "no element was judged");
    } else if (!assay_within(total, t)) {
        char bound[48] = "";
        if (t->max_abs > 0.0) {
            (void)snprintf(bound, sizeof bound, " or above %g", t->max_abs);
        }
        result->bad = total->outside > 0 ? total->outside : 1;
        assay_result_set(result, ASSAY_OUTCOME_FAIL,
                         "%llu of %llu outside %g + %g*|golden|%s; worst error %.9g, %.4g ulp",
                         (unsigned long long)total->outside, (unsigned long long)total->elements, t->atol,
                         t->rtol, bound, total->max_abs, total->max_ulp);
        if (first != NULL) {
            assay_numeric_witness(context, job->check, first->first_row, first->first,
                                  first->first + job->channels);
        }
    } else if (!assay_sensitive_forward(context, &job->check->c, t, &passing)) {
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "insensitive: the tolerance would accept %s here",
                         assay_null_text(passing));
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "worst error %.9g, %.4g ulp; %.4g %% correctly rounded",
                         total->max_abs, total->max_ulp,
                         100.0 * (double)total->correctly_rounded / (double)total->elements);
    }
}

static void accuracy_judge(assay_context *context, accuracy_job *job, assay_result *result) {
    subject *merged = assay_numeric_alloc(1, sizeof *merged);
    assay_accuracy total;
    bool agree = true;
    accuracy_open(job, &total, NULL);
    subject_merge(job, false, merged, &total);
    for (unsigned i = 0; i < context->lane_count; i++) {
        agree &= assay_numeric_same_accuracy(&job->lanes[i].again[0], &job->lanes[i].again[1]);
    }
    result->elements = total.elements;
    result->bad = total.outside;
    assay_record_accuracy(context, job->check, &total);
    if (job->check->kind == SET) {
        record_profile(context, merged, "candidate");
        record_baseline(context, job);
    }
    accuracy_outcome(context, job, &total, agree, result);
    free(merged);
}

static void accuracy_run(assay_context *context, const assay_check *check, assay_result *result) {
    accuracy_job job = {.context = context,
                        .check = check,
                        .channels = context->op->channels(&check->c.attrs),
                        .tolerance = assay_numeric_tolerance(context, false, ASSAY_DTYPE_F32)};
    if (job.tolerance == NULL) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "the contract has no accuracy row for the f32 output");
        return;
    }
    bool baseline = check->kind == SET && context->baseline_name != NULL && !context->same_binary;
    lanes_open(&job);
    if (assay_numeric_walk(context, check, baseline ? ASSAY_SECOND_WELCOME : ASSAY_SECOND_NONE,
                           accuracy_block, &job, result)) {
        accuracy_judge(context, &job, result);
    }
    lanes_close(&job);
}

const assay_suite assay_suite_accuracy = {
    .name = "accuracy",
    .help = "error against the FP64 golden: tolerance, ulp histogram, correctly rounded share",
    .plan = accuracy_plan,
    .run = accuracy_run,
};
