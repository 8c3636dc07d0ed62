/* memory.c - every element is written, nothing else is touched, inputs stay, nothing beyond a buffer is read,
 * nothing happens after the answer, and indices survive 31 bits. Values are not judged here. */
#include "memory_run.h"

#include <stdio.h>

extern const assay_suite assay_suite_memory;

static const assay_memory_kind kinds[ASSAY_MEMORY_KIND_COUNT] = {
    [ASSAY_MEMORY_WRITTEN] = assay_memory_written,       [ASSAY_MEMORY_GUARDED] = assay_memory_guarded,
    [ASSAY_MEMORY_PREFILLED] = assay_memory_prefilled,   [ASSAY_MEMORY_AFTERWARDS] = assay_memory_afterwards,
    [ASSAY_MEMORY_FAR_STRIDE] = assay_memory_far_stride, [ASSAY_MEMORY_FAR_ROWS] = assay_memory_far_rows,
    [ASSAY_MEMORY_SANITIZED] = assay_memory_sanitized,
};

/* Tails: row counts and widths around every vector width. */
#define TAIL_ROWS 33
static const int64_t tail_widths[] = {2,  4,  6,  8,  10, 12, 14, 16,  18,  20,  22,  24,  26,
                                      28, 30, 32, 34, 62, 64, 66, 126, 130, 250, 254, 256, 258};
static const int64_t few_widths[] = {2, 6, 34, 250, 256};
static const assay_dtype dtypes[] = {ASSAY_DTYPE_F32, ASSAY_DTYPE_BF16, ASSAY_DTYPE_F16};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Adds a check; `what` and the dimensions make the name. Rows low..high are run one by one. */
static assay_check *add(const assay_context *context, assay_plan *plan, assay_memory_kind_id kind,
                        const char *what, bool backward, int64_t width, assay_dtype dtype, int64_t low,
                        int64_t high) {
    char rows[48];
    assay_case c;
    assay_direct_case(context, width, dtype, (uint64_t)high, context->seed, &c);
    (void)snprintf(rows, sizeof rows, low == high ? "%lld" : "%lld..%lld", (long long)low, (long long)high);
    assay_check *check = assay_plan_add(plan, context, &assay_suite_memory, "memory", "%s%s_%s_%sx%zu",
                                        backward ? "backward_" : "", what, assay_dtype_text(dtype), rows,
                                        assay_direct_channels(context, &c));
    if (check != NULL) {
        check->kind = (int)kind;
        check->p[0] = backward ? 1 : 0;
        check->p[1] = low;
        check->p[2] = high;
        check->c = c;
    }
    return check;
}

static void plan_written(const assay_context *context, assay_plan *plan) {
    bool quick = context->tier == ASSAY_TIER_QUICK;
    for (size_t i = 0; i < COUNT(tail_widths); i += quick ? 8 : 1) {
        add(context, plan, ASSAY_MEMORY_WRITTEN, "written", false, tail_widths[i], ASSAY_DTYPE_F32, 1,
            TAIL_ROWS);
    }
    for (size_t i = 0; i < COUNT(few_widths); i++) {
        add(context, plan, ASSAY_MEMORY_WRITTEN, "written", true, few_widths[i], ASSAY_DTYPE_F32, 1,
            TAIL_ROWS);
    }
    for (size_t d = 1; d < COUNT(dtypes); d++) {
        add(context, plan, ASSAY_MEMORY_WRITTEN, "written", false, 0, dtypes[d], 1, TAIL_ROWS);
        add(context, plan, ASSAY_MEMORY_WRITTEN, "written", true, 0, dtypes[d], 1, TAIL_ROWS);
    }
    const json_t *rows = assay_direct_matrix(context, "rows", NULL);
    for (size_t i = 0; i < assay_direct_count(rows); i++) {
        int64_t n = assay_direct_number(rows, i, 1);
        if (n > TAIL_ROWS) {
            add(context, plan, ASSAY_MEMORY_WRITTEN, "written", false, 0, ASSAY_DTYPE_F32, n, n);
        }
    }
    assay_check *strided =
        add(context, plan, ASSAY_MEMORY_WRITTEN, "written_strided", false, 0, ASSAY_DTYPE_F32, 1, TAIL_ROWS);
    if (strided != NULL) {
        strided->c.stride = 3;
    }
}

