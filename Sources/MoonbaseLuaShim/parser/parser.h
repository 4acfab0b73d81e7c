#ifndef MOONBASE_LUA_PARSER_H
#define MOONBASE_LUA_PARSER_H

#include <stddef.h>

// Sources that Lua's parser must not receive, because it would take minutes or crash. Nothing here depends on a state.

// The line for which a source is refused, and the reason; 0 if it is accepted.
int mbl_unfit_source(const char *bytes, size_t length, const char **problem);
// The line of the first chain of fields that is too long, or 0.
int mbl_long_chain(const char *bytes, size_t length);

#endif
