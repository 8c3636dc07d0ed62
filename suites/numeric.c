/* numeric.c - cases from the contract's matrices, and the walk of a case over the lanes. Judges nothing
 * itself. */
#include "numeric.h"

#include "philox.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_WORDS (1u << 20) /* words of output per call: 4 MiB */

void *assay_numeric_alloc(size_t count, size_t bytes) {
    void *memory = calloc(count == 0 ? 1 : count, bytes);
    if (memory == NULL) {
        (void)fputs("assay: out of memory while judging a check\n", stderr);
        abort();
    }
    return memory;
}

/* ---- cases ---- */

static uint32_t bits_of(const json_t *text) {
    const char *s = json_string_value(text);
    return s == NULL ? 0 : (uint32_t)strtoul(s, NULL, 16);
}

/* Appends a case of uniform values with the contract's default attributes; NULL when the list is full. */
static assay_numeric_case *add(const assay_context *context, assay_numeric_list *list, const char *name,
                               assay_dtype dtype, uint64_t rows, uint64_t seed) {
    if (list->count == ASSAY_NUMERIC_CASES) {
        return NULL;
    }
    assay_numeric_case *item = &list->items[list->count++];
    assay_case *c = &item->c;
    *item = (assay_numeric_case){.c = {.dtype = dtype, .rows = rows, .seed = seed, .stride = 1}};
    assay_direct_attrs(context->contract, &c->attrs);
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    assay_philox_key key = assay_philox_key_of(context->op->name, name, "input", seed);
    c->values = (assay_values){.kind = ASSAY_VALUES_UNIFORM, .count = rows, .key = key};
    return item;
}

static void add_values(const assay_context *context, assay_numeric_list *list, const char *name,
                       assay_dtype dtype, const assay_values *values, bool all, bool set) {
    assay_numeric_case *item = add(context, list, name, dtype, 0, context->seed);
    if (item == NULL) {
        return;
    }
    const assay_philox_key key = item->c.values.key;
    item->c.values = *values;
    item->c.values.key = key;
    if (assay_values_make(&item->c.values, NULL) != ASSAY_CODE_OK) {
        list->count--; /* an empty set; the contract's test forbids it */
        return;
    }
    item->c.rows = item->c.values.count;
    item->all = all;
    item->set = set;
}

static void add_sizes(const assay_context *context, assay_numeric_list *list) {
    char name[64];
    const json_t *rows = assay_direct_matrix(context, "rows", NULL);
    for (size_t i = 0; i < assay_direct_count(rows); i++) {
        uint64_t n = (uint64_t)assay_direct_number(rows, i, 1);
        (void)snprintf(name, sizeof name, "rows_%llu", (unsigned long long)n);
        (void)add(context, list, name, ASSAY_DTYPE_F32, n, n);
    }
    uint64_t width_rows =
        (uint64_t)assay_direct_number(assay_direct_matrix(context, "width_rows", NULL), 0, 33);
    const json_t *widths = assay_direct_matrix(context, "widths", NULL);
    for (size_t i = 0; i < assay_direct_count(widths); i++) {
        int64_t width = assay_direct_number(widths, i, 256);
        (void)snprintf(name, sizeof name, "width_%lld", (long long)width);
        assay_numeric_case *item = add(context, list, name, ASSAY_DTYPE_F32, width_rows, context->seed);
        if (item != NULL) {
            (void)assay_direct_attr_set(&item->c.attrs, "width", (double)width);
        }
    }
    const json_t *periods = assay_direct_matrix(context, "max_periods", NULL);
    for (size_t i = 0; i < assay_direct_count(periods); i++) {
        double period = json_number_value(json_array_get(periods, i));
        (void)snprintf(name, sizeof name, "max_period_%g", period);
        assay_numeric_case *item = add(context, list, name, ASSAY_DTYPE_F32, width_rows, context->seed);
        if (item != NULL) {
            (void)assay_direct_attr_set(&item->c.attrs, "max_period", period);
        }
    }
}

