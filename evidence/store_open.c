/* store_open.c - opens and closes evidence databases. A file is distrusted until its header, its
 * marks and every object of its schema have been compared with ours. */
#include "store_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 10000

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
    char *uri = assay_file_uri(real, query);
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
    const assay_code judged = assay_file_inspect(path, &exists, error);
    if (judged != ASSAY_CODE_OK) {
        return judged;
    }
    if (!exists) {
        return assay_fail(error, ASSAY_CODE_USAGE, "there is no evidence database '%s'", path);
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
    } else if (mode == ASSAY_STORE_READ &&
               ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) &&
               !assay_file_side_exists(real, "-wal")) {
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
    assay_code code = assay_file_inspect(path, &exists, error);
    if (code == ASSAY_CODE_OK && !exists) {
        code = mode == ASSAY_STORE_WRITE
                   ? assay_file_create(path, error)
                   : assay_fail(error, ASSAY_CODE_USAGE, "there is no evidence database '%s'", path);
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
