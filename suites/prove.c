/* prove.c - one exhaustive run: plan segments, sweep them, record each in one transaction, end with the root.
 */
#include "prove.h"

#include "clock.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a segment's checks are; a run plans only those that were asked for. */
typedef enum prove_kind { PROVE_DIGEST, PROVE_PARITY, PROVE_ACCURACY, PROVE_KINDS } prove_kind;
static const struct {
    const char *suite, *promise, *relation, *text;
} kinds[PROVE_KINDS] = {
    {"digest", "digest", "measured", "the digest of every output of the domain"},
    {"parity", "parity", "parity",
     "every output of the domain has the bytes of the implementation or tree compared with"},
    {"accuracy", "accuracy", "accuracy",
     "every output of the domain is within the contract's tolerance of the FP64 golden"}};

typedef struct prove_state {
    assay_runner runner;
    assay_domain domain;
    assay_sweep sweep;
    const assay_prove_options *options;
    assay_prove_report *report;
    assay_store *store;
    bool wanted[PROVE_KINDS];
    unsigned wanted_count;
    uint64_t first_tile, tiles, segments;
    assay_tile *tree;            /* digests of this shard's tiles */
    assay_tile_record *recorded; /* the tree compared with, indexed by tile of this shard; NULL when none */
    bool has_root_check;
} prove_state;

/* The attributes of the contract's signature at their defaults. */
static assay_attrs default_attrs(const assay_contract *contract) {
    assay_attrs attrs = {0};
    size_t index = 0;
    const json_t *row = NULL;
    json_array_foreach(json_object_get(json_object_get(contract->root, "signature"), "attributes"), index,
                       row) {
        const json_t *value = json_object_get(row, "default");
        assay_attr a = {.name = json_string_value(json_object_get(row, "name")), .type = ASSAY_ATTR_INT};
        if (json_is_boolean(value)) {
            a.type = ASSAY_ATTR_BOOL;
            a.i = json_is_true(value);
        } else if (json_is_real(value)) {
            a.type = ASSAY_ATTR_FLOAT;
            a.f = json_real_value(value);
        } else {
            a.i = json_integer_value(value);
        }
        if (attrs.count < sizeof attrs.items / sizeof attrs.items[0]) {
            attrs.items[attrs.count++] = a;
        }
    }
    return attrs;
}

static const char *output_name(const assay_contract *contract) {
    const json_t *forward = json_object_get(json_object_get(contract->root, "signature"), "forward");
    return json_string_value(json_object_get(json_array_get(json_object_get(forward, "outputs"), 0), "name"));
}

/* The range of tiles of this shard, cut at segment borders so that shards and the whole run share segments.
 */
static void cut_shard(prove_state *p) {
    uint64_t all = (p->domain.tiles + ASSAY_SEGMENT_TILES - 1) / ASSAY_SEGMENT_TILES;
    uint64_t n = p->options->shards > 1 ? p->options->shards : 1;
    uint64_t first = all * p->options->shard / n;
    uint64_t last = all * (p->options->shard + 1) / n;
    if (p->options->limit_segments != 0 && last - first > p->options->limit_segments) {
        last = first + p->options->limit_segments;
    }
    p->segments = last - first;
    p->first_tile = first * ASSAY_SEGMENT_TILES;
    uint64_t end = last * ASSAY_SEGMENT_TILES;
    p->tiles = (end < p->domain.tiles ? end : p->domain.tiles) - p->first_tile;
}

static int64_t seq_of(const prove_state *p, uint64_t segment, prove_kind kind) {
    unsigned before = 0;
    for (int k = 0; k < (int)kind; k++) {
        before += p->wanted[k];
    }
    return (int64_t)(segment * p->wanted_count + before) + 1;
}

