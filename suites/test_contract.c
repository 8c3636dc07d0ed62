/* Each refusal of contract.h, made by one edit of a small valid contract. */
#include "contract.h"
#include "operator.h"

#include <criterion/criterion.h>

static const char valid[] =
    "{\"operator\":\"toy\",\"version\":1,\"summary\":\"s\",\n"
    "\"signature\":{\"attributes\":[{\"name\":\"width\",\"type\":\"int\",\"default\":4,\"rule\":\"even\"}],\n"
    "\"forward\":{\"inputs\":[{\"name\":\"t\",\"dtypes\":[\"f32\"],\"shape\":[\"rows\"]}],\n"
    "\"outputs\":[{\"name\":\"out\",\"dtypes\":[\"f32\"],\"shape\":[\"rows\",\"width\"]}]}},\n"
    "\"domain\":{\"t\":[[\"0x00000000\",\"0x3f800000\"]]},\n"
    "\"promises\":[{\"name\":\"acc\",\"suite\":\"accuracy\",\"relation\":\"accuracy\",\"required\":true,"
    "\"text\":\"t\"},\n"
    "{\"name\":\"time\",\"suite\":\"timing\",\"relation\":\"measured\",\"required\":false,\"text\":\"t\"}],\n"
    "\"tolerances\":[{\"output\":\"out\",\"dtype\":\"f32\",\"relation\":\"accuracy\",\"atol\":1e-5,\"rtol\":"
    "1e-5,\"max_abs\":1e-6,"
    "\"owner\":\"o\",\"reason\":\"r\",\"date\":\"2026-12-01\"}],\n"
    "\"matrices\":{},\"rejections\":[{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"null\","
    "\"tensor\":\"t\"}]}],\n"
    "\"accepts\":[]}";

#define TOLERANCE                                                                                            \
    "{\"output\":\"out\",\"dtype\":\"f32\",\"relation\":\"accuracy\",\"atol\":1e-5,\"rtol\":1e-5,\"max_"     \
    "abs\":1e-6,\"owner\":"                                                                                  \
    "\"o\",\"reason\":\"r\",\"date\":\"2026-12-01\"}"
#define ROW "{\"name\":\"n\",\"entry\":\"forward\",\"changes\":[{\"kind\":\"null\",\"tensor\":\"t\"}]}"

