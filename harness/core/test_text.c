/* test_text.c - what a candidate says may not move the cursor, start a line or reorder a report. */
#include "text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *tidy;
} cases[] = {
    {"", ""},
    {"plain ASCII ~", "plain ASCII ~"},
    {"x\nVERDICT certified", "x?VERDICT certified"},
    {"\r\t\x1b[2J\x7f", "???[2J?"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"c1 \xc2\x9b[2J", "c1 ??[2J"},
    {"bidi \xe2\x80\xae"
     "abc \xe2\x81\xa6",
     "bidi ???abc ???"},
    {"line \xe2\x80\xa8|", "line ???|"},
    {"not utf-8 \xff\xfe\xc0\x80|", "not utf-8 ????|"},
    {"surrogate \xed\xa0\x80|", "surrogate ???|"},
    {"overlong \xe0\x80\xaf|", "overlong ???|"},
    {"cut \xe2\x82", "cut "},
    {"cut \xf0\x9f\x98", "cut "},
    {"torn \xe2\x82 here", "torn ?? here"},
};

Test(text, tidy_and_printable) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        (void)strcpy(text, cases[i].text);
        cr_expect_eq(assay_text_printable(text), strcmp(cases[i].text, cases[i].tidy) == 0, "case %zu", i);
        assay_text_tidy(text);
        cr_expect_str_eq(text, cases[i].tidy, "case %zu", i);
        cr_expect(assay_text_printable(text), "case %zu", i);
    }
}

/* Whatever the bytes: the result is printable and no longer. */
Test(text, every_pair_of_bytes) {
    for (unsigned a = 1; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            char text[4] = {(char)a, (char)b, 'x', '\0'};
            const size_t before = strlen(text);
            assay_text_tidy(text);
            cr_assert(strlen(text) <= before && assay_text_printable(text), "%02x %02x", a, b);
        }
    }
}

Test(text, shell_words) {
    static const char *const words[][2] = {
        {"./a-b_c.so", "./a-b_c.so"}, {"", "''"},       {"a b", "'a b'"},       {"it's", "'it'\\''s'"},
        {"$(x)", "'$(x)'"},           {"'", "''\\'''"}, {"a\"b;c", "'a\"b;c'"}, {"~/x", "'~/x'"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *word = assay_text_shell(words[i][0]);
        cr_expect_str_eq(word, words[i][1]);
        free(word);
    }
}
