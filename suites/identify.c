/* identify.c - the candidate answers every probe once; each lineage answers the first rows of all probes, and
 * the near ones everything. */
#include "identify.h"

#include "direct.h"
#include "runner_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Widths with a half that is no power of two tell a division from a reciprocal, other periods tell logarithms
 * apart (of 3100, logf is not the nearest FP32 value), many rows tell functions of nearly the same bits
 * apart.
 */
typedef struct probe_spec {
    int64_t width;
    double max_period;
    uint64_t rows;
} probe_spec;
static const probe_spec specs[] = {
    {256, 10000.0, 2048}, {1000, 10000.0, 256}, {320, 10000.0, 256}, {96, 10000.0, 256},
    {250, 10000.0, 256},  {256, 100.0, 256},    {256, 1e6, 256},     {256, 3100.0, 256},
};
enum {
    PROBES = sizeof specs / sizeof specs[0],
    GLANCE_ROWS = 64, /* of each probe, for every lineage */
    NEAR = 3          /* lineages that are compared throughout although none has the candidate's bits */
};

typedef struct probe {
    assay_case c;
    size_t channels;
    float *x;
    uint32_t *words; /* the candidate's outputs; NULL when it rejects the probe */
} probe;

typedef struct identify {
    assay_context context;
    assay_contract *contract;
    probe probes[PROBES];
} identify;

static bool make_probes(identify *id, assay_error *error) {
    for (size_t i = 0; i < PROBES; i++) {
        probe *p = &id->probes[i];
        char suffix[32];
        assay_direct_case(&id->context, specs[i].width, ASSAY_DTYPE_F32, specs[i].rows, 1, &p->c);
        (void)assay_direct_attr_set(&p->c.attrs, "max_period", specs[i].max_period);
        (void)snprintf(suffix, sizeof suffix, "_period%g", specs[i].max_period);
        (void)strncat(p->c.name, suffix, sizeof p->c.name - strlen(p->c.name) - 1);
        p->channels = assay_direct_channels(&id->context, &p->c);
        p->x = assay_direct_memory((size_t)p->c.rows, sizeof *p->x, error);
        if (p->x == NULL) {
            return false;
        }
        assay_case_inputs(&p->c, 0, (size_t)p->c.rows, p->x);
    }
    return true;
}

static assay_code open_worker(const assay_worker_options *options, const char *op, const char *name,
                              assay_worker **worker, assay_error *error) {
    if (assay_worker_open(options, worker, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    if (assay_worker_offers(*worker, op, false)) {
        return ASSAY_CODE_OK;
    }
    assay_worker_close(*worker);
    *worker = NULL;
    return assay_fail(error, ASSAY_CODE_USAGE, "%s: the adapter does not offer %s", name, op);
}

/* One answer of the candidate. Rejecting a probe is no fault: not every implementation takes every width. */
static assay_code ask_candidate(const identify *id, assay_worker *worker, const char *name, probe *p,
                                assay_error *error) {
    const size_t rows = (size_t)p->c.rows;
    assay_exec exec = {0};
    if (!assay_exec_forward(&id->context, worker, &p->c, p->x, rows, NULL, &exec, error)) {
        return error->code;
    }
    if (exec.reply.result == ASSAY_CALL_LOST) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s: %s: %s", name, p->c.name, exec.reply.reason);
    }
    if (exec.zone_damage > 0 || exec.input_changed) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s: %s: the call changed bytes that are not its own",
                          name, p->c.name);
    }
    if (exec.reply.status != ASSAY_OK) {
        return ASSAY_CODE_OK;
    }
    p->words = assay_direct_memory(rows * p->channels, sizeof *p->words, error);
    if (p->words == NULL) {
        return error->code;
    }
    memcpy(p->words, exec.output.data, rows * p->channels * sizeof *p->words);
    return ASSAY_CODE_OK;
}

static assay_code ask_candidate_all(identify *id, assay_worker *worker, const char *name,
                                    assay_identify_report *report, assay_error *error) {
    (void)snprintf(report->lineage, sizeof report->lineage, "%s", assay_worker_get_info(worker)->lineage);
    report->probes = PROBES;
    for (size_t i = 0; i < PROBES; i++) {
        probe *p = &id->probes[i];
        if (ask_candidate(id, worker, name, p, error) != ASSAY_CODE_OK) {
            return error->code;
        }
        if (p->words != NULL) {
            report->answered++;
            report->outputs += p->c.rows * p->channels;
        }
    }
    return report->answered > 0 ? ASSAY_CODE_OK
                                : assay_fail(error, ASSAY_CODE_INCOMPLETE, "%s: rejects every probe", name);
}

