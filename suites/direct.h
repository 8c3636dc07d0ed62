/* direct.h - for suites that lay tensors out themselves: one layout and many calls on views of it, cases from
 * the contract's matrices, attributes by name. Private to suites; judges nothing. */
#ifndef ASSAY_DIRECT_H
#define ASSAY_DIRECT_H

#include "suite.h"

#include <pthread.h>

/* The contract's default attributes (names live as long as the contract). */
void assay_direct_attrs(const assay_contract *contract, assay_attrs *attrs);
/* Attributes as a JSON object (a new reference), for cases. */
json_t *assay_direct_attrs_json(const assay_attrs *attrs);
/* Sets an attribute that the defaults have, keeping its type; false when there is none of that name. */
bool assay_direct_attr_set(assay_attrs *attrs, const char *name, double value);

/* matrices[group], or matrices[group][key] when key is not NULL; an object with the tiers' names yields the
 * tier's value. NULL when absent. */
const json_t *assay_direct_matrix(const assay_context *context, const char *group, const char *key);
/* The integer `index` of a matrix list, `fallback` when absent. A plain integer counts as a list of one. */
int64_t assay_direct_number(const json_t *list, size_t index, int64_t fallback);
size_t assay_direct_count(const json_t *list);

/* A case of `rows` uniform values with default attributes but this width (0 = default) and dtype; the name
 * follows from them. */
void assay_direct_case(const assay_context *context, int64_t width, assay_dtype dtype, uint64_t rows,
                       uint64_t seed, assay_case *c);
size_t assay_direct_channels(const assay_context *context, const assay_case *c);

/* Allocates a vector (channels 0) or a contiguous matrix in `arena`. `stride` in elements applies to vectors,
 * 0 = 1. */
bool assay_direct_alloc(assay_arena *arena, assay_dtype dtype, size_t rows, size_t channels, int64_t stride,
                        size_t misalign_bytes, assay_tensor *tensor, assay_error *error);
/* Rows first .. first+rows-1 of a tensor of rank 1 or 2, in the same segment. */
void assay_direct_rows(const assay_tensor *whole, int64_t first, int64_t rows, assay_tensor *view);
/* Stores x[0..rows) into a vector, narrowed to its dtype, at its stride. */
void assay_direct_put(const assay_tensor *vector, const float *x);
/* Fills the elements of a contiguous tensor (not its zones) with a pattern. */
void assay_direct_fill(const assay_tensor *tensor, uint32_t pattern);
size_t assay_direct_bytes(const assay_tensor *tensor);

/* One call. forward: input -> output; backward: (upstream, saved, input) -> output. `options` fields repeat,
 * other_thread and timeout_ms may be set through `extra` (NULL = none). False only for harness faults. */
bool assay_direct_forward(const assay_context *context, assay_worker *worker, const assay_attrs *attrs,
                          const assay_tensor *input, const assay_tensor *output, assay_call_reply *reply,
                          assay_error *error);
bool assay_direct_backward(const assay_context *context, assay_worker *worker, const assay_attrs *attrs,
                           const assay_tensor *upstream, const assay_tensor *saved, const assay_tensor *input,
                           const assay_tensor *output, assay_call_reply *reply, assay_error *error);

/* Inputs of one call as the judge prepares them, for exec. */
typedef struct assay_direct_call {
    assay_case c;
    bool backward;
    size_t rows, channels;
    float *x, *saved, *upstream; /* the last two only for backward; saved is the golden rounded to FP32 */
} assay_direct_call;

/* The case with `rows` rows and its inputs. Free it also after false. */
bool assay_direct_call_make(const assay_context *context, const assay_case *c, bool backward, size_t rows,
                            assay_direct_call *call, assay_error *error);
void assay_direct_call_free(assay_direct_call *call);
bool assay_direct_call_exec(const assay_context *context, assay_worker *worker, const assay_direct_call *call,
                            const assay_exec_options *options, assay_exec *exec, assay_error *error);

/* Records a witness from one row: what differs, in hex. */
void assay_direct_witness(assay_context *context, const assay_check *check, const char *text, float input,
                          const void *got, const void *want, size_t bytes);
/* First byte-different 32-bit word of two arrays; n when equal. */
size_t assay_direct_first_difference(const uint32_t *a, const uint32_t *b, size_t n);
size_t assay_direct_count_differences(const uint32_t *a, const uint32_t *b, size_t n);

/* What the parts of a check found, collected from several lanes. A failure outweighs other trouble; among
 * equals the lowest part is reported, so that the reason does not depend on the schedule. */
typedef struct assay_findings {
    pthread_mutex_t lock;
    uint64_t elements, bad, part;
    assay_result first;
} assay_findings;

void assay_findings_open(assay_findings *findings);
void assay_findings_count(assay_findings *findings, uint64_t elements);
/* Adds `bad` elements with an outcome other than pass and its reason. */
void assay_findings_add(assay_findings *findings, uint64_t part, uint64_t bad, assay_outcome outcome,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/* True when the reply is ok; else adds what assay_result_expect_ok makes of it. */
bool assay_findings_expect_ok(assay_findings *findings, uint64_t part, const assay_call_reply *reply,
                              const char *what);
/* Fills the result and releases the findings. `good` false: `error` tells a fault of the harness. */
void assay_findings_close(assay_findings *findings, bool good, const assay_error *error,
                          assay_result *result);

/* malloc that ends a check as an error through *error; NULL on failure. */
void *assay_direct_memory(size_t count, size_t bytes, assay_error *error);

#endif
