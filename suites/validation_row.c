/* validation_row.c - rows of rejections and accepts as data (CONTRACT.md). Nothing runs here. */
#include "validation_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define BASE_ROWS 33

static const int64_t batch_rows[] = {BASE_ROWS, 1, 3, 300};

/* Quiet and signalling, both signs, smallest and largest payload. */
static const uint32_t nan_f32[] = {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0x7fffffffU, 0xff800001U};
static const uint32_t nan_bf16[] = {0x7fc0U, 0xffc0U, 0x7f81U, 0x7fffU, 0xff81U};
static const uint32_t nan_f16[] = {0x7e00U, 0xfe00U, 0x7c01U, 0x7fffU, 0xfc01U};

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static bool is_change(const json_t *change, const char *kind) {
    return strcmp(text_of(change, "kind"), kind) == 0;
}

/* The row's change of values, NULL when it has none. */
static const json_t *values_change(const json_t *row) {
    const json_t *changes = json_object_get(row, "changes");
    size_t index;
    const json_t *change;
    json_array_foreach(changes, index, change) {
        if (is_change(change, "values")) {
            return change;
        }
    }
    return NULL;
}

static size_t payload_count(const json_t *change) {
    return strcmp(text_of(change, "value"), "nan") == 0 ? COUNT(nan_f32) : 1;
}

/* ---- shapes ---- */

/* "rows", "width", optionally followed by +n, -n, /n or *width; or an integer. */
static bool dimension(const json_t *item, const assay_row_call *call, int64_t *size) {
    if (json_is_integer(item)) {
        *size = json_integer_value(item);
        return true;
    }
    const char *text = json_string_value(item);
    if (text == NULL) {
        return false;
    }
    bool rows = strncmp(text, "rows", 4) == 0;
    if (!rows && strncmp(text, "width", 5) != 0) {
        return false;
    }
    const char *rest = text + (rows ? 4 : 5);
    *size = rows ? call->rows : call->width;
    if (*rest == '\0') {
        return true;
    }
    char *end = NULL;
    int64_t n = strtoll(rest + 1, &end, 10);
    if (strcmp(rest, "*width") == 0) {
        *size *= call->width;
        return true;
    }
    if (end == rest + 1 || *end != '\0' || n < 0 || (*rest == '/' && n == 0)) {
        return false;
    }
    switch (*rest) {
    case '+':
        *size += n;
        return true;
    case '-':
        *size -= n;
        return true;
    case '/':
        *size /= n;
        return true;
    default:
        return false;
    }
}

static assay_code set_shape(const json_t *shape, const assay_row_call *call, assay_row_tensor *tensor,
                            assay_error *error) {
    size_t index;
    const json_t *item;
    if (json_array_size(shape) > ASSAY_MAX_DIMS) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: tensor %s: more than %d dimensions",
                          tensor->name, ASSAY_MAX_DIMS);
    }
    tensor->ndim = (int)json_array_size(shape);
    json_array_foreach(shape, index, item) {
        if (!dimension(item, call, &tensor->shape[index])) {
            return assay_fail(error, ASSAY_CODE_INTERNAL,
                              "contract row: tensor %s: dimension %zu is not understood", tensor->name,
                              index);
        }
    }
    return ASSAY_CODE_OK;
}

/* ---- base ---- */

static assay_code add_tensors(const json_t *list, bool output, int64_t stride, assay_row_call *call,
                              assay_error *error) {
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item) {
        if (call->count == ASSAY_ROW_TENSORS) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: more than %d tensors",
                              ASSAY_ROW_TENSORS);
        }
        assay_row_tensor *tensor = &call->tensors[call->count++];
        const json_t *dtypes = json_object_get(item, "dtypes");
        *tensor = (assay_row_tensor){
            .name = text_of(item, "name"), .output = output, .stride = 1, .dtype = call->dtype};
        /* A tensor of several dtypes follows the row input; the others have their only dtype. */
        if (json_array_size(dtypes) == 1 &&
            !assay_dtype_parse(json_string_value(json_array_get(dtypes, 0)), &tensor->dtype)) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: tensor %s: unknown dtype",
                              tensor->name);
        }
        if (set_shape(json_object_get(item, "shape"), call, tensor, error) != ASSAY_CODE_OK) {
            return ASSAY_CODE_INTERNAL;
        }
        if (!output && tensor->ndim == 1) {
            tensor->stride = stride;
        }
    }
    return ASSAY_CODE_OK;
}

