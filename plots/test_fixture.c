/* test_fixture.c - see the header. Numbers come from a fixed generator, so that the evidence is the same each
 * time. */
#include "test_fixture.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH "zeroblob(16)"

void fixture_exec(sqlite3 *db, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        (void)fprintf(stderr, "fixture: %s\n%.300s\n", why, sql);
        abort();
    }
    sqlite3_free(sql);
}

int64_t fixture_int(sqlite3 *db, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK || sqlite3_step(row) != SQLITE_ROW) {
        (void)fprintf(stderr, "fixture: %s\n%s\n", sqlite3_errmsg(db), sql);
        abort();
    }
    const int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_free(sql);
    return value;
}

static uint64_t state = 1;
static double noise(void) { /* uniform on [0, 1) */
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

static char *read_file(const char *path) {
    FILE *in = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (in == NULL || text == NULL) {
        (void)fprintf(stderr, "fixture: cannot read %s\n", path);
        abort();
    }
    (void)fread(text, 1, (1 << 20) - 1, in);
    (void)fclose(in);
    return text;
}

static const char *source_dir(void) {
    const char *dir = getenv("ASSAY_SOURCE");
    return dir == NULL ? "." : dir;
}

typedef struct fixture {
    sqlite3 *db;
    int run, seq;
    const char *impl, *baseline;
} fixture;

static const struct {
    const char *name, *suite, *relation, *text;
    int required;
} promises[] = {
    {"validation", "validation", "validation",
     "every forbidden argument is answered invalid_argument with no output byte changed, every allowed edge "
     "is answered ok",
     1},
    {"parity", "parity", "parity",
     "the forward bytes equal the replay of the lineage that the candidate claims", 1},
    {"accuracy", "accuracy", "accuracy",
     "every forward output lies within the tolerance row of the FP64 golden", 1},
    {"invariance", "invariance", "invariance",
     "the bytes of a row do not depend on batch size, position, neighbours, padding, stride or alignment", 1},
    {"gradient_accuracy", "gradients", "gradient_accuracy",
     "every gradient lies within the tolerance row of the FP64 golden VJP", 1},
    {"gradient_parity", "gradients", "parity", "the gradient bytes equal the replay of the lineage", 1},
    {"memory", "memory", "memory",
     "every output element is written, nothing else is touched, inputs stay as they were", 1},
    {"determinism", "determinism", "repeat", "the same call gives the same bytes", 1},
    {"cross_lineage_parity", "parity", "measured",
     "how many forward bytes differ from a baseline of another lineage", 0},
    {"timing", "timing", "measured", "how long calls take, beside the floor and the roof of the machine", 0}};

static void begin_run(fixture *f, int run, const char *kind, const char *impl, const char *baseline) {
    static const char *const provenance[][2] = {
        {"assay.version", "0.1.0"},
        {"assay.commit", "227fd9f0c1b2a3948576deadbeef0123456789ab"},
        {"assay.dirty", "no"},
        {"assay.compiler", "gcc 12.2.0"},
        {"assay.flags", "-O2 -ffp-contract=off -fno-math-errno"},
        {"candidate.commit", "227fd9f0c1b2a3948576deadbeef0123456789ab"},
        {"candidate.dirty", "no"},
        {"candidate.source", "/home/user/assay"},
        {"cpu.model", "AMD EPYC 9J14 96-Core Processor"},
        {"cpu.count", "2"},
        {"cpu.features", "avx avx2 fma avx512f avx512dq avx512bw avx512vl"},
        {"os.kernel", "Linux 6.1.0"},
        {"os.name", "Debian GNU/Linux 12 (bookworm)"},
        {"libc.version", "glibc 2.36"},
        {"load.average", "0.52 0.41 0.38"},
        {"mxcsr", "0x1f80"},
        {"env.OMP_NUM_THREADS", "2"}};
    f->run = run;
    f->seq = 0;
    f->impl = impl;
    f->baseline = baseline;
    fixture_exec(f->db,
                 "INSERT INTO run VALUES(%d, '%08x00c0ffee00c0ffee00c0ffee', %Q, 'timestep_sinusoid_h3', %Q, "
                 "%Q, 'cpu', "
                 "'default', 1, 1, 'assay %s --op timestep_sinusoid_h3 --impl %s%s%s --tier default --report "
                 "out', %lld, " HASH ")",
                 run, 0xa55a0000u + (unsigned)run, kind, impl, baseline, kind, impl,
                 baseline[0] ? " --baseline " : "", baseline, 1796094000000ll + run * 60000ll);
    for (size_t i = 0; i < sizeof provenance / sizeof provenance[0]; i++) {
        fixture_exec(f->db, "INSERT INTO provenance VALUES(%d, %Q, %Q, " HASH ")", run, provenance[i][0],
                     provenance[i][1]);
    }
    fixture_exec(f->db, "INSERT INTO binary VALUES(%d, 'assay', '/usr/bin/assay', '%064x', 412340, " HASH ")",
                 run, 0xa1);
    fixture_exec(
        f->db,
        "INSERT INTO binary VALUES(%d, 'candidate', 'build/default/impls/%s.so', '%064x', 48120, " HASH ")",
        run, impl, 0xc2 + run);
    fixture_exec(f->db, "INSERT INTO knob VALUES(%d, 'candidate', 'flush_to_zero', 'off', %Q, " HASH ")", run,
                 run == FIXTURE_REFUSED ? "on" : "off");
}

static void owe(fixture *f) {
    for (size_t i = 0; i < sizeof promises / sizeof promises[0]; i++) {
        fixture_exec(f->db, "INSERT INTO promise VALUES(%d, %Q, %d, %Q, %Q, %d, %Q, " HASH ")", f->run,
                     promises[i].name, (int)i, promises[i].suite, promises[i].relation, promises[i].required,
                     promises[i].text);
    }
}

/* One check with its outcome; NULL outcome = planned only. Returns its seq. */
static int check(fixture *f, const char *suite, const char *rest, const char *promise, const char *outcome,
                 const char *reason, int64_t elements, int64_t bad) {
    const int required = strcmp(promise, "timing") != 0 && strcmp(promise, "cross_lineage_parity") != 0;
    const int seq = ++f->seq;
    const int rows = atoi(rest + strcspn(rest, "0123456789"));
    fixture_exec(f->db,
                 "INSERT INTO check_plan VALUES(%d, %d, %Q, '%q/%q', %Q, %d, %Q, "
                 "'{\"attributes\":{\"check_range\":true,\"max_period\":10000.0,\"width\":256},\"case\":\"%"
                 "q\",\"dtype\":\"f32\","
                 "\"operator\":\"timestep_sinusoid_h3\",\"rows\":%d,\"seed\":1,\"stride\":1,\"values\":{"
                 "\"count\":%d,\"set\":\"uniform\"}}', "
                 "'assay run --op timestep_sinusoid_h3 --impl %q --check %q/%q --seed 1', NULL, " HASH ")",
                 f->run, seq, suite, suite, rest, promise, required,
                 strcmp(rest, "all_unit") == 0 ? "exhaustive" : "sampled", rest, rows, rows, f->impl, suite,
                 rest);
    if (outcome != NULL) {
        fixture_exec(f->db, "INSERT INTO check_start VALUES(%d, %d, 1, 1796094000000, " HASH ")", f->run,
                     seq);
        fixture_exec(f->db,
                     "INSERT INTO check_outcome VALUES(%d, %d, %Q, %Q, %lld, %lld, %lld, 1796094001000, " HASH
                     ")",
                     f->run, seq, outcome, reason, elements, bad, (int64_t)(1e6 + 4e7 * noise()));
    }
    return seq;
}

static void metric(fixture *f, int seq, const char *name, double value, const char *unit) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isfinite(value)) {
        fixture_exec(f->db, "INSERT INTO metric VALUES(%d, %d, %Q, %lld, %!.17g, %Q, " HASH ")", f->run, seq,
                     name, (int64_t)bits, value, unit);
    } else {
        fixture_exec(f->db, "INSERT INTO metric VALUES(%d, %d, %Q, %lld, NULL, %Q, " HASH ")", f->run, seq,
                     name, (int64_t)bits, unit);
    }
}

