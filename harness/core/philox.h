/* philox.h - Philox4x32-10, the only source of random inputs. Counter-based: the same bytes on every machine,
 * language and thread count. Constants: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011. Keying, the map to floats and test vectors are specified in harness/GENERATOR.md. */
#ifndef ASSAY_PHILOX_H
#define ASSAY_PHILOX_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay_philox_key {
    uint32_t k[2];
} assay_philox_key;

/* One block: out[0..3] for counter c[0..3]. */
void assay_philox4x32(const uint32_t counter[4], assay_philox_key key, uint32_t out[4]);

/* The key of a tensor: the first 8 bytes (little-endian words) of SHA-256 over
 * contract NUL case NUL tensor NUL, then the seed as 8 little-endian bytes. */
assay_philox_key assay_philox_key_of(const char *contract, const char *case_name, const char *tensor,
                                     uint64_t seed);

/* Words first .. first+n-1 of the key's stream (word i = lane i%4 of block i/4). Any partition gives the same
 * words. */
void assay_philox_words(assay_philox_key key, uint64_t first, size_t n, uint32_t *out);

/* Floats on [0,1): (word >> 8) * 2^-24. Element i uses word i. */
void assay_philox_uniform(assay_philox_key key, uint64_t first, size_t n, float *out);

/* Standard normal by Box-Muller in FP64 from words 2i, 2i+1, rounded once to FP32; element i uses its own two
 * words so that any partition gives the same values. The transform uses only +,-,*,/ and sqrt plus our own
 * log and sincos polynomials, so the bits do not depend on the C library. */
void assay_philox_normal(assay_philox_key key, uint64_t first, size_t n, float *out);

#endif
