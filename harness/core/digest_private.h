/* digest_private.h - what the digest's instruction-set variants share. Specified in harness/DIGEST.md. */
#ifndef ASSAY_DIGEST_PRIVATE_H
#define ASSAY_DIGEST_PRIVATE_H

#include "digest.h"

/* First 8 bytes, little-endian, of SHA-256 of "assay tile B 0", "... B 1", "... R 0", "... R 1". */
#define ASSAY_TILE_COLUMN_BASE_0 UINT64_C(0x5def164c7f1d8062)
#define ASSAY_TILE_COLUMN_BASE_1 UINT64_C(0xf5d31dd8bf992427)
#define ASSAY_TILE_ROW_BASE_0    UINT64_C(0xd84be15d5af16a3f)
#define ASSAY_TILE_ROW_BASE_1    UINT64_C(0xc55095c2962afbc9)

static inline uint64_t assay_splitmix64(uint64_t x) {
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Pairs of one strip: columns are digested in strips whose constants stay in the first-level cache. */
#define ASSAY_STRIP_PAIRS 512u

/* One strip of consecutive columns, for `rows` rows. `words` is the strip's first word in the first row, rows
 * lie `pitch_words` apart, each row contributes `strip_words` <= 2 * ASSAY_STRIP_PAIRS words (odd: the last
 * pair's high half is zero), b[s][j] are the column constants of the strip. Adds into sum[2]. */
typedef struct assay_strip {
    const uint32_t *words;
    size_t pitch_words, strip_words, rows;
    uint32_t first_row;
    const uint64_t *b[2];
} assay_strip;

typedef void assay_strip_add(const assay_strip *strip, uint64_t sum[2]);
assay_strip_add assay_strip_add_scalar, assay_strip_add_avx2, assay_strip_add_avx512;

/* assay_merkle_first_difference with a count of the node comparisons it made. */
size_t assay_merkle_descend(const uint8_t (*a)[ASSAY_HASH_BYTES], const uint8_t (*b)[ASSAY_HASH_BYTES],
                            size_t n, unsigned *comparisons);

#endif
