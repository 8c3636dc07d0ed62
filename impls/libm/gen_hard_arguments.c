/* gen_hard_arguments.c - finds the arguments of [0, 1] whose FP64 sine or cosine (glibc's formula,
 * rows_simd.h) lies within NEAR FP64 ulps of a tie between two floats, and prints hard_arguments.h. Any
 * evaluation whose FP64 error differs by less than that can differ in FP32 on these arguments only.
 *
 * Build and run: ninja gen_hard_arguments && ./gen_hard_arguments > hard_arguments.h (about 20 s)
 */
#include "convert.h"
#include "glibc_sincosf.h"

#include <inttypes.h>
#include <stdio.h>

enum { NEAR = 2048, PER_LINE = 8 };

/* FP64 ulps between x and the nearest tie of FP32 rounding; FP32-normal x only. */
static int64_t tie_distance(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int64_t rest = (int64_t)(bits & 0x1fffffffu) - 0x10000000;
    return rest < 0 ? -rest : rest;
}

static void print_near(const char *name, double (*function)(double)) {
    int column = 0;
    printf("\nstatic const uint32_t %s[] = {", name);
    for (uint32_t bits = 0x00800000u; bits <= 0x3f800000u; bits++) {
        if (tie_distance(function((double)convert_float(bits))) <= NEAR) {
            printf("%s0x%08" PRIx32 "u,", column++ % PER_LINE == 0 ? "\n    " : " ", bits);
        }
    }
    printf("\n};\n");
}

int main(void) {
    printf(
        "/* hard_arguments.h - bit images of arguments next to a rounding tie, written by "
        "gen_hard_arguments.c. */\n"
        "#ifndef ASSAY_LIBM_HARD_ARGUMENTS_H\n#define ASSAY_LIBM_HARD_ARGUMENTS_H\n\n#include <stdint.h>\n");
    print_near("hard_sine_arguments", glibc_sine);
    print_near("hard_cosine_arguments", glibc_cosine);
    printf("\n#endif\n");
    return 0;
}
