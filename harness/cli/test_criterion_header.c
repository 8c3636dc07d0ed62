/* test_criterion_header.c - tests as a kernel author writes them with assay/criterion.h. Some are meant to
 * fail: test_criterion.sh runs them one by one and reads what they say. */
#include <assay/criterion.h>

#define OP "timestep_sinusoid_h3"

ASSAY_CRITERION_TEST(one_line, OP, "template")

Test(header, kept) {
    assay_criterion_run run = assay_criterion_certify(OP, "reference_c", "libm", "quick");
    cr_assert(run.broken == 0 && run.unverified == 0 && run.promises > 5);
}

Test(header, broken) {
    (void)assay_criterion_certify(OP, "fast_math", "libm", "quick");
}

Test(header, missing_file) {
    (void)assay_criterion_certify(OP, "./missing.so", NULL, "quick");
}

Test(header, missing_program) {
    cr_assert(setenv("ASSAY_BIN", "/nowhere/assay", 1) == 0);
    (void)assay_criterion_certify(OP, "libm", NULL, "quick");
}

Test(header, dies) {
    const char *dying = getenv("DYING_ASSAY");
    cr_assert(dying != NULL && setenv("ASSAY_BIN", dying, 1) == 0);
    (void)assay_criterion_certify(OP, "libm", NULL, "quick");
}
