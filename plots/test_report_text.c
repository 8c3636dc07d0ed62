/* test_report_text.c - foreign text made safe, numbers made readable. */
#include "figure.h"
#include "report_arena.h"
#include "report_assets.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static report_arena arena;

static void down(void) {
    report_arena_free(&arena);
}

TestSuite(report_text, .fini = down);

static const char *clean(const char *text) {
    return report_clean(&arena, text, strlen(text));
}

Test(report_text, control_characters_never_survive) {
    char every[256];
    for (int i = 1; i < 256; i++) {
        every[i - 1] = (char)i;
    }
    every[255] = '\0';
    const char *safe = clean(every);
    for (const char *p = safe; *p != '\0'; p++) {
        cr_assert((unsigned char)*p >= 0x20 && *p != 0x7f, "byte %02x survived", (unsigned char)*p);
    }
}

Test(report_text, utf8_is_kept_and_what_is_not_utf8_is_replaced) {
    cr_assert_str_eq(clean("\xc3\xa9 \xe2\x89\xa4 \xf0\x9f\x98\x80"),
                     "\xc3\xa9 \xe2\x89\xa4 \xf0\x9f\x98\x80");
    cr_assert_str_eq(clean("a\xff"
                           "b"),
                     "a\xef\xbf\xbd"
                     "b");
    cr_assert_str_eq(clean("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong '/' */
    cr_assert_str_eq(clean("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    cr_assert_str_eq(clean("\xef\xbf\xbe"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* U+FFFE: not in XML */
    cr_assert_str_eq(clean("x\xe2\x89"), "x\xef\xbf\xbd\xef\xbf\xbd");               /* cut short */
    cr_assert_str_eq(clean("a\nb\tc\rd"), "a\xe2\x90\xa4"
                                          "b cd");
    cr_assert_str_eq(report_clean(&arena, NULL, 0), "");
}

Test(report_text, counts_and_shares) {
    cr_assert_str_eq(report_count_text(&arena, 0), "0");
    cr_assert_str_eq(report_count_text(&arena, 999), "999");
    cr_assert_str_eq(report_count_text(&arena, 1000), "1,000");
    cr_assert_str_eq(report_count_text(&arena, 272730423552ull), "272,730,423,552");
    cr_assert_str_eq(report_count_text(&arena, UINT64_MAX), "18,446,744,073,709,551,615");
    cr_assert_str_eq(report_short_count(&arena, 99999), "99,999");
    cr_assert_str_eq(report_short_count(&arena, 272730423552ull), "272.7 G");
    cr_assert_str_eq(report_share_text(&arena, 827, 1000), "82.7 %");
    cr_assert_str_eq(report_share_text(&arena, 0, 10), "0 %");
    cr_assert_str_eq(report_share_text(&arena, 10, 10), "100 %");
    cr_assert_str_eq(report_share_text(&arena, 0, 0), "n/a");
    /* one of a billion is not none, and all but one are not all */
    cr_assert_str_eq(report_share_text(&arena, 1, 1000000000), "<0.1 %");
    cr_assert_str_eq(report_share_text(&arena, 999999999, 1000000000), ">99.9 %");
}

Test(report_text, numbers_with_units) {
    cr_assert_str_eq(report_ns_text(&arena, 0), "0.00 ns");
    cr_assert_str_eq(report_ns_text(&arena, 999), "999 ns");
    cr_assert_str_eq(report_ns_text(&arena, 1234), "1.23 \xc2\xb5s");
    cr_assert_str_eq(report_ns_text(&arena, 64.3e6), "64.3 ms");
    cr_assert_str_eq(report_ns_text(&arena, 8.412e9), "8.41 s");
    cr_assert_str_eq(report_bytes_text(&arena, 1023), "1023 B");
    cr_assert_str_eq(report_bytes_text(&arena, 1536), "1.5 KiB");
    cr_assert_str_eq(report_bits_text(&arena, 0x3f800000), "0x3f800000");
    cr_assert_str_eq(report_float_text(&arena, 0x3f800000), "0x3f800000 (1)");
    cr_assert_str_eq(report_float_text(&arena, 0x80000000), "0x80000000 (-0)");
    cr_assert_str_eq(report_float_text(&arena, 0x7fc00001), "0x7fc00001 (NaN)");
    cr_assert_str_eq(report_time_text(&arena, 1796094000000), "2026-12-01 03:00:00 UTC");
    cr_assert_str_eq(report_words(&arena, "not_verified"), "not verified");
}

Test(report_text, arrays_grow_without_losing_items) {
    int *items = NULL;
    size_t count = 0;
    for (int i = 0; i < 1000; i++) {
        int *slot = report_arena_push(&arena, (void **)&items, &count, sizeof *slot);
        cr_assert_not_null(slot);
        cr_assert_eq(*slot, 0);
        *slot = i;
    }
    cr_assert_eq(count, 1000);
    for (int i = 0; i < 1000; i++) {
        cr_assert_eq(items[i], i);
    }
}

Test(report_text, an_impossible_allocation_is_remembered) {
    cr_assert_null(report_arena_alloc(&arena, SIZE_MAX - 5));
    cr_assert(arena.failed);
}

static char *quoted(void (*write)(FILE *, const char *), const char *text) {
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    write(f, text);
    (void)fclose(f);
    return out;
}

/* gnuplot runs what stands in backquotes, also inside double quotes. */
Test(report_text, gnuplot_strings_cannot_run_commands) {
    static const char evil[] = "`touch /tmp/x` \"; system('id') # \\";
    char *a = quoted(figure_string, evil);
    char *b = quoted(figure_field, evil);
    char *c = quoted(figure_macro_field, evil);
    cr_assert_null(strchr(a, '`'));
    cr_assert_str_eq(a, "\"'touch /tmp/x' \\\"; system('id') # \\\\\"");
    cr_assert_eq(strchr(b + 1, '"'), b + strlen(b) - 1);
    cr_assert_null(strpbrk(c, "`'\\"));
    cr_assert_eq(strchr(c + 1, '"'), c + strlen(c) - 1);
    free(a);
    free(b);
    free(c);
}

Test(report_text, titles_wrap_at_blanks) {
    cr_assert_str_eq(figure_wrap(&arena, "one two three four", 8), "one two\nthree\nfour");
    cr_assert_str_eq(figure_wrap(&arena, "unbreakable_and_long", 8), "unbreakable_and_long");
}

Test(report_text, assets_are_embedded) {
    static const char *const names[] = {"report.css", "report.js", "figure_style.gp", "figure_ulp.gp",
                                        "figure_matrix.gp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_assert_gt(strlen(report_asset_text(names[i])), 100, "%s", names[i]);
    }
    cr_assert_str_eq(report_asset_text("no such file"), "");
}
