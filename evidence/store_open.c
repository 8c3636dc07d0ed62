/* store_open.c - opens, creates and closes evidence databases. A file is distrusted until its header, its
 * marks and every object of its schema have been compared with ours. */
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES   100
#define APPLICATION_ID 1095979865u /* as in schema.sql */
#define USER_VERSION   1u
#define BUSY_MS        10000

assay_code assay_sqlite_fail(sqlite3 *db, const char *path, assay_code code, const char *what,
                             assay_error *error) {
    static const struct {
        int rc;
        const char *text;
    } known[] = {
        {SQLITE_FULL, "no space left on its disk; the evidence recorded so far is intact"},
        {SQLITE_IOERR,
         "the disk reports an input/output error; finished checks are intact as far as the disk kept them"},
        {SQLITE_BUSY, "another program is writing to it; wait for it or use another --db"},
        {SQLITE_LOCKED, "another program is writing to it; wait for it or use another --db"},
        {SQLITE_READONLY, "it is not writable"},
        {SQLITE_CORRUPT, "it is damaged; restore a copy or use another --db"},
        {SQLITE_NOTADB, "it is not an SQLite database; use another --db"},
        {SQLITE_CANTOPEN, "it cannot be opened"},
        {SQLITE_NOMEM, "out of memory"},
    };
    const int rc = db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(db);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((rc & 0xff) == known[i].rc) {
            return assay_fail(error, code, "evidence database '%s': %s (while %s)", path, known[i].text,
                              what);
        }
    }
    return assay_fail(error, code, "evidence database '%s': %s (while %s)", path,
                      db == NULL ? "out of memory" : sqlite3_errmsg(db), what);
}

bool assay_sqlite_is_damage(int rc) {
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB || (rc & 0xff) == SQLITE_FORMAT;
}

static uint32_t big_u32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool side_file_has_content(const char *path, const char *suffix) {
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
    if (counted && file_bytes < claimed && !side_file_has_content(path, "-wal")) {
        return assay_fail(error, ASSAY_CODE_USAGE, "'%s' is truncated: %llu bytes of %llu", path,
                          (unsigned long long)file_bytes, (unsigned long long)claimed);
    }
    return ASSAY_CODE_OK;
}

/* Reads and judges the header of an existing path; *exists is false (and OK returned) when there is nothing.
 */
static assay_code inspect(const char *path, bool *exists, assay_error *error) {
    struct stat st;
    uint8_t header[HEADER_BYTES];
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
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be read: %s", path,
                          strerror(errno));
    }
    const ssize_t n = read(fd, header, sizeof header);
    (void)close(fd);
    if (n < 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be read: %s", path,
                          strerror(errno));
    }
    return check_header(path, header, (size_t)n, (uint64_t)st.st_size, error);
}

static bool write_all(int fd, const unsigned char *bytes, size_t n) {
    while (n > 0) {
        const ssize_t w = write(fd, bytes, n);
        if (w < 0 && errno == EINTR) {
            continue;
        }
        if (w <= 0) {
            return false;
        }
        bytes += w;
        n -= (size_t)w;
    }
    return true;
}

static void sync_directory(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t n = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (n >= sizeof folder) {
        return;
    }
    memcpy(folder, n == 0 ? "." : path, n == 0 ? 1 : n);
    folder[n == 0 ? 1 : n] = '\0';
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

/* Creates the file whole: written beside its place, synced, linked to its name. When another process wins,
 * its file stays. */
static assay_code create_file(const char *path, assay_error *error) {
    unsigned char *image = NULL;
    size_t bytes = 0;
    char name[PATH_MAX];
    const int n = snprintf(name, sizeof name, "%s.new-XXXXXX", path);
    if (n < 0 || (size_t)n >= sizeof name) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%.200s...': the path is too long",
                          path);
    }
    const assay_code code = assay_schema_image(&image, &bytes, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    const int fd = mkostemp(name, O_CLOEXEC);
    bool ok = fd >= 0;
    if (ok) {
        const mode_t mask = umask(0);
        (void)umask(mask);
        ok = write_all(fd, image, bytes) && fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0;
        ok = ok && (link(name, path) == 0 || errno == EEXIST ||
                    ((errno == EPERM || errno == ENOTSUP) && rename(name, path) == 0));
        const int saved = errno;
        (void)close(fd);
        (void)unlink(name); /* after rename there is nothing to remove */
        errno = saved;
    }
    const int saved = errno;
    sqlite3_free(image);
    if (!ok) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' cannot be created: %s", path,
                          strerror(saved));
    }
    sync_directory(path);
    return ASSAY_CODE_OK;
}

/* "file:" + percent-encoded absolute path + query; NULL when memory is short. sqlite3_free. */
static char *uri_of(const char *real, const char *query) {
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

/* Flags before the first statement: nothing that the file contains may run or be changed by tricks. */
static int harden(sqlite3 *db) {
    static const struct {
        int option, value;
    } options[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_FKEY, 1},   {SQLITE_DBCONFIG_DQS_DML, 0},
                   {SQLITE_DBCONFIG_DQS_DDL, 0},       {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},   {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}};
    (void)sqlite3_extended_result_codes(db, 1);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const int rc = sqlite3_db_config(db, options[i].option, options[i].value, NULL);
        if (rc != SQLITE_OK) {
            return rc;
        }
    }
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;", NULL, NULL, NULL);
}

/* Opens with `query` and reads one row of the schema, which is when SQLite looks at the file. Returns
 * SQLite's code. */
