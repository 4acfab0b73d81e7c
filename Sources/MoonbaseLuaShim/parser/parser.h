#ifndef MOONBASE_LUA_PARSER_H
#define MOONBASE_LUA_PARSER_H

#include <stddef.h>

// What Lua's parser is kept from: sources that it would take minutes for, or end the process by. Nothing here knows a state.

// The line for which a source is refused, and why; 0 if it is not.
int mbl_unfit_source(const char *bytes, size_t length, const char **problem);
// The line of the first chain of fields that is too long, or 0.
int mbl_long_chain(const char *bytes, size_t length);

#endif
