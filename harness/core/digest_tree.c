/* digest_tree.c - leaves, Merkle tree and SHA-256 helpers. */
#include "digest_private.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

_Static_assert(ASSAY_HASH_BYTES == crypto_hash_sha256_BYTES, "SHA-256");

void assay_sha256(const void *data, size_t bytes, uint8_t out[ASSAY_HASH_BYTES]) {
    (void)crypto_hash_sha256(out, data, bytes);
}

assay_code assay_sha256_file(const char *path, uint8_t out[ASSAY_HASH_BYTES], uint64_t *bytes,
                             assay_error *error) {
    unsigned char buffer[65536];
    crypto_hash_sha256_state state;
    uint64_t total = 0;
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot open: %s", path, strerror(errno));
    }
    (void)crypto_hash_sha256_init(&state);
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0; total += got) {
        (void)crypto_hash_sha256_update(&state, buffer, got);
    }
    const int saved = errno;
    const int failed = ferror(file);
    (void)fclose(file);
    if (failed) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot read: %s", path, strerror(saved));
    }
    (void)crypto_hash_sha256_final(&state, out);
    if (bytes != NULL) {
        *bytes = total;
    }
    return ASSAY_CODE_OK;
}

void assay_hex(const uint8_t *bytes, size_t n, char *hex) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[2 * n] = '\0';
}

bool assay_hex_parse(const char *hex, uint8_t *bytes, size_t n) {
    if (strlen(hex) != 2 * n || strspn(hex, "0123456789abcdef") != 2 * n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned value = 0;
        for (size_t j = 0; j < 2; j++) {
            const char c = hex[2 * i + j];
            value = value * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        bytes[i] = (uint8_t)value;
    }
    return true;
}

void assay_le64_put(uint64_t value, uint8_t bytes[8]) {
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

uint64_t assay_le64_get(const uint8_t bytes[8]) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

void assay_tile_leaf(const assay_tile *tile, uint64_t number, uint64_t rows, uint64_t row_words,
                     uint8_t leaf[ASSAY_HASH_BYTES]) {
    const uint64_t fields[] = {number, rows, row_words, tile->sum[0], tile->sum[1]};
    uint8_t message[1 + sizeof fields] = {0x00};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        assay_le64_put(fields[i], message + 1 + 8 * i);
    }
    assay_sha256(message, sizeof message, leaf);
}

void assay_merkle_node(const uint8_t left[ASSAY_HASH_BYTES], const uint8_t right[ASSAY_HASH_BYTES],
                       uint8_t node[ASSAY_HASH_BYTES]) {
    uint8_t message[1 + 2 * ASSAY_HASH_BYTES] = {0x01};
    memcpy(message + 1, left, ASSAY_HASH_BYTES);
    memcpy(message + 1 + ASSAY_HASH_BYTES, right, ASSAY_HASH_BYTES);
    assay_sha256(message, sizeof message, node);
}

/* The largest power of two below n (n >= 2). */
static size_t left_size(size_t n) {
    return (size_t)1 << (63 - __builtin_clzll((unsigned long long)(n - 1)));
}

/* Recursion depth is ceil(log2 n). */
void assay_merkle_root(const uint8_t (*leaves)[ASSAY_HASH_BYTES], size_t n, uint8_t root[ASSAY_HASH_BYTES]) {
    uint8_t left[ASSAY_HASH_BYTES], right[ASSAY_HASH_BYTES];
    assert(n >= 1);
    if (n == 1) {
        memcpy(root, leaves[0], ASSAY_HASH_BYTES);
        return;
    }
    const size_t split = left_size(n);
    assay_merkle_root(leaves, split, left);
    assay_merkle_root(leaves + split, n - split, right);
    assay_merkle_node(left, right, root);
}

static bool roots_equal(const uint8_t (*a)[ASSAY_HASH_BYTES], const uint8_t (*b)[ASSAY_HASH_BYTES],
                        size_t n) {
    uint8_t root_a[ASSAY_HASH_BYTES], root_b[ASSAY_HASH_BYTES];
    assay_merkle_root(a, n, root_a);
    assay_merkle_root(b, n, root_b);
    return memcmp(root_a, root_b, ASSAY_HASH_BYTES) == 0;
}

size_t assay_merkle_descend(const uint8_t (*a)[ASSAY_HASH_BYTES], const uint8_t (*b)[ASSAY_HASH_BYTES],
                            size_t n, unsigned *comparisons) {
    size_t first = 0, width = n;
    *comparisons = 1;
    if (n == 0 || roots_equal(a, b, n)) {
        return n;
    }
    while (width >
           1) { /* invariant: the subtrees over [first, first + width) differ, all leaves before are equal */
        const size_t split = left_size(width);
        *comparisons += 1;
        if (roots_equal(a + first, b + first, split)) {
            first += split;
            width -= split;
        } else {
            width = split;
        }
    }
    return first;
}

size_t assay_merkle_first_difference(const uint8_t (*a)[ASSAY_HASH_BYTES],
                                     const uint8_t (*b)[ASSAY_HASH_BYTES], size_t n) {
    unsigned comparisons;
    return assay_merkle_descend(a, b, n, &comparisons);
}
