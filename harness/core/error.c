/* error.c - formats the one line of a failure. */
#include "error.h"

#include "text.h"

#include <stdio.h>

assay_code assay_fail(assay_error *error, assay_code code, const char *format, ...) {
    if (error != NULL) {
        va_list args;
        error->code = code;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
        for (char *p = error->text; *p != '\0'; p++) {
            if (*p == '\n' || *p == '\r') {
                *p = ' ';
            }
        }
        assay_text_tidy(error->text); /* it may quote a candidate or a foreign file */
    }
    return code;
}
