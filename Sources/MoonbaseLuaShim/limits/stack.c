#define _GNU_SOURCE
#include <pthread.h>

#include "limits/limits.h"

// The remaining C stack of the thread. Lua limits the C calls of a single state; calls that nest across states are
// limited here.

// The lowest address at which the host may still call Lua from within Lua.
static _Thread_local char *floorOfStack;

#if defined(__APPLE__)
static bool stack_of_thread(char **lowest, size_t *size) {
  *size = pthread_get_stacksize_np(pthread_self());
  *lowest = (char *)pthread_get_stackaddr_np(pthread_self()) - *size;
  return true;
}
#else
static bool stack_of_thread(char **lowest, size_t *size) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  bool known = pthread_attr_getstack(&attributes, (void **)lowest, size) == 0;
  pthread_attr_destroy(&attributes);
  return known;
}
#endif

bool mbl_stack_is_low(void) {
  if (floorOfStack == NULL) {
    char *lowest = NULL;
    size_t size = 0;
    // A third of the stack is for states that call each other. The rest is left to recursion within a state, which Lua
    // 5.4.4 does not always limit properly.
    floorOfStack = stack_of_thread(&lowest, &size) ? lowest + size / 3 * 2 : (char *)1;
  }
  return (char *)__builtin_frame_address(0) < floorOfStack;
}
