/* accuracy.cu - the host's part of accuracy: memory of a call, near ties, and results in the judge's terms.
 */
#include "accuracy.h"
#include "digest.cuh"
#include "tally.cuh"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

#define TIE_ROOM      ((size_t)1 << 20)
#define TIES_A_THREAD 64u /* below this many a thread costs more than it saves */
#define SETTLERS      16u

struct accuracy_places {
    size_t known, out, cells, returned, best, sums, worst, ties, bytes;
};

static accuracy_places lay_out(const accuracy_work *w) {
    accuracy_places p = {};
    judge_layout l = {0};
    p.known = l.add(sizeof(accuracy_known));
    p.out = l.add(sizeof(accuracy_out));
    p.cells = l.add(sizeof(assay_ulp_histogram));
    p.returned = l.bytes;
    p.best = l.add(SURVEY_BLOCKS * sizeof(accuracy_best));
    p.sums = l.add((size_t)w->blocks * SUMS * sizeof(double));
    p.worst = l.add((size_t)w->blocks * ASSAY_WORST * sizeof(accuracy_entry));
    p.ties = l.add(w->tie_room * sizeof(accuracy_entry));
    p.bytes = l.bytes;
    return p;
}

/* Rows of a block. */
static unsigned block_rows(uint64_t rows, uint64_t channels) {
    const uint64_t share = (rows + ACCURACY_BLOCKS - 1) / ACCURACY_BLOCKS;
    const uint64_t most = std::min<uint64_t>(ACCURACY_ROWS, ACCURACY_ELEMENTS / channels);
    return (unsigned)std::min<uint64_t>(std::max<uint64_t>(share, 16), most);
}

static accuracy_work work_of(assay_device *d, const assay_device_judgment *what) {
    accuracy_work w = {};
    const uint64_t share = what->rows / SURVEY_BLOCKS;
    w.got = (const uint32_t *)what->got;
    w.rows = what->rows;
    w.channels = what->channels;
    w.first_bits = what->first_bits;
    w.atol = what->accuracy->tolerance.atol;
    w.rtol = what->accuracy->tolerance.rtol;
    w.survey_rows = share < 1 ? 1 : share > SURVEY_ROWS ? SURVEY_ROWS : (unsigned)share;
    w.survey = what->rows < SURVEY_BLOCKS ? (unsigned)what->rows : SURVEY_BLOCKS;
    w.block_rows = block_rows(what->rows, what->channels);
    w.blocks = (unsigned)((what->rows + w.block_rows - 1) / w.block_rows);
    w.tie_room = d->tie_room;
    return w;
}

/* One pass. On return the results lie in d->results, laid out as `places` says. */
static assay_code pass(assay_device *d, const assay_device_judgment *what, accuracy_launch *launch,
                       const void *golden, accuracy_places *places, assay_error *error) {
    accuracy_work w = work_of(d, what);
    const accuracy_places p = lay_out(&w);
    *places = p;
    CODE_TRY(assay_cuda_scratch(d, p.bytes, error));
    CODE_TRY(assay_cuda_results(d, p.returned, error));
    char *const there = (char *)d->scratch.at;
    w.known = (accuracy_known *)(there + p.known);
    w.out = (accuracy_out *)(there + p.out);
    w.cells = (unsigned long long *)(there + p.cells);
    w.best = (accuracy_best *)(there + p.best);
    w.sums = (double *)(there + p.sums);
    w.worst = (accuracy_entry *)(there + p.worst);
    w.ties = (accuracy_entry *)(there + p.ties);
    CUDA_TRY(cudaMemsetAsync(there, 0, p.returned, d->stream), "accuracy");
    CUDA_TRY(cudaMemsetAsync(&w.out->first, 0xff, sizeof w.out->first, d->stream), "accuracy");
    CODE_TRY(launch(d, &w, golden, error));
    CUDA_TRY(cudaMemcpyAsync(d->results.at, there, p.returned, cudaMemcpyDeviceToHost, d->stream),
             "accuracy");
    return assay_cuda_end(d, "accuracy", error);
}

/* ---- the worst ---- */

static bool is_worse(const accuracy_entry &a, const accuracy_entry &b) {
    return a.ulp > b.ulp || (a.ulp == b.ulp && a.index < b.index);
}

static void report_worst(const assay_device_judgment *what, std::vector<accuracy_entry> &entries,
                         assay_accuracy *one) {
    const size_t n = entries.size() < ASSAY_WORST ? entries.size() : ASSAY_WORST;
    std::partial_sort(entries.begin(), entries.begin() + (ptrdiff_t)n, entries.end(), is_worse);
    for (size_t i = 0; i < n; i++) {
        one->worst[i].index = what->base + entries[i].index;
        one->worst[i].got = entries[i].got;
        one->worst[i].golden = entries[i].golden;
        one->worst[i].ulp = entries[i].ulp;
    }
    one->worst_count = n;
}

/* ---- near ties ---- */

struct settled {
    const accuracy_entry *entry;
    uint32_t bits;
};

/* In place of the caller's `settle` while the near ties are judged: the answers are known by then. */
static uint32_t settle_known(void *context, uint64_t index, double golden) {
    const settled *s = *(const settled *const *)context;
    (void)index;
    (void)golden;
    return s->bits;
}

