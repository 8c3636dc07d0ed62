/* compare_accuracy.c - accuracy against an FP64 golden: blocks, the shared rare cases, merge. */
#include "compare_private.h"

#include <math.h>
#include <string.h>

/* golden rounded to FP32, nearest even, by integers; NaN gives a quiet NaN. */
static uint32_t round_f64(double golden) {
    const uint64_t bits = assay_f64_bits(golden);
    const uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
    const uint64_t magnitude = bits & UINT64_C(0x7fffffffffffffff);
    const int e = (int)(magnitude >> 52);
    uint64_t kept; /* in units where the FP32 encoding is kept >> shift */
    int shift = 29;
    if (magnitude > UINT64_C(0x7ff0000000000000)) {
        return sign | 0x7fc00000u;
    }
    if (e >= 1023 + 128) {
        return sign | 0x7f800000u;
    }
    if (e >= 1023 - 126) {
        kept = magnitude - ((UINT64_C(1023) - 127) << 52);
    } else {
        shift = 29 + (1023 - 126) - e;
        if (shift > 54 || e == 0) {
            return sign; /* below half of the smallest subnormal */
        }
        kept = (magnitude & UINT64_C(0x000fffffffffffff)) | (UINT64_C(1) << 52);
    }
    const uint64_t odd = kept >> shift & 1u;
    return sign | (uint32_t)((kept + ((UINT64_C(1) << (shift - 1)) - 1 + odd)) >> shift);
}

/* True when golden lies within 2^-20 of an FP32 spacing from the middle between two neighbours. */
static bool near_tie(double golden) {
    const uint64_t magnitude = assay_f64_bits(golden) & UINT64_C(0x7fffffffffffffff);
    const int e = (int)(magnitude >> 52);
    if (e >= 1023 + 128) {
        return false;
    }
    int shift = 29;
    if (e < 1023 - 126) {
        shift += 1023 - 126 - e;
        if (shift > 54) { /* below 2^-151: farther than a quarter from the lowest tie */
            return false;
        }
    }
    const uint64_t significand = (magnitude & UINT64_C(0x000fffffffffffff)) | (UINT64_C(1) << 52);
    const uint64_t dropped = significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1), window = UINT64_C(1) << (shift - 20);
    return dropped >= half - window && dropped <= half + window;
}

void assay_accuracy_check_tie(assay_accuracy_view *view, size_t i) {
    assay_accuracy *const accuracy = view->accuracy;
    if (near_tie(view->golden[i])) {
        accuracy->near_ties++;
        if (accuracy->settle != NULL) {
            view->rounded[i] = accuracy->settle(accuracy->settle_context, view->base + i, view->golden[i]);
        }
    }
}

static void note_first(assay_accuracy *accuracy, uint64_t was, uint64_t index, uint32_t got, double golden) {
    if (was == 0 || index < accuracy->first_outside) {
        accuracy->first_outside = index;
        accuracy->first_outside_got = got;
        accuracy->first_outside_golden = golden;
    }
}

static void note_outside(assay_accuracy_view *view, size_t i) {
    assay_accuracy *const accuracy = view->accuracy;
    note_first(accuracy, accuracy->outside, view->base + i, view->got[i], view->golden[i]);
    accuracy->outside++;
}

/* Inserts into the list ordered by descending ulp, then ascending index. No ulp here is NaN. */
static void enter_worst(assay_accuracy *accuracy, const assay_worst *entry) {
    size_t at = accuracy->worst_count;
    while (at > 0 &&
           (entry->ulp > accuracy->worst[at - 1].ulp ||
            (entry->ulp == accuracy->worst[at - 1].ulp && entry->index < accuracy->worst[at - 1].index))) {
        at--;
    }
    if (at == ASSAY_WORST) {
        return;
    }
    const size_t last = accuracy->worst_count < ASSAY_WORST ? accuracy->worst_count : ASSAY_WORST - 1;
    memmove(&accuracy->worst[at + 1], &accuracy->worst[at], (last - at) * sizeof accuracy->worst[0]);
    accuracy->worst[at] = *entry;
    accuracy->worst_count = last + 1;
}

