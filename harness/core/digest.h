/* digest.h - the digest of outputs, specified with test vectors in harness/DIGEST.md.
 *
 * A tile is ASSAY_TILE_ROWS consecutive rows (the last tile of an interval may be shorter). A row of W 32-bit
 * words is padded with a zero word to an even count and read as pairs: x = word[2j] | word[2j+1] << 32. With
 * r the row's number inside its tile, each of two streams s in {0,1} adds, modulo 2^64, y = x ^ B_s(j) ^
 * R_s(r);   sum_s += (y & 0xffffffff) * (y >> 32) + y with B_s(j) = splitmix64(base constant + j), R_s(r) =
 * splitmix64(row constant + r). Addition commutes, so any thread schedule and any partition into rows gives
 * the same tile value. A single changed word always changes both sums. It is keyless: it detects faults, not
 * an adversary that crafts collisions; element-wise parity does that. */
#ifndef ASSAY_DIGEST_H
#define ASSAY_DIGEST_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_TILE_ROWS  65536u
#define ASSAY_HASH_BYTES 32

typedef struct assay_tile {
    uint64_t sum[2];
} assay_tile;

/* Adds rows first_row .. first_row+rows-1 (numbers inside the tile), each `row_words` 32-bit words,
 * contiguous. Vectorised; same value on every path. */
void assay_tile_add(assay_tile *tile, const uint32_t *words, size_t row_words, uint32_t first_row,
                    size_t rows);
void assay_tile_merge(assay_tile *tile, const assay_tile *other);

/* Leaf hash: SHA-256 of 0x00 | tile number u64 LE | rows u64 LE | row words u64 LE | sum[0] LE | sum[1] LE.
 */
void assay_tile_leaf(const assay_tile *tile, uint64_t number, uint64_t rows, uint64_t row_words,
                     uint8_t leaf[ASSAY_HASH_BYTES]);

/* SHA-256 of 0x01 | left | right; `node` may be either of them. */
void assay_merkle_node(const uint8_t left[ASSAY_HASH_BYTES], const uint8_t right[ASSAY_HASH_BYTES],
                       uint8_t node[ASSAY_HASH_BYTES]);
/* Root of a Merkle tree over n >= 1 leaves, shaped as in RFC 6962 section 2.1 (left = the largest power of
 * two below n). */
void assay_merkle_root(const uint8_t (*leaves)[ASSAY_HASH_BYTES], size_t n, uint8_t root[ASSAY_HASH_BYTES]);
/* First index where two leaf lists of the same length differ, found by descending the trees; n when equal. */
size_t assay_merkle_first_difference(const uint8_t (*a)[ASSAY_HASH_BYTES],
                                     const uint8_t (*b)[ASSAY_HASH_BYTES], size_t n);

/* SHA-256 helpers (libsodium). `hex` receives 64 digits and a NUL. */
void assay_sha256(const void *data, size_t bytes, uint8_t out[ASSAY_HASH_BYTES]);
assay_code assay_sha256_file(const char *path, uint8_t out[ASSAY_HASH_BYTES], uint64_t *bytes,
                             assay_error *error);
void assay_hex(const uint8_t *bytes, size_t n, char *hex);
/* The inverse for exactly n bytes; false when malformed (upper case included: the record has one spelling).
 */
bool assay_hex_parse(const char *hex, uint8_t *bytes, size_t n);
/* 64-bit words as little-endian bytes. */
void assay_le64_put(uint64_t value, uint8_t bytes[8]);
uint64_t assay_le64_get(const uint8_t bytes[8]);

#endif
