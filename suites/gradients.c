/* gradients.c - the gradient of the row input against the FP64 golden VJP and against the replay of the
 * claimed lineage.
 *
 * The upstream gradient is random, never ones. The saved output is the candidate's own forward. Everything
 * the candidate answers is judged twice, by the vector and by the scalar judge. The golden VJP itself is
 * checked against central differences of the golden. */
#include "gradients.h"

#include "philox.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_WORDS (1u << 18) /* words of one matrix per call: 1 MiB each for saved and upstream */
#define SELF_ROWS   48

/* ---- plan ---- */

/* Adds a check over uniform values; the case's name keys inputs and upstream. */
static assay_check *plan_case(const assay_context *context, assay_plan *plan, assay_gradient_kind kind,
                              int64_t width, assay_dtype dtype, uint64_t rows, uint64_t seed) {
    bool replay = kind == GRADIENT_REPLAY;
    assay_case c;
    assay_direct_case(context, width, dtype, rows, seed, &c);
    assay_check *check = assay_plan_add(plan, context, &assay_suite_gradients,
                                        replay ? "gradient_parity" : "gradient_accuracy", "%s/%s",
                                        replay ? "replay" : "golden", c.name);
    if (check != NULL) {
        check->c = c;
        check->kind = (int)kind;
    }
    return check;
}

