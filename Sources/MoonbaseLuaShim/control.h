#ifndef MOONBASE_LUA_CONTROL_H
#define MOONBASE_LUA_CONTROL_H

#include "internal.h"

// How other threads reach a run.

enum { IDLE, RUNNING, SIGNALLING };

struct MBLControl {
  atomic_int references;
  atomic_int phase;
  atomic_ulong serial;
  atomic_int reason;  // an MBLAbort, delivered to the running thread
  atomic_int inHost;
  atomic_int watched;
  atomic_int waiting;  // a SIGINT that no run has ended by yet
  pthread_t thread;
  _Atomic(double) deadline;  // 0: none
  // The watchdog's own.
  MBLControl *next;
  unsigned long seen;
  double spent;
  double looked;
  int idle;
};

// A state below another one waits in its host, but Lua that runs on its behalf is its own time.
static inline bool mbl_control_set_in_host(MBLState *S, bool inHost) {
  bool before = atomic_load_explicit(&S->control->inHost, memory_order_relaxed);
  for (MBLState *P = S; P != NULL; P = P->parent) {
    atomic_store_explicit(&P->control->inHost, inHost, memory_order_relaxed);
  }
  return before;
}

void mbl_control_deliver(MBLControl *control, MBLAbort reason, bool anySerial, unsigned long serial);
void mbl_watch_begin(MBLControl *control);
// Seconds before the deadline of a run.
double mbl_watch_rest(MBLControl *control);

#endif