static void describe_segment(const prove_state *p, uint64_t segment, prove_kind kind,
                             assay_plan_record *row) {
    const assay_certify_options *o = &p->options->base;
    uint64_t tile = p->first_tile + segment * ASSAY_SEGMENT_TILES;
    uint64_t end = tile + ASSAY_SEGMENT_TILES < p->first_tile + p->tiles ? tile + ASSAY_SEGMENT_TILES
                                                                         : p->first_tile + p->tiles;
    assay_tile_place a = assay_domain_tile(&p->domain, tile);
    assay_tile_place b = assay_domain_tile(&p->domain, end - 1);
    uint64_t all = (p->domain.tiles + ASSAY_SEGMENT_TILES - 1) / ASSAY_SEGMENT_TILES;
    char shard[32] = ""; /* one segment, when shards can be that small */
    char *name = NULL;
    char *json = NULL;
    char *repro = NULL;
    if (all <= 255) {
        (void)snprintf(shard, sizeof shard, " --shard %u/%u", (unsigned)(tile / ASSAY_SEGMENT_TILES + 1),
                       (unsigned)all);
    }
    if (asprintf(&name, "%s/tiles_%06llu", kinds[kind].suite, (unsigned long long)tile) < 0 ||
        asprintf(&json,
                 "{\"attributes\":{\"check_range\":true,\"max_period\":10000.0,\"width\":%zu},\"dtype\":"
                 "\"f32\",\"first_bits\":\"%08x\","
                 "\"first_tile\":%llu,\"last_bits\":\"%08x\",\"operator\":\"%s\",\"tiles\":%llu}",
                 p->sweep.channels, a.first_bits, (unsigned long long)tile,
                 b.first_bits + (uint32_t)(b.rows - 1), o->op, (unsigned long long)(end - tile)) < 0 ||
        asprintf(&repro, "assay prove --op %s --impl %s%s%s%s%s", o->op, o->impl_name,
                 o->baseline_path != NULL ? " --against " : "",
                 o->baseline_path != NULL ? o->baseline_name : "", p->options->accuracy ? " --accuracy" : "",
                 shard) < 0) {
        abort();
    }
    *row = (assay_plan_record){.suite = kinds[kind].suite,
                               .name = name,
                               .promise = kinds[kind].promise,
                               .case_json = json,
                               .repro = repro,
                               .required = kind != PROVE_DIGEST,
                               .strength = ASSAY_STRENGTH_EXHAUSTIVE};
}

/* What the tree is compared with, as the case of that check; the caller frees. */
static char *against_json(const prove_state *p) {
    const assay_prove_options *o = p->options;
    json_t *json = json_pack("{s:s}", o->against_root != NULL ? "root" : "database",
                             o->against_root != NULL       ? o->against_root
                             : o->against_database != NULL ? o->against_database
                                                           : "");
    char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : strdup("{}"); /* a path may be no UTF-8 */
    json_decref(json);
    if (text == NULL) {
        abort();
    }
    return text;
}

static assay_code begin(prove_state *p, assay_error *error) {
    assay_run_record record;
    assay_knob_record knobs[ASSAY_RUN_KNOBS];
    const assay_pair *pairs = NULL;
    assay_promise_record promises[PROVE_KINDS];
    size_t count = p->segments * p->wanted_count + p->has_root_check;
    assay_plan_record *rows = calloc(count + 1, sizeof *rows);
    if (rows == NULL) {
        abort();
    }
    assay_runner_record(&p->runner, &p->options->base, &record, knobs, &pairs);
    record.promises = promises;
    for (int k = 0; k < PROVE_KINDS; k++) {
        if (p->wanted[k] || (k == PROVE_PARITY && p->has_root_check)) {
            promises[record.promise_count++] = (assay_promise_record){.name = kinds[k].promise,
                                                                      .suite = kinds[k].suite,
                                                                      .relation = kinds[k].relation,
                                                                      .text = kinds[k].text,
                                                                      .required = k != PROVE_DIGEST};
        }
        for (uint64_t s = 0; p->wanted[k] && s < p->segments; s++) {
            describe_segment(p, s, (prove_kind)k, &rows[seq_of(p, s, (prove_kind)k) - 1]);
        }
    }
    char *against = against_json(p);
    if (p->has_root_check) {
        rows[count - 1] = (assay_plan_record){.suite = "parity",
                                              .name = "parity/recorded_tree",
                                              .promise = "parity",
                                              .case_json = against,
                                              .repro = p->options->base.command,
                                              .required = true,
                                              .strength = ASSAY_STRENGTH_EXHAUSTIVE};
    }
    record.plan = rows;
    record.plan_count = count;
    assay_code code = assay_store_run_begin(p->store, &record, &p->report->run_id, p->report->uuid, error);
    for (size_t i = 0; i + p->has_root_check < count; i++) {
        free((void *)(uintptr_t)rows[i].name);
        free((void *)(uintptr_t)rows[i].case_json);
        free((void *)(uintptr_t)rows[i].repro);
    }
    free(against);
    free(rows);
    return code;
}

