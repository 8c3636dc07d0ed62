/* report_json.c - everything a run recorded, and what is derived from it, as one JSON document with sorted
 * keys. Floats that matter appear as a number (null when not finite) and as the hex of their bits. */
#include "dtype.h"
#include "report_render.h"
#include "report_witness.h"
#include "stats.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *bits64(double value) {
    char text[24];
    (void)snprintf(text, sizeof text, "0x%016llx", (unsigned long long)assay_f64_bits(value));
    return json_string(text);
}

static json_t *bits32(uint32_t bits) {
    char text[16];
    (void)snprintf(text, sizeof text, "0x%08x", bits);
    return json_pack("{s:s, s:o}", "bits", text, "value", number((double)assay_f32_from_bits(bits)));
}

/* Text that is itself JSON becomes a value; anything else stays a string. */
static json_t *embedded(const char *text) {
    json_t *value = json_loads(text, 0, NULL);
    return value != NULL ? value : json_string(text);
}

static json_t *promises(const report_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->promise_count; i++) {
        const report_promise *p = &m->promises[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "name", p->name,
                            "suite", p->suite, "relation", p->relation, "required", (int)p->required, "text",
                            p->text, "state", assay_promise_text(p->state), "strength", p->strength, "reason",
                            p->reason, "checks", (json_int_t)p->checks, "passed", (json_int_t)p->passed,
                            "elements", (json_int_t)p->elements, "bad", (json_int_t)p->bad));
    }
    return list;
}

static void check_details(const report_model *m, const report_check *c, json_t *object) {
    json_t *metrics = json_object();
    json_t *elements = json_array();
    json_t *histogram = json_array();
    for (size_t i = report_first_of(m->metrics, m->metric_count, sizeof *m->metrics, c->seq);
         i < m->metric_count && m->metrics[i].seq == c->seq; i++) {
        const report_metric *metric = &m->metrics[i];
        (void)json_object_set_new(metrics, metric->name,
                                  json_pack("{s:o, s:o, s:s}", "value", number(metric->value), "bits",
                                            bits64(metric->value), "unit", metric->unit));
    }
    for (size_t i = report_first_of(m->elements, m->element_count, sizeof *m->elements, c->seq);
         i < m->element_count && m->elements[i].seq == c->seq; i++) {
        const report_element *e = &m->elements[i];
        json_t *one = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "kind", e->kind, "rank",
                                (json_int_t)e->rank, "row", (json_int_t)e->row, "channel",
                                (json_int_t)e->channel, "input", bits32(e->input_bits), "got",
                                bits32(e->got_bits), "want", bits32(e->want_bits), "ulp", number(e->ulp));
        if (e->has_golden) {
            double golden;
            memcpy(&golden, &e->golden_bits, sizeof golden);
            (void)json_object_set_new(
                one, "golden", json_pack("{s:o, s:o}", "bits", bits64(golden), "value", number(golden)));
        }
        (void)json_array_append_new(elements, one);
    }
    for (size_t i = report_first_of(m->bins, m->bin_count, sizeof *m->bins, c->seq);
         i < m->bin_count && m->bins[i].seq == c->seq; i++) {
        const report_bin *b = &m->bins[i];
        (void)json_array_append_new(
            histogram, json_pack("[s, i, i, I]", b->subject, b->exponent, b->distance, (json_int_t)b->count));
    }
    (void)json_object_set_new(object, "metrics", metrics);
    (void)json_object_set_new(object, "elements_shown", elements);
    (void)json_object_set_new(object, "ulp_histogram", histogram);
}