static void note_worst(assay_accuracy_view *view, size_t i, double ulp) {
    const assay_worst entry = {
        .index = view->base + i, .got = view->got[i], .golden = view->golden[i], .ulp = ulp};
    enter_worst(view->accuracy, &entry);
}

double assay_accuracy_threshold(const assay_accuracy_view *view) {
    const assay_accuracy *const accuracy = view->accuracy;
    if (accuracy->worst_count < ASSAY_WORST) {
        return 0x1p-1074; /* exact elements are not among the worst */
    }
    const assay_worst *const last = &accuracy->worst[ASSAY_WORST - 1];
    /* The next double above; above infinity that is a NaN, which no ulp reaches. */
    return view->base < last->index ? last->ulp : assay_f64_from_bits(assay_f64_bits(last->ulp) + 1);
}

/* Equal infinities are right and leave the sums alone; anything else here is not comparable, so outside, and
 * its ulp is infinite: a maximum must not hide it. */
static void note_special(assay_accuracy_view *view, size_t i) {
    assay_accuracy *const accuracy = view->accuracy;
    const uint32_t got = view->got[i];
    const bool same = !isnan(view->golden[i]) && got == view->rounded[i];
    accuracy->correctly_rounded += same;
    view->cell[i] = (uint16_t)(same ? ASSAY_CELL_EQUAL : ASSAY_CELL_APART);
    if (same && isinf(view->golden[i])) {
        return;
    }
    accuracy->not_comparable++;
    note_outside(view, i);
    accuracy->max_ulp = (double)INFINITY;
    note_worst(view, i, (double)INFINITY);
}

void assay_accuracy_rare(assay_accuracy_view *view, size_t i, unsigned special, unsigned outside,
                         unsigned worst, const double ulp[ASSAY_LANES]) {
    for (unsigned any = special | outside | worst; any != 0; any &= any - 1) {
        const unsigned k = (unsigned)__builtin_ctz(any);
        if ((special >> k & 1u) != 0) {
            note_special(view, i + k);
        }
        if ((outside >> k & 1u) != 0) {
            note_outside(view, i + k);
        }
        if ((worst >> k & 1u) != 0) {
            note_worst(view, i + k, ulp[k]);
        }
    }
}

void assay_accuracy_round_from(assay_accuracy_view *view, size_t start) {
    for (size_t i = start; i < view->n; i++) {
        view->rounded[i] = round_f64(view->golden[i]);
        assay_accuracy_check_tie(view, i);
    }
}

static double larger(double a, double b) {
    return b > a ? b : a;
}

/* One element with both values finite. */
static void measure_finite(assay_accuracy_view *view, size_t i) {
    assay_accuracy *const accuracy = view->accuracy;
    const size_t lane = i % ASSAY_LANES;
    const uint32_t r = view->rounded[i];
    const double x = (double)assay_f32_from_bits(view->got[i]);
    const double y = view->golden[i];
    const double err = x - y;
    const double abs = fabs(err);
    const uint64_t e = r >> 23 & 255u;
    const uint64_t clamped = e < 1 ? 1 : e > 254 ? 254 : e;
    const double ulp = abs * assay_f64_from_bits((1023 + 150 - clamped) << 52);
    accuracy->correctly_rounded += view->got[i] == r;
    view->cell[i] = (uint16_t)assay_cell(view->got[i], r);
    if (!(abs <= accuracy->tolerance.atol + accuracy->tolerance.rtol * fabs(y))) {
        note_outside(view, i);
    }
    if (ulp >= assay_accuracy_threshold(view)) {
        note_worst(view, i, ulp);
    }
    view->max[MAX_ABS][lane] = larger(view->max[MAX_ABS][lane], abs);
    view->max[MAX_GOLDEN][lane] = larger(view->max[MAX_GOLDEN][lane], fabs(y));
    view->max[MAX_ULP][lane] = larger(view->max[MAX_ULP][lane], ulp);
    view->sum[SUM_ULP][lane] += ulp;
    view->sum[SUM_ERR2][lane] += err * err;
    view->sum[SUM_X][lane] += x;
    view->sum[SUM_Y][lane] += y;
    view->sum[SUM_XX][lane] += x * x;
    view->sum[SUM_YY][lane] += y * y;
    view->sum[SUM_XY][lane] += x * y;
}

