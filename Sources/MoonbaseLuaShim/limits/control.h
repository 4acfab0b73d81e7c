#ifndef MOONBASE_LUA_CONTROL_H
#define MOONBASE_LUA_CONTROL_H

#include <pthread.h>
#include <stdatomic.h>

#include "limits/limits.h"

// How other threads reach a run.

enum { IDLE, RUNNING, SIGNALLING };

struct MBLControl {
  atomic_int references;
  atomic_int phase;
  atomic_ulong serial;
  atomic_int reason;  // an MBLAbort, delivered to the running thread
  atomic_int paused;  // the host waits for the user
  atomic_int watched;
  atomic_int waiting;  // a SIGINT that no run has ended by yet
  pthread_t thread;
  _Atomic(double) deadline;  // 0: none
  _Atomic(double) allowance;  // when the innermost allowance is out of time; 0: none is under way
  // Used by the watchdog alone.
  MBLControl *next;
  unsigned long seen;
  double spent;
  double looked;
  int idle;
};

// Has the running thread look whether its innermost allowance is out of time.
void mbl_control_deliver_overdue(MBLControl *control);
void mbl_control_deliver(MBLControl *control, MBLAbort reason, bool anySerial, unsigned long serial);
// The seconds that are left of a run before its deadline.
double mbl_watch_rest(MBLControl *control);

#endif
