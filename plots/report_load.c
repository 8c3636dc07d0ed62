/* report_load.c - reads one run into a report_model. The only file that reads the database; it only ever
 * selects. */
#include "dtype.h"
#include "report_model.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct loader {
    report_model *model;
    sqlite3 *db;
    assay_error *error;
} loader;

typedef void (*row_fn)(report_model *model, sqlite3_stmt *row, void *slot);

static const char *text_of(report_model *model, sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return report_clean(model->arena, text, (size_t)sqlite3_column_bytes(row, column));
}

static uint64_t count_of(sqlite3_stmt *row, int column) {
    const sqlite3_int64 value = sqlite3_column_int64(row, column);
    return value < 0 ? 0 : (uint64_t)value;
}

static const uint8_t *blob_of(report_model *model, sqlite3_stmt *row, int column, size_t *bytes) {
    const void *data = sqlite3_column_blob(row, column);
    *bytes = data == NULL ? 0 : (size_t)sqlite3_column_bytes(row, column);
    uint8_t *copy = report_arena_alloc(model->arena, *bytes);
    if (copy == NULL || *bytes == 0) {
        *bytes = 0;
        return copy;
    }
    return memcpy(copy, data, *bytes);
}

/* The file name of a path without ".so"; a plain name as it is. */
static const char *short_name(report_model *m, const char *name) {
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL && slash[1] != '\0' ? slash + 1 : name;
    const size_t n = strlen(last);
    const bool library = n > 3 && strcmp(last + n - 3, ".so") == 0;
    return report_printf(m->arena, "%.*s", (int)(library ? n - 3 : n), last);
}

static void run_row(report_model *m, sqlite3_stmt *row, void *slot) {
    (void)slot;
    m->uuid = text_of(m, row, 0);
    m->kind = text_of(m, row, 1);
    m->operator_name = text_of(m, row, 2);
    m->implementation = text_of(m, row, 3);
    m->baseline = text_of(m, row, 4);
    m->candidate = short_name(m, m->implementation);
    m->other = short_name(m, m->baseline);
    m->device = text_of(m, row, 5);
    m->tier = text_of(m, row, 6);
    m->seed = sqlite3_column_int64(row, 7);
    m->command = text_of(m, row, 8);
    m->started_ms = sqlite3_column_int64(row, 9);
    m->verdict = text_of(m, row, 10);
    m->reason = text_of(m, row, 11);
    m->finished_ms =
        sqlite3_column_type(row, 12) == SQLITE_NULL ? m->started_ms : sqlite3_column_int64(row, 12);
    m->contract_sha256 = text_of(m, row, 13);
    m->contract_version = sqlite3_column_int64(row, 14);
    /* Parsed, never shown: as it stands. */
    m->contract_text = report_printf(m->arena, "%s", (const char *)sqlite3_column_text(row, 15));
    m->log_index = sqlite3_column_int64(row, 16);
    m->log_root = text_of(m, row, 17);
}

static void pair_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_pair *)slot = (report_pair){text_of(m, row, 0), text_of(m, row, 1)};
}

static void binary_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_binary *)slot =
        (report_binary){text_of(m, row, 0), text_of(m, row, 1), text_of(m, row, 2), count_of(row, 3)};
}

static void knob_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_knob *)slot =
        (report_knob){text_of(m, row, 0), text_of(m, row, 1), text_of(m, row, 2), text_of(m, row, 3)};
}

static void promise_row(report_model *m, sqlite3_stmt *row, void *slot) {
    report_promise *p = slot;
    p->name = text_of(m, row, 0);
    p->suite = text_of(m, row, 1);
    p->relation = text_of(m, row, 2);
    p->required = sqlite3_column_int(row, 3) != 0;
    p->text = text_of(m, row, 4);
    p->state = ASSAY_PROMISE_NOT_VERIFIED; /* what an unknown word amounts to */
    (void)assay_promise_parse(text_of(m, row, 5), &p->state);
    p->strength = text_of(m, row, 6);
    p->reason = text_of(m, row, 7);
}

