/* device_code.c - GPU code in a file. Every length is checked against what is left before it is used. */
#include "device_code.h"

#include "elf_read.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FATBIN_MAGIC   0xba55ed50u
#define FATBIN_HEADER  16u
#define ENTRY_HEADER   64u
#define ENTRY_PTX      1u
#define ENTRY_CUBIN    2u
#define FLAG_LZ4       0x2000u
#define FLAG_ZSTD      0x8000u
#define FIRST_WORDS    4096 /* of a PTX text: .version and .target stand there */
#define NEEDLE_VERSION ".version "

typedef struct search {
    const uint8_t *data;
    size_t n;
    bool (*each)(void *user, const assay_device_code *code, assay_error *error);
    void *user;
    size_t count;
    uint64_t total;
    assay_error *error;
} search;

static bool give(search *s, assay_device_code_kind kind, unsigned sm, size_t offset, const void *bytes,
                 size_t n) {
    const assay_device_code code = {.kind = kind, .sm = sm, .offset = offset, .bytes = bytes, .n = n};
    s->total += n;
    if (++s->count > ASSAY_DEVICE_CODE_MAX_ENTRIES || s->total > ASSAY_DEVICE_CODE_TOTAL_BYTES) {
        (void)assay_fail(s->error, ASSAY_CODE_USAGE,
                         "device code at byte %zu: more than %u entries or %llu bytes", offset,
                         ASSAY_DEVICE_CODE_MAX_ENTRIES, (unsigned long long)ASSAY_DEVICE_CODE_TOTAL_BYTES);
        return false;
    }
    return s->each(s->user, &code, s->error);
}

static bool broken(search *s, size_t offset, const char *why) {
    (void)assay_fail(s->error, ASSAY_CODE_USAGE, "fat binary at byte %zu: %s", offset, why);
    return false;
}

static bool give_payload(search *s, unsigned kind, unsigned sm, size_t offset, const void *bytes, size_t n) {
    if (kind == ENTRY_PTX) {
        const void *const end = memchr(bytes, '\0', n);
        n = end != NULL ? (size_t)((const char *)end - (const char *)bytes) : n;
        return give(s, ASSAY_DEVICE_CODE_PTX, sm, offset, bytes, n);
    }
    return give(s, kind == ENTRY_CUBIN ? ASSAY_DEVICE_CODE_CUBIN : ASSAY_DEVICE_CODE_OTHER, sm, offset, bytes,
                n);
}

/* One entry: `at` points to its header, `payload` bytes follow it. */
static bool entry_read(search *s, size_t offset, const uint8_t *at, size_t header, size_t payload) {
    const unsigned kind = assay_le16(at);
    const unsigned sm = assay_le32(at + 28);
    const uint64_t flags = assay_le64(at + 40);
    const size_t packed = assay_le32(at + 16);
    const uint64_t unpacked = assay_le64(at + 56);
    const uint8_t *const from = at + header;
    if ((flags & (FLAG_LZ4 | FLAG_ZSTD)) == 0 || (kind != ENTRY_PTX && kind != ENTRY_CUBIN)) {
        return give_payload(s, kind, sm, offset, from, payload);
    }
    if (packed == 0 || packed > payload) {
        return broken(s, offset, "the compressed size of an entry exceeds the entry");
    }
    if (unpacked == 0 || unpacked > ASSAY_DEVICE_CODE_MAX_BYTES) {
        return broken(s, offset, "an entry claims to decompress to nothing or to more than 256 MiB");
    }
    char *const to = malloc((size_t)unpacked);
    if (to == NULL) {
        return broken(s, offset, "no memory to decompress an entry");
    }
    bool good = false;
    if ((flags & FLAG_ZSTD) != 0) {
        good = ZSTD_decompress(to, (size_t)unpacked, from, packed) == (size_t)unpacked;
    } else {
        good = LZ4_decompress_safe((const char *)from, to, (int)packed, (int)unpacked) == (int)unpacked;
    }
    good = good ? give_payload(s, kind, sm, offset, to, (size_t)unpacked)
                : broken(s, offset, "an entry does not decompress to its stated size");
    free(to);
    return good;
}

