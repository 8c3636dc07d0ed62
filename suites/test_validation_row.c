/* Tests of validation_row.c on every row of the real contract, against an oracle of the test's own: a call is
 * valid when all its tensors have the signature's dtype and shape and its values lie in the domain. Every
 * rejected call must be invalid, every accepted one valid (or its range check off), and the base calls valid.
 */
#include "validation_row.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static assay_contract *load(void) {
    const assay_operator_def *op = assay_operator_find("timestep_sinusoid_h3");
    assay_contract *contract = NULL;
    assay_error error = {0};
    cr_assert_not_null(op);
    cr_assert_eq(assay_contract_parse(op->contract_json, *op->contract_bytes, &contract, &error),
                 ASSAY_CODE_OK, "%s", error.text);
    return contract;
}

static int64_t attr(const assay_row_call *call, const char *name, bool *negative_or_zero) {
    for (size_t i = 0; i < call->attrs.count; i++) {
        const assay_attr *a = &call->attrs.items[i];
        if (strcmp(a->name, name) == 0) {
            *negative_or_zero = a->type == ASSAY_ATTR_FLOAT ? !(a->f > 0.0) : a->i <= 0;
            return a->type == ASSAY_ATTR_FLOAT ? (int64_t)a->f : a->i;
        }
    }
    cr_assert_fail("no attribute %s", name);
    return 0;
}

/* The contract of timestep_sinusoid_h3, in the test's own words. */
static bool is_valid(const assay_row_call *call) {
    bool bad_width;
    bool bad_period;
    bool unchecked;
    int64_t width = attr(call, "width", &bad_width);
    (void)attr(call, "max_period", &bad_period);
    bool checked = attr(call, "check_range", &unchecked) != 0;
    if (bad_width || width % 2 != 0 || bad_period || call->count != (call->backward ? 4U : 2U)) {
        return false;
    }
    const assay_row_tensor *t = &call->tensors[call->backward ? 2 : 0];
    if (t->null || t->ndim != 1 || t->shape[0] < 1 ||
        (t->dtype != ASSAY_DTYPE_F32 && t->dtype != ASSAY_DTYPE_BF16 && t->dtype != ASSAY_DTYPE_F16)) {
        return false;
    }
    for (size_t i = 0; i < call->count; i++) {
        const assay_row_tensor *m = &call->tensors[i];
        bool vector = m == t || (call->backward && m->output);
        bool fits = vector ? m->ndim == 1 && m->shape[0] == t->shape[0] && m->dtype == t->dtype
                           : m->ndim == 2 && m->shape[0] == t->shape[0] && m->shape[1] == width &&
                                 m->dtype == ASSAY_DTYPE_F32;
        if (m->null || !fits) {
            return false;
        }
    }
    if (!call->poked || !checked) {
        return true;
    }
    uint32_t bits = t->dtype == ASSAY_DTYPE_F32
                        ? call->poke_bits
                        : assay_f32_bits(assay_dtype_load_f32(t->dtype, &call->poke_bits, 0));
    return bits <= 0x3f800000U || bits == 0x80000000U;
}

static void every_row(const char *list, bool valid) {
    assay_contract *contract = load();
    const json_t *rows = json_object_get(contract->root, list);
    size_t index;
    const json_t *row;
    cr_assert_gt(json_array_size(rows), 20);
    json_array_foreach(rows, index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        assay_row_call call;
        assay_error error = {0};
        cr_assert_eq(assay_row_base(contract, row, &call, &error), ASSAY_CODE_OK, "%s: %s", name, error.text);
        cr_assert(is_valid(&call), "%s: the base call must be valid", name);
        cr_assert_geq(assay_row_variants(row), 1);
        for (size_t i = 0; i < assay_row_variants(row); i++) {
            cr_assert_eq(assay_row_variant(contract, row, i, &call, &error), ASSAY_CODE_OK, "%s: %s", name,
                         error.text);
            cr_assert_eq(is_valid(&call), valid, "%s variant %zu (%s) must be %s", name, i, call.label,
                         valid ? "valid" : "invalid");
        }
    }
    assay_contract_free(contract);
}

Test(row, every_rejection_is_an_invalid_call_from_a_valid_base) {
    every_row("rejections", false);
}

Test(row, every_acceptance_is_a_valid_call) {
    every_row("accepts", true);
}

static const json_t *find(const assay_contract *contract, const char *list, const char *name) {
    size_t index;
    const json_t *row;
    json_array_foreach(json_object_get(contract->root, list), index, row) {
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0) {
            return row;
        }
    }
    cr_assert_fail("the contract has no row %s", name);
    return NULL;
}

Test(row, a_nan_is_tried_at_three_places_with_five_payloads_in_four_batch_sizes) {
    assay_contract *contract = load();
    const json_t *row = find(contract, "rejections", "value_nan");
    unsigned places = 0;
    unsigned payloads = 0;
    unsigned sizes = 0;
    cr_assert_eq(assay_row_variants(row), 60);
    for (size_t i = 0; i < 60; i++) {
        assay_row_call call;
        cr_assert_eq(assay_row_variant(contract, row, i, &call, NULL), ASSAY_CODE_OK);
        places |= call.poke_element == 0               ? 1U
                  : call.poke_element == call.rows - 1 ? 4U
                  : call.poke_element == call.rows / 2 ? 2U
                                                       : 8U;
        payloads |= call.poke_bits == 0x7fc00000U   ? 1U
                    : call.poke_bits == 0x7f800001U ? 2U
                    : call.poke_bits == 0xffc00000U ? 4U
                                                    : 8U;
        sizes |= call.rows == 1     ? 1U
                 : call.rows == 3   ? 2U
                 : call.rows == 33  ? 4U
                 : call.rows == 300 ? 8U
                                    : 16U;
    }
    cr_assert_eq(places, 7);
    cr_assert_eq(payloads, 15);
    cr_assert_eq(sizes, 15);
    assay_contract_free(contract);
}

