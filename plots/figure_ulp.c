/* figure_ulp.c - the signed ulp histogram: total, and by exponent of the reference. */
#include "compare.h"
#include "figure.h"

#include <string.h>

#define NOT_COMPARABLE 255

typedef struct totals {
    uint64_t by_distance[ASSAY_ULP_BINS];
    uint64_t by_cell[ASSAY_ULP_EXPONENTS][ASSAY_ULP_BINS];
    uint64_t not_comparable, all, largest;
    int low, high; /* distances that occur */
    uint64_t checks;
} totals;

/* Does this check's histogram belong to the figure? Gradients have distances of their own kind, and checks
 * that only measure
 * ("measured") stay apart from those that a promise rests on. */
static bool belongs(const report_check *check, const char *subject, const report_bin *bin) {
    if (check == NULL || strcmp(check->suite, "gradients") == 0) {
        return false;
    }
    if (strcmp(subject, "accuracy") == 0) {
        return strcmp(bin->subject, "accuracy") == 0;
    }
    return strcmp(bin->subject, "parity") == 0 && check->required == (strcmp(subject, "parity") == 0);
}

/* Adds up the histograms of a subject (accuracy, parity, measured) over its checks; false when there are
 * none. */
static bool add_up(const report_model *m, const char *subject, totals *t) {
    int64_t last = -1;
    *t = (totals){.low = ASSAY_ULP_HALF, .high = -ASSAY_ULP_HALF};
    for (size_t i = 0; i < m->bin_count; i++) {
        const report_bin *b = &m->bins[i];
        if (!belongs(report_check_of(m, b->seq), subject, b) || b->exponent < 0 ||
            b->exponent > NOT_COMPARABLE || b->distance < -ASSAY_ULP_HALF || b->distance > ASSAY_ULP_HALF ||
            b->count == 0) {
            continue;
        }
        t->checks += b->seq != last;
        last = b->seq;
        t->all += b->count;
        if (b->exponent == NOT_COMPARABLE) {
            t->not_comparable += b->count;
            continue;
        }
        t->by_distance[b->distance + ASSAY_ULP_HALF] += b->count;
        t->by_cell[b->exponent][b->distance + ASSAY_ULP_HALF] += b->count;
        t->low = b->distance < t->low ? b->distance : t->low;
        t->high = b->distance > t->high ? b->distance : t->high;
    }
    for (size_t i = 0; i < ASSAY_ULP_BINS; i++) {
        t->largest = t->by_distance[i] > t->largest ? t->by_distance[i] : t->largest;
    }
    return t->all > t->not_comparable;
}

static int decades_of(uint64_t count) {
    int n = 0;
    while (count > 1) {
        count = count / 10 + (count % 10 != 0);
        n++;
    }
    return n;
}

/* Tics on the distance axis; the outermost bins collect everything beyond. */
static void distance_tics(FILE *set, int low, int high) {
    const int span = high - low;
    const int step = span <= 12 ? 1 : span <= 24 ? 2 : span <= 40 ? 4 : 8;
    (void)fputs("XTICS = '(", set);
    bool first = true;
    for (int d = low; d <= high; d++) {
        const bool end = d == -ASSAY_ULP_HALF || d == ASSAY_ULP_HALF;
        if (d % step != 0 && !end) {
            continue;
        }
        (void)fprintf(set, "%s\"%s%s%d\" %d", first ? "" : ", ",
                      end ? (d < 0 ? "\xe2\x89\xa4" : "\xe2\x89\xa5") : "",
                      d < 0   ? "\xe2\x88\x92"
                      : d > 0 ? "+"
                              : "",
                      d < 0 ? -d : d, d);
        first = false;
    }
    (void)fputs(")'\n", set);
}

static const char *against(const report_model *m, const char *subject) {
    return strcmp(subject, "accuracy") == 0   ? "the FP64 golden rounded to FP32"
           : strcmp(subject, "measured") == 0 ? report_printf(m->arena, "%s (measured, no promise)", m->other)
                                              : "what it must equal";
}

