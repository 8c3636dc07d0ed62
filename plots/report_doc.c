/* report_doc.c - blocks, cells and the order of sections. */
#include "report_doc.h"

#include <string.h>

static report_block *block_add(report_doc *doc, report_block_kind kind) {
    report_block *block =
        report_arena_push(doc->arena, (void **)&doc->blocks, &doc->block_count, sizeof *block);
    if (block != NULL) {
        block->kind = kind;
        block->text = "";
    }
    return block;
}

void report_section(report_doc *doc, const char *id, const char *title) {
    report_block *block = block_add(doc, REPORT_BLOCK_SECTION);
    if (block != NULL) {
        block->id = id;
        block->text = title;
    }
}

void report_text(report_doc *doc, const char *format, ...) {
    report_block *block = block_add(doc, REPORT_BLOCK_TEXT);
    if (block != NULL) {
        va_list args;
        va_start(args, format);
        block->text = report_vprintf(doc->arena, format, args);
        va_end(args);
    }
}

void report_note(report_doc *doc, const char *format, ...) {
    report_block *block = block_add(doc, REPORT_BLOCK_NOTE);
    if (block != NULL) {
        va_list args;
        va_start(args, format);
        block->text = report_vprintf(doc->arena, format, args);
        va_end(args);
    }
}

void report_command(report_doc *doc, const char *command) {
    report_block *block = block_add(doc, REPORT_BLOCK_COMMAND);
    if (block != NULL) {
        block->text = command;
    }
}

report_table *report_table_begin(report_doc *doc, const char *label, const char *const *columns,
                                 size_t column_count) {
    static report_table lost; /* never rendered: the arena has failed */
    report_table *table = report_arena_alloc(doc->arena, sizeof *table);
    report_block *block = block_add(doc, REPORT_BLOCK_TABLE);
    if (table == NULL || block == NULL) {
        return &lost;
    }
    *table = (report_table){.label = label, .columns = columns, .column_count = column_count};
    block->table = table;
    return table;
}

void report_cell_add(report_doc *doc, report_table *table, report_cell_kind kind, report_tone tone,
                     const char *text) {
    if (doc->arena->failed) {
        return;
    }
    report_cell *cell =
        report_arena_push(doc->arena, (void **)&table->cells, &table->cell_count, sizeof *cell);
    if (cell != NULL) {
        *cell = (report_cell){kind, tone, text, NULL};
    }
}

void report_cell_text(report_doc *doc, report_table *table, const char *text) {
    report_cell_add(doc, table, REPORT_CELL_TEXT, REPORT_TONE_NONE, text);
}

void report_cell_code(report_doc *doc, report_table *table, const char *text) {
    report_cell_add(doc, table, REPORT_CELL_CODE, REPORT_TONE_NONE, text);
}

void report_cell_number(report_doc *doc, report_table *table, const char *text) {
    report_cell_add(doc, table, REPORT_CELL_NUMBER, REPORT_TONE_NONE, text);
}

void report_cell_state(report_doc *doc, report_table *table, report_tone tone, const char *text) {
    report_cell_add(doc, table, REPORT_CELL_STATE, tone, text);
}

void report_cell_detail(report_doc *doc, report_table *table, const char *text) {
    if (!doc->arena->failed && text[0] != '\0') {
        table->cells[table->cell_count - 1].detail = text;
    }
}

void report_cell_outcome(report_doc *doc, report_table *table, const report_check *check) {
    report_cell_state(doc, table, report_outcome_tone(check->outcome),
                      report_words(doc->arena, assay_outcome_text(check->outcome)));
}

void report_figures_add(report_doc *doc, const report_figures *figures, const char *prefix) {
    for (size_t i = 0; figures != NULL && i < figures->count; i++) {
        if (strncmp(figures->items[i].id, prefix, strlen(prefix)) == 0) {
            report_block *block = block_add(doc, REPORT_BLOCK_FIGURE);
            if (block != NULL) {
                block->figure = &figures->items[i];
            }
        }
    }
}

report_tone report_outcome_tone(assay_outcome outcome) {
    switch (outcome) {
    case ASSAY_OUTCOME_PASS:
        return REPORT_TONE_GOOD;
    case ASSAY_OUTCOME_FAIL:
    case ASSAY_OUTCOME_ERROR:
        return REPORT_TONE_BAD;
    default:
        return REPORT_TONE_DOUBT;
    }
}

report_tone report_state_tone(assay_promise_state state) {
    return state == ASSAY_PROMISE_KEPT     ? REPORT_TONE_GOOD
           : state == ASSAY_PROMISE_BROKEN ? REPORT_TONE_BAD
                                           : REPORT_TONE_DOUBT;
}

static report_tone verdict_tone(const char *verdict) {
    return strcmp(verdict, "certified") == 0 ? REPORT_TONE_GOOD
           : strcmp(verdict, "refused") == 0 ? REPORT_TONE_BAD
                                             : REPORT_TONE_DOUBT;
}

const char *report_plural(report_arena *arena, uint64_t n, const char *one, const char *many) {
    return report_printf(arena, "%s %s", report_count_text(arena, n), n == 1 ? one : many);
}

static void key_add(report_doc *doc, const char *value, const char *label) {
    report_key_number *key = report_arena_push(doc->arena, (void **)&doc->keys, &doc->key_count, sizeof *key);
    if (key != NULL) {
        *key = (report_key_number){value, label};
    }
}

/* The largest value of a metric over the run's checks; NULL when no check has it. */
static const report_metric *largest(const report_model *m, const char *suite, const char *name) {
    const report_metric *best = NULL;
    for (size_t i = 0; i < m->check_count; i++) {
        const report_metric *metric = report_metric_of(m, m->checks[i].seq, name);
        if (metric != NULL && strcmp(m->checks[i].suite, suite) == 0 &&
            (best == NULL || metric->value > best->value)) {
            best = metric;
        }
    }
    return best;
}