Test(row, sixteen_bit_nans_are_nans_of_that_type) {
    assay_contract *contract = load();
    static const struct {
        const char *name;
        assay_dtype dtype;
    } rows[] = {{"value_bf16_nan", ASSAY_DTYPE_BF16}, {"value_f16_nan", ASSAY_DTYPE_F16}};
    for (size_t r = 0; r < 2; r++) {
        const json_t *row = find(contract, "rejections", rows[r].name);
        for (size_t i = 0; i < assay_row_variants(row); i++) {
            assay_row_call call;
            cr_assert_eq(assay_row_variant(contract, row, i, &call, NULL), ASSAY_CODE_OK);
            cr_assert_eq(call.tensors[0].dtype, rows[r].dtype);
            float x = assay_dtype_load_f32(rows[r].dtype, &call.poke_bits, 0);
            cr_assert(x != x, "%s variant %zu: %08x", rows[r].name, i, call.poke_bits);
        }
    }
    assay_contract_free(contract);
}

Test(row, shapes_follow_the_base) {
    assay_contract *contract = load();
    assay_row_call call;
    cr_assert_eq(
        assay_row_variant(contract, find(contract, "rejections", "backward_saved_half"), 0, &call, NULL),
        ASSAY_CODE_OK);
    cr_assert_eq(call.tensors[1].shape[1], 128);
    cr_assert_eq(call.tensors[0].shape[1], 256);
    cr_assert_eq(
        assay_row_variant(contract, find(contract, "rejections", "embedding_vector"), 0, &call, NULL),
        ASSAY_CODE_OK);
    cr_assert(call.tensors[1].ndim == 1 && call.tensors[1].shape[0] == 33 * 256);
    cr_assert_eq(assay_row_variant(contract, find(contract, "rejections", "width_odd"), 0, &call, NULL),
                 ASSAY_CODE_OK);
    cr_assert_eq(call.tensors[1].shape[1], 255, "nothing but the width may be wrong");
    cr_assert_eq(assay_row_variant(contract, find(contract, "rejections", "timestep_scalar"), 0, &call, NULL),
                 ASSAY_CODE_OK);
    cr_assert_eq(call.tensors[0].ndim, 0);
    cr_assert_eq(assay_row_variant(contract, find(contract, "accepts", "timestep_strided"), 0, &call, NULL),
                 ASSAY_CODE_OK);
    cr_assert(call.tensors[0].stride == 2 && call.rows == 10);
    static const struct {
        const char *name;
        int64_t rows, width;
    } sized[] = {{"embedding_one_row_more", 34, 256},
                 {"embedding_one_row_less", 32, 256},
                 {"embedding_two_channels_more", 33, 258},
                 {"embedding_two_channels_less", 33, 254},
                 {"embedding_transposed", 256, 33}};
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
        const json_t *row = find(contract, "rejections", sized[i].name);
        cr_assert_eq(assay_row_variant(contract, row, 0, &call, NULL), ASSAY_CODE_OK);
        cr_assert_eq(call.tensors[1].shape[0], sized[i].rows, "%s", sized[i].name);
        cr_assert_eq(call.tensors[1].shape[1], sized[i].width, "%s", sized[i].name);
    }
    assay_contract_free(contract);
}

Test(row, what_is_not_understood_is_an_error) {
    static const char *const rows[] = {
        "{\"name\":\"n\",\"entry\":\"sideways\",\"changes\":[]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"melt\",\"tensor\":\"timestep\"}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"null\",\"tensor\":\"nobody\"}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"attr\",\"name\":\"nobody\",\"value\":"
        "1}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"dtype\":\"f8\",\"changes\":[]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"dtype\",\"tensor\":\"timestep\","
        "\"dtype\":\"f8\"}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"shape\",\"tensor\":\"timestep\","
        "\"shape\":[\"rows/0\"]}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"shape\",\"tensor\":\"timestep\","
        "\"shape\":[\"columns\"]}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"shape\",\"tensor\":\"timestep\","
        "\"shape\":[1,1,1,1,1]}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"values\",\"tensor\":\"timestep\","
        "\"value\":\"many\",\"at\":[\"first\"]}]}",
        "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"values\",\"tensor\":\"timestep\","
        "\"value\":\"nan\",\"at\":[\"there\"]}]}",
    };
    assay_contract *contract = load();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *row = json_loads(rows[i], 0, NULL);
        assay_row_call call;
        assay_error error = {0};
        cr_assert_not_null(row);
        cr_assert_neq(assay_row_variant(contract, row, 0, &call, &error), ASSAY_CODE_OK, "%s", rows[i]);
        cr_assert_neq(error.text[0], '\0');
        json_decref(row);
    }
    assay_contract_free(contract);
}

Test(domain, holds_the_interval_and_minus_zero_only) {
    assay_contract *contract = load();
    static const struct {
        uint32_t bits;
        bool inside;
    } table[] = {{0, true},
                 {1, true},
                 {0x3f800000U, true},
                 {0x3f800001U, false},
                 {0x80000000U, true},
                 {0x80000001U, false},
                 {0x7fc00000U, false},
                 {0x7f800000U, false},
                 {0xbf800000U, false}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cr_assert_eq(assay_row_in_domain(contract, "timestep", table[i].bits), table[i].inside, "%08x",
                     table[i].bits);
    }
    assay_contract_free(contract);
}
