/* test_digest.c - the vectors of harness/DIGEST.md, equality of all instruction sets and partitions, the
 * tree. */
#include "compare.h"
#include "digest_private.h"
#include "philox.h"
#include "test_random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const levels[] = {"scalar", "avx2", "avx512"};
#define LEVELS 3

static const uint32_t counting[] = {1, 2, 3, 4};

static void check_tile(const uint32_t *words, size_t row_words, uint32_t first, size_t rows, uint64_t s0,
                       uint64_t s1) {
    for (size_t level = 0; level < LEVELS; level++) {
        assay_tile tile = {{0, 0}};
        if (assay_simd_force(levels[level])) {
            assay_tile_add(&tile, words, row_words, first, rows);
            cr_assert_eq(tile.sum[0], s0, "%s, %zu x %zu: %016lx", levels[level], rows, row_words,
                         tile.sum[0]);
            cr_assert_eq(tile.sum[1], s1, "%s, %zu x %zu: %016lx", levels[level], rows, row_words,
                         tile.sum[1]);
        }
    }
    (void)assay_simd_force(NULL);
}

static uint32_t *philox_words(size_t n) {
    uint32_t *const words = malloc(n * sizeof *words);
    assay_philox_words((assay_philox_key){{0, 0}}, 0, n, words);
    return words;
}

Test(digest, vectors) {
    static const uint32_t zero[] = {0};
    uint32_t *const words = philox_words((size_t)300 * 257);
    check_tile(zero, 1, 0, 1, UINT64_C(0x8bcb3f67e37249a8), UINT64_C(0x8a0712374576d44d));
    check_tile(counting, 4, 0, 1, UINT64_C(0x52d4c1d34504c008), UINT64_C(0x0915adeed63b5f9e));
    check_tile(counting, 2, 0, 2, UINT64_C(0x03a42cb3721de270), UINT64_C(0x9bcb412e06a19258));
    check_tile(counting, 3, 0, 1, UINT64_C(0x52d4c1cd48b2a378), UINT64_C(0x0915adea3851445e));
    check_tile(counting, 4, 65535, 1, UINT64_C(0xe054c85b66846ef1), UINT64_C(0xf12a6cfb870ba8d4));
    check_tile(words, 257, 0, 300, UINT64_C(0xcd502a04c4f79343), UINT64_C(0x28b11a332192df15));
    check_tile(words, 2051, 7, 3, UINT64_C(0x1b9c17652f949450), UINT64_C(0xe82d9486ab841672));
    cr_assert_eq(assay_splitmix64(0), UINT64_C(0xe220a8397b1dcdaf));
    free(words);
}

/* Every width around the vector and strip sizes, cut at random into rows, in reverse order, on changing
 * instruction sets. */
Test(digest, partitions_and_paths) {
    static const size_t widths[] = {1,  2,   3,   7,    8,    9,    15,   16,   17,  31,
                                    33, 255, 256, 1023, 1024, 1025, 1040, 2049, 3075};
    enum { ROWS = 23 };
    uint32_t *const words = philox_words((size_t)ROWS * 3075);
    draw_seed(2);
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        const size_t width = widths[k];
        assay_tile whole = {{0, 0}}, parts = {{0, 0}};
        (void)assay_simd_force("scalar");
        assay_tile_add(&whole, words, width, 5, ROWS);
        for (size_t end = ROWS; end > 0;) {
            const size_t take = 1 + (size_t)draw() % end;
            assay_tile part = {{0, 0}};
            (void)assay_simd_force(levels[draw() % LEVELS]);
            end -= take;
            assay_tile_add(&part, words + end * width, width, (uint32_t)(5 + end), take);
            assay_tile_merge(&parts, &part);
        }
        cr_assert_eq(whole.sum[0], parts.sum[0], "width %zu", width);
        cr_assert_eq(whole.sum[1], parts.sum[1], "width %zu", width);
    }
    (void)assay_simd_force(NULL);
    free(words);
}

/* Every bit of every word matters in both sums; swapping two words or two rows is seen. */
Test(digest, sensitivity) {
    uint32_t words[34];
    assay_tile whole = {{0, 0}};
    assay_philox_words((assay_philox_key){{1, 1}}, 0, 34, words);
    assay_tile_add(&whole, words, 17, 0, 2);
    for (size_t i = 0; i < 34; i++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            assay_tile other = {{0, 0}};
            words[i] ^= 1u << bit;
            assay_tile_add(&other, words, 17, 0, 2);
            words[i] ^= 1u << bit;
            cr_assert_neq(whole.sum[0], other.sum[0], "word %zu bit %u", i, bit);
            cr_assert_neq(whole.sum[1], other.sum[1], "word %zu bit %u", i, bit);
        }
    }
    assay_tile swapped = {{0, 0}};
    assay_tile_add(&swapped, words + 17, 17, 0, 1);
    assay_tile_add(&swapped, words, 17, 1, 1);
    cr_assert_neq(whole.sum[0], swapped.sum[0]);
    cr_assert_neq(whole.sum[1], swapped.sum[1]);
}

