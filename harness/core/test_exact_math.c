/* test_exact_math.c - the predicate row by row, and (where nvcc is) that "exact" never contradicts nvcc
 * --dryrun. */
#include "exact_math.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *text;
    bool exact;
} rows[] = {
    {"", true},
    {"   ", true},
    {"--ftz=false", true},
    {"--ftz false -prec-div true", true},
    {"--prec-div=true", true},
    {"-DX=--use_fast_math", true},
    {"-lineinfo -O3", true},
    {"-G", true},
    {"-dopt=on", true},
    {"-O0", true},
    {"--maxrregcount=32", true},
    {"--extra-device-vectorization", true},
    {"--Ofast-compile=min", true},
    {"--options-file clean", true},
    {"-optf=clean,empty", true},
    {"-optf empty", true},
    {"--use_fast_math", false},
    {"-use_fast_math", false},
    {"--use-fast-math", false},
    {"---use_fast_math", false},
    {"--use_fast_math=false", false},
    {"use_fast_math", false},
    {"--ftz=true", false},
    {"-ftz true", false},
    {"--ftz=1", false},
    {"--ftz=TRUE", false},
    {"--ftz=", false},
    {"--ftz", false},
    {"--prec-div=false", false},
    {"-prec-div false", false},
    {"--prec_div=false", false},
    {"--prec-div=no", false},
    {"--prec-sqrt=false", false},
    {"-prec-sqrt false", false},
    {"--prec-sqrt=0", false},
    {"--ftz=true --ftz=false", false},
    {"--ftz=false --ftz=true", false},
    {"--use_fast_math --ftz=false", false},
    {"--use_fast_math --prec-div=true --prec-sqrt=true --ftz=false", false},
    {"--fmad=false", false},
    {"-fmad false", false},
    {"-Xcicc -fast-math", false},
    {"-Xcicc=-fast-math", false},
    {"-Xcicc -ftz=1", false},
    {"-Xptxas --fmad=false", false},
    {"-Xcompiler -ffast-math", false},
    {"-Xptxas --use_fast_math", false},
    {"-D --use_fast_math", false},
    {"-Dexpf=__expf", false},
    {"-DASSAY_EXACT_MATH=1", false},
    {"-D_X", false},
    {"-O2 --use_fast_math", false},
    {"-O2\t--use_fast_math", false},
    {"-O2\n--use_fast_math", false},
    {"-O2;--use_fast_math", false},
    {"\"--use_fast_math\"", false},
    {"\\--use_fast_math", false},
    {"--options-file fast", false},
    {"-optf=fast", false},
    {"-options-file clean", false},
    {"--optf clean", false},
    {"-optf clean,fast", false},
    {"-optf clean,,fast", false},
    {"-optf clean, fast", false},
    {"-optf lines", false},
    {"-optf nested", false},
    {"-optf self", false},
    {"-optf missing", false},
    {"-optf clean,missing", false},
    {"-optf", false},
    {"--options-file=", false},
    {"-optf .", false},
    {"-optf /dev/zero", false},
    {"-optf fifo", false},
    {"-optf nul", false},
    {"-optf huge", false},
    {"-optf link", false},
    {"-optf quoted", false},
    {"-optf comment", false},
    {"-optf crlf", false},
    {"@fast", false},
    {"\"-O2", false},
};

static void file_put(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    cr_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void files_make(void) {
    char folder[] = "/tmp/assay_exact_XXXXXX";
    cr_assert(mkdtemp(folder) != NULL && chdir(folder) == 0);
    file_put("clean", "-O3");
    file_put("empty", "");
    file_put("fast", "--use_fast_math\n");
    file_put("lines", "--ftz\ntrue\n");
    file_put("nested", "-optf fast\n");
    file_put("self", "-optf self\n");
    file_put("quoted", "\"--use_fast_math\"\n");
    file_put("comment", "# none\n");
    file_put("crlf", "-O3\r\n--use_fast_math\r\n");
    file_put("huge", "-O3\n");
    cr_assert(truncate("huge", (1 << 20) + 1) == 0);
    file_put("nul", "-O3\n");
    cr_assert(truncate("nul", 64) == 0);
    cr_assert(mkfifo("fifo", 0600) == 0 && symlink("fast", "link") == 0);
    file_put("k.cu", "__global__ void k(float *x) { *x = 1.0f / *x; }\n");
}

Test(exact_math, rows, .init = files_make, .timeout = 20) {
    char reason[512];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        reason[0] = '\0';
        const bool exact = assay_exact_math_options("NVCC_APPEND_FLAGS", rows[i].text, reason, sizeof reason);
        cr_expect(exact == rows[i].exact, "'%s': exact %d (%s)", rows[i].text, exact, reason);
        cr_expect(exact || strncmp(reason, "NVCC_APPEND_FLAGS: ", 19) == 0, "'%s': reason '%s'", rows[i].text,
                  reason);
    }
}

