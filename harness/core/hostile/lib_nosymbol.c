/* lib_nosymbol.c - a shared library that is no adapter. */
#include "assay/adapter.h"

ASSAY_EXPORT int assay_not_an_adapter(void);

int assay_not_an_adapter(void) {
    return 0;
}
