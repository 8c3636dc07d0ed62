/* worker_detect.c - tells a shared library from a program without running either. */
#include "worker_spawn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "x.so" or "x.so.1.2". */
static bool named_library(const char *path) {
    const char *base = strrchr(path, '/');
    const char *so = strstr(base == NULL ? path : base, ".so");
    return so != NULL && (so[3] == '\0' || so[3] == '.');
}

/* ET_DYN is both a library and a position-independent program; only the program asks for an interpreter. */
static bool elf_is_library(int fd) {
    Elf64_Ehdr h;
    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_type != ET_DYN || h.e_phentsize != sizeof(Elf64_Phdr)) {
        return false;
    }
    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        const off_t at = (off_t)(h.e_phoff + (size_t)i * sizeof p);
        if (pread(fd, &p, sizeof p, at) != (ssize_t)sizeof p || p.p_type == PT_INTERP) {
            return false;
        }
    }
    return true;
}

assay_code assay_program_detect(const char *path, assay_program_kind *kind, assay_error *error) {
    struct stat s;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &s) != 0) {
        const int code = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return assay_fail(error, ASSAY_CODE_USAGE, "adapter %s: %s", path, strerror(code));
    }
    const bool regular = S_ISREG(s.st_mode);
    const bool library = regular && (named_library(path) || elf_is_library(fd));
    (void)close(fd);
    if (!regular) {
        return assay_fail(error, ASSAY_CODE_USAGE, "adapter %s: not a file", path);
    }
    *kind = library ? ASSAY_PROGRAM_LIBRARY : ASSAY_PROGRAM_EXTERNAL;
    if (!library && access(path, X_OK) != 0) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "adapter %s: neither a shared library (.so) nor an executable program (chmod +x?)",
                          path);
    }
    return ASSAY_CODE_OK;
}
