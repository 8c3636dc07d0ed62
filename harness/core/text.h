/* text.h - texts of others on one line of a terminal, a report or a database: no control characters, no
 * reordering of what is shown, whole UTF-8 sequences. */
#ifndef ASSAY_TEXT_H
#define ASSAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True when every character can be shown as it stands: valid UTF-8 without C0 and C1 controls, line and
 * paragraph separators, and the marks that change the direction of writing. */
bool assay_text_printable(const char *text);

/* Makes the text printable in place: every byte that is not part of a printable character becomes '?'. A
 * sequence that was cut at the end of the text is dropped. */
void assay_text_tidy(char *text);

/* The text as one word of a shell's command line, in quotes where it needs them. The caller frees; memory
 * exhaustion ends the process. */
char *assay_text_shell(const char *text);

#endif
