/* exec.c - runs one case on one worker: places inputs, poisons outputs, calls, looks for damage. It judges
 * nothing. */
#include "digest.h"
#include "direct.h"
#include "philox.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

void assay_case_inputs(const assay_case *c, uint64_t first_row, size_t rows, float *x) {
    assay_values_fill(&c->values, first_row, rows, x);
    if (c->dtype == ASSAY_DTYPE_F32) {
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        uint16_t narrow;
        assay_dtype_store_f32(c->dtype, &narrow, 0, x[i]);
        x[i] = assay_dtype_load_f32(c->dtype, &narrow, 0);
    }
}

void assay_case_upstream(const assay_context *context, const assay_case *c, size_t channels,
                         uint64_t first_row, size_t rows, float *g) {
    assay_philox_key key = assay_philox_key_of(context->op->name, c->name, "upstream", c->seed);
    assay_philox_normal(key, first_row * channels, rows * channels, g);
}

char *assay_case_json(const assay_context *context, const assay_check *check) {
    static const char *const kinds[] = {
#define X(id, text, meaning) text,
        ASSAY_VALUES_LIST(X)
#undef X
    };
    const assay_case *c = &check->c;
    json_t *root = json_pack(
        "{s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:{s:s, s:I}}", "operator", context->op->name, "case",
        c->name, "attributes", assay_direct_attrs_json(&c->attrs), "dtype", assay_dtype_text(c->dtype),
        "rows", (json_int_t)c->rows, "stride", (json_int_t)(c->stride == 0 ? 1 : c->stride), "misalign_bytes",
        (json_int_t)c->misalign_bytes, "seed", (json_int_t)c->seed, "values", "set",
        kinds[(size_t)c->values.kind % ASSAY_VALUES_COUNT], "count", (json_int_t)c->values.count);
    if (c->values.kind == ASSAY_VALUES_STRIDE || c->values.kind == ASSAY_VALUES_ALL) {
        json_t *values = json_object_get(root, "values");
        (void)json_object_set_new(values, "lo_bits", json_integer((json_int_t)c->values.lo_bits));
        (void)json_object_set_new(values, "hi_bits", json_integer((json_int_t)c->values.hi_bits));
        (void)json_object_set_new(values, "step", json_integer((json_int_t)c->values.step));
    }
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(root);
    return text;
}

/* Allocates the row input (rank 1, strided as the case says) and writes x narrowed to the case's dtype. */
static bool place_input(assay_arena *arena, const assay_case *c, const float *x, size_t rows,
                        assay_placement placement, bool keep, assay_tensor *input, assay_error *error) {
    int64_t stride = c->stride == 0 ? 1 : c->stride;
    assay_tensor_spec spec = {.dtype = c->dtype,
                              .ndim = 1,
                              .shape = {(int64_t)rows},
                              .strides = &stride,
                              .placement = placement,
                              .misalign_bytes = c->misalign_bytes};
    if (!keep) {
        if (assay_tensor_alloc(arena, &spec, input, error) != ASSAY_CODE_OK) {
            return false;
        }
        assay_tensor_poison(input, ASSAY_POISON_A);
    }
    char *base = input->data;
    size_t bytes = assay_dtype_bytes(c->dtype);
    if (c->dtype == ASSAY_DTYPE_F32 && stride == 1) {
        memcpy(base, x, rows * sizeof *x);
    } else {
        for (size_t i = 0; i < rows; i++) {
            assay_dtype_store_f32(c->dtype, base + (size_t)stride * bytes * i, 0, x[i]);
        }
    }
    return true;
}

static bool place_matrix(assay_arena *arena, const assay_case *c, size_t rows, size_t channels,
                         assay_placement placement, const float *content, bool keep, assay_tensor *tensor,
                         assay_error *error) {
    if (!keep) {
        assay_tensor_spec spec = {.dtype = ASSAY_DTYPE_F32,
                                  .ndim = 2,
                                  .shape = {(int64_t)rows, (int64_t)channels},
                                  .placement = placement,
                                  .misalign_bytes = c->misalign_bytes & ~(size_t)3};
        if (assay_tensor_alloc(arena, &spec, tensor, error) != ASSAY_CODE_OK) {
            return false;
        }
        if (content != NULL) {
            assay_tensor_poison(tensor, ASSAY_POISON_A);
        }
    }
    if (content != NULL) {
        memcpy(tensor->data, content, rows * channels * sizeof *content);
    }
    return true;
}

