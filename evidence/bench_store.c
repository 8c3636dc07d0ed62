/* bench_store.c [FOLDER]: how fast evidence is written. Bar (issue): 100,000 timing samples in under 1 s. */
#include "clock.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 100000, CHECKS = 1000 };

static assay_store *open_run(const char *path, int64_t *id) {
    static const assay_promise_record promise = {"timing", "timing", "measured", "t", false};
    static assay_plan_record plan[CHECKS];
    static char names[CHECKS][24];
    assay_store *store = NULL;
    assay_error error;
    char uuid[33];
    for (size_t i = 0; i < CHECKS; i++) {
        (void)snprintf(names[i], sizeof names[i], "timing/%zu", i);
        plan[i] = (assay_plan_record){"timing", names[i], "timing", "{}", "", false, ASSAY_STRENGTH_SAMPLED};
    }
    const assay_run_record run = {.kind = "run",
                                  .operator_name = "op",
                                  .implementation = "i",
                                  .baseline = "",
                                  .device = "cpu",
                                  .tier = "full",
                                  .command = "bench",
                                  .contract_sha256 =
                                      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                                  .contract_text = "test",
                                  .promises = &promise,
                                  .promise_count = 1,
                                  .plan = plan,
                                  .plan_count = CHECKS};
    if (assay_store_open(path, ASSAY_STORE_WRITE, &store, &error) != ASSAY_CODE_OK ||
        assay_store_run_begin(store, &run, id, uuid, &error) != ASSAY_CODE_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return store;
}

/* Seconds for SAMPLES samples as series of `size` each, one check (transaction) of ten series at a time. */
static double series(assay_store *store, int64_t id, size_t size, int64_t *seq) {
    static uint64_t ns[SAMPLES];
    static uint32_t positions[SAMPLES];
    char names[10][16];
    assay_error error;
    for (size_t i = 0; i < SAMPLES; i++) {
        ns[i] = 1000000 + i * 7919 % 100003;
        positions[i] = (uint32_t)(i & 1);
    }
    const uint64_t start = assay_clock_ns();
    for (size_t done = 0; done < SAMPLES;) {
        assay_series_record rows[10];
        size_t count = 0;
        for (; count < 10 && done < SAMPLES; count++, done += size) {
            (void)snprintf(names[count], sizeof names[0], "callable%zu", count);
            rows[count] = (assay_series_record){names[count], "forward",        "host", "", 64, 65536, 1,
                                                ns + done,    positions + done, size};
        }
        const assay_check_record record = {.outcome = ASSAY_OUTCOME_PASS,
                                           .reason = "",
                                           .elements = 1,
                                           .series = rows,
                                           .series_count = count};
        if (assay_store_check_begin(store, id, *seq, &error) != ASSAY_CODE_OK ||
            assay_store_check_end(store, id, (*seq)++, &record, &error) != ASSAY_CODE_OK) {
            (void)fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
    }
    return (double)(assay_clock_ns() - start) * 1e-9;
}

int main(int argc, char **argv) {
    char path[512];
    int64_t id = 0, seq = 1;
    assay_error error;
    (void)snprintf(path, sizeof path, "%s/bench-%d.db", argc > 1 ? argv[1] : ".", (int)getpid());
    assay_store *store = open_run(path, &id);
    static const size_t sizes[] = {200, 10000, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const double s = series(store, id, sizes[i], &seq);
        (void)printf("%d samples as series of %zu: %.3f s (%.2f M samples/s, bar 1 s: %s)\n", SAMPLES,
                     sizes[i], s, SAMPLES / s * 1e-6, s < 1.0 ? "met" : "MISSED");
    }
    const int64_t first = seq;
    const assay_check_record record = {.outcome = ASSAY_OUTCOME_PASS, .reason = "", .elements = 1};
    const uint64_t start = assay_clock_ns();
    for (; seq <= CHECKS; seq++) {
        if (assay_store_check_begin(store, id, seq, &error) != ASSAY_CODE_OK ||
            assay_store_check_end(store, id, seq, &record, &error) != ASSAY_CODE_OK) {
            (void)fprintf(stderr, "%s\n", error.text);
            return 1;
        }
    }
    const double s = (double)(assay_clock_ns() - start) * 1e-9;
    (void)printf("%lld checks, begin and end in a transaction each, synchronous=FULL: %.0f checks/s\n",
                 (long long)(seq - first), (double)(seq - first) / s);
    assay_store_close(store);
    (void)unlink(path);
    return 0;
}