static void add_dtypes(const assay_context *context, assay_numeric_list *list) {
    char name[64];
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)assay_direct_matrix(context, "narrow", NULL), i, row) {
        assay_dtype dtype = ASSAY_DTYPE_F32;
        uint64_t rows = (uint64_t)json_integer_value(json_object_get(row, "rows"));
        (void)assay_dtype_parse(json_string_value(json_object_get(row, "dtype")), &dtype);
        (void)snprintf(name, sizeof name, "%s_rows_%llu", assay_dtype_text(dtype), (unsigned long long)rows);
        (void)add(context, list, name, dtype, rows, rows);
    }
    const json_t *all =
        context->tier == ASSAY_TIER_QUICK ? NULL : assay_direct_matrix(context, "all_narrow", NULL);
    json_array_foreach((json_t *)all, i, row) {
        assay_dtype dtype = ASSAY_DTYPE_F32;
        (void)assay_dtype_parse(json_string_value(json_object_get(row, "dtype")), &dtype);
        (void)snprintf(name, sizeof name, "%s_all", assay_dtype_text(dtype));
        assay_values values = {.kind = ASSAY_VALUES_STRIDE,
                               .lo_bits = bits_of(json_object_get(row, "lo")),
                               .hi_bits = bits_of(json_object_get(row, "hi")),
                               .step = (uint32_t)json_integer_value(json_object_get(row, "step"))};
        add_values(context, list, name, dtype, &values, true, false);
    }
}

static void add_sets(const assay_context *context, const char *suite, assay_numeric_list *list) {
    /* A value list is owned by the caller of assay_values; the contract's list of hard inputs is the same for
     * every run of a process with this operator, and plans are made by one thread. */
    static uint32_t hard[64];
    const json_t *bits = assay_direct_matrix(context, "hard", NULL);
    size_t count = assay_direct_count(bits) < 64 ? assay_direct_count(bits) : 64;
    for (size_t i = 0; i < count; i++) {
        hard[i] = bits_of(json_array_get(bits, i));
    }
    add_values(context, list, "hard", ASSAY_DTYPE_F32,
               &(assay_values){.kind = ASSAY_VALUES_LIST, .count = count, .list = hard}, false, false);
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)assay_direct_matrix(context, "sets", NULL), i, row) {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        const json_t *tier = json_object_get(json_object_get(row, suite), assay_tier_text(context->tier));
        assay_values values = {.kind = ASSAY_VALUES_STRIDE,
                               .count = (uint64_t)json_integer_value(json_object_get(tier, "count")),
                               .step = (uint32_t)json_integer_value(json_object_get(tier, "step")),
                               .lo_bits = bits_of(json_object_get(row, "lo")),
                               .hi_bits = bits_of(json_object_get(row, "hi"))};
        if (kind != NULL && strcmp(kind, "uniform") == 0) {
            values.kind = ASSAY_VALUES_UNIFORM;
        } else if (kind != NULL && strcmp(kind, "grid") == 0) {
            values.kind = ASSAY_VALUES_GRID;
        }
        char name[64];
        (void)snprintf(name, sizeof name, "set_%s_%s%lld", json_string_value(json_object_get(row, "name")),
                       values.step != 0 ? "every_" : "",
                       values.step != 0 ? (long long)values.step : (long long)values.count);
        add_values(context, list, name, ASSAY_DTYPE_F32, &values, false, true);
    }
}

void assay_numeric_forward(const assay_context *context, const char *suite, assay_numeric_list *list) {
    list->count = 0;
    add_sizes(context, list);
    add_dtypes(context, list);
    const json_t *strided = assay_direct_matrix(context, "strided", NULL);
    uint64_t rows = (uint64_t)json_integer_value(json_object_get(strided, "rows"));
    if (rows > 0) {
        assay_numeric_case *item = add(context, list, "strided", ASSAY_DTYPE_F32, rows, context->seed);
        if (item != NULL) {
            item->c.stride = json_integer_value(json_object_get(strided, "stride"));
        }
    }
    uint64_t whole = (uint64_t)assay_direct_number(assay_direct_matrix(context, "one_call_rows", NULL), 0, 0);
    if (whole > 0) {
        char name[64];
        (void)snprintf(name, sizeof name, "one_call_%llu", (unsigned long long)whole);
        assay_numeric_case *item = add(context, list, name, ASSAY_DTYPE_F32, whole, context->seed);
        if (item != NULL) {
            item->whole = true;
        }
    }
    add_sets(context, suite, list);
}

bool assay_numeric_replayable(const assay_context *context, const char *lineage) {
    for (const char *const *known = context->op->lineages; *known != NULL; known++) {
        if (strcmp(*known, lineage) == 0) {
            return true;
        }
    }
    return false;
}

const assay_tolerance *assay_numeric_tolerance(const assay_context *context, bool backward,
                                               assay_dtype dtype) {
    const json_t *signature = json_object_get(context->contract->root, "signature");
    const json_t *entry = json_object_get(signature, backward ? "backward" : "forward");
    const char *output =
        json_string_value(json_object_get(json_array_get(json_object_get(entry, "outputs"), 0), "name"));
    return output == NULL ? NULL
                          : assay_contract_tolerance(context->contract, output, dtype,
                                                     backward ? "gradient_accuracy" : "accuracy");
}

