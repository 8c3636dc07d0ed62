/* report_file.c - see the header. */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static assay_code refuse(const char *path, int why, assay_error *error) {
    const bool machine = why == ENOSPC || why == EIO || why == EDQUOT || why == ENOMEM || why == EFBIG;
    return assay_fail(error, machine ? ASSAY_CODE_INTERNAL : ASSAY_CODE_USAGE, "cannot write %s: %s", path,
                      strerror(why));
}

static bool write_all(int fd, const char *data, size_t bytes) {
    while (bytes > 0) {
        const ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

assay_code report_file_write(const char *path, const void *data, size_t bytes, assay_error *error) {
    const size_t room = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(room);
    if (temporary == NULL) {
        return refuse(path, ENOMEM, error);
    }
    (void)snprintf(temporary, room, "%s.XXXXXX", path);
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        const int why = errno;
        free(temporary);
        return refuse(path, why, error);
    }
    int why = 0;
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (!write_all(fd, data, bytes) || fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0) {
        why = errno;
    }
    if (close(fd) != 0 && why == 0) {
        why = errno;
    }
    if (why == 0 && rename(temporary, path) != 0) {
        why = errno;
    }
    if (why != 0) {
        (void)unlink(temporary);
    }
    free(temporary);
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
    FILE *in = fopen(path, "rbe");
    size_t room = 1 << 16;
    char *data = in == NULL ? NULL : malloc(room + 1);
    size_t used = 0;
    bool ok = data != NULL;
    while (ok) {
        const size_t n = fread(data + used, 1, room - used, in);
        used += n;
        if (n == 0) {
            break;
        }
        if (used == room) {
            room *= 2;
            char *grown = realloc(data, room + 1);
            ok = grown != NULL;
            data = ok ? grown : data;
        }
    }
    ok = ok && ferror(in) == 0;
    if (in != NULL) {
        (void)fclose(in);
    }
    if (!ok) {
        free(data);
        return false;
    }
    data[used] = '\0';
    *text = data;
    *bytes = used;
    return true;
}
