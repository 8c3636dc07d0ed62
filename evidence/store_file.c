/* store_file.c - evidence databases as files: judged before SQLite may interpret them, and created whole or
 * not at all. */
#include "file.h"
#include "store_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES   100
#define APPLICATION_ID 1095979865u /* as in schema.sql */
#define USER_VERSION   1u

static uint32_t big_u32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

bool assay_file_side_exists(const char *path, const char *suffix) {
    char name[PATH_MAX];
    struct stat st;
    const int n = snprintf(name, sizeof name, "%s%s", path, suffix);
    return n > 0 && (size_t)n < sizeof name && stat(name, &st) == 0 && st.st_size > 0;
}

/* Judges the first bytes without SQLite, so that each kind of wrong file gets a line of its own. */
static assay_code check_header(const char *path, const uint8_t *header, size_t n, uint64_t file_bytes,
                               assay_error *error) {
    if (file_bytes == 0) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "'%s' is an empty file, not an evidence database; remove it or use another --db",
                          path);
    }
    if (n < 16 || memcmp(header, "SQLite format 3", 16) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "'%s' is not an SQLite database; use another --db", path);
    }
    if (n < HEADER_BYTES) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "'%s' is truncated: %llu bytes are less than a database header", path,
                          (unsigned long long)file_bytes);
    }
    if (big_u32(header + 68) != APPLICATION_ID) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "'%s' is a database of another program (application id 0x%08x); use another --db",
                          path, big_u32(header + 68));
    }
    const uint32_t version = big_u32(header + 60);
    if (version != USER_VERSION) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "'%s' has evidence schema %u, this Assay knows %u; use %s Assay", path, version,
                          USER_VERSION, version > USER_VERSION ? "a newer" : "an older");
    }
    const uint32_t stored = (uint32_t)header[16] << 8 | header[17];
    const uint64_t page = stored == 1 ? 65536 : stored;
    const uint64_t claimed = page * big_u32(header + 28);
    const bool counted = big_u32(header + 24) == big_u32(header + 92);
    if (counted && file_bytes < claimed && !assay_file_side_exists(path, "-wal")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "'%s' is truncated: %llu bytes of %llu", path,
                          (unsigned long long)file_bytes, (unsigned long long)claimed);
    }
    return ASSAY_CODE_OK;
}

char *assay_file_uri(const char *real, const char *query) {
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file://");
    for (const unsigned char *p = (const unsigned char *)real; *p != '\0'; p++) {
        const bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                           strchr("/._-", *p) != NULL;
        sqlite3_str_appendf(uri, plain ? "%c" : "%%%02x", *p);
    }
    sqlite3_str_appendall(uri, query);
    return sqlite3_str_finish(uri);
}

/* First bytes and size through SQLite's own file layer: a descriptor of ours on a file that this process has
 * open elsewhere would, when closed, drop the locks of that connection (POSIX). */
static int read_start(const char *real, uint8_t header[HEADER_BYTES], uint64_t *file_bytes, size_t *got) {
    sqlite3 *db = NULL;
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    char *uri = assay_file_uri(real, "");
    int rc =
        uri == NULL
            ? SQLITE_NOMEM
            : sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_free(uri);
    if (rc == SQLITE_OK) {
        rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    }
    if (rc == SQLITE_OK) {
        rc =
            file == NULL || file->pMethods == NULL ? SQLITE_CANTOPEN : file->pMethods->xFileSize(file, &size);
    }
    if (rc == SQLITE_OK) {
        *file_bytes = (uint64_t)size;
        *got = size < HEADER_BYTES ? (size_t)size : HEADER_BYTES;
        rc = *got == 0 ? SQLITE_OK : file->pMethods->xRead(file, header, (int)*got, 0);
    }
    (void)sqlite3_close(db);
    return rc;
}

assay_code assay_file_inspect(const char *path, bool *exists, assay_error *error) {
    struct stat st;
    char real[PATH_MAX];
    uint8_t header[HEADER_BYTES];
    uint64_t file_bytes = 0;
    size_t got = 0;
    *exists = stat(path, &st) == 0;
    if (!*exists) {
        return errno == ENOENT
                   ? ASSAY_CODE_OK
                   : assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "'%s' is a directory, not an evidence database", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return assay_fail(error, ASSAY_CODE_USAGE, "'%s' is not a regular file", path);
    }
    if (realpath(path, real) == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s': %s", path, strerror(errno));
    }
    if (access(real, R_OK) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be read: %s", path,
                          strerror(errno));
    }
    const int rc = read_start(real, header, &file_bytes, &got);
    return rc == SQLITE_OK ? check_header(path, header, got, file_bytes, error)
                           : assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be read: %s",
                                        path, sqlite3_errstr(rc));
}

assay_code assay_file_create(const char *path, assay_error *error) {
    unsigned char *image = NULL;
    size_t bytes = 0;
    const assay_code code = assay_schema_image(&image, &bytes, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    const int why = assay_file_write(path, ASSAY_FILE_KEEP, &(assay_file_part){image, bytes}, 1);
    sqlite3_free(image);
    return why == 0 ? ASSAY_CODE_OK
                    : assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be created: %s",
                                 path, strerror(why));
}
