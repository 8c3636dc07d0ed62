/* suite.h - what a suite is, and what it gets to work with.
 *
 * A suite has two functions. `plan` lists its checks for a contract and tier (what the contract asks for, so
 * that what did not run can be computed). `run` carries out one check and fills *result; details (metrics,
 * histograms, elements, samples, witnesses) go through assay_record_*. The runner journals, times, stores and
 * survives. A suite never touches the database. */
#ifndef ASSAY_SUITE_H
#define ASSAY_SUITE_H

#include "compare.h"
#include "contract.h"
#include "error.h"
#include "operator.h"
#include "store.h"
#include "terms.h"
#include "values.h"
#include "worker.h"

#include <jansson.h>

/* X(identifier, text, help). One file suites/<text>.c per row, defining `const assay_suite
 * assay_suite_<identifier>`. */
#define ASSAY_SUITE_LIST(X)                                                                                  \
    X(validation, "validation",                                                                              \
      "invalid input is rejected with the exact status, nothing written; valid edges pass")                  \
    X(parity, "parity", "bytes equal to the provider's replay and to a baseline of the same lineage")        \
    X(accuracy, "accuracy",                                                                                  \
      "error against the FP64 golden: tolerance, ulp histogram, correctly rounded share")                    \
    X(invariance, "invariance",                                                                              \
      "a row's bytes do not depend on batch size, position, neighbours, padding, strides, alignment")        \
    X(gradients, "gradients", "VJP against the FP64 golden VJP and the replay; row-local, repeatable")       \
    X(memory, "memory",                                                                                      \
      "every element written, nothing else touched, inputs unchanged, nothing read beyond")                  \
    X(determinism, "determinism",                                                                            \
      "the same bytes again: repeats, fresh process, other thread, inputs changed in place")                 \
    X(audit, "audit", "no relaxed instruction in the GPU code of the candidate's file")                      \
    X(timing, "timing", "interleaved raw samples with floors and roofs; faster than physics is mistrusted")

typedef struct assay_suite assay_suite;
typedef struct assay_context assay_context;

/* A fully specified input. */
typedef struct assay_case {
    char name[64];
    assay_attrs attrs; /* width, max_period, check_range, ... */
    assay_dtype dtype; /* of the row input */
    uint64_t rows;
    assay_values values;   /* the first `rows` values of the set, narrowed to dtype */
    int64_t stride;        /* of the row input, in elements; 0 or 1 = contiguous */
    size_t misalign_bytes; /* base address off a 64-byte boundary (input and output) */
    uint64_t seed;
} assay_case;

typedef struct assay_check {
    const assay_suite *suite;
    char name[96]; /* "<suite>/<rest>", unique in the run */
    char promise[32];
    bool required;
    assay_strength strength;
    assay_case c;
    int kind;           /* suite-private */
    int64_t p[6];       /* suite-private */
    const json_t *data; /* suite-private, owned by the contract */
} assay_check;

typedef struct assay_plan {
    assay_check *items;
    size_t count, capacity;
} assay_plan;

/* Appends a zeroed check with suite, promise and formatted name set; required = the contract's promise is
 * required; strength SAMPLED. Returns NULL when a check of that name is planned already (names specify the
 * case), or when the contract has no such promise (then the suite skips the check). */
assay_check *assay_plan_add(assay_plan *plan, const assay_context *context, const assay_suite *suite,
                            const char *promise, const char *name_format, ...)
    __attribute__((format(printf, 5, 6)));

typedef struct assay_result {
    assay_outcome outcome;
    char reason[256];
    uint64_t elements, bad;
} assay_result;

struct assay_suite {
    const char *name, *help;
    void (*plan)(const assay_context *context, assay_plan *plan);
    void (*run)(assay_context *context, const assay_check *check, assay_result *result);
};
extern const assay_suite *const assay_suites[]; /* in ASSAY_SUITE_LIST order */
extern const size_t assay_suite_count;

/* One judge thread's workers. */
typedef struct assay_lane {
    assay_worker *candidate;
    assay_worker *baseline; /* NULL when none was given */
    unsigned index;
} assay_lane;

struct assay_context {
    const assay_operator_def *op;
    const assay_contract *contract;
    assay_tier tier;
    const char *candidate_path; /* the file that was hashed */
    assay_memory candidate_memory;
    bool candidate_external; /* a program that speaks the protocol itself: its file is not its device code */
    const char *lineage;     /* the candidate's claimed lineage, "" when none */
    const char *baseline_lineage; /* "" when no baseline */
    const char *baseline_name;    /* NULL when no baseline */
    bool same_binary; /* candidate and baseline are the same file: parity between them proves nothing */
    uint64_t seed;
    const assay_device_plugin *plugin; /* of a run on a GPU; NULL otherwise */
    assay_device *device;
    unsigned lane_count; /* >= 1 */
    assay_lane *lanes;   /* lanes[0] always open; others opened by assay_context_parallel */
    struct assay_recorder *recorder;
};