/* Adds the outputs of `rows` rows; `sum` collects the distances. */
static void compare(const probe *p, size_t rows, const uint32_t *lineage, assay_identify_row *row,
                    double *sum) {
    for (size_t i = 0; i < rows * p->channels; i++) {
        if (p->words[i] == lineage[i]) {
            continue;
        }
        if (row->differing++ == 0) {
            assay_departure *d = &row->first;
            (void)snprintf(d->probe, sizeof d->probe, "%s", p->c.name);
            d->row = i / p->channels;
            d->channel = i % p->channels;
            memcpy(&d->input, &p->x[d->row], sizeof d->input);
            d->got = p->words[i];
            d->want = lineage[i];
        }
        const double distance =
            fabs((double)assay_f32_from_bits(p->words[i]) - (double)assay_f32_from_bits(lineage[i]));
        *sum += isfinite(distance) ? distance : 2.0;
    }
    row->compared += rows * p->channels;
}

static assay_code ask_lineage(const identify *id, assay_worker *worker, size_t limit, assay_identify_row *row,
                              assay_error *error) {
    double sum = 0.0;
    row->compared = row->differing = 0;
    for (size_t i = 0; i < PROBES; i++) {
        const probe *p = &id->probes[i];
        const size_t rows = p->c.rows < limit ? (size_t)p->c.rows : limit;
        assay_exec exec = {0};
        if (p->words == NULL) {
            continue;
        }
        if (!assay_exec_forward(&id->context, worker, &p->c, p->x, rows, NULL, &exec, error)) {
            return error->code;
        }
        if (exec.reply.result == ASSAY_CALL_LOST || exec.reply.status != ASSAY_OK) {
            (void)snprintf(row->trouble, sizeof row->trouble, "%s: %.150s", p->c.name,
                           exec.reply.result == ASSAY_CALL_LOST ? exec.reply.reason : exec.reply.message);
            return ASSAY_CODE_OK;
        }
        compare(p, rows, exec.output.data, row, &sum);
    }
    row->mean_abs = row->compared > 0 ? sum / (double)row->compared : 0.0;
    row->whole = limit == SIZE_MAX;
    return ASSAY_CODE_OK;
}

/* One lineage, in a process of its own. What is wrong with it is in its row; only faults of the harness end
 * the whole. */
static assay_code visit(const identify *id, const assay_identify_options *o, size_t limit,
                        assay_identify_row *row, assay_error *error) {
    const assay_worker_options options = {.adapter = row->path, .call_timeout_ms = o->call_timeout_ms};
    const char *slash = strrchr(row->path, '/');
    assay_worker *worker = NULL;
    assay_error why = {0};
    (void)snprintf(row->name, sizeof row->name, "%s", slash != NULL ? slash + 1 : row->path);
    row->trouble[0] = '\0';
    if (open_worker(&options, o->op, row->name, &worker, &why) != ASSAY_CODE_OK) {
        (void)snprintf(row->trouble, sizeof row->trouble, "%.250s", why.text);
        return ASSAY_CODE_OK;
    }
    const assay_worker_info *info = assay_worker_get_info(worker);
    (void)snprintf(row->name, sizeof row->name, "%s", info->name);
    (void)snprintf(row->text, sizeof row->text, "%s", info->description);
    assay_code code = ASSAY_CODE_OK;
    if (info->memory != ASSAY_MEMORY_HOST) {
        (void)snprintf(row->trouble, sizeof row->trouble, "does not work on host memory");
    } else {
        code = ask_lineage(id, worker, limit, row, error);
    }
    assay_worker_close(worker);
    return code;
}

