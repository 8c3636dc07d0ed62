/* protocol_private.h - the state of one parse, shared by protocol.c and protocol_call.c. */
#ifndef ASSAY_PROTOCOL_PRIVATE_H
#define ASSAY_PROTOCOL_PRIVATE_H

#include "protocol.h"

/* Values that need a second look are first parked here. */
typedef struct parked {
    const json_t *attrs, *inputs, *outputs;
    const char *pass, *status, *memory, *stream;
} parked;

typedef struct parse {
    assay_message *m;
    parked parked;
    const char *fault; /* static text */
    char key[48];      /* what the fault is about */
} parse;

/* Notes a fault; returns false. */
bool assay_parse_fault(parse *p, const char *key, const char *text);
/* Reads pass, attrs, inputs and outputs of a call; false with a fault. */
bool assay_parse_call(parse *p);

#endif
