#ifndef MOONBASE_LUA_FILES_H
#define MOONBASE_LUA_FILES_H

#include <stddef.h>

// The Lua files of lua/moonbase and lua/types, compiled in: nothing has to be found at run time.

typedef struct MBLFile {
  const char *_Nonnull name;  // such as "moonbase/json.lua"
  const unsigned char *_Nonnull bytes;
  size_t length;
} MBLFile;

size_t mbl_file_count(void);
const MBLFile *_Nonnull mbl_file_at(size_t index);
// NULL if there is none of that name.
const MBLFile *_Nullable mbl_file_named(const char *_Nonnull name);

#endif