static json_t *checks(const report_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        json_t *object =
            json_pack("{s:I, s:s, s:s, s:s, s:b, s:s, s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "seq",
                      (json_int_t)c->seq, "suite", c->suite, "name", c->name, "promise", c->promise,
                      "required", (int)c->required, "strength", c->strength, "case", embedded(c->case_json),
                      "repro", c->repro, "outcome", assay_outcome_text(c->outcome), "reason", c->reason,
                      "elements", (json_int_t)c->elements, "bad", (json_int_t)c->bad, "duration_ns",
                      (json_int_t)c->duration_ns, "attempts", (json_int_t)c->attempts);
        check_details(m, c, object);
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *profile(const report_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->profile_count; i++) {
        const report_profile *p = &m->profile[i];
        (void)json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:o, s:o, s:o, s:o}", "seq",
                                                    (json_int_t)p->seq, "subject", p->subject, "bin",
                                                    (json_int_t)p->bin, "x", number(p->x), "max_abs",
                                                    number(p->max_abs), "mean_ulp", number(p->mean_ulp),
                                                    "max_ulp", number(p->max_ulp)));
    }
    return list;
}

static json_t *timing(const report_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; i < m->series_count; i++) {
        const report_series *s = &m->series[i];
        json_t *samples = json_array();
        json_t *positions = json_array();
        for (size_t k = 0; k < s->count; k++) {
            (void)json_array_append_new(samples, json_integer((json_int_t)s->samples_ns[k]));
            (void)json_array_append_new(positions, json_integer((json_int_t)s->positions[k]));
        }
        json_t *object =
            json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "seq",
                      (json_int_t)s->seq, "callable", s->callable, "scope", s->scope, "figure", s->figure,
                      "flags", s->flags, "rows", (json_int_t)s->rows, "bytes", (json_int_t)s->bytes, "repeat",
                      (json_int_t)s->repeat, "samples_ns", samples, "positions", positions, "median_ns",
                      number(s->median_ns), "p5_ns", number(s->low_ns), "p95_ns", number(s->high_ns), "gbps",
                      number(s->gbps));
        if (s->against != NULL) {
            (void)json_object_set_new(object, "ratio",
                                      json_pack("{s:s, s:o, s:o, s:o, s:i}", "against", s->against->callable,
                                                "value", number(s->ratio), "low95", number(s->ratio_low),
                                                "high95", number(s->ratio_high), "resamples",
                                                ASSAY_BOOTSTRAP_DRAWS));
        }
        if (s->floor != NULL) {
            (void)json_object_set_new(object, "floor",
                                      json_pack("{s:s, s:o}", "callable", s->floor->callable, "median_ns",
                                                number(s->floor->median_ns)));
        }
        if (s->roof != NULL) {
            (void)json_object_set_new(object, "roof",
                                      json_pack("{s:s, s:o, s:o}", "callable", s->roof->callable, "median_ns",
                                                number(s->roof->median_ns), "gbps", number(s->roof->gbps)));
        }
        (void)json_array_append_new(list, object);
    }
    return list;
}

static json_t *words(const uint8_t *data, size_t bytes) {
    json_t *list = json_array();
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        char text[16];
        const uint32_t word = (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 |
                              (uint32_t)data[i + 3] << 24;
        (void)snprintf(text, sizeof text, "0x%08x", word);
        (void)json_array_append_new(list, json_string(text));
    }
    return list;
}

json_t *report_witness_json(const report_witness_item *item) {
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "check", item->check->name, "promise",
                     item->check->promise, "text", item->text, "case", embedded(item->case_json), "repro",
                     item->check->repro, "input_words", words(item->input, item->input_bytes), "got_words",
                     words(item->got, item->got_bytes), "want_words", words(item->want, item->want_bytes));
}

static json_t *lists(const report_model *m) {
    json_t *trees = json_array();
    json_t *witnesses = json_array();
    json_t *selftest = json_array();
    report_witness_list list;
    for (size_t i = 0; i < m->tree_count; i++) {
        const report_tree *t = &m->trees[i];
        (void)json_array_append_new(
            trees, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "name", t->name, "root",
                             t->root, "tile_rows", (json_int_t)t->tile_rows, "row_words",
                             (json_int_t)t->row_words, "rows", (json_int_t)t->rows, "tiles",
                             (json_int_t)t->tiles, "first_tile", (json_int_t)t->first_tile, "all_tiles",
                             (json_int_t)t->all_tiles, "stored_tiles", (json_int_t)t->stored_tiles));
    }
    report_witness_collect(m, &list);
    for (size_t i = 0; i < list.count; i++) {
        (void)json_array_append_new(witnesses, report_witness_json(&list.items[i]));
    }
    for (size_t i = 0; i < m->selftest_count; i++) {
        const report_selftest *s = &m->selftest[i];
        (void)json_array_append_new(
            selftest, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "subject", s->subject, "class",
                                s->class_name, "suite", s->suite, "expected", s->expected, "got", s->got,
                                "detail", s->detail, "as_expected", (int)report_selftest_ok(s)));
    }
    return json_pack("{s:o, s:o, s:o}", "digest_trees", trees, "witnesses", witnesses, "selftest", selftest);
}