/* Words of a command, separated by '|'. */
static const struct {
    const char *words;
    bool exact;
} commands[] = {
    {"nvcc|-c|k.cu|-o|k.o", true},
    {"ccache|/usr/bin/nvcc|-forward-unknown-to-host-compiler|-Dassay_cuda_EXPORTS|-I/a "
     "b|-isystem=/c|-O2|-std="
     "c++17|--generate-code=arch=compute_80,code=[sm_80]|-Xcompiler=-fPIC|-Xcompiler=-Wall,-Wextra,-Werror|-"
     "MD|"
     "-MT|--use_fast_math|-MF|k.d|-x|cu|-c|k.cu|-o|k.o",
     true},
    {"nvcc|--ftz|false|-DX=a --use_fast_math|-c|k.cu", true},
    {"nvcc|-optf|clean,empty|-c|k.cu", true},
    {"nvcc|-I|--use_fast_math|-c|k.cu", true},
    {"nvcc", false},
    {"-c|k.cu", false},
    {"nvcc|--use_fast_math|-c|k.cu", false},
    {"nvcc|-c|k.cu|-o|k.o|-use_fast_math", false},
    {"nvcc|--ftz|true|-c|k.cu", false},
    {"nvcc|--prec-div=false|-c|k.cu", false},
    {"nvcc|-fmad=false|-c|k.cu", false},
    {"nvcc|-c|k.cu|--ftz", false},
    {"nvcc|-c|k.cu|-o", false},
    {"nvcc|-x|c++|-c|k.cu", false},
    {"nvcc|-c|k.cpp", false},
    {"nvcc|-c|@k.cu", false},
    {"nvcc|-O2 --use_fast_math|-c|k.cu", false},
    {"nvcc|-Xcicc|-fast-math|-c|k.cu", false},
    {"nvcc|-Xcicc=-fast-math|-c|k.cu", false},
    {"nvcc|-Xptxas|--fmad=false|-c|k.cu", false},
    {"nvcc|-Xcompiler=-ffast-math|-c|k.cu", false},
    {"nvcc|-Xcompiler=-Wall,-ffast-math|-c|k.cu", false},
    {"nvcc|-Xcompiler=-Wp,-DASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|-Xcompiler=|-c|k.cu", false},
    {"nvcc|-ffast-math|-c|k.cu", false},
    {"nvcc|-DASSAY_EXACT_MATH=1|-c|k.cu", false},
    {"nvcc|-DASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|-D|ASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|--define-macro=ASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|-D=ASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|-DASSAY_EXPORTS|-c|k.cu", false},
    {"nvcc|-UASSAY_EXACT_MATH|-c|k.cu", false},
    {"nvcc|-include|forged.h|-c|k.cu", false},
    {"nvcc|-Dexpf=__expf|-c|k.cu", false},
    {"nvcc|-optf|fast|-c|k.cu", false},
    {"nvcc|-optf|clean,missing|-c|k.cu", false},
    {"nvcc|-optf=fifo|-c|k.cu", false},
    {"nvcc|--options-file=.|-c|k.cu", false},
};

Test(exact_math, commands, .init = files_make, .timeout = 20) {
    char reason[512];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char text[1024];
        char *words[64] = {NULL};
        char *rest = NULL;
        size_t n = 0;
        (void)snprintf(text, sizeof text, "%s", commands[i].words);
        for (char *w = strtok_r(text, "|", &rest); w != NULL; w = strtok_r(NULL, "|", &rest)) {
            words[n++] = w;
        }
        const bool exact = assay_exact_math_command(words, reason, sizeof reason);
        cr_expect(exact == commands[i].exact, "'%s': exact %d (%s)", commands[i].words, exact, reason);
    }
}

Test(exact_math, environment) {
    static const char *const names[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "TORCH_NVCC_FLAGS",
                                        "CUDAFLAGS"};
    char reason[512] = "";
    for (size_t i = 0; i < 4; i++) {
        cr_assert(unsetenv(names[i]) == 0);
    }
    cr_expect(assay_exact_math_environment(reason, sizeof reason));
    for (size_t i = 0; i < 4; i++) {
        cr_assert(setenv(names[i], "--use_fast_math", 1) == 0);
        cr_expect(!assay_exact_math_environment(reason, sizeof reason) && strstr(reason, names[i]) == reason,
                  "%s", reason);
        cr_assert(unsetenv(names[i]) == 0);
    }
}

#ifdef ASSAY_NVCC
Test(exact_math, nvcc, .init = files_make, .timeout = 300) {
    char reason[512];
    char line[65536];
    cr_assert(unsetenv("NVCC_PREPEND_FLAGS") == 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!assay_exact_math_options("NVCC_APPEND_FLAGS", rows[i].text, reason, sizeof reason)) {
            continue; /* only "exact" can be unsound */
        }
        cr_assert(setenv("NVCC_APPEND_FLAGS", rows[i].text, 1) == 0);
        FILE *f = popen(ASSAY_NVCC " --dryrun -arch=sm_90 -c k.cu -o k.o 2>&1", "r");
        cr_assert(f != NULL);
        bool seen = false;
        while (fgets(line, sizeof line, f) != NULL) {
            if (strstr(line, "cicc\"") == NULL && strstr(line, "cicc ") == NULL) {
                continue;
            }
            seen = true;
            cr_expect(strstr(line, "-ftz=0") && strstr(line, "-prec_div=1") && strstr(line, "-prec_sqrt=1") &&
                          strstr(line, "-fmad=1") && !strstr(line, "-fast-math"),
                      "'%s': %s", rows[i].text, line);
        }
        cr_expect(pclose(f) == 0 && seen, "'%s': nvcc failed", rows[i].text);
    }
}
#endif
