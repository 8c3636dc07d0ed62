/* invariance.c - the bytes of a row do not depend on the batch around it, nor on where its memory lies. The
 * candidate is its own oracle: every check compares with the candidate's own answer for one whole batch, by
 * bytes (h3.md 2.3, with every row covered at every sub-batch size). No reference is involved, so a wrong but
 * consistent candidate passes here and fails in accuracy. */
#include "invariance_batch.h"

#include <stdio.h>

extern const assay_suite assay_suite_invariance;

static void add(const assay_context *context, assay_plan *plan, int kind, int64_t p0, const assay_case *c,
                const char *what) {
    assay_check *check =
        assay_plan_add(plan, context, &assay_suite_invariance, "invariance", "%s_%s", what, c->name);
    if (check != NULL) {
        check->kind = kind;
        check->p[0] = p0;
        check->c = *c;
    }
}

/* `group` of the contract's invariance matrix: member `key`, resolved for the tier. */
static const json_t *member(const assay_context *context, const char *group, const char *key) {
    const json_t *value = json_object_get(assay_direct_matrix(context, "invariance", group), key);
    const json_t *tiered =
        json_is_object(value) ? json_object_get(value, assay_tier_text(context->tier)) : NULL;
    return tiered != NULL ? tiered : value;
}

static void add_windows(const assay_context *context, assay_plan *plan, int64_t width, assay_dtype dtype,
                        int64_t rows, int64_t size, int64_t seed) {
    assay_case c;
    char what[32];
    assay_direct_case(context, width, dtype, (uint64_t)rows, (uint64_t)seed, &c);
    (void)snprintf(what, sizeof what, "sub_%lld_of", (long long)size);
    add(context, plan, ASSAY_INVARIANCE_WINDOWS, size, &c, size == 1 ? "alone" : what);
}

/* The three published checks. */
static void plan_published(const assay_context *context, assay_plan *plan) {
    assay_case c;
    const json_t *sizes = member(context, "alone", "sizes");
    const json_t *seeds = member(context, "alone", "seeds");
    for (size_t i = 0; i < assay_direct_count(sizes) * assay_direct_count(seeds); i++) {
        size_t n = assay_direct_count(seeds);
        add_windows(context, plan, 0, ASSAY_DTYPE_F32, assay_direct_number(sizes, i / n, 64), 1,
                    assay_direct_number(seeds, i % n, 3));
    }
    int64_t rows = assay_direct_number(member(context, "sub_batches", "rows"), 0, 8192);
    sizes = member(context, "sub_batches", "sizes");
    seeds = member(context, "sub_batches", "seeds");
    for (size_t i = 0; i < assay_direct_count(sizes) * assay_direct_count(seeds); i++) {
        size_t n = assay_direct_count(seeds);
        add_windows(context, plan, 0, ASSAY_DTYPE_F32, rows, assay_direct_number(sizes, i / n, 1),
                    assay_direct_number(seeds, i % n, 3));
    }
    rows = assay_direct_number(member(context, "sweep", "rows"), 0, 2048);
    seeds = member(context, "sweep", "seeds");
    for (size_t i = 0; i < assay_direct_count(seeds); i++) {
        assay_direct_case(context, 0, ASSAY_DTYPE_F32, (uint64_t)rows,
                          (uint64_t)assay_direct_number(seeds, i, 3), &c);
        add(context, plan, ASSAY_INVARIANCE_SWEEP, 0, &c, "sweep");
    }
}

/* One value alone: a case whose whole batch is that one row. */
static void plan_lone(const assay_context *context, assay_plan *plan) {
    const json_t *group = assay_direct_matrix(context, "invariance", "lone_value");
    const json_t *batches = json_object_get(group, "batches");
    int64_t largest = 1;
    assay_case c;
    for (size_t i = 0; i < assay_direct_count(batches); i++) {
        int64_t n = assay_direct_number(batches, i, 1);
        largest = n > largest ? n : largest;
    }
    uint32_t bits = assay_f32_bits((float)json_number_value(json_object_get(group, "value")));
    assay_direct_case(context, 0, ASSAY_DTYPE_F32, 1, 1, &c);
    c.values = (assay_values){.kind = ASSAY_VALUES_ALL, .count = 1, .lo_bits = bits, .hi_bits = bits};
    add(context, plan, ASSAY_INVARIANCE_PROBE, largest, &c, "lone_value");
}

