/* fuzz_audit.c - any bytes as a file with device code. */
#include "audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    assay_audit *audit = NULL;
    assay_error error = {0};
    if (assay_audit_bytes(data, size, &audit, &error) == ASSAY_CODE_OK) {
        if ((audit->verdict == ASSAY_AUDIT_NONE) != (audit->code_count == 0) &&
            audit->verdict != ASSAY_AUDIT_UNKNOWN) {
            __builtin_trap();
        }
        assay_audit_free(audit);
    } else if (error.text[0] == '\0') {
        __builtin_trap();
    }
    return 0;
}