Test(digest, leaf_and_root) {
    static const char *const roots[8] = {
        NULL,
        "bda68ad14fc1ac078b8b084ec698e51c539bf73ea43128872c9e82e42e90a95c",
        "278c16cb327f9fca45a8ac4bef1df02a33b911473f610d262d79cc46efc5067c",
        "e47856c6d8edd1da9abd0b887438359e196f9b3e9c43d3c1d24dfefe22d5aa67",
        "7dce6c58d4b12fb4492a8ffdd37773da6311bcbc203affc4a62d24e35d220093",
        "19eb2f28e79a017f9af0fda127a375b565f3c6258aebc2aad2ca29fad5aba7c0",
        NULL,
        "5ac46e82d3f97acd11759ca0d89b63c6cf9a4d43657e0c0ca66ad7486c9dabe8",
    };
    uint8_t leaves[7][ASSAY_HASH_BYTES], hash[ASSAY_HASH_BYTES];
    char hex[65];
    const assay_tile tile = {{UINT64_C(0xcd502a04c4f79343), UINT64_C(0x28b11a332192df15)}};
    assay_tile_leaf(&tile, 5, 300, 257, hash);
    assay_hex(hash, sizeof hash, hex);
    cr_assert_str_eq(hex, "0c3f42eed449e16165bec38adf321b2ce24819a9631563c40d8529273d9b03ef");
    for (uint64_t i = 0; i < 7; i++) {
        assay_tile_leaf(&(assay_tile){{i, i * i}}, i, 65536, 256, leaves[i]);
    }
    for (size_t n = 1; n <= 7; n++) {
        if (roots[n] != NULL) {
            assay_merkle_root((const uint8_t(*)[ASSAY_HASH_BYTES])leaves, n, hash);
            assay_hex(hash, sizeof hash, hex);
            cr_assert_str_eq(hex, roots[n]);
        }
    }
}

/* Every size to 70 and every place, a second difference behind it; comparisons stay within 1 + ceil(log2 n).
 */
Test(digest, first_difference) {
    static uint8_t a[70][ASSAY_HASH_BYTES], b[70][ASSAY_HASH_BYTES];
    const uint8_t(*const ca)[ASSAY_HASH_BYTES] = (const uint8_t(*)[ASSAY_HASH_BYTES])a;
    const uint8_t(*const cb)[ASSAY_HASH_BYTES] = (const uint8_t(*)[ASSAY_HASH_BYTES])b;
    for (size_t i = 0; i < 70; i++) {
        a[i][0] = b[i][0] = (uint8_t)i;
    }
    for (size_t n = 1; n <= 70; n++) {
        unsigned bound = 1, comparisons;
        for (size_t reach = 1; reach < n; reach *= 2) {
            bound++;
        }
        cr_assert_eq(assay_merkle_first_difference(ca, cb, n), n);
        for (size_t at = 0; at < n; at++) {
            b[at][31] ^= 1;
            b[n - 1][30] ^= 1;
            cr_assert_eq(assay_merkle_first_difference(ca, cb, n), at);
            cr_assert_eq(assay_merkle_descend(ca, cb, n, &comparisons), at);
            cr_assert_leq(comparisons, bound, "%u comparisons for %zu leaves", comparisons, n);
            b[at][31] ^= 1;
            b[n - 1][30] ^= 1;
        }
    }
    cr_assert_eq(assay_merkle_first_difference(ca, cb, 0), 0);
}

Test(digest, sha256) {
    uint8_t hash[ASSAY_HASH_BYTES];
    char hex[65], path[] = "/tmp/assay_test_digest_XXXXXX";
    uint64_t bytes = 0;
    assay_error error = {0};
    assay_sha256("abc", 3, hash);
    assay_hex(hash, sizeof hash, hex);
    cr_assert_str_eq(hex,
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); /* FIPS 180-4 */
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "abc", 3), 3);
    (void)close(fd);
    memset(hash, 0, sizeof hash);
    cr_assert_eq(assay_sha256_file(path, hash, &bytes, &error), ASSAY_CODE_OK);
    assay_hex(hash, sizeof hash, hex);
    cr_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cr_assert_eq(bytes, 3);
    (void)unlink(path);
    cr_assert_eq(assay_sha256_file(path, hash, &bytes, &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_sha256_file("/tmp", hash, &bytes, &error), ASSAY_CODE_USAGE);
}
