/* subject.c - the tiny part of each shared library that differs: which fault it has. MUTANT_NAME comes from
 * CMake. */
#include "mutant.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

const mutant_id mutant_current = JOIN(M_, MUTANT_NAME);

#ifndef MUTANT_SYMBOL
#define MUTANT_SYMBOL assay_adapter
#endif

ASSAY_EXPORT const assay_adapter_info *MUTANT_SYMBOL(void);
const assay_adapter_info *MUTANT_SYMBOL(void) {
    return mutant_adapter();
}
