/* protocol_write.c - composing messages and splitting the byte stream into lines.
 *
 * Calls and results are written directly, not through a JSON tree: they are on the path of every call. */
#include "protocol.h"

#include "digest.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SPIN_ROUNDS 100

static void put(assay_line *line, const char *bytes, size_t n) {
    if (line->failed || n > ASSAY_LINE_BYTES - line->used) {
        line->failed = true;
        return;
    }
    memcpy(line->bytes + line->used, bytes, n);
    line->used += n;
}

static void put_raw(assay_line *line, const char *text) {
    put(line, text, strlen(text));
}

static void put_int(assay_line *line, int64_t value) {
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        *--p = '-';
    }
    put(line, p, (size_t)(digits + sizeof digits - p));
}

/* jansson prints reals so that they read back exactly, whatever the locale. */
static void put_real(assay_line *line, double value) {
    char text[64];
    if (isnan(value) || isinf(value)) {
        put_raw(line, isnan(value) ? "{\"float\":\"nan\"}"
                      : value > 0  ? "{\"float\":\"inf\"}"
                                   : "{\"float\":\"-inf\"}");
        return;
    }
    json_t *json = json_real(value);
    const size_t n = json == NULL ? 0 : json_dumpb(json, text, sizeof text, JSON_ENCODE_ANY);
    json_decref(json);
    line->failed = line->failed || n == 0 || n > sizeof text;
    if (!line->failed) {
        put(line, text, n);
    }
}

/* A JSON string. With `repair`, text that is not UTF-8 has its high bytes replaced by '?'; without, it is a
 * failure. */
static void put_text(assay_line *line, const char *text, bool repair) {
    static const char hex[] = "0123456789abcdef";
    bool high = false;
    for (const char *p = text; *p != '\0'; p++) {
        high = high || (unsigned char)*p >= 0x80;
    }
    if (high) {
        json_t *check = json_string(text);
        high = check == NULL; /* from here on: true = not UTF-8 */
        json_decref(check);
        line->failed = line->failed || (high && !repair);
    }
    put(line, "\"", 1);
    for (const char *p = text; *p != '\0'; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') {
            const char escaped[2] = {'\\', *p};
            put(line, escaped, 2);
        } else if (c < 0x20) {
            const char escaped[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put(line, escaped, 6);
        } else {
            put(line, c >= 0x80 && high ? "?" : p, 1);
        }
    }
    put(line, "\"", 1);
}

static void put_ints(assay_line *line, const int64_t *values, int n) {
    put(line, "[", 1);
    for (int i = 0; i < n; i++) {
        if (i > 0) {
            put(line, ",", 1);
        }
        put_int(line, values[i]);
    }
    put(line, "]", 1);
}

static void put_tensor(assay_line *line, const assay_tensor *t) {
    if (t == NULL) {
        put_raw(line, "null");
        return;
    }
    const int64_t segment[2] = {(int64_t)t->segment_offset, (int64_t)t->segment_bytes};
    put_raw(line, "{\"dtype\":\"");
    put_raw(line, assay_dtype_text(t->dtype));
    put_raw(line, "\",\"shape\":");
    put_ints(line, t->shape, t->ndim);
    put_raw(line, ",\"strides\":");
    put_ints(line, t->strides, t->ndim);
    put_raw(line, ",\"offset\":");
    put_int(line, (int64_t)t->data_offset);
    put_raw(line, ",\"segment\":");
    put_ints(line, segment, 2);
    put(line, "}", 1);
}

static void put_tensors(assay_line *line, const char *key, const assay_tensor *const *tensors, size_t n) {
    put_raw(line, key);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            put(line, ",", 1);
        }
        put_tensor(line, tensors[i]);
    }
    put(line, "]", 1);
}

static void put_attr(assay_line *line, const assay_attr *a) {
    put_text(line, a->name, false);
    put(line, ":", 1);
    switch (a->type) {
    case ASSAY_ATTR_INT:
        put_int(line, a->i);
        return;
    case ASSAY_ATTR_BOOL:
        put_raw(line, a->i != 0 ? "true" : "false");
        return;
    case ASSAY_ATTR_FLOAT:
        put_real(line, a->f);
        return;
    case ASSAY_ATTR_STRING:
        put_text(line, a->s, false);
        return;
    }
    line->failed = true;
}

void assay_write_hello_judge(assay_line *line, size_t arena_bytes, size_t page_bytes, const char *device) {
    put_raw(line, "{\"type\":\"hello\",\"role\":\"judge\",\"protocol\":");
    put_int(line, ASSAY_PROTOCOL_VERSION);
    put_raw(line, ",\"arena_bytes\":");
    put_int(line, (int64_t)arena_bytes);
    put_raw(line, ",\"page_bytes\":");
    put_int(line, (int64_t)page_bytes);
    if (device != NULL) {
        put_raw(line, ",\"device\":");
        put_text(line, device, false);
    }
    put_raw(line, "}\n");
}