static json_t *provenance(const report_model *m) {
    json_t *pairs = json_object();
    json_t *binaries = json_array();
    json_t *knobs = json_array();
    for (size_t i = 0; i < m->provenance_count; i++) {
        (void)json_object_set_new(pairs, m->provenance[i].key, json_string(m->provenance[i].value));
    }
    for (size_t i = 0; i < m->binary_count; i++) {
        const report_binary *b = &m->binaries[i];
        (void)json_array_append_new(binaries,
                                    json_pack("{s:s, s:s, s:s, s:I}", "role", b->role, "path", b->path,
                                              "sha256", b->sha256, "bytes", (json_int_t)b->bytes));
    }
    for (size_t i = 0; i < m->knob_count; i++) {
        const report_knob *k = &m->knobs[i];
        (void)json_array_append_new(knobs, json_pack("{s:s, s:s, s:s, s:s}", "role", k->role, "name", k->name,
                                                     "requested", k->requested, "effective", k->effective));
    }
    return json_pack("{s:o, s:o, s:o}", "provenance", pairs, "binaries", binaries, "knobs", knobs);
}

static json_t *counts(const report_model *m) {
    json_t *object = json_object();
    for (int i = 0; i < ASSAY_OUTCOME_COUNT; i++) {
        (void)json_object_set_new(object, assay_outcome_text((assay_outcome)i),
                                  json_integer((json_int_t)m->outcome[i]));
    }
    (void)json_object_set_new(object, "checks", json_integer((json_int_t)m->check_count));
    (void)json_object_set_new(object, "elements", json_integer((json_int_t)m->elements_judged));
    (void)json_object_set_new(object, "bad", json_integer((json_int_t)m->elements_bad));
    return object;
}

assay_code report_render_json(const report_model *m, FILE *out, assay_error *error) {
    json_t *run = json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:I}", "id",
                            (json_int_t)m->id, "uuid", m->uuid, "kind", m->kind, "operator", m->operator_name,
                            "implementation", m->implementation, "baseline", m->baseline, "device", m->device,
                            "tier", m->tier, "seed", (json_int_t)m->seed, "command", m->command, "started_ms",
                            (json_int_t)m->started_ms, "finished_ms", (json_int_t)m->finished_ms);
    json_t *contract =
        json_pack("{s:s, s:I}", "sha256", m->contract_sha256, "version", (json_int_t)m->contract_version);
    json_t *root = json_pack("{s:s, s:o, s:o, s:{s:s, s:s}, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:s}}", "schema",
                             "assay.report/1", "run", run, "contract", contract, "verdict", "state",
                             m->verdict, "reason", m->reason, "counts", counts(m), "promises", promises(m),
                             "checks", checks(m), "profile", profile(m), "timing", timing(m), "log", "index",
                             (json_int_t)m->log_index, "root", m->log_root);
    json_t *rest = lists(m);
    json_t *where = provenance(m);
    const bool merged =
        root != NULL && json_object_update(root, rest) == 0 && json_object_update(root, where) == 0;
    json_decref(rest);
    json_decref(where);
    const bool ok = merged &&
                    json_dumpf(root, out, JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 &&
                    fputc('\n', out) != EOF;
    json_decref(root);
    return ok ? ASSAY_CODE_OK : assay_fail(error, ASSAY_CODE_INTERNAL, "cannot write the JSON report");
}
