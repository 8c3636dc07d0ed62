/* The happy path: what goes in comes out, and the verdict follows. */
#include "test_common.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(store, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

Test(store, full_run_is_certified) {
    const char *path = scratch("a.db");
    test_full_database(path);
    cr_expect_str_eq(raw_text(path, "SELECT verdict FROM runs"), "certified");
    cr_expect_str_eq(raw_text(path, "SELECT count(*) FROM sample"), "3");
    cr_expect_str_eq(raw_text(path, "SELECT samples_ns FROM series WHERE callable='candidate'"),
                     "[100,0,18446744073709551615]");
    cr_expect_str_eq(raw_text(path, "SELECT samples_ns FROM series WHERE callable='floor'"), "[]");
    cr_expect_str_eq(raw_text(path, "SELECT value IS NULL AND bits<>0 FROM metric WHERE name='nan'"), "1");
    cr_expect_str_eq(raw_text(path, "SELECT bits=-9223372036854775808 FROM metric WHERE name='zero'"), "1");
    cr_expect_str_eq(raw_text(path, "SELECT hex(sums) FROM digest_tile WHERE number=1"),
                     "FFFFFFFFFFFFFFFF0400000000000000");
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        char sql[96];
        (void)snprintf(sql, sizeof sql, "SELECT count(*)>0 FROM %s", assay_tables[i].name);
        cr_expect_str_eq(raw_text(path, sql), "1", "%s is empty: the other tests would not see it",
                         assay_tables[i].name);
    }
}
