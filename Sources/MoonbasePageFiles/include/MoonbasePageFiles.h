#ifndef MOONBASE_PAGE_FILES_H
#define MOONBASE_PAGE_FILES_H

#include <stddef.h>

// The files of the folder page, compiled in. `moonbase inspect` serves them.

typedef struct MBPFile {
  const char *_Nonnull name;  // such as "index.html"
  const unsigned char *_Nonnull bytes;
  size_t length;
} MBPFile;

size_t mbp_file_count(void);
const MBPFile *_Nonnull mbp_file_at(size_t index);

// docs/errors.md, of which `moonbase explain` prints parts.
const MBPFile *_Nonnull mbp_errors(void);

#endif
