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

static const char cmake_text[] = "cmake_minimum_required(VERSION 3.16)\n"
                                 "project(@NAME@ C)\n"
                                 "set(CMAKE_C_STANDARD 17)\n"
                                 "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
                                 "add_library(@NAME@ MODULE adapter.c)\n"
                                 "set_target_properties(@NAME@ PROPERTIES PREFIX \"\")\n"
                                 "target_include_directories(@NAME@ PRIVATE include)\n"
                                 "target_compile_options(@NAME@ PRIVATE -O2 -ffp-contract=off)\n"
                                 "target_link_libraries(@NAME@ PRIVATE m)\n";

static const char readme_text[] =
    "# @NAME@\n\nAn adapter for Assay. Replace the arithmetic in `adapter.c` by your kernel.\n\n"
    "```\ncmake -B build && cmake --build build\n"
    "assay certify --op timestep_sinusoid_h3 --impl build/@NAME@.so --report report --allow-dirty\n```\n\n"
    "Commit your sources and leave out `--allow-dirty` for a verdict that can be `certified`.\n";

/* `content` with every @NAME@ replaced, written to directory/file; existing files are never overwritten. */
static assay_code write_text(const char *directory, const char *file, const char *content, const char *name,
                             assay_error *error) {
    char *path = NULL;
    assay_code code = ASSAY_CODE_OK;
    if (asprintf(&path, "%s/%s", directory, file) < 0) {
        abort();
    }
    FILE *out = fopen(path, "wxe");
    if (out == NULL) {
        code = assay_fail(error, ASSAY_CODE_USAGE, "new: %s: %s", path, strerror(errno));
        free(path);
        return code;
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
    free(path);
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

static assay_code make_directory(const char *path, bool must_be_new, assay_error *error) {
    if (mkdir(path, 0777) == 0 || (!must_be_new && errno == EEXIST)) {
        return ASSAY_CODE_OK;
    }
    return assay_fail(error, ASSAY_CODE_USAGE, "new: %s: %s", path, strerror(errno));
}

static assay_code run(const cli_args *args, assay_error *error) {
    const char *name = args->positional[0];
    const char *directory = cli_get(args, "directory", name);
    char *include = NULL;
    char *nested = NULL;
    if (!good_name(name)) {
        return assay_fail(error, ASSAY_CODE_USAGE,
                          "new: '%s' must be a C identifier of at most 48 characters", name);
    }
    if (asprintf(&include, "%s/include", directory) < 0 ||
        asprintf(&nested, "%s/include/assay", directory) < 0) {
        abort();
    }
    assay_code code = make_directory(directory, true, error);
    if (code == ASSAY_CODE_OK && (code = make_directory(include, false, error)) == ASSAY_CODE_OK) {
        code = make_directory(nested, false, error);
    }
    const struct {
        const char *directory, *file, *content;
    } files[] = {{directory, "adapter.c", assay_template_source},
                 {directory, "CMakeLists.txt", cmake_text},
                 {directory, "README.md", readme_text},
                 {directory, ".gitignore", "/build/\n/report/\n*.db\n*.db-wal\n*.db-shm\n"},
                 {nested, "adapter.h", assay_adapter_header}};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && code == ASSAY_CODE_OK; i++) {
        code = write_text(files[i].directory, files[i].file, files[i].content, name, error);
    }
    if (code == ASSAY_CODE_OK) {
        (void)printf(
            "%s/ is a working adapter. Next:\n  cd %s && cmake -B build && cmake --build build\n"
            "  assay certify --op timestep_sinusoid_h3 --impl build/%s.so --report report --allow-dirty\n",
            directory, directory, name);
    }
    free(include);
    free(nested);
    return code;
}

const cli_command cli_new = {.name = "new",
                             .operands = "NAME",
                             .min_operands = 1,
                             .max_operands = 1,
                             .summary = "write a working adapter project for your own kernel",
                             .options = options,
                             .run = run};