static void element(fixture *f, int seq, const char *kind, int rank, int channel, float input, uint32_t got,
                    uint32_t want, double ulp) {
    char shown[32];
    (void)snprintf(shown, sizeof shown, "%.6g", ulp);
    uint32_t in;
    float wanted;
    double golden;
    uint64_t golden_bits;
    memcpy(&in, &input, 4);
    memcpy(&wanted, &want, 4);
    golden = (double)wanted * (1 + 1e-9);
    memcpy(&golden_bits, &golden, 8);
    fixture_exec(f->db,
                 "INSERT INTO element VALUES(%d, %d, %Q, %d, %d, %d, %lld, %lld, %lld, %lld, %s, " HASH ")",
                 f->run, seq, kind, rank, rank * 37, channel, (int64_t)in, (int64_t)got, (int64_t)want,
                 (int64_t)golden_bits, isfinite(ulp) ? shown : "NULL");
}

/* Histogram rows of `total` elements: a peak at 0 whose width is `spread` ulp; 40 exponents below 1 and the
 * zeros. */
static void histogram(fixture *f, int seq, const char *subject, double total, double spread) {
    for (int e = 88; e <= 128; e++) {
        const int exponent = e == 128 ? 0 : e;
        const double share = exponent == 0 ? 0.004 : pow(0.72, 127 - e) * 0.28;
        const double wide = exponent == 0 ? 0.01 : spread * (0.35 + 0.65 * (e - 88) / 39.0);
        for (int d = -32; d <= 32; d++) {
            const double weight = d == 0      ? 1.0
                                  : wide <= 0 ? 0.0
                                              : exp(-fabs((double)d + 0.06) / (0.22 * wide));
            const int64_t count = (int64_t)(total * share * weight / (1 + 0.9 * wide));
            if (count > 0) {
                fixture_exec(f->db, "INSERT INTO ulp_histogram VALUES(%d, %d, %Q, %d, %d, %lld, " HASH ")",
                             f->run, seq, subject, exponent, d, count);
            }
        }
    }
}