static const struct {
    const char *label, *from, *to, *message; /* every occurrence counts: only the first is replaced */
} refused[] = {
    {"not JSON", "{\"operator\"", "{operator", "line 1"},
    {"trailing text", "\"accepts\":[]}", "\"accepts\":[]} x", "line"},
    {"duplicate key", "\"version\":1,", "\"version\":1,\"version\":1,", "duplicate"},
    {"unknown key at the top", "\"version\":1,", "\"version\":1,\"extra\":1,", "unknown key \"extra\""},
    {"missing key at the top", "\"summary\":\"s\",", "", "\"summary\" is missing"},
    {"wrong type", "\"version\":1,", "\"version\":\"1\",", "must be an integer"},
    {"version 0", "\"version\":1,", "\"version\":0,", "version"},
    {"version beyond", "\"version\":1,", "\"version\":4294967297,", "version"},
    {"empty operator", "\"operator\":\"toy\"", "\"operator\":\"\"", "non-empty string"},
    {"long operator", "\"operator\":\"toy\"",
     "\"operator\":\"toytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoytoy\"", "too long"},
    {"unknown key in an attribute", "\"rule\":\"even\"", "\"rule\":\"even\",\"x\":1", "unknown key \"x\""},
    {"unknown dtype", "\"dtypes\":[\"f32\"],\"shape\":[\"rows\"]",
     "\"dtypes\":[\"f31\"],\"shape\":[\"rows\"]", "unknown dtype"},
    {"no dtype", "\"dtypes\":[\"f32\"],\"shape\":[\"rows\"]", "\"dtypes\":[],\"shape\":[\"rows\"]",
     "no dtype"},
    {"no outputs", "\"outputs\":[{\"name\":\"out\",\"dtypes\":[\"f32\"],\"shape\":[\"rows\",\"width\"]}]",
     "\"outputs\":[]", "no outputs"},
    {"domain of decimal numbers", "[\"0x00000000\",\"0x3f800000\"]", "[0,1]", "interval"},
    {"domain upside down", "[\"0x00000000\",\"0x3f800000\"]", "[\"0x3f800000\",\"0x00000000\"]", "interval"},
    {"domain with capitals", "[\"0x00000000\",\"0x3f800000\"]", "[\"0x00000000\",\"0x3F800000\"]",
     "interval"},
    {"empty domain", "[[\"0x00000000\",\"0x3f800000\"]]", "[]", "no interval"},
    {"no promise",
     "[{\"name\":\"acc\",\"suite\":\"accuracy\",\"relation\":\"accuracy\",\"required\":true,\"text\":\"t\"},"
     "\n"
     "{\"name\":\"time\",\"suite\":\"timing\",\"relation\":\"measured\",\"required\":false,\"text\":\"t\"}]",
     "[]", "no promise"},
    {"unknown suite", "\"suite\":\"accuracy\"", "\"suite\":\"accurate\"", "unknown suite"},
    {"unknown relation", "\"relation\":\"accuracy\",\"required\"", "\"relation\":\"close\",\"required\"",
     "unknown relation"},
    {"measured and required", "\"required\":false", "\"required\":true", "promises nothing"},
    {"two promises of one name", "\"name\":\"time\"", "\"name\":\"acc\"", "two promises"},
    {"promise without text", "\"required\":true,\"text\":\"t\"", "\"required\":true", "\"text\" is missing"},
    {"required is a number", "\"required\":true", "\"required\":1", "true or false"},
    {"no tolerance row", TOLERANCE, "", "no tolerance row for out f32"},
    {"two rows for a cell", TOLERANCE, TOLERANCE "," TOLERANCE, "two tolerance rows"},
    {"no owner", "\"owner\":\"o\",", "", "\"owner\" is missing"},
    {"empty owner", "\"owner\":\"o\"", "\"owner\":\"\"", "non-empty"},
    {"no reason", "\"reason\":\"r\",", "", "\"reason\" is missing"},
    {"no date", ",\"date\":\"2026-12-01\"", "", "\"date\" is missing"},
    {"date in words", "\"date\":\"2026-12-01\"", "\"date\":\"today\"", "not YYYY-MM-DD"},
    {"date of month 13", "\"date\":\"2026-12-01\"", "\"date\":\"2026-13-01\"", "not YYYY-MM-DD"},
    {"unknown memory", "\"relation\":\"accuracy\",\"required\"",
     "\"memory\":\"disk\",\"relation\":\"accuracy\",\"required\"", "unknown memory"},
    {"tolerance where bytes are owed", "\"relation\":\"accuracy\",\"atol\"",
     "\"relation\":\"parity\",\"atol\"", "bytes are owed"},
    {"tolerance for invariance", "\"relation\":\"accuracy\",\"atol\"", "\"relation\":\"invariance\",\"atol\"",
     "bytes are owed"},
    {"tolerance for repeat", "\"relation\":\"accuracy\",\"atol\"", "\"relation\":\"repeat\",\"atol\"",
     "bytes are owed"},
    {"tolerance for validation", "\"relation\":\"accuracy\",\"atol\"", "\"relation\":\"validation\",\"atol\"",
     "takes no tolerance"},
    {"tolerance for unknown relation", "\"relation\":\"accuracy\",\"atol\"", "\"relation\":\"x\",\"atol\"",
     "unknown relation"},
    {"tolerance of unknown output", "\"output\":\"out\"", "\"output\":\"in\"", "no such output"},
    {"tolerance of another dtype", "\"output\":\"out\",\"dtype\":\"f32\"",
     "\"output\":\"out\",\"dtype\":\"f16\"", "has no dtype"},
    {"negative atol", "\"atol\":1e-5", "\"atol\":-1e-5", "negative"},
    {"all zero", "\"atol\":1e-5,\"rtol\":1e-5", "\"atol\":0,\"rtol\":0", "not both"},
    {"max_abs 0", "\"max_abs\":1e-6", "\"max_abs\":0", "max_abs 0"},
    {"tolerance with a spare key", "\"max_abs\":1e-6", "\"max_ulp\":1", "unknown key \"max_ulp\""},
    {"unknown entry", "\"entry\":\"forward\"", "\"entry\":\"sideways\"", "neither"},
    {"unknown change", "\"kind\":\"null\"", "\"kind\":\"melt\"", "unknown kind"},
    {"two rejections of one name", ROW, ROW "," ROW, "two rows"},
    {"rejection with a spare key", "\"entry\":\"forward\"", "\"entry\":\"forward\",\"why\":1",
     "unknown key \"why\""},
    {"gradient promise without backward", "\"relation\":\"accuracy\",\"required\"",
     "\"relation\":\"gradient_accuracy\",\"required\"", "no backward"},
};