static void plan_matrix(const assay_context *context, assay_plan *plan, assay_gradient_kind kind) {
    const json_t *rows = assay_direct_matrix(context, "gradients", "rows");
    const json_t *seeds = assay_direct_matrix(context, "gradients", "seeds");
    const json_t *widths = assay_direct_matrix(context, "gradients", "widths");
    static const assay_dtype narrow[] = {ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    for (size_t s = 0; s < assay_direct_count(seeds); s++) {
        for (size_t r = 0; r < assay_direct_count(rows); r++) {
            (void)plan_case(context, plan, kind, 0, ASSAY_DTYPE_F32,
                            (uint64_t)assay_direct_number(rows, r, 1),
                            (uint64_t)assay_direct_number(seeds, s, 1));
        }
        for (size_t d = 0; d < 2; d++) {
            (void)plan_case(context, plan, kind, 0, narrow[d], 257,
                            (uint64_t)assay_direct_number(seeds, s, 1));
        }
    }
    for (size_t w = 0; w < assay_direct_count(widths); w++) {
        (void)plan_case(context, plan, kind, assay_direct_number(widths, w, 256), ASSAY_DTYPE_F32, 33,
                        context->seed);
    }
    uint64_t big =
        (uint64_t)assay_direct_number(assay_direct_matrix(context, "gradients", "big_rows"), 0, 257);
    (void)plan_case(context, plan, kind, 0, ASSAY_DTYPE_F32, big, context->seed);
}

static void plan_statement(const assay_context *context, assay_plan *plan, assay_gradient_kind kind,
                           const char *promise, const char *name, bool required) {
    assay_check *check = assay_plan_add(plan, context, &assay_suite_gradients, promise, "%s", name);
    if (check != NULL) {
        assay_direct_case(context, 0, ASSAY_DTYPE_F32, kind == GRADIENT_SELF ? SELF_ROWS : 1, context->seed,
                          &check->c);
        check->kind = (int)kind;
        check->required &= required;
    }
}

static void gradients_plan(const assay_context *context, assay_plan *plan) {
    plan_statement(context, plan, GRADIENT_SELF, "gradient_accuracy", "golden_self_check", true);
    plan_matrix(context, plan, GRADIENT_GOLDEN);
    if (assay_numeric_replayable(context, context->lineage)) {
        plan_matrix(context, plan, GRADIENT_REPLAY);
    } else if (context->lineage[0] != '\0') {
        plan_statement(context, plan, GRADIENT_UNKNOWN, "gradient_parity", "replay", true);
    } else {
        plan_statement(context, plan, GRADIENT_NONE, "gradient_parity", "replay", false);
    }
    assay_gradient_rows_plan(context, plan);
}

/* ---- golden and replay ---- */

typedef struct gradient_job {
    assay_context *context;
    const assay_check *check;
    const assay_tolerance *tolerance;
    uint64_t chunk_rows;
    pthread_mutex_t mutex; /* guards everything below; chunks are few */
    assay_result trouble;  /* PASS = none */
    uint64_t trouble_part;
    assay_accuracy accuracy[2]; /* by the vector and the scalar judge; element index = row */
    assay_ulp_histogram histogram[2];
    assay_parity parity[2];
    uint64_t cast_equal; /* gradients equal to the golden rounded to their dtype */
} gradient_job;

static void judge_golden(gradient_job *job, const assay_gradient_batch *batch, uint64_t first) {
    const assay_case *c = &job->check->c;
    double *golden = assay_numeric_alloc(batch->rows, sizeof *golden);
    uint32_t *got = assay_numeric_alloc(batch->rows, sizeof *got);
    uint64_t equal = 0;
    job->context->op->vjp(&c->attrs, batch->x, batch->upstream, batch->rows, golden);
    for (size_t i = 0; i < batch->rows; i++) {
        unsigned char want[4] = {0};
        got[i] = assay_f32_bits(assay_dtype_load_f32(c->dtype, batch->grad, i));
        assay_dtype_store_f32(c->dtype, want, 0, (float)golden[i]);
        equal += memcmp(want, batch->grad + i * batch->element, batch->element) == 0;
    }
    (void)pthread_mutex_lock(&job->mutex);
    assay_accuracy_add(&job->accuracy[0], got, golden, batch->rows, first);
    assay_scalar_accuracy(&job->accuracy[1], got, golden, batch->rows, first);
    job->cast_equal += equal;
    (void)pthread_mutex_unlock(&job->mutex);
    free(golden);
    free(got);
}

static void judge_replay(gradient_job *job, const assay_gradient_batch *batch, uint64_t first) {
    const assay_case *c = &job->check->c;
    float *replay = assay_numeric_alloc(batch->rows, sizeof *replay);
    unsigned char *want = assay_numeric_alloc(batch->rows, batch->element);
    (void)job->context->op->replay_backward(job->context->lineage, &c->attrs, batch->x, batch->saved,
                                            batch->upstream, batch->rows, replay);
    for (size_t i = 0; i < batch->rows; i++) {
        assay_dtype_store_f32(c->dtype, want, i, replay[i]);
    }
    (void)pthread_mutex_lock(&job->mutex);
    if (c->dtype == ASSAY_DTYPE_F32) {
        const uint32_t *got32 = (const uint32_t *)(const void *)batch->grad;
        const uint32_t *want32 = (const uint32_t *)(const void *)want;
        assay_parity_add_f32(&job->parity[0], got32, want32, batch->rows, first);
        assay_scalar_parity_f32(&job->parity[1], got32, want32, batch->rows, first);
    } else {
        assay_parity_add_16(&job->parity[0], c->dtype == ASSAY_DTYPE_BF16,
                            (const uint16_t *)(const void *)batch->grad, (const uint16_t *)(const void *)want,
                            batch->rows, first);
    }
    (void)pthread_mutex_unlock(&job->mutex);
    free(want);
    free(replay);
}

static bool gradient_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    gradient_job *job = user;
    const assay_case *c = &job->check->c;
    uint64_t first = part * job->chunk_rows;
    uint64_t left = c->rows - first;
    assay_result trouble = {.outcome = ASSAY_OUTCOME_PASS};
    assay_gradient_batch batch;
    (void)error;
    assay_gradient_open(job->context, c, left < job->chunk_rows ? (size_t)left : (size_t)job->chunk_rows,
                        &batch);
    assay_gradient_load(job->context, c, first, &batch);
    bool good = assay_gradient_forward(job->context, lane->candidate, c, &batch, &trouble) &&
                assay_gradient_backward(job->context, lane->candidate, c, &batch, &trouble);
    if (!good) {
        (void)pthread_mutex_lock(&job->mutex);
        if (job->trouble.outcome == ASSAY_OUTCOME_PASS || part < job->trouble_part) {
            job->trouble = trouble;
            job->trouble_part = part;
        }
        (void)pthread_mutex_unlock(&job->mutex);
    } else if (job->check->kind == GRADIENT_GOLDEN) {
        judge_golden(job, &batch, first);
    } else {
        judge_replay(job, &batch, first);
    }
    assay_gradient_close(&batch);
    return good;
}