static void accuracy_metrics(fixture *f, int seq, double scale) {
    metric(f, seq, "max_abs", 1.19e-7 * scale, "");
    metric(f, seq, "max_rel", 4.5e-7 * scale, "");
    metric(f, seq, "max_ulp", 8.83 * scale, "ulp");
    metric(f, seq, "mean_ulp", 0.41 * scale, "ulp");
    metric(f, seq, "correctly_rounded_share", 0.6881 / (0.5 + 0.5 * scale), "");
    metric(f, seq, "relrms", 3.2e-8 * scale, "");
    metric(f, seq, "correlation", scale > 1 ? (double)NAN : 0.99999999999, "");
    metric(f, seq, "outside", scale > 4 ? 19522 : 0, "");
    metric(f, seq, "near_ties", 3, "");
    for (int rank = 1; rank <= 16; rank++) {
        const float x = (float)(0.9 - rank * 0.03);
        element(f, seq, "worst", rank, 120 + rank, x, 0x3dcccccdu + (unsigned)(20 - rank), 0x3dcccccdu,
                (8.83 - 0.2 * rank) * scale);
    }
}

static void parity_check(fixture *f, const char *name, const char *promise, int64_t elements, double share) {
    const int64_t bad = (int64_t)((double)elements * share);
    const int measured = strcmp(promise, "cross_lineage_parity") == 0;
    char reason[128] = "";
    if (bad > 0 && !measured) {
        (void)snprintf(reason, sizeof reason, "%lld of %lld elements differ from the replay", (long long)bad,
                       (long long)elements);
    }
    const int seq = check(f, "parity", name, promise, bad > 0 && !measured ? "fail" : "pass", reason,
                          elements, measured ? 0 : bad);
    metric(f, seq, "differing", (double)bad, "");
    metric(f, seq, "zero_sign", 0, "");
    metric(f, seq, "numeric", (double)bad, "");
    metric(f, seq, "max_ulp", bad > 0 ? 4711 : 0, "ulp");
    if (bad > 0) {
        element(f, seq, "first", 1, 3, 0.0137f, 0x3f7ff0aau, 0x3f7ff0a8u, 2);
        element(f, seq, "worst", 1, 127, 0.9871f, 0x38d1b717u, 0x38d1c97eu, 4711);
        if (!measured) {
            fixture_exec(f->db,
                         "INSERT INTO witness VALUES(%d, %d, 1, 'channel 3 of input 0x3c60754b: got "
                         "0x3f7ff0aa, want 0x3f7ff0a8', "
                         "'{\"attributes\":{\"check_range\":true,\"max_period\":10000.0,\"width\":256},"
                         "\"dtype\":\"f32\",\"rows\":1}', "
                         "x'4b75603c', x'aaf07f3f', x'a8f07f3f', " HASH ")",
                         f->run, seq);
        }
    }
    histogram(f, seq, "parity", (double)elements, share > 0 ? 6 * share : 0);
}

