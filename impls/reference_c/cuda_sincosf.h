/* cuda_sincosf.h - CUDA's precise sinf and cosf as C, bit for bit, for every FP32 argument.
 *
 * Source of every constant and of the order of operations: the PTX that nvcc 13.0.88 writes for the one-line
 * kernels `y = sinf(x)` and `y = cosf(x)` (-ptx -arch=sm_90). All steps there are IEEE fma and mul or
 * integer, so nothing here depends on a device.
 *
 *     q = rint(rn(x * TWO_OVER_PI))
 *     r = fma(q, PIO2_LOW, fma(q, PIO2_MIDDLE, fma(q, PIO2_HIGH, x)))           for |x| < 105615
 *     r, q from the 192-bit product with 2/pi                                   otherwise
 *     z = rn(r * r)
 *     even q: s = fma(fma(fma(S3, z, S2), z, S1), fma(z, r, +0), r)
 *     odd  q: s = fma(fma(fma(fma(C4, z, C3), z, C2), z, C1), z, 1)
 *     q & 2:  s = fma(s, -1, +0)
 * cosf is the same with q + 1 in the last three lines. An infinite or NaN argument gives the canonical
 * NaN 0x7fffffff.
 */
#ifndef ASSAY_CUDA_SINCOSF_H
#define ASSAY_CUDA_SINCOSF_H

/* X(name, bit image) */
#define CUDA_SINCOSF_CONSTANTS(X)                                                                            \
    X(CUDA_TWO_OVER_PI, 0x3F22F983u)                                                                         \
    X(CUDA_PIO2_HIGH, 0xBFC90FDAu)                                                                           \
    X(CUDA_PIO2_MIDDLE, 0xB3A22168u)                                                                         \
    X(CUDA_PIO2_LOW, 0xA7C234C5u)                                                                            \
    X(CUDA_LARGE, 0x47CE4780u)                                                                               \
    X(CUDA_S3, 0xB94D4153u)                                                                                  \
    X(CUDA_S2, 0x3C0885E4u)                                                                                  \
    X(CUDA_S1, 0xBE2AAAA8u)                                                                                  \
    X(CUDA_C4, 0x37CBAC00u)                                                                                  \
    X(CUDA_C3, 0xBAB607EDu)                                                                                  \
    X(CUDA_C2, 0x3D2AAABBu)                                                                                  \
    X(CUDA_C1, 0xBEFFFFFFu)                                                                                  \
    X(CUDA_ONE, 0x3F800000u)

enum cuda_sincosf_constant {
#define X(name, bits) name = (int)(bits),
    CUDA_SINCOSF_CONSTANTS(X)
#undef X
};

/* Adding and subtracting 1.5 * 2^23 rounds to an integer, ties to even, for |x| < 2^22; the sum's low bits
 * are q. */
#define CUDA_ROUND_MAGIC 0x1.8p23f

/* Below this |x| q is 0 and the reduction is the identity (0.785 < pi/4). */
#define CUDA_NO_REDUCTION 0.785f

float cuda_sinf(float x);
float cuda_cosf(float x);

#endif
