/* report_witness.c - see the header. The C program of a bundle is self-contained: it loads an adapter, calls
 * it with the witness's input and compares the words. */
#include "report_witness.h"

#include "npy.h"
#include "report_file.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *stem_of(report_arena *arena, const char *check, int64_t ordinal) {
    char *text = report_arena_alloc(arena, strlen(check) + 40);
    if (text == NULL) {
        return "";
    }
    const int n = sprintf(text, "witness-%s", check);
    for (char *p = text; *p != '\0'; p++) {
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '_' && *p != '-') {
            *p = '_';
        }
    }
    if (n > 160) { /* file names end at 255 bytes; the number keeps a cut name unique */
        text[160] = '\0';
    }
    if (ordinal > 1 || n > 160) {
        (void)sprintf(text + strlen(text), "-%lld", (long long)ordinal);
    }
    return text;
}

static const uint8_t *word_bytes(report_arena *arena, uint32_t word) {
    uint8_t *bytes = report_arena_alloc(arena, 4);
    for (size_t i = 0; bytes != NULL && i < 4; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
    return bytes;
}

static void add_element(const report_model *m, const report_check *c, report_witness_list *list) {
    const report_element *e = report_element_of(m, c->seq, "first");
    if (e == NULL) {
        e = report_element_of(m, c->seq, "worst");
    }
    report_witness_item *item =
        e == NULL ? NULL : report_arena_push(m->arena, (void **)&list->items, &list->count, sizeof *item);
    if (item == NULL) {
        return;
    }
    item->check = c;
    item->stem = stem_of(m->arena, c->name, 1);
    item->text =
        report_printf(m->arena, "channel %llu of input %s: got %s, want %s", (unsigned long long)e->channel,
                      report_float_text(m->arena, e->input_bits), report_float_text(m->arena, e->got_bits),
                      report_float_text(m->arena, e->want_bits));
    item->case_json = c->case_json;
    item->input = word_bytes(m->arena, e->input_bits);
    item->got = word_bytes(m->arena, e->got_bits);
    item->want = word_bytes(m->arena, e->want_bits);
    item->input_bytes = item->got_bytes = item->want_bytes = 4;
}

/* Checks of the same promise that have a witness already. */
static size_t checks_shown(const report_witness_list *list, const char *promise) {
    size_t shown = 0;
    for (size_t i = 0; i < list->count; i++) {
        const bool next = i == 0 || list->items[i].check != list->items[i - 1].check;
        shown += next && strcmp(list->items[i].check->promise, promise) == 0;
    }
    return shown;
}

void report_witness_collect(const report_model *m, report_witness_list *list) {
    *list = (report_witness_list){0};
    for (size_t i = 0; i < m->check_count; i++) {
        const report_check *c = &m->checks[i];
        const size_t before = list->count;
        if (checks_shown(list, c->promise) >= REPORT_WITNESS_CHECKS) {
            continue;
        }
        for (size_t k = 0; k < m->witness_count; k++) {
            const report_witness *w = &m->witnesses[k];
            if (w->seq != c->seq) {
                continue;
            }
            report_witness_item *item =
                report_arena_push(m->arena, (void **)&list->items, &list->count, sizeof *item);
            if (item != NULL) {
                *item = (report_witness_item){c,
                                              stem_of(m->arena, c->name, w->ordinal),
                                              w->text,
                                              w->case_json,
                                              w->input,
                                              w->got,
                                              w->want,
                                              w->input_bytes,
                                              w->got_bytes,
                                              w->want_bytes};
            }
        }
        if (c->outcome == ASSAY_OUTCOME_FAIL && list->count == before) {
            add_element(m, c, list);
        }
    }
}

static void c_words(FILE *out, const char *name, const uint8_t *data, size_t bytes) {
    (void)fprintf(out, "static const uint32_t %s[] = {", name);
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        const uint32_t word = (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 |
                              (uint32_t)data[i + 3] << 24;
        (void)fprintf(out, "%s0x%08xu", i == 0 ? "" : i % 32 == 0 ? ",\n    " : ", ", word);
    }
    (void)fprintf(out, bytes < 4 ? "0};\n" : "};\n");
}

/* A C string literal; foreign text is UTF-8 without control characters, so only quotes, backslashes and
 * trigraphs matter. */
static void c_string(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\' || *p == '?') {
            (void)fputc('\\', out);
        }
        (void)fputc(*p, out);
    }
    (void)fputc('"', out);
}

/* Text inside a C comment: it must not end it. */
static void c_comment(FILE *out, const char *text) {
    for (const char *p = text; *p != '\0'; p++) {
        (void)fputc(*p, out);
        if ((*p == '*' && p[1] == '/') || (*p == '/' && p[1] == '*')) {
            (void)fputc(' ', out);
        }
    }
}

