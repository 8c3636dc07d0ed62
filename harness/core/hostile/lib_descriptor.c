/* lib_descriptor.c - adapters with a broken descriptor or a broken load; ASSAY_ADAPTER_MODE picks the fault.
 */
#include "assay/adapter.h"

#include <stdlib.h>
#include <unistd.h>

static assay_status forward(const assay_call *call) {
    (void)call;
    return ASSAY_OK;
}

static assay_operator operators[2] = {{.name = "a", .forward = forward}, {.name = "b", .forward = forward}};
static const char *on(void) {
    return "on";
}
static assay_knob knobs[2];
static char long_text[100001];
static assay_adapter_info info = {.abi_version = ASSAY_ABI_VERSION,
                                  .struct_bytes = sizeof info,
                                  .name = "descriptor",
                                  .version = "1",
                                  .operators = operators,
                                  .operator_count = 2};

static int is(const char *mode) {
    const char *now = getenv("ASSAY_ADAPTER_MODE");
    return now != NULL && strcmp(now, mode) == 0;
}

__attribute__((constructor)) static void load(void) {
    if (is("load_crash")) {
        abort();
    }
    if (is("load_exit")) {
        _exit(9);
    }
    if (is("load_hang")) {
        for (;;) {
            (void)pause();
        }
    }
    if (is("load_speaks")) {
        (void)!write(3, "{}\n", 3);
    }
}

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void) {
    info.abi_version = is("abi7") ? 7 : ASSAY_ABI_VERSION;
    info.struct_bytes = is("short") ? 8 : sizeof info;
    info.name = is("null_name") ? NULL : is("empty_name") ? "" : is("not_utf8") ? "\xff\xfe" : "descriptor";
    info.version = is("null_version") ? NULL : "1";
    info.memory = is("memory9") ? (assay_memory)9 : is("cuda") ? ASSAY_MEMORY_CUDA : ASSAY_MEMORY_HOST;
    info.operators = is("null_operators") ? NULL : operators;
    info.operator_count = is("no_operators") ? 0 : is("many_operators") ? 100000 : 2;
    operators[1].name = is("null_operator") ? NULL : is("same_operator") ? "a" : "b";
    operators[1].forward = is("null_forward") ? NULL : forward;
    info.knobs = is("bad_knob") || is("same_knob") ? knobs : NULL;
    info.knob_count = is("bad_knob") || is("null_knobs") ? 1 : is("same_knob") ? 2 : 0;
    if (is("same_knob")) {
        knobs[0] = knobs[1] = (assay_knob){.name = "k", .requested = "on", .effective = on};
    }
    memset(long_text, 'd', sizeof long_text - 1);
    info.description = is("long_text") ? long_text : NULL;
    info.lineage = is("two_lines") ? "h3\nVERDICT certified" : NULL;
    return is("null") ? NULL : &info;
}