static int open_and_touch(const char *real, int flags, const char *query, sqlite3 **db) {
    char *uri = uri_of(real, query);
    int rc = uri == NULL ? SQLITE_NOMEM
                         : sqlite3_open_v2(uri, db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_free(uri);
    if (rc == SQLITE_OK) {
        (void)sqlite3_busy_timeout(*db, BUSY_MS);
        rc = harden(*db);
    }
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(*db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    }
    return rc;
}

assay_code assay_store_open_raw(const char *path, assay_store_mode mode, sqlite3 **db, assay_error *error) {
    char real[PATH_MAX];
    bool exists = false;
    *db = NULL;
    const assay_code judged = inspect(path, &exists, error);
    if (judged != ASSAY_CODE_OK) {
        return judged;
    }
    if (!exists) {
        return assay_fail(error, ASSAY_CODE_USAGE, "there is no evidence database '%s'; give --db FILE",
                          path);
    }
    if (realpath(path, real) == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s': %s", path, strerror(errno));
    }
    if (mode == ASSAY_STORE_WRITE && access(real, W_OK) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE, "evidence database '%s' is not writable: %s", path,
                          strerror(errno));
    }
    const int write_flags = SQLITE_OPEN_READWRITE;
    int rc = open_and_touch(real, mode == ASSAY_STORE_WRITE ? write_flags : SQLITE_OPEN_READONLY, "", db);
    if (mode == ASSAY_STORE_READ && rc == SQLITE_READONLY_ROLLBACK) {
        /* A writer died while closing: its journal must be rolled back, as any opening for writing does. */
        (void)sqlite3_close(*db);
        (void)open_and_touch(real, write_flags, "", db);
        (void)sqlite3_close(*db);
        rc = open_and_touch(real, SQLITE_OPEN_READONLY, "", db);
    } else if (mode == ASSAY_STORE_READ && (rc & 0xff) == SQLITE_CANTOPEN &&
               !side_file_has_content(real, "-wal")) {
        /* A WAL file on read-only media: nobody can write to it, so it may be read as it is. */
        (void)sqlite3_close(*db);
        rc = open_and_touch(real, SQLITE_OPEN_READONLY, "?immutable=1", db);
    }
    if (rc != SQLITE_OK) {
        const assay_code code = assay_sqlite_fail(*db, path, ASSAY_CODE_USAGE, "opening it", error);
        (void)sqlite3_close(*db);
        *db = NULL;
        return code;
    }
    return ASSAY_CODE_OK;
}

typedef struct first_line {
    char text[256];
    unsigned count;
} first_line;

static void keep_first(void *context, const char *line) {
    first_line *first = context;
    if (first->count++ == 0) {
        (void)snprintf(first->text, sizeof first->text, "%s", line);
    }
}

static assay_code check_schema(sqlite3 *db, const char *path, assay_error *error) {
    sqlite3 *reference = assay_schema_reference(error);
    if (reference == NULL) {
        return ASSAY_CODE_INTERNAL;
    }
    first_line first = {.count = 0};
    const int rc = assay_schema_compare(db, reference, keep_first, &first);
    (void)sqlite3_close(reference);
    if (rc != SQLITE_OK) {
        return assay_sqlite_fail(db, path, ASSAY_CODE_USAGE, "reading its schema", error);
    }
    return first.count == 0
               ? ASSAY_CODE_OK
               : assay_fail(error, ASSAY_CODE_USAGE, "'%s' is not an evidence database of this version: %s",
                            path, first.text);
}

/* Only after the schema was found to be ours may its triggers and views take effect. */
static assay_code prepare_use(assay_store *store, assay_error *error) {
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_VIEW, 1, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    int rc = assay_row_hash_register(store->db);
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(
            store->db,
            store->mode == ASSAY_STORE_WRITE
                ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON;"
                : "PRAGMA query_only=ON;",
            NULL, NULL, NULL);
    }
    return rc == SQLITE_OK
               ? ASSAY_CODE_OK
               : assay_sqlite_fail(store->db, store->path, ASSAY_CODE_USAGE, "preparing it", error);
}

assay_code assay_store_open(const char *path, assay_store_mode mode, assay_store **store,
                            assay_error *error) {
    bool exists = false;
    *store = NULL;
    if (path == NULL || path[0] == '\0') {
        return assay_fail(error, ASSAY_CODE_USAGE, "the evidence database has an empty name; give --db FILE");
    }
    assay_code code = inspect(path, &exists, error);
    if (code == ASSAY_CODE_OK && !exists) {
        code = mode == ASSAY_STORE_WRITE
                   ? create_file(path, error)
                   : assay_fail(error, ASSAY_CODE_USAGE, "there is no evidence database '%s'; give --db FILE",
                                path);
    }
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    assay_store *made = calloc(1, sizeof *made);
    if (made == NULL || (made->path = strdup(path)) == NULL) {
        free(made);
        return assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory while opening '%s'", path);
    }
    made->mode = mode;
    code = assay_store_open_raw(path, mode, &made->db, error);
    if (code == ASSAY_CODE_OK) {
        code = check_schema(made->db, path, error);
    }
    if (code == ASSAY_CODE_OK) {
        code = prepare_use(made, error);
    }
    if (code != ASSAY_CODE_OK) {
        assay_store_close(made);
        return code;
    }
    *store = made;
    return ASSAY_CODE_OK;
}

void assay_store_close(assay_store *store) {
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; i < ASSAY_TABLE_COUNT; i++) {
        (void)sqlite3_finalize(store->insert[i]);
    }
    if (store->db != NULL && store->mode == ASSAY_STORE_WRITE) {
        /* A database at rest is one file in rollback mode: it can be copied and read from read-only media.
         * When another program has it open this does not happen, and nothing is lost. */
        (void)sqlite3_busy_timeout(store->db, 0);
        (void)sqlite3_exec(store->db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    (void)sqlite3_close(store->db);
    free(store->path);
    free(store);
}

sqlite3 *assay_store_handle(assay_store *store) {
    return store->db;
}
