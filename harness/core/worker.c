/* worker.c - the judge's handle: calls, losses and restarts. See worker.h for the contract. */
#include "worker_private.h"

#include "clock.h"
#include "digest.h"
#include "text.h"

#include <sodium/randombytes.h>
#include <stdlib.h>
#include <string.h>

void assay_worker_restart(assay_worker *worker) {
    if (worker->process.pid >= 0) {
        const bool idle = worker->flight == FLIGHT_NONE;
        worker->line.used = 0;
        worker->line.failed = false;
        assay_write_plain(&worker->line, ASSAY_MESSAGE_EXIT, NULL);
        const bool polite = idle && assay_process_send(&worker->process, &worker->line, assay_deadline_ns());
        assay_process_end(&worker->process, polite ? worker->exit_patience_ms : 0, NULL, 0);
    }
    if (worker->flight == FLIGHT_SENT) {
        worker->flight = FLIGHT_LOST;
        (void)snprintf(worker->reason, sizeof worker->reason, "the judge ended the worker");
    }
}

void assay_worker_close(assay_worker *worker) {
    if (worker == NULL) {
        return;
    }
    assay_worker_restart(worker);
    assay_process_free(&worker->process);
    assay_mirror_release(worker, true);
    assay_arena_destroy(worker->arena);
    assay_message_free(&worker->hello);
    json_decref(worker->nothing);
    free(worker->line.bytes);
    free(worker->adapter);
    free(worker->self);
    free(worker);
}

/* ---- what the handle knows ---- */

const assay_worker_info *assay_worker_get_info(const assay_worker *worker) {
    return &worker->info;
}

assay_arena *assay_worker_arena(assay_worker *worker) {
    return worker->arena;
}

bool assay_worker_offers(const assay_worker *worker, const char *op, bool backward) {
    for (size_t i = 0; i < json_array_size(worker->info.operators); i++) {
        const json_t *o = json_array_get(worker->info.operators, i);
        if (strcmp(json_string_value(json_object_get(o, "name")), op) == 0) {
            return json_is_true(json_object_get(o, backward ? "backward" : "forward"));
        }
    }
    return false;
}

int assay_worker_pid(const assay_worker *worker) {
    return worker->process.pid;
}

unsigned assay_worker_generation(const assay_worker *worker) {
    return worker->generation;
}

/* ---- calls ---- */

static void fresh_id(char id[17]) {
    uint8_t bytes[8];
    randombytes_buf(bytes, sizeof bytes);
    assay_hex(bytes, sizeof bytes, id);
}

static bool compose(assay_worker *w, const assay_call_spec *spec, assay_error *error) {
    const bool mirrors = w->info.memory == ASSAY_MEMORY_CUDA;
    assay_device_call device;
    if (spec->op == NULL || spec->attr_count > ASSAY_MAX_ATTRS || spec->input_count > ASSAY_MAX_TENSORS ||
        spec->output_count > ASSAY_MAX_TENSORS || spec->repeat > ASSAY_MAX_REPEAT) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "call: at most %d attributes and %d tensors each way",
                         ASSAY_MAX_ATTRS, ASSAY_MAX_TENSORS);
        return false;
    }
    if (mirrors && !assay_mirror_send(w, spec, &device, error)) {
        return false;
    }
    fresh_id(w->id);
    w->line.used = 0;
    w->line.failed = false;
    assay_write_call(&w->line, w->id, spec->op, spec->backward, spec->attrs, spec->attr_count, spec->inputs,
                     spec->input_count, spec->outputs, spec->output_count,
                     spec->repeat == 0 ? 1 : spec->repeat, spec->other_thread, mirrors ? &device : NULL);
    if (w->line.failed) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "call of %s does not fit into a message", spec->op);
        return false;
    }
    return true;
}

/* A fresh process when none is running. False for harness faults; a candidate that does not start again is a
 * lost call. */
static bool ensure_running(assay_worker *w, assay_error *error) {
    if (w->process.pid >= 0) {
        return true;
    }
    const assay_code code = assay_worker_start(w, error);
    if (code == ASSAY_CODE_REFUSED) {
        char what[sizeof w->reason];
        memcpy(what, w->reason, sizeof what);
        (void)snprintf(w->reason, sizeof w->reason, "did not start again: %.220s", what);
        w->flight = FLIGHT_LOST;
        return true;
    }
    return code == ASSAY_CODE_OK;
}

