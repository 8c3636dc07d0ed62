/* Shards of synthetic tiles: merged, the root is that of the unsharded run; whatever does not fit is refused
 * by name. */
#include "digest.h"
#include "test_common.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(merge, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

#define ALL   11u
#define WORDS 256u

static test_lines lines;

/* Two intervals: each ends with a short tile, the first of them in the middle of the tree. */
static uint64_t tile_rows(uint64_t number) {
    return number == ALL - 1 ? 77 : number == 6 ? 1 : 65536;
}

static assay_tile_record tile_at(const char *name, uint64_t number) {
    const uint64_t salt = (uint64_t)name[0];
    return (assay_tile_record){name, number, tile_rows(number), {number * 1000003u + salt, ~number * salt}};
}

static void root_of(const char *name, uint64_t first, uint64_t tiles, char hex[65]) {
    uint8_t leaves[ALL][32], root[32];
    for (uint64_t i = 0; i < tiles; i++) {
        const assay_tile_record r = tile_at(name, first + i);
        const assay_tile tile = {{r.sum[0], r.sum[1]}};
        assay_tile_leaf(&tile, first + i, r.rows, WORDS, leaves[i]);
    }
    assay_merkle_root((const uint8_t(*)[32])leaves, tiles, root);
    assay_hex(root, 32, hex);
}

static void record_tree(assay_store *store, int64_t id, const char *name, uint64_t first, uint64_t tiles) {
    assay_error error = {0};
    char root[65];
    uint64_t rows = 0;
    root_of(name, first, tiles, root);
    for (uint64_t i = 0; i < tiles; i++) {
        rows += tile_rows(first + i);
    }
    const assay_tree_record tree = {name, 65536, WORDS, rows, tiles, first, ALL, root};
    cr_assert_eq(assay_store_tree(store, id, &tree, &error), ASSAY_CODE_OK, "%s", error.text);
}

/* A finished shard [first, first + tiles) of a prove run, derived from `base`. */
static void record_shard(const char *path, const assay_run_record *base, uint64_t first, uint64_t tiles) {
    assay_error error = {0};
    int64_t id = 0;
    char uuid[33];
    assay_verdict verdict;
    assay_run_record run = *base;
    assay_tile_record rows[2 * ALL];
    run.kind = "prove";
    run.plan_count = 2;
    assay_store *store = test_open(path, ASSAY_STORE_WRITE);
    cr_assert_eq(assay_store_run_begin(store, &run, &id, uuid, &error), ASSAY_CODE_OK, "%s", error.text);
    for (int64_t seq = 1; seq <= 2; seq++) {
        assay_check_record record = test_check_full;
        record.tiles = rows;
        record.tile_count = seq == 1 ? 2 * tiles : 0;
        for (uint64_t i = 0; i < tiles; i++) {
            rows[2 * i] = tile_at("candidate", first + i);
            rows[2 * i + 1] = tile_at("against", first + i);
        }
        cr_assert_eq(assay_store_check_begin(store, id, seq, &error), ASSAY_CODE_OK, "%s", error.text);
        cr_assert_eq(assay_store_check_end(store, id, seq, &record, &error), ASSAY_CODE_OK, "%s", error.text);
    }
    record_tree(store, id, "candidate", first, tiles);
    record_tree(store, id, "against", first, tiles);
    cr_assert_eq(assay_store_run_end(store, id, &verdict, NULL, 0, &error), ASSAY_CODE_OK, "%s", error.text);
    assay_store_close(store);
}

static assay_code merge(const char *target, const char *const *sources, size_t count, char root[65],
                        int64_t *id, assay_error *error) {
    root[0] = '\0';
    return assay_merge_shards(target, sources, count, root, id, error);
}

Test(merge, three_shards_give_the_root_of_the_whole) {
    assay_error error = {0};
    char root[65], again[65], whole[65], name[128];
    int64_t id = 0, second = 0;
    const char *sources[] = {scratch("c.db"), scratch("a.db"), scratch("b.db"), scratch("b.db")};
    const char *target = scratch("merged.db");
    record_shard(sources[1], &test_run, 0, 4);
    record_shard(sources[2], &test_run, 4, 3);
    record_shard(sources[0], &test_run, 7, 4);
    cr_assert_eq(merge(target, sources, 4, root, &id, &error), ASSAY_CODE_OK, "%s", error.text);
    root_of("against", 0, ALL, whole); /* the first tree by name is reported */
    cr_expect_str_eq(root, whole);
    root_of("candidate", 0, ALL, whole);
    (void)snprintf(name, sizeof name, "SELECT root='%s' FROM digest_tree WHERE name='candidate'", whole);
    cr_expect_str_eq(raw_text(target, name), "1");
    cr_expect_str_eq(raw_text(target, "SELECT count(*) FROM checks WHERE outcome='pass'"), "6");
    cr_expect_str_eq(raw_text(target, "SELECT name FROM checks WHERE seq=3"), "parity/a/tiles_4");
    cr_expect_str_eq(raw_text(target, "SELECT count(*) FROM metric"), "30");
    cr_expect_str_eq(raw_text(target, "SELECT verdict FROM runs"), "incomplete");
    cr_expect_eq(test_verify(target, &lines), ASSAY_CODE_OK, "%s", lines.text);
    cr_assert_eq(merge(target, sources, 3, again, &second, &error), ASSAY_CODE_OK, "%s", error.text);
    cr_expect_eq(second, id);
    cr_expect_str_eq(again, root);
    cr_expect_str_eq(raw_text(target, "SELECT count(*) FROM run"), "1");
}

