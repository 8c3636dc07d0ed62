/* compare.h - comparison of results: bit classes first, numbers second.
 *
 * No function here uses `<` on a value that may be NaN. Every accumulator counts the elements it judged; zero
 * judged elements are the caller's error (`assay_parity_ok` and `assay_accuracy_ok` refuse them).
 * All functions are exact and give the same result on every dispatch path (scalar, AVX2, AVX-512). */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Monotone integer image of a float: -0.0 and +0.0 map to 0, adjacent floats differ by 1. NaN is not ordered.
 */
int64_t assay_ulp_image_f32(uint32_t bits);
/* image(a) - image(b); callers exclude NaN first. */
int64_t assay_ulp_distance_f32(uint32_t a, uint32_t b);
/* The ulp of a binary32 value with the exponent of |x| (x finite): 2^(max(e,-126)-23). */
double assay_ulp_of_f32(float x);

/* Signed ulp histogram: bins -HALF..+HALF; the first and last bin collect everything beyond, so bin +-HALF
 * means "at least". Rows are biased exponents 0..254 of the reference value, row 255 = not comparable
 * (NaN, infinity on one side): bin 0 when the bytes are equal, else the last bin. A finite golden that rounds
 * to infinity has row 255 too, with its distance. */
#define ASSAY_ULP_HALF      32
#define ASSAY_ULP_BINS      (2 * ASSAY_ULP_HALF + 1)
#define ASSAY_ULP_EXPONENTS 256

typedef struct assay_ulp_histogram {
    uint64_t count[ASSAY_ULP_EXPONENTS][ASSAY_ULP_BINS];
} assay_ulp_histogram;

/* Parity: candidate words against baseline words. `histogram` may be NULL. Zero-initialise before use. */
typedef struct assay_parity {
    uint64_t elements;    /* judged */
    uint64_t differing;   /* not byte-equal = the sum of the classes below */
    uint64_t zero_sign;   /* +0 against -0 */
    uint64_t nan_number;  /* NaN on exactly one side */
    uint64_t nan_payload; /* both NaN, other bits */
    uint64_t infinite;    /* infinity on exactly one side, or of opposite sign */
    uint64_t numeric;     /* both finite, different values */
    uint64_t max_ulp;     /* largest |ulp distance| among `numeric` */
    uint64_t first_index; /* index of the first differing element; valid when differing > 0 */
    uint32_t first_got, first_want;
    uint64_t worst_index; /* among numeric (first of equals); valid when numeric > 0 */
    uint32_t worst_got, worst_want;
    assay_ulp_histogram *histogram; /* distance candidate - baseline, by exponent of the baseline */
} assay_parity;

/* Judges n FP32 words; `base` is the global index of element 0. Accumulates. */
void assay_parity_add_f32(assay_parity *parity, const uint32_t *got, const uint32_t *want, size_t n,
                          uint64_t base);
/* The same for 16-bit words (bf16, f16): classes by the dtype's own NaN/Inf encoding, ulp in that dtype. No
 * histogram. */
void assay_parity_add_16(assay_parity *parity, bool bf16, const uint16_t *got, const uint16_t *want, size_t n,
                         uint64_t base);
/* Adds `other` (judged over higher or lower indices) into `parity`; histograms included when both have one.
 */
void assay_parity_merge(assay_parity *parity, const assay_parity *other);
/* True only when at least one element was judged and none differs. */
bool assay_parity_ok(const assay_parity *parity);

/* Accuracy: FP32 candidate against an FP64 golden. */
#define ASSAY_WORST 16
typedef struct assay_worst {
    uint64_t index;
    uint32_t got; /* FP32 bits */
    double golden;
    double ulp; /* |got - golden| / ulp(golden rounded to FP32); +inf when not comparable */
} assay_worst;

typedef struct assay_tolerance_f64 {
    double atol, rtol;
} assay_tolerance_f64;

typedef struct assay_accuracy {
    uint64_t elements;
    uint64_t outside;           /* elements beyond atol + rtol*|golden|, or not comparable */
    uint64_t not_comparable;    /* candidate NaN/Inf where golden is finite, or the reverse */
    uint64_t correctly_rounded; /* byte-equal to golden rounded to nearest even (-0/+0 distinguished) */
    uint64_t near_ties;         /* goldens within 2^-20 ulp of a rounding tie, settled by `settle` */
    double max_abs, max_golden; /* max |got-golden|, max |golden| over comparable elements */
    double max_ulp, sum_ulp;    /* accuracy ulp; max_ulp is +inf when anything is not comparable */
    double sum_sq_err, sum_sq_golden;
    double sum_x, sum_y, sum_xx, sum_yy, sum_xy; /* for the correlation; x = got, y = golden */
    uint64_t first_outside;                      /* index; valid when outside > 0 */
    uint32_t first_outside_got;
    double first_outside_golden;
    size_t worst_count;
    assay_worst
        worst[ASSAY_WORST]; /* descending ulp, ties by ascending index; exact elements are not listed */
    assay_ulp_histogram
        *histogram; /* distance got - round(golden), by exponent of round(golden); may be NULL */
    assay_tolerance_f64 tolerance; /* set by the caller before the first add */
    /* Called for near ties: must return the FP32 bits of the correctly rounded exact value of element `index`
     * (MPFR). NULL: the FP64 rounding stands and near_ties still counts. */
    uint32_t (*settle)(void *context, uint64_t index, double golden);
    void *settle_context;
} assay_accuracy;

void assay_accuracy_add(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                        uint64_t base);
void assay_accuracy_merge(assay_accuracy *accuracy, const assay_accuracy *other);
bool assay_accuracy_ok(const assay_accuracy *accuracy);            /* elements > 0 and outside == 0 */
double assay_accuracy_relrms(const assay_accuracy *accuracy);      /* sqrt(sum_sq_err / sum_sq_golden) */
double assay_accuracy_correlation(const assay_accuracy *accuracy); /* NaN when undefined */

/* Golden and candidate both infinite with the same sign: correctly rounded, inside, no part of the sums. Both
 * NaN: not comparable. Sums are formed in an order that depends on n and on the partition into calls, never
 * on the path. */

/* A second, independent judge in plain scalar C: recomputes parity or accuracy by the definitions and is used
 * to re-judge random slices. It shares no code with the functions above. */
void assay_scalar_parity_f32(assay_parity *parity, const uint32_t *got, const uint32_t *want, size_t n,
                             uint64_t base);
void assay_scalar_accuracy(assay_accuracy *accuracy, const uint32_t *got, const double *golden, size_t n,
                           uint64_t base);

/* Which instruction set the judge uses: "avx512", "avx2" or "scalar". assay_simd_force(NULL) restores the
 * automatic choice; forcing an unavailable set returns false. For tests and benchmarks. */
const char *assay_simd_name(void);
bool assay_simd_force(const char *name);

#endif
