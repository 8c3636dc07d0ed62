/* fuzz_database.c - any bytes as an evidence database: opened for reading, then verified. Never crashes,
 * hangs or writes. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *context, const char *line) {
    (void)context;
    (void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[] = "/tmp/assay-fuzz-XXXXXX";
    assay_error error = {0};
    assay_store *store = NULL;
    assay_verify_report report;
    int fd = mkstemp(path);
    if (fd < 0) {
        return 0;
    }
    bool written = write(fd, data, size) == (ssize_t)size;
    (void)close(fd);
    if (written && assay_store_open(path, ASSAY_STORE_READ, &store, &error) == ASSAY_CODE_OK) {
        assay_store_close(store);
        (void)assay_verify_database(path, ignore, NULL, &report, &error);
    } else if (written && error.text[0] == '\0') {
        __builtin_trap();
    }
    static const char *const sides[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) { /* a WAL header makes SQLite leave files */
        char name[sizeof path + 16];
        (void)snprintf(name, sizeof name, "%s%s", path, sides[i]);
        (void)unlink(name);
    }
    return 0;
}
