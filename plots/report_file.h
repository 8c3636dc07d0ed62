/* report_file.h - files written whole or not at all. */
#ifndef ASSAY_REPORT_FILE_H
#define ASSAY_REPORT_FILE_H

#include "error.h"

#include <stddef.h>

/* Writes a temporary file beside `path`, syncs it, renames it. On failure nothing is left behind and an older
 * file at `path` stays. Errors: USAGE when the place cannot be written (permissions, no such directory),
 * INTERNAL when the disk is full or faulty; the text names the path and the reason. */
assay_code report_file_write(const char *path, const void *data, size_t bytes, assay_error *error);

/* Creates a directory and its missing parents (mode 0777 less umask). Errors: USAGE. */
assay_code report_directory_make(const char *path, assay_error *error);

/* Reads a whole file; *text is malloc'ed and NUL-terminated. False when it cannot be read. */
bool report_file_read(const char *path, char **text, size_t *bytes);

#endif
