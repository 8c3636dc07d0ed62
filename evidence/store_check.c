/* store_check.c - everything that one check found, in one transaction. */
#include "clock.h"
#include "dtype.h"
#include "store_internal.h"

/* Where a detail row belongs. */
typedef struct place {
    assay_store *store;
    int64_t run_id, seq;
    const assay_check_record *record;
} place;

static assay_code insert_metrics(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->metric_count && code == ASSAY_CODE_OK; i++) {
        const assay_metric_record *m = &at->record->metrics[i];
        const assay_value v[] = {assay_v_int(at->run_id), assay_v_int(at->seq),
                                 assay_v_text(m->name),   assay_v_u64(assay_f64_bits(m->value)),
                                 assay_v_real(m->value),  assay_v_text(m->unit)};
        code = ASSAY_INSERT(at->store, metric, v, error);
    }
    return code;
}

static assay_code insert_histogram(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->histogram_count && code == ASSAY_CODE_OK; i++) {
        const assay_histogram_record *h = &at->record->histogram[i];
        const assay_value v[] = {assay_v_int(at->run_id),  assay_v_int(at->seq),     assay_v_text(h->subject),
                                 assay_v_int(h->exponent), assay_v_int(h->distance), assay_v_u64(h->count)};
        code = ASSAY_INSERT(at->store, ulp_histogram, v, error);
    }
    return code;
}

static assay_code insert_elements(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->element_count && code == ASSAY_CODE_OK; i++) {
        const assay_element_record *e = &at->record->element[i];
        const assay_value v[] = {assay_v_int(at->run_id),
                                 assay_v_int(at->seq),
                                 assay_v_text(e->kind),
                                 assay_v_int(e->rank),
                                 assay_v_u64(e->row),
                                 assay_v_u64(e->channel),
                                 assay_v_u64(e->input_bits),
                                 assay_v_u64(e->got_bits),
                                 assay_v_u64(e->want_bits),
                                 e->has_golden ? assay_v_u64(assay_f64_bits(e->golden)) : assay_v_null(),
                                 assay_v_real(e->ulp)};
        code = ASSAY_INSERT(at->store, element, v, error);
    }
    return code;
}

static assay_code insert_profile(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->profile_count && code == ASSAY_CODE_OK; i++) {
        const assay_profile_record *p = &at->record->profile[i];
        const assay_value v[] = {assay_v_int(at->run_id),   assay_v_int(at->seq),    assay_v_text(p->subject),
                                 assay_v_int(p->bin),       assay_v_real(p->x),      assay_v_real(p->max_abs),
                                 assay_v_real(p->mean_ulp), assay_v_real(p->max_ulp)};
        code = ASSAY_INSERT(at->store, profile, v, error);
    }
    return code;
}

/* Text of a JSON array of integers while it grows; every number takes at most 21 bytes with its comma. */
static char *json_number(char *p, uint64_t x) {
    char digits[20];
    int n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0) {
        *p++ = digits[--n];
    }
    *p++ = ',';
    return p;
}

static void json_close(char *text, char *p) {
    p -= p > text + 1; /* the last comma */
    *p++ = ']';
    *p = '\0';
}

/* samples_ns and positions of a series as JSON arrays; sqlite3_free both. False when memory is short. */
static bool json_arrays(const assay_series_record *s, char **samples, char **positions) {
    *samples = sqlite3_malloc64(s->count * 21 + 3);
    *positions = sqlite3_malloc64(s->count * 21 + 3);
    if (*samples == NULL || *positions == NULL) {
        return false;
    }
    char *ns = *samples, *place = *positions;
    *ns++ = '[';
    *place++ = '[';
    for (size_t i = 0; i < s->count; i++) {
        ns = json_number(ns, s->samples_ns[i]);
        place = json_number(place, s->positions[i]);
    }
    json_close(*samples, ns);
    json_close(*positions, place);
    return true;
}

