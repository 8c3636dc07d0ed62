/* cmd_model.c - `assay model`: what CUDA's expf, sinf and cosf answer, computed on this CPU. */
#include "cli.h"

#include "cuda_functions.h"
#include "digest.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

static const cli_option options[] = {
    {"sha256", NULL, "the SHA-256 of all 2^32 answers, inputs 0x00000000 upwards, little-endian words", 0,
     false},
    {"threads", "N", "threads that compute (default: processors)", 0, false},
    {"json", NULL, "print as JSON", 0, false},
    {"quiet", NULL, "no progress", 'q', false},
    {0}};

/* 0x and 8 hex digits at most are a bit pattern, anything else a number rounded to FP32. */
static assay_code parse_value(const char *text, uint32_t *bits, assay_error *error) {
    const char *hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : "";
    const size_t digits = strlen(hex);
    if (digits > 0 && strspn(hex, "0123456789abcdefABCDEF") == digits) {
        if (digits > 8) {
            return assay_fail(error, ASSAY_CODE_USAGE, "%s: an FP32 bit pattern has at most 8 hex digits",
                              text);
        }
        *bits = (uint32_t)strtoul(hex, NULL, 16);
        return ASSAY_CODE_OK;
    }
    char *end = NULL;
    const float value = strtof(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0])) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: need a bit pattern such as 0x3f800000 or a number",
                          text);
    }
    memcpy(bits, &value, sizeof *bits);
    return ASSAY_CODE_OK;
}

static float value_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void print_json(json_t *root) {
    (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(root);
}

static assay_code print_values(const cli_args *args, assay_cuda_function function, assay_error *error) {
    json_t *list = json_array();
    const int n = args->positional_count;
    for (int i = 1; i < n; i++) { /* all are read before any is answered */
        uint32_t x = 0;
        assay_code code = parse_value(args->positional[i], &x, error);
        if (code != ASSAY_CODE_OK) {
            json_decref(list);
            return code;
        }
        uint32_t y = 0;
        char in[16];
        char out[16];
        assay_cuda_function_fill(function, x, 1, &y);
        (void)snprintf(in, sizeof in, "%08x", x);
        (void)snprintf(out, sizeof out, "%08x", y);
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "x", in, "y", out));
    }
    if (cli_flag(args, "json")) {
        print_json(list);
        return ASSAY_CODE_OK;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *x = json_string_value(json_object_get(row, "x"));
        const char *y = json_string_value(json_object_get(row, "y"));
        (void)printf("%s(%s) = %s    %.9g -> %.9g\n", assay_cuda_function_name(function), x, y,
                     (double)value_of((uint32_t)strtoul(x, NULL, 16)),
                     (double)value_of((uint32_t)strtoul(y, NULL, 16)));
    }
    json_decref(list);
    return ASSAY_CODE_OK;
}

static void show_step(void *context, uint64_t done, uint64_t total) {
    cli_progress_show(context, done, total, "2^32 inputs");
}

static assay_code print_sha256(const cli_args *args, assay_cuda_function function, assay_error *error) {
    uint64_t threads = 0;
    const uint64_t processors = get_nprocs() > 256 ? 256 : (uint64_t)get_nprocs();
    assay_code code = cli_get_number(args, "threads", 1, 256, processors, &threads, error);
    uint8_t hash[ASSAY_HASH_BYTES];
    char hex[2 * ASSAY_HASH_BYTES + 1];
    cli_progress progress;
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    cli_progress_start(&progress, cli_flag(args, "quiet"));
    progress.unit = "M inputs";
    progress.scale = 1e-6;
    code = assay_cuda_function_sha256(function, (unsigned)threads, show_step, &progress, hash, error);
    cli_progress_end(&progress);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    assay_hex(hash, sizeof hash, hex);
    if (cli_flag(args, "json")) {
        print_json(json_pack("{s:s, s:I, s:s}", "function", assay_cuda_function_name(function), "inputs",
                             (json_int_t)(INT64_C(1) << 32), "sha256", hex));
    } else {
        (void)printf("%s  %s\n", hex, assay_cuda_function_name(function));
    }
    return ASSAY_CODE_OK;
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_cuda_function function = ASSAY_CUDA_EXPF;
    assay_code code = assay_cuda_function_find(args->positional[0], &function, error);
    const bool values = args->positional_count > 1;
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    if (values == cli_flag(args, "sha256")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "model %s: need either values or --sha256",
                          args->positional[0]);
    }
    return values ? print_values(args, function, error) : print_sha256(args, function, error);
}

const cli_command cli_model = {
    .name = "model",
    .operands = "FUNCTION [VALUE...]",
    .min_operands = 1,
    .max_operands = 1024,
    .summary = "CUDA's expf, sinf and cosf on this CPU: answers, or the digest of all 2^32",
    .detail =
        "FUNCTION is expf, sinf or cosf of CUDA 13.0 (no fast math, no flush to zero) as an sm_90 GPU "
        "answers,\n"
        "or ex2f, the instruction inside expf. A VALUE is a bit pattern (0x3f800000) or a number; negative "
        "numbers follow a --.\n"
        "Anyone with a GPU can compare: hash the 2^32 answers in the order of the inputs' bit patterns.",
    .options = options,
    .run = run};