static void plan_neighbours(const assay_context *context, assay_plan *plan) {
    assay_case c;
    const json_t *permuted = assay_direct_matrix(context, "invariance", "permuted");
    assay_direct_case(context, 0, ASSAY_DTYPE_F32,
                      (uint64_t)assay_direct_number(json_object_get(permuted, "rows"), 0, 129), 1, &c);
    add(context, plan, ASSAY_INVARIANCE_PERMUTED,
        assay_direct_number(json_object_get(permuted, "repeat"), 0, 3), &c, "permuted");
    assay_direct_case(context, 0, ASSAY_DTYPE_F32, 300, 1, &c);
    add(context, plan, ASSAY_INVARIANCE_NEIGHBOURS, 0, &c, "neighbours");
    assay_direct_case(context, 0, ASSAY_DTYPE_F32, 64, 1, &c);
    add(context, plan, ASSAY_INVARIANCE_PADDING, 0, &c, "padding");
    assay_direct_case(context, 0, ASSAY_DTYPE_F32, context->tier == ASSAY_TIER_QUICK ? 300 : 2048, 1, &c);
    add(context, plan, ASSAY_INVARIANCE_SWITCHES, 0, &c, "switch_points");
}

static void plan_layout(const assay_context *context, assay_plan *plan) {
    static const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    const json_t *offsets = assay_direct_matrix(context, "invariance", "misalign_bytes");
    const json_t *strides = assay_direct_matrix(context, "invariance", "strides");
    assay_case c;
    char what[32];
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        assay_direct_case(context, 0, dtypes[d], 257, 1, &c);
        for (size_t i = 0; i < assay_direct_count(offsets); i++) {
            /* 16-bit inputs also start at odd halves of a word. */
            int64_t off = assay_direct_number(offsets, i, 4) / (d == 0 ? 1 : 2);
            c.misalign_bytes = (size_t)off;
            (void)snprintf(what, sizeof what, "misaligned_%lld", (long long)off);
            add(context, plan, ASSAY_INVARIANCE_MISALIGNED, off, &c, what);
        }
        c.misalign_bytes = 0;
        for (size_t i = 0; i < assay_direct_count(strides); i++) {
            c.stride = assay_direct_number(strides, i, 2);
            (void)snprintf(what, sizeof what, "stride_%lld", (long long)c.stride);
            add(context, plan, ASSAY_INVARIANCE_STRIDED, c.stride, &c, what);
        }
    }
}

static void plan_widths(const assay_context *context, assay_plan *plan) {
    const json_t *widths = assay_direct_matrix(context, "widths", NULL);
    int64_t rows = assay_direct_number(assay_direct_matrix(context, "width_rows", NULL), 0, 257);
    assay_attrs defaults;
    assay_direct_attrs(context->contract, &defaults);
    for (size_t i = 0; i < assay_direct_count(widths); i++) {
        int64_t width = assay_direct_number(widths, i, 0);
        if (width != (int64_t)context->op->channels(&defaults)) {
            add_windows(context, plan, width, ASSAY_DTYPE_F32, rows, 1, 3);
            add_windows(context, plan, width, ASSAY_DTYPE_F32, rows, 7, 3);
        }
    }
}

static void plan_dtypes_and_rows(const assay_context *context, assay_plan *plan) {
    static const assay_dtype narrow[] = {ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
    bool quick = context->tier == ASSAY_TIER_QUICK;
    for (size_t d = 0; d < 2; d++) {
        add_windows(context, plan, 0, narrow[d], quick ? 64 : 257, 1, 3);
        add_windows(context, plan, 0, narrow[d], quick ? 256 : 2048, 7, 3);
    }
    /* Row counts around 2^16 at the narrowest width: index arithmetic in 16 bits, grids that end at 65535. */
    for (int64_t rows = 65535; !quick && rows <= 65537; rows++) {
        add_windows(context, plan, 2, ASSAY_DTYPE_F32, rows, 4096, 3);
        add_windows(context, plan, 2, ASSAY_DTYPE_F32, rows, rows - 1, 3);
    }
    if (context->tier == ASSAY_TIER_FULL) {
        add_windows(context, plan, 0, ASSAY_DTYPE_F32, 131073, 65536, 3);
        add_windows(context, plan, 0, ASSAY_DTYPE_F32, 131073, 4097, 3);
    }
}

static void plan(const assay_context *context, assay_plan *out) {
    plan_published(context, out);
    plan_lone(context, out);
    plan_neighbours(context, out);
    plan_layout(context, out);
    plan_widths(context, out);
    plan_dtypes_and_rows(context, out);
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_whole whole;
    assay_error error = {0};
    const assay_invariance_kind *kind = &assay_invariance_kinds[check->kind];
    bool good = assay_whole_open(&whole, context, check, kind->room(&check->c, check->p[0]), &error) &&
                assay_context_parallel(context, kind->parts(&whole), kind->part, &whole, &error);
    if (good) {
        assay_whole_judge(&whole, context, check, result);
    } else {
        assay_result_set(result, ASSAY_OUTCOME_ERROR, "harness: %s", error.text);
    }
    assay_whole_close(&whole);
}

const assay_suite assay_suite_invariance = {
    .name = "invariance",
    .help = "a row's bytes do not depend on batch size, position, neighbours, padding, strides, alignment",
    .plan = plan,
    .run = run,
};
