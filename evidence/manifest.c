/* manifest.c - looks a file up in the manifest. The empty one here gives way to the generated one of a
 * bundle. */
#include "manifest.h"

#include "digest.h"

#include <string.h>

__attribute__((weak)) const char assay_manifest[] = "";

bool assay_manifest_has(const char *path) {
    uint8_t hash[ASSAY_HASH_BYTES];
    char hex[2 * ASSAY_HASH_BYTES + 1];
    uint64_t bytes = 0;
    /* Through a pointer that the compiler cannot see through: the strong definition may be another object's.
     */
    const char *volatile lines = assay_manifest;
    const char *list = lines;
    if (list[0] == '\0' || assay_sha256_file(path, hash, &bytes, NULL) != ASSAY_CODE_OK) {
        return false;
    }
    assay_hex(hash, sizeof hash, hex);
    return strstr(list, hex) != NULL;
}
