/* cmd_new.c - `assay new NAME`: writes a working adapter project. */
#include "cli.h"

#include "assay_adapter_header.h"
#include "assay_template_source.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {
    {"directory", "DIR", "where to put the project (default ./NAME)", 0, false}, {0}};

/* The header comes with the project, so that it builds without an installed Assay too. */
static const char cmake_text[] = "cmake_minimum_required(VERSION 3.16)\n"
                                 "project(@NAME@ C)\n"
                                 "set(CMAKE_C_STANDARD 17)\n"
                                 "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
                                 "find_package(assay QUIET)\n"
                                 "if(assay_FOUND)\n"
                                 "  assay_add_adapter(@NAME@ adapter.c)\n"
                                 "else()\n"
                                 "  add_library(@NAME@ MODULE adapter.c)\n"
                                 "  set_target_properties(@NAME@ PROPERTIES PREFIX \"\")\n"
                                 "  target_include_directories(@NAME@ PRIVATE include)\n"
                                 "  target_compile_options(@NAME@ PRIVATE -ffp-contract=off)\n"
                                 "  target_link_libraries(@NAME@ PRIVATE m)\n"
                                 "endif()\n";

static const char readme_text[] =
    "# @NAME@\n\nAn adapter for Assay. Replace the arithmetic in `adapter.c` by your kernel.\n\n"
    "```\ncmake -B build && cmake --build build\n"
    "assay certify --op timestep_sinusoid_h3 --impl build/@NAME@.so --baseline libm --report report "
    "--allow-dirty\n```\n\n"
    "Commit your sources and leave out `--allow-dirty` for a verdict that can be `certified`.\n";

/* `content` with every @NAME@ replaced, written to `path`; an existing file is never overwritten. */
static assay_code write_text(const char *path, const char *content, const char *name, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    FILE *out = fopen(path, "wxe");
    if (out == NULL) {
        return assay_fail(error, ASSAY_CODE_USAGE, "new: %s: %s", path, strerror(errno));
    }
    for (const char *p = content; *p != '\0';) {
        const char *mark = strstr(p, "@NAME@");
        size_t n = mark != NULL ? (size_t)(mark - p) : strlen(p);
        (void)fwrite(p, 1, n, out);
        if (mark != NULL) {
            (void)fputs(name, out);
            n += strlen("@NAME@");
        }
        p += n;
    }
    bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "new: %s: %s", path, strerror(errno));
        (void)unlink(path);
    }
    return code;
}

static bool good_name(const char *name) {
    for (const char *p = name; *p != '\0'; p++) {
        if (!isalnum((unsigned char)*p) && *p != '_') {
            return false;
        }
    }
    return name[0] != '\0' && !isdigit((unsigned char)name[0]) && strlen(name) <= 48;
}

/* What the project consists of; directories end in '/', in order of creation. Removed again, last first, when
 * one of them cannot be made. */
static const struct {
    const char *path, *content;
} files[] = {{"", NULL},
             {"include/", NULL},
             {"include/assay/", NULL},
             {"adapter.c", assay_template_source},
             {"CMakeLists.txt", cmake_text},
             {"README.md", readme_text},
             {".gitignore", "/build/\n/report/\n*.db\n*.db-wal\n*.db-shm\n"},
             {"include/assay/adapter.h", assay_adapter_header}};

static char *path_of(const char *directory, size_t i) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, files[i].path) < 0) {
        abort();
    }
    return path;
}

static assay_code write_project(const char *directory, const char *name, assay_error *error) {
    assay_code code = ASSAY_CODE_OK;
    size_t made = 0;
    for (; made < sizeof files / sizeof files[0] && code == ASSAY_CODE_OK; made++) {
        char *path = path_of(directory, made);
        if (files[made].content != NULL) {
            code = write_text(path, files[made].content, name, error);
        } else if (mkdir(path, 0777) != 0) {
            code = assay_fail(error, ASSAY_CODE_USAGE, "new: %s: %s", directory, strerror(errno));
        }
        free(path);
    }
    for (size_t i = code == ASSAY_CODE_OK ? 0 : made - 1; i > 0; i--) {
        char *path = path_of(directory, i - 1);
        (void)(files[i - 1].content != NULL ? unlink(path) : rmdir(path));
        free(path);
    }
    return code;
}

static assay_code run(const cli_args *args, assay_error *error) {
    const char *name = args->positional[0];
    const char *directory = cli_get(args, "directory", name);
    if (!good_name(name)) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "new: '%s' must be a C identifier of at most 48 characters", name);
    }
    assay_code code = write_project(directory, name, error);
    if (code == ASSAY_CODE_OK) {
        (void)printf(
            "%s/ is a working adapter. Next:\n  cd %s && cmake -B build && cmake --build build\n"
            "  assay certify --op timestep_sinusoid_h3 --impl build/%s.so --baseline libm --report report "
            "--allow-dirty\n",
            directory, directory, name);
    }
    return code;
}

const cli_command cli_new = {.name = "new",
                             .operands = "NAME",
                             .min_operands = 1,
                             .max_operands = 1,
                             .summary = "write a working adapter project for your own kernel",
                             .options = options,
                             .run = run};