/* Colour class of a bar by its share of all elements. */
static int share_class(uint64_t count, uint64_t all) {
    const double share = (double)count / (double)all;
    return share >= 0.1 ? 1 : share >= 0.01 ? 2 : share >= 0.001 ? 3 : share >= 0.0001 ? 4 : 5;
}

bool figure_ulp(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    totals *t = report_arena_alloc(m->arena, sizeof *t);
    report_arena *a = m->arena;
    if (t == NULL || !add_up(m, subject, t)) {
        return false;
    }
    const int low = t->low < -3 ? t->low : -3;
    const int high = t->high > 3 ? t->high : 3;
    int bars = 0;
    int present[6] = {0};
    for (int d = low; d <= high; d++) {
        const uint64_t count = t->by_distance[d + ASSAY_ULP_HALF];
        if (count > 0) {
            bars++;
            present[share_class(count, t->all)] = 1;
            (void)fprintf(data, "%d %llu %d ", d, (unsigned long long)count, share_class(count, t->all));
            figure_field(data, report_share_text(a, count, t->all));
            (void)fputc('\n', data);
        }
    }
    if (t->not_comparable > 0) {
        (void)fprintf(data, "%d %llu 6 ", high + 2, (unsigned long long)t->not_comparable);
        figure_field(data, report_share_text(a, t->not_comparable, t->all));
        (void)fputc('\n', data);
    }
    plan->title = report_printf(a, "Distance of %s from %s", m->candidate, against(m, subject));
    plan->caption = report_printf(
        a, "Signed ulp distance, %s over %s. %s at distance 0.%s",
        report_printf(a, "%s elements", report_count_text(a, t->all)),
        t->checks == 1 ? "one check" : report_printf(a, "%llu checks", (unsigned long long)t->checks),
        report_share_text(a, t->by_distance[ASSAY_ULP_HALF], t->all),
        t->not_comparable > 0 ? report_printf(a, " Not comparable (NaN or infinity on one side): %s.",
                                              report_count_text(a, t->not_comparable))
                              : "");
    plan->template_name = "figure_ulp.gp";
    plan->wide_height = 400;
    plan->narrow_height = 340;
    const int top = decades_of(t->largest > t->not_comparable ? t->largest : t->not_comparable);
    /* Room above the bars for their shares; the axis is logarithmic. */
    (void)fprintf(set, "XLOW = %d\nXHIGH = %d\nBARS = %d\nYTOP = 10 ** (%d * 1.13)\nNA = %d\nNAX = %d\n", low,
                  high, bars, top, t->not_comparable > 0, high + 2);
    for (int c = 1; c <= 5; c++) {
        (void)fprintf(set, "HAS%d = %d\n", c, present[c]);
    }
    distance_tics(set, low, high);
    figure_decades(set, "YTICS", 0, top, 8);
    return true;
}

#define MOST_ROWS 44

/* A row of the exponent figure: one exponent, or a few neighbours when there are too many. */
typedef struct exponent_row {
    int lowest; /* biased */
    uint64_t count[ASSAY_ULP_BINS];
} exponent_row;

/* Gathers the exponents that occur, from small to large, into at most MOST_ROWS + 1 rows; zeros stay alone.
 * Returns how many. */
