/* prove.c - one exhaustive run: plan segments, sweep them, record each in one transaction, end with the root.
 */
#include "prove_internal.h"

#include "clock.h"
#include "numeric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (kind == PROVE_DIGEST && p->runner.context.device != NULL) {
        assay_record_metric(&p->runner.context, "implementation_device_ns", (double)segment->worker_ns, "ns");
        assay_record_metric(&p->runner.context, "judge_device_ns", (double)segment->judge_ns, "ns");
        p->report->worker_ns += segment->worker_ns;
        p->report->judge_ns += segment->judge_ns;
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

static assay_code record_segment(prove_state *p, const assay_segment *segment, uint64_t number,
                                 uint64_t duration_ns, assay_error *error) {
    for (int k = PROVE_KINDS - 1; k >= 0; k--) {
        assay_result result = {0};
        int64_t seq = assay_prove_seq(p, number, (prove_kind)k);
        if (!p->wanted[k] || assay_prove_finished(p, seq)) {
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
            (void)snprintf(name, sizeof name, "%s/tiles_%06llu", assay_prove_kinds[k].suite,
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
        int64_t seq = assay_prove_seq(p, number, (prove_kind)k);
        if (p->wanted[k] && !assay_prove_finished(p, seq) &&
            assay_store_check_begin(p->store, p->report->run_id, seq, error) != ASSAY_CODE_OK) {
            free(histograms);
            return error->code;
        }
    }
    uint64_t start = assay_clock_ns();
    assay_code code = ASSAY_CODE_OK;
    const bool on_device = p->runner.context.device != NULL;
    if (on_device ? !assay_sweep_segment_device(&p->sweep, segment, error)
                  : !assay_sweep_segment(&p->sweep, segment, error)) {
        code = error->code;
    } else {
        code = record_segment(p, segment, number, assay_clock_ns() - start, error);
    }
    free(histograms);
    return code;
}

/* ---- the run ---- */

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
        assay_prove_root(p, r->root);
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
    if (assay_prove_compare_tree(p, error) != ASSAY_CODE_OK ||
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
        if (p->options->base.resume_run != 0 && assay_prove_reload(p, s, error)) {
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

static assay_code prepare(prove_state *p, assay_error *error) {
    const assay_prove_options *o = p->options;
    if (assay_domain_read(p->runner.contract, &p->domain, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    p->sweep = (assay_sweep){.runner = &p->runner,
                             .domain = &p->domain,
                             .parity = o->base.baseline_path != NULL,
                             .accuracy = o->accuracy};
    assay_direct_attrs(p->runner.contract, &p->sweep.attrs);
    p->sweep.channels = p->runner.context.op->channels(&p->sweep.attrs);
    p->sweep.tolerance = assay_numeric_tolerance(&p->runner.context, false, ASSAY_DTYPE_F32);
    if (p->runner.context.device != NULL &&
        assay_runner_device_sweeps(&p->runner, o->accuracy, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (o->accuracy && p->sweep.tolerance == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "operator %s: its contract has no accuracy tolerance",
                          o->base.op);
    }
    p->wanted[PROVE_DIGEST] = true;
    p->wanted[PROVE_PARITY] = p->sweep.parity;
    p->wanted[PROVE_ACCURACY] = o->accuracy;
    p->wanted_count = 1U + p->sweep.parity + o->accuracy;
    p->has_root_check = o->against_root != NULL || o->against_database != NULL;
    assay_prove_cut_shard(p);
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
    return assay_prove_load_recorded(p, error);
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
        code = options->base.resume_run != 0 ? assay_prove_resume(p, error) : assay_prove_begin(p, error);
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
