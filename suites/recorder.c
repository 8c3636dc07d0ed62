#include "recorder.h"
#include "suite.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITNESS_LIMIT 4

/* A growing array of T; memory exhaustion ends the process, as nothing could be recorded any more. */
#define LIST(T)                                                                                              \
    struct {                                                                                                 \
        T *items;                                                                                            \
        size_t count, capacity;                                                                              \
    }

struct assay_recorder {
    LIST(assay_metric_record) metrics;
    LIST(assay_histogram_record) histogram;
    LIST(assay_element_record) element;
    LIST(assay_profile_record) profile;
    LIST(assay_series_record) series;
    LIST(assay_witness_record) witnesses;
    LIST(assay_tile_record) tiles;
    LIST(void *) owned; /* copies of texts and blobs */
};

static void *grow(void *items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 16 : 2 * *capacity;
    void *grown = realloc(items, *capacity * bytes);
    if (grown == NULL) {
        (void)fputs("assay: out of memory while recording a check\n", stderr);
        abort();
    }
    return grown;
}

#define PUSH(list, value)                                                                                    \
    do {                                                                                                     \
        (list).items = grow((list).items, (list).count, &(list).capacity, sizeof *(list).items);             \
        (list).items[(list).count++] = (value);                                                              \
    } while (0)

assay_recorder *assay_recorder_new(void) {
    return calloc(1, sizeof(assay_recorder));
}

void assay_recorder_clear(assay_recorder *r) {
    for (size_t i = 0; i < r->owned.count; i++) {
        free(r->owned.items[i]);
    }
    r->owned.count = r->metrics.count = r->histogram.count = r->element.count = r->profile.count = 0;
    r->series.count = r->witnesses.count = r->tiles.count = 0;
}

void assay_recorder_free(assay_recorder *r) {
    if (r == NULL) {
        return;
    }
    assay_recorder_clear(r);
    free(r->owned.items);
    free(r->metrics.items);
    free(r->histogram.items);
    free(r->element.items);
    free(r->profile.items);
    free(r->series.items);
    free(r->witnesses.items);
    free(r->tiles.items);
    free(r);
}

void assay_recorder_fill(const assay_recorder *r, assay_check_record *record) {
    record->metrics = r->metrics.items;
    record->metric_count = r->metrics.count;
    record->histogram = r->histogram.items;
    record->histogram_count = r->histogram.count;
    record->element = r->element.items;
    record->element_count = r->element.count;
    record->profile = r->profile.items;
    record->profile_count = r->profile.count;
    record->series = r->series.items;
    record->series_count = r->series.count;
    record->witnesses = r->witnesses.items;
    record->witness_count = r->witnesses.count;
    record->tiles = r->tiles.items;
    record->tile_count = r->tiles.count;
}

static void *own(assay_recorder *r, const void *data, size_t bytes) {
    void *copy = malloc(bytes == 0 ? 1 : bytes);
    if (copy == NULL) {
        (void)fputs("assay: out of memory while recording a check\n", stderr);
        abort();
    }
    if (bytes > 0) {
        memcpy(copy, data, bytes);
    }
    PUSH(r->owned, copy);
    return copy;
}

static const char *own_text(assay_recorder *r, const char *text) {
    return own(r, text, strlen(text) + 1);
}

void assay_record_metric(assay_context *context, const char *name, double value, const char *unit) {
    assay_recorder *r = context->recorder;
    assay_metric_record m = {.name = own_text(r, name), .unit = own_text(r, unit), .value = value};
    PUSH(r->metrics, m);
}

static void record_histogram(assay_recorder *r, const char *subject, const assay_ulp_histogram *h) {
    for (int e = 0; h != NULL && e < ASSAY_ULP_EXPONENTS; e++) {
        for (int b = 0; b < ASSAY_ULP_BINS; b++) {
            if (h->count[e][b] != 0) {
                assay_histogram_record row = {.subject = subject,
                                              .exponent = e,
                                              .distance = b - ASSAY_ULP_HALF,
                                              .count = h->count[e][b]};
                PUSH(r->histogram, row);
            }
        }
    }
}

/* The FP32 image of the input that row `row` of the case saw. */
static uint32_t input_bits(const assay_case *c, uint64_t row) {
    float x = 0.0F;
    if (row < c->values.count) {
        assay_case_inputs(c, row, 1, &x);
    }
    return assay_f32_bits(x);
}

