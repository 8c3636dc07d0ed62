#include "sensitivity.h"

#include "philox.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_ROWS 64u

const char *assay_null_text(assay_null null) {
    static const char *const names[] = {
#define X(id, name) name,
        ASSAY_NULL_LIST(X)
#undef X
    };
    return null < ASSAY_NULL_COUNT ? names[null] : "unknown";
}

bool assay_within(const assay_accuracy *accuracy, const assay_tolerance *tolerance) {
    return assay_accuracy_ok(accuracy) &&
           (tolerance->max_abs <= 0.0 || accuracy->max_abs <= tolerance->max_abs);
}

/* The rows of the sample, evenly spread; each null candidate answers for them. */
typedef struct sample {
    size_t rows, width; /* width: words of one answer */
    float *x, *other;   /* inputs, and those of another seed */
    double *golden, *golden_other, *golden_next;
    uint32_t *answer;
    bool one_row; /* nothing to shift */
} sample;

static void sample_close(sample *s) {
    free(s->x);
    free(s->other);
    free(s->golden);
    free(s->golden_other);
    free(s->golden_next);
    free(s->answer);
}

static void sample_open(const assay_context *context, const assay_case *c, size_t width, sample *s) {
    size_t rows = c->rows < SAMPLE_ROWS ? (size_t)c->rows : SAMPLE_ROWS;
    *s = (sample){.rows = rows, .width = width, .one_row = c->rows < 2};
    s->x = assay_numeric_alloc(2 * rows, sizeof *s->x); /* the second half: each row's successor */
    s->other = assay_numeric_alloc(rows, sizeof *s->other);
    s->golden = assay_numeric_alloc(rows * width, sizeof *s->golden);
    s->golden_other = assay_numeric_alloc(rows * width, sizeof *s->golden_other);
    s->golden_next = assay_numeric_alloc(rows * width, sizeof *s->golden_next);
    s->answer = assay_numeric_alloc(rows * width, sizeof *s->answer);
    for (size_t i = 0; i < rows; i++) {
        uint64_t row = i * (c->rows / rows);
        assay_case_inputs(c, row, 1, &s->x[i]);
        assay_case_inputs(c, (row + 1) % c->rows, 1, &s->x[rows + i]);
    }
    assay_philox_uniform(assay_philox_key_of(context->op->name, c->name, "another seed", c->seed + 1), 0,
                         rows, s->other);
    for (size_t i = 0; i < rows && c->dtype != ASSAY_DTYPE_F32; i++) {
        uint16_t narrow;
        assay_dtype_store_f32(c->dtype, &narrow, 0, s->other[i]);
        s->other[i] = assay_dtype_load_f32(c->dtype, &narrow, 0);
    }
}

static void answer_fill(const sample *s, assay_null null) {
    for (size_t i = 0; i < s->rows * s->width; i++) {
        const float values[ASSAY_NULL_COUNT] = {[ASSAY_NULL_ZEROS] = 0.0F,
                                                [ASSAY_NULL_ONES] = 1.0F,
                                                [ASSAY_NULL_INPUT] = s->x[i / s->width],
                                                [ASSAY_NULL_OTHER_SEED] = (float)s->golden_other[i],
                                                [ASSAY_NULL_SHIFTED] = (float)s->golden_next[i]};
        s->answer[i] = assay_f32_bits(values[null]);
    }
}

static bool sample_rejects(const sample *s, const assay_tolerance *tolerance, assay_null *passing) {
    for (int n = 0; n < ASSAY_NULL_COUNT; n++) {
        assay_null null = (assay_null)n;
        if (null == ASSAY_NULL_SHIFTED && s->one_row) {
            continue;
        }
        assay_accuracy accuracy = {.tolerance = {.atol = tolerance->atol, .rtol = tolerance->rtol}};
        answer_fill(s, null);
        assay_accuracy_add(&accuracy, s->answer, s->golden, s->rows * s->width, 0);
        if (assay_within(&accuracy, tolerance)) {
            *passing = null;
            return false;
        }
    }
    return true;
}

bool assay_sensitive_forward(const assay_context *context, const assay_case *c,
                             const assay_tolerance *tolerance, assay_null *passing) {
    sample s;
    sample_open(context, c, context->op->channels(&c->attrs), &s);
    context->op->golden(&c->attrs, s.x, s.rows, s.golden);
    context->op->golden(&c->attrs, s.x + s.rows, s.rows, s.golden_next);
    context->op->golden(&c->attrs, s.other, s.rows, s.golden_other);
    bool sensitive = sample_rejects(&s, tolerance, passing);
    sample_close(&s);
    return sensitive;
}

bool assay_sensitive_backward(const assay_context *context, const assay_case *c,
                              const assay_tolerance *tolerance, assay_null *passing) {
    size_t channels = context->op->channels(&c->attrs);
    sample s;
    sample_open(context, c, 1, &s);
    float *upstream = assay_numeric_alloc(channels, sizeof *upstream);
    assay_case other = *c;
    other.seed++;
    for (size_t i = 0; i < s.rows; i++) {
        uint64_t row = i * (c->rows / s.rows);
        assay_case_upstream(context, c, channels, row, 1, upstream);
        context->op->vjp(&c->attrs, &s.x[i], upstream, 1, &s.golden[i]);
        assay_case_upstream(context, &other, channels, row, 1, upstream);
        context->op->vjp(&c->attrs, &s.x[i], upstream, 1, &s.golden_other[i]);
        assay_case_upstream(context, c, channels, (row + 1) % c->rows, 1, upstream);
        context->op->vjp(&c->attrs, &s.x[s.rows + i], upstream, 1, &s.golden_next[i]);
    }
    bool sensitive = sample_rejects(&s, tolerance, passing);
    free(upstream);
    sample_close(&s);
    return sensitive;
}
