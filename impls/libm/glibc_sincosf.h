/* glibc_sincosf.h - glibc's sinf and cosf on [0, 1]: constants, order, and the FP64 value before the last
 * rounding.
 *
 * glibc (2.28 and later, its build with FMA) evaluates both in FP64. Constants and order were read from the
 * disassembly of Debian 12's libm.so.6 (glibc 2.36, table __sincosf_table):
 *     sine(r)   = fma(fma(S3, z, S2), z*(z*r), fma(z*r, S1, r))          z = r*r
 *     cosine(r) = fma(fma(C4, z, C3), z*(z*z), fma(z*z, C2, fma(C1, z, 1)))
 *     x <  pi/4: sin = sine(x), cos = cosine(x)
 *     x >= pi/4: r = pi/2 - x;  sin = cosine(r), cos = sine(r)
 * glibc answers |x| < 2^-12 without a polynomial; the polynomial rounds to the same floats, but for -0.0.
 */
#ifndef ASSAY_LIBM_GLIBC_SINCOSF_H
#define ASSAY_LIBM_GLIBC_SINCOSF_H

#include <math.h>

/* X(name, value) */
#define GLIBC_CONSTANTS(X)                                                                                   \
    X(GLIBC_PI_2, 0x1.921fb54442d18p+0)                                                                      \
    X(GLIBC_S1, -0x1.555545995a603p-3)                                                                       \
    X(GLIBC_S2, 0x1.1107605230bc4p-7)                                                                        \
    X(GLIBC_S3, -0x1.994eb3774cf24p-13)                                                                      \
    X(GLIBC_C1, -0x1.ffffffd0c621cp-2)                                                                       \
    X(GLIBC_C2, 0x1.55553e1068f19p-5)                                                                        \
    X(GLIBC_C3, -0x1.6c087e89a359dp-10)                                                                      \
    X(GLIBC_C4, 0x1.99343027bf8c3p-16)

#define X(name, value) static const double name = value;
GLIBC_CONSTANTS(X)
#undef X

/* The first float whose quadrant is 1: just above pi/4. */
#define GLIBC_QUADRANT_1 0x1.921fb6p-1

static inline double glibc_sine_polynomial(double r) {
    const double z = r * r;
    const double cube = z * r;
    return fma(fma(GLIBC_S3, z, GLIBC_S2), z * cube, fma(cube, GLIBC_S1, r));
}

static inline double glibc_cosine_polynomial(double r) {
    const double z = r * r;
    const double square = z * z;
    return fma(fma(GLIBC_C4, z, GLIBC_C3), z * square, fma(square, GLIBC_C2, fma(GLIBC_C1, z, 1.0)));
}

static inline double glibc_sine(double x) {
    return x < GLIBC_QUADRANT_1 ? glibc_sine_polynomial(x) : glibc_cosine_polynomial(GLIBC_PI_2 - x);
}

static inline double glibc_cosine(double x) {
    return x < GLIBC_QUADRANT_1 ? glibc_cosine_polynomial(x) : glibc_sine_polynomial(GLIBC_PI_2 - x);
}

#endif
