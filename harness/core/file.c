/* file.c - see the header. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        const ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        bytes += put;
        n -= (size_t)put;
    }
    return true;
}

static bool write_parts(int fd, const assay_file_part *parts, size_t count) {
    const mode_t mask = umask(0);
    (void)umask(mask);
    for (size_t i = 0; i < count; i++) {
        if (!write_all(fd, parts[i].bytes, parts[i].n)) {
            return false;
        }
    }
    return fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0;
}

/* Gives the finished file its name; afterwards `temporary` may be gone. */
static bool publish(const char *temporary, const char *path, assay_file_mode mode) {
    if (mode == ASSAY_FILE_REPLACE) {
        return rename(temporary, path) == 0;
    }
    return link(temporary, path) == 0 || (errno == EEXIST && access(path, F_OK) == 0) ||
           ((errno == EPERM || errno == ENOTSUP) && rename(temporary, path) == 0); /* no links there */
}

/* Makes the name durable; a file system that cannot sync a folder is not an error. `path` is cut short. */
static void sync_folder(char *path) {
    char *const slash = strrchr(path, '/');
    if (slash != NULL) {
        slash[slash == path] = '\0';
    }
    const int fd = open(slash == NULL ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

int assay_file_write(const char *path, assay_file_mode mode, const assay_file_part *parts, size_t count) {
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        return ENOMEM;
    }
    int why = 0;
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        why = errno;
        free(temporary);
        return why;
    }
    if (!write_parts(fd, parts, count)) {
        why = errno;
    }
    if (close(fd) != 0 && why == 0) {
        why = errno;
    }
    if (why == 0 && !publish(temporary, path, mode)) {
        why = errno;
    }
    (void)unlink(temporary); /* after a rename there is nothing to remove */
    if (why == 0) {
        sync_folder(temporary);
    }
    free(temporary);
    return why;
}

char *assay_file_read(const char *path, size_t limit, size_t *n) {
    FILE *const in = fopen(path, "rbe");
    size_t room = 4096, used = 0;
    int why = in == NULL ? errno : 0;
    char *data = in == NULL ? NULL : malloc(room + 1);
    while (data != NULL) {
        used += fread(data + used, 1, room - used, in);
        if (ferror(in) != 0 || used > limit) {
            why = used > limit ? EFBIG : errno;
            free(data);
            data = NULL;
        } else if (used < room) {
            break;
        } else {
            room *= 2;
            char *const larger = realloc(data, room + 1);
            if (larger == NULL) {
                free(data);
            }
            data = larger;
        }
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    if (data == NULL) {
        errno = why != 0 ? why : ENOMEM;
        return NULL;
    }
    data[used] = '\0';
    *n = used;
    return data;
}