static void parity_suite(fixture *f, double share) {
    static const char *const names[] = {"rows_1",    "rows_2",    "rows_3",    "rows_7",  "rows_64",
                                        "rows_1000", "rows_4097", "width_2",   "width_8", "width_96",
                                        "width_250", "width_320", "width_1000"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const int n = atoi(strchr(names[i], '_') + 1);
        const int64_t elements = strncmp(names[i], "rows", 4) == 0 ? n * 256 : n * 257;
        parity_check(f, names[i], "parity", elements, n <= 2 ? 0.0 : share);
    }
    parity_check(f, "uniform", "parity", 262144ll * 256, share);
    parity_check(f, "grid", "parity", 25001ll * 256, share * 0.99);
    parity_check(f, "patterns", "parity", 267067ll * 256, share * 0.65);
    parity_check(f, "baseline_uniform", "cross_lineage_parity", 262144ll * 256, 0.12 + share * 0.8);
}

static void profile(fixture *f, int seq, double scale) {
    for (int bin = 0; bin < 128; bin++) {
        const double x = (bin + 0.5) / 128.0;
        for (int s = 0; s < 2; s++) {
            const double k = s == 0 ? scale : 0.8;
            const double error = bin < 2 ? 0.0 : 5.96e-8 * k * (0.6 + 0.8 * noise()) * (x < 0.5 ? 1 : 1.4);
            fixture_exec(f->db,
                         "INSERT INTO profile VALUES(%d, %d, %Q, %d, %!.17g, %!.17g, %!.6g, %!.6g, " HASH ")",
                         f->run, seq, s == 0 ? "candidate" : "baseline", bin, x, error, 0.3 * k, 6.0 * k);
        }
    }
}

static void accuracy_suite(fixture *f, double scale) {
    static const char *const names[] = {"uniform",   "grid",     "patterns",  "golden_257",
                                        "width_2",   "width_96", "width_250", "width_1000",
                                        "bf16_4097", "f16_4097", "hard_cases"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const int64_t elements = i < 3 ? 67108864 >> i : 65792 + (int64_t)i * 256;
        const int bad = scale > 4 && i < 3;
        const int seq = check(f, "accuracy", names[i], "accuracy", bad ? "fail" : "pass",
                              bad ? "19522 elements beyond atol 1e-05 + rtol 1e-05 * |golden|" : "", elements,
                              bad ? 19522 : 0);
        accuracy_metrics(f, seq, scale);
        if (i < 4) {
            histogram(f, seq, "accuracy", (double)elements, 2.5 * scale);
        }
        if (i == 0) {
            profile(f, seq, scale);
        }
    }
}

