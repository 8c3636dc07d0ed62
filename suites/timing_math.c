/* timing_math.c - orders, medians, bootstrap and the rules of trust. No worker, no clock of its own. */
#include "timing_math.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay_timing_order(uint64_t iteration, size_t n, uint32_t *order) {
    assert(n <= ASSAY_TIMING_MAX_CALLABLES);
    size_t first = n > 2 ? (size_t)((iteration / 2) % n) : 0;
    for (size_t place = 0; place < n; place++) {
        size_t forward = (iteration & 1) != 0 ? n - 1 - place : place;
        order[place] = (uint32_t)((first + forward) % n);
    }
}

static bool samples_alloc(assay_timing_samples *samples, size_t n, size_t capacity, assay_error *error) {
    *samples = (assay_timing_samples){.capacity = capacity};
    size_t cells = n * capacity + 1;
    samples->own_ns = calloc(cells, sizeof *samples->own_ns);
    samples->outer_ns = calloc(cells, sizeof *samples->outer_ns);
    samples->positions = calloc(cells, sizeof *samples->positions);
    if (samples->own_ns == NULL || samples->outer_ns == NULL || samples->positions == NULL) {
        assay_timing_samples_free(samples);
        assay_fail(error, ASSAY_CODE_INTERNAL, "timing: no memory for %zu samples", cells);
        return false;
    }
    return true;
}

void assay_timing_samples_free(assay_timing_samples *samples) {
    free(samples->own_ns);
    free(samples->outer_ns);
    free(samples->positions);
    *samples = (assay_timing_samples){0};
}

/* Calls every callable once in the iteration's order and adds the time to *spent. `cell` receives the samples
 * of iteration `index` unless it is NULL (warm-up). */
static bool iterate(const assay_timing_callable *callables, size_t n, uint64_t index,
                    uint64_t (*clock)(void *user), void *clock_user, assay_timing_samples *samples,
                    uint64_t *spent, assay_error *error) {
    uint32_t order[ASSAY_TIMING_MAX_CALLABLES];
    assay_timing_order(index, n, order);
    for (size_t place = 0; place < n; place++) {
        const assay_timing_callable *c = &callables[order[place]];
        uint64_t own = UINT64_MAX;
        uint64_t start = clock(clock_user);
        if (!c->call(c->user, &own, error)) {
            return false;
        }
        uint64_t outer = clock(clock_user) - start;
        *spent += outer;
        if (samples != NULL) {
            size_t cell = order[place] * samples->capacity + (size_t)index;
            samples->own_ns[cell] = own == UINT64_MAX ? outer : own;
            samples->outer_ns[cell] = outer;
            samples->positions[cell] = (uint32_t)place;
        }
    }
    return true;
}

bool assay_timing_measure(const assay_timing_callable *callables, size_t n, const assay_timing_rule *rule,
                          uint64_t (*clock)(void *user), void *clock_user, assay_timing_samples *samples,
                          assay_error *error) {
    assert(n >= 1 && n <= ASSAY_TIMING_MAX_CALLABLES);
    if (!samples_alloc(samples, n, (size_t)rule->max_iterations, error)) {
        return false;
    }
    uint64_t warm = 0;
    for (uint64_t i = 0; i < rule->warmups && (i == 0 || warm < rule->budget_ns / 4); i++) {
        if (!iterate(callables, n, i, clock, clock_user, NULL, &warm, error)) {
            return false;
        }
    }
    uint64_t spent = 0;
    if (rule->between != NULL && !rule->between(rule->between_user, 0, error)) {
        return false;
    }
    for (uint64_t i = 0; i < rule->max_iterations && (i < rule->min_iterations || spent < rule->budget_ns);
         i++) {
        if (!iterate(callables, n, i, clock, clock_user, samples, &spent, error)) {
            return false;
        }
        samples->count++;
        if (rule->between != NULL && !rule->between(rule->between_user, samples->count, error)) {
            return false;
        }
    }
    return true;
}

double assay_timing_median(const uint64_t *values, size_t n, double *scratch) {
    assert(n >= 1);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = (double)values[i];
    }
    return assay_quantile(scratch, n, 0.5);
}

