/* subject.c - the part of each shared library that differs: its row of the table. LINEAGE_NAME comes from
 * CMake. */
#include "lineage.h"

#define NAME_(name) lineage_##name
#define NAME(name)  NAME_(name)

const lineage *const lineage_current = &NAME(LINEAGE_NAME);

ASSAY_EXPORT const assay_adapter_info *assay_adapter(void);
const assay_adapter_info *assay_adapter(void) {
    return lineage_adapter();
}