static int gather_rows(const totals *t, exponent_row *rows, int *merged) {
    int present = 0;
    for (int e = 1; e < NOT_COMPARABLE; e++) {
        for (int d = 0; d < (int)ASSAY_ULP_BINS; d++) {
            if (t->by_cell[e][d] > 0) {
                present++;
                break;
            }
        }
    }
    *merged = (present + MOST_ROWS - 1) / MOST_ROWS;
    *merged = *merged < 1 ? 1 : *merged;
    int n = 0;
    int last =
        -1; /* group of the row being filled; exponents are grouped by value, so that labels are regular */
    for (int e = 0; e < NOT_COMPARABLE; e++) {
        const int group = e == 0 ? 0 : 1 + (e + *merged - 127 % *merged) / *merged;
        bool any = false;
        for (int d = 0; d < (int)ASSAY_ULP_BINS; d++) {
            any = any || t->by_cell[e][d] > 0;
        }
        if (!any) {
            continue;
        }
        if (group != last) {
            rows[n++] = (exponent_row){.lowest = e};
            last = group;
        }
        for (int d = 0; d < (int)ASSAY_ULP_BINS; d++) {
            rows[n - 1].count[d] += t->by_cell[e][d];
        }
    }
    return n;
}

/* Tics of the exponent axis, every few rows, counted from the top; the zeros always. */
static void exponent_tics(FILE *set, const exponent_row *rows, int n) {
    const int step = (n + 15) / 16;
    bool first = true;
    (void)fputs("YTICS = '(", set);
    for (int r = 0; r < n; r++) {
        const bool zero = rows[r].lowest == 0; /* zeros and subnormals */
        const bool crowded = step > 1 && r > 0 && r < step && rows[0].lowest == 0;
        const int power = rows[r].lowest - 127;
        if (!zero && ((n - 1 - r) % step != 0 || crowded)) {
            continue;
        }
        (void)fputs(first ? "" : ", ", set);
        if (zero) {
            (void)fprintf(set, "\"zero\" %d", r);
        } else {
            (void)fprintf(set, "\"%s%d\" %d", power < 0 ? "\xe2\x88\x92" : "", power < 0 ? -power : power, r);
        }
        first = false;
    }
    (void)fputs(")'\n", set);
}

bool figure_exponents(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    report_arena *a = m->arena;
    totals *t = report_arena_alloc(a, sizeof *t);
    exponent_row *rows = report_arena_alloc(a, (ASSAY_ULP_EXPONENTS + 1) * sizeof *rows);
    if (t == NULL || rows == NULL || !add_up(m, subject, t)) {
        return false;
    }
    int merged = 1;
    uint64_t largest = 10;
    const int n = gather_rows(t, rows, &merged);
    if (n < 2 || (t->low == 0 && t->high == 0)) { /* nothing to see when all are equal */
        return false;
    }
    for (int r = 0; r < n; r++) {
        for (int d = t->low; d <= t->high; d++) {
            const uint64_t count = rows[r].count[d + ASSAY_ULP_HALF];
            if (count > 0) {
                largest = count > largest ? count : largest;
                (void)fprintf(data, "%d %d %llu\n", d, r, (unsigned long long)count);
            }
        }
    }
    const int low = t->low < -3 ? t->low : -3;
    const int high = t->high > 3 ? t->high : 3;
    exponent_tics(set, rows, n);
    distance_tics(set, low, high);
    figure_decades(set, "CBTICS", 0, decades_of(largest), 7);
    (void)fprintf(set, "XLOW = %d\nXHIGH = %d\nROWS = %d\nCBTOP = %llu\n", low, high, n,
                  (unsigned long long)largest);
    plan->title = report_printf(a, "Distance of %s by size of the %s", m->candidate,
                                strcmp(subject, "accuracy") == 0 ? "golden" : "reference");
    plan->caption = report_printf(
        a,
        "%s elements, counted by signed ulp distance and by the binary exponent e of the reference (2^e "
        "\xe2\x89\xa4 |x| < 2^(e+1)%s; "
        "zero stands for zeros and subnormals).",
        report_count_text(a, t->all - t->not_comparable),
        merged > 1 ? report_printf(a, ", %d exponents to a row, the lowest named", merged) : "");
    plan->template_name = "figure_exponents.gp";
    plan->wide_height = 150 + (n < 12 ? 20 : 13) * n;
    plan->narrow_height = 170 + (n < 12 ? 16 : 9) * n;
    return true;
}