static void invariance_suite(fixture *f, int broken) {
    static const int sizes[] = {64, 257, 2048};
    static const int subs[] = {1, 7, 2048, 4097};
    static const char *const others[] = {"position_first", "position_middle", "position_last",
                                         "permuted_129",   "reversed_129",    "neighbours_257",
                                         "padding_257",    "lone_value_1023"};
    char name[64];
    for (int seed = 3; seed <= 5; seed++) {
        for (int i = 0; i < 3; i++) {
            (void)snprintf(name, sizeof name, "alone_seed%d_%d", seed, sizes[i]);
            (void)check(f, "invariance", name, "invariance", "pass", "", sizes[i] * 256, 0);
        }
    }
    for (int seed = 3; seed <= 4; seed++) {
        for (int i = 0; i < 4; i++) {
            (void)snprintf(name, sizeof name, "sub_batches_seed%d_%d", seed, subs[i]);
            const int bad = broken && i == 1;
            (void)check(f, "invariance", name, "invariance", bad ? "fail" : "pass",
                        bad ? "512 elements of 2 rows depend on the batch around them (vector tail)" : "",
                        8192 * 256, bad ? 512 : 0);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        (void)check(f, "invariance", others[i], "invariance", "pass", "", 257 * 256, 0);
    }
    for (int b = 4; b <= 12; b += 4) {
        (void)snprintf(name, sizeof name, "misaligned_%d", b);
        (void)check(f, "invariance", name, "invariance", "pass", "", 257 * 256, 0);
    }
    for (int s = 2; s <= 7; s += s == 2 ? 1 : 4) {
        (void)snprintf(name, sizeof name, "stride_%d", s);
        (void)check(f, "invariance", name, "invariance", "pass", "", 257 * 256, 0);
    }
}

static void other_suites(fixture *f, int broken) {
    static const char *const validation[] = {"width_odd",
                                             "width_odd_unchecked",
                                             "width_one",
                                             "width_zero",
                                             "width_negative",
                                             "max_period_zero",
                                             "max_period_negative",
                                             "timestep_null",
                                             "embedding_null",
                                             "timestep_scalar",
                                             "timestep_matrix",
                                             "timestep_empty",
                                             "timestep_i32",
                                             "timestep_i64",
                                             "timestep_f64",
                                             "embedding_f64",
                                             "embedding_one_row_more",
                                             "embedding_one_row_less",
                                             "embedding_transposed",
                                             "value_nan",
                                             "value_minus_nan",
                                             "value_signalling_nan",
                                             "value_inf",
                                             "value_minus_inf",
                                             "value_next_above_one",
                                             "value_thousand",
                                             "value_minus_one",
                                             "value_smallest_negative",
                                             "value_zero",
                                             "value_minus_zero",
                                             "value_one",
                                             "backward_saved_half",
                                             "backward_upstream_null",
                                             "backward_grad_i32"};
    static const char *const memory[] = {"poison",           "guard_zones",   "over_read",
                                         "inputs_unchanged", "prefilled_nan", "prefilled_inf",
                                         "prefilled_zero",   "index_helper"};
    static const char *const determinism[] = {"repeat_32", "fresh_process", "other_thread",
                                              "changed_in_place", "many_workers"};
    static const int rows[] = {1, 2, 7, 64, 257, 4097};
    char name[64];
    for (size_t i = 0; i < sizeof validation / sizeof validation[0]; i++) {
        (void)check(f, "validation", validation[i], "validation", "pass", "", 3, 0);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)snprintf(name, sizeof name, "golden_%d", rows[i]);
        int seq = check(f, "gradients", name, "gradient_accuracy", "pass", "", rows[i], 0);
        metric(f, seq, "max_abs", 2.4e-7 * (1 + noise()), "");
        metric(f, seq, "max_ulp", 3.1, "ulp");
        (void)snprintf(name, sizeof name, "replay_%d", rows[i]);
        const int lost = broken && i == 5;
        seq = check(f, "gradients", name, "gradient_parity", lost ? "error" : "pass",
                    lost ? "the worker died of signal 11 (SIGSEGV) in backward" : "", lost ? 0 : rows[i], 0);
        if (!lost) {
            metric(f, seq, "differing", 0, "");
        }
    }
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        (void)check(f, "memory", memory[i], "memory", broken && i == 7 ? "unavailable" : "pass",
                    broken && i == 7 ? "the candidate exports no offset helper" : "",
                    broken && i == 7 ? 0 : 65792, 0);
    }
    for (size_t i = 0; i < sizeof determinism / sizeof determinism[0]; i++) {
        (void)check(f, "determinism", determinism[i], "determinism", broken && i == 4 ? NULL : "pass", "",
                    65792, 0);
    }
}

