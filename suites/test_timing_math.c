/* Tests of timing_math.c: orders, the measuring loop under a stub clock, medians, bootstrap, trust. */
#include "timing_math.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(order, two_alternate) {
    uint32_t order[2];
    for (uint64_t i = 0; i < 6; i++) {
        assay_timing_order(i, 2, order);
        cr_assert_eq(order[0], i & 1);
        cr_assert_eq(order[1], 1 - (i & 1));
    }
}

Test(order, every_callable_takes_every_place_twice_in_2n_iterations) {
    for (size_t n = 3; n <= ASSAY_TIMING_MAX_CALLABLES; n++) {
        unsigned seen[ASSAY_TIMING_MAX_CALLABLES][ASSAY_TIMING_MAX_CALLABLES] = {{0}};
        for (uint64_t i = 0; i < 2 * n; i++) {
            uint32_t order[ASSAY_TIMING_MAX_CALLABLES];
            assay_timing_order(i, n, order);
            for (size_t place = 0; place < n; place++) {
                cr_assert_lt(order[place], n);
                seen[order[place]][place]++;
            }
        }
        for (size_t c = 0; c < n * n; c++) {
            cr_assert_eq(seen[c / n][c % n], 2, "n %zu callable %zu place %zu: %u", n, c / n, c % n,
                         seen[c / n][c % n]);
        }
    }
}

/* A clock that only calls move. */
typedef struct stub {
    uint64_t now, takes;
    char *log;
    char name;
    struct stub *clock;
    bool own;
} stub;

static uint64_t stub_clock(void *user) {
    return ((stub *)user)->now;
}

static bool stub_call(void *user, uint64_t *own_ns, assay_error *error) {
    stub *s = user;
    (void)error;
    s->clock->now += s->takes;
    if (s->own) {
        *own_ns = 7;
    }
    char *end = s->clock->log + strlen(s->clock->log);
    end[0] = s->name;
    end[1] = '\0';
    return true;
}

Test(measure, stub_clock_two_and_four_microseconds) {
    char log[64] = "";
    stub clock = {.log = log};
    stub a = {.takes = 2000, .name = 'a', .clock = &clock};
    stub b = {.takes = 4000, .name = 'b', .clock = &clock};
    assay_timing_callable callables[] = {{"a", stub_call, &a}, {"b", stub_call, &b}};
    assay_timing_rule rule = {
        .warmups = 3, .min_iterations = 4, .max_iterations = 4, .budget_ns = 1000000000};
    assay_timing_samples s;
    double scratch[4];
    cr_assert(assay_timing_measure(callables, 2, &rule, stub_clock, &clock, &s, NULL));
    cr_assert_str_eq(log, "abbaab"
                          "abbaabba");
    cr_assert_eq(s.count, 4);
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(s.own_ns[i], 2000);
        cr_assert_eq(s.own_ns[s.capacity + i], 4000);
        cr_assert_eq(s.outer_ns[i], 2000);
        cr_assert_eq(s.positions[i], i & 1);
        cr_assert_eq(s.positions[s.capacity + i], 1 - (i & 1));
    }
    double fast = assay_timing_median(s.own_ns, s.count, scratch);
    double slow = assay_timing_median(s.own_ns + s.capacity, s.count, scratch);
    cr_assert_eq(fast, 2000.0);
    cr_assert_eq(slow, 4000.0);
    cr_assert_eq(assay_timing_gbps(1000, fast), 0.5);
    cr_assert_eq(assay_timing_gbps(1000, slow), 0.25);
    assay_timing_samples_free(&s);
}

Test(measure, five_callables_take_part_in_every_iteration) {
    char log[512] = "";
    stub clock = {.log = log};
    stub s[5];
    assay_timing_callable callables[5];
    for (size_t i = 0; i < 5; i++) {
        s[i] = (stub){.takes = 10, .name = (char)('a' + i), .clock = &clock};
        callables[i] = (assay_timing_callable){"x", stub_call, &s[i]};
    }
    assay_timing_rule rule = {.min_iterations = 20, .max_iterations = 20};
    assay_timing_samples samples;
    cr_assert(assay_timing_measure(callables, 5, &rule, stub_clock, &clock, &samples, NULL));
    cr_assert_eq(strlen(log), 100);
    for (size_t i = 0; i < 100; i += 5) {
        for (char c = 'a'; c <= 'e'; c++) {
            cr_assert_not_null(memchr(log + i, c, 5), "iteration %zu lacks %c", i / 5, c);
        }
    }
    assay_timing_samples_free(&samples);
}

