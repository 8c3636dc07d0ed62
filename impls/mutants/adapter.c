/* adapter.c - the descriptor and the two entries: rules first, then the subject's body or the promised
 * computation. */
#include "mutant.h"

#include <stdlib.h>

const char *const mutant_names[M_COUNT] = {
#define X(name, class_, suite, expected, source, text) #name,
    MUTANT_LIST(X)
#undef X
};

assay_status mutant_compute(const mutant_args *args) {
    float *f = malloc((size_t)(args->half > 0 ? args->half : 1) * sizeof *f);
    if (f == NULL) {
        return ASSAY_OUT_OF_MEMORY;
    }
    mutant_frequencies(args, f);
    bool done = true;
    if (args->backward) {
        done = mutant_backward_rows(args, f, 0, args->rows);
    } else {
        mutant_forward_rows(args, f, 0, args->rows);
    }
    free(f);
    return done ? ASSAY_OK : ASSAY_OUT_OF_MEMORY;
}

static mutant_body body(void) {
    static mutant_body (*const tables[])(void) = {mutant_variant_body, mutant_memory_body, mutant_null_body,
                                                  mutant_dishonest_body, mutant_runner_body};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (tables[i]() != NULL) {
            return tables[i]();
        }
    }
    return mutant_compute;
}

static assay_status enter(const assay_call *call, bool backward) {
    mutant_args args;
    mutant_count_call();
    if (IS(says_unsupported)) {
        return ASSAY_UNSUPPORTED;
    }
    assay_status status = mutant_arguments(call, backward, &args);
    return status == ASSAY_OK ? body()(&args) : status;
}

static assay_status forward(const assay_call *call) {
    return enter(call, false);
}

static assay_status backward(const assay_call *call) {
    return enter(call, true);
}

static assay_status prepare(void **state, char *message, size_t message_bytes) {
    static int answer = 20;
    (void)message, (void)message_bytes;
    *state = &answer;
    return ASSAY_OK;
}

const assay_adapter_info *mutant_adapter(void) {
    static assay_operator operators[1];
    static assay_adapter_info info;
    if (IS(load_abort)) {
        abort();
    }
    operators[0] =
        (assay_operator){.name = IS(load_other_operator) ? "another_operator" : "timestep_sinusoid_h3",
                         .forward = forward,
                         .backward = IS(no_backward) ? NULL : backward,
                         .prepare = IS(var_prepared) ? prepare : NULL};
    info = (assay_adapter_info){.abi_version = IS(load_wrong_abi) ? 0x7fffu : ASSAY_ABI_VERSION,
                                .struct_bytes = sizeof info,
                                .name = mutant_names[mutant_current],
                                .version = "1",
                                .description = "self-test subject",
                                .lineage = "libm",
                                .memory = ASSAY_MEMORY_HOST,
                                .operators = operators,
                                .operator_count = 1};
    return IS(load_null) ? NULL : &info;
}
