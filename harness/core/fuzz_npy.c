/* fuzz_npy.c - any bytes as a .npy file. */
#include "npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    assay_npy npy;
    assay_error error = {0};
    if (assay_npy_parse(data, size, &npy, &error) == ASSAY_CODE_OK) {
        volatile uint8_t sum = 0;
        for (size_t i = 0; i < npy.bytes; i++) {
            sum = (uint8_t)(sum + ((const uint8_t *)npy.data)[i]);
        }
        assay_npy_free(&npy);
    } else if (error.text[0] == '\0') {
        __builtin_trap();
    }
    return 0;
}
