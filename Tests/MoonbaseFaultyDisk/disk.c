#include "MoonbaseFaultyDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// A folder with observed files. A disk is never freed, since a file in the folder may be open until the process ends.
typedef struct Disk {
  char *folder;
  int hasLogs;
  FaultyDiskBody body;
  void *context;
  struct Disk *next;
} Disk;

// SQLite's file object, followed in memory by the file object of the original VFS.
typedef struct {
  sqlite3_file base;
  Disk *disk;
  const char *path;
} File;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Disk *disks;
static sqlite3_vfs *original;
static sqlite3_vfs faulty;

static sqlite3_file *beneath(sqlite3_file *file) { return (sqlite3_file *)((File *)file + 1); }

static Disk *disk_of(const char *path) {
  if (!path) return NULL;
  pthread_mutex_lock(&lock);
  Disk *disk = disks;
  while (disk && strncmp(path, disk->folder, strlen(disk->folder)) != 0) disk = disk->next;
  pthread_mutex_unlock(&lock);
  return disk;
}

static int ask(sqlite3_file *file, FaultyDiskStep step, int64_t offset, const void *bytes, int count) {
  File *own = (File *)file;
  return own->disk->body(own->disk->context, step, own->path, offset, bytes, count);
}

// MARK: Files

static int file_close(sqlite3_file *file) { return beneath(file)->pMethods->xClose(beneath(file)); }

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  int code = ask(file, FaultyDiskStepRead, offset, NULL, count);
  return code ? code : beneath(file)->pMethods->xRead(beneath(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  int code = ask(file, FaultyDiskStepWrite, offset, bytes, count);
  int rest = code ? count / 2 : count;
  int result = rest > 0 ? beneath(file)->pMethods->xWrite(beneath(file), bytes, rest, offset) : SQLITE_OK;
  return code ? code : result;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  int code = ask(file, FaultyDiskStepTruncate, size, NULL, 0);
  return code ? code : beneath(file)->pMethods->xTruncate(beneath(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
  int code = ask(file, FaultyDiskStepSync, 0, NULL, 0);
  return code ? code : beneath(file)->pMethods->xSync(beneath(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return beneath(file)->pMethods->xFileSize(beneath(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
  int code = ask(file, FaultyDiskStepLock, level, NULL, 0);
  return code ? code : beneath(file)->pMethods->xLock(beneath(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  return beneath(file)->pMethods->xUnlock(beneath(file), level);
}

static int file_check_reserved(sqlite3_file *file, int *result) {
  return beneath(file)->pMethods->xCheckReservedLock(beneath(file), result);
}

static int file_control(sqlite3_file *file, int number, void *argument) {
  return beneath(file)->pMethods->xFileControl(beneath(file), number, argument);
}

static int file_sector(sqlite3_file *file) { return beneath(file)->pMethods->xSectorSize(beneath(file)); }

static int file_traits(sqlite3_file *file) { return beneath(file)->pMethods->xDeviceCharacteristics(beneath(file)); }

static int file_map_log(sqlite3_file *file, int page, int size, int extends, void volatile **memory) {
  int code = ask(file, FaultyDiskStepMapLog, page, NULL, 0);
  return code ? code : beneath(file)->pMethods->xShmMap(beneath(file), page, size, extends, memory);
}

static int file_lock_log(sqlite3_file *file, int offset, int count, int flags) {
  int code = flags & SQLITE_SHM_LOCK ? ask(file, FaultyDiskStepLockLog, offset, NULL, count) : SQLITE_OK;
  return code ? code : beneath(file)->pMethods->xShmLock(beneath(file), offset, count, flags);
}

static void file_barrier(sqlite3_file *file) { beneath(file)->pMethods->xShmBarrier(beneath(file)); }

static int file_unmap_log(sqlite3_file *file, int deletes) {
  return beneath(file)->pMethods->xShmUnmap(beneath(file), deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_map_log,
    .xShmLock = file_lock_log,
    .xShmBarrier = file_barrier,
    .xShmUnmap = file_unmap_log,
};

// Version 1 of these methods has no shared memory, and so no write-ahead log.
static sqlite3_io_methods methodsWithoutLog;

// MARK: The way to files

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *outFlags) {
  (void)vfs;
  Disk *disk = disk_of(path);
  if (!disk) return original->xOpen(original, path, file, flags, outFlags);
  File *own = (File *)file;
  own->base.pMethods = NULL;
  own->disk = disk;
  own->path = path;
  int code = ask(file, FaultyDiskStepOpen, 0, NULL, 0);
  if (code == SQLITE_OK) code = original->xOpen(original, path, beneath(file), flags, outFlags);
  if (code == SQLITE_OK) own->base.pMethods = disk->hasLogs ? &methods : &methodsWithoutLog;
  return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int syncsFolder) {
  (void)vfs;
  Disk *disk = disk_of(path);
  int code = disk ? disk->body(disk->context, FaultyDiskStepDelete, path, syncsFolder, NULL, 0) : SQLITE_OK;
  return code ? code : original->xDelete(original, path, syncsFolder);
}

static int install(void) {
  if (original) return SQLITE_OK;
  sqlite3_initialize();
  sqlite3_vfs *found = sqlite3_vfs_find("unix");
  if (!found) return SQLITE_NOTFOUND;
  methodsWithoutLog = methods;
  methodsWithoutLog.iVersion = 1;
  faulty = *found;
  faulty.pNext = NULL;
  faulty.zName = "moonbase-faulty";
  faulty.szOsFile += sizeof(File);
  faulty.xOpen = disk_open;
  faulty.xDelete = disk_delete;
  original = found;
  return sqlite3_vfs_register(&faulty, 1);
}

int faulty_disk_install(const char *folder, int hasLogs, FaultyDiskBody body, void *context) {
  char *real = realpath(folder, NULL);
  Disk *disk = malloc(sizeof(Disk));
  if (!real || !disk) return SQLITE_NOMEM;
  pthread_mutex_lock(&lock);
  int code = install();
  *disk = (Disk){real, hasLogs, body, context, disks};
  disks = disk;
  pthread_mutex_unlock(&lock);
  return code;
}
