/* check_judge_accuracy.c - accuracy on the device against the judge on the CPU, over the golden of the
 * suites: counts, extremes, lists and histograms to the bit, sums to rounding. */
#include "check_judge.h"

#include <math.h>

#define OP         "timestep_sinusoid_h3"
#define BLOCK_ROWS 64u

/* What the candidate answers, made from the golden's rounding. */
typedef enum answer { RIGHT, NEAR, BY_CHANNEL, MIXED, ALL_NAN, ALL_ZERO, ANY_BITS, ANSWERS } answer;
static const char *const answer_names[ANSWERS] = {"right", "near",     "off by channel", "mixed",
                                                  "NaN",   "all zero", "any bits"};

static uint32_t answer_of(answer kind, uint32_t right, uint32_t random, size_t channel) {
    static const uint32_t odd[] = {0x7fc00001u, 0x7f800000u, 0xff800000u, 0x80000000u,
                                   0u,          0x3f800001u, 0xbf000000u, 0x7f7fffffu};
    switch (kind) {
    case NEAR:
        return right + random % 5 - 2;
    case BY_CHANNEL:
        return right + (uint32_t)(channel * 7 % 17) - 9 + random % 3 - 1;
    case MIXED:
        return random % 61 == 0  ? odd[random / 61 % 8]
               : random % 7 == 0 ? right ^ 0x80000000u
                                 : right + random % 2;
    case ALL_NAN:
        return 0x7fc00000u;
    case ALL_ZERO:
        return 0;
    case ANY_BITS:
        return random;
    case RIGHT:
    case ANSWERS:
        break;
    }
    return right;
}

/* Settles near ties in a way that can be recognised. */
static uint32_t settle(void *context, uint64_t index, double golden) {
    (void)context;
    return assay_f32_bits((float)golden) + (index % 3 == 0);
}

static bool same_double(double a, double b) {
    return assay_f64_bits(a) == assay_f64_bits(b);
}

static bool close_sum(double a, double b, double scale) {
    return fabs(a - b) <= 1e-11 * scale;
}

static const char *first_unlike(const assay_accuracy *a, const assay_accuracy *b) {
    const double n = (double)a->elements;
    const bool outside = a->outside == 0 || (a->first_outside == b->first_outside &&
                                             a->first_outside_got == b->first_outside_got &&
                                             same_double(a->first_outside_golden, b->first_outside_golden));
    const struct {
        bool same;
        const char *what;
    } list[] = {{a->elements == b->elements, "elements"},
                {a->outside == b->outside, "outside"},
                {a->not_comparable == b->not_comparable, "not_comparable"},
                {a->correctly_rounded == b->correctly_rounded, "correctly_rounded"},
                {a->near_ties == b->near_ties, "near_ties"},
                {same_double(a->max_abs, b->max_abs), "max_abs"},
                {same_double(a->max_golden, b->max_golden), "max_golden"},
                {same_double(a->max_ulp, b->max_ulp), "max_ulp"},
                {outside, "first_outside"},
                {a->worst_count == b->worst_count, "worst_count"},
                {close_sum(a->sum_ulp, b->sum_ulp, a->sum_ulp), "sum_ulp"},
                {close_sum(a->sum_sq_err, b->sum_sq_err, a->sum_sq_err), "sum_sq_err"},
                {close_sum(a->sum_sq_golden, b->sum_sq_golden, a->sum_yy), "sum_sq_golden"},
                {close_sum(a->sum_x, b->sum_x, sqrt(n * a->sum_xx)), "sum_x"},
                {close_sum(a->sum_y, b->sum_y, sqrt(n * a->sum_yy)), "sum_y"},
                {close_sum(a->sum_xx, b->sum_xx, a->sum_xx + a->sum_yy), "sum_xx"},
                {close_sum(a->sum_yy, b->sum_yy, a->sum_yy), "sum_yy"},
                {close_sum(a->sum_xy, b->sum_xy, a->sum_yy + sqrt(a->sum_xx) * sqrt(a->sum_yy)), "sum_xy"},
                {memcmp(a->histogram, b->histogram, sizeof *a->histogram) == 0, "histogram"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!list[i].same) {
            return list[i].what;
        }
    }
    for (size_t i = 0; i < a->worst_count; i++) {
        const assay_worst *x = &a->worst[i];
        const assay_worst *y = &b->worst[i];
        if (x->index != y->index || x->got != y->got || !same_double(x->golden, y->golden) ||
            !same_double(x->ulp, y->ulp)) {
            return "worst";
        }
    }
    return NULL;
}

typedef struct measurement {
    uint32_t first_bits;
    uint64_t rows;
    size_t channels;
    double max_period;
    assay_tolerance_f64 tolerance;
    bool settled, digest;
} measurement;