/* ---- one segment ---- */

static void judge_segment(prove_state *p, const assay_segment *segment, prove_kind kind,
                          assay_result *result) {
    result->elements = segment->outputs;
    if (segment->trouble[0] != '\0') {
        assay_result_set(result, segment->trouble_outcome, "%s", segment->trouble);
        return;
    }
    if (segment->judges_disagree) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR,
                         "the scalar judge disagrees with the fast judge on a slice");
        return;
    }
    result->outcome = ASSAY_OUTCOME_PASS;
    if (kind == PROVE_PARITY) {
        const assay_parity *a = &segment->parity;
        result->bad = a->differing;
        if (p->runner.context.same_binary) {
            assay_result_set(result, ASSAY_OUTCOME_MISTRUSTED, "candidate and baseline are the same binary");
        } else if (!assay_parity_ok(a)) {
            assay_result_set(
                result, ASSAY_OUTCOME_FAIL,
                "%llu of %llu outputs differ, at most %llu ulp; first at input 0x%08x channel %llu: 0x%08x, "
                "want 0x%08x",
                (unsigned long long)a->differing, (unsigned long long)a->elements,
                (unsigned long long)a->max_ulp, assay_sweep_input_bits(&p->sweep, segment, a->first_index),
                (unsigned long long)(a->first_index % p->sweep.channels), a->first_got, a->first_want);
        }
    }
    if (kind == PROVE_ACCURACY) {
        const assay_accuracy *a = &segment->accuracy;
        double bound = p->sweep.tolerance->max_abs;
        result->bad = a->outside;
        if (!assay_accuracy_ok(a)) {
            assay_result_set(result, ASSAY_OUTCOME_FAIL, "%llu of %llu outputs are outside atol %g + rtol %g",
                             (unsigned long long)a->outside, (unsigned long long)a->elements,
                             p->sweep.tolerance->atol, p->sweep.tolerance->rtol);
        } else if (bound > 0.0 && !(a->max_abs <= bound)) {
            result->bad = 1;
            assay_result_set(result, ASSAY_OUTCOME_FAIL, "max abs error %.9g exceeds the bound %.9g",
                             a->max_abs, bound);
        }
    }
}

/* A case whose inputs are the segment's own, so that recorded elements name the right timestep. */
static void record_details(prove_state *p, const assay_segment *segment, prove_kind kind) {
    assay_tile_place place = assay_domain_tile(&p->domain, segment->first_tile);
    assay_check check = {.c = {.attrs = p->sweep.attrs,
                               .dtype = ASSAY_DTYPE_F32,
                               .values = {.kind = ASSAY_VALUES_ALL,
                                          .lo_bits = place.first_bits,
                                          .hi_bits = place.first_bits +
                                                     (uint32_t)(segment->outputs / p->sweep.channels - 1)}}};
    assay_error ignored;
    (void)assay_values_make(&check.c.values, &ignored);
    if (kind == PROVE_PARITY) {
        assay_record_parity(&p->runner.context, &check, &segment->parity);
    } else if (kind == PROVE_ACCURACY) {
        assay_record_accuracy(&p->runner.context, &check, &segment->accuracy);
    }
    bool whole = segment->trouble[0] == '\0'; /* else its tiles would be digests of nothing */
    for (uint64_t i = 0; kind == PROVE_DIGEST && whole && i < segment->tiles; i++) {
        assay_tile_record tile = {.name = "candidate",
                                  .number = segment->first_tile + i,
                                  .rows = assay_domain_tile(&p->domain, segment->first_tile + i).rows,
                                  .sum = {segment->digest[i].sum[0], segment->digest[i].sum[1]}};
        assay_recorder_tile(p->runner.context.recorder, &tile);
    }
}