static assay_code insert_series(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->series_count && code == ASSAY_CODE_OK; i++) {
        const assay_series_record *s = &at->record->series[i];
        char *samples = NULL, *positions = NULL;
        if (!json_arrays(s, &samples, &positions)) {
            code = assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory for %zu timing samples", s->count);
        } else {
            const assay_value v[] = {
                assay_v_int(at->run_id), assay_v_int(at->seq),    assay_v_text(s->callable),
                assay_v_text(s->scope),  assay_v_text(s->figure), assay_v_u64(s->rows),
                assay_v_u64(s->bytes),   assay_v_u64(s->repeat),  assay_v_text(samples),
                assay_v_text(positions), assay_v_text(s->flags)};
            code = ASSAY_INSERT(at->store, series, v, error);
        }
        sqlite3_free(samples);
        sqlite3_free(positions);
    }
    return code;
}

static assay_code insert_witnesses(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->witness_count && code == ASSAY_CODE_OK; i++) {
        const assay_witness_record *w = &at->record->witnesses[i];
        const assay_value v[] = {assay_v_int(at->run_id),
                                 assay_v_int(at->seq),
                                 assay_v_u64(i + 1),
                                 assay_v_text(w->text),
                                 assay_v_text(w->case_json),
                                 assay_v_blob(w->input, w->input_bytes),
                                 assay_v_blob(w->got, w->got_bytes),
                                 assay_v_blob(w->want, w->want_bytes)};
        code = ASSAY_INSERT(at->store, witness, v, error);
    }
    return code;
}

static assay_code insert_tiles(const place *at, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    for (size_t i = 0; i < at->record->tile_count && code == ASSAY_CODE_OK; i++) {
        const assay_tile_record *t = &at->record->tiles[i];
        uint8_t sums[16];
        assay_le64_put(t->sum[0], sums);
        assay_le64_put(t->sum[1], sums + 8);
        const assay_value v[] = {assay_v_int(at->run_id), assay_v_text(t->name), assay_v_u64(t->number),
                                 assay_v_u64(t->rows), assay_v_blob(sums, sizeof sums)};
        code = ASSAY_INSERT(at->store, digest_tile, v, error);
    }
    return code;
}

static assay_code insert_outcome(const place *at, assay_error *error) {
    const assay_check_record *r = at->record;
    const assay_value v[] = {assay_v_int(at->run_id),
                             assay_v_int(at->seq),
                             assay_v_text(assay_outcome_text(r->outcome)),
                             assay_v_text(r->reason),
                             assay_v_u64(r->elements),
                             assay_v_u64(r->bad),
                             assay_v_u64(r->duration_ns),
                             assay_v_int(assay_wall_ms())};
    return ASSAY_INSERT(at->store, check_outcome, v, error);
}

/* Records that contradict themselves never reach the evidence. */
static assay_code refuse_nonsense(const place *at, assay_error *error) {
    const assay_check_record *r = at->record;
    const char *why = NULL;
    if (r->outcome == ASSAY_OUTCOME_NOT_RUN || (unsigned)r->outcome >= ASSAY_OUTCOME_COUNT) {
        why = "it has no outcome";
    } else if (r->outcome == ASSAY_OUTCOME_PASS && r->elements == 0) {
        why = "it passed without judging a single element; record it as mistrusted";
    } else if (r->outcome == ASSAY_OUTCOME_PASS && r->bad != 0) {
        why = "it passed with bad elements";
    }
    return why == NULL
               ? ASSAY_CODE_OK
               : assay_fail(error, ASSAY_CODE_INTERNAL, "check %lld of run %lld cannot be recorded: %s",
                            (long long)at->seq, (long long)at->run_id, why);
}

assay_code assay_store_check_end(assay_store *store, int64_t run_id, int64_t seq,
                                 const assay_check_record *record, assay_error *error) {
    static assay_code (*const parts[])(const place *at, assay_error *error) = {
        insert_outcome, insert_metrics, insert_histogram, insert_elements,
        insert_profile, insert_series,  insert_witnesses, insert_tiles};
    const place at = {store, run_id, seq, record};
    assay_code code = refuse_nonsense(&at, error);
    if (code == ASSAY_CODE_OK) {
        code = assay_txn_begin(store, error);
    }
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && code == ASSAY_CODE_OK; i++) {
        code = parts[i](&at, error);
    }
    return assay_txn_end(store, code, error);
}
