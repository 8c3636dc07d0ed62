/* report_assets_find.c - looks an embedded file up by name. */
#include "report_assets.h"

#include <string.h>

const char *report_asset_text(const char *name) {
    for (size_t i = 0; i < report_asset_count; i++) {
        if (strcmp(report_assets[i].name, name) == 0) {
            return report_assets[i].text;
        }
    }
    return "";
}