/* An interrupted run can have recorded some of a segment's checks; the digest comes last. */
static bool finished(prove_state *p, int64_t seq) {
    sqlite3_stmt *s = NULL;
    bool found = false;
    if (p->options->base.resume_run != 0 &&
        sqlite3_prepare_v2(assay_store_handle(p->store),
                           "SELECT 1 FROM check_outcome WHERE run_id = ?1 AND seq = ?2", -1, &s,
                           NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, p->report->run_id);
        (void)sqlite3_bind_int64(s, 2, seq);
        found = sqlite3_step(s) == SQLITE_ROW;
    }
    (void)sqlite3_finalize(s);
    return found;
}

static assay_code record_segment(prove_state *p, const assay_segment *segment, uint64_t number,
                                 uint64_t duration_ns, assay_error *error) {
    for (int k = PROVE_KINDS - 1; k >= 0; k--) {
        assay_result result = {0};
        int64_t seq = seq_of(p, number, (prove_kind)k);
        if (!p->wanted[k] || finished(p, seq)) {
            continue;
        }
        assay_recorder_clear(p->runner.context.recorder);
        judge_segment(p, segment, (prove_kind)k, &result);
        record_details(p, segment, (prove_kind)k);
        assay_check_record record = {.outcome = result.outcome,
                                     .reason = result.reason,
                                     .elements = result.elements,
                                     .bad = result.bad,
                                     .duration_ns = duration_ns};
        assay_recorder_fill(p->runner.context.recorder, &record);
        if (assay_store_check_end(p->store, p->report->run_id, seq, &record, error) != ASSAY_CODE_OK) {
            return error->code;
        }
        const assay_progress *progress = p->options->base.progress;
        if (progress != NULL && progress->trouble != NULL && result.outcome != ASSAY_OUTCOME_PASS) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s/tiles_%06llu", kinds[k].suite,
                           (unsigned long long)segment->first_tile);
            progress->trouble(progress->context, name, result.outcome, result.reason,
                              p->options->base.command);
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code run_segment(prove_state *p, uint64_t number, assay_segment *segment, assay_error *error) {
    memset(segment, 0, sizeof *segment);
    segment->first_tile = p->first_tile + number * ASSAY_SEGMENT_TILES;
    uint64_t left = p->first_tile + p->tiles - segment->first_tile;
    segment->tiles = left < ASSAY_SEGMENT_TILES ? left : ASSAY_SEGMENT_TILES;
    assay_ulp_histogram *histograms = calloc(2, sizeof *histograms);
    if (histograms == NULL) {
        abort();
    }
    segment->parity.histogram = &histograms[0];
    segment->accuracy.histogram = &histograms[1];
    if (p->options->accuracy) {
        segment->accuracy.tolerance =
            (assay_tolerance_f64){p->sweep.tolerance->atol, p->sweep.tolerance->rtol};
    }
    for (int k = 0; k < PROVE_KINDS; k++) {
        int64_t seq = seq_of(p, number, (prove_kind)k);
        if (p->wanted[k] && !finished(p, seq) &&
            assay_store_check_begin(p->store, p->report->run_id, seq, error) != ASSAY_CODE_OK) {
            free(histograms);
            return error->code;
        }
    }
    uint64_t start = assay_clock_ns();
    assay_code code = ASSAY_CODE_OK;
    if (!assay_sweep_segment(&p->sweep, segment, error)) {
        code = error->code;
    } else {
        code = record_segment(p, segment, number, assay_clock_ns() - start, error);
    }
    free(histograms);
    return code;
}

/* Segments that an interrupted run finished: their tiles come from the database. True when segment `number`
 * is there; one that could not be judged has no tiles. */
static bool reload_segment(prove_state *p, uint64_t number, assay_error *error) {
    static const char sql[] = "SELECT number, sums FROM digest_tile WHERE run_id = ?1 AND name = 'candidate'"
                              " AND number >= ?2 AND number < ?3";
    sqlite3_stmt *s = NULL;
    uint64_t first = p->first_tile + number * ASSAY_SEGMENT_TILES;
    uint64_t end = first + ASSAY_SEGMENT_TILES < p->first_tile + p->tiles ? first + ASSAY_SEGMENT_TILES
                                                                          : p->first_tile + p->tiles;
    if (!finished(p, seq_of(p, number, PROVE_DIGEST))) {
        return false;
    }
    if (sqlite3_prepare_v2(assay_store_handle(p->store), sql, -1, &s, NULL) != SQLITE_OK) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "resume: %s",
                         sqlite3_errmsg(assay_store_handle(p->store)));
        return false;
    }
    (void)sqlite3_bind_int64(s, 1, p->report->run_id);
    (void)sqlite3_bind_int64(s, 2, (int64_t)first);
    (void)sqlite3_bind_int64(s, 3, (int64_t)end);
    while (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 1) == 16) {
        memcpy(&p->tree[(uint64_t)sqlite3_column_int64(s, 0) - p->first_tile], sqlite3_column_blob(s, 1), 16);
    }
    (void)sqlite3_finalize(s);
    return true;
}