/* `valid` with the first `from` replaced by `to`. */
static char *edited(const char *from, const char *to) {
    const char *place = strstr(valid, from);
    cr_assert_not_null(place, "the base contract lacks %s", from);
    char *text = NULL;
    cr_assert(asprintf(&text, "%.*s%s%s", (int)(place - valid), valid, to, place + strlen(from)) >= 0);
    return text;
}

Test(contract, accepts_the_base) {
    assay_contract *contract = NULL;
    assay_error error = {0};
    cr_assert_eq(assay_contract_parse(valid, strlen(valid), &contract, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    cr_assert_str_eq(contract->operator_name, "toy");
    cr_assert_eq(contract->promise_count, 2);
    cr_assert_eq(contract->tolerance_count, 1);
    const assay_tolerance *t = assay_contract_tolerance(contract, "out", ASSAY_DTYPE_F32, "accuracy");
    cr_assert_not_null(t);
    cr_assert(t->atol == 1e-5 && t->rtol == 1e-5 && t->max_abs == 1e-6);
    cr_assert_str_eq(t->owner, "o");
    cr_assert_null(assay_contract_tolerance(contract, "out", ASSAY_DTYPE_BF16, "accuracy"));
    cr_assert_null(assay_contract_promise(contract, "parity"));
    cr_assert_not(assay_contract_promise(contract, "time")->required);
    cr_assert_str_eq(contract->text, valid);
    assay_contract_free(contract);
}

Test(contract, refuses_each_edit) {
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char *text = edited(refused[i].from, refused[i].to);
        assay_contract *contract = NULL;
        assay_error error = {0};
        assay_code code = assay_contract_parse(text, strlen(text), &contract, &error);
        cr_expect_eq(code, ASSAY_CODE_USAGE, "%s: accepted", refused[i].label);
        cr_expect_null(contract, "%s: a contract came back", refused[i].label);
        cr_expect_not_null(strstr(error.text, refused[i].message), "%s: message was \"%s\"", refused[i].label,
                           error.text);
        assay_contract_free(contract);
        free(text);
    }
}

/* Every prefix of a valid contract is refused, and nothing is read beyond its end. */
Test(contract, refuses_each_prefix) {
    for (size_t n = 0; n < strlen(valid); n++) {
        char *text = malloc(n + 1);
        memcpy(text, valid, n);
        assay_contract *contract = NULL;
        cr_expect_neq(assay_contract_parse(text, n, &contract, NULL), ASSAY_CODE_OK, "prefix of %zu bytes",
                      n);
        cr_expect_null(contract);
        free(text);
    }
}

Test(contract, every_operator_has_a_valid_one) {
    cr_assert_gt(assay_operator_count, 0);
    for (size_t i = 0; i < assay_operator_count; i++) {
        const assay_operator_def *op = assay_operators[i];
        assay_contract *contract = NULL;
        assay_error error = {0};
        cr_assert_eq(assay_contract_parse(op->contract_json, *op->contract_bytes, &contract, &error),
                     ASSAY_CODE_OK, "%s", error.text);
        cr_assert_str_eq(contract->operator_name, op->name);
        cr_assert_eq(strlen(contract->sha256), 64);
        assay_contract_free(contract);
    }
}
