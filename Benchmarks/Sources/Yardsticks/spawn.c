#define _DEFAULT_SOURCE 1 /* wait4 */
#include "yardsticks.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int64_t spawn(const char *const *arguments, const char *output, int is_quiet, struct rusage *usage) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (is_quiet) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&child, arguments[0], &actions, NULL, (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fprintf(stderr, "yardstick: %s: %s\n", arguments[0], strerror(error));
    return -1;
  }
  if (wait4(child, &status, 0, usage) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int64_t yardstick_spawn(const char *const *arguments) {
  struct rusage usage;
  return spawn(arguments, "/dev/null", 0, &usage);
}

int64_t yardstick_spawn_quietly(const char *const *arguments, const char *output, int64_t *peak) {
  struct rusage usage;
  int64_t status = spawn(arguments, output, 1, &usage);
#ifdef __APPLE__
  *peak = usage.ru_maxrss;
#else
  *peak = (int64_t)usage.ru_maxrss * 1024;
#endif
  return status;
}
