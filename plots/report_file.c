/* report_file.c - see the header. */
#include "report_file.h"

#include "file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static assay_code refuse(const char *path, int why, assay_error *error) {
    const bool machine = why == ENOSPC || why == EIO || why == EDQUOT || why == ENOMEM || why == EFBIG;
    return assay_fail(error, machine ? ASSAY_CODE_INTERNAL : ASSAY_CODE_USAGE, "cannot write %s: %s", path,
                      strerror(why));
}

assay_code report_file_write(const char *path, const void *data, size_t bytes, assay_error *error) {
    const int why = assay_file_write(path, ASSAY_FILE_REPLACE, &(assay_file_part){data, bytes}, 1);
    return why == 0 ? ASSAY_CODE_OK : refuse(path, why, error);
}

assay_code report_directory_make(const char *path, assay_error *error) {
    char *copy = strdup(path);
    if (copy == NULL || path[0] == '\0') {
        free(copy);
        return assay_fail(error, ASSAY_CODE_USAGE, "the report directory needs a name");
    }
    int why = 0;
    for (char *p = copy + 1; why == 0; p++) {
        const char kept = *p;
        if (kept != '/' && kept != '\0') {
            continue;
        }
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            why = errno;
        }
        *p = kept;
        if (kept == '\0') {
            break;
        }
    }
    struct stat info;
    if (why == 0 && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        why = ENOTDIR;
    }
    free(copy);
    return why == 0 ? ASSAY_CODE_OK
                    : assay_fail(error, ASSAY_CODE_USAGE, "cannot create the report directory %s: %s", path,
                                 strerror(why));
}

bool report_file_read(const char *path, char **text, size_t *bytes) {
    *text = assay_file_read(path, SIZE_MAX, bytes);
    return *text != NULL;
}