/* Runs fn(lane, part, user) for part = 0..parts-1 over the lanes (one thread each). fn returns false to stop
 * early. Returns false when a lane failed for a harness reason (error filled). */
bool assay_context_parallel(assay_context *context, uint64_t parts,
                            bool (*fn)(assay_lane *lane, uint64_t part, void *user, assay_error *error),
                            void *user, assay_error *error);

/* Ends a check: sets outcome and formatted reason. */
void assay_result_set(assay_result *result, assay_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Maps a reply that is not plain OK onto an outcome (lost -> error, unsupported -> unsupported, other status
 * -> fail) and returns false; returns true for ANSWERED + ASSAY_OK. `what` starts the reason. */
bool assay_result_expect_ok(assay_result *result, const assay_call_reply *reply, const char *what);

/* ---- details (main thread only) ---- */
void assay_record_metric(assay_context *context, const char *name, double value, const char *unit);
/* Metrics differing, zero_sign, nan_number, nan_payload, infinite, numeric, max_ulp; histogram subject
 * "parity" when present; the first and worst element with the input taken from the case. */
void assay_record_parity(assay_context *context, const assay_check *check, const assay_parity *parity);
/* Metrics max_abs, max_rel, max_ulp, mean_ulp, correctly_rounded_share, relrms, correlation, outside,
 * near_ties; histogram subject "accuracy"; worst elements. */
void assay_record_accuracy(assay_context *context, const assay_check *check, const assay_accuracy *accuracy);
void assay_record_profile(assay_context *context, const assay_profile_record *rows, size_t count);
void assay_record_series(assay_context *context, const assay_series_record *series); /* copies */
void assay_record_witness(assay_context *context,
                          const assay_witness_record *witness); /* copies; at most 4 per check are kept */

/* ---- exec.h: running one case on one worker ---- */
typedef struct assay_exec {
    assay_tensor input;           /* forward: the row input; backward: likewise (third argument) */
    assay_tensor output;          /* forward: rows x channels FP32; backward: rows, dtype of the input */
    assay_tensor saved, upstream; /* backward only: rows x channels FP32 */
    assay_call_reply reply;
    size_t zone_damage; /* bytes damaged around the output */
    bool input_changed; /* a byte of an input's segment (zones included) changed */
} assay_exec;

/* FAIL when an answered call changed bytes beside its output or of an input; true when it did not. Whatever a
 * suite is about, a call that writes elsewhere has not done what was asked. */
bool assay_result_expect_clean(assay_result *result, const assay_exec *exec, const char *what);

#define ASSAY_POISON_A 0x7fc0a55au /* two different quiet NaNs; bf16 halves are NaN too (0x7fc0) */
#define ASSAY_POISON_B 0xffd5c33cu

typedef struct assay_exec_options {
    uint32_t poison;           /* fills output (data and zones) before the call; 0 = ASSAY_POISON_A */
    assay_placement placement; /* of every tensor */
    bool other_thread;
    unsigned repeat;
    bool keep_layout;         /* reuse the tensors already in *exec (same addresses): for in-place changes */
    assay_stream_kind stream; /* these three for CUDA memory only; see protocol.h */
    unsigned delay_us, graph;
    bool apart; /* likewise */
} assay_exec_options;

/* Values first_row.. of the case as FP32 after narrowing to the case's dtype (what the operator sees after
 * upcast). */
void assay_case_inputs(const assay_case *c, uint64_t first_row, size_t rows, float *x);
/* One deterministic upstream gradient: standard normal, key (contract, case, "upstream", seed), element index
 * from first_row*channels. */
void assay_case_upstream(const assay_context *context, const assay_case *c, size_t channels,
                         uint64_t first_row, size_t rows, float *g);
/* The case as JSON text for evidence (caller frees). */
char *assay_case_json(const assay_context *context, const assay_check *check);

/* Resets the worker's arena, places input values x[0..rows) (narrowed to c->dtype, strided and misaligned as
 * the case says), poisons the output, calls forward, then checks zones and inputs. Output data is read
 * through exec->output (the judge's address). False only for harness faults. `options` may be NULL. */
bool assay_exec_forward(const assay_context *context, assay_worker *worker, const assay_case *c,
                        const float *x, size_t rows, const assay_exec_options *options, assay_exec *exec,
                        assay_error *error);
/* backward(upstream, saved output, row input) -> gradient of the row input. */
bool assay_exec_backward(const assay_context *context, assay_worker *worker, const assay_case *c,
                         const float *x, const float *saved, const float *upstream, size_t rows,
                         const assay_exec_options *options, assay_exec *exec, assay_error *error);

#endif
