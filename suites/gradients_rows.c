/* gradients_rows.c - a row's gradient depends on nothing but the row: alone against the batch, other places,
 * other orders, repeated. The candidate is its own oracle; bytes are owed. */
#include "gradients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void plan_kind(const assay_context *context, assay_plan *plan, assay_gradient_kind kind,
                      const char *label, assay_dtype dtype, uint64_t rows, uint64_t seed) {
    assay_case c;
    assay_direct_case(context, 0, dtype, rows, seed, &c);
    assay_check *check =
        assay_plan_add(plan, context, &assay_suite_gradients, "gradient_invariance", "%s/%s", label, c.name);
    if (check != NULL) {
        check->c = c;
        check->kind = (int)kind;
    }
}

void assay_gradient_rows_plan(const assay_context *context, assay_plan *plan) {
    static const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    uint64_t alone =
        (uint64_t)assay_direct_number(assay_direct_matrix(context, "gradients", "alone_rows"), 0, 17);
    uint64_t places = (uint64_t)assay_direct_number(
        json_object_get(assay_direct_matrix(context, "invariance", "gradient"), "rows"), 0, 40);
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        plan_kind(context, plan, GRADIENT_ALONE, "alone", dtypes[d], d == 0 ? alone : 17, context->seed);
        plan_kind(context, plan, GRADIENT_PLACES, "places", dtypes[d], places, context->seed);
        plan_kind(context, plan, GRADIENT_PERMUTED, "permuted", dtypes[d], 129, context->seed);
        plan_kind(context, plan, GRADIENT_REPEATED, "repeated", dtypes[d], 257, context->seed);
    }
}

/* What is being compared: the batch as first answered, and a second batch whose row i must give what row
 * map(i) gave. */
typedef struct rows_job {
    assay_context *context;
    const assay_check *check;
    assay_worker *worker;
    assay_gradient_batch whole;
    assay_result *result;
    bool failed; /* a difference was found and described */
} rows_job;

/* Judges gradient `row` of `other` against gradient `source` of the whole batch. */
static void expect_equal(rows_job *job, const assay_gradient_batch *other, size_t row, size_t source,
                         const char *what) {
    size_t n = job->whole.element;
    job->result->elements++;
    if (memcmp(other->grad + row * n, job->whole.grad + source * n, n) == 0) {
        return;
    }
    job->result->bad++;
    if (job->failed) {
        return;
    }
    char text[256];
    job->failed = true;
    (void)snprintf(text, sizeof text,
                   "%s: the gradient of row %zu (timestep 0x%08x) is 0x%0*x, was 0x%0*x in the batch", what,
                   source, assay_f32_bits(other->x[row]), (int)(2 * n), assay_gradient_bits(other, row),
                   (int)(2 * n), assay_gradient_bits(&job->whole, source));
    assay_direct_witness(job->context, job->check, text, other->x[row], other->grad + row * n,
                         job->whole.grad + source * n, n);
    assay_result_set(job->result, ASSAY_OUTCOME_FAIL, "%s", text);
}

static bool run_alone(rows_job *job) {
    assay_gradient_batch one;
    bool good = true;
    assay_gradient_open(job->context, &job->check->c, 1, &one);
    for (size_t r = 0; good && r < job->whole.rows; r++) {
        assay_gradient_copy_row(&job->whole, r, &one, 0);
        good = assay_gradient_backward(job->context, job->worker, &job->check->c, &one, job->result);
        if (good) {
            expect_equal(job, &one, 0, r, "alone");
        }
    }
    assay_gradient_close(&one);
    return good;
}

/* The contract's probe row swapped to the first, middle and last place, each time with the other rows around
 * it. */
