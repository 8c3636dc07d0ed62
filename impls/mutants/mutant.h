/* mutant.h - what the files of this folder share. One implementation, scalar and plain; each shared library
 * is the same code with another value of `mutant_current`, which every switch point asks. Not linked with any
 * part of Assay. */
#ifndef ASSAY_MUTANT_H
#define ASSAY_MUTANT_H

#include "assay/adapter.h"
#include "subjects.h"

#include <stdbool.h>

typedef enum mutant_id {
#define X(name, class_, suite, expected, source, text) M_##name,
    MUTANT_LIST(X)
#undef X
        M_COUNT
} mutant_id;

extern const mutant_id mutant_current; /* subject.c: the fault of this library */
extern const char *const mutant_names[M_COUNT];
#define IS(name) (mutant_current == M_##name)

/* One call, taken apart. Only `rules.c` looks at the raw call. */
typedef struct mutant_args {
    const assay_call *call;
    const DLTensor *timestep, *upstream, *saved; /* the last two: backward only */
    DLTensor *result;                            /* forward: output; backward: gradient */
    bool backward, check_range;
    int64_t rows, width, half;
    double max_period;
} mutant_args;

/* rules.c: fills *args; ASSAY_OK, or the rejection that this subject gives. */
assay_status mutant_arguments(const assay_call *call, bool backward, mutant_args *args);

/* numbers.c: element types. Element i is strides[0] * i elements from the start. */
uint16_t mutant_bf16(float x);
float mutant_from_bf16(uint16_t bits);
uint16_t mutant_f16(float x);
float mutant_from_f16(uint16_t bits);
float mutant_load(const DLTensor *tensor, int64_t index);
void mutant_store(DLTensor *tensor, int64_t index, float value);
float mutant_get2(const DLTensor *tensor, int64_t row, int64_t column);
float mutant_next_up(float x);

/* forward.c, backward.c: rows first .. last-1; `f` holds args->half frequencies. */
void mutant_frequencies(const mutant_args *args, float *f);
float mutant_timestep(const mutant_args *args, int64_t row);
float mutant_element(const mutant_args *args, int64_t row, int64_t k, bool sine, float t, const float *f);
void mutant_put(const mutant_args *args, int64_t row, int64_t column, float value);
void mutant_forward_rows(const mutant_args *args, const float *f, int64_t first, int64_t last);
bool mutant_backward_rows(const mutant_args *args, const float *f, int64_t first, int64_t last);

/* paths.c: where a subject's result takes another path than the promised one. */
bool mutant_other_path(const mutant_args *args, int64_t row, int64_t k);
bool mutant_skips(const mutant_args *args, int64_t row, int64_t column);
void mutant_count_call(void); /* at the start of every call */

/* The promised computation (with the switch points above). */
assay_status mutant_compute(const mutant_args *args);

/* A body replaces mutant_compute for a subject. NULL: none. */
typedef assay_status (*mutant_body)(const mutant_args *args);
mutant_body mutant_variant_body(void);   /* variants.c */
mutant_body mutant_memory_body(void);    /* memory.c */
mutant_body mutant_null_body(void);      /* null.c */
mutant_body mutant_dishonest_body(void); /* dishonest.c */
mutant_body mutant_runner_body(void);    /* faults.c */

/* adapter.c */
const assay_adapter_info *mutant_adapter(void);

#endif
