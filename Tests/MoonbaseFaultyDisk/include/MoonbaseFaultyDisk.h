#ifndef MOONBASE_FAULTY_DISK_H
#define MOONBASE_FAULTY_DISK_H

#include <stdint.h>

// The file operations of SQLite.
typedef enum __attribute__((enum_extensibility(closed))) {
  FaultyDiskStepOpen,
  FaultyDiskStepRead,
  FaultyDiskStepWrite,
  FaultyDiskStepSync,
  FaultyDiskStepTruncate,
  FaultyDiskStepDelete,
  FaultyDiskStepLock,
  FaultyDiskStepLockLog,
  FaultyDiskStepMapLog,
} FaultyDiskStep;

// Receives each step before it is executed: the file, the position, and for a write the bytes; for a truncation the new
// size, for a deletion whether the folder is synced. Returns a result code of SQLite: with an error code the step
// fails, a write after half of its bytes.
typedef int (*FaultyDiskBody)(
    void *_Nonnull context, FaultyDiskStep step, const char *_Nonnull path, int64_t offset, const void *_Nullable bytes, int count);

// Passes the steps of each file that SQLite opens in a folder to `body`, in this process with the default VFS, until
// the process ends. Without `hasLogs` no file there can have a write-ahead log, as on a disk that processes cannot
// share. Returns 0, or SQLite's error.
int faulty_disk_install(const char *_Nonnull folder, int hasLogs, FaultyDiskBody _Nonnull body, void *_Nonnull context);

#endif
