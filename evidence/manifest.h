/* manifest.h - what was built together with this program. A bundle (CMake option ASSAY_BUNDLE) carries the
 * SHA-256 of each of its implementations inside the program, so that they are known to come from its own tree
 * wherever the folder is moved, without a repository at hand. */
#ifndef ASSAY_MANIFEST_H
#define ASSAY_MANIFEST_H

#include <stdbool.h>

/* Lines "<64 hex digits>  <name>\n"; empty where no bundle was built. */
extern const char assay_manifest[];

/* True when the file at `path` is one of them, by content. */
bool assay_manifest_has(const char *path);

#endif