/* The row alone, with its own upstream: the smallest input that shows the failure, when it does. `want` holds
 * the bits owed in the gradient's dtype (the golden rounded, or the replay). */
static void gradient_witness(assay_context *context, const assay_check *check, uint64_t row, uint32_t seen,
                             const char *against) {
    assay_gradient_batch batch;
    assay_result trouble = {.outcome = ASSAY_OUTCOME_PASS};
    unsigned char want[4] = {0};
    char text[256];
    assay_gradient_open(context, &check->c, 1, &batch);
    assay_gradient_load(context, &check->c, row, &batch);
    bool ran = assay_gradient_forward(context, context->lanes[0].candidate, &check->c, &batch, &trouble) &&
               assay_gradient_backward(context, context->lanes[0].candidate, &check->c, &batch, &trouble);
    float value = 0.0F;
    double golden = 0.0;
    if (check->kind == GRADIENT_REPLAY) {
        (void)context->op->replay_backward(context->lineage, &check->c.attrs, batch.x, batch.saved,
                                           batch.upstream, 1, &value);
    } else {
        context->op->vjp(&check->c.attrs, batch.x, batch.upstream, 1, &golden);
        value = (float)golden;
    }
    assay_dtype_store_f32(check->c.dtype, want, 0, value);
    bool same = ran && assay_gradient_bits(&batch, 0) == seen;
    (void)snprintf(
        text, sizeof text,
        "row %llu of the case, timestep 0x%08x (%.9g): gradient 0x%0*x in its batch, %s alone; %s gives %.9g",
        (unsigned long long)row, assay_f32_bits(batch.x[0]), (double)batch.x[0], (int)(2 * batch.element),
        seen, same ? "the same" : "another", against, (double)value);
    if (!same) {
        memcpy(batch.grad, &seen, batch.element); /* little-endian: the low half is the 16-bit value */
    }
    assay_direct_witness(context, check, text, batch.x[0], batch.grad, want, batch.element);
    assay_gradient_close(&batch);
}

/* Element records count channels; a gradient is channel 0 of its row. */
static void accuracy_to_rows(assay_accuracy *a, size_t channels) {
    a->first_outside *= channels;
    for (size_t i = 0; i < a->worst_count; i++) {
        a->worst[i].index *= channels;
    }
}

