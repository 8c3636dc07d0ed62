/* device.c - finds and opens the device plugin. No device code here. */
#include "device.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const assay_device_plugin *loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Where the plugin may lie, relative to the folder of the executable. The second is for lib/assay/checks. */
static const char *const places[] = {ASSAY_DEVICE_PLUGIN_FILE, "../" ASSAY_DEVICE_PLUGIN_FILE,
                                     "../lib/assay/" ASSAY_DEVICE_PLUGIN_FILE,
                                     "../" ASSAY_LIBDIR "/assay/" ASSAY_DEVICE_PLUGIN_FILE};

static bool find(char path[PATH_MAX]) {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) {
        return false;
    }
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash == NULL) {
        return false;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (snprintf(path, PATH_MAX, "%s%s", self, places[i]) < PATH_MAX && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static const assay_device_plugin *load(const char *path, assay_error *error) {
    union {
        void *object;
        assay_device_plugin_fn function;
    } symbol;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays open: once per process */
    if (library == NULL) {
        const char *why = dlerror();
        (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "CUDA backend %s cannot be loaded: %s", path,
                         why == NULL ? "?" : why);
        return NULL;
    }
    symbol.object = dlsym(library, ASSAY_DEVICE_PLUGIN_SYMBOL);
    const assay_device_plugin *plugin = symbol.object == NULL ? NULL : symbol.function();
    if (plugin == NULL || plugin->version != ASSAY_DEVICE_PLUGIN_VERSION ||
        plugin->struct_bytes != sizeof *plugin) {
        (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "CUDA backend %s is not of this build", path);
        (void)dlclose(library);
        return NULL;
    }
    /* cppcheck-suppress resourceLeak */
    return plugin;
}

const assay_device_plugin *assay_device_plugin_load(assay_error *error) {
    char path[PATH_MAX];
    (void)pthread_mutex_lock(&lock);
    if (loaded == NULL) {
        if (!find(path)) {
            (void)assay_fail(error, ASSAY_CODE_INCOMPLETE, "this build has no CUDA backend (%s is missing)",
                             ASSAY_DEVICE_PLUGIN_FILE);
        } else {
            loaded = load(path, error);
        }
    }
    const assay_device_plugin *plugin = loaded;
    (void)pthread_mutex_unlock(&lock);
    return plugin;
}

int assay_device_ordinal(const char *text) {
    if (strncmp(text, "cuda", 4) != 0) {
        return -1;
    }
    if (text[4] == '\0') {
        return 0;
    }
    char *end = NULL;
    const long n = text[4] == ':' && text[5] >= '0' && text[5] <= '9' ? strtol(text + 5, &end, 10) : -1;
    return n >= 0 && n < 1024 && end != NULL && *end == '\0' ? (int)n : -1;
}
