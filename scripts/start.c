// Runs `.build/command/release/moonbase` if no source is newer than its build, and otherwise scripts/moonbase, which
// builds the command. scripts/moonbase compiles and runs this program, whose two threads check a thousand files in a
// millisecond.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

static struct timespec built;

// A folder's time changes with its list of files, a file's time with its contents.
static int is_newer(const struct stat *status) {
  const struct timespec time = status->st_mtim;
  return time.tv_sec != built.tv_sec ? time.tv_sec > built.tv_sec : time.tv_nsec > built.tv_nsec;
}

// Whether a file or folder in a folder is newer, or cannot be read.
static int has_newer(int parent, const char *name) {
  int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = file < 0 ? NULL : fdopendir(file);
  if (folder == NULL) return 1;
  struct dirent *entry;
  int found = 0;
  while (!found && (entry = readdir(folder)) != NULL) {
    const char *inside = entry->d_name;
    struct stat status;
    if (!strcmp(inside, ".") || !strcmp(inside, "..")) continue;
    found = fstatat(file, inside, &status, AT_SYMLINK_NOFOLLOW) != 0 || is_newer(&status)
            || (S_ISDIR(status.st_mode) && has_newer(file, inside));
  }
  closedir(folder);
  return found;
}

// The folders that the threads check, each folder by one thread.
static struct { int parent; char *name; } tasks[512];
static int task_count;
static atomic_int next_task, is_stale;

static void *look(void *unused) {
  int task;
  while (!is_stale && (task = atomic_fetch_add(&next_task, 1)) < task_count) {
    if (has_newer(tasks[task].parent, tasks[task].name)) is_stale = 1;
  }
  return unused;
}

// Checks the files of a folder, and leaves its subfolders to the threads.
static void divide(int parent, const char *name, const char *except) {
  int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = file < 0 ? NULL : fdopendir(file);
  if (folder == NULL) { is_stale = 1; return; }
  struct dirent *entry;
  while (!is_stale && (entry = readdir(folder)) != NULL) {
    const char *inside = entry->d_name;
    struct stat status;
    if (!strcmp(inside, ".") || !strcmp(inside, "..") || !strcmp(inside, except)) continue;
    if (fstatat(file, inside, &status, AT_SYMLINK_NOFOLLOW) != 0 || is_newer(&status)) is_stale = 1;
    if (!S_ISDIR(status.st_mode)) continue;
    if (task_count == 512) { is_stale = 1; return; }
    tasks[task_count].parent = file;
    tasks[task_count++].name = strdup(inside);
  }
}

static void check(const char *root, const char *stamp) {
  struct stat status;
  int folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  is_stale = folder < 0 || stat(stamp, &status) != 0;
  if (is_stale) return;
  built = status.st_mtim;
  static const char *const names[] = {"Package.swift", "Sources", "lua", "page", "docs/errors.md"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (fstatat(folder, names[i], &status, 0) != 0 || is_newer(&status)) is_stale = 1;
    if (S_ISDIR(status.st_mode)) divide(folder, names[i], strcmp(names[i], "lua") ? "" : "examples");
  }
  pthread_t other;
  int has_other = !is_stale && pthread_create(&other, NULL, look, NULL) == 0;
  look(NULL);
  if (has_other) pthread_join(other, NULL);
}

// start ROOT BINARY STAMP [ARGUMENT...]
int main(int count, char **arguments) {
  if (count < 4) return 69;
  char *root = arguments[1], *binary = arguments[2];
  check(root, arguments[3]);
  if (!is_stale) {
    arguments[3] = binary;
    execv(binary, arguments + 3);
  }
  char *script = malloc(strlen(root) + sizeof "/scripts/moonbase");
  if (script == NULL) return 69;
  strcat(strcpy(script, root), "/scripts/moonbase");
  setenv("MOONBASE_IS_STALE", "1", 1);
  arguments[3] = script;
  execv(script, arguments + 3);
  perror("scripts/moonbase");
  return 69;
}