static void outcome_golden(gradient_job *job, assay_result *result) {
    assay_accuracy *a = &job->accuracy[0];
    const assay_tolerance *t = job->tolerance;
    const assay_case *c = &job->check->c;
    assay_null passing = ASSAY_NULL_ZEROS;
    bool agree = assay_numeric_same_accuracy(a, &job->accuracy[1]);
    uint64_t row = a->outside > 0 ? a->first_outside : a->worst_count > 0 ? a->worst[0].index : 0;
    uint32_t seen = a->outside > 0 ? a->first_outside_got : a->worst_count > 0 ? a->worst[0].got : 0;
    accuracy_to_rows(a, job->context->op->channels(&c->attrs));
    a->correctly_rounded = job->cast_equal;
    a->histogram =
        c->dtype == ASSAY_DTYPE_F32 ? a->histogram : NULL; /* FP32 ulps mean nothing for a 16-bit gradient */
    assay_record_accuracy(job->context, job->check, a);
    result->elements = a->elements;
    result->bad = a->outside;
    if (!agree) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR,
                         "judges disagree: the vector and the scalar measurement differ");
    } else if (!assay_within(a, t)) {
        result->bad = a->outside > 0 ? a->outside : a->elements > 0;
        assay_result_set(result, a->elements == 0 ? ASSAY_OUTCOME_MISTRUSTED : ASSAY_OUTCOME_FAIL,
                         "%llu of %llu gradients outside %g + %g*|golden|; worst error %.9g",
                         (unsigned long long)a->outside, (unsigned long long)a->elements, t->atol, t->rtol,
                         a->max_abs);
        if (c->dtype != ASSAY_DTYPE_F32) {
            unsigned char narrow[4] = {0};
            assay_dtype_store_f32(c->dtype, narrow, 0, assay_f32_from_bits(seen));
            memcpy(&seen, narrow, sizeof seen);
        }
        gradient_witness(job->context, job->check, row, seen, "the golden");
    } else if (!assay_sensitive_backward(job->context, c, t, &passing)) {
        assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "insensitive: the tolerance would accept %s here",
                         assay_null_text(passing));
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "worst error %.9g; %.4g %% are the golden rounded",
                         a->max_abs, 100.0 * (double)job->cast_equal / (double)a->elements);
    }
}

static void outcome_replay(gradient_job *job, assay_result *result) {
    assay_parity *p = &job->parity[0];
    size_t channels = job->context->op->channels(&job->check->c.attrs);
    bool agree = job->check->c.dtype != ASSAY_DTYPE_F32 || assay_numeric_same_parity(p, &job->parity[1]);
    uint64_t row = p->first_index;
    p->first_index *= channels;
    p->worst_index *= channels;
    assay_record_parity(job->context, job->check, p);
    result->elements = p->elements;
    result->bad = p->differing;
    if (!agree) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR,
                         "judges disagree: the vector and the scalar comparison differ");
    } else if (!assay_parity_ok(p)) {
        assay_result_set(result, p->elements == 0 ? ASSAY_OUTCOME_MISTRUSTED : ASSAY_OUTCOME_FAIL,
                         "%llu of %llu gradients differ from the replay of %s, at most %llu ulp",
                         (unsigned long long)p->differing, (unsigned long long)p->elements,
                         job->context->lineage, (unsigned long long)p->max_ulp);
        gradient_witness(job->context, job->check, row, p->first_got, "the replay");
    } else {
        assay_result_set(result, ASSAY_OUTCOME_PASS, "every gradient equals the replay of %s",
                         job->context->lineage);
    }
}

static void run_walk(assay_context *context, const assay_check *check, assay_result *result) {
    gradient_job *job = assay_numeric_alloc(1, sizeof *job);
    size_t channels = context->op->channels(&check->c.attrs);
    assay_error error = {.code = ASSAY_CODE_OK};
    *job = (gradient_job){.context = context,
                          .check = check,
                          .trouble = {.outcome = ASSAY_OUTCOME_PASS},
                          .tolerance = assay_numeric_tolerance(context, true, check->c.dtype),
                          .chunk_rows = channels < CHUNK_WORDS ? CHUNK_WORDS / channels : 1};
    for (size_t i = 0; i < 2 && job->tolerance != NULL; i++) {
        job->accuracy[i].tolerance =
            (assay_tolerance_f64){.atol = job->tolerance->atol, .rtol = job->tolerance->rtol};
        job->accuracy[i].histogram = &job->histogram[i];
        job->parity[i].histogram = check->c.dtype == ASSAY_DTYPE_F32 ? &job->histogram[i] : NULL;
    }
    (void)pthread_mutex_init(&job->mutex, NULL);
    uint64_t parts = (check->c.rows + job->chunk_rows - 1) / job->chunk_rows;
    if (job->tolerance == NULL) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "the contract has no gradient row for %s",
                         assay_dtype_text(check->c.dtype));
    } else if (!assay_context_parallel(context, parts, gradient_part, job, &error)) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error.text);
    } else if (job->trouble.outcome != ASSAY_OUTCOME_PASS) {
        *result = job->trouble;
    } else if (check->kind == GRADIENT_GOLDEN) {
        outcome_golden(job, result);
    } else {
        outcome_replay(job, result);
    }
    (void)pthread_mutex_destroy(&job->mutex);
    free(job);
}

