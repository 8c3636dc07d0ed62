/* timing_device_watch.c - between the iterations on a GPU: what the management library says, floor and roofs
 * by the judge's kernels, and whether what was timed gave the right bytes. */
#include "timing_device.h"

#include "digest.h"

#include <stdlib.h>
#include <string.h>

#define READ_EVERY  8  /* iterations */
#define BOUND_EVERY 25 /* likewise; also before the first and after the last */

static void take_reading(assay_device_watch *w, size_t done) {
    if (w->nvml == NULL || w->count == ASSAY_DEVICE_READINGS) {
        return;
    }
    assay_nvml_read(w->nvml, &w->readings[w->count]);
    w->done[w->count] = done;
    w->bad[w->count] = assay_nvml_throttled(&w->readings[w->count]);
    w->count++;
}

static uint64_t rounded(double ns) {
    return ns > 0.0 ? (uint64_t)(ns + 0.5) : 0;
}

static bool take_bounds(assay_device_bench *bench, assay_error *error) {
    const assay_device_plugin *plugin = bench->context->plugin;
    assay_device *device = bench->context->device;
    assay_device_watch *w = &bench->watch;
    char *output = bench->candidate.arena + bench->candidate.outputs[0].data_offset;
    double ns[ASSAY_DEVICE_BOUND_COUNT] = {0};
    if (bench->figure == ASSAY_TIMING_FIGURE_HOST || w->bound_count == ASSAY_DEVICE_READINGS) {
        return true;
    }
    if (plugin->floor(device, bench->figure == ASSAY_TIMING_FIGURE_DEVICE, bench->floor_repeat,
                      &ns[ASSAY_DEVICE_FLOOR], error) != ASSAY_CODE_OK ||
        plugin->roof(device, ASSAY_ROOF_MEMSET, output, bench->fill_bytes, &ns[ASSAY_DEVICE_FILL], error) !=
            ASSAY_CODE_OK ||
        (bench->read.address != NULL &&
         plugin->roof(device, ASSAY_ROOF_READ, bench->read.address, bench->backward_bytes,
                      &ns[ASSAY_DEVICE_READ], error) != ASSAY_CODE_OK)) {
        return false;
    }
    for (size_t i = 0; i < ASSAY_DEVICE_BOUND_COUNT; i++) {
        const double calls = i == ASSAY_DEVICE_FLOOR ? (double)bench->floor_repeat : 1.0;
        w->bounds[i][w->bound_count] = rounded(ns[i] * calls);
    }
    w->bound_count++;
    return true;
}

bool assay_device_watch_between(void *user, size_t done, assay_error *error) {
    assay_device_bench *bench = user;
    if (done % READ_EVERY == 0) {
        take_reading(&bench->watch, done);
    }
    return done % BOUND_EVERY != 0 || take_bounds(bench, error);
}

bool assay_device_watch_end(assay_device_bench *bench, size_t done, assay_error *error) {
    take_reading(&bench->watch, done);
    return take_bounds(bench, error);
}

/* ---- bytes ---- */

#ifndef DOWNLOAD_BYTES
#define DOWNLOAD_BYTES ((size_t)64 << 20) /* larger outputs are digested where they are */
#endif

/* SHA-256 of the bytes at `t`: of themselves, or of the digest of their tiles. */
static bool hash_of(const assay_device_bench *bench, const assay_device_side *side, const assay_tensor *t,
                    uint8_t hash[ASSAY_HASH_BYTES], assay_error *error) {
    const assay_device_plugin *plugin = bench->context->plugin;
    assay_device *device = bench->context->device;
    const char *from = side->arena + t->data_offset;
    const bool here = t->span_bytes <= DOWNLOAD_BYTES;
    const size_t tiles = (bench->rows + ASSAY_TILE_ROWS - 1) / ASSAY_TILE_ROWS;
    const size_t bytes = here ? t->span_bytes : tiles * sizeof(assay_tile);
    void *what = calloc(bytes, 1);
    if (what == NULL) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "timing: no memory for %zu bytes", bytes);
        return false;
    }
    const assay_device_judgment judgment = {.got = from,
                                            .rows = bench->rows,
                                            .channels = bench->channels,
                                            .tiles = what,
                                            .op = bench->context->op->name,
                                            .attrs = bench->checked.items,
                                            .attr_count = bench->checked.count};
    const assay_code code =
        here ? plugin->download(device, what, from, bytes, error) : plugin->judge(device, &judgment, error);
    assay_sha256(what, bytes, hash);
    free(what);
    return code == ASSAY_CODE_OK;
}

/* Poisons the output, makes the call, hashes what it left. Row input k, output k where there are several. */
static bool answer(assay_device_slot *slot, size_t k, bool checked, uint8_t hash[ASSAY_HASH_BYTES],
                   assay_error *error) {
    const assay_device_bench *bench = slot->bench;
    const assay_device_side *side = slot->side;
    const assay_tensor *y = slot->kind->backward ? &side->gradient : &side->outputs[k % side->output_count];
    assay_device_kind kind = *slot->kind;
    assay_device_slot once = *slot;
    kind.checked = checked;
    once.kind = &kind;
    once.calls = k;
    const bool good =
        bench->context->plugin->fill(bench->context->device, side->arena + y->data_offset, y->span_bytes,
                                     ASSAY_POISON_B, 0, error) == ASSAY_CODE_OK &&
        assay_device_slot_call(&once, checked ? 1 : slot->repeat, checked ? 0 : slot->graph, false, error) &&
        hash_of(bench, side, y, hash, error);
    slot->reply = once.reply;
    return good;
}

bool assay_device_same_bytes(assay_device_slot *slot, bool *different, assay_error *error) {
    const assay_device_bench *bench = slot->bench;
    const assay_device_side *side = slot->side;
    const assay_tensor *x = &side->inputs[0];
    uint8_t hash[2][ASSAY_HASH_BYTES];
    assay_case c;
    float *values = assay_direct_memory(bench->rows, sizeof *values, error);
    if (values == NULL) {
        return false;
    }
    /* The same values, which no timed call has seen, at two addresses that every timed call has seen: an
     * answer kept by address is then another one for each. */
    assay_direct_case(bench->context, 0, x->dtype, bench->rows, ~bench->context->seed, &c);
    assay_case_inputs(&c, 0, bench->rows, values);
    assay_direct_put(x, values);
    free(values);
    for (size_t k = 0; k < 2; k++) {
        if (bench->context->plugin->upload(bench->context->device, side->arena + side->inputs[k].data_offset,
                                           x->data, x->span_bytes, error) != ASSAY_CODE_OK) {
            return false;
        }
    }
    if (!answer(slot, 0, slot->kind->checked, hash[0], error) || !answer(slot, 1, true, hash[1], error)) {
        return false;
    }
    *different = memcmp(hash[0], hash[1], sizeof hash[0]) != 0;
    return true;
}
