/* host_adapter.c - loads a native adapter and distrusts its descriptor. Runs in the worker only. */
#include "host_adapter.h"
#include "protocol.h"

#include <dlfcn.h>

/* The rule that the descriptor breaks, NULL when it is sound. */
static const char *broken_rule(const assay_adapter_info *info) {
    if (info->name == NULL || info->name[0] == '\0' || info->version == NULL || info->version[0] == '\0') {
        return "name and version must not be NULL or empty";
    }
    if (info->memory != ASSAY_MEMORY_HOST && info->memory != ASSAY_MEMORY_CUDA) {
        return "memory is not in the enum";
    }
    if (info->operators == NULL || info->operator_count == 0 || info->operator_count > ASSAY_MAX_OPERATORS) {
        return "operators must name 1 to 64 operators";
    }
    for (size_t i = 0; i < info->operator_count; i++) {
        const assay_operator *o = &info->operators[i];
        if (o->name == NULL || o->name[0] == '\0' || o->forward == NULL) {
            return "an operator has no name or no forward";
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(info->operators[j].name, o->name) == 0) {
                return "an operator is listed twice";
            }
        }
    }
    if (info->knob_count > ASSAY_MAX_KNOBS || (info->knob_count > 0 && info->knobs == NULL)) {
        return "knobs must be NULL or at most 64";
    }
    for (size_t i = 0; i < info->knob_count; i++) {
        if (info->knobs[i].name == NULL || info->knobs[i].requested == NULL ||
            info->knobs[i].effective == NULL) {
            return "a knob has no name, requested or effective";
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(info->knobs[j].name, info->knobs[i].name) == 0) {
                return "a knob is listed twice";
            }
        }
    }
    return NULL;
}

const assay_adapter_info *assay_adapter_load(const char *path, assay_error *error) {
    union {
        void *object;
        assay_adapter_fn function;
    } symbol;
    static void *library; /* one per process, never unloaded */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        (void)assay_fail(error, ASSAY_CODE_USAGE, "cannot be loaded as a shared library: %s",
                         why == NULL ? "?" : why);
        return NULL;
    }
    symbol.object = dlsym(library, ASSAY_ADAPTER_SYMBOL);
    if (symbol.object == NULL) {
        (void)assay_fail(error, ASSAY_CODE_USAGE,
                         "symbol " ASSAY_ADAPTER_SYMBOL " missing: an adapter exports it (assay/adapter.h)");
        return NULL;
    }
    const assay_adapter_info *info = symbol.function();
    if (info == NULL) {
        (void)assay_fail(error, ASSAY_CODE_USAGE,
                         ASSAY_ADAPTER_SYMBOL "() returned NULL instead of a descriptor");
        return NULL;
    }
    if (info->abi_version != ASSAY_ABI_VERSION) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "ABI version %u, this build speaks %u", info->abi_version,
                         ASSAY_ABI_VERSION);
        return NULL;
    }
    if (info->struct_bytes < sizeof *info) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "descriptor: struct_bytes is %zu, ABI version %u has %zu",
                         info->struct_bytes, ASSAY_ABI_VERSION, sizeof *info);
        return NULL;
    }
    const char *rule = broken_rule(info);
    if (rule != NULL) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "descriptor: %s", rule);
        return NULL;
    }
    return info;
}

json_t *assay_adapter_hello(const assay_adapter_info *info, assay_error *error) {
    json_t *operators = json_array();
    json_t *knobs = json_array();
    bool ok = true;
    for (size_t i = 0; i < info->operator_count; i++) {
        const assay_operator *o = &info->operators[i];
        ok = json_array_append_new(operators, json_pack("{s:s, s:b, s:b}", "name", o->name, "forward", 1,
                                                        "backward", o->backward != NULL)) == 0 &&
             ok;
    }
    for (size_t i = 0; i < info->knob_count; i++) {
        const assay_knob *k = &info->knobs[i];
        const char *effective = k->effective();
        ok = json_array_append_new(knobs,
                                   json_pack("{s:s, s:s, s:s}", "name", k->name, "requested", k->requested,
                                             "effective", effective == NULL ? "unknown" : effective)) == 0 &&
             ok;
    }
    json_t *hello =
        json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "type", "hello", "role",
                  "worker", "protocol", ASSAY_PROTOCOL_VERSION, "name", info->name, "version", info->version,
                  "description", info->description == NULL ? "" : info->description, "lineage",
                  info->lineage == NULL ? "" : info->lineage, "memory",
                  info->memory == ASSAY_MEMORY_CUDA ? "cuda" : "host", "guards", 1, "operators", operators,
                  "knobs", knobs);
    if (hello == NULL || !ok) {
        json_decref(hello);
        (void)assay_fail(error, ASSAY_CODE_USAGE, "descriptor: a text is not UTF-8");
        return NULL;
    }
    return hello;
}