Test(merge, the_target_may_be_a_source) {
    assay_error error = {0};
    char root[65], whole[65];
    int64_t id = 0;
    const char *path = scratch("a.db");
    record_shard(path, &test_run, 4, 7);
    record_shard(path, &test_run, 0, 4);
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(merge(path, &path, 1, root, &id, &error), ASSAY_CODE_OK, "%s", error.text);
        cr_expect_eq(id, 3);
        root_of("against", 0, ALL, whole);
        cr_expect_str_eq(root, whole);
    }
    cr_expect_eq(test_verify(path, &lines), ASSAY_CODE_OK, "%s", lines.text);
}

Test(merge, one_whole_run_is_one_shard) {
    assay_error error = {0};
    char root[65], whole[65];
    int64_t id = 0;
    const char *path = scratch("a.db");
    record_shard(path, &test_run, 0, ALL);
    cr_assert_eq(merge(scratch("b.db"), &path, 1, root, &id, &error), ASSAY_CODE_OK, "%s", error.text);
    root_of("against", 0, ALL, whole);
    cr_expect_str_eq(root, whole);
}

static const assay_binary_record other_binary[] = {
    {"candidate", "/opt/y.so", "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9", 1}};
static const assay_knob_record other_knob[] = {{"candidate", "tf32", "on", "off"}};

/* Cases by index: what differs in the second shard, and what the message must say. */
static assay_run_record second_shard(size_t which) {
    assay_run_record run = test_run;
    if (which == 0) {
        run.contract_sha256 =
            "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"; /* SHA-256 of "0" */
        run.contract_text = "0";
    } else if (which == 1) {
        run.binaries = other_binary;
    } else if (which == 2) {
        run.seed = 5;
    } else if (which == 3) {
        run.knobs = other_knob;
    } else if (which == 4) {
        run.promise_count = 1;
    }
    return run;
}

static const struct {
    uint64_t first, tiles;
    const char *says;
} conflicts[] = {
    {4, 7, "different contracts"},
    {4, 7, "different candidate binaries"},
    {4, 7, "different seeds"},
    {4, 7, "different knobs"},
    {4, 7, "different promises"},
    {3, 8, "overlap: both have tile 3"},
    {0, 4, "overlap: both have tile 0"},
    {5, 6, "tiles 4..4 of 11 are missing, between"},
    {4, 6, "tiles 10..10 of 11 are missing"},
};

Test(merge, conflicts_are_refused_and_both_sides_are_named) {
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        assay_error error = {0};
        char root[65], a[16], b[16];
        int64_t id = 0;
        (void)snprintf(a, sizeof a, "a%zu.db", i);
        (void)snprintf(b, sizeof b, "b%zu.db", i);
        const char *sources[] = {scratch(a), scratch(b)};
        const assay_run_record second = second_shard(i);
        record_shard(sources[0], &test_run, 0, 4);
        record_shard(sources[1], &second, conflicts[i].first, conflicts[i].tiles);
        cr_expect_eq(merge(scratch("target.db"), sources, 2, root, &id, &error), ASSAY_CODE_USAGE, "case %zu",
                     i);
        cr_expect_not_null(strstr(error.text, conflicts[i].says), "case %zu: %s", i, error.text);
        cr_expect_not_null(strstr(error.text, b), "case %zu does not name %s: %s", i, b, error.text);
        cr_expect(strstr(error.text, a) != NULL || i == 8, "case %zu does not name %s: %s", i, a, error.text);
    }
}

Test(merge, unverifiable_and_unsuitable_sources_are_refused) {
    assay_error error = {0};
    char root[65];
    int64_t id = 0;
    const char *path = scratch("a.db");
    record_shard(path, &test_run, 0, ALL);
    cr_assert_eq(
        raw_exec(
            path,
            "DROP TRIGGER digest_tile_no_update; UPDATE digest_tile SET sums=zeroblob(16) WHERE number=3"),
        SQLITE_OK);
    cr_expect_eq(merge(scratch("t.db"), &path, 1, root, &id, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "does not verify"), "%s", error.text);
    const char *plain = scratch("plain.db");
    test_full_database(plain);
    cr_expect_eq(merge(scratch("t.db"), &plain, 1, root, &id, &error), ASSAY_CODE_USAGE);
    cr_expect_not_null(strstr(error.text, "no finished prove run"), "%s", error.text);
    cr_expect_eq(merge(scratch("t.db"), NULL, 0, root, &id, &error), ASSAY_CODE_USAGE);
    cr_expect_str_eq(raw_text(plain, "SELECT count(*) FROM run"), "1");
}