/* ---- the tree ---- */

static void hash_tree(const prove_state *p, const assay_tile *tiles, char hex[65]) {
    uint8_t root[ASSAY_HASH_BYTES];
    uint8_t(*leaves)[ASSAY_HASH_BYTES] = malloc((size_t)p->tiles * sizeof *leaves);
    if (leaves == NULL) {
        abort();
    }
    for (uint64_t i = 0; i < p->tiles; i++) {
        uint64_t number = p->first_tile + i;
        assay_tile_leaf(&tiles[i], number, assay_domain_tile(&p->domain, number).rows, p->sweep.channels,
                        leaves[i]);
    }
    assay_merkle_root((const uint8_t(*)[ASSAY_HASH_BYTES])leaves, (size_t)p->tiles, root);
    assay_hex(root, sizeof root, hex);
    free(leaves);
}

/* Loads the candidate tree of the latest prove run of another database that covers this shard's tiles. */
static assay_code load_recorded(prove_state *p, assay_error *error) {
    static const char sql[] =
        "SELECT t.number, t.sums FROM digest_tile t WHERE t.name = 'candidate' AND t.run_id ="
        " (SELECT max(d.run_id) FROM digest_tree d JOIN run r ON r.id = d.run_id WHERE d.name = 'candidate'"
        "  AND r.operator = ?1 AND d.row_words = ?2 AND d.tile_rows = ?3 AND d.first_tile <= ?4"
        "  AND d.first_tile + d.tiles >= ?5) AND t.number >= ?4 AND t.number < ?5";
    const char *path = p->options->against_database;
    assay_store *other = NULL;
    sqlite3_stmt *s = NULL;
    uint64_t found = 0;
    if (path == NULL) {
        return ASSAY_CODE_OK;
    }
    if (assay_store_open(path, ASSAY_STORE_READ, &other, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    p->recorded = calloc(p->tiles, sizeof *p->recorded);
    if (sqlite3_prepare_v2(assay_store_handle(other), sql, -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_text(s, 1, p->options->base.op, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(s, 2, (int64_t)p->sweep.channels);
        (void)sqlite3_bind_int64(s, 3, ASSAY_TILE_ROWS);
        (void)sqlite3_bind_int64(s, 4, (int64_t)p->first_tile);
        (void)sqlite3_bind_int64(s, 5, (int64_t)(p->first_tile + p->tiles));
        while (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 1) == 16) {
            memcpy(p->recorded[(uint64_t)sqlite3_column_int64(s, 0) - p->first_tile].sum,
                   sqlite3_column_blob(s, 1), 16);
            found++;
        }
    }
    (void)sqlite3_finalize(s);
    assay_store_close(other);
    if (found != p->tiles) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "--against %s: holds no digest tree of %s that covers these %llu tiles", path,
                          p->options->base.op, (unsigned long long)p->tiles);
    }
    return ASSAY_CODE_OK;
}

static assay_code compare_tree(prove_state *p, assay_error *error) {
    assay_prove_report *r = p->report;
    assay_result result = {.outcome = ASSAY_OUTCOME_PASS, .elements = r->outputs};
    int64_t seq = (int64_t)(p->segments * p->wanted_count) + 1;
    if (!p->has_root_check) {
        return ASSAY_CODE_OK;
    }
    if (assay_store_check_begin(p->store, r->run_id, seq, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    for (uint64_t i = 0; p->recorded != NULL && r->unswept == 0 && i < p->tiles; i++) {
        if (memcmp(p->recorded[i].sum, p->tree[i].sum, sizeof p->tree[i].sum) != 0 &&
            r->tiles_differing++ == 0) {
            r->first_differing_tile = p->first_tile + i;
        }
    }
    if (r->unswept > 0) {
        assay_result_set(&result, ASSAY_OUTCOME_ERROR,
                         "%llu of %llu segments could not be judged, so there is no tree to compare",
                         (unsigned long long)r->unswept, (unsigned long long)p->segments);
    } else if (p->options->against_root != NULL && strcasecmp(p->options->against_root, r->root) != 0) {
        r->root_differs = true;
        result.bad = 1;
        assay_result_set(&result, ASSAY_OUTCOME_FAIL, "root %s, want %s", r->root, p->options->against_root);
    } else if (r->tiles_differing > 0) {
        r->root_differs = true;
        result.bad = r->tiles_differing;
        assay_tile_place place = assay_domain_tile(&p->domain, r->first_differing_tile);
        assay_result_set(&result, ASSAY_OUTCOME_FAIL,
                         "%llu of %llu tiles differ, first tile %llu (inputs from 0x%08x on)",
                         (unsigned long long)r->tiles_differing, (unsigned long long)p->tiles,
                         (unsigned long long)r->first_differing_tile, place.first_bits);
    }
    assay_check_record record = {
        .outcome = result.outcome, .reason = result.reason, .elements = result.elements, .bad = result.bad};
    return assay_store_check_end(p->store, r->run_id, seq, &record, error);
}

/* What the segments' digests say: outputs judged, and segments that could not be. */
static assay_code count_swept(prove_state *p, assay_error *error) {
    assay_prove_report *r = p->report;
    sqlite3_stmt *s = NULL;
    assay_code code = ASSAY_CODE_INTERNAL;
    if (sqlite3_prepare_v2(assay_store_handle(p->store),
                           "SELECT coalesce(sum(elements) FILTER (WHERE outcome = 'pass'), 0),"
                           " sum(outcome <> 'pass') FROM checks WHERE run_id = ?1 AND suite = 'digest'",
                           -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, r->run_id);
        if (sqlite3_step(s) == SQLITE_ROW) {
            r->outputs = (uint64_t)sqlite3_column_int64(s, 0);
            r->unswept = (uint64_t)sqlite3_column_int64(s, 1);
            code = ASSAY_CODE_OK;
        }
    }
    if (code != ASSAY_CODE_OK) {
        (void)assay_fail(error, code, "counting segments: %s", sqlite3_errmsg(assay_store_handle(p->store)));
    }
    (void)sqlite3_finalize(s);
    return code;
}

static void count_checks(prove_state *p) {
    assay_prove_report *r = p->report;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(
            assay_store_handle(p->store),
            "SELECT coalesce(sum(bad) FILTER (WHERE suite = 'parity' AND name <> 'parity/recorded_tree'), 0),"
            " coalesce(sum(bad) FILTER (WHERE suite = 'accuracy'), 0), sum(outcome = 'fail'),"
            " sum(outcome NOT IN ('pass', 'fail')) FROM checks WHERE run_id = ?1",
            -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, r->run_id);
        if (sqlite3_step(s) == SQLITE_ROW) {
            r->differing = (uint64_t)sqlite3_column_int64(s, 0);
            r->outside = (uint64_t)sqlite3_column_int64(s, 1);
            r->failed = (uint64_t)sqlite3_column_int64(s, 2);
            r->unjudged = (uint64_t)sqlite3_column_int64(s, 3);
        }
    }
    (void)sqlite3_finalize(s);
}

/* A tree with holes would be a root of nothing: it is neither stored nor printed nor compared. */
static assay_code end(prove_state *p, assay_error *error) {
    assay_prove_report *r = p->report;
    uint64_t rows = 0;
    for (uint64_t i = 0; i < p->tiles; i++) {
        rows += assay_domain_tile(&p->domain, p->first_tile + i).rows;
    }
    r->tiles = p->tiles;
    if (count_swept(p, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    r->complete = p->tiles == p->domain.tiles && r->unswept == 0;
    if (r->unswept == 0) {
        hash_tree(p, p->tree, r->root);
    }
    assay_tree_record tree = {.name = "candidate",
                              .tile_rows = ASSAY_TILE_ROWS,
                              .row_words = p->sweep.channels,
                              .rows = rows,
                              .tiles = p->tiles,
                              .first_tile = p->first_tile,
                              .all_tiles = p->domain.tiles,
                              .root = r->root};
    const char *changed = assay_run_files_changed(&p->runner);
    r->changed = changed != NULL;
    if (compare_tree(p, error) != ASSAY_CODE_OK ||
        (r->unswept == 0 && assay_store_tree(p->store, r->run_id, &tree, error) != ASSAY_CODE_OK) ||
        (r->changed &&
         assay_store_note(p->store, r->run_id, ASSAY_KEY_CHANGED, changed, error) != ASSAY_CODE_OK) ||
        assay_store_run_end(p->store, r->run_id, &r->verdict, r->reason, sizeof r->reason, error) !=
            ASSAY_CODE_OK) {
        return error->code;
    }
    count_checks(p);
    return ASSAY_CODE_OK;
}

static assay_code sweep_all(prove_state *p, assay_error *error) {
    const assay_progress *progress = p->options->base.progress;
    assay_segment *segment = malloc(sizeof *segment);
    assay_code code = ASSAY_CODE_OK;
    if (segment == NULL) {
        abort();
    }
    for (uint64_t s = 0; s < p->segments && code == ASSAY_CODE_OK; s++) {
        uint64_t begin_tile = s * ASSAY_SEGMENT_TILES;
        if (progress != NULL && progress->step != NULL) {
            progress->step(progress->context, s, p->segments, "tiles");
        }
        if (p->options->base.resume_run != 0 && reload_segment(p, s, error)) {
            continue;
        }
        code = run_segment(p, s, segment, error);
        for (uint64_t i = 0; code == ASSAY_CODE_OK && i < segment->tiles; i++) {
            p->tree[begin_tile + i] = segment->digest[i];
        }
    }
    free(segment);
    return code;
}

/* A resumed run must have been started with the same files, shard and comparison. */
static assay_code resume(prove_state *p, assay_error *error) {
    static const char sql[] =
        "SELECT uuid, kind = 'prove' AND operator = ?2 AND"
        " (SELECT count(*) FROM check_plan c WHERE c.run_id = run.id) = ?3 AND"
        " (SELECT name FROM check_plan c WHERE c.run_id = run.id AND c.seq = ?4) = ?5 AND"
        " coalesce((SELECT case_json FROM check_plan c WHERE c.run_id = run.id AND c.name = "
        "'parity/recorded_tree'), ?6) = ?6,"
        " EXISTS(SELECT 1 FROM run_result f WHERE f.run_id = run.id) FROM run WHERE id = ?1";
    const assay_certify_options *o = &p->options->base;
    /* The last kind's first segment: its name says which kinds were asked for and where the shard starts. */
    prove_kind last = p->options->accuracy ? PROVE_ACCURACY : p->sweep.parity ? PROVE_PARITY : PROVE_DIGEST;
    char name[64];
    char *against = against_json(p);
    sqlite3_stmt *s = NULL;
    assay_code code = ASSAY_CODE_OK;
    (void)snprintf(name, sizeof name, "%s/tiles_%06llu", kinds[last].suite,
                   (unsigned long long)p->first_tile);
    if (sqlite3_prepare_v2(assay_store_handle(p->store), sql, -1, &s, NULL) != SQLITE_OK) {
        free(against);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "resume: %s",
                          sqlite3_errmsg(assay_store_handle(p->store)));
    }
    (void)sqlite3_bind_int64(s, 1, o->resume_run);
    (void)sqlite3_bind_text(s, 2, o->op, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 3, (int64_t)(p->segments * p->wanted_count + p->has_root_check));
    (void)sqlite3_bind_int64(s, 4, seq_of(p, 0, last));
    (void)sqlite3_bind_text(s, 5, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 6, against, -1, SQLITE_STATIC);
    if (sqlite3_step(s) != SQLITE_ROW) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "--resume %lld: no such run", (long long)o->resume_run);
    } else if (sqlite3_column_int(s, 2) != 0) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "--resume %lld: the run is already finished",
                          (long long)o->resume_run);
    } else if (sqlite3_column_int(s, 1) != 1) {
        code =
            assay_fail(error, ASSAY_CODE_USAGE,
                       "--resume %lld: that run proves another operator or shard, or against something else",
                       (long long)o->resume_run);
    } else if (assay_run_files_resumable(&p->runner, p->store, o->resume_run, error) != ASSAY_CODE_OK) {
        code = error->code;
    } else {
        p->report->run_id = o->resume_run;
        (void)snprintf(p->report->uuid, sizeof p->report->uuid, "%s",
                       (const char *)sqlite3_column_text(s, 0));
    }
    (void)sqlite3_finalize(s);
    free(against);
    return code;
}

