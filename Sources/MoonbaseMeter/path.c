#ifdef __linux__
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "MoonbaseMeter.h"

#ifdef __linux__
// From linux/openat2.h, which older systems lack.
struct moonbase_open_how {
  uint64_t flags, mode, resolve;
};
#define MOONBASE_OPENAT2 437
#define MOONBASE_RESOLVE_NO_SYMLINKS 0x04
#define MOONBASE_FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#else
#define MOONBASE_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#endif

int moonbase_open_step_by_step(const char *path, int flags, int mode) {
  if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, -1;
  int folder = open(*path == '/' ? "/" : ".", MOONBASE_FOLDER);
  while (folder >= 0) {
    while (*path == '/') path++;
    size_t length = strcspn(path, "/");
    char name[NAME_MAX + 1];
    int failure = length > NAME_MAX ? ENAMETOOLONG : length == 2 && !memcmp(path, "..", 2) ? ELOOP : 0;
    if (failure) return close(folder), errno = failure, -1;
    memcpy(name, length ? path : ".", length ? length : 1);
    name[length ? length : 1] = 0;
    path += length;
    bool isLast = path[strspn(path, "/")] == 0;
    int next = isLast ? openat(folder, name, flags | O_NOFOLLOW | (*path ? O_DIRECTORY : 0), mode)
                      : openat(folder, name, MOONBASE_FOLDER);
    failure = errno;
    close(folder);
    // A link opened as a folder fails with ENOTDIR.
    errno = !isLast && failure == ENOTDIR ? ELOOP : failure;
    if (isLast) return next;
    folder = next;
  }
  return -1;
}

int moonbase_open_without_links(const char *path, int flags, int mode) {
#ifdef __linux__
  struct moonbase_open_how how = {
      .flags = (uint64_t)(unsigned)flags, .mode = flags & O_CREAT ? (uint64_t)mode & 07777 : 0,
      .resolve = MOONBASE_RESOLVE_NO_SYMLINKS};
  int result = (int)syscall(MOONBASE_OPENAT2, AT_FDCWD, path, &how, sizeof how);
  // Older systems lack the system call, and containers may forbid it.
  if (result >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL)) return result;
  return moonbase_open_step_by_step(path, flags, mode);
#else
  return open(path, flags | O_NOFOLLOW_ANY, mode);
#endif
}