static void plan_guarded(const assay_context *context, assay_plan *plan) {
    static const struct {
        const char *name;
        assay_placement placement;
    } sides[] = {{"guard_behind", ASSAY_PLACE_AT_END}, {"guard_before", ASSAY_PLACE_AT_START}};
    bool quick = context->tier == ASSAY_TIER_QUICK;
    for (size_t i = 0; i < COUNT(sides) * COUNT(few_widths) * 2; i++) {
        size_t width = i / 2 % COUNT(few_widths);
        bool backward = (i & 1) != 0;
        size_t side = i / (2 * COUNT(few_widths));
        for (size_t d = 0; d < (quick ? 1 : COUNT(dtypes)); d++) {
            assay_check *check = add(context, plan, ASSAY_MEMORY_GUARDED, sides[side].name, backward,
                                     few_widths[width], dtypes[d], 1, TAIL_ROWS);
            if (check != NULL) {
                check->p[3] = (int64_t)sides[side].placement;
            }
        }
    }
    for (size_t i = 0; i < COUNT(sides); i++) {
        char what[32];
        (void)snprintf(what, sizeof what, "%s_strided", sides[i].name);
        assay_check *check =
            add(context, plan, ASSAY_MEMORY_GUARDED, what, false, 0, ASSAY_DTYPE_F32, 1, TAIL_ROWS);
        if (check != NULL) {
            check->c.stride = 2;
            check->p[3] = (int64_t)sides[i].placement;
        }
    }
}

/* A far input costs no memory: only the pages of its few elements exist. */
static void plan_far(const assay_context *context, assay_plan *plan) {
    static const struct {
        const char *what;
        assay_dtype dtype;
        int64_t stride; /* two strides pass 2^31 elements or 2^32 bytes */
    } far[] = {{"past_2_31_elements", ASSAY_DTYPE_BF16, (1LL << 30) + 8},
               {"past_2_32_bytes", ASSAY_DTYPE_F32, (1LL << 29) + 8}};
    for (size_t i = 0; i < COUNT(far); i++) {
        assay_check *check =
            add(context, plan, ASSAY_MEMORY_FAR_STRIDE, far[i].what, false, 0, far[i].dtype, 3, 3);
        if (check != NULL) {
            check->p[1] = far[i].stride;
        }
    }
    if (context->tier == ASSAY_TIER_FULL) {
        assay_attrs defaults;
        assay_direct_attrs(context->contract, &defaults);
        int64_t rows = (1LL << 31) / (int64_t)context->op->channels(&defaults) + 1;
        add(context, plan, ASSAY_MEMORY_FAR_ROWS, "output_past_2_31_elements", false, 0, ASSAY_DTYPE_F32,
            rows, rows);
    }
}

/* What no result shows: out of bounds inside an allocation's padding, races that happened to end well. */
static void plan_sanitized(const assay_context *context, assay_plan *plan) {
    for (int64_t tool = 0; tool < ASSAY_SANITIZER_TOOLS; tool++) {
        char what[32];
        (void)snprintf(what, sizeof what, "sanitizer_%s", assay_sanitizer_tools[tool]);
        assay_check *check =
            add(context, plan, ASSAY_MEMORY_SANITIZED, what, false, 0, ASSAY_DTYPE_F32, 257, 257);
        if (check != NULL) {
            check->p[3] = tool;
        }
    }
}

static void plan(const assay_context *context, assay_plan *out) {
    plan_written(context, out);
    for (int backward = 0; backward < 2; backward++) {
        add(context, out, ASSAY_MEMORY_PREFILLED, "prefilled", backward != 0, 0, ASSAY_DTYPE_F32, 33, 33);
        add(context, out, ASSAY_MEMORY_PREFILLED, "prefilled", backward != 0, 0, ASSAY_DTYPE_F32, 257, 257);
        add(context, out, ASSAY_MEMORY_AFTERWARDS, "afterwards", backward != 0, 0, ASSAY_DTYPE_F32, 64, 64);
    }
    add(context, out, ASSAY_MEMORY_AFTERWARDS, "afterwards", false, 0, ASSAY_DTYPE_F32, 1000, 1000);
    plan_guarded(context, out);
    plan_far(context, out);
    if (context->device != NULL && context->tier == ASSAY_TIER_FULL) {
        plan_sanitized(context, out);
    }
}

static void run(assay_context *context, const assay_check *check, assay_result *result) {
    assay_findings findings;
    assay_error error = {0};
    if (check->p[0] != 0 && !assay_worker_offers(context->lanes[0].candidate, context->op->name, true)) {
        assay_result_set(result, ASSAY_OUTCOME_UNSUPPORTED, "the adapter offers no backward");
        return;
    }
    assay_findings_open(&findings);
    bool good = kinds[check->kind](context, check, &findings, &error);
    assay_findings_close(&findings, good, &error, result);
}

const assay_suite assay_suite_memory = {
    .name = "memory",
    .help = "every element written, nothing else touched, inputs unchanged, nothing read beyond",
    .plan = plan,
    .run = run,
};