static bool run_places(rows_job *job) {
    const json_t *row = json_object_get(assay_direct_matrix(job->context, "invariance", "gradient"), "row");
    size_t rows = job->whole.rows;
    size_t probe = (size_t)assay_direct_number(row, 0, 0) % rows;
    const size_t places[] = {0, rows / 2, rows - 1};
    assay_gradient_batch moved;
    bool good = true;
    assay_gradient_open(job->context, &job->check->c, rows, &moved);
    for (size_t p = 0; good && p < sizeof places / sizeof places[0]; p++) {
        for (size_t r = 0; r < rows; r++) {
            assay_gradient_copy_row(&job->whole,
                                    r == probe       ? places[p]
                                    : r == places[p] ? probe
                                                     : r,
                                    &moved, r);
        }
        good = assay_gradient_backward(job->context, job->worker, &job->check->c, &moved, job->result);
        for (size_t r = 0; good && r < rows; r++) {
            expect_equal(job, &moved, r, r == probe ? places[p] : r == places[p] ? probe : r, "moved");
        }
    }
    assay_gradient_close(&moved);
    return good;
}

/* Reversed, and rotated by a third. */
static bool run_permuted(rows_job *job) {
    size_t rows = job->whole.rows;
    assay_gradient_batch order;
    bool good = true;
    assay_gradient_open(job->context, &job->check->c, rows, &order);
    for (int way = 0; good && way < 2; way++) {
        for (size_t r = 0; r < rows; r++) {
            assay_gradient_copy_row(&job->whole, way == 0 ? rows - 1 - r : (r + rows / 3) % rows, &order, r);
        }
        good = assay_gradient_backward(job->context, job->worker, &job->check->c, &order, job->result);
        for (size_t r = 0; good && r < rows; r++) {
            expect_equal(job, &order, r, way == 0 ? rows - 1 - r : (r + rows / 3) % rows,
                         way == 0 ? "reversed" : "rotated");
        }
    }
    assay_gradient_close(&order);
    return good;
}

/* Twice at once, then after a call with other rows, then in a fresh process. */
static bool run_repeated(rows_job *job) {
    static const char *const names[] = {"repeated", "after other work", "in a fresh process"};
    size_t rows = job->whole.rows;
    assay_gradient_batch again;
    bool good = true;
    assay_gradient_open(job->context, &job->check->c, rows, &again);
    for (size_t n = 0; good && n < sizeof names / sizeof names[0]; n++) {
        if (n == 1) {
            for (size_t r = 0; r < rows; r++) {
                assay_gradient_copy_row(&job->whole, (r + 1) % rows, &again, r);
            }
            good = assay_gradient_backward(job->context, job->worker, &job->check->c, &again, job->result);
        } else if (n == 2) {
            assay_worker_restart(job->worker);
        }
        for (size_t r = 0; r < rows; r++) {
            assay_gradient_copy_row(&job->whole, r, &again, r);
        }
        good =
            good && assay_gradient_backward(job->context, job->worker, &job->check->c, &again, job->result);
        for (size_t r = 0; good && r < rows; r++) {
            expect_equal(job, &again, r, r, names[n]);
        }
    }
    assay_gradient_close(&again);
    return good;
}

void assay_gradient_rows_run(assay_context *context, const assay_check *check, assay_result *result) {
    static bool (*const runs[])(rows_job *) = {[GRADIENT_ALONE] = run_alone,
                                               [GRADIENT_PLACES] = run_places,
                                               [GRADIENT_PERMUTED] = run_permuted,
                                               [GRADIENT_REPEATED] = run_repeated};
    rows_job job = {
        .context = context, .check = check, .worker = context->lanes[0].candidate, .result = result};
    assay_gradient_open(context, &check->c, (size_t)check->c.rows, &job.whole);
    assay_gradient_load(context, &check->c, 0, &job.whole);
    bool good = assay_gradient_forward(context, job.worker, &check->c, &job.whole, result) &&
                assay_gradient_backward(context, job.worker, &check->c, &job.whole, result) &&
                runs[check->kind](&job);
    if (good && !job.failed) {
        assay_result_set(result, result->elements > 0 ? ASSAY_OUTCOME_PASS : ASSAY_OUTCOME_MISTRUSTED,
                         "%llu gradients kept their bytes", (unsigned long long)result->elements);
    } else if (good) {
        char first[sizeof result->reason];
        memcpy(first, result->reason, sizeof first);
        assay_result_set(result, ASSAY_OUTCOME_FAIL, "%llu of %llu changed; %s",
                         (unsigned long long)result->bad, (unsigned long long)result->elements, first);
    }
    assay_gradient_close(&job.whole);
}
