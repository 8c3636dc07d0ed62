/* run_files.c - the files that a run judges with and judges: hashed at its start, looked at again at its end.
 *
 * A worker loads its adapter again whenever it is started again, so a file that changes on the way would be
 * judged in parts: then the hash in the evidence says nothing about the answers. */
#include "runner_internal.h"

#include "digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

assay_code assay_run_files_add(assay_runner *r, const char *role, const char *path, assay_error *error) {
    size_t i = r->binary_count;
    uint8_t hash[ASSAY_HASH_BYTES];
    uint64_t bytes = 0;
    char resolved[4096];
    const char *shown = realpath(path, resolved) != NULL ? resolved : path;
    (void)snprintf(r->paths[i], sizeof r->paths[i], "%s", shown);
    if (stat(r->paths[i], &r->identity[i]) != 0) {
        memset(&r->identity[i], 0, sizeof r->identity[i]); /* hashing says why */
    }
    if (assay_sha256_file(r->paths[i], hash, &bytes, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    assay_hex(hash, sizeof hash, r->sha256[i]);
    r->binaries[i] =
        (assay_binary_record){.role = role, .path = r->paths[i], .sha256 = r->sha256[i], .bytes = bytes};
    r->binary_count++;
    return ASSAY_CODE_OK;
}

/* The same file with the same times: also one that was replaced and put back has another time of change. */
static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static bool unchanged(const assay_runner *r, size_t i) {
    struct stat now;
    uint8_t hash[ASSAY_HASH_BYTES];
    char hex[65];
    if (stat(r->paths[i], &now) != 0 || !same_file(&now, &r->identity[i]) ||
        assay_sha256_file(r->paths[i], hash, NULL, NULL) != ASSAY_CODE_OK) {
        return false;
    }
    assay_hex(hash, sizeof hash, hex);
    return strcmp(hex, r->sha256[i]) == 0;
}

const char *assay_run_files_changed(const assay_runner *r) {
    for (size_t i = 0; i < r->binary_count; i++) {
        if (!unchanged(r, i)) {
            return r->binaries[i].role;
        }
    }
    return NULL;
}

assay_code assay_run_files_note(const assay_runner *r, assay_store *store, int64_t run_id,
                                assay_error *error) {
    const char *role = assay_run_files_changed(r);
    return role == NULL ? ASSAY_CODE_OK : assay_store_note(store, run_id, ASSAY_KEY_CHANGED, role, error);
}

assay_code assay_run_files_resumable(const assay_runner *r, assay_store *store, int64_t run_id,
                                     assay_error *error) {
    sqlite3 *db = assay_store_handle(store);
    for (size_t i = 0; i < r->binary_count; i++) {
        sqlite3_stmt *s = NULL;
        bool same = false;
        if (sqlite3_prepare_v2(
                db,
                "SELECT count(*) = ?4 AND total(role = ?2 AND sha256 = ?3) = 1 FROM binary WHERE run_id = ?1",
                -1, &s, NULL) == SQLITE_OK) {
            (void)sqlite3_bind_int64(s, 1, run_id);
            (void)sqlite3_bind_text(s, 2, r->binaries[i].role, -1, SQLITE_STATIC);
            (void)sqlite3_bind_text(s, 3, r->sha256[i], -1, SQLITE_STATIC);
            (void)sqlite3_bind_int64(s, 4, (sqlite3_int64)r->binary_count);
            same = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1;
        }
        (void)sqlite3_finalize(s);
        if (!same) {
            return assay_fail(
                error, ASSAY_CODE_USAGE,
                "--resume %lld: that run was started with another %s binary or another baseline",
                (long long)run_id, r->binaries[i].role);
        }
    }
    return ASSAY_CODE_OK;
}
