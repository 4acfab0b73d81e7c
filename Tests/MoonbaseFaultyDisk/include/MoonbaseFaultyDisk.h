#ifndef MOONBASE_FAULTY_DISK_H
#define MOONBASE_FAULTY_DISK_H

#include <stdint.h>

// What SQLite asks of a disk.
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

// Told each step before it is taken: the file, where in it, and for a write the bytes; for a truncation the new size, for a deletion whether
// the folder is synced. What it returns is SQLite's code: with one of an error the step fails, a write half-way.
typedef int (*FaultyDiskBody)(
    void *_Nonnull context, FaultyDiskStep step, const char *_Nonnull path, int64_t offset, const void *_Nullable bytes, int count);

// From now on each file that SQLite opens in a folder, in this process and by its common way, goes through `body`, as long as the process lives.
// Without `hasLogs` no file there can have a write-ahead log, as on a disk that processes cannot share. Gives 0, or SQLite's error.
int faulty_disk_install(const char *_Nonnull folder, int hasLogs, FaultyDiskBody _Nonnull body, void *_Nonnull context);

#endif
