/* npy.c - writes .npy version 1.0 files: magic, version 1.0, header length as u16 LE, one line of Python dict
 * padded with spaces to a multiple of 64 bytes, then the elements (numpy.lib.format). */
#include "npy_private.h"

#include "file.h"

#include <stdio.h>
#include <string.h>

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
    static const char magic[8] = "\x93NUMPY\x01"; /* version 1.0: the NUL is the 0 */
    char *const text = out + ASSAY_NPY_FIXED;
    const size_t room = ASSAY_NPY_PREAMBLE - ASSAY_NPY_FIXED;
    size_t n = (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                assay_npy_descr[dtype]);
    for (int i = 0; i < ndim; i++) {
        n += (size_t)snprintf(text + n, room - n, "%lld%s", (long long)shape[i],
                              ndim == 1      ? ","
                              : i + 1 < ndim ? ", "
                                             : "");
    }
    n += (size_t)snprintf(text + n, room - n, "), }");
    const size_t total = (ASSAY_NPY_FIXED + n + 1 + 63) / 64 * 64;
    const size_t header = total - ASSAY_NPY_FIXED;
    memset(text + n, ' ', header - n);
    memcpy(out, magic, sizeof magic);
    out[8] = (char)(header & 0xff);
    out[9] = (char)(header >> 8);
    out[total - 1] = '\n';
    return total;
}

assay_code assay_npy_write(const char *path, assay_dtype dtype, const int64_t *shape, int ndim,
                           const void *data, assay_error *error) {
    char head[ASSAY_NPY_PREAMBLE];
    size_t payload = 0;
    if (ndim < 0 || ndim > ASSAY_NPY_MAX_DIMS || !assay_npy_payload(dtype, shape, ndim, &payload)) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "%s: shape is negative, has more than %d dimensions or exceeds 1 GiB", path,
                          ASSAY_NPY_MAX_DIMS);
    }
    const assay_file_part parts[] = {{head, preamble(dtype, shape, ndim, head)}, {data, payload}};
    const int why = assay_file_write(path, ASSAY_FILE_REPLACE, parts, 2);
    return why == 0 ? ASSAY_CODE_OK
                    : assay_fail(error, ASSAY_CODE_USAGE, "%s: cannot write: %s", path, strerror(why));
}
