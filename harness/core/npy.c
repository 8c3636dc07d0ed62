/* npy.c - writes .npy version 1.0 files: magic, version 1.0, header length as u16 LE, one line of Python dict
 * padded with spaces to a multiple of 64 bytes, then the elements (numpy.lib.format). */
#include "npy_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const assay_npy_descr[ASSAY_DTYPE_COUNT] = {
    [ASSAY_DTYPE_F32] = "<f4", [ASSAY_DTYPE_BF16] = "<u2", [ASSAY_DTYPE_F16] = "<f2",
    [ASSAY_DTYPE_F64] = "<f8", [ASSAY_DTYPE_I32] = "<i4",  [ASSAY_DTYPE_I64] = "<i8",
    [ASSAY_DTYPE_U8] = "|u1",
};

bool assay_npy_payload(assay_dtype dtype, const int64_t *shape, int ndim, size_t *bytes) {
    size_t total = assay_dtype_bytes(dtype);
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(total, (size_t)shape[i], &total)) {
            return false;
        }
    }
    *bytes = total;
    return total <= ASSAY_NPY_MAX_BYTES - ASSAY_NPY_PREAMBLE;
}

/* The whole preamble; returns its length, a multiple of 64. `out` holds ASSAY_NPY_PREAMBLE bytes: 8
 * dimensions of 19 digits fit. */
static size_t preamble(assay_dtype dtype, const int64_t *shape, int ndim, char *out) {
    char text[ASSAY_NPY_PREAMBLE];
    size_t n = (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                assay_npy_descr[dtype]);
    for (int i = 0; i < ndim; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%lld%s", (long long)shape[i],
                              ndim == 1      ? ","
                              : i + 1 < ndim ? ", "
                                             : "");
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "), }");
    const size_t total = (ASSAY_NPY_FIXED + n + 1 + 63) / 64 * 64;
    const size_t header = total - ASSAY_NPY_FIXED;
    memset(out, ' ', total);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(header & 0xff);
    out[9] = (char)(header >> 8);
    memcpy(out + ASSAY_NPY_FIXED, text,
           n); /* NOLINT(bugprone-not-null-terminated-result): the header has a length */
    out[total - 1] = '\n';
    return total;
}

static bool write_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        const ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes += put;
        n -= (size_t)put;
    }
    return true;
}

/* Makes the rename durable; a file system that cannot sync a directory is not an error. */
static void sync_directory(const char *path) {
    char directory[PATH_MAX];
    const char *const slash = strrchr(path, '/');
    const int n = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    (void)snprintf(directory, sizeof directory, "%.*s", n, slash == NULL ? "." : path);
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

assay_code assay_npy_write(const char *path, assay_dtype dtype, const int64_t *shape, int ndim,
                           const void *data, assay_error *error) {
    char head[ASSAY_NPY_PREAMBLE], temporary[PATH_MAX];
    size_t payload = 0;
    if (ndim < 0 || ndim > ASSAY_NPY_MAX_DIMS || !assay_npy_payload(dtype, shape, ndim, &payload)) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "%s: shape is negative, has more than %d dimensions or exceeds 1 GiB", path,
                          ASSAY_NPY_MAX_DIMS);
    }
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%.200s...: path is too long", path);
    }
    const size_t head_bytes = preamble(dtype, shape, ndim, head);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot create: %s", temporary, strerror(errno));
    }
    bool ok = fchmod(fd, 0644) == 0 && write_all(fd, head, head_bytes) && write_all(fd, data, payload) &&
              fsync(fd) == 0;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(temporary, path) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        (void)unlink(temporary);
        return assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot write: %s", path, strerror(saved));
    }
    sync_directory(path);
    return ASSAY_CODE_OK;
}
