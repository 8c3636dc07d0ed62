/* test_npy.c - .npy files: documented bytes, round trips, and refusal of everything else. */
#include "npy.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/assay_test_npy_XXXXXX";

static const char *file_in(const char *name) {
    static char path[128];
    if (strchr(directory, 'X') != NULL) {
        cr_assert_not_null(mkdtemp(directory));
    }
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void clean(const char *path) {
    (void)unlink(path);
    (void)rmdir(directory);
}

/* The exact bytes that numpy.save writes for np.arange(6, dtype='<f4').reshape(2, 3), by NumPy's format
 * description. */
Test(npy, documented_bytes) {
    static const float data[] = {0, 1, 2, 3, 4, 5};
    static const int64_t shape[] = {2, 3};
    unsigned char bytes[256];
    const char *const path = file_in("a.npy");
    assay_error error = {0};
    cr_assert_eq(assay_npy_write(path, ASSAY_DTYPE_F32, shape, 2, data, &error), ASSAY_CODE_OK, "%s",
                 error.text);
    FILE *const file = fopen(path, "rb");
    cr_assert_eq(fread(bytes, 1, sizeof bytes, file), 128 + sizeof data);
    (void)fclose(file);
    static const char dict[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    cr_assert_arr_eq(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    cr_assert_arr_eq(bytes + 10, dict, sizeof dict - 1);
    for (size_t i = 10 + sizeof dict - 1; i < 127; i++) {
        cr_assert_eq(bytes[i], ' ');
    }
    cr_assert_eq(bytes[127], '\n');
    cr_assert_arr_eq(bytes + 128, data, sizeof data);
    clean(path);
}

Test(npy, round_trips) {
    static const int64_t shapes[][8] = {{0}, {5}, {0, 4}, {2, 3, 4}, {1, 1, 1, 2, 1, 2, 1, 3}};
    static const int dims[] = {0, 1, 2, 3, 8};
    unsigned char data[8 * 24];
    const char *const path = file_in("b.npy");
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (unsigned char)(37 * i + 1);
    }
    for (int d = 0; d < ASSAY_DTYPE_COUNT; d++) {
        for (size_t s = 0; s < sizeof dims / sizeof dims[0]; s++) {
            assay_npy npy;
            assay_error error = {0};
            size_t count = 1;
            for (int k = 0; k < dims[s]; k++) {
                count *= (size_t)shapes[s][k];
            }
            cr_assert_eq(assay_npy_write(path, (assay_dtype)d, shapes[s], dims[s], data, &error),
                         ASSAY_CODE_OK);
            cr_assert_eq(assay_npy_read(path, &npy, &error), ASSAY_CODE_OK, "%s", error.text);
            cr_assert_eq((int)npy.dtype, d);
            cr_assert_eq(npy.ndim, dims[s]);
            cr_assert_arr_eq(npy.shape, shapes[s], (size_t)dims[s] * sizeof npy.shape[0]);
            cr_assert_eq(npy.bytes, count * assay_dtype_bytes((assay_dtype)d));
            cr_assert_arr_eq(npy.data, data, npy.bytes);
            assay_npy_free(&npy);
            cr_assert_null(npy.data);
        }
    }
    clean(path);
}

/* A file from a dict and 12 payload bytes. */
static size_t build(unsigned char *out, const char *dict, size_t payload) {
    static const unsigned char magic[8] = "\x93NUMPY\x01";
    const size_t n = strlen(dict);
    memcpy(out, magic, sizeof magic);
    out[8] = (unsigned char)n;
    out[9] = (unsigned char)(n >> 8);
    for (size_t i = 0; i < n; i++) {
        out[10 + i] = (unsigned char)dict[i];
    }
    memset(out + 10 + n, 7, payload);
    return 10 + n + payload;
}

Test(npy, accepted_forms) {
    static const char *const dicts[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n",
        "{'shape': (3,), 'fortran_order': False, 'descr': '<f4'}          \n",
        "{'descr':'<f4','fortran_order':False,'shape':(1,3)}\n",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 1,), }\n",
        "{'descr': '<u2', 'fortran_order': False, 'shape': (6,), }\n",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 6), }\n",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof dicts[0]; i++) {
        unsigned char bytes[256];
        assay_npy npy;
        assay_error error = {0};
        cr_assert_eq(assay_npy_parse(bytes, build(bytes, dicts[i], 12), &npy, &error), ASSAY_CODE_OK,
                     "%s: %s", dicts[i], error.text);
        cr_assert_eq(npy.bytes, 12);
        assay_npy_free(&npy);
    }
}

