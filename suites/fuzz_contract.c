/* fuzz_contract.c - any bytes as a contract: refused with a message or parsed completely, never more. Seeds:
 * operators/<name>/contract.json. */
#include "contract.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    assay_contract *contract = NULL;
    assay_error error = {0};
    assay_code code = assay_contract_parse((const char *)data, size, &contract, &error);
    if ((code == ASSAY_CODE_OK) != (contract != NULL) || (code != ASSAY_CODE_OK && error.text[0] == '\0')) {
        abort();
    }
    assay_contract_free(contract);
    return 0;
}