static void check_row(report_model *m, sqlite3_stmt *row, void *slot) {
    report_check *c = slot;
    c->seq = sqlite3_column_int64(row, 0);
    c->suite = text_of(m, row, 1);
    c->name = text_of(m, row, 2);
    c->promise = text_of(m, row, 3);
    c->required = sqlite3_column_int(row, 4) != 0;
    c->strength = text_of(m, row, 5);
    c->case_json = text_of(m, row, 6);
    c->repro = text_of(m, row, 7);
    c->outcome = ASSAY_OUTCOME_ERROR; /* what an unknown word amounts to */
    (void)assay_outcome_parse(text_of(m, row, 8), &c->outcome);
    c->reason = text_of(m, row, 9);
    c->elements = count_of(row, 10);
    c->bad = count_of(row, 11);
    c->duration_ns = count_of(row, 12);
    c->attempts = count_of(row, 13);
}

static void metric_row(report_model *m, sqlite3_stmt *row, void *slot) {
    const uint64_t bits = (uint64_t)sqlite3_column_int64(row, 2);
    *(report_metric *)slot = (report_metric){sqlite3_column_int64(row, 0), text_of(m, row, 1),
                                             text_of(m, row, 3), bits, assay_f64_from_bits(bits)};
}

static void bin_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_bin *)slot =
        (report_bin){sqlite3_column_int64(row, 0), text_of(m, row, 1), sqlite3_column_int(row, 2),
                     sqlite3_column_int(row, 3), count_of(row, 4)};
}

static void element_row(report_model *m, sqlite3_stmt *row, void *slot) {
    report_element *e = slot;
    e->seq = sqlite3_column_int64(row, 0);
    e->kind = text_of(m, row, 1);
    e->rank = sqlite3_column_int64(row, 2);
    e->row = count_of(row, 3);
    e->channel = count_of(row, 4);
    e->input_bits = (uint32_t)sqlite3_column_int64(row, 5);
    e->got_bits = (uint32_t)sqlite3_column_int64(row, 6);
    e->want_bits = (uint32_t)sqlite3_column_int64(row, 7);
    e->has_golden = sqlite3_column_type(row, 8) != SQLITE_NULL;
    e->golden_bits = (uint64_t)sqlite3_column_int64(row, 8);
    e->ulp = sqlite3_column_type(row, 9) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(row, 9);
}

static void profile_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_profile *)slot = (report_profile){sqlite3_column_int64(row, 0),  text_of(m, row, 1),
                                               sqlite3_column_int64(row, 2),  sqlite3_column_double(row, 3),
                                               sqlite3_column_double(row, 4), sqlite3_column_double(row, 5),
                                               sqlite3_column_double(row, 6)};
}

/* Parses a JSON array of integers; what is not one yields no items. */
static size_t integers_of(sqlite3_stmt *row, int column, json_t **array) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    *array = text == NULL ? NULL : json_loads(text, 0, NULL);
    return json_array_size(*array);
}

static void series_row(report_model *m, sqlite3_stmt *row, void *slot) {
    report_series *s = slot;
    json_t *samples = NULL;
    json_t *positions = NULL;
    s->seq = sqlite3_column_int64(row, 0);
    s->callable = text_of(m, row, 1);
    s->scope = text_of(m, row, 2);
    s->figure = text_of(m, row, 3);
    s->rows = count_of(row, 4);
    s->bytes = count_of(row, 5);
    s->repeat = count_of(row, 6);
    s->flags = text_of(m, row, 9);
    size_t count = integers_of(row, 7, &samples);
    const size_t placed = integers_of(row, 8, &positions);
    s->samples_ns = report_arena_alloc(m->arena, count * sizeof *s->samples_ns);
    s->positions = report_arena_alloc(m->arena, count * sizeof *s->positions);
    if (s->samples_ns == NULL || s->positions == NULL) {
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        s->samples_ns[i] = (double)json_integer_value(json_array_get(samples, i));
        s->positions[i] = i < placed ? json_integer_value(json_array_get(positions, i)) : -1;
    }
    s->count = count;
    json_decref(samples);
    json_decref(positions);
}