Test(npy, refusals) {
    static const char *const dicts[] = {
        "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }\n",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (03,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387907), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4, 0), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,1,1,1,1,1,1,1,1), }\n",
        "{'descr': '<f4', 'fortran_order': False}\n",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } x\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (3,), }\n",
        "\n",
        "",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof dicts[0]; i++) {
        unsigned char bytes[256];
        assay_npy npy;
        assay_error error = {0};
        cr_assert_eq(assay_npy_parse(bytes, build(bytes, dicts[i], 12), &npy, &error), ASSAY_CODE_USAGE, "%s",
                     dicts[i]);
        cr_assert_null(npy.data);
        cr_assert_neq(error.text[0], '\0');
    }
}

/* Every truncation and every single-byte change of a good file is either refused or read within bounds (ASan
 * watches). */
Test(npy, truncations_and_flips) {
    unsigned char bytes[256];
    const size_t n = build(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 12);
    for (size_t cut = 0; cut < n; cut++) {
        unsigned char *const copy = malloc(cut > 0 ? cut : 1);
        assay_npy npy;
        memcpy(copy, bytes, cut);
        cr_assert_eq(assay_npy_parse(copy, cut, &npy, NULL), ASSAY_CODE_USAGE, "cut at %zu", cut);
        free(copy);
    }
    for (size_t at = 0; at < n; at++) {
        for (unsigned value = 0; value < 256; value++) {
            const unsigned char was = bytes[at];
            assay_npy npy;
            bytes[at] = (unsigned char)value;
            if (assay_npy_parse(bytes, n, &npy, NULL) == ASSAY_CODE_OK) {
                assay_npy_free(&npy);
            }
            bytes[at] = was;
        }
    }
}

/* A failed write leaves the old file as it was and no temporary file behind. */
Test(npy, failed_write_changes_nothing) {
    static const int64_t good[] = {1}, negative[] = {-1}, huge[] = {INT64_C(1) << 40},
                         nine[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const uint8_t byte = 42;
    const char *const path = file_in("c.npy");
    assay_npy npy;
    assay_error error = {0};
    size_t files = 0;
    cr_assert_eq(assay_npy_write(path, ASSAY_DTYPE_U8, good, 1, &byte, NULL), ASSAY_CODE_OK);
    cr_assert_eq(assay_npy_write(path, ASSAY_DTYPE_U8, negative, 1, &byte, &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_npy_write(path, ASSAY_DTYPE_U8, huge, 1, &byte, &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_npy_write(path, ASSAY_DTYPE_U8, nine, 9, &byte, &error), ASSAY_CODE_USAGE);
    cr_assert_eq(assay_npy_write("/nonexistent/x.npy", ASSAY_DTYPE_U8, good, 1, &byte, &error),
                 ASSAY_CODE_USAGE);
    char taken[64];
    (void)snprintf(taken, sizeof taken, "%s/.taken", directory);
    cr_assert_eq(mkdir(taken, 0700), 0);
    cr_assert_eq(assay_npy_write(taken, ASSAY_DTYPE_U8, good, 1, &byte, &error), ASSAY_CODE_USAGE,
                 "a directory cannot be replaced");
    cr_assert_eq(assay_npy_read(path, &npy, &error), ASSAY_CODE_OK);
    cr_assert_eq(*(const uint8_t *)npy.data, 42);
    assay_npy_free(&npy);
    DIR *const dir = opendir(directory);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        files += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    (void)closedir(dir);
    cr_assert_eq(files, 2, "the good file and the directory");
    cr_assert_eq(rmdir(taken), 0);
    clean(path);
    cr_assert_eq(assay_npy_read(path, &npy, &error), ASSAY_CODE_USAGE);
}
