#ifndef MOONBASE_LUA_CONTROL_H
#define MOONBASE_LUA_CONTROL_H

#include <pthread.h>
#include <stdatomic.h>

#include "limits/limits.h"

// Access to a run from other threads.

enum { IDLE, RUNNING, SIGNALLING };

struct MBLControl {
  atomic_int references;
  atomic_int phase;
  atomic_ulong serial;
  atomic_int reason;  // an MBLAbort, delivered to the running thread
  atomic_int paused;  // the host waits for the user
  atomic_int watched;
  atomic_int waiting;  // a SIGINT that has not ended a run yet
  pthread_t thread;
  _Atomic(double) deadline;  // 0: none
  _Atomic(double) allowance;  // the time at which the innermost allowance ends; 0: none is active
  // Private to the watchdog.
  MBLControl *next;
  unsigned long seen;
  double spent;
  double looked;
  int idle;
};

// Makes the running thread check whether its innermost allowance is out of time.
void mbl_control_deliver_overdue(MBLControl *control);
void mbl_control_deliver(MBLControl *control, MBLAbort reason, bool anySerial, unsigned long serial);
// The seconds that remain before a run's deadline.
double mbl_watch_rest(MBLControl *control);

#endif