/* ---- the walk ---- */

typedef struct walk {
    assay_context *context;
    const assay_check *check;
    assay_second second;
    assay_block_fn *judge;
    void *user;
    size_t channels, chunk_rows, block_rows;
    pthread_mutex_t mutex;
    uint64_t
        trouble_part; /* of `trouble`; the lowest wins, so that the reason does not depend on the schedule */
    assay_result trouble; /* PASS = none */
} walk;

static void walk_trouble(walk *w, uint64_t part, const assay_result *trouble) {
    (void)pthread_mutex_lock(&w->mutex);
    if (w->trouble.outcome == ASSAY_OUTCOME_PASS || part < w->trouble_part) {
        w->trouble = *trouble;
        w->trouble_part = part;
    }
    (void)pthread_mutex_unlock(&w->mutex);
}

/* Runs one worker on the chunk. False for a harness fault (with an error) or for trouble that ends the walk
 * (without one). */
static bool walk_call(walk *w, assay_worker *worker, bool baseline, uint64_t part, const float *x,
                      size_t rows, assay_exec *exec, assay_error *error) {
    assay_result trouble = {.outcome = ASSAY_OUTCOME_PASS};
    if (!assay_exec_forward(w->context, worker, &w->check->c, x, rows, NULL, exec, error)) {
        return false;
    }
    const char *what = baseline ? "baseline forward" : "forward";
    if (assay_result_expect_ok(&trouble, &exec->reply, what) &&
        assay_result_expect_clean(&trouble, exec, what)) {
        return true;
    }
    if (baseline && w->second == ASSAY_SECOND_WELCOME) {
        exec->output.data = NULL;
        return true;
    }
    if (baseline) {
        trouble.outcome = ASSAY_OUTCOME_UNAVAILABLE; /* not the candidate's fault */
    }
    walk_trouble(w, part, &trouble);
    return false;
}

static bool walk_part(assay_lane *lane, uint64_t part, void *user, assay_error *error) {
    walk *w = user;
    uint64_t first = part * w->chunk_rows;
    uint64_t left = w->check->c.rows - first;
    size_t rows = left < w->chunk_rows ? (size_t)left : w->chunk_rows;
    float *x = assay_numeric_alloc(rows, sizeof *x);
    assay_exec mine = {0};
    assay_exec other = {0};
    assay_case_inputs(&w->check->c, first, rows, x);
    bool good =
        walk_call(w, lane->candidate, false, part, x, rows, &mine, error) &&
        (w->second == ASSAY_SECOND_NONE || walk_call(w, lane->baseline, true, part, x, rows, &other, error));
    size_t blocks = (rows + w->block_rows - 1) / w->block_rows;
    uint32_t drawn[4];
    uint32_t counter[4] = {(uint32_t)part, (uint32_t)(part >> 32), 0, 0};
    assay_philox4x32(
        counter, assay_philox_key_of(w->context->op->name, w->check->name, "again", w->context->seed), drawn);
    for (size_t b = 0; good && b < blocks; b++) {
        size_t from = b * w->block_rows;
        size_t count = rows - from < w->block_rows ? rows - from : w->block_rows;
        const uint32_t *got = (const uint32_t *)mine.output.data + from * w->channels;
        const uint32_t *want =
            other.output.data != NULL ? (const uint32_t *)other.output.data + from * w->channels : NULL;
        assay_block block = {.first_row = first + from,
                             .rows = count,
                             .channels = w->channels,
                             .x = x + from,
                             .got = got,
                             .other = want,
                             .again = drawn[0] % blocks == b};
        good = w->judge(w->user, lane->index, &block, error);
    }
    free(x);
    return good;
}