double assay_timing_gbps(uint64_t bytes, double ns) {
    return ns > 0.0 ? (double)bytes / ns : 0.0;
}

bool assay_timing_bootstrap(const uint64_t *a, const uint64_t *b, size_t n, assay_philox_key key,
                            size_t draws, assay_ratio *ratio) {
    double *both = malloc(2 * n * sizeof *both + 1);
    for (size_t i = 0; both != NULL && i < n; i++) {
        both[i] = (double)a[i];
        both[n + i] = (double)b[i];
    }
    const bool good = both != NULL && assay_bootstrap_ratio(both, n, both + n, n, true, key, draws, ratio);
    free(both);
    return good;
}

bool assay_timing_trust(const assay_timing_claim *claim, char *reason, size_t bytes) {
    double seen = claim->batch_outer - claim->floor;
    double calls = (double)(claim->batch_calls == 0 ? 1 : claim->batch_calls);
    double per_call = (claim->least_outer - claim->floor) / calls;
    double batch_call = claim->batch_own / calls;
    /* The judge counts a whole round trip, so an honest claim never exceeds what the judge saw. */
    if (claim->batch_own > claim->batch_outer) {
        (void)snprintf(reason, bytes, "claims %.0f ns for a batch that took %.0f ns by the judge's clock",
                       claim->batch_own, claim->batch_outer);
        return false;
    }
    if (seen > 0.0 && claim->batch_own < ASSAY_TIMING_CLAIM_SHARE * seen) {
        (void)snprintf(reason, bytes,
                       "claims %.0f ns for a batch of %llu calls, the judge saw at least %.0f ns",
                       claim->batch_own, (unsigned long long)claim->batch_calls, seen);
        return false;
    }
    if (claim->single_median < ASSAY_TIMING_SINGLE_SHARE * per_call) {
        (void)snprintf(reason, bytes,
                       "claims a median of %.0f ns for single calls, a call in a batch takes %.0f ns",
                       claim->single_median, per_call);
        return false;
    }
    double fastest = batch_call < claim->single_median ? batch_call : claim->single_median;
    if (claim->bytes >= ASSAY_TIMING_ROOF_BYTES && fastest < ASSAY_TIMING_ROOF_SHARE * claim->roof) {
        (void)snprintf(reason, bytes, "%.0f ns for %llu bytes, but a plain fill of them takes %.0f ns here",
                       fastest, (unsigned long long)claim->bytes, claim->roof);
        return false;
    }
    return true;
}

/* ---- on a GPU ---- */

unsigned assay_timing_repeat(double one_ns, double target_ns, unsigned most) {
    const double calls = one_ns > 0.0 ? ceil(target_ns / one_ns) : (double)most;
    return calls >= (double)most ? most : calls < 1.0 ? 1 : (unsigned)calls;
}

bool assay_timing_trust_device(const assay_timing_device_claim *claim, char *reason, size_t bytes) {
    const double slack = claim->per_call * ASSAY_TIMING_DEVICE_MARGIN;
    if (slack < claim->floor) {
        (void)snprintf(reason, bytes, "claims %.0f ns of device time, but an empty kernel takes %.0f ns here",
                       claim->per_call, claim->floor);
        return false;
    }
    if (claim->bytes > claim->cache_bytes && slack < claim->roof) {
        (void)snprintf(
            reason, bytes,
            "claims %.0f ns of device time for %llu bytes, but a plain fill of them takes %.0f ns here",
            claim->per_call, (unsigned long long)claim->bytes, claim->roof);
        return false;
    }
    return true;
}

size_t assay_timing_marked(const assay_timing_marks *marks, size_t n) {
    size_t marked = 0;
    size_t next = 0; /* the first reading that was made after iteration i */
    for (size_t i = 0; i < n; i++) {
        while (next < marks->count && marks->done[next] <= i) {
            next++;
        }
        marked += (next > 0 && marks->bad[next - 1]) || (next < marks->count && marks->bad[next]);
    }
    return marked;
}
