/* subject.c - the whole of each subject's own library: which fault it has. MUTANT_NAME comes from CMake. */
#include "assay/adapter.h"
#include "mutant_cuda.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

const assay_adapter_info *mutant_cuda_adapter(int fault);
ASSAY_EXPORT const assay_adapter_info *assay_adapter(void);

const assay_adapter_info *assay_adapter(void) {
    return mutant_cuda_adapter(JOIN(C_, MUTANT_NAME));
}