static void series(fixture *f, int seq, const char *callable, const char *scope, int rows, double ns,
                   int64_t bytes) {
    char samples[8192];
    char positions[4096];
    size_t at = 0;
    size_t place = 0;
    for (int i = 0; i < 200; i++) {
        const double wobble = 1 + 0.03 * noise() + (noise() > 0.97 ? 0.4 * noise() : 0);
        at += (size_t)snprintf(samples + at, sizeof samples - at, "%s%lld", i ? "," : "[",
                               (long long)(ns * wobble));
        place += (size_t)snprintf(positions + place, sizeof positions - place, "%s%d", i ? "," : "[",
                                  (i + (int)strlen(callable)) % 6);
    }
    (void)snprintf(samples + at, sizeof samples - at, "]");
    (void)snprintf(positions + place, sizeof positions - place, "]");
    fixture_exec(f->db,
                 "INSERT INTO series VALUES(%d, %d, %Q, %Q, 'host', %d, %lld, 1, %Q, %Q, '', " HASH ")",
                 f->run, seq, callable, scope, rows, bytes, samples, positions);
}

static void timing_suite(fixture *f, double speed, const char *outcome, const char *reason) {
    static const int rows[] = {1, 2, 4, 64, 4096, 65536};
    char name[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int t = rows[i];
        const double work = 0.42 * 256 * t; /* ns: 2.4 G outputs/s */
        const int64_t bytes = 4ll * t + 1024ll * t;
        (void)snprintf(name, sizeof name, "rows_%d", t);
        const int last = i + 1 == sizeof rows / sizeof rows[0];
        const int seq =
            check(f, "timing", name, "timing", last ? outcome : "pass", last ? reason : "", 200, 0);
        series(f, seq, "candidate", "forward", t, 900 + work / speed, bytes);
        series(f, seq, "candidate_checked", "checked", t, 930 + work * 1.02 / speed, bytes);
        series(f, seq, "baseline", "forward", t, 910 + work * 9, bytes);
        series(f, seq, "candidate_backward", "backward_only", t, 1100 + work * 1.6 / speed, bytes * 2);
        series(f, seq, "baseline_backward", "backward_only", t, 1150 + work * 2.2, bytes * 2);
        series(f, seq, "floor", "floor", t, 820, 0);
        series(f, seq, "roof_memset", "roof", t, 60 + (double)bytes / 11.0, bytes);
    }
}

static void finish(fixture *f, const char *verdict, const char *reason) {
    fixture_exec(f->db,
                 "INSERT INTO promise_result SELECT p.run_id, p.name, "
                 "CASE WHEN EXISTS(SELECT 1 FROM checks c WHERE c.run_id = p.run_id AND c.promise = p.name "
                 "AND c.outcome = 'fail') THEN 'broken' "
                 "WHEN EXISTS(SELECT 1 FROM checks c WHERE c.run_id = p.run_id AND c.promise = p.name AND "
                 "c.outcome <> 'pass') THEN 'not_verified' "
                 "ELSE 'kept' END, "
                 "coalesce((SELECT max(c.strength) FROM checks c WHERE c.run_id = p.run_id AND c.promise = "
                 "p.name AND c.outcome = 'pass'), ''), "
                 "coalesce((SELECT c.name || ': ' || c.reason FROM checks c WHERE c.run_id = p.run_id AND "
                 "c.promise = p.name AND c.outcome <> 'pass' "
                 "ORDER BY c.outcome <> 'fail', c.seq LIMIT 1), ''), " HASH
                 " FROM promise p WHERE p.run_id = %d",
                 f->run);
    fixture_exec(f->db, "INSERT INTO run_result VALUES(%d, %Q, %Q, %lld, " HASH ")", f->run, verdict, reason,
                 1796094000000ll + f->run * 60000ll + 8412);
    fixture_exec(f->db, "INSERT INTO run_log VALUES(%d, %d, '%064x', '%064x')", f->run - 1, f->run,
                 0x1eaf + f->run, 0x4007 + f->run);
}