/* ---- the golden's own check ---- */

/* sum of upstream * golden for one row. */
static double weighted(const assay_context *context, const assay_attrs *attrs, const float *g,
                       size_t channels, float x, double *row) {
    double sum = 0.0;
    context->op->golden(attrs, &x, 1, row);
    for (size_t i = 0; i < channels; i++) {
        sum += (double)g[i] * row[i];
    }
    return sum;
}

/* d/dt by central differences with steps h and 2h = 2^-9, extrapolated: (4*D(h) - D(2h)) / 3. The inputs lie
 * on a grid of 2^-20 that keeps t +- 2h exact in FP32. Truncation is below 2^-36, rounding below 2^-42 per
 * unit of upstream: 1e-9 grants both. */
static void run_self_check(const assay_context *context, const assay_check *check, assay_result *result) {
    const assay_attrs *attrs = &check->c.attrs;
    size_t channels = context->op->channels(attrs);
    float *g = assay_numeric_alloc(channels, sizeof *g);
    double *row = assay_numeric_alloc(channels, sizeof *row);
    uint32_t words[SELF_ROWS];
    double worst = 0.0;
    assay_philox_words(assay_philox_key_of(context->op->name, check->name, "self check", context->seed), 0,
                       SELF_ROWS, words);
    for (size_t r = 0; r < SELF_ROWS; r++) {
        float t = (float)(512U + words[r] % ((1U << 20) - 1024U)) * 0x1p-20F;
        double d[2];
        double vjp = 0.0;
        double scale = 0.0;
        assay_case_upstream(context, &check->c, channels, r, 1, g);
        for (int i = 0; i < 2; i++) {
            float h = i == 0 ? 0x1p-11F : 0x1p-12F;
            d[i] = (weighted(context, attrs, g, channels, t + h, row) -
                    weighted(context, attrs, g, channels, t - h, row)) /
                   (2.0 * (double)h);
        }
        for (size_t i = 0; i < channels; i++) {
            scale += fabs((double)g[i]);
        }
        context->op->vjp(attrs, &t, g, 1, &vjp);
        double error = fabs((4.0 * d[1] - d[0]) / 3.0 - vjp) / scale;
        result->bad += !(error <= 1e-9);
        worst = error <= worst ? worst : error;
    }
    result->elements = SELF_ROWS;
    assay_result_set(
        result, result->bad == 0 ? ASSAY_OUTCOME_PASS : ASSAY_OUTCOME_ERROR,
        "golden VJP against central differences of the golden: worst %.3g per unit of upstream, granted 1e-9",
        worst);
    free(row);
    free(g);
}

static void gradients_run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_gradient_kind kind = (assay_gradient_kind)check->kind;
    if (kind == GRADIENT_UNKNOWN) {
        assay_result_set(result, ASSAY_OUTCOME_UNAVAILABLE, "lineage \"%s\" has no replay for %s",
                         context->lineage, context->op->name);
    } else if (kind == GRADIENT_NONE) {
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED,
                         "the candidate claims no lineage, so it owes no bits");
    } else if (kind == GRADIENT_SELF) {
        run_self_check(context, check, result);
    } else if (!assay_worker_offers(context->lanes[0].candidate, context->op->name, true)) {
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED, "the candidate offers no backward for %s",
                         context->op->name);
    } else if (kind == GRADIENT_GOLDEN || kind == GRADIENT_REPLAY) {
        run_walk(context, check, result);
    } else {
        assay_gradient_rows_run(context, check, result);
    }
}

const assay_suite assay_suite_gradients = {
    .name = "gradients",
    .help = "VJP against the FP64 golden VJP and the replay; row-local, repeatable",
    .plan = gradients_plan,
    .run = gradients_run,
};
