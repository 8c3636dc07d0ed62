/* figure_profile.c - error against the input, with the bounds of the contract; exact bins lie on a floor of
 * their own. */
#include "figure.h"

#include <math.h>
#include <string.h>

/* The check with the most bins. */
static int64_t richest(const report_model *m) {
    int64_t best = -1;
    size_t most = 0;
    for (size_t i = 0; i < m->profile_count;) {
        size_t n = i;
        while (n < m->profile_count && m->profile[n].seq == m->profile[i].seq) {
            n++;
        }
        if (n - i > most) {
            most = n - i;
            best = m->profile[i].seq;
        }
        i = n;
    }
    return best;
}

typedef struct extent {
    double x_low, x_high, y_low, y_high; /* y: of errors above zero */
    size_t bins;
    bool zeros, any;
} extent;

static extent measure(const report_model *m, int64_t seq) {
    extent e = {.x_low = INFINITY, .x_high = -INFINITY, .y_low = INFINITY, .y_high = 0};
    for (size_t i = 0; i < m->profile_count; i++) {
        const report_profile *p = &m->profile[i];
        if (p->seq != seq || !isfinite(p->x) || !isfinite(p->max_abs)) {
            continue;
        }
        e.any = true;
        e.bins++;
        e.x_low = p->x < e.x_low ? p->x : e.x_low;
        e.x_high = p->x > e.x_high ? p->x : e.x_high;
        e.zeros = e.zeros || p->max_abs == 0;
        if (p->max_abs > 0) {
            e.y_low = p->max_abs < e.y_low ? p->max_abs : e.y_low;
            e.y_high = p->max_abs > e.y_high ? p->max_abs : e.y_high;
        }
    }
    return e;
}

static void write_subject(const report_model *m, int64_t seq, const char *subject, double floor, FILE *data) {
    for (size_t i = 0; i < m->profile_count; i++) {
        const report_profile *p = &m->profile[i];
        if (p->seq == seq && strcmp(p->subject, subject) == 0 && isfinite(p->x) && isfinite(p->max_abs)) {
            (void)fprintf(data, "%.17g %.17g %d\n", p->x, p->max_abs > 0 ? p->max_abs : floor,
                          p->max_abs > 0);
        }
    }
    (void)fputs("\n\n", data);
}

static bool has_subject(const report_model *m, int64_t seq, const char *subject) {
    for (size_t i = 0; i < m->profile_count; i++) {
        if (m->profile[i].seq == seq && strcmp(m->profile[i].subject, subject) == 0) {
            return true;
        }
    }
    return false;
}

bool figure_profile(const report_model *m, const char *subject, figure_plan *plan, FILE *set, FILE *data) {
    (void)subject;
    report_arena *a = m->arena;
    const int64_t seq = richest(m);
    const report_check *check = report_check_of(m, seq);
    const extent e = measure(m, seq);
    if (!e.any || check == NULL || e.bins < 2) {
        return false;
    }
    double atol = 0;
    double rtol = 0;
    double max_abs = 0;
    const bool bounded = report_contract_tolerance(m, "accuracy", &atol, &rtol, &max_abs);
    const double bound = bounded ? (max_abs > 0 ? max_abs : atol) : 0;
    const double top = e.y_high > bound ? e.y_high : bound;
    const int high = top > 0 ? (int)ceil(log10(top) + 0.15) : 0;
    const int low = e.y_high > 0 ? (int)floor(log10(e.y_low)) : high - 3;
    const double floor_y = pow(10.0, low - 1) * 1.7;
    const bool log_x = e.x_low > 0 && e.x_high / e.x_low > 1e4;
    const char *names[] = {"candidate", "baseline"};
    int count = 0;
    for (size_t i = 0; i < 2; i++) {
        const bool present = has_subject(m, seq, names[i]);
        (void)fprintf(set, "HAS%zu = %d\nAT%zu = %d\n", i, present, i, count);
        if (present) {
            write_subject(m, seq, names[i], floor_y, data);
            count++;
        }
    }
    figure_assign(set, "NAME0", m->candidate);
    figure_assign(set, "NAME1", m->other[0] != '\0' ? m->other : "baseline");
    figure_assign(set, "BOUNDNAME", report_printf(a, "contract: at most %s", report_real_text(a, bound)));
    (void)fprintf(set, "BOUND = %.17g\nFLOOR = %.17g\nZEROS = %d\nLOGX = %d\nXLOW = %.17g\nXHIGH = %.17g\n",
                  bound, floor_y, e.zeros, log_x,
                  log_x                                     ? e.x_low
                  : e.x_low < 0.1 * e.x_high && e.x_low > 0 ? 0.0
                                                            : e.x_low,
                  e.x_high);
    (void)fprintf(set, "YLOW = %.17g\nYHIGH = %.17g\n", e.zeros ? pow(10.0, low - 1) : pow(10.0, low),
                  pow(10.0, high));
    figure_decades(set, "YTICS", low, high, 9);
    plan->title = report_printf(a, "Largest error of %s against FP64, by input", m->candidate);
    plan->caption =
        report_printf(a, "Largest |error| per bin of the input over all channels; check %s, %zu bins.%s",
                      check->name, e.bins / (size_t)(count > 0 ? count : 1),
                      e.zeros ? " Bins without any error lie on the line marked 0." : "");
    plan->template_name = "figure_profile.gp";
    plan->wide_height = 400;
    plan->narrow_height = 340;
    return true;
}