bool assay_worker_send(assay_worker *worker, const assay_call_spec *spec, assay_error *error) {
    assay_worker *w = worker;
    if (w->flight != FLIGHT_NONE) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "a call is already in flight");
        return false;
    }
    if (!ensure_running(w, error)) {
        return false;
    }
    w->timeout_ms = spec->timeout_ms == 0 ? w->call_timeout_ms : spec->timeout_ms;
    w->sent_raw_ns = assay_clock_ns();
    if (w->flight == FLIGHT_LOST) {
        return true;
    }
    if (!compose(w, spec, error)) {
        return false;
    }
    if (assay_process_has_input(&w->process)) {
        assay_worker_lose(w, 0, "protocol error: a message between calls");
        w->flight = FLIGHT_LOST;
        return true;
    }
    w->deadline_ns = assay_deadline_ns() + (uint64_t)w->timeout_ms * 1000000u;
    w->sent_raw_ns = assay_clock_ns();
    if (assay_process_send(&w->process, &w->line, w->deadline_ns)) {
        w->flight = FLIGHT_SENT;
    } else {
        assay_worker_lose(w, DYING_PATIENCE_MS, "ended or closed its socket between calls");
        w->flight = FLIGHT_LOST;
    }
    return true;
}

/* Judges the line that answers the call in flight. NULL when it is a valid result, else the rule that it
 * breaks. */
static const char *accept_result(assay_worker *w, const char *line, size_t n, assay_call_reply *reply,
                                 assay_error *fault) {
    assay_message m;
    const char *rule = NULL;
    if (assay_protocol_parse(line, n, &m, fault) != ASSAY_CODE_OK) {
        return fault->text;
    }
    if (m.type != ASSAY_MESSAGE_RESULT) {
        rule = "expected a result";
    } else if (strcmp(m.id, w->id) != 0) {
        rule = "result with the wrong id";
    } else if (assay_process_has_input(&w->process)) {
        rule = "more than one answer to a call";
    } else {
        reply->result = ASSAY_CALL_ANSWERED;
        reply->status = m.status;
        reply->worker_ns = (uint64_t)m.ns;
        reply->device_ns = (uint64_t)m.device_ns;
        reply->peak_bytes = (uint64_t)m.peak_bytes;
        (void)snprintf(reply->message, sizeof reply->message, "%s", m.text);
        assay_text_tidy(reply->message);
    }
    assay_message_free(&m);
    return rule;
}

bool assay_worker_wait(assay_worker *worker, assay_call_reply *reply, assay_error *error) {
    assay_worker *w = worker;
    const char *line = NULL;
    size_t n = 0;
    if (w->flight == FLIGHT_NONE) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "no call is in flight");
        return false;
    }
    *reply = (assay_call_reply){.result = ASSAY_CALL_LOST, .status = ASSAY_INTERNAL};
    if (w->flight == FLIGHT_SENT) {
        const assay_wait_end end = assay_process_wait(&w->process, w->deadline_ns, &line, &n);
        reply->judge_ns = assay_clock_ns() - w->sent_raw_ns;
        if (end != ASSAY_WAIT_LINE) {
            assay_worker_lose_wait(w, end, w->timeout_ms);
        } else {
            assay_error fault = {0};
            const char *rule = accept_result(w, line, n, reply, &fault);
            if (rule != NULL) {
                char what[200];
                (void)snprintf(what, sizeof what, "protocol error: %.160s", rule);
                assay_worker_lose(w, 0, what);
            }
        }
    }
    if (reply->result == ASSAY_CALL_LOST) {
        memcpy(reply->reason, w->reason, sizeof reply->reason);
    }
    w->flight = FLIGHT_NONE;
    return reply->result == ASSAY_CALL_LOST || w->info.memory != ASSAY_MEMORY_CUDA ||
           assay_mirror_receive(w, error);
}

bool assay_worker_call(assay_worker *worker, const assay_call_spec *spec, assay_call_reply *reply,
                       assay_error *error) {
    return assay_worker_send(worker, spec, error) && assay_worker_wait(worker, reply, error);
}