/* A fat binary whose header was recognised at `offset`; *end gets the byte behind it. */
static bool fatbin_read(search *s, size_t offset, size_t *end) {
    const uint8_t *const at = s->data + offset;
    const uint64_t bytes = assay_le64(at + 8);
    if (bytes > s->n - offset - FATBIN_HEADER) {
        return broken(s, offset, "it is longer than the rest of the file");
    }
    size_t left = (size_t)bytes;
    const uint8_t *entry = at + FATBIN_HEADER;
    while (left > 0) {
        if (left < ENTRY_HEADER) {
            return broken(s, offset, "an entry is cut off");
        }
        const size_t header = assay_le32(entry + 4);
        const uint64_t payload = assay_le64(entry + 8);
        if (header < ENTRY_HEADER || header > left || payload > left - header) {
            return broken(s, offset, "an entry is longer than the fat binary");
        }
        if (payload > 0 && !entry_read(s, offset, entry, header, (size_t)payload)) {
            return false;
        }
        entry += header + (size_t)payload;
        left -= header + (size_t)payload;
    }
    *end = offset + FATBIN_HEADER + (size_t)bytes;
    return true;
}

/* The sm_NN that a PTX text names; 0 when there is none near its beginning. */
static unsigned ptx_target(const char *text, size_t n) {
    static const char needle[] = ".target sm_";
    const char *const at = memmem(text, n < FIRST_WORDS ? n : FIRST_WORDS, needle, sizeof needle - 1);
    unsigned sm = 0;
    for (const char *p = at != NULL ? at + sizeof needle - 1 : text + n;
         p < text + n && *p >= '0' && *p <= '9' && sm < 1000; p++) {
        sm = 10 * sm + (unsigned)(*p - '0');
    }
    return sm;
}

/* Device code that starts at s->data[i]; *end is left alone when there is none. */
static bool look_at(search *s, size_t i, size_t *end) {
    const uint8_t *const at = s->data + i;
    const size_t left = s->n - i;
    if (left >= FATBIN_HEADER && assay_le32(at) == FATBIN_MAGIC && assay_le16(at + 4) == 1 &&
        assay_le16(at + 6) == FATBIN_HEADER) {
        return fatbin_read(s, i, end);
    }
    if (*at == 0x7f && assay_elf_is_cubin(at, left)) {
        const size_t bytes = assay_elf_extent(at, left);
        if (bytes == 0) {
            (void)assay_fail(s->error, ASSAY_CODE_USAGE, "cubin at byte %zu: it is cut off", i);
            return false;
        }
        *end = i + bytes;
        return give(s, ASSAY_DEVICE_CODE_CUBIN, assay_elf_sm(at), i, at, bytes);
    }
    if (*at == '.' && left > sizeof NEEDLE_VERSION &&
        memcmp(at, NEEDLE_VERSION, sizeof NEEDLE_VERSION - 1) == 0 && at[sizeof NEEDLE_VERSION - 1] >= '0' &&
        at[sizeof NEEDLE_VERSION - 1] <= '9') {
        const void *const stop = memchr(at, '\0', left);
        const size_t bytes = stop != NULL ? (size_t)((const uint8_t *)stop - at) : left;
        const unsigned sm = ptx_target((const char *)at, bytes);
        if (sm != 0) {
            *end = i + bytes;
            return give(s, ASSAY_DEVICE_CODE_PTX, sm, i, at, bytes);
        }
    }
    return true;
}

assay_code assay_device_code_each(const void *data, size_t n,
                                  bool (*each)(void *user, const assay_device_code *code, assay_error *error),
                                  void *user, size_t *count, assay_error *error) {
    assay_error local = {0};
    search s = {.data = data, .n = n, .each = each, .user = user, .error = error != NULL ? error : &local};
    bool good = true;
    for (size_t i = 0; good && i < n;) {
        const uint8_t byte = s.data[i];
        size_t end = i + 1;
        if (byte == 0x50 || byte == 0x7f || byte == '.') { /* first bytes of the three */
            good = look_at(&s, i, &end);
        }
        i = end;
    }
    if (count != NULL) {
        *count = s.count;
    }
    return good ? ASSAY_CODE_OK : s.error->code;
}