static void put_device(assay_line *line, const assay_device_call *d) {
    static const char *const streams[] = {
#define X(id, text, meaning) text,
        ASSAY_STREAM_LIST(X)
#undef X
    };
    char hex[2 * ASSAY_DEVICE_HANDLE_BYTES + 1];
    assay_hex(d->arena_handle, ASSAY_DEVICE_HANDLE_BYTES, hex);
    put_raw(line, ",\"arena\":\"");
    put_raw(line, hex);
    put_raw(line, "\",\"arena_bytes\":");
    put_int(line, (int64_t)d->arena_bytes);
    if (d->stream != ASSAY_STREAM_OWN) {
        put_raw(line, ",\"stream\":\"");
        put_raw(line, streams[d->stream]);
        put_raw(line, "\"");
    }
    if (d->delay_us > 0) {
        put_raw(line, ",\"delay_us\":");
        put_int(line, d->delay_us);
    }
    if (d->graph > 0) {
        put_raw(line, ",\"graph\":");
        put_int(line, d->graph);
    }
    if (d->peak) {
        put_raw(line, ",\"peak\":true");
    }
    if (d->apart) {
        put_raw(line, ",\"apart\":true");
    }
}

void assay_write_call(assay_line *line, const char *id, const char *op, bool backward,
                      const assay_attr *attrs, size_t attr_count, const assay_tensor *const *inputs,
                      size_t input_count, const assay_tensor *const *outputs, size_t output_count,
                      unsigned repeat, bool other_thread, const assay_device_call *device) {
    put_raw(line, "{\"type\":\"call\",\"id\":\"");
    put_raw(line, id);
    put_raw(line, "\",\"op\":");
    put_text(line, op, false);
    put_raw(line, backward ? ",\"pass\":\"backward\",\"attrs\":{" : ",\"pass\":\"forward\",\"attrs\":{");
    for (size_t i = 0; i < attr_count; i++) {
        if (i > 0) {
            put(line, ",", 1);
        }
        put_attr(line, &attrs[i]);
    }
    put_tensors(line, "},\"inputs\":[", inputs, input_count);
    put_tensors(line, ",\"outputs\":[", outputs, output_count);
    put_raw(line, ",\"repeat\":");
    put_int(line, repeat);
    put_raw(line, other_thread ? ",\"other_thread\":true" : ",\"other_thread\":false");
    if (device != NULL) {
        put_device(line, device);
    }
    put_raw(line, "}\n");
}

void assay_write_result(assay_line *line, const char *id, assay_status status, const char *message,
                        uint64_t ns, uint64_t device_ns, uint64_t peak_bytes) {
    put_raw(line, "{\"type\":\"result\",\"id\":\"");
    put_raw(line, id);
    put_raw(line, "\",\"status\":\"");
    put_raw(line, assay_status_text(status));
    put_raw(line, "\",\"message\":");
    put_text(line, message, true);
    put_raw(line, ",\"ns\":");
    put_int(line, (int64_t)ns);
    if (device_ns > 0) {
        put_raw(line, ",\"device_ns\":");
        put_int(line, (int64_t)device_ns);
    }
    if (peak_bytes > 0) {
        put_raw(line, ",\"peak_bytes\":");
        put_int(line, (int64_t)peak_bytes);
    }
    put_raw(line, "}\n");
}

void assay_write_plain(assay_line *line, assay_message_type type, const char *id) {
    put_raw(line, "{\"type\":\"");
    put_raw(line, assay_message_text(type));
    put_raw(line, "\"");
    if (id != NULL) {
        put_raw(line, ",\"id\":\"");
        put_raw(line, id);
        put_raw(line, "\"");
    }
    put_raw(line, "}\n");
}

void assay_write_json(assay_line *line, const json_t *object) {
    const size_t room = ASSAY_LINE_BYTES - line->used;
    const size_t n = object == NULL ? 0 : json_dumpb(object, line->bytes + line->used, room, JSON_COMPACT);
    if (n == 0 || n > room) {
        line->failed = true;
        return;
    }
    line->used += n;
    put(line, "\n", 1);
}

/* ---- reader ---- */

bool assay_reader_init(assay_reader *reader) {
    *reader = (assay_reader){.bytes = malloc(ASSAY_LINE_BYTES)};
    return reader->bytes != NULL;
}

void assay_reader_free(assay_reader *reader) {
    free(reader->bytes);
    *reader = (assay_reader){0};
}

const char *assay_reader_line(assay_reader *reader, size_t *n) {
    const char *start = reader->bytes + reader->begin;
    const char *newline = memchr(start, '\n', reader->end - reader->begin);
    if (newline == NULL) {
        return NULL;
    }
    *n = (size_t)(newline - start);
    reader->begin += *n + 1;
    return start;
}

long assay_reader_fill(assay_reader *reader, int fd, int flags) {
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
    }
    if (reader->end == ASSAY_LINE_BYTES) {
        return -2;
    }
    for (;;) {
        const ssize_t n = recv(fd, reader->bytes + reader->end, ASSAY_LINE_BYTES - reader->end, flags);
        if (n >= 0) {
            reader->end += (size_t)n;
            return (long)n;
        }
        if (errno != EINTR) {
            return -1;
        }
    }
}

long assay_reader_spin(assay_reader *reader, int fd) {
    long n = -1;
    for (int i = 0; i < SPIN_ROUNDS; i++) {
        n = assay_reader_fill(reader, fd, MSG_DONTWAIT);
        if (n != -1 || errno != EAGAIN) {
            return n;
        }
        (void)sched_yield();
    }
    errno = EAGAIN;
    return n;
}