/* Asks `settle` for all near ties, on several threads when there are many. */
static void settle_all(const assay_device_judgment *what, std::vector<settled> &list) {
    const assay_accuracy *const a = what->accuracy;
    const size_t machine = std::min<size_t>(std::thread::hardware_concurrency(), SETTLERS);
    const size_t threads = std::min<size_t>(machine, list.size() / TIES_A_THREAD);
    std::atomic<size_t> next(0);
    const auto work = [&]() {
        for (size_t i = next++; i < list.size(); i = next++) {
            const accuracy_entry *const e = list[i].entry;
            list[i].bits = a->settle(a->settle_context, what->base + e->index, e->golden);
        }
    };
    std::vector<std::thread> others;
    others.reserve(SETTLERS);
    try {
        while (others.size() + 1 < threads) {
            others.emplace_back(work);
        }
    } catch (const std::system_error &) { /* no more threads: the ones there are do it */
    }
    work();
    for (std::thread &t : others) {
        t.join();
    }
}

/* Judges near ties by the judge itself, one by one, in ascending order. */
static void judge_ties(const assay_device_judgment *what, std::vector<accuracy_entry> &entries) {
    assay_accuracy *const a = what->accuracy;
    const auto settle = a->settle;
    void *const context = a->settle_context;
    std::sort(entries.begin(), entries.end(),
              [](const accuracy_entry &x, const accuracy_entry &y) { return x.index < y.index; });
    std::vector<settled> list;
    for (const accuracy_entry &e : entries) {
        list.push_back({&e, 0});
    }
    if (settle != nullptr) {
        settle_all(what, list);
        a->settle = settle_known;
    }
    for (const settled &s : list) {
        const settled *current = &s;
        a->settle_context = &current;
        assay_accuracy_add(a, &s.entry->got, &s.entry->golden, 1, what->base + s.entry->index);
    }
    a->settle = settle;
    a->settle_context = context;
}

/* ---- results ---- */

static double from_bits(unsigned long long bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Sums over x follow from those over y and e = x - y. */
static void report_sums(const double sum[SUMS], assay_accuracy *one) {
    one->sum_ulp = sum[SUM_ULP];
    one->sum_sq_err = sum[SUM_EE];
    one->sum_sq_golden = sum[SUM_YY];
    one->sum_x = sum[SUM_Y] + sum[SUM_E];
    one->sum_y = sum[SUM_Y];
    one->sum_xx = sum[SUM_YY] + 2.0 * sum[SUM_EY] + sum[SUM_EE];
    one->sum_yy = sum[SUM_YY];
    one->sum_xy = sum[SUM_YY] + sum[SUM_EY];
}

/* Correctly rounded: distance 0 to a number, but for zeros of unlike signs. */
static uint64_t rounded_right(const assay_ulp_histogram *cells, uint64_t zero_sign) {
    uint64_t n = 0;
    for (size_t row = 0; row < 255; row++) {
        n += cells->count[row][ASSAY_ULP_HALF];
    }
    return n - zero_sign;
}

static void report(const assay_device_judgment *what, const accuracy_out *o, assay_ulp_histogram *cells,
                   std::vector<accuracy_entry> &worst) {
    assay_accuracy one = {};
    one.elements = what->rows * what->channels - o->ties; /* near ties are judged apart */
    one.outside = o->outside;
    one.not_comparable = o->apart;
    one.correctly_rounded = rounded_right(cells, o->zero_sign);
    one.max_abs = from_bits(o->max_abs);
    one.max_golden = from_bits(o->max_golden);
    one.max_ulp = from_bits(o->max_ulp);
    one.first_outside = what->base + o->first;
    one.first_outside_got = o->first_got;
    one.first_outside_golden = o->first_golden;
    one.histogram = cells;
    report_sums(o->sum, &one);
    report_worst(what, worst, &one);
    assay_accuracy_merge(what->accuracy, &one);
}

static assay_code fetch(std::vector<accuracy_entry> &list, const void *from, size_t n, assay_error *error) {
    list.resize(n);
    return n == 0 ? ASSAY_CODE_OK
                  : assay_cuda_check(
                        cudaMemcpy(list.data(), from, n * sizeof(accuracy_entry), cudaMemcpyDeviceToHost),
                        "accuracy", error);
}

assay_code assay_cuda_accuracy(assay_device *d, const assay_device_judgment *what, accuracy_launch *launch,
                               const void *golden, assay_error *error) {
    accuracy_places p;
    const accuracy_out *out = nullptr;
    std::vector<accuracy_entry> worst;
    std::vector<accuracy_entry> ties;
    d->tie_room = d->tie_room == 0 ? TIE_ROOM : d->tie_room;
    for (;;) {
        CODE_TRY(assay_cuda_begin(d, error));
        CODE_TRY(pass(d, what, launch, golden, &p, error));
        out = (const accuracy_out *)((char *)d->results.at + p.out);
        if (out->ties <= d->tie_room) {
            break;
        }
        d->tie_room = out->ties + out->ties / 4;
    }
    CODE_TRY(fetch(worst, (char *)d->scratch.at + p.worst, out->worst, error));
    CODE_TRY(fetch(ties, (char *)d->scratch.at + p.ties, out->ties, error));
    report(what, out, (assay_ulp_histogram *)((char *)d->results.at + p.cells), worst);
    judge_ties(what, ties);
    return ASSAY_CODE_OK;
}