static assay_code prepare(prove_state *p, assay_error *error) {
    const assay_prove_options *o = p->options;
    if (assay_domain_read(p->runner.contract, &p->domain, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    p->sweep = (assay_sweep){.runner = &p->runner,
                             .domain = &p->domain,
                             .attrs = default_attrs(p->runner.contract),
                             .parity = o->base.baseline_path != NULL,
                             .accuracy = o->accuracy};
    p->sweep.channels = p->runner.context.op->channels(&p->sweep.attrs);
    p->sweep.tolerance = assay_contract_tolerance(p->runner.contract, output_name(p->runner.contract),
                                                  ASSAY_DTYPE_F32, "accuracy");
    if (o->accuracy && p->sweep.tolerance == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "operator %s: its contract has no accuracy tolerance",
                          o->base.op);
    }
    p->wanted[PROVE_DIGEST] = true;
    p->wanted[PROVE_PARITY] = p->sweep.parity;
    p->wanted[PROVE_ACCURACY] = o->accuracy;
    p->wanted_count = 1U + p->sweep.parity + o->accuracy;
    p->has_root_check = o->against_root != NULL || o->against_database != NULL;
    cut_shard(p);
    if (p->segments == 0) {
        return assay_fail(
            error, ASSAY_CODE_USAGE, "--shard %u/%u: the shard is empty (the domain has %llu segments)",
            o->shard + 1, o->shards,
            (unsigned long long)((p->domain.tiles + ASSAY_SEGMENT_TILES - 1) / ASSAY_SEGMENT_TILES));
    }
    p->tree = calloc(p->tiles, sizeof *p->tree);
    if (p->tree == NULL) {
        abort();
    }
    return load_recorded(p, error);
}

assay_code assay_prove(assay_store *store, const assay_prove_options *options, assay_prove_report *report,
                       assay_error *error) {
    prove_state *p = calloc(1, sizeof *p);
    memset(report, 0, sizeof *report);
    if (p == NULL) {
        abort();
    }
    p->options = options;
    p->report = report;
    p->store = store;
    if (assay_runner_open(&p->runner, &options->base, false, error) != ASSAY_CODE_OK) {
        free(p);
        return error->code;
    }
    assay_code code = prepare(p, error);
    if (code == ASSAY_CODE_OK && store == NULL) {
        code = options->base.open_store(options->base.open_context, &p->store, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = options->base.resume_run != 0 ? resume(p, error) : begin(p, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = sweep_all(p, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = end(p, error);
    }
    free(p->tree);
    free(p->recorded);
    assay_runner_close(&p->runner);
    free(p);
    return code;
}
