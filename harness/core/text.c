#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Decodes the sequence at p. Returns its bytes, 0 when it is not UTF-8; *cut is set when the text ends inside
 * a sequence that was right so far. */
static size_t decode(const unsigned char *p, uint32_t *point, bool *cut) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = p[0] < 0x80 ? 1 : (p[0] & 0xe0) == 0xc0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 4;
    *cut = false;
    if (n == 4 && (p[0] & 0xf8) != 0xf0) {
        return 0;
    }
    *point = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *cut = p[i] == '\0';
            return 0;
        }
        *point = *point << 6 | (p[i] & 0x3fu);
    }
    const bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
    return *point < least[n] || *point > 0x10ffff || surrogate ? 0 : n;
}

static bool shown(uint32_t point) {
    static const uint32_t hidden[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                                         {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (point >= hidden[i][0] && point <= hidden[i][1]) {
            return false;
        }
    }
    return true;
}

bool assay_text_printable(const char *text) {
    uint32_t point = 0;
    bool cut = false;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
        const size_t n = decode(p, &point, &cut);
        if (n == 0 || !shown(point)) {
            return false;
        }
        p += n;
    }
    return true;
}

void assay_text_tidy(char *text) {
    uint32_t point = 0;
    bool cut = false;
    for (char *p = text; *p != '\0';) {
        const size_t n = decode((const unsigned char *)p, &point, &cut);
        if (n > 0 && shown(point)) {
            p += n;
        } else if (cut) {
            *p = '\0';
        } else {
            const size_t bad = n == 0 ? 1 : n;
            memset(p, '?', bad);
            p += bad;
        }
    }
}

char *assay_text_shell(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+";
    const size_t n = strlen(text);
    char *word = malloc(4 * n + 3); /* each quote takes four */
    char *to = word;
    if (word == NULL) {
        abort();
    }
    if (n > 0 && strspn(text, plain) == n) {
        return memcpy(word, text, n + 1);
    }
    *to++ = '\'';
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *p;
        }
    }
    *to++ = '\'';
    *to = '\0';
    return word;
}