static void prove_run(fixture *f) {
    begin_run(f, FIXTURE_PROVE, "prove", "reference_c", "libm");
    fixture_exec(f->db,
                 "INSERT INTO promise VALUES(%d, 'parity', 0, 'parity', 'parity', 1, 'the bytes of both are "
                 "equal', " HASH ")",
                 f->run);
    const int seq = check(f, "parity", "all_unit", "parity", "pass", "", 272730423552ll, 0);
    metric(f, seq, "differing", 0, "");
    metric(f, seq, "max_ulp", 0, "ulp");
    histogram(f, seq, "accuracy", 272730423552.0, 2.5);
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "against" : "candidate";
        fixture_exec(
            f->db,
            "INSERT INTO digest_tree VALUES(%d, %Q, 65536, 256, 1065353218, 16257, 0, 16257, '%064x', " HASH
            ")",
            f->run, name, 0xd16e57);
        for (int t = 0; t < 8; t++) {
            fixture_exec(f->db, "INSERT INTO digest_tile VALUES(%d, %Q, %d, 65536, zeroblob(16), " HASH ")",
                         f->run, name, t);
        }
    }
    finish(f, "certified", "");
}

static void selftest_run(fixture *f) {
    static const char *const suites[] = {"validation", "parity", "accuracy",   "invariance",
                                         "gradients",  "memory", "determinism"};
    static const struct {
        const char *name, *class_name, *meant;
    } subjects[] = {{"zeros", "null", "accuracy"},
                    {"ones", "null", "accuracy"},
                    {"input_copied", "null", "parity"},
                    {"half_minus_one", "mutant", "accuracy"},
                    {"true_divide", "mutant", "parity"},
                    {"tail_unwritten", "mutant", "memory"},
                    {"batch_256_switch", "mutant", "invariance"},
                    {"nan_accepted", "mutant", "validation"},
                    {"gradient_of_ones", "mutant", "gradients"},
                    {"cached_answer", "dishonest", "determinism"},
                    {"edits_input", "dishonest", "memory"},
                    {"other_block_size", "variant", ""}};
    begin_run(f, FIXTURE_SELFTEST, "selftest", "mutants", "");
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        for (size_t k = 0; k < sizeof suites / sizeof suites[0]; k++) {
            const int meant = strcmp(subjects[i].meant, suites[k]) == 0;
            const int variant = subjects[i].meant[0] == '\0';
            const int missed = strcmp(subjects[i].name, "batch_256_switch") == 0 && meant;
            const char *got = meant && !missed                       ? "fail"
                              : !variant && (i * 7 + k * 3) % 5 == 0 ? "fail"
                                                                     : "pass";
            fixture_exec(f->db, "INSERT INTO selftest VALUES(%d, %Q, %Q, %Q, %Q, %Q, %Q, " HASH ")", f->run,
                         subjects[i].name, subjects[i].class_name, suites[k],
                         meant     ? "caught"
                         : variant ? "clean"
                                   : "any",
                         got, meant ? "the suite meant for it" : "");
        }
    }
    finish(f, "refused", "1 mutant was not caught: batch_256_switch");
}

