/* cmd_doctor.c - `assay doctor`: what this machine can and cannot verify, and why. */
#include "cli.h"

#include "compare.h"
#include "device.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static const cli_option options[] = {{"json", NULL, "print as JSON", 0, false}, {0}};

typedef struct finding {
    const char *name;
    char state[16]; /* yes, no, limited */
    char why[200];
} finding;

static bool on_path(const char *program) {
    const char *path = getenv("PATH");
    char *copy = strdup(path != NULL ? path : "");
    bool found = false;
    char *save = NULL;
    for (char *p = strtok_r(copy, ":", &save); p != NULL && !found; p = strtok_r(NULL, ":", &save)) {
        char full[4096];
        (void)snprintf(full, sizeof full, "%s/%s", p, program);
        found = access(full, X_OK) == 0;
    }
    free(copy);
    return found;
}

static void set(finding *f, const char *name, const char *state, const char *why) {
    f->name = name;
    (void)snprintf(f->state, sizeof f->state, "%s", state);
    (void)snprintf(f->why, sizeof f->why, "%s", why);
}

static void look_at_gpu(finding *f) {
    static const char name[] = "certify on CUDA";
    assay_error error = {0};
    assay_device *device = NULL;
    int count = 0;
    char text[200];
    const assay_device_plugin *plugin = assay_device_plugin_load(&error);
    if (plugin == NULL || plugin->open(0, &device, &count, &error) != ASSAY_CODE_OK) {
        (void)snprintf(text, sizeof text, "%.190s", error.text);
        set(f, name, "no", text);
        return;
    }
    const assay_device_info *info = plugin->info(device);
    (void)snprintf(text, sizeof text, "%s, sm_%d, driver for CUDA %d.%d, %.0f GiB free; devices: %d",
                   info->name, info->sm, info->driver_version / 1000, info->driver_version % 1000 / 10,
                   (double)plugin->free_bytes(device) / 1073741824.0, count);
    set(f, name, "yes", text);
    plugin->close(device);
}

static size_t look(finding *f) {
    size_t n = 0;
    char text[200];
    (void)snprintf(text, sizeof text, "judge vectorised with %s, %d processors", assay_simd_name(),
                   get_nprocs());
    set(&f[n++], "certify on the CPU", "yes", text);
    look_at_gpu(&f[n++]);
    bool gnuplot = on_path("gnuplot");
    set(&f[n++], "figures", gnuplot ? "yes" : "no",
        gnuplot ? "gnuplot is on PATH" : "gnuplot is not on PATH: reports come without figures");
    bool git = on_path("git");
    set(&f[n++], "clean-tree provenance", git ? "yes" : "no",
        git ? "git is on PATH" : "git is not on PATH: certify needs --allow-dirty");
    bool python = on_path("python3");
    set(&f[n++], "Python adapters", python ? "yes" : "no",
        python ? "python3 is on PATH" : "python3 is not on PATH");
    struct sysinfo memory = {0};
    (void)sysinfo(&memory);
    double gib = (double)memory.freeram * memory.mem_unit / 1073741824.0 +
                 (double)memory.bufferram * memory.mem_unit / 1073741824.0;
    (void)snprintf(text, sizeof text, "%.1f GiB of memory free; outputs past 2^31 elements need about 9 GiB",
                   gib);
    set(&f[n++], "outputs past 2^31", gib >= 9.0 ? "yes" : "no", text);
    struct statvfs disk = {0};
    double room =
        statvfs(".", &disk) == 0 ? (double)disk.f_bavail * (double)disk.f_frsize / 1073741824.0 : 0.0;
    (void)snprintf(text, sizeof text,
                   "%.1f GiB of disk free here; a full proof with histogram needs about 0.1 GiB", room);
    set(&f[n++], "evidence in this folder", room >= 0.1 && access(".", W_OK) == 0 ? "yes" : "no", text);
    double load[1] = {0.0};
    bool busy = getloadavg(load, 1) == 1 && load[0] > 0.5 * (double)get_nprocs();
    (void)snprintf(text, sizeof text, "load average %.2f on %d processors", load[0], get_nprocs());
    set(&f[n++], "quiet timing", busy ? "limited" : "yes", text);
    return n;
}

static assay_code run(const cli_args *args, assay_error *error) {
    finding findings[16];
    size_t n = look(findings);
    (void)error;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const finding *f = &findings[i];
        if (cli_flag(args, "json")) {
            (void)json_array_append_new(
                list, json_pack("{s:s, s:s, s:s}", "what", f->name, "state", f->state, "why", f->why));
        } else {
            (void)printf("%-8s %-24s %s\n", f->state, f->name, f->why);
        }
    }
    if (cli_flag(args, "json")) {
        (void)json_dumpf(list, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
    }
    json_decref(list);
    return ASSAY_CODE_OK;
}

const cli_command cli_doctor = {.name = "doctor",
                                .operands = "",
                                .summary = "say what this machine can and cannot verify, and why",
                                .options = options,
                                .run = run};
