/* test_template.c - what `assay new` writes out is right, small, and builds with the line in its own comment.
 */
#include "convert.h"
#include "test_call.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 40, MAX_WIDTH = 320 };

static float system_expf(float x) {
    return expf(x);
}

static void compute(const assay_adapter_info *info, DLDataTypeCode code, int bits, int64_t width,
                    float *result) {
    uint32_t memory[2 * ROWS];
    test_tensor t, out;
    test_vector(&t, memory, code, bits, ROWS, 2);
    test_matrix(&out, result, ROWS, width, MAX_WIDTH + 3);
    uint64_t state = 9;
    for (int64_t i = 0; i < ROWS; i++) {
        assay_store_f32(&t.dl, i, test_random_unit(&state));
    }
    DLTensor *inputs[] = {&t.dl};
    const test_attrs attrs = {.width = width, .max_period = 10000.0, .check_range = true};
    char message[200];
    cr_assert_eq(test_run(info->operators[0].forward, &attrs, inputs, 1, &out.dl, message), ASSAY_OK, "%s",
                 message);
}

Test(template, gives_the_bits_of_libm) {
    static const int64_t widths[] = {2, 6, 96, 250, 256, 320};
    static float ours[ROWS * (MAX_WIDTH + 3)], theirs[ROWS * (MAX_WIDTH + 3)];
    const assay_adapter_info *template = test_load("template");
    const assay_adapter_info *libm = test_load("libm");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (int type = 0; type < 3; type++) {
            compute(template, type == 1 ? kDLBfloat : kDLFloat, type == 0 ? 32 : 16, widths[w], ours);
            compute(libm, type == 1 ? kDLBfloat : kDLFloat, type == 0 ? 32 : 16, widths[w], theirs);
            cr_assert_eq(memcmp(ours, theirs, sizeof ours), 0, "width %d, type %d", (int)widths[w], type);
        }
    }
}

Test(template, rejects_what_the_contract_forbids) {
    test_rejections(&test_load("template")->operators[0]);
}

Test(template, gradient_follows_the_tree) {
    test_gradients(&test_load("template")->operators[0], system_expf);
}

static int count_lines(const char *path) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    int lines = 0;
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        lines += c == '\n';
    }
    (void)fclose(file);
    return lines;
}

/* The compile line of the comment, with <prefix>/include being the source tree's. */
Test(template, builds_as_its_comment_says) {
    char path[4096], command[12000], folder[] = "/tmp/assay_template_XXXXXX";
    const char *source = getenv("ASSAY_SOURCE");
    cr_assert_not_null(source);
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/impls/template/adapter.c", source);
    cr_assert_lt(count_lines(path), 80);
    (void)snprintf(command, sizeof command,
                   "cd %s && sed s/@NAME@/mine/ %s > adapter.c && line=$(sed -n 's|.*Build: *\\(cc "
                   ".*\\)|\\1|p' adapter.c) && "
                   "line=$(printf %%s \"$line\" | sed 's|<prefix>/include|%s/harness/include|') && "
                   "printf '%%s\\n' \"$line\" && eval \"$line\" -Wall -Wextra -Werror && test -s adapter.so",
                   folder, path, source);
    const int status = system(command);
    (void)snprintf(path, sizeof path, "rm -rf %s", folder);
    cr_assert_eq(system(path), 0);
    cr_assert_eq(status, 0, "%s", command);
}