static void c_attributes(FILE *out, const char *case_json) {
    json_t *root = json_loads(case_json, 0, NULL);
    const char *key;
    json_t *value;
    (void)fputs("static const assay_attr attributes[] = {\n", out);
    json_object_foreach(json_object_get(root, "attributes"), key, value) {
        (void)fputs("    {.name = ", out);
        c_string(out, key);
        if (json_is_boolean(value) || json_is_integer(value)) {
            (void)fprintf(out, ", .type = %s, .i = %lldLL},\n",
                          json_is_boolean(value) ? "ASSAY_ATTR_BOOL" : "ASSAY_ATTR_INT",
                          json_is_boolean(value) ? (long long)json_is_true(value)
                                                 : (long long)json_integer_value(value));
        } else if (json_is_real(value)) {
            (void)fprintf(out, ", .type = ASSAY_ATTR_FLOAT, .f = %a},\n", json_real_value(value));
        } else {
            (void)fputs(", .type = ASSAY_ATTR_STRING, .s = ", out);
            c_string(out, json_is_string(value) ? json_string_value(value) : "");
            (void)fputs("},\n", out);
        }
    }
    (void)fputs("    {.name = \"\"}}; /* the last entry only ends the list */\n", out);
    json_decref(root);
}

static size_t channels_of(const report_witness_item *w) {
    json_t *root = json_loads(w->case_json, 0, NULL);
    const json_int_t width =
        json_integer_value(json_object_get(json_object_get(root, "attributes"), "width"));
    json_decref(root);
    const size_t rows = w->input_bytes / 4;
    const size_t words = w->got_bytes / 4;
    if (width > 0 && width < 1 << 24) {
        return (size_t)width;
    }
    return rows > 0 && words % rows == 0 ? words / rows : words;
}

static const char program[] =
    "\n"
    "int main(int argc, char **argv) {\n"
    "    enum { ROWS = sizeof input / sizeof input[0], WORDS = sizeof got / sizeof got[0] };\n"
    "    static uint32_t output[(size_t)ROWS * CHANNELS];\n"
    "    if (argc != 2) return fprintf(stderr, \"usage: %s ADAPTER.so\\n\", argv[0]), 2;\n"
    "    void *library = dlopen(argv[1], RTLD_NOW);\n"
    "    assay_adapter_fn entry = NULL;\n"
    "    if (library != NULL) *(void **)&entry = dlsym(library, ASSAY_ADAPTER_SYMBOL);\n"
    "    if (entry == NULL) return fprintf(stderr, \"%s: not an adapter: %s\\n\", argv[1], dlerror()), 2;\n"
    "    const assay_adapter_info *info = entry();\n"
    "    for (size_t i = 0; i < info->operator_count; i++) {\n"
    "        if (strcmp(info->operators[i].name, operator_name) != 0) continue;\n"
    "        int64_t in_shape[1] = {ROWS}, in_strides[1] = {1};\n"
    "        int64_t out_shape[2] = {ROWS, CHANNELS}, out_strides[2] = {CHANNELS, 1};\n"
    "        DLDataType f32 = {kDLFloat, 32, 1};\n"
    "        DLTensor in = {.data = (void *)(uintptr_t)input, .device = {kDLCPU, 0}, .ndim = 1, .dtype = "
    "f32,\n"
    "                       .shape = in_shape, .strides = in_strides};\n"
    "        DLTensor out = {.data = output, .device = {kDLCPU, 0}, .ndim = 2, .dtype = f32,\n"
    "                        .shape = out_shape, .strides = out_strides};\n"
    "        const DLTensor *inputs[] = {&in};\n"
    "        DLTensor *outputs[] = {&out};\n"
    "        char message[256] = \"\";\n"
    "        assay_call call = {.struct_bytes = sizeof call, .attrs = attributes,\n"
    "                           .attr_count = sizeof attributes / sizeof attributes[0] - 1, .inputs = "
    "inputs,\n"
    "                           .input_count = 1, .outputs = outputs, .output_count = 1, .message = "
    "message,\n"
    "                           .message_bytes = sizeof message};\n"
    "        if (info->operators[i].prepare != NULL) (void)info->operators[i].prepare(&call.state, message, "
    "sizeof message);\n"
    "        assay_status status = info->operators[i].forward(&call);\n"
    "        printf(\"status %s %s\\n\", assay_status_text(status), message);\n"
    "        for (size_t k = 0; k < (size_t)WORDS && k + FIRST_WORD < (size_t)ROWS * CHANNELS; k++) {\n"
    "            uint32_t now = output[k + FIRST_WORD];\n"
    "            if (now == want[k] && now == got[k]) continue;\n"
    "            printf(\"word %zu: now 0x%08x, recorded 0x%08x, wanted 0x%08x%s\\n\", k + FIRST_WORD, "
    "(unsigned)now,\n"
    "                   (unsigned)got[k], (unsigned)want[k], now == want[k] ? \" (right now)\" : \"\");\n"
    "        }\n"
    "        return 0;\n"
    "    }\n"
    "    return fprintf(stderr, \"%s does not offer %s\\n\", argv[1], operator_name), 2;\n"
    "}\n";

