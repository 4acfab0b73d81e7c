#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "MoonbaseMeter.h"
#include "limits/control.h"

// Ending a run from another thread, or by a signal.

MBLControl *mbl_control(MBLState *S) { return S->control; }

MBLControl *mbl_control_new(void) {
  MBLControl *control = calloc(1, sizeof(MBLControl));
  if (control != NULL) atomic_init(&control->references, 1);
  return control;
}

void mbl_control_retain(MBLControl *control) { atomic_fetch_add(&control->references, 1); }

void mbl_control_release(MBLControl *control) {
  if (atomic_fetch_sub(&control->references, 1) == 1) free(control);
}

// The SIGURG handlers that the host has installed before ours. Ours calls the handler that it replaced.
#define MOST_HANDLERS 16
static struct sigaction handlers[MOST_HANDLERS];
static int handlerCount;
static _Atomic(struct sigaction *) previous;
static atomic_flag installing = ATOMIC_FLAG_INIT;

static void call_previous(int number, siginfo_t *information, void *context) {
  // A handler installed after ours may call ours.
  static _Thread_local volatile sig_atomic_t isCalling;
  struct sigaction *action = atomic_load(&previous);
  if (action == NULL || isCalling) return;
  isCalling = 1;
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(number, information, context);
  } else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    action->sa_handler(number);
  }
  isCalling = 0;
}

// Runs on the thread of the state, so that the state does not change meanwhile (lua.c does the same for SIGINT).
static void on_signal(int number, siginfo_t *information, void *context) {
  int saved = errno;
  MBLState *hit = NULL;
  for (MBLState *S = mbl_current; S != NULL; S = S->run.parent) {
    if (atomic_load(&S->control->reason) != MBLAbortNone) hit = S;
  }
  if (hit != NULL) {
    int reason = atomic_load(&hit->control->reason);
    // States whose runs began within its run work on its behalf.
    for (MBLState *S = mbl_current; S != NULL; S = S->run.parent) {
      mbl_end_run(S, reason);
      mbl_arm(S);
      if (S == hit) break;
    }
    moonbase_meter_rest = -1;
  }
  mbl_end_overdue();
  call_previous(number, information, context);
  errno = saved;
}

static struct sigaction *remembered(const struct sigaction *action) {
  for (int i = 0; i < handlerCount; i++) {
    if (handlers[i].sa_sigaction == action->sa_sigaction && handlers[i].sa_flags == action->sa_flags) return &handlers[i];
  }
  if (handlerCount == MOST_HANDLERS) return NULL;
  handlers[handlerCount] = *action;
  return &handlers[handlerCount++];
}

// SIGURG is ignored by default, so a stray signal is harmless. The handler is checked before each signal, because a
// host may install its own at any time. Safe in a signal handler.
static void install_signal(void) {
  struct sigaction action, current;
  if (sigaction(SIGURG, NULL, &current) != 0 || current.sa_sigaction == on_signal) return;
  if (atomic_flag_test_and_set(&installing)) return;  // another thread does it
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  atomic_store(&previous, remembered(&current));
  sigaction(SIGURG, &action, NULL);
  atomic_flag_clear(&installing);
}

void mbl_control_deliver(MBLControl *control, MBLAbort reason, bool anySerial, unsigned long serial) {
  install_signal();
  int expected = RUNNING;
  while (!atomic_compare_exchange_strong(&control->phase, &expected, SIGNALLING)) {
    if (expected == IDLE) return;
    expected = RUNNING;
    sched_yield();
  }
  // The run cannot end while it is being signalled, so its thread is alive.
  if (anySerial || atomic_load(&control->serial) == serial) {
    atomic_store(&control->reason, reason);
    pthread_kill(control->thread, SIGURG);
  }
  atomic_store(&control->phase, RUNNING);
}

void mbl_control_deliver_overdue(MBLControl *control) {
  install_signal();
  int expected = RUNNING;
  if (!atomic_compare_exchange_strong(&control->phase, &expected, SIGNALLING)) return;  // the next check comes soon
  pthread_kill(control->thread, SIGURG);
  atomic_store(&control->phase, RUNNING);
}

void mbl_control_interrupt(MBLControl *control) { mbl_control_deliver(control, MBLAbortInterrupted, true, 0); }

// SIGINT: the first signal interrupts the run and the next ends the process, unless each signal interrupts.
static _Atomic(MBLControl *) sigintControl;
static _Atomic(bool) sigintStays;
static struct sigaction sigintBefore;

static void on_sigint(int number) {
  int saved = errno;
  if (!atomic_load(&sigintStays)) signal(number, SIG_DFL);
  MBLControl *control = atomic_load(&sigintControl);
  if (control != NULL) {
    // There may be no run, or the run may end before its check; the next run is then interrupted.
    atomic_store(&control->waiting, 1);
    mbl_control_interrupt(control);
  }
  errno = saved;
}

void mbl_control_on_each_sigint(MBLControl *control) {
  atomic_store(&sigintStays, true);
  mbl_control_on_sigint(control);
  atomic_store(&sigintStays, control != NULL);
}

void mbl_control_on_sigint(MBLControl *control) {
  if (control == NULL) atomic_store(&sigintStays, false);
  install_signal();
  if (control != NULL) mbl_control_retain(control);
  if (control != NULL) atomic_store(&control->waiting, 0);
  MBLControl *old = atomic_exchange(&sigintControl, control);
  // A shell ignores the signal for background processes, which must stay so.
  if (old == NULL) sigaction(SIGINT, NULL, &sigintBefore);
  bool isIgnored = !(sigintBefore.sa_flags & SA_SIGINFO) && sigintBefore.sa_handler == SIG_IGN;
  if (control == NULL) {
    if (old != NULL) sigaction(SIGINT, &sigintBefore, NULL);
  } else if (!isIgnored) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_sigint;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
  }
  if (old != NULL) mbl_control_release(old);
}

// MARK: Begin and end of a run

// Threads of a pool may block every signal.
static _Thread_local bool unblocked;

static void unblock_signal(void) {
  sigset_t urgent;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
  unblocked = true;
}

void mbl_control_enter(MBLState *S) {
  if (!unblocked) unblock_signal();
  MBLControl *control = S->control;
  control->thread = pthread_self();
  atomic_store_explicit(&control->reason, MBLAbortNone, memory_order_relaxed);
  atomic_store_explicit(&control->paused, 0, memory_order_relaxed);
  atomic_store_explicit(&control->serial, atomic_load_explicit(&control->serial, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store(&control->phase, RUNNING);
  if (atomic_load_explicit(&control->waiting, memory_order_relaxed)) mbl_set_abort(S, MBLAbortInterrupted);
}

void mbl_control_leave(MBLState *S) {
  int expected = RUNNING;
  while (!atomic_compare_exchange_strong(&S->control->phase, &expected, IDLE)) {
    expected = RUNNING;
    sched_yield();
  }
}

// The host receives the interruption as the reason, so no later run has to end for it.
MBLAbort mbl_abort(MBLState *S) {
  if (S->run.abort == MBLAbortInterrupted) atomic_store(&S->control->waiting, 0);
  return (MBLAbort)S->run.abort;
}

void mbl_pause_deadlines(bool isPaused) {
  for (MBLState *S = mbl_current; S != NULL; S = S->run.parent) {
    atomic_store_explicit(&S->control->paused, isPaused, memory_order_relaxed);
  }
}