static void tree_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_tree *)slot = (report_tree){text_of(m, row, 0), text_of(m, row, 1), count_of(row, 2),
                                         count_of(row, 3),   count_of(row, 4),   count_of(row, 5),
                                         count_of(row, 6),   count_of(row, 7),   count_of(row, 8)};
}

static void witness_row(report_model *m, sqlite3_stmt *row, void *slot) {
    report_witness *w = slot;
    w->seq = sqlite3_column_int64(row, 0);
    w->ordinal = sqlite3_column_int64(row, 1);
    w->text = text_of(m, row, 2);
    w->case_json = text_of(m, row, 3);
    w->input = blob_of(m, row, 4, &w->input_bytes);
    w->got = blob_of(m, row, 5, &w->got_bytes);
    w->want = blob_of(m, row, 6, &w->want_bytes);
}

static void selftest_row(report_model *m, sqlite3_stmt *row, void *slot) {
    *(report_selftest *)slot = (report_selftest){text_of(m, row, 0), text_of(m, row, 1), text_of(m, row, 2),
                                                 text_of(m, row, 3), text_of(m, row, 4), text_of(m, row, 5)};
}

/* Runs `sql` with the run's id and hands every row to `fn` with a fresh slot of *items (items NULL: no slot).
 */
static bool load(loader *l, const char *sql, row_fn fn, void **items, size_t *count, size_t item_bytes) {
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(l->db, sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, l->model->id);
    }
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(row);
        if (rc != SQLITE_ROW) {
            break;
        }
        void *slot = NULL;
        if (items != NULL) {
            slot = report_arena_push(l->model->arena, items, count, item_bytes);
        } else {
            (*count)++;
        }
        if (items == NULL || slot != NULL) {
            fn(l->model, row, slot);
        }
        if (l->model->arena->failed) {
            rc = SQLITE_NOMEM;
        }
    }
    if (rc != SQLITE_DONE) {
        (void)assay_fail(l->error, ASSAY_CODE_INTERNAL, "cannot read the evidence of run %lld: %s",
                         (long long)l->model->id,
                         l->model->arena->failed ? "out of memory" : sqlite3_errmsg(l->db));
    }
    (void)sqlite3_finalize(row);
    return rc == SQLITE_DONE;
}

static const char run_sql[] =
    "SELECT r.uuid, r.kind, r.operator, r.implementation, r.baseline, r.device, r.tier, r.seed, r.command, "
    "r.started_ms, r.verdict, r.reason, r.finished_ms, c.sha256, c.version, c.text, l.idx, l.root "
    "FROM runs r JOIN run q ON q.id = r.id JOIN contract c ON c.id = q.contract_id "
    "LEFT JOIN run_log l ON l.run_id = r.id WHERE r.id = ?";