/* The words of the candidate, and their judgment here. */
static void measure_here(check *c, const measurement *m, const assay_attrs *attrs, answer kind, uint64_t base,
                         uint32_t *got, assay_accuracy *accuracy) {
    const assay_operator_def *op = assay_operator_find(OP);
    double *golden = check_alloc(BLOCK_ROWS * m->channels * sizeof *golden);
    for (uint64_t r = 0; r < m->rows; r += BLOCK_ROWS) {
        const size_t rows = m->rows - r < BLOCK_ROWS ? (size_t)(m->rows - r) : BLOCK_ROWS;
        const size_t words = rows * m->channels;
        float x[BLOCK_ROWS];
        uint32_t *random = check_random(c, words);
        uint32_t *at = got + r * m->channels;
        for (size_t i = 0; i < rows; i++) {
            x[i] = assay_f32_from_bits(m->first_bits + (uint32_t)(r + i));
        }
        op->golden(attrs, x, rows, golden);
        for (size_t i = 0; i < words; i++) {
            at[i] = answer_of(kind, assay_f32_bits((float)golden[i]), random[i], i % m->channels);
        }
        assay_accuracy_add(accuracy, at, golden, words, base + r * m->channels);
        free(random);
    }
    free(golden);
}

static void check_one(check *c, const measurement *m, answer kind) {
    static assay_ulp_histogram cells[2];
    const size_t words = (size_t)m->rows * m->channels;
    const uint64_t base = 77;
    uint32_t *got = check_alloc(words * sizeof *got);
    assay_tile here[2] = {{{0}}};
    assay_tile there[2] = {{{0}}};
    assay_accuracy a[2];
    assay_error error;
    assay_attrs attrs = {.items = {{.name = "width", .type = ASSAY_ATTR_INT, .i = (int64_t)m->channels},
                                   {.name = "max_period", .type = ASSAY_ATTR_FLOAT, .f = m->max_period}},
                         .count = 2};
    memset(cells, 0, sizeof cells);
    memset(a, 0, sizeof a);
    for (int i = 0; i < 2; i++) {
        a[i].histogram = &cells[i];
        a[i].tolerance = m->tolerance;
        a[i].settle = m->settled ? settle : NULL;
    }
    measure_here(c, m, &attrs, kind, base, got, &a[0]);
    for (uint64_t r = 0; m->digest && r < m->rows; r += ASSAY_TILE_ROWS) {
        const uint64_t rows = m->rows - r < ASSAY_TILE_ROWS ? m->rows - r : ASSAY_TILE_ROWS;
        assay_tile_add(&here[r / ASSAY_TILE_ROWS], got + r * m->channels, m->channels, 0, (size_t)rows);
    }
    const assay_device_judgment what = {.got = c->arena[0].address,
                                        .rows = m->rows,
                                        .channels = m->channels,
                                        .first_bits = m->first_bits,
                                        .base = base,
                                        .accuracy = &a[1],
                                        .tiles = m->digest ? there : NULL,
                                        .op = OP,
                                        .attrs = attrs.items,
                                        .attr_count = attrs.count};
    if (check_code(c, c->plugin->upload(c->device, c->arena[0].address, got, words * 4, &error), &error,
                   "upload") &&
        check_code(c, c->plugin->judge(c->device, &what, &error), &error, "accuracy")) {
        const char *unlike = first_unlike(&a[0], &a[1]);
        unlike = unlike == NULL && memcmp(here, there, sizeof here) != 0 ? "digest" : unlike;
        unlike = unlike == NULL && a[1].settle != a[0].settle ? "settle was not given back" : unlike;
        check_report(
            c, unlike == NULL,
            "accuracy of %lu rows of %zu from 0x%08x, %s, %lu near ties, %lu outside, max %.3g ulp%s%s",
            m->rows, m->channels, m->first_bits, answer_names[kind], a[0].near_ties, a[0].outside,
            a[0].max_ulp, unlike == NULL ? "" : ": differs in ", unlike == NULL ? "" : unlike);
    }
    free(got);
}

void check_accuracy(check *c) {
    static const measurement list[] = {
        {0x00000000u, 3000, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x007ffa00u, 2500, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x00fffc00u, 2049, 256, 10000.0, {1e-5, 1e-5}, false, false},
        {0x04800000u - 700u, 1500, 256, 10000.0, {0.0, 1e-6}, true, true},
        {0x31f00000u, 1100, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x39800000u - 512u, 1024, 256, 10000.0, {1e-5, 1e-5}, true, false},
        {0x3c23d70au, 4097, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3f000000u - 1000u, 2000, 256, 10000.0, {1e-8, 0.0}, true, true},
        {0x3f800000u - 4999u, 5000, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3f800000u, 1, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x80000000u, 1, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x80000000u, 1030, 96, 10000.0, {0.0, 0.0}, true, true},
        {0x3e000000u, 64, 256, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3e123456u, 1500, 96, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3f123456u, 1100, 250, 10000.0, {1e-5, 1e-5}, true, true},
        {0x00000100u, 1100, 1000, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3f423456u, 600, 1000, 100.0, {1e-5, 1e-5}, true, true},
        {0x3f423456u, 300, 1500, 100.0, {1e-5, 1e-5}, true, false},
        {0x3d000000u, 1200, 2, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3d000000u, 1200, 6, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3efe0000u, 66000, 4, 10000.0, {1e-5, 1e-5}, true, true},
        {0x3eff0000u, 66000, 6, 10000.0, {1e-7, 1e-7}, true, true},
        {0x3f7f0000u, 65537, 256, 10000.0, {1e-5, 1e-5}, true, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        for (int kind = 0; kind < ANSWERS; kind++) {
            if (list[i].rows * list[i].channels < (1u << 21) || kind == BY_CHANNEL || kind == MIXED) {
                check_one(c, &list[i], (answer)kind);
            }
        }
    }
}
