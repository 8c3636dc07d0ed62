/* npy_read.c - strict reader of .npy version 1.0: it accepts what NumPy and our writer write and refuses
 * everything else. Input may come from a stranger: every length is checked before it is used. */
#include "npy_private.h"

#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_spaces(cursor *c) {
    while (c->at < c->end && *c->at == ' ') {
        c->at++;
    }
}

/* Skips spaces, then consumes `text` or leaves the cursor there and returns false. */
static bool take(cursor *c, const char *text) {
    const size_t n = strlen(text);
    skip_spaces(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0) {
        return false;
    }
    c->at += n;
    return true;
}

static bool take_descr(cursor *c, assay_dtype *dtype) {
    for (size_t i = 0; i < ASSAY_DTYPE_COUNT; i++) {
        char quoted[8];
        (void)snprintf(quoted, sizeof quoted, "'%s'", assay_npy_descr[i]);
        if (take(c, quoted)) {
            *dtype = (assay_dtype)i;
            return true;
        }
    }
    return false;
}

/* A decimal number without sign or leading zero. */
static bool take_number(cursor *c, int64_t *value) {
    skip_spaces(c);
    const char *const start = c->at;
    int64_t v = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c->at - '0', &v)) {
            return false;
        }
        c->at++;
    }
    *value = v;
    return c->at > start && (*start != '0' || c->at == start + 1);
}

/* "()", "(3,)", "(2, 3)", "(2, 3,)": a single number needs its comma. */
static bool take_shape(cursor *c, assay_npy *out) {
    if (!take(c, "(")) {
        return false;
    }
    out->ndim = 0;
    while (!take(c, ")")) {
        if (out->ndim == ASSAY_NPY_MAX_DIMS || !take_number(c, &out->shape[out->ndim])) {
            return false;
        }
        out->ndim++;
        if (!take(c, ",")) {
            return out->ndim > 1 && take(c, ")");
        }
    }
    return true;
}

/* The dict: each of the three keys exactly once, any order, trailing comma optional, then spaces and one
 * newline. */
static const char *parse_header(cursor c, assay_npy *out) {
    enum { DESCR = 1, ORDER = 2, SHAPE = 4, EVERY = 7 };
    int seen = 0;
    if (!take(&c, "{")) {
        return "header is not a dict";
    }
    while (!take(&c, "}")) {
        int key;
        if (take(&c, "'descr'") && take(&c, ":")) {
            key = DESCR;
            if (!take_descr(&c, &out->dtype)) {
                return "unknown element type";
            }
        } else if (take(&c, "'fortran_order'") && take(&c, ":")) {
            key = ORDER;
            if (!take(&c, "False")) {
                return "only C order is read (fortran_order must be False)";
            }
        } else if (take(&c, "'shape'") && take(&c, ":")) {
            key = SHAPE;
            if (!take_shape(&c, out)) {
                return "malformed shape";
            }
        } else {
            return "unknown key in the header";
        }
        if ((seen & key) != 0) {
            return "a key of the header appears twice";
        }
        seen |= key;
        if (!take(&c, ",")) {
            if (!take(&c, "}")) {
                return "malformed header";
            }
            break;
        }
    }
    skip_spaces(&c);
    if (c.end - c.at != 1 || *c.at != '\n') {
        return "header does not end with a newline";
    }
    return seen == EVERY ? NULL : "a key of the header is missing";
}

/* Fills *out but for the data; *payload gets the offset of the elements. NULL when right, else the rule that
 * is broken. */
static const char *parse_preamble(const unsigned char *bytes, size_t n, assay_npy *out, size_t *payload) {
    if (n < ASSAY_NPY_FIXED || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return "not a .npy file (wrong magic)";
    }
    if (bytes[6] != 1 || bytes[7] != 0) {
        return "only .npy version 1.0 is read";
    }
    const size_t header = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (n - ASSAY_NPY_FIXED < header) {
        return "file ends inside the header";
    }
    const char *const text = (const char *)bytes + ASSAY_NPY_FIXED;
    const char *const broken = parse_header((cursor){text, text + header}, out);
    if (broken != NULL) {
        return broken;
    }
    if (!assay_npy_payload(out->dtype, out->shape, out->ndim, &out->bytes)) {
        return "shape overflows or exceeds 1 GiB";
    }
    *payload = ASSAY_NPY_FIXED + header;
    if (n - *payload != out->bytes) {
        return n - *payload < out->bytes ? "file is shorter than its shape says"
                                         : "file is longer than its shape says";
    }
    return NULL;
}

/* assay_npy_parse with the name that messages carry. */
static assay_code parse_named(const char *name, const void *bytes, size_t n, assay_npy *out,
                              assay_error *error) {
    size_t payload = 0;
    assay_npy npy = {.data = NULL};
    const char *const broken = parse_preamble(bytes, n, &npy, &payload);
    memset(out, 0, sizeof *out);
    if (broken != NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: %s", name, broken);
    }
    npy.data = malloc(npy.bytes > 0 ? npy.bytes : 1);
    if (npy.data == NULL) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "%s: no memory for %zu bytes", name, npy.bytes);
    }
    memcpy(npy.data, (const unsigned char *)bytes + payload, npy.bytes);
    *out = npy;
    return ASSAY_CODE_OK;
}

assay_code assay_npy_parse(const void *bytes, size_t n, assay_npy *out, assay_error *error) {
    return parse_named("npy", bytes, n, out, error);
}

assay_code assay_npy_read(const char *path, assay_npy *out, assay_error *error) {
    size_t n = 0;
    memset(out, 0, sizeof *out);
    char *const buffer = assay_file_read(path, ASSAY_NPY_MAX_BYTES, &n);
    if (buffer == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot read: %s", path,
                          errno == EFBIG ? "larger than 1 GiB" : strerror(errno));
    }
    const assay_code code = parse_named(path, buffer, n, out, error);
    free(buffer);
    return code;
}

void assay_npy_free(assay_npy *npy) {
    free(npy->data);
    memset(npy, 0, sizeof *npy);
}