static void hostile_run(fixture *f) {
    static const char bad[] =
        "a|b `c` ```d``` <script>alert(1)</script> </td> & \"quote\" 'single' \\ back\nnew line\r\ttab \x01 "
        "\x1b[31m "
        "\x7f ]]> *star* _under_ [link](http://x) @someone #1 $(id) \xff\xfe \xc3\xa9 */ /* ?"
        "?/ %s %n";
    fixture_exec(f->db,
                 "INSERT INTO run VALUES(%d, 'ffff0005ffff0005ffff0005ffff0005', 'certify', %Q, %Q, %Q, %Q, "
                 "'quick', 1, 7, %Q, 1796094300000, " HASH ")",
                 FIXTURE_HOSTILE, bad, bad, bad, bad, bad);
    f->run = FIXTURE_HOSTILE;
    f->seq = 0;
    f->impl = bad;
    fixture_exec(f->db, "INSERT INTO provenance VALUES(%d, %Q, %Q, " HASH ")", f->run, bad, bad);
    fixture_exec(f->db, "INSERT INTO provenance VALUES(%d, 'cpu.model', %Q, " HASH ")", f->run, bad);
    fixture_exec(f->db, "INSERT INTO binary VALUES(%d, %Q, %Q, %Q, 1, " HASH ")", f->run, bad, bad, bad);
    fixture_exec(f->db, "INSERT INTO knob VALUES(%d, %Q, %Q, %Q, %Q, " HASH ")", f->run, bad, bad, bad,
                 "other");
    fixture_exec(f->db, "INSERT INTO promise VALUES(%d, %Q, 0, %Q, %Q, 1, %Q, " HASH ")", f->run, bad, bad,
                 bad, bad);
    fixture_exec(f->db, "INSERT INTO promise VALUES(%d, 'parity', 1, 'parity', 'parity', 1, 'p', " HASH ")",
                 f->run);
    const int odd = check(f, bad, bad, bad, "mistrusted", bad, 0, 0);
    const int fail = check(f, "parity", bad, "parity", "fail", bad, 10, 3);
    element(f, fail, "first", 1, 9, 0.5f, 0x7fc00001u, 0xff800000u, (double)NAN);
    fixture_exec(f->db,
                 "INSERT INTO witness VALUES(%d, %d, 1, %Q, %Q, x'0000003f', x'0100c07f', x'000080ff', " HASH
                 ")",
                 f->run, fail, bad, "{\"attributes\":{\"wi\\\"dth*/\":\"*/\"}}");
    metric(f, odd, "max_ulp", (double)INFINITY, "ulp");
    fixture_exec(f->db, "INSERT INTO selftest VALUES(%d, %Q, %Q, %Q, %Q, %Q, %Q, " HASH ")", f->run, bad, bad,
                 bad, bad, bad, bad);
    finish(f, "incomplete", bad);
}

sqlite3 *fixture_open(const char *path) {
    fixture f = {0};
    char name[1024];
    if (sqlite3_open(path, &f.db) != SQLITE_OK) {
        abort();
    }
    (void)snprintf(name, sizeof name, "%s/evidence/schema.sql", source_dir());
    char *schema = read_file(name);
    fixture_exec(f.db, "PRAGMA synchronous=OFF");
    fixture_exec(f.db, "%s", schema);
    free(schema);
    (void)snprintf(name, sizeof name, "%s/suites/operators/timestep_sinusoid_h3/contract.json", source_dir());
    char *contract = read_file(name);
    fixture_exec(f.db, "BEGIN");
    fixture_exec(f.db, "INSERT INTO contract VALUES(1, '%064x', 'timestep_sinusoid_h3', 1, %Q, " HASH ")",
                 0xc047ac7, contract);
    free(contract);
    state = 1;
    begin_run(&f, FIXTURE_CERTIFIED, "certify", "reference_c", "libm");
    owe(&f);
    parity_suite(&f, 0);
    accuracy_suite(&f, 1);
    invariance_suite(&f, 0);
    other_suites(&f, 0);
    timing_suite(&f, 1, "pass", "");
    finish(&f, "certified", "");
    begin_run(&f, FIXTURE_REFUSED, "certify", "fast_math", "libm");
    owe(&f);
    parity_suite(&f, 0.827);
    accuracy_suite(&f, 9.3);
    invariance_suite(&f, 1);
    other_suites(&f, 1);
    timing_suite(&f, 1.7, "mistrusted", "own time of a batch is below 0.8 of the judge's time");
    finish(&f, "refused", "3 promises are broken: parity, accuracy, invariance");
    prove_run(&f);
    selftest_run(&f);
    hostile_run(&f);
    begin_run(&f, FIXTURE_UNFINISHED, "certify", "hanging", "");
    owe(&f);
    (void)check(&f, "parity", "rows_1", "parity", "pass", "", 256, 0);
    const int hang = check(&f, "parity", "rows_2", "parity", NULL, "", 0, 0);
    fixture_exec(f.db, "INSERT INTO check_start VALUES(%d, %d, 1, 1796094000000, " HASH ")", f.run, hang);
    fixture_exec(f.db, "COMMIT");
    return f.db;
}