/* Byte-equal to the rounded golden, of all elements of the accuracy histograms: distance 0, signs of zero
 * aside. */
static void rounded_share(report_doc *doc) {
    const report_model *m = doc->model;
    uint64_t all = 0;
    uint64_t zero = 0;
    for (size_t i = 0; i < m->bin_count; i++) {
        const report_check *check = report_check_of(m, m->bins[i].seq);
        if (strcmp(m->bins[i].subject, "accuracy") == 0 && check != NULL &&
            strcmp(check->suite, "gradients") != 0) {
            all += m->bins[i].count;
            zero += m->bins[i].distance == 0 && m->bins[i].exponent != 255 ? m->bins[i].count : 0;
        }
    }
    if (all > 0) {
        key_add(doc, report_share_text(doc->arena, zero, all), "of outputs at the rounded FP64 value");
    }
}

static void build_keys(report_doc *doc) {
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    uint64_t judged = 0;
    uint64_t differing = 0;
    size_t parity = 0;
    if (m->check_count > 0) {
        key_add(doc,
                report_printf(a, "%s / %s", report_count_text(a, m->outcome[ASSAY_OUTCOME_PASS]),
                              report_count_text(a, m->check_count)),
                "checks passed");
        key_add(doc, report_short_count(a, m->elements_judged), "elements judged");
    }
    for (size_t i = 0; i < m->check_count; i++) {
        if (strcmp(m->checks[i].suite, "parity") == 0 && m->checks[i].required && m->checks[i].elements > 0) {
            judged += m->checks[i].elements;
            differing += report_differing(m, &m->checks[i]);
            parity++;
        }
    }
    if (parity > 0) {
        key_add(doc, report_short_count(a, differing),
                report_printf(a, "of %s elements differ (parity)", report_short_count(a, judged)));
    }
    const report_metric *ulp = largest(m, "accuracy", "max_ulp");
    if (ulp != NULL) {
        const bool large = ulp->value >= 1e5 && ulp->value < 1e18;
        key_add(doc,
                report_printf(a, "%s ulp",
                              large ? report_short_count(a, (uint64_t)ulp->value)
                                    : report_real_text(a, ulp->value)),
                "largest error against FP64");
    }
    rounded_share(doc);
    for (size_t i = m->series_count; i-- > 0;) { /* the largest size comes last in the contract's matrix */
        const report_series *s = &m->series[i];
        if (s->against != NULL && strcmp(s->callable, "candidate") == 0 &&
            (strcmp(s->figure, "launch") == 0 || !report_has_figure(m, "launch"))) {
            key_add(
                doc, report_printf(a, "%.2f\xc3\x97", s->ratio),
                report_printf(a, "time of %s, %s rows", s->against->callable, report_count_text(a, s->rows)));
            break;
        }
    }
}

static void build_head(report_doc *doc) {
    const report_model *m = doc->model;
    report_arena *a = doc->arena;
    doc->tone = verdict_tone(m->verdict);
    doc->title = report_printf(a, "%s: %s, %s of %s", m->verdict, m->operator_name, m->kind, m->candidate);
    doc->headline = report_printf(a, "%s", m->reason);
    doc->summary = report_printf(
        a,
        "Run %lld (" REPORT_CODE_ON "%.12s" REPORT_CODE_OFF ") %s " REPORT_STRONG_ON "%s" REPORT_STRONG_OFF
        " as an implementation of " REPORT_CODE_ON "%s" REPORT_CODE_OFF
        "%s%s%s on %s (%s), tier %s, at Assay commit " REPORT_CODE_ON "%.12s" REPORT_CODE_OFF
        ". It started %s and %s. %s, %s; %s judged.",
        (long long)m->id, m->uuid, strcmp(m->kind, "prove") == 0 ? "proves" : "judges", m->implementation,
        m->operator_name, m->baseline[0] != '\0' ? ", compared with " REPORT_STRONG_ON : "", m->baseline,
        m->baseline[0] != '\0' ? REPORT_STRONG_OFF : "", report_device(m), report_provenance(m, "cpu.model"),
        m->tier, report_provenance(m, "assay.commit"), report_time_text(a, m->started_ms),
        strcmp(m->verdict, "unfinished") == 0
            ? "has not finished"
            : report_printf(a, "took %s", report_ns_text(a, (double)(m->finished_ms - m->started_ms) * 1e6)),
        report_plural(a, m->check_count, "check planned", "checks planned"),
        report_printf(a, "%s passed", report_count_text(a, m->outcome[ASSAY_OUTCOME_PASS])),
        report_plural(a, m->elements_judged, "element", "elements"));
}

void report_doc_build(const report_model *model, const report_figures *figures, const char *figure_note,
                      report_doc *doc) {
    *doc = (report_doc){.arena = model->arena, .model = model};
    build_head(doc);
    build_keys(doc);
    report_sections_promises(doc);
    if (figure_note != NULL) {
        report_note(doc, "%s", figure_note);
    }
    report_sections_findings(doc);
    report_sections_parity(doc, figures);
    report_sections_accuracy(doc, figures);
    report_sections_invariance(doc, figures);
    report_sections_others(doc);
    report_sections_timing(doc, figures);
    report_sections_selftest(doc);
    report_sections_digests(doc);
    report_sections_witnesses(doc);
    report_sections_not_verified(doc);
    if (model->check_count > 0) {
        report_section(doc, "checks", "All checks");
        (void)block_add(doc, REPORT_BLOCK_CHECKS);
    }
    report_sections_provenance(doc);
    report_sections_reproduce(doc);
}
