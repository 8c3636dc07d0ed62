/* file.h - files written whole or not at all, and read whole. */
#ifndef ASSAY_FILE_H
#define ASSAY_FILE_H

#include <stddef.h>

typedef struct assay_file_part {
    const void *bytes;
    size_t n;
} assay_file_part;

typedef enum assay_file_mode {
    ASSAY_FILE_REPLACE, /* the new file takes the place of an older one */
    ASSAY_FILE_KEEP     /* an older file stays, also one that another process writes meanwhile */
} assay_file_mode;

/* Writes the parts, one after the other, to a temporary file beside `path` (mode 0666 less umask), syncs it,
 * gives it its name and syncs the folder. Returns 0 or an errno; on failure nothing is left behind and an
 * older file at `path` stays. */
int assay_file_write(const char *path, assay_file_mode mode, const assay_file_part *parts, size_t count);

/* Reads a file of at most `limit` bytes; the result is malloc'ed and has a NUL after its *n bytes. NULL with
 * errno set on failure, EFBIG when the file is longer. */
char *assay_file_read(const char *path, size_t limit, size_t *n);

#endif
