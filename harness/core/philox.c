/* philox.c - Philox4x32-10 and the maps from its words to floats, as specified in harness/GENERATOR.md. */
#include "philox.h"

#include "digest.h"
#include "philox_private.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#define ROUNDS 10

void assay_philox4x32(const uint32_t counter[4], assay_philox_key key, uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key.k[0], k1 = key.k[1];
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)c0 * 0xD2511F53u;
        const uint64_t p1 = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

assay_philox_key assay_philox_key_of(const char *contract, const char *case_name, const char *tensor,
                                     uint64_t seed) {
    const char *const names[] = {contract, case_name, tensor};
    unsigned char seed_le[8];
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)crypto_hash_sha256_update(&state, (const unsigned char *)names[i], strlen(names[i]) + 1);
    }
    assay_le64_put(seed, seed_le);
    (void)crypto_hash_sha256_update(&state, seed_le, sizeof seed_le);
    (void)crypto_hash_sha256_final(&state, hash);
    const uint64_t words = assay_le64_get(hash);
    return (assay_philox_key){{(uint32_t)words, (uint32_t)(words >> 32)}};
}

/* Block `number` of the stream of `key`: the counter is the 64-bit block number in words 0 (low) and 1
 * (high). */
static void stream_block(assay_philox_key key, uint64_t number, uint32_t out[4]) {
    const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> 32), 0, 0};
    assay_philox4x32(counter, key, out);
}

void assay_philox_words(assay_philox_key key, uint64_t first, size_t n, uint32_t *out) {
    size_t done = 0;
    while (done < n) {
        const uint64_t word = first + done;
        const size_t lane = (size_t)(word & 3u);
        const size_t take = n - done < 4 - lane ? n - done : 4 - lane;
        uint32_t block[4];
        stream_block(key, word >> 2, block);
        memcpy(out + done, block + lane, take * sizeof block[0]);
        done += take;
    }
}

/* Words are produced in pieces of this many, small enough for the first-level cache. */
#define PIECE 1024

void assay_philox_uniform(assay_philox_key key, uint64_t first, size_t n, float *out) {
    uint32_t words[PIECE];
    for (size_t done = 0; done < n;) {
        const size_t take = n - done < PIECE ? n - done : PIECE;
        assay_philox_words(key, first + done, take, words);
        for (size_t i = 0; i < take; i++) {
            out[done + i] = (float)(words[i] >> 8) * 0x1p-24f;
        }
        done += take;
    }
}

/* log(u) for u = (w + 1/2) * 2^-32, w any 32-bit word: u = 2^e * m, sqrt(1/2) <= m < sqrt(2), s =
 * (m-1)/(m+1), log u = e*LN2_HI + (e*LN2_LO + (2s + 2s*z*(1/3 + z/5 + ... + z^10/23))), z = s*s. */
double assay_philox_log(uint32_t w) {
    static const double series[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                    1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    const uint64_t twice = 2 * (uint64_t)w + 1; /* u * 2^33 */
    const int top = 63 - __builtin_clzll(twice);
    double m = (double)twice / (double)(UINT64_C(1) << top);
    int e = top - 33;
    if (m >= 0x1.6a09e667f3bcdp+0) {
        m = m / 2;
        e = e + 1;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double p = series[10];
    for (int k = 9; k >= 0; k--) {
        p = p * z + series[k];
    }
    const double twos = s + s;
    return (double)e * 0x1.62e42fefa38p-1 + ((double)e * 0x1.ef35793c7673p-45 + (twos + twos * (z * p)));
}

/* cos(2*pi*w*2^-32): q = quarter turns rounded to nearest, a = the rest in [-pi/4, pi/4); Taylor polynomials
 * of cos and sin with coefficients rounded to FP64, Horner's rule, no contraction. */
double assay_philox_cos(uint32_t w) {
    static const double cosine[] = {1.0,
                                    -1.0 / 2,
                                    1.0 / 24,
                                    -1.0 / 720,
                                    1.0 / 40320,
                                    -1.0 / 3628800,
                                    1.0 / 479001600,
                                    -1.0 / 87178291200,
                                    1.0 / 20922789888000};
    static const double sine[] = {1.0,
                                  -1.0 / 6,
                                  1.0 / 120,
                                  -1.0 / 5040,
                                  1.0 / 362880,
                                  -1.0 / 39916800,
                                  1.0 / 6227020800,
                                  -1.0 / 1307674368000,
                                  1.0 / 355687428096000};
    const uint32_t q = (w + 0x20000000u) >> 30; /* w + 2^29 wraps to quadrant 0 */
    const double a = (double)(int32_t)(w - (q << 30)) * 0x1.921fb54442d18p-30;
    const double z = a * a;
    const double *const c = (q & 1u) == 0 ? cosine : sine;
    double p = c[8];
    for (int k = 7; k >= 0; k--) {
        p = p * z + c[k];
    }
    const double value = (q & 1u) == 0 ? p : a * p;
    return q == 1 || q == 2 ? -value : value;
}

void assay_philox_normal(assay_philox_key key, uint64_t first, size_t n, float *out) {
    uint32_t words[PIECE];
    for (size_t done = 0; done < n;) {
        const size_t take = n - done < PIECE / 2 ? n - done : PIECE / 2;
        assay_philox_words(key, 2 * (first + done), 2 * take, words);
        for (size_t i = 0; i < take; i++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the line above fills 2 * take words */
            const double radius = sqrt(-2.0 * assay_philox_log(words[2 * i]));
            out[done + i] = (float)(radius * assay_philox_cos(words[2 * i + 1]));
        }
        done += take;
    }
}
