/* error.h - how Assay's own functions report failure: a code that is also the process exit code, and one
 * line of text that names the input, the rule and what to do. */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum assay_code {
    ASSAY_CODE_OK = 0,         /* certified, or success */
    ASSAY_CODE_REFUSED = 1,    /* a promise is broken, a regression was found */
    ASSAY_CODE_USAGE = 2,      /* wrong use or bad input */
    ASSAY_CODE_INCOMPLETE = 3, /* something required was not verified; cannot tell */
    ASSAY_CODE_INTERNAL = 4    /* a fault of the harness or of the machine */
} assay_code;

typedef struct assay_error {
    assay_code code;
    char text[512];
} assay_error;

/* Formats a message into *error (which may be NULL) and returns `code`, so that a function can end with
 * `return assay_fail(error, ASSAY_CODE_USAGE, "...", ...)`. Newlines in the result are replaced by spaces,
 * other control characters by '?'. */
assay_code assay_fail(assay_error *error, assay_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
