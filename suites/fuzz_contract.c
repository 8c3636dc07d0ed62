/* fuzz_contract.c - any bytes as a contract. */
#include "contract.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    assay_contract *contract = NULL;
    assay_error error = {0};
    if (assay_contract_parse((const char *)data, size, &contract, &error) == ASSAY_CODE_OK) {
        assay_contract_free(contract);
    } else if (error.text[0] == '\0') {
        __builtin_trap();
    }
    return 0;
}