/* Applies attr changes: all of them, or only widths that a valid call can have. */
static assay_code set_attrs(const json_t *row, bool only_valid_widths, assay_row_call *call,
                            assay_error *error) {
    size_t index;
    const json_t *change;
    json_array_foreach(json_object_get(row, "changes"), index, change) {
        if (!is_change(change, "attr")) {
            continue;
        }
        const json_t *value = json_object_get(change, "value");
        double number = json_is_boolean(value) ? (double)json_is_true(value) : json_number_value(value);
        bool width = strcmp(text_of(change, "name"), "width") == 0;
        if (only_valid_widths && (!width || number <= 0.0 || (int64_t)number % 2 != 0)) {
            continue;
        }
        if (!assay_direct_attr_set(&call->attrs, text_of(change, "name"), number)) {
            return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: no attribute %s",
                              text_of(change, "name"));
        }
        if (width && number > 0.0) {
            call->width = (int64_t)number;
        }
    }
    return ASSAY_CODE_OK;
}

static assay_code start(const assay_contract *contract, const json_t *row, int64_t rows, bool base,
                        assay_row_call *call, assay_error *error) {
    const json_t *fixed = json_object_get(row, "rows");
    const json_t *stride = json_object_get(row, "stride");
    const json_t *dtype = json_object_get(row, "dtype");
    *call = (assay_row_call){.backward = strcmp(text_of(row, "entry"), "backward") == 0,
                             .dtype = ASSAY_DTYPE_F32};
    call->rows = json_is_integer(fixed) ? json_integer_value(fixed) : rows;
    if (dtype != NULL && !assay_dtype_parse(json_string_value(dtype), &call->dtype)) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row %s: unknown dtype", text_of(row, "name"));
    }
    assay_direct_attrs(contract, &call->attrs);
    for (size_t i = 0; i < call->attrs.count; i++) {
        if (strcmp(call->attrs.items[i].name, "width") == 0) {
            call->width = call->attrs.items[i].i;
        }
    }
    const json_t *entry =
        json_object_get(json_object_get(contract->root, "signature"), text_of(row, "entry"));
    if (entry == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row %s: unknown entry", text_of(row, "name"));
    }
    int64_t step = json_is_integer(stride) ? json_integer_value(stride) : 1;
    if (set_attrs(row, base, call, error) != ASSAY_CODE_OK ||
        add_tensors(json_object_get(entry, "inputs"), false, step, call, error) != ASSAY_CODE_OK) {
        return ASSAY_CODE_INTERNAL;
    }
    call->input_count = call->count;
    return add_tensors(json_object_get(entry, "outputs"), true, 1, call, error);
}

assay_code assay_row_base(const assay_contract *contract, const json_t *row, assay_row_call *call,
                          assay_error *error) {
    return start(contract, row, BASE_ROWS, true, call, error);
}

/* ---- variants ---- */

static size_t batch_count(const json_t *row) {
    return json_object_get(row, "rows") != NULL ? 1 : COUNT(batch_rows);
}

size_t assay_row_variants(const json_t *row) {
    const json_t *change = values_change(row);
    if (change == NULL) {
        return 1;
    }
    return batch_count(row) * payload_count(change) * json_array_size(json_object_get(change, "at"));
}

static bool value_bits(const char *value, assay_dtype dtype, size_t payload, uint32_t *bits) {
    uint32_t wide;
    if (strcmp(value, "nan") == 0) {
        *bits = dtype == ASSAY_DTYPE_BF16  ? nan_bf16[payload]
                : dtype == ASSAY_DTYPE_F16 ? nan_f16[payload]
                                           : nan_f32[payload];
        return true;
    }
    if (strcmp(value, "inf") == 0) {
        wide = 0x7f800000U;
    } else if (strcmp(value, "-inf") == 0) {
        wide = 0xff800000U;
    } else {
        char *end = NULL;
        wide = (uint32_t)strtoul(value, &end, 16);
        if (strncmp(value, "0x", 2) != 0 || end == value + 2 || *end != '\0') {
            return false;
        }
    }
    float x = assay_f32_from_bits(wide);
    *bits = dtype == ASSAY_DTYPE_BF16  ? assay_f32_to_bf16(x)
            : dtype == ASSAY_DTYPE_F16 ? assay_f32_to_f16(x)
                                       : wide;
    return true;
}

