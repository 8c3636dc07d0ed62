/* engine.c - lets a vector kernel replace the system's functions only after it has shown their bits.
 *
 * Why a few thousand arguments are enough: a function whose FP64 value differs from the formula's by less
 * than 2048 ulps can round to another float on the hard arguments only, and these are all tried; one that
 * differs by more does so on many arguments, and a stride through [0, 1] meets them.
 */
#include "engine.h"

#include "convert.h"
#include "glibc_sincosf.h"
#include "hard_arguments.h"

#include <math.h>
#include <pthread.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    BATCH = 256,
    ONE_BITS = 0x3f800000,
    BORDER_SPAN = 128,      /* floats on each side of pi/4 */
    STRIDE_BITS = 257 * 997 /* 4157 samples of [0, 1], in all residues */
};

typedef struct fingerprint {
    sinusoid_rows rows;
    float (*sine)(float);
    float (*cosine)(float);
    float arguments[BATCH];
    size_t count;
    bool agrees;
} fingerprint;

/* One row with t = 1 computes cos and sin of the frequencies themselves. */
static void flush(fingerprint *print) {
    const float one = 1.0f;
    float out[2 * BATCH];
    const size_t n = print->count;
    if (n == 0) {
        return;
    }
    print->rows(&one, 1, print->arguments, n, out, 0);
    for (size_t i = 0; i < n; i++) {
        const float x = print->arguments[i];
        if (convert_bits(out[i]) != convert_bits(print->cosine(x)) ||
            convert_bits(out[n + i]) != convert_bits(print->sine(x))) {
            print->agrees = false;
        }
    }
    print->count = 0;
}

static void add(fingerprint *print, uint32_t bits) {
    print->arguments[print->count++] = convert_float(bits);
    if (print->count == BATCH) {
        flush(print);
    }
}

bool libm_fingerprint(sinusoid_rows rows, float (*sine)(float), float (*cosine)(float)) {
    fingerprint print = {.rows = rows, .sine = sine, .cosine = cosine, .agrees = true};
    for (size_t i = 0; i < COUNT(hard_sine_arguments); i++) {
        add(&print, hard_sine_arguments[i]);
    }
    for (size_t i = 0; i < COUNT(hard_cosine_arguments); i++) {
        add(&print, hard_cosine_arguments[i]);
    }
    const uint32_t border = convert_bits((float)GLIBC_QUADRANT_1);
    for (uint32_t bits = border - BORDER_SPAN; bits < border + BORDER_SPAN; bits++) {
        add(&print, bits);
    }
    for (uint32_t bits = 0; bits <= ONE_BITS; bits += STRIDE_BITS) {
        add(&print, bits);
    }
    add(&print, 0x80000000u);
    add(&print, ONE_BITS);
    flush(&print);
    return print.agrees;
}

static sinusoid_engine engine = {.exp = &libm_exp, .rows = {[CPU_PATH_SCALAR] = libm_rows_scalar}};

static void decide(void) {
#if defined(__x86_64__)
    static const sinusoid_rows vectors[CPU_PATH_COUNT] = {
        [CPU_PATH_AVX2] = libm_rows_avx2,
        [CPU_PATH_AVX512] = libm_rows_avx512,
    };
    for (int path = CPU_PATH_AVX2; path < CPU_PATH_COUNT; path++) {
        if (cpu_path_available((cpu_path)path) && libm_fingerprint(vectors[path], sinf, cosf)) {
            engine.rows[path] = vectors[path];
        }
    }
#endif
}

const sinusoid_engine *libm_engine(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, decide);
    return &engine;
}