bool assay_numeric_walk(assay_context *context, const assay_check *check, assay_second second,
                        assay_block_fn *judge, void *user, assay_result *result) {
    walk w = {.context = context,
              .check = check,
              .second = second,
              .judge = judge,
              .user = user,
              .trouble = {.outcome = ASSAY_OUTCOME_PASS},
              .channels = context->op->channels(&check->c.attrs)};
    size_t width = w.channels == 0 ? 1 : w.channels;
    w.chunk_rows = CHUNK_WORDS / width > 0 ? CHUNK_WORDS / width : 1;
    w.chunk_rows = w.chunk_rows < 8192 ? w.chunk_rows : 8192;
    w.chunk_rows = check->p[ASSAY_NUMERIC_WHOLE] != 0 ? (size_t)check->c.rows : w.chunk_rows;
    w.block_rows = ASSAY_BLOCK_WORDS / width > 0 ? ASSAY_BLOCK_WORDS / width : 1;
    uint64_t parts = (check->c.rows + w.chunk_rows - 1) / w.chunk_rows;
    assay_error error = {.code = ASSAY_CODE_OK};
    (void)pthread_mutex_init(&w.mutex, NULL);
    bool good = assay_context_parallel(context, parts, walk_part, &w, &error);
    (void)pthread_mutex_destroy(&w.mutex);
    if (!good) {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error.text);
        return false;
    }
    if (w.trouble.outcome != ASSAY_OUTCOME_PASS) {
        *result = w.trouble;
        return false;
    }
    return true;
}

/* ---- witnesses and the two judges ---- */

void assay_numeric_witness(assay_context *context, const assay_check *check, uint64_t row,
                           const uint32_t *got, const uint32_t *want) {
    size_t channels = context->op->channels(&check->c.attrs);
    size_t bytes = channels * sizeof *got;
    assay_check alone = *check;
    float x;
    assay_case_inputs(&check->c, row, 1, &x);
    uint32_t bits = assay_f32_bits(x);
    alone.c.rows = 1;
    alone.c.values = (assay_values){.kind = ASSAY_VALUES_LIST, .count = 1, .list = &bits};
    (void)snprintf(alone.c.name, sizeof alone.c.name, "witness");
    assay_exec exec = {0};
    assay_error error = {.code = ASSAY_CODE_OK};
    bool ran =
        assay_exec_forward(context, context->lanes[0].candidate, &alone.c, &x, 1, NULL, &exec, &error) &&
        exec.reply.result == ASSAY_CALL_ANSWERED && exec.reply.status == ASSAY_OK;
    bool shown = ran && memcmp(exec.output.data, want, bytes) != 0;
    const uint32_t *words = shown ? exec.output.data : got;
    size_t channel = assay_direct_first_difference(words, want, channels);
    char text[256];
    (void)snprintf(text, sizeof text, "timestep 0x%08x (%.9g)%s: channel %zu is 0x%08x, should be 0x%08x",
                   bits, (double)x, shown ? " alone" : " inside its batch only", channel,
                   channel < channels ? words[channel] : 0, channel < channels ? want[channel] : 0);
    char *json = assay_case_json(context, shown ? &alone : check);
    assay_witness_record witness = {.text = text,
                                    .case_json = json,
                                    .input = &bits,
                                    .input_bytes = sizeof bits,
                                    .got = words,
                                    .got_bytes = bytes,
                                    .want = want,
                                    .want_bytes = bytes};
    assay_record_witness(context, &witness);
    free(json);
}

bool assay_numeric_same_parity(const assay_parity *a, const assay_parity *b) {
    return a->elements == b->elements && a->differing == b->differing && a->zero_sign == b->zero_sign &&
           a->nan_number == b->nan_number && a->nan_payload == b->nan_payload && a->infinite == b->infinite &&
           a->numeric == b->numeric && a->max_ulp == b->max_ulp &&
           (a->differing == 0 || (a->first_index == b->first_index && a->first_got == b->first_got &&
                                  a->first_want == b->first_want)) &&
           (a->numeric == 0 || a->worst_index == b->worst_index) &&
           (a->histogram == NULL || b->histogram == NULL ||
            memcmp(a->histogram, b->histogram, sizeof *a->histogram) == 0);
}

/* Sums differ in the last places with the order of addition. */
static bool near(double a, double b) {
    return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

bool assay_numeric_same_accuracy(const assay_accuracy *a, const assay_accuracy *b) {
    return a->elements == b->elements && a->outside == b->outside && a->not_comparable == b->not_comparable &&
           a->correctly_rounded == b->correctly_rounded && near(a->max_abs, b->max_abs) &&
           near(a->max_ulp, b->max_ulp) && near(a->sum_ulp, b->sum_ulp) && a->worst_count == b->worst_count &&
           (a->worst_count == 0 || a->worst[0].index == b->worst[0].index) &&
           (a->outside == 0 || a->first_outside == b->first_outside) &&
           (a->histogram == NULL || b->histogram == NULL ||
            memcmp(a->histogram, b->histogram, sizeof *a->histogram) == 0);
}