static int nearer(const void *a, const void *b) {
    const assay_identify_row *x = a;
    const assay_identify_row *y = b;
    const bool x_bad = x->trouble[0] != '\0';
    const bool y_bad = y->trouble[0] != '\0';
    if (x_bad != y_bad) {
        return x_bad ? 1 : -1;
    }
    if (!x_bad) {
        /* shares, since a glance compares fewer outputs */
        const double s = (double)x->differing / (double)(x->compared > 0 ? x->compared : 1);
        const double t = (double)y->differing / (double)(y->compared > 0 ? y->compared : 1);
        if (s < t || s > t) {
            return s < t ? -1 : 1;
        }
        if (x->mean_abs < y->mean_abs || x->mean_abs > y->mean_abs) {
            return x->mean_abs < y->mean_abs ? -1 : 1;
        }
    }
    return strcmp(x->name, y->name);
}

static assay_code ask_lineages(const identify *id, const assay_identify_options *o,
                               assay_identify_report *report, assay_error *error) {
    report->rows = assay_direct_memory(o->lineage_count, sizeof *report->rows, error);
    if (report->rows == NULL) {
        return error->code;
    }
    report->count = o->lineage_count;
    for (size_t i = 0; i < report->count; i++) {
        report->rows[i].path = o->lineages[i];
        if (visit(id, o, GLANCE_ROWS, &report->rows[i], error) != ASSAY_CODE_OK) {
            return error->code;
        }
    }
    qsort(report->rows, report->count, sizeof *report->rows, nearer);
    for (size_t i = 0; i < report->count; i++) {
        assay_identify_row *row = &report->rows[i];
        const bool near = row->differing == 0 || i < NEAR;
        if (row->trouble[0] == '\0' && near && visit(id, o, SIZE_MAX, row, error) != ASSAY_CODE_OK) {
            return error->code;
        }
    }
    qsort(report->rows, report->count, sizeof *report->rows, nearer);
    if (report->rows[0].trouble[0] != '\0') {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "no lineage could be compared: %s: %.200s",
                          report->rows[0].name, report->rows[0].trouble);
    }
    while (report->matching < report->count && report->rows[report->matching].trouble[0] == '\0' &&
           report->rows[report->matching].differing == 0) {
        report->matching++;
    }
    return ASSAY_CODE_OK;
}

/* The candidate's part: its device, its worker, its answers. */
static assay_code ask(identify *id, const assay_identify_options *o, assay_identify_report *report,
                      assay_error *error) {
    assay_worker_options options = {.adapter = o->impl_path, .call_timeout_ms = o->call_timeout_ms};
    assay_worker *worker = NULL;
    const bool device = strcmp(o->device, "cpu") != 0;
    if (device) {
        options.device_name = o->device;
        options.plugin = assay_runner_device_plugin(o->device, &options.device, error);
        if (options.plugin == NULL) {
            return error->code;
        }
    }
    assay_code code = open_worker(&options, o->op, o->impl_name, &worker, error);
    /* the other mismatch is refused when the worker is opened */
    if (code == ASSAY_CODE_OK && device && assay_worker_get_info(worker)->memory != ASSAY_MEMORY_CUDA) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "%s: the adapter works on host memory, --device is %s",
                          o->impl_name, o->device);
    }
    if (code == ASSAY_CODE_OK) {
        code = ask_candidate_all(id, worker, o->impl_name, report, error);
    }
    if (worker != NULL) {
        assay_worker_close(worker);
    }
    if (device) {
        options.plugin->close(options.device);
    }
    return code;
}

assay_code assay_identify(const assay_identify_options *o, assay_identify_report *report,
                          assay_error *error) {
    identify id = {.context = {.op = assay_operator_find(o->op), .lineage = "", .baseline_lineage = ""}};
    *report = (assay_identify_report){0};
    if (id.context.op == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "--op %s: unknown operator (assay list shows them)",
                          o->op);
    }
    assay_code code = assay_contract_parse(id.context.op->contract_json, *id.context.op->contract_bytes,
                                           &id.contract, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    id.context.contract = id.contract;
    code = !make_probes(&id, error) ? error->code : ask(&id, o, report, error);
    if (code == ASSAY_CODE_OK) {
        code = ask_lineages(&id, o, report, error);
    }
    for (size_t i = 0; i < PROBES; i++) {
        free(id.probes[i].x);
        free(id.probes[i].words);
    }
    assay_contract_free(id.contract);
    return code;
}

void assay_identify_free(assay_identify_report *report) {
    free(report->rows);
    *report = (assay_identify_report){0};
}