static void record_element(assay_context *context, const assay_check *check, const char *kind, int rank,
                           uint64_t index, uint32_t got, uint32_t want, const double *golden, double ulp) {
    size_t channels = context->op->channels(&check->c.attrs);
    assay_element_record row = {.kind = kind,
                                .rank = rank,
                                .row = index / channels,
                                .channel = index % channels,
                                .got_bits = got,
                                .want_bits = want,
                                .has_golden = golden != NULL,
                                .golden = golden != NULL ? *golden : 0.0,
                                .ulp = ulp};
    row.input_bits = input_bits(&check->c, row.row);
    PUSH(context->recorder->element, row);
}

void assay_record_parity(assay_context *context, const assay_check *check, const assay_parity *p) {
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"differing", p->differing},     {"zero_sign", p->zero_sign}, {"nan_number", p->nan_number},
                  {"nan_payload", p->nan_payload}, {"infinite", p->infinite},   {"numeric", p->numeric},
                  {"max_ulp", p->max_ulp}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assay_record_metric(context, counts[i].name, (double)counts[i].value, i == 6 ? "ulp" : "");
    }
    record_histogram(context->recorder, "parity", p->histogram);
    if (p->differing > 0) {
        record_element(context, check, "first", 1, p->first_index, p->first_got, p->first_want, NULL, NAN);
    }
    if (p->numeric > 0) {
        record_element(context, check, "worst", 1, p->worst_index, p->worst_got, p->worst_want, NULL,
                       (double)p->max_ulp);
    }
}

void assay_record_accuracy(assay_context *context, const assay_check *check, const assay_accuracy *a) {
    double n = (double)a->elements;
    const struct {
        const char *name;
        double value;
        const char *unit;
    } metrics[] = {{"max_abs", a->max_abs, ""},
                   {"max_rel", a->max_golden > 0.0 ? a->max_abs / a->max_golden : 0.0, ""},
                   {"max_ulp", a->max_ulp, "ulp"},
                   {"mean_ulp", a->elements > 0 ? a->sum_ulp / n : 0.0, "ulp"},
                   {"correctly_rounded_share", a->elements > 0 ? (double)a->correctly_rounded / n : 0.0, ""},
                   {"relrms", assay_accuracy_relrms(a), ""},
                   {"correlation", assay_accuracy_correlation(a), ""},
                   {"outside", (double)a->outside, ""},
                   {"near_ties", (double)a->near_ties, ""}};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        assay_record_metric(context, metrics[i].name, metrics[i].value, metrics[i].unit);
    }
    record_histogram(context->recorder, "accuracy", a->histogram);
    if (a->outside > 0) {
        record_element(context, check, "first", 1, a->first_outside, a->first_outside_got,
                       assay_f32_bits((float)a->first_outside_golden), &a->first_outside_golden, NAN);
    }
    for (size_t i = 0; i < a->worst_count; i++) {
        const assay_worst *w = &a->worst[i];
        record_element(context, check, "worst", (int)i + 1, w->index, w->got,
                       assay_f32_bits((float)w->golden), &w->golden, w->ulp);
    }
}

void assay_record_profile(assay_context *context, const assay_profile_record *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assay_profile_record row = rows[i];
        row.subject = own_text(context->recorder, row.subject);
        PUSH(context->recorder->profile, row);
    }
}

void assay_record_series(assay_context *context, const assay_series_record *series) {
    assay_recorder *r = context->recorder;
    assay_series_record copy = *series;
    copy.callable = own_text(r, series->callable);
    copy.scope = own_text(r, series->scope);
    copy.figure = own_text(r, series->figure);
    copy.flags = own_text(r, series->flags != NULL ? series->flags : "");
    copy.samples_ns = own(r, series->samples_ns, series->count * sizeof *series->samples_ns);
    copy.positions = own(r, series->positions, series->count * sizeof *series->positions);
    PUSH(r->series, copy);
}

void assay_record_witness(assay_context *context, const assay_witness_record *witness) {
    assay_recorder *r = context->recorder;
    if (r->witnesses.count >= WITNESS_LIMIT) {
        return;
    }
    assay_witness_record copy = *witness;
    copy.text = own_text(r, witness->text);
    copy.case_json = own_text(r, witness->case_json);
    copy.input = own(r, witness->input, witness->input_bytes);
    copy.got = own(r, witness->got, witness->got_bytes);
    copy.want = own(r, witness->want, witness->want_bytes);
    PUSH(r->witnesses, copy);
}

void assay_recorder_tile(assay_recorder *r, const assay_tile_record *tile) {
    PUSH(r->tiles, *tile);
}
