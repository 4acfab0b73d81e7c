#include "MoonbaseHostileFork.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// Swift hides fork, which is safe only in a process with one thread, as here.
int hostile_fork(void (*body)(void *context), void *context, unsigned seconds) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) return -1000;
  if (child == 0) {
    // The parent may have blocked signals, as threads of a pool do. Signals that end a process must reach the child.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(seconds);
    body(context);
    fflush(NULL);
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1001;
  }
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
