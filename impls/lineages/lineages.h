/* lineages.h - the formulas of the sinusoidal timestep embedding that are found in the wild, one row each.
 * Every row is one shared library, impls/lineages/<name>.so; CMake reads the names from here.
 *
 * All rows are the same program (replay.c) with other switches:
 *
 *     X(name, exponent, hop, scale, order, math, text)
 *
 * exponent  how the frequency of channel k of `half` is made; c = float(-ln(max_period)), every operation
 *           rounded to FP32 on its own unless the row says otherwise:
 *             RECIPROCAL          exp((c*k) * (1/half))      diffusers on CUDA: a division by a scalar there
 *             DIVIDE              exp((c*k) / half)          the formula as written
 *             RATIO               exp(c * (k/half))
 *             STEP                exp(k * float(-ln(max_period)/half))
 *             STEP_FP32           exp(k * (c * (1/half)))    the same step made in FP32
 *             SHIFT1              exp((c*k) * (1/(half-1)))  downscale_freq_shift = 1
 *             DIVIDE_SHIFT1       exp((c*k) / (half-1))
 *             STEP_SHIFT1         exp(k * float(-ln(max_period)/(half-1)))
 *             LOGF                exp((-logf(max_period)*k) / half)
 *             POW                 1 / pow(max_period, k/half)
 *             FP64                float(exp(-ln(max_period)*k/half)), all in FP64
 * hop       NONE, or what is rounded to bfloat16 before the product: TIMESTEP, FREQUENCY, PRODUCT (then the
 *           product), or ARGUMENT: the product alone
 * scale     NONE, TIMESTEP (1000*t, then the product) or PRODUCT (1000*(t*f)); SIGMA is no scale but
 *           the other convention, 1-t
 * order     COS_SIN, SIN_COS: halves; INTERLEAVED: sin, cos, sin, cos; PAIRS: cos, sin, cos, sin
 * math      CUDA: CUDA's expf, sinf, cosf (assay/cuda_math.h); LIBM: those of the C library; ROUNDED: FP64
 *           functions rounded to FP32, which is correct rounding but for near-ties; DOUBLE: product and sines
 *           in FP64, rounded once */
#ifndef ASSAY_LINEAGES_H
#define ASSAY_LINEAGES_H

/* The rows that exist for every set of functions. */
#define LINEAGE_FORMULAS(X, m, M)                                                                            \
    X(reciprocal_##m, RECIPROCAL, NONE, NONE, COS_SIN, M, "exponent times the reciprocal of half")           \
    X(divide_##m, DIVIDE, NONE, NONE, COS_SIN, M, "exponent divided by half")                                \
    X(ratio_##m, RATIO, NONE, NONE, COS_SIN, M, "k/half first, then times the logarithm")                    \
    X(step_##m, STEP, NONE, NONE, COS_SIN, M, "k times a step rounded to FP32")                              \
    X(step_fp32_##m, STEP_FP32, NONE, NONE, COS_SIN, M, "k times a step made in FP32")                       \
    X(shift1_##m, SHIFT1, NONE, NONE, COS_SIN, M, "exponent times the reciprocal of half-1")                 \
    X(divide_shift1_##m, DIVIDE_SHIFT1, NONE, NONE, COS_SIN, M, "exponent divided by half-1")                \
    X(step_shift1_##m, STEP_SHIFT1, NONE, NONE, COS_SIN, M, "k times a step of half-1 rounded to FP32")      \
    X(fp64_frequency_##m, FP64, NONE, NONE, COS_SIN, M, "frequencies in FP64, rounded once")                 \
    X(bf16_timestep_##m, RECIPROCAL, TIMESTEP, NONE, COS_SIN, M, "timestep rounded to bfloat16 first")       \
    X(bf16_frequency_##m, RECIPROCAL, FREQUENCY, NONE, COS_SIN, M, "frequency rounded to bfloat16 first")    \
    X(bf16_product_##m, RECIPROCAL, PRODUCT, NONE, COS_SIN, M, "both factors and product in bfloat16")       \
    X(bf16_argument_##m, RECIPROCAL, ARGUMENT, NONE, COS_SIN, M, "product rounded to bfloat16")              \
    X(scale_timestep_##m, RECIPROCAL, NONE, TIMESTEP, COS_SIN, M, "timestep times 1000, then the product")   \
    X(scale_product_##m, RECIPROCAL, NONE, PRODUCT, COS_SIN, M, "product times 1000")                        \
    X(sigma_##m, RECIPROCAL, NONE, SIGMA, COS_SIN, M, "1 - t in place of t")                                 \
    X(sin_cos_##m, RECIPROCAL, NONE, NONE, SIN_COS, M, "the sine half first")                                \
    X(interleaved_##m, RECIPROCAL, NONE, NONE, INTERLEAVED, M, "sine and cosine in turn")                    \
    X(pairs_##m, RECIPROCAL, NONE, NONE, PAIRS, M, "cosine and sine in turn")

#define LINEAGE_LIST(X)                                                                                      \
    LINEAGE_FORMULAS(X, cuda, CUDA)                                                                          \
    LINEAGE_FORMULAS(X, libm, LIBM)                                                                          \
    LINEAGE_FORMULAS(X, rounded, ROUNDED)                                                                    \
    X(logf_libm, LOGF, NONE, NONE, COS_SIN, LIBM, "logarithm in FP32 by logf, exponent divided by half")     \
    X(pow_libm, POW, NONE, NONE, COS_SIN, LIBM, "one over powf(max_period, k/half)")                         \
    X(pow_rounded, POW, NONE, NONE, COS_SIN, ROUNDED, "one over pow(max_period, k/half)")                    \
    X(fp64_double, FP64, NONE, NONE, COS_SIN, DOUBLE, "all in FP64, every output rounded once")

#endif