static bool load_tables(loader *l) {
    report_model *m = l->model;
    const struct {
        const char *sql;
        row_fn fn;
        void **items;
        size_t *count;
        size_t item_bytes;
    } tables[] = {
        {"SELECT key, value FROM provenance WHERE run_id = ? ORDER BY key", pair_row, (void **)&m->provenance,
         &m->provenance_count, sizeof *m->provenance},
        {"SELECT role, path, sha256, bytes FROM binary WHERE run_id = ? ORDER BY role", binary_row,
         (void **)&m->binaries, &m->binary_count, sizeof *m->binaries},
        {"SELECT role, name, requested, effective FROM knob WHERE run_id = ? ORDER BY role, name", knob_row,
         (void **)&m->knobs, &m->knob_count, sizeof *m->knobs},
        {"SELECT name, suite, relation, required, text, state, strength, reason FROM promises WHERE run_id = "
         "? "
         "ORDER BY ordinal, name",
         promise_row, (void **)&m->promises, &m->promise_count, sizeof *m->promises},
        {"SELECT seq, suite, name, promise, required, strength, case_json, repro, outcome, reason, elements, "
         "bad, "
         "duration_ns, attempts FROM checks WHERE run_id = ? ORDER BY seq",
         check_row, (void **)&m->checks, &m->check_count, sizeof *m->checks},
        {"SELECT seq, name, bits, unit FROM metric WHERE run_id = ? ORDER BY seq, name", metric_row,
         (void **)&m->metrics, &m->metric_count, sizeof *m->metrics},
        {"SELECT seq, subject, exponent, distance, count FROM ulp_histogram WHERE run_id = ? "
         "ORDER BY seq, subject, exponent, distance",
         bin_row, (void **)&m->bins, &m->bin_count, sizeof *m->bins},
        {"SELECT seq, kind, rank, row, channel, input_bits, got_bits, want_bits, golden_bits, ulp FROM "
         "element "
         "WHERE run_id = ? ORDER BY seq, kind, rank",
         element_row, (void **)&m->elements, &m->element_count, sizeof *m->elements},
        {"SELECT seq, subject, bin, x, max_abs, mean_ulp, max_ulp FROM profile WHERE run_id = ? "
         "ORDER BY seq, subject, bin",
         profile_row, (void **)&m->profile, &m->profile_count, sizeof *m->profile},
        {"SELECT seq, callable, scope, figure, rows, bytes, repeat, samples_ns, positions, flags FROM series "
         "WHERE run_id = ? ORDER BY seq, callable",
         series_row, (void **)&m->series, &m->series_count, sizeof *m->series},
        {"SELECT t.name, t.root, t.tile_rows, t.row_words, t.rows, t.tiles, t.first_tile, t.all_tiles, "
         "(SELECT count(*) FROM digest_tile d WHERE d.run_id = t.run_id AND d.name = t.name) "
         "FROM digest_tree t WHERE t.run_id = ? ORDER BY t.name",
         tree_row, (void **)&m->trees, &m->tree_count, sizeof *m->trees},
        {"SELECT seq, ordinal, text, case_json, input, got, want FROM witness WHERE run_id = ? ORDER BY seq, "
         "ordinal",
         witness_row, (void **)&m->witnesses, &m->witness_count, sizeof *m->witnesses},
        {"SELECT subject, class, suite, expected, got, detail FROM selftest WHERE run_id = ? "
         "ORDER BY class, subject, suite",
         selftest_row, (void **)&m->selftest, &m->selftest_count, sizeof *m->selftest}};
    size_t runs = 0;
    if (!load(l, run_sql, run_row, NULL, &runs, 0)) {
        return false;
    }
    if (runs == 0) {
        (void)assay_fail(l->error, ASSAY_CODE_USAGE,
                         "run %lld is not in this database; list its runs with `assay list`",
                         (long long)m->id);
        return false;
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (!load(l, tables[i].sql, tables[i].fn, tables[i].items, tables[i].count, tables[i].item_bytes)) {
            return false;
        }
    }
    return true;
}

static void count_checks(report_model *m) {
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        m->outcome[c->outcome]++;
        m->elements_judged += c->elements;
        m->elements_bad += c->bad;
        m->duration_ns += c->duration_ns;
        for (size_t k = 0; k < m->promise_count; k++) {
            report_promise *p = &m->promises[k];
            if (strcmp(p->name, c->promise) == 0) {
                p->checks++;
                p->passed += c->outcome == ASSAY_OUTCOME_PASS;
                p->elements += c->elements;
                p->bad += c->bad;
            }
        }
    }
}

assay_code report_load(sqlite3 *db, int64_t run_id, report_arena *arena, report_model *model,
                       assay_error *error) {
    *model = (report_model){.arena = arena, .id = run_id};
    loader l = {.model = model, .db = db, .error = error};
    assay_error local = {0};
    if (l.error == NULL) {
        l.error = &local;
    }
    l.error->code = ASSAY_CODE_OK;
    const bool own = sqlite3_get_autocommit(db) != 0;
    if (own && sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "cannot read the evidence: %s", sqlite3_errmsg(db));
    }
    const bool ok = load_tables(&l);
    if (own) {
        (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    }
    if (!ok) {
        return l.error->code;
    }
    count_checks(model);
    report_timing_derive(model);
    if (arena->failed) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while reading run %lld",
                          (long long)run_id);
    }
    return ASSAY_CODE_OK;
}
