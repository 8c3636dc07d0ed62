/* device_golden.cu - the FP64 golden of golden.c on the device, bit for bit: the same polynomials in the same
 * order, frequencies from the same function. It covers |t * freq| <= 1, where golden.c uses no library. */
#include "accuracy.cuh"

#include <cmath>
#include <cstring>

extern "C" {
#define restrict __restrict__
#include "sinusoid.h"
}

#define C1  (-0x1p-1)
#define C2  (1.0 / 24.0)
#define C3  (-1.0 / 720.0)
#define C4  (1.0 / 40320.0)
#define C5  (-1.0 / 3628800.0)
#define C6  (1.0 / 479001600.0)
#define C7  (-1.0 / 87178291200.0)
#define C8  (1.0 / 20922789888000.0)
#define C9  (-1.0 / 6402373705728000.0)
#define C10 (1.0 / 2432902008176640000.0)
#define S1  (-1.0 / 6.0)
#define S2  (1.0 / 120.0)
#define S3  (-1.0 / 5040.0)
#define S4  (1.0 / 362880.0)
#define S5  (-1.0 / 39916800.0)
#define S6  (1.0 / 6227020800.0)
#define S7  (-1.0 / 1307674368000.0)
#define S8  (1.0 / 355687428096000.0)
#define S9  (-1.0 / 121645100408832000.0)
#define S10 (1.0 / 51090942171709440000.0)

#define FLAT_BELOW 0x31800000u /* 2^-28 */

/* cos(a) and sin(a), |a| <= 1. The cosine is at most 1: z >= 0 and c < 0, and rounding is monotonic. */
__device__ static inline void sinusoid_pair(double a, double *cosine, double *sine) {
    const double z = __dmul_rn(a, a);
    double c = __fma_rn(z, C10, C9);
    double s = __fma_rn(z, S10, S9);
    c = __fma_rn(z, c, C8);
    s = __fma_rn(z, s, S8);
    c = __fma_rn(z, c, C7);
    s = __fma_rn(z, s, S7);
    c = __fma_rn(z, c, C6);
    s = __fma_rn(z, s, S6);
    c = __fma_rn(z, c, C5);
    s = __fma_rn(z, s, S5);
    c = __fma_rn(z, c, C4);
    s = __fma_rn(z, s, S4);
    c = __fma_rn(z, c, C3);
    s = __fma_rn(z, s, S3);
    c = __fma_rn(z, c, C2);
    s = __fma_rn(z, s, S2);
    c = __fma_rn(z, c, C1);
    s = __fma_rn(z, s, S1);
    *cosine = __fma_rn(z, c, 1.0);
    *sine = __fma_rn(__fma_rn(a, z, 0.0), s, a);
}

struct sinusoid_device {
    const double *freq; /* device memory */
    uint64_t half;
    uint32_t flat_below;

    static constexpr double ceiling = 1.0;
    static constexpr uint32_t level = 0x3f800000u;

    struct unit {
        double freq[2];
    };

    __device__ unit open(unsigned j, unsigned) const {
        return {{freq[2 * j], freq[2 * j + 1]}};
    }

    /* Angles below 2^-28: the polynomials round to 1 and to the angle itself (z < 2^-56). A warp takes one
     * way, as its inputs are neighbours. */
    __device__ bool flat(uint32_t bits) const {
        return bits < flat_below;
    }

    __device__ static void two(const unit &u, double t, double y[4]) {
        y[2] = __dmul_rn(t, u.freq[0]);
        y[3] = __dmul_rn(t, u.freq[1]);
    }

    __device__ static void four(const unit &u, double t, double y[4]) {
        sinusoid_pair(__dmul_rn(t, u.freq[0]), &y[0], &y[2]);
        sinusoid_pair(__dmul_rn(t, u.freq[1]), &y[1], &y[3]);
    }

    __device__ double one(double t, uint64_t channel) const {
        double cosine;
        double sine;
        sinusoid_pair(__dmul_rn(t, freq[channel < half ? channel : channel - half]), &cosine, &sine);
        return channel < half ? cosine : sine;
    }

    /* Cosines: from one FP32 input to the next, z grows by a factor of 1 + 2^-23 and more, and 1 - cos(a) by
     * at least 0.9 of that, as |a| <= 1; the rounding errors of z * c are below 2^-50 of it. So the exact z *
     * c falls, and fma(z, c, 1), one rounding of 1 + z * c, never rises. */
    __device__ static bool falls(unsigned q) {
        return q < 2;
    }
};

/* The largest magnitude among inputs first .. first + rows - 1, by bit pattern; NaN when there is one. */
static double largest_input(uint32_t first, uint64_t rows) {
    const uint64_t last = first + (rows - 1);
    float t;
    if (last > 0xffffffffu || (first < SIGN_BIT && last >= SIGN_BIT)) {
        return (double)NAN;
    }
    const uint32_t bits = (uint32_t)last & MAGNITUDE;
    memcpy(&t, &bits, sizeof t);
    return (double)t;
}

static assay_code sinusoid_measure(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    assay_attrs attrs = {};
    attrs.count = what->attr_count < sizeof attrs.items / sizeof *attrs.items ? what->attr_count : 8;
    for (size_t i = 0; i < attrs.count; i++) {
        attrs.items[i] = what->attrs[i];
    }
    const sinusoid_attrs a = sinusoid_attrs_read(&attrs);
    if (a.half == 0 || what->channels != 2 * a.half) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "device golden of %s: %zu channels for width %zu",
                          what->op, what->channels, 2 * a.half);
    }
    std::vector<double> freq(a.half);
    sinusoid_frequencies_f64(a, freq.data());
    const double largest = a.max_period >= 1.0 ? 1.0 : freq[a.half - 1];
    if (!(largest_input(what->first_bits, what->rows) * largest <= 1.0)) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE,
                          "device golden of %s: covers |t * freq| <= 1 only, not rows from 0x%08x on",
                          what->op, what->first_bits);
    }
    CODE_TRY(assay_cuda_constants(d, freq.data(), freq.size() * sizeof(double), error));
    const sinusoid_device golden = {(const double *)d->constants.at, a.half, largest <= 1.0 ? FLAT_BELOW : 0};
    return assay_cuda_accuracy(d, what, accuracy_kernels<sinusoid_device>, &golden, error);
}

extern const assay_cuda_golden assay_cuda_golden_timestep_sinusoid_h3;
const assay_cuda_golden assay_cuda_golden_timestep_sinusoid_h3 = {"timestep_sinusoid_h3", sinusoid_measure};
