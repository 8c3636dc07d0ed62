/* prove_plan.c - the plan of an exhaustive run: shards, segments, what each check is, and the return to an
 * interrupted run. */
#include "prove_internal.h"

#include "direct.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const prove_kind_text assay_prove_kinds[PROVE_KINDS] = {
    {"digest", "digest", "measured", "the digest of every output of the domain"},
    {"parity", "parity", "parity",
     "every output of the domain has the bytes of the implementation or tree compared with"},
    {"accuracy", "accuracy", "accuracy",
     "every output of the domain is within the contract's tolerance of the FP64 golden"}};

void assay_prove_cut_shard(prove_state *p) {
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

int64_t assay_prove_seq(const prove_state *p, uint64_t segment, prove_kind kind) {
    unsigned before = 0;
    for (int k = 0; k < (int)kind; k++) {
        before += p->wanted[k];
    }
    return (int64_t)(segment * p->wanted_count + before) + 1;
}

uint64_t assay_prove_segment_end(const prove_state *p, uint64_t segment) {
    uint64_t end = p->first_tile + (segment + 1) * ASSAY_SEGMENT_TILES;
    return end < p->first_tile + p->tiles ? end : p->first_tile + p->tiles;
}

int64_t assay_prove_root_seq(const prove_state *p) {
    return (int64_t)(p->segments * p->wanted_count) + 1;
}

/* The inputs of tiles [tile, end) as a case; the caller frees. */
static char *segment_json(const prove_state *p, uint64_t tile, uint64_t end) {
    assay_tile_place a = assay_domain_tile(&p->domain, tile);
    assay_tile_place b = assay_domain_tile(&p->domain, end - 1);
    char first[16];
    char last[16];
    (void)snprintf(first, sizeof first, "%08x", a.first_bits);
    (void)snprintf(last, sizeof last, "%08x", b.first_bits + (uint32_t)(b.rows - 1));
    json_t *json = json_pack(
        "{s:o, s:s, s:s, s:I, s:s, s:s, s:I}", "attributes", assay_direct_attrs_json(&p->sweep.attrs),
        "dtype", assay_dtype_text(ASSAY_DTYPE_F32), "first_bits", first, "first_tile", (json_int_t)tile,
        "last_bits", last, "operator", p->options->base.op, "tiles", (json_int_t)(end - tile));
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(json);
    if (text == NULL) {
        abort();
    }
    return text;
}

static void describe_segment(const prove_state *p, uint64_t segment, prove_kind kind,
                             assay_plan_record *row) {
    const assay_certify_options *o = &p->options->base;
    uint64_t tile = p->first_tile + segment * ASSAY_SEGMENT_TILES;
    uint64_t end = assay_prove_segment_end(p, segment);
    uint64_t all = (p->domain.tiles + ASSAY_SEGMENT_TILES - 1) / ASSAY_SEGMENT_TILES;
    bool against = o->baseline_path != NULL;
    char *impl = assay_text_shell(o->impl_name);
    char *other = assay_text_shell(against ? o->baseline_name : "");
    char shard[32] = ""; /* one segment, when shards can be that small */
    char *name = NULL;
    char *repro = NULL;
    if (all <= 255) {
        (void)snprintf(shard, sizeof shard, " --shard %u/%u", (unsigned)(tile / ASSAY_SEGMENT_TILES + 1),
                       (unsigned)all);
    }
    if (asprintf(&name, "%s/tiles_%06llu", assay_prove_kinds[kind].suite, (unsigned long long)tile) < 0 ||
        asprintf(&repro, "assay prove --op %s --impl %s%s%s%s%s", o->op, impl, against ? " --against " : "",
                 against ? other : "", p->options->accuracy ? " --accuracy" : "", shard) < 0) {
        abort();
    }
    free(impl);
    free(other);
    *row = (assay_plan_record){.suite = assay_prove_kinds[kind].suite,
                               .name = name,
                               .promise = assay_prove_kinds[kind].promise,
                               .case_json = segment_json(p, tile, end),
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

assay_code assay_prove_begin(prove_state *p, assay_error *error) {
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
            promises[record.promise_count++] =
                (assay_promise_record){.name = assay_prove_kinds[k].promise,
                                       .suite = assay_prove_kinds[k].suite,
                                       .relation = assay_prove_kinds[k].relation,
                                       .text = assay_prove_kinds[k].text,
                                       .required = k != PROVE_DIGEST};
        }
        for (uint64_t s = 0; p->wanted[k] && s < p->segments; s++) {
            describe_segment(p, s, (prove_kind)k, &rows[assay_prove_seq(p, s, (prove_kind)k) - 1]);
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

bool assay_prove_finished(const prove_state *p, int64_t seq) {
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

assay_code assay_prove_resume(prove_state *p, assay_error *error) {
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
    (void)snprintf(name, sizeof name, "%s/tiles_%06llu", assay_prove_kinds[last].suite,
                   (unsigned long long)p->first_tile);
    if (sqlite3_prepare_v2(assay_store_handle(p->store), sql, -1, &s, NULL) != SQLITE_OK) {
        free(against);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "resume: %s",
                          sqlite3_errmsg(assay_store_handle(p->store)));
    }
    (void)sqlite3_bind_int64(s, 1, o->resume_run);
    (void)sqlite3_bind_text(s, 2, o->op, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 3, (int64_t)(p->segments * p->wanted_count + p->has_root_check));
    (void)sqlite3_bind_int64(s, 4, assay_prove_seq(p, 0, last));
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