/* A fast fingerprint of a whole segment (data, zones and padding), page by page. */
static assay_tile segment_fingerprint(const assay_tensor *tensor) {
    assay_tile tile = {{0, 0}};
    const char *start = (const char *)tensor->data - (tensor->data_offset - tensor->segment_offset);
    assay_tile_add(&tile, (const uint32_t *)(const void *)start, 1024, 0, tensor->segment_bytes / 4096);
    return tile;
}

/* Calls, then compares the inputs' segments with the fingerprints taken before and looks at the output's
 * zones. */
static bool call_and_look(const assay_context *context, assay_worker *worker, const assay_case *c,
                          bool backward, const assay_tensor *const *inputs, size_t input_count,
                          const assay_exec_options *options, uint32_t poison, assay_exec *exec,
                          assay_error *error) {
    const assay_tensor *output = &exec->output;
    const assay_tensor *const outputs[] = {output};
    assay_tile before[3];
    for (size_t i = 0; i < input_count; i++) {
        before[i] = segment_fingerprint(inputs[i]);
    }
    assay_call_spec spec = {.op = context->op->name,
                            .backward = backward,
                            .attrs = c->attrs.items,
                            .attr_count = c->attrs.count,
                            .inputs = inputs,
                            .input_count = input_count,
                            .outputs = outputs,
                            .output_count = 1,
                            .repeat = options->repeat,
                            .other_thread = options->other_thread,
                            .stream = options->stream,
                            .delay_us = options->delay_us,
                            .graph = options->graph,
                            .apart = options->apart};
    if (!assay_worker_call(worker, &spec, &exec->reply, error)) {
        return false;
    }
    exec->input_changed = false;
    exec->zone_damage = assay_tensor_zone_damage(output, poison, NULL);
    for (size_t i = 0; i < input_count; i++) {
        assay_tile after = segment_fingerprint(inputs[i]);
        exec->input_changed |= memcmp(&before[i], &after, sizeof after) != 0;
    }
    return true;
}

bool assay_exec_forward(const assay_context *context, assay_worker *worker, const assay_case *c,
                        const float *x, size_t rows, const assay_exec_options *options, assay_exec *exec,
                        assay_error *error) {
    static const assay_exec_options defaults = {0};
    options = options != NULL ? options : &defaults;
    assay_arena *arena = assay_worker_arena(worker);
    uint32_t poison = options->poison != 0 ? options->poison : ASSAY_POISON_A;
    size_t channels = context->op->channels(&c->attrs);
    if (!options->keep_layout) {
        assay_arena_reset(arena, false);
    }
    if (!place_input(arena, c, x, rows, options->placement, options->keep_layout, &exec->input, error) ||
        !place_matrix(arena, c, rows, channels, options->placement, NULL, options->keep_layout, &exec->output,
                      error)) {
        return false;
    }
    assay_tensor_poison(&exec->output, poison);
    const assay_tensor *const inputs[] = {&exec->input};
    return call_and_look(context, worker, c, false, inputs, 1, options, poison, exec, error);
}

bool assay_exec_backward(const assay_context *context, assay_worker *worker, const assay_case *c,
                         const float *x, const float *saved, const float *upstream, size_t rows,
                         const assay_exec_options *options, assay_exec *exec, assay_error *error) {
    static const assay_exec_options defaults = {0};
    options = options != NULL ? options : &defaults;
    assay_arena *arena = assay_worker_arena(worker);
    uint32_t poison = options->poison != 0 ? options->poison : ASSAY_POISON_A;
    size_t channels = context->op->channels(&c->attrs);
    bool keep = options->keep_layout;
    if (!keep) {
        assay_arena_reset(arena, false);
    }
    if (!place_input(arena, c, x, rows, options->placement, keep, &exec->input, error) ||
        !place_matrix(arena, c, rows, channels, options->placement, saved, keep, &exec->saved, error) ||
        !place_matrix(arena, c, rows, channels, options->placement, upstream, keep, &exec->upstream, error)) {
        return false;
    }
    assay_tensor_spec spec = {.dtype = c->dtype,
                              .ndim = 1,
                              .shape = {(int64_t)rows},
                              .placement = options->placement,
                              .misalign_bytes = c->misalign_bytes};
    if (!keep && assay_tensor_alloc(arena, &spec, &exec->output, error) != ASSAY_CODE_OK) {
        return false;
    }
    assay_tensor_poison(&exec->output, poison);
    const assay_tensor *const inputs[] = {&exec->upstream, &exec->saved, &exec->input};
    return call_and_look(context, worker, c, true, inputs, 3, options, poison, exec, error);
}
