/* report_assets.h - gnuplot templates, style sheet and script, embedded at build time (evidence/embed.cmake).
 */
#ifndef ASSAY_REPORT_ASSETS_H
#define ASSAY_REPORT_ASSETS_H

#include <stddef.h>

typedef struct report_asset {
    const char *name; /* file name in plots/ */
    const char *text; /* NUL-terminated */
} report_asset;

extern const report_asset report_assets[];
extern const size_t report_asset_count;

/* The text of an asset. The name must exist: an unknown one yields "". */
const char *report_asset_text(const char *name);

#endif
