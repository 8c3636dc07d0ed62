/* Tests of direct.c: views, strides, tiers of the contract's matrices, and which finding is reported. */
#include "direct.h"

#include <criterion/criterion.h>
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

Test(direct, attributes_are_the_contract_defaults_and_keep_their_type) {
    assay_contract *contract = load();
    assay_attrs attrs;
    assay_direct_attrs(contract, &attrs);
    cr_assert_eq(attrs.count, 3);
    cr_assert(attrs.items[0].type == ASSAY_ATTR_INT && attrs.items[0].i == 256);
    cr_assert(attrs.items[1].type == ASSAY_ATTR_FLOAT && attrs.items[1].f == 10000.0);
    cr_assert(attrs.items[2].type == ASSAY_ATTR_BOOL && attrs.items[2].i == 1);
    cr_assert(assay_direct_attr_set(&attrs, "check_range", 0.0));
    cr_assert(attrs.items[2].type == ASSAY_ATTR_BOOL && attrs.items[2].i == 0);
    cr_assert_not(assay_direct_attr_set(&attrs, "nobody", 0.0));
    assay_contract_free(contract);
}

Test(direct, a_matrix_yields_the_value_of_the_tier) {
    assay_contract *contract = load();
    assay_context context = {.contract = contract, .tier = ASSAY_TIER_QUICK};
    cr_assert_eq(assay_direct_number(assay_direct_matrix(&context, "width_rows", NULL), 0, 0), 33);
    cr_assert_eq(assay_direct_count(assay_direct_matrix(&context, "timing", "rows")), 2);
    context.tier = ASSAY_TIER_FULL;
    cr_assert_eq(assay_direct_number(assay_direct_matrix(&context, "width_rows", NULL), 0, 0), 4097);
    cr_assert_eq(assay_direct_number(assay_direct_matrix(&context, "rows", NULL), 6, 0), 4097);
    cr_assert_eq(assay_direct_number(assay_direct_matrix(&context, "nobody", NULL), 0, -1), -1);
    cr_assert_eq(assay_direct_count(assay_direct_matrix(&context, "nobody", "rows")), 0);
    assay_contract_free(contract);
}

Test(direct, views_address_the_rows_of_the_whole) {
    assay_arena *arena = NULL;
    assay_tensor whole;
    assay_tensor view;
    float x[10];
    cr_assert_eq(assay_arena_create(1 << 20, &arena, NULL), ASSAY_CODE_OK);
    cr_assert(assay_direct_alloc(arena, ASSAY_DTYPE_F32, 10, 0, 3, 4, &whole, NULL));
    for (int i = 0; i < 10; i++) {
        x[i] = (float)i;
    }
    assay_direct_put(&whole, x);
    assay_direct_rows(&whole, 4, 2, &view);
    cr_assert_eq(((float *)view.data)[0], 4.0F);
    cr_assert_eq(((float *)view.data)[view.strides[0]], 5.0F);
    cr_assert_eq(view.data_offset - whole.data_offset, (size_t)4 * 3 * sizeof(float));
    cr_assert_eq(view.span_bytes, 4 * sizeof(float)); /* two elements, stride 3 */
    cr_assert_eq(view.segment_offset, whole.segment_offset);
    cr_assert(assay_direct_alloc(arena, ASSAY_DTYPE_F32, 10, 8, 0, 0, &whole, NULL));
    assay_direct_rows(&whole, 9, 1, &view);
    cr_assert_eq(view.data_offset + view.span_bytes, whole.data_offset + whole.span_bytes);
    assay_direct_rows(&whole, 10, 0, &view);
    cr_assert_eq(view.span_bytes, 0);
    assay_arena_destroy(arena);
}

Test(direct, filling_a_tensor_leaves_its_neighbours) {
    assay_arena *arena = NULL;
    assay_tensor whole;
    assay_tensor view;
    cr_assert_eq(assay_arena_create(1 << 20, &arena, NULL), ASSAY_CODE_OK);
    cr_assert(assay_direct_alloc(arena, ASSAY_DTYPE_F32, 4, 6, 0, 0, &whole, NULL));
    assay_tensor_poison(&whole, ASSAY_POISON_A);
    assay_direct_rows(&whole, 1, 2, &view);
    assay_direct_fill(&view, 0);
    const uint32_t *words = whole.data;
    for (size_t i = 0; i < 24; i++) {
        cr_assert_eq(words[i], i >= 6 && i < 18 ? 0 : ASSAY_POISON_A, "word %zu", i);
    }
    cr_assert_eq(assay_tensor_zone_damage(&whole, ASSAY_POISON_A, NULL), 0);
    assay_arena_destroy(arena);
}

Test(findings, nothing_found_is_a_pass_with_its_count) {
    assay_findings f;
    assay_result result = {0};
    assay_findings_open(&f);
    assay_findings_count(&f, 5);
    assay_findings_close(&f, true, NULL, &result);
    cr_assert(result.outcome == ASSAY_OUTCOME_PASS && result.elements == 5 && result.bad == 0);
}

Test(findings, a_failure_outweighs_other_trouble_and_the_lowest_part_speaks) {
    assay_findings f;
    assay_result result = {0};
    assay_findings_open(&f);
    assay_findings_add(&f, 0, 0, ASSAY_OUTCOME_ERROR, "lost");
    assay_findings_add(&f, 7, 2, ASSAY_OUTCOME_FAIL, "part %d", 7);
    assay_findings_add(&f, 3, 1, ASSAY_OUTCOME_FAIL, "part %d", 3);
    assay_findings_add(&f, 9, 1, ASSAY_OUTCOME_FAIL, "part %d", 9);
    assay_findings_add(&f, 1, 0, ASSAY_OUTCOME_ERROR, "lost again");
    assay_findings_close(&f, false, &(assay_error){0}, &result);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_FAIL);
    cr_assert_str_eq(result.reason, "part 3");
    cr_assert_eq(result.bad, 4);
}

Test(findings, a_fault_of_the_harness_is_an_error) {
    assay_findings f;
    assay_error error = {0};
    assay_result result = {0};
    (void)assay_fail(&error, ASSAY_CODE_INTERNAL, "arena is full");
    assay_findings_open(&f);
    assay_findings_close(&f, false, &error, &result);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_ERROR);
    cr_assert_not_null(strstr(result.reason, "arena is full"));
}