Test(measure, own_time_wins_over_the_clock_and_both_are_kept) {
    char log[64] = "";
    stub clock = {.log = log};
    stub a = {.takes = 100, .name = 'a', .clock = &clock, .own = true};
    assay_timing_callable callable = {"a", stub_call, &a};
    assay_timing_rule rule = {.min_iterations = 2, .max_iterations = 2};
    assay_timing_samples s;
    cr_assert(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, NULL));
    cr_assert_eq(s.own_ns[1], 7);
    cr_assert_eq(s.outer_ns[1], 100);
    assay_timing_samples_free(&s);
}

Test(measure, stops_when_the_budget_is_spent_but_not_before_the_minimum) {
    char log[4096] = "";
    stub clock = {.log = log};
    stub a = {.takes = 100, .name = 'a', .clock = &clock};
    assay_timing_callable callable = {"a", stub_call, &a};
    assay_timing_rule rule = {
        .warmups = 1000, .min_iterations = 5, .max_iterations = 1000, .budget_ns = 1200};
    assay_timing_samples s;
    cr_assert(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, NULL));
    cr_assert_eq(s.count, 12);
    cr_assert_eq(strlen(log), 12 + 3, "warm-ups take a quarter of the budget");
    assay_timing_samples_free(&s);
    rule.budget_ns = 0;
    cr_assert(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, NULL));
    cr_assert_eq(s.count, 5);
    assay_timing_samples_free(&s);
}

static bool failing_call(void *user, uint64_t *own_ns, assay_error *error) {
    (void)user;
    (void)own_ns;
    (void)assay_fail(error, ASSAY_CODE_INTERNAL, "no");
    return false;
}

Test(measure, a_failing_call_ends_it) {
    stub clock = {0};
    assay_timing_callable callable = {"a", failing_call, NULL};
    assay_timing_rule rule = {.min_iterations = 2, .max_iterations = 2};
    assay_timing_samples s;
    assay_error error = {0};
    cr_assert_not(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, &error));
    cr_assert_str_eq(error.text, "no");
    assay_timing_samples_free(&s);
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

Test(median, equals_the_middle_of_the_sorted_values) {
    assay_philox_key key = {{1, 2}};
    uint32_t words[64];
    uint64_t values[64];
    double scratch[64];
    for (size_t n = 1; n <= 64; n++) {
        for (uint64_t round = 0; round < 20; round++) {
            assay_philox_words(key, (n * 20 + round) * 64, n, words);
            for (size_t i = 0; i < n; i++) {
                values[i] = words[i] % (round < 10 ? 5 : 1000000); /* many and few equal values */
            }
            double got = assay_timing_median(values, n, scratch);
            qsort(values, n, sizeof *values, ascending);
            double want = n % 2 != 0 ? (double)values[n / 2]
                                     : 0.5 * ((double)values[n / 2 - 1] + (double)values[n / 2]);
            cr_assert_eq(got, want, "n %zu round %zu: %g, want %g", n, (size_t)round, got, want);
        }
    }
}

Test(bootstrap, encloses_the_ratio_and_repeats) {
    uint64_t a[200];
    uint64_t b[200];
    uint32_t words[400];
    assay_philox_key key = {{3, 4}};
    assay_ratio first;
    assay_ratio second;
    assay_philox_words(key, 0, 400, words);
    for (size_t i = 0; i < 200; i++) {
        a[i] = 2000 + words[i] % 400;
        b[i] = 1000 + words[200 + i] % 200;
    }
    cr_assert(assay_timing_bootstrap(a, b, 200, key, 1000, &first));
    cr_assert(assay_timing_bootstrap(a, b, 200, key, 1000, &second));
    cr_assert_eq(memcmp(&first, &second, sizeof first), 0);
    cr_assert_float_eq(first.value, 2.0, 0.05);
    cr_assert_leq(first.low, first.value);
    cr_assert_geq(first.high, first.value);
    cr_assert_lt(first.low, first.high);
    cr_assert_float_eq(first.high - first.low, 0.04, 0.04, "an interval of the order of the noise");
}

