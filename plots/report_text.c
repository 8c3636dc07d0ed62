/* report_text.c - foreign text made safe, and numbers made readable. Every figure in a report passes through
 * here. */
#include "dtype.h"
#include "report_arena.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Length of the valid UTF-8 sequence at p (at most n bytes), 0 when malformed, overlong, a surrogate or
 * beyond U+10FFFF. */
static size_t utf8_length(const unsigned char *p, size_t n) {
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t k = 0; k < 4; k++) {
        if ((p[0] & forms[k].mask) != forms[k].lead) {
            continue;
        }
        if (k + 1 > n) {
            return 0;
        }
        uint32_t code = p[0] & (uint32_t)(unsigned char)~forms[k].mask;
        for (size_t i = 1; i <= k; i++) {
            if ((p[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (p[i] & 0x3fu);
        }
        const bool usable = code >= forms[k].least && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) &&
                            code != 0xfffe && code != 0xffff;
        return usable ? k + 1 : 0;
    }
    return 0;
}

const char *report_clean(report_arena *arena, const char *text, size_t bytes) {
    if (text == NULL) {
        return "";
    }
    char *out = report_arena_alloc(arena, bytes * 3 + 1); /* one bad byte becomes three good ones */
    if (out == NULL) {
        return "";
    }
    const unsigned char *p = (const unsigned char *)text;
    char *w = out;
    for (size_t i = 0; i < bytes;) {
        const size_t length = utf8_length(p + i, bytes - i);
        const bool c1 = length == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0; /* U+0080..U+009F */
        const char *instead = p[i] == '\n'   ? "\xe2\x90\xa4"
                              : p[i] == '\t' ? " "
                              : p[i] == '\r' ? ""
                                             : "\xef\xbf\xbd";
        if (length == 0 || c1 || p[i] < 0x20 || p[i] == 0x7f) {
            const size_t n = strlen(instead);
            memcpy(w, instead, n);
            w += n;
            i += length == 0 ? 1 : length;
            continue;
        }
        memcpy(w, p + i, length);
        w += length;
        i += length;
    }
    *w = '\0';
    return out;
}

const char *report_count_text(report_arena *arena, uint64_t value) {
    char digits[24];
    char out[32];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t w = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            out[w++] = ',';
        }
        out[w++] = digits[i];
    }
    out[w] = '\0';
    return report_printf(arena, "%s", out);
}

const char *report_short_count(report_arena *arena, uint64_t value) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    if (value < 100000) {
        return report_count_text(arena, value);
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if ((double)value >= units[i].unit) {
            return report_printf(arena, "%.4g %s", (double)value / units[i].unit, units[i].name);
        }
    }
    return report_count_text(arena, value);
}

const char *report_share_text(report_arena *arena, uint64_t part, uint64_t whole) {
    if (whole == 0) {
        return "n/a";
    }
    if (part == 0) {
        return "0 %";
    }
    if (part == whole) {
        return "100 %";
    }
    const double percent = 100.0 * (double)part / (double)whole;
    if (percent < 0.05) {
        return "<0.1 %";
    }
    if (percent >= 99.95) {
        return ">99.9 %";
    }
    return report_printf(arena, "%.1f %%", percent);
}

const char *report_real_text(report_arena *arena, double value) {
    if (isnan(value)) {
        return "NaN";
    }
    if (isinf(value)) {
        return value > 0 ? "infinity" : "-infinity";
    }
    return report_printf(arena, "%.4g", value);
}

const char *report_ns_text(report_arena *arena, double ns) {
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\xc2\xb5s"}, {1.0, "ns"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (ns >= units[i].unit || units[i].unit == 1.0) {
            const double value = ns / units[i].unit;
            const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
            return report_printf(arena, "%.*f %s", decimals, value, units[i].name);
        }
    }
    return "";
}

const char *report_bits_text(report_arena *arena, uint32_t bits) {
    return report_printf(arena, "0x%08x", bits);
}

const char *report_float_text(report_arena *arena, uint32_t bits) {
    const float value = assay_f32_from_bits(bits);
    if (isnan(value)) {
        return report_printf(arena, "0x%08x (NaN)", bits);
    }
    return report_printf(arena, "0x%08x (%.9g)", bits, (double)value);
}

const char *report_bytes_text(report_arena *arena, uint64_t bytes) {
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t i = 0;
    while (value >= 1024 && i + 1 < sizeof names / sizeof names[0]) {
        value /= 1024;
        i++;
    }
    return report_printf(arena, i == 0 ? "%.0f %s" : "%.1f %s", value, names[i]);
}

const char *report_time_text(report_arena *arena, int64_t wall_ms) {
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    char text[32];
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
        return report_printf(arena, "%lld ms", (long long)wall_ms);
    }
    return report_printf(arena, "%s", text);
}

const char *report_words(report_arena *arena, const char *term) {
    const size_t bytes = strlen(term) + 1;
    char *text = report_arena_alloc(arena, bytes);
    if (text == NULL) {
        return "";
    }
    memcpy(text, term, bytes);
    for (char *p = text; *p != '\0'; p++) {
        if (*p == '_') {
            *p = ' ';
        }
    }
    return text;
}