static void write_program(const report_model *m, const report_witness_item *w, FILE *out) {
    const size_t channels = channels_of(w);
    const report_element *e = report_element_of(m, w->check->seq, "first");
    const bool single = w->got_bytes == 4 && w->input_bytes == 4;
    (void)fputs("/* Witness of ", out);
    c_comment(out, w->check->name);
    (void)fputs(": ", out);
    c_comment(out, w->text);
    (void)fprintf(out, "\n *\n * The same check through Assay:\n *   ");
    c_comment(out, w->check->repro);
    (void)fprintf(out,
                  "\n * This program calls the adapter directly (FP32 input, contiguous) and prints every "
                  "word that is not as\n"
                  " * wanted or not as recorded. Build and run:\n"
                  " *   cc -I<prefix>/include %s.c -o witness -ldl && ./witness ./adapter.so */\n",
                  w->stem);
    (void)fputs("#include <assay/adapter.h>\n#include <dlfcn.h>\n\nstatic const char operator_name[] = ",
                out);
    c_string(out, m->operator_name);
    (void)fprintf(out,
                  ";\n#define CHANNELS %zu\n#define FIRST_WORD ((size_t)%llu) /* of the output: where got[] "
                  "and want[] begin */\n",
                  channels == 0 ? (size_t)1 : channels,
                  single && e != NULL ? (unsigned long long)e->channel : 0ull);
    c_attributes(out, w->case_json);
    c_words(out, "input", w->input, w->input_bytes);
    c_words(out, "got", w->got, w->got_bytes);
    c_words(out, "want", w->want, w->want_bytes);
    (void)fputs(program, out);
}

static assay_code write_npy(const char *directory, const report_witness_item *w, const char *part,
                            const uint8_t *data, size_t bytes, report_arena *arena, assay_error *error) {
    const char *path = report_printf(arena, "%s/%s-%s.npy", directory, w->stem, part);
    const size_t rows = w->input_bytes / 4;
    const size_t words = bytes / 4;
    int64_t shape[2] = {(int64_t)words, 0};
    int ndim = 1;
    if (data != w->input && rows > 0 && words > rows && words % rows == 0) {
        shape[0] = (int64_t)rows;
        shape[1] = (int64_t)(words / rows);
        ndim = 2;
    }
    return assay_npy_write(path, ASSAY_DTYPE_F32, shape, ndim, data, error);
}

static assay_code write_json(const char *path, const report_witness_item *w, assay_error *error) {
    json_t *root = report_witness_json(w);
    char *text = root == NULL ? NULL : json_dumps(root, JSON_SORT_KEYS | JSON_INDENT(1));
    json_decref(root);
    if (text == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing %s", path);
    }
    const assay_code code = report_file_write(path, text, strlen(text), error);
    free(text);
    return code;
}

static assay_code write_c(const report_model *m, const char *path, const report_witness_item *w,
                          assay_error *error) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing %s", path);
    }
    write_program(m, w, out);
    const assay_code code =
        fclose(out) == 0 ? report_file_write(path, text, bytes, error)
                         : assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing %s", path);
    free(text);
    return code;
}

assay_code report_witness_write(const report_model *m, const char *directory, assay_error *error) {
    report_witness_list list;
    report_witness_collect(m, &list);
    for (size_t i = 0; i < list.count; i++) {
        const report_witness_item *w = &list.items[i];
        assay_code code = write_json(report_printf(m->arena, "%s/%s.json", directory, w->stem), w, error);
        if (code == ASSAY_CODE_OK) {
            code = write_c(m, report_printf(m->arena, "%s/%s.c", directory, w->stem), w, error);
        }
        const struct {
            const char *part;
            const uint8_t *data;
            size_t bytes;
        } parts[] = {{"input", w->input, w->input_bytes},
                     {"got", w->got, w->got_bytes},
                     {"want", w->want, w->want_bytes}};
        for (size_t k = 0; k < 3 && code == ASSAY_CODE_OK; k++) {
            code = write_npy(directory, w, parts[k].part, parts[k].data, parts[k].bytes, m->arena, error);
        }
        if (code != ASSAY_CODE_OK) {
            return code;
        }
    }
    return m->arena->failed ? assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while writing witnesses")
                            : ASSAY_CODE_OK;
}
