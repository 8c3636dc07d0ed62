/* fuzz_protocol.c - any bytes as one line of the protocol. */
#include "protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    assay_message message;
    assay_error error = {0};
    if (assay_protocol_parse((const char *)data, size, &message, &error) == ASSAY_CODE_OK) {
        assay_message_free(&message);
    } else if (error.text[0] == '\0') {
        __builtin_trap(); /* a refusal must say why */
    }
    return 0;
}
