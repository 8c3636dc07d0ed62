#include "test_common.h"
#include "digest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

void scratch_enter(void) {
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/assay-evidence-XXXXXX", base != NULL ? base : "/tmp");
    cr_assert_not_null(mkdtemp(folder));
}

void scratch_leave(void) {
    char command[640];
    (void)snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -rf '%s'", folder, folder);
    cr_assert_eq(system(command), 0);
}

const char *scratch(const char *name) {
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const assay_pair provenance[] = {{"assay.dirty", "no"},
                                        {"candidate.dirty", "no"},
                                        {"cpu.model", "a processor"},
                                        {"env.CUDA_VISIBLE_DEVICES", ""}};
static const assay_binary_record binaries[] = {{"candidate", "/opt/x/libcand.so", TEST_SHA, 12345}};
static const assay_knob_record knobs[] = {{"candidate", "tf32", "on", "on"}};
static const assay_promise_record promises[] = {
    {"parity", "parity", "parity", "bytes equal to the provider", true},
    {"timing", "timing", "measured", "timing is measured", false},
};
static const assay_plan_record plan[] = {
    {"parity", "parity/a", "parity", "{\"rows\":1}", "assay run --check parity/a", true,
     ASSAY_STRENGTH_EXHAUSTIVE},
    {"parity", "parity/b", "parity", "{\"rows\":2}", "assay run --check parity/b", true,
     ASSAY_STRENGTH_SAMPLED},
    {"timing", "timing/x", "timing", "{\"rows\":3}", "assay run --check timing/x", false,
     ASSAY_STRENGTH_SAMPLED},
};

const assay_run_record test_run = {.kind = "certify",
                                   .operator_name = "timestep_sinusoid_h3",
                                   .implementation = "libcand",
                                   .baseline = "libm",
                                   .device = "cpu",
                                   .tier = "default",
                                   .command = "assay certify --op x",
                                   .seed = 0xffffffffffffff01u,
                                   .contract_sha256 = TEST_SHA,
                                   .contract_text = "test", /* TEST_SHA is its SHA-256 */
                                   .contract_version = 7,
                                   .provenance = provenance,
                                   .provenance_count = 4,
                                   .binaries = binaries,
                                   .binary_count = 1,
                                   .knobs = knobs,
                                   .knob_count = 1,
                                   .promises = promises,
                                   .promise_count = 2,
                                   .plan = plan,
                                   .plan_count = 3};

static const assay_metric_record metrics[] = {{"max_ulp", "ulp", 1.5},
                                              {"zero", "", -0.0},
                                              {"whole", "", 3.0},
                                              {"nan", "", (double)__builtin_nan("")},
                                              {"inf", "", (double)__builtin_inf()}};
static const assay_histogram_record histogram[] = {{"parity", 127, -3, 17}, {"parity", 127, 0, 5000000000u}};
static const assay_element_record elements[] = {
    {"first", 1, 3, 17, 0x3f800000u, 0xbf800000u, 0x3f800001u, false, 0.0, 1.0},
    {"worst", 1, 4, 18, 0x3f800000u, 0xffffffffu, 0x7fc00000u, true, -0.25, (double)__builtin_inf()}};
static const assay_profile_record profile[] = {{"candidate", 0, 0.5, 1e-8, -0.0, 2.0}};
static const uint64_t samples[] = {100, 0, UINT64_C(18446744073709551615)};
static const uint32_t positions[] = {0, 1, 4294967295u};
static const assay_series_record series[] = {
    {"candidate", "forward", "host", "", 64, 65536, 10, samples, positions, 3},
    {"floor", "floor", "host", "throttled", 0, 0, 1, samples, positions, 0}};
static const assay_witness_record witnesses[] = {{"got 0x0 want 0x1", "{}", "abcd", "efgh", "", 4, 4, 0}};
static const assay_tile_record tiles[] = {{"candidate", 0, 65536, {1, 2}},
                                          {"candidate", 1, 10, {UINT64_MAX, 4}}};

const assay_check_record test_check_full = {.outcome = ASSAY_OUTCOME_PASS,
                                            .reason = "",
                                            .elements = 1000,
                                            .duration_ns = 12345,
                                            .metrics = metrics,
                                            .metric_count = 5,
                                            .histogram = histogram,
                                            .histogram_count = 2,
                                            .element = elements,
                                            .element_count = 2,
                                            .profile = profile,
                                            .profile_count = 1,
                                            .series = series,
                                            .series_count = 2,
                                            .witnesses = witnesses,
                                            .witness_count = 1,
                                            .tiles = tiles,
                                            .tile_count = 2};
const assay_check_record test_check_pass = {.outcome = ASSAY_OUTCOME_PASS, .reason = "", .elements = 10};

assay_store *test_open(const char *path, assay_store_mode mode) {
    assay_store *store = NULL;
    assay_error error = {0};
    cr_assert_eq(assay_store_open(path, mode, &store, &error), ASSAY_CODE_OK, "%s", error.text);
    return store;
}

assay_verdict test_finished_run(const char *path, const assay_run_record *run,
                                const assay_outcome outcomes[3]) {
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33], reason[256];
    assay_verdict verdict = ASSAY_VERDICT_COUNT;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    for (int64_t seq = 1; seq <= 3; seq++) {
        if (outcomes[seq - 1] == ASSAY_OUTCOME_NOT_RUN) {
            continue;
        }
        assay_check_record record = test_check_pass;
        record.outcome = outcomes[seq - 1];
        record.reason = record.outcome == ASSAY_OUTCOME_PASS ? "" : "a reason";
        cr_assert_eq(assay_store_check_begin(store, id, seq, &error), ASSAY_CODE_OK, "%s", error.text);
        cr_assert_eq(assay_store_check_end(store, id, seq, &record, &error), ASSAY_CODE_OK, "%s", error.text);
    }
    cr_assert_eq(assay_store_run_end(store, id, &verdict, reason, sizeof reason, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    assay_store_close(store);
    return verdict;
}

void test_full_database(const char *path) {
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33], reason[256], root_text[65];
    uint8_t leaves[2][32], root[32];
    assay_verdict verdict = ASSAY_VERDICT_COUNT;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &test_run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    for (int64_t seq = 1; seq <= 3; seq++) {
        cr_assert_eq(assay_store_check_begin(store, id, seq, &error), ASSAY_CODE_OK, "%s", error.text);
        cr_assert_eq(
            assay_store_check_end(store, id, seq, seq == 1 ? &test_check_full : &test_check_pass, &error),
            ASSAY_CODE_OK, "%s", error.text);
    }
    for (int i = 0; i < 2; i++) {
        const assay_tile tile = {{tiles[i].sum[0], tiles[i].sum[1]}};
        assay_tile_leaf(&tile, (uint64_t)i, tiles[i].rows, 256, leaves[i]);
    }
    assay_merkle_root((const uint8_t(*)[32])leaves, 2, root);
    assay_hex(root, 32, root_text);
    const assay_tree_record tree = {"candidate", 65536, 256, 65546, 2, 0, 2, root_text};
    cr_assert_eq(assay_store_tree(store, id, &tree, &error), ASSAY_CODE_OK, "%s", error.text);
    const assay_selftest_record selftest = {"m1", "mutant", "parity", "caught", "fail", ""};
    cr_assert_eq(assay_store_selftest(store, id, &selftest, 1, &error), ASSAY_CODE_OK, "%s", error.text);
    /* stage and fixture have no writer yet: their rows go through the same insertion. */
    const assay_value stage[] = {assay_v_int(id), assay_v_int(id), assay_v_int(1), assay_v_text("first"),
                                 assay_v_text("isolated")};
    const assay_value fixture[] = {assay_v_int(id),   assay_v_int(id),         assay_v_int(id),
                                   assay_v_text("f"), assay_v_text("up@abcd"), assay_v_text(TEST_SHA)};
    cr_assert_eq(assay_row_insert(store, ASSAY_TABLE_stage, stage, 5, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(assay_row_insert(store, ASSAY_TABLE_fixture, fixture, 6, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(assay_store_run_end(store, id, &verdict, reason, sizeof reason, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_eq(verdict, ASSAY_VERDICT_CERTIFIED, "%s", reason);
    assay_store_close(store);
}

int raw_exec(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    char *message = NULL;
    int rc = sqlite3_open(path, &db);
    if (rc == SQLITE_OK) {
        (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        rc = sqlite3_exec(db, sql, NULL, NULL, &message);
    }
    if (rc != SQLITE_OK && message != NULL) {
        cr_log_info("raw_exec: %s", message);
    }
    sqlite3_free(message);
    (void)sqlite3_close(db);
    return rc;
}

const char *raw_text(const char *path, const char *sql) {
    static char text[8192];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    text[0] = '\0';
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        (void)snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(stmt, 0));
    }
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return text;
}

void test_say(void *context, const char *line) {
    test_lines *lines = context;
    const size_t n = strlen(line);
    lines->count++;
    if (lines->bytes + n + 2 < sizeof lines->text) {
        memcpy(lines->text + lines->bytes, line, n);
        lines->bytes += n;
        lines->text[lines->bytes++] = '\n';
        lines->text[lines->bytes] = '\0';
    }
}

assay_code test_verify(const char *path, test_lines *lines) {
    assay_error error = {0};
    assay_verify_report report = {0};
    lines->count = lines->bytes = 0;
    lines->text[0] = '\0';
    const assay_code code = assay_verify_database(path, test_say, lines, &report, &error);
    if (code != ASSAY_CODE_OK && code != ASSAY_CODE_REFUSED) {
        test_say(lines, error.text);
    }
    return code;
}
