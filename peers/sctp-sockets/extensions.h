/* The extensions of SCTP, as options before an association is set up and commands while it lives. README.md lists both. */
#ifndef EXTENSIONS_H
#define EXTENSIONS_H

#include "stack.h"

#include <stdbool.h>

/* Takes an option; false if it is none of these. */
bool extensions_option(const char *word, const char *value);
/* Sets the endpoint to what the options say, and has it tell of what extensions do. */
void extensions_set(stack_socket endpoint);
/* Sets an association that has begun to what the options say, before anything is sent. */
void extensions_begun(stack_socket endpoint, sctp_assoc_t association);
/* Says what a notification of an extension tells; one of something else says nothing. */
void extensions_notified(const void *bytes);
/* Does what a line on the standard input asks for: a word and its values. False if it is none of these. */
bool extensions_command(stack_socket endpoint, sctp_assoc_t association, const char *line);
/* How message `number` is sent: with which flags, and after what it is given up. */
struct sending extensions_sending(uint64_t number);
/* Whether message `number` may be given up. */
bool extensions_is_partial(uint64_t number);

#endif