static assay_code poke(const json_t *change, size_t payload, const char *place, size_t tensor,
                       assay_row_call *call, assay_error *error) {
    static const char *const places[] = {"first", "middle", "last"};
    const assay_row_tensor *t = &call->tensors[tensor];
    int64_t n = 1;
    size_t which = 0;
    for (int d = 0; d < t->ndim; d++) {
        n *= t->shape[d];
    }
    while (which < COUNT(places) && strcmp(places[which], place) != 0) {
        which++;
    }
    if (which == COUNT(places) || n <= 0 || assay_dtype_bytes(t->dtype) > sizeof call->poke_bits ||
        !value_bits(text_of(change, "value"), t->dtype, payload, &call->poke_bits)) {
        return assay_fail(error, ASSAY_CODE_INTERNAL,
                          "contract row: value %s at %s of tensor %s is not understood",
                          text_of(change, "value"), place, t->name);
    }
    call->poked = true;
    call->poke_tensor = tensor;
    call->poke_element = which == 0 ? 0 : which == 1 ? n / 2 : n - 1;
    (void)snprintf(call->label, sizeof call->label, "%lld rows, %s of %s = %0*x", (long long)call->rows,
                   place, t->name, (int)(2 * assay_dtype_bytes(t->dtype)), call->poke_bits);
    return ASSAY_CODE_OK;
}

static size_t find_tensor(const assay_row_call *call, const char *name) {
    size_t i = 0;
    while (i < call->count && strcmp(call->tensors[i].name, name) != 0) {
        i++;
    }
    return i;
}

static assay_code apply(const json_t *change, size_t payload, size_t place, assay_row_call *call,
                        assay_error *error) {
    size_t i = find_tensor(call, text_of(change, "tensor"));
    if (is_change(change, "attr")) {
        return ASSAY_CODE_OK; /* done before the tensors were shaped */
    }
    if (i == call->count) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: no tensor %s",
                          text_of(change, "tensor"));
    }
    assay_row_tensor *tensor = &call->tensors[i];
    if (is_change(change, "null")) {
        tensor->null = true;
        return ASSAY_CODE_OK;
    }
    if (is_change(change, "shape")) {
        tensor->stride = 1;
        return set_shape(json_object_get(change, "shape"), call, tensor, error);
    }
    if (is_change(change, "dtype") && assay_dtype_parse(text_of(change, "dtype"), &tensor->dtype)) {
        return ASSAY_CODE_OK;
    }
    if (is_change(change, "values")) {
        const char *at = json_string_value(json_array_get(json_object_get(change, "at"), place));
        return poke(change, payload, at != NULL ? at : "", i, call, error);
    }
    return assay_fail(error, ASSAY_CODE_INTERNAL, "contract row: change %s is not understood",
                      text_of(change, "kind"));
}

assay_code assay_row_variant(const assay_contract *contract, const json_t *row, size_t index,
                             assay_row_call *call, assay_error *error) {
    const json_t *values = values_change(row);
    size_t places = values != NULL ? json_array_size(json_object_get(values, "at")) : 1;
    size_t payloads = values != NULL ? payload_count(values) : 1;
    size_t batch = index / (places * payloads);
    size_t i;
    const json_t *change;
    assay_code code =
        start(contract, row, batch_rows[batch < COUNT(batch_rows) ? batch : 0], false, call, error);
    json_array_foreach(json_object_get(row, "changes"), i, change) {
        if (code == ASSAY_CODE_OK) {
            code = apply(change, index / places % payloads, index % places, call, error);
        }
    }
    return code;
}

bool assay_row_in_domain(const assay_contract *contract, const char *tensor, uint32_t bits) {
    const json_t *intervals = json_object_get(json_object_get(contract->root, "domain"), tensor);
    size_t index;
    const json_t *interval;
    json_array_foreach(intervals, index, interval) {
        const char *low = json_string_value(json_array_get(interval, 0));
        const char *high = json_string_value(json_array_get(interval, 1));
        if (low != NULL && high != NULL && bits >= strtoul(low, NULL, 16) &&
            bits <= strtoul(high, NULL, 16)) {
            return true;
        }
    }
    return false;
}