void assay_accuracy_measure_from(assay_accuracy_view *view, size_t start) {
    for (size_t i = start; i < view->n; i++) {
        const bool finite = (view->got[i] & 0x7f800000u) != 0x7f800000u && isfinite(view->golden[i]);
        if (finite) {
            measure_finite(view, i);
        } else {
            note_special(view, i);
        }
    }
}

/* Folds the lanes of a block into the totals, in the order that compare_private.h states. */
static void fold_block(const assay_accuracy_view *view) {
    assay_accuracy *const a = view->accuracy;
    double *const sums[SUM_COUNT] = {
        [SUM_ULP] = &a->sum_ulp, [SUM_ERR2] = &a->sum_sq_err, [SUM_X] = &a->sum_x,  [SUM_Y] = &a->sum_y,
        [SUM_XX] = &a->sum_xx,   [SUM_YY] = &a->sum_yy,       [SUM_XY] = &a->sum_xy};
    double *const maxima[MAX_COUNT] = {
        [MAX_ABS] = &a->max_abs, [MAX_GOLDEN] = &a->max_golden, [MAX_ULP] = &a->max_ulp};
    for (size_t s = 0; s < SUM_COUNT; s++) {
        const double *const l = view->sum[s];
        *sums[s] += ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
    }
    for (size_t m = 0; m < MAX_COUNT; m++) {
        for (size_t lane = 0; lane < ASSAY_LANES; lane++) {
            *maxima[m] = larger(*maxima[m], view->max[m][lane]);
        }
    }
    a->sum_sq_golden = a->sum_yy; /* the same sum under both names */
}

void assay_accuracy_add(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                        uint64_t base) {
    const assay_judge *const judge = assay_judge_choose();
    const unsigned saved = assay_fp_enter();
    assay_accuracy_view view;
    assay_tally tally;
    assay_tally_open(&tally, accuracy->histogram, n);
    for (size_t done = 0; done < n;) {
        const size_t take = n - done < ASSAY_BLOCK ? n - done : ASSAY_BLOCK;
        view.accuracy = accuracy;
        view.got = got + done;
        view.golden = golden + done;
        view.n = take;
        view.base = base + done;
        memset(view.sum, 0, sizeof view.sum);
        memset(view.max, 0, sizeof view.max);
        judge->round(&view);
        judge->measure(&view);
        fold_block(&view);
        assay_tally_add(&tally, view.cell, take);
        done += take;
    }
    accuracy->elements += n;
    assay_tally_close(&tally);
    assay_fp_leave(saved);
}

void assay_accuracy_merge(assay_accuracy *accuracy, const assay_accuracy *other) {
    if (other->outside > 0) {
        note_first(accuracy, accuracy->outside, other->first_outside, other->first_outside_got,
                   other->first_outside_golden);
    }
    accuracy->elements += other->elements;
    accuracy->outside += other->outside;
    accuracy->not_comparable += other->not_comparable;
    accuracy->correctly_rounded += other->correctly_rounded;
    accuracy->near_ties += other->near_ties;
    accuracy->max_abs = larger(accuracy->max_abs, other->max_abs);
    accuracy->max_golden = larger(accuracy->max_golden, other->max_golden);
    accuracy->max_ulp = larger(accuracy->max_ulp, other->max_ulp);
    accuracy->sum_ulp += other->sum_ulp;
    accuracy->sum_sq_err += other->sum_sq_err;
    accuracy->sum_sq_golden += other->sum_sq_golden;
    accuracy->sum_x += other->sum_x;
    accuracy->sum_y += other->sum_y;
    accuracy->sum_xx += other->sum_xx;
    accuracy->sum_yy += other->sum_yy;
    accuracy->sum_xy += other->sum_xy;
    for (size_t i = 0; i < other->worst_count; i++) {
        enter_worst(accuracy, &other->worst[i]);
    }
    if (accuracy->histogram != NULL && other->histogram != NULL) {
        assay_histogram_merge(accuracy->histogram, other->histogram);
    }
}