Test(bootstrap, constant_samples_have_no_width_and_nothing_is_refused) {
    uint64_t a[5] = {6, 6, 6, 6, 6};
    uint64_t b[5] = {3, 3, 3, 3, 3};
    uint64_t zero[5] = {0};
    assay_philox_key key = {{0, 0}};
    assay_ratio r;
    cr_assert(assay_timing_bootstrap(a, b, 5, key, 100, &r));
    cr_assert(r.value == 2.0 && r.low == 2.0 && r.high == 2.0);
    cr_assert_not(assay_timing_bootstrap(a, zero, 5, key, 100, &r));
    cr_assert_not(assay_timing_bootstrap(a, b, 0, key, 100, &r));
}

/* An honest worker: 100 calls of 10 us, 20 us of round trip, a roof of 8 us for 64 KiB. */
static const assay_timing_claim honest = {.single_median = 11000,
                                          .batch_own = 1000000,
                                          .batch_outer = 1020000,
                                          .least_outer = 1020000,
                                          .batch_calls = 100,
                                          .floor = 20000,
                                          .roof = 8000,
                                          .bytes = 65536};

Test(trust, honest_claims_are_believed) {
    char reason[200];
    assay_timing_claim claim = honest;
    cr_assert(assay_timing_trust(&claim, reason, sizeof reason), "%s", reason);
    claim.single_median = 100000; /* single calls may be much slower than calls in a batch */
    cr_assert(assay_timing_trust(&claim, reason, sizeof reason), "%s", reason);
}

Test(trust, a_batch_that_claims_less_than_the_judge_saw) {
    char reason[200];
    assay_timing_claim claim = honest;
    claim.batch_own = 700000;
    cr_assert_not(assay_timing_trust(&claim, reason, sizeof reason));
    cr_assert_not_null(strstr(reason, "the judge saw"));
    claim.batch_own = 0;
    cr_assert_not(assay_timing_trust(&claim, reason, sizeof reason));
}

Test(trust, a_batch_that_claims_more_than_the_judge_saw) {
    char reason[200];
    assay_timing_claim claim = honest;
    claim.batch_own = 1020001;
    cr_assert_not(assay_timing_trust(&claim, reason, sizeof reason));
}

Test(trust, single_calls_far_below_the_batch) {
    char reason[200];
    assay_timing_claim claim = honest;
    claim.single_median = 4000;
    cr_assert_not(assay_timing_trust(&claim, reason, sizeof reason));
    cr_assert_not_null(strstr(reason, "single calls"));
}

Test(trust, faster_than_a_plain_fill) {
    char reason[200];
    assay_timing_claim claim = honest;
    claim.roof = 25000;
    cr_assert_not(assay_timing_trust(&claim, reason, sizeof reason));
    cr_assert_not_null(strstr(reason, "plain fill"));
    claim.bytes = ASSAY_TIMING_ROOF_BYTES - 1; /* too short to say */
    cr_assert(assay_timing_trust(&claim, reason, sizeof reason), "%s", reason);
}

/* What `between` was told, in the log of the calls. */
static bool note_between(void *user, size_t done, assay_error *error) {
    stub *s = user;
    char *end = s->log + strlen(s->log);
    end[0] = (char)('0' + done);
    end[1] = '\0';
    s->now += 1000000; /* takes long, and must not count */
    if (done == 4) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "enough");
    }
    return done < 4;
}

Test(measure, between_iterations_something_else_may_happen) {
    char log[64] = "";
    stub clock = {.log = log};
    stub a = {.takes = 100, .name = 'a', .clock = &clock};
    assay_timing_callable callable = {"a", stub_call, &a};
    assay_timing_rule rule = {.warmups = 1,
                              .min_iterations = 1,
                              .max_iterations = 3,
                              .budget_ns = 1000,
                              .between = note_between,
                              .between_user = &clock};
    assay_timing_samples s;
    assay_error error = {0};
    cr_assert(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, &error));
    cr_assert_str_eq(log, "a0a1a2a3");
    cr_assert_eq(s.own_ns[2], 100);
    assay_timing_samples_free(&s);
    rule.max_iterations = 8;
    cr_assert_not(assay_timing_measure(&callable, 1, &rule, stub_clock, &clock, &s, &error));
    cr_assert_str_eq(error.text, "enough");
    assay_timing_samples_free(&s);
}

Test(device, a_sample_holds_enough_calls_to_last) {
    cr_assert_eq(assay_timing_repeat(1100, 100000, 100), 91);
    cr_assert_eq(assay_timing_repeat(1000, 100000, 200), 100);
    cr_assert_eq(assay_timing_repeat(500, 100000, 100), 100);
    cr_assert_eq(assay_timing_repeat(0, 100000, 100), 100);
    cr_assert_eq(assay_timing_repeat(240000, 100000, 100), 1);
    cr_assert_eq(assay_timing_repeat(99999, 100000, 100), 2);
    cr_assert_eq(assay_timing_repeat(1000, 0, 100), 1);
}

/* An H200: 1 GiB in 250 us, memset 240 us. */
static const assay_timing_device_claim fast = {
    .per_call = 250000, .floor = 540, .roof = 240000, .bytes = 1u << 30, .cache_bytes = 50u << 20};

Test(device, honest_device_times_are_believed) {
    char reason[200];
    assay_timing_device_claim claim = fast;
    cr_assert(assay_timing_trust_device(&claim, reason, sizeof reason), "%s", reason);
    claim.per_call = 190000; /* within the margin */
    cr_assert(assay_timing_trust_device(&claim, reason, sizeof reason), "%s", reason);
    claim = (assay_timing_device_claim){.per_call = 420, .floor = 540, .bytes = 1024};
    cr_assert(assay_timing_trust_device(&claim, reason, sizeof reason), "%s", reason);
    claim = (assay_timing_device_claim){.per_call = 1};
    cr_assert(assay_timing_trust_device(&claim, reason, sizeof reason), "nothing is known: %s", reason);
}

Test(device, faster_than_a_fill_beyond_the_cache) {
    char reason[200];
    assay_timing_device_claim claim = fast;
    claim.per_call = 180000;
    cr_assert_not(assay_timing_trust_device(&claim, reason, sizeof reason));
    cr_assert_not_null(strstr(reason, "plain fill"));
    claim.bytes = claim.cache_bytes;
    cr_assert(assay_timing_trust_device(&claim, reason, sizeof reason), "in the cache: %s", reason);
}

Test(device, faster_than_an_empty_kernel) {
    char reason[200];
    assay_timing_device_claim claim = fast;
    claim.bytes = 1024;
    claim.per_call = 400;
    cr_assert_not(assay_timing_trust_device(&claim, reason, sizeof reason));
    cr_assert_not_null(strstr(reason, "empty kernel"));
    claim.per_call = 0;
    cr_assert_not(assay_timing_trust_device(&claim, reason, sizeof reason));
}

Test(device, iterations_beside_a_bad_reading_are_marked) {
    const size_t done[] = {0, 8, 16, 20};
    const struct {
        bool bad[4];
        size_t marked;
    } cases[] = {{{false, false, false, false}, 0}, {{true, false, false, false}, 8},
                 {{false, true, false, false}, 16}, {{false, false, true, false}, 12},
                 {{false, false, false, true}, 4},  {{true, true, true, true}, 20},
                 {{true, false, false, true}, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assay_timing_marks marks = {done, cases[i].bad, 4};
        cr_assert_eq(assay_timing_marked(&marks, 20), cases[i].marked, "case %zu: %zu", i,
                     assay_timing_marked(&marks, 20));
    }
    assay_timing_marks none = {done, cases[0].bad, 0};
    cr_assert_eq(assay_timing_marked(&none, 20), 0);
}
