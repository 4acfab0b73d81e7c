#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

// The thread's record of running states, innermost first: calls nest across states.
static _Thread_local MBLState *current;

// MARK: The hook

// Lua's count hook at every MBL_GRANULE instructions, or, once a run is to end, at every instruction and call.
static void hook(lua_State *L, lua_Debug *event) {
  MBLState *S = mbl_of(L);
  if (S->crowded && !S->abort) {
    uint64_t limit = S->limits.softMemory + S->baseline;
    lua_gc(L, LUA_GCCOLLECT);
    S->crowded = 0;
    // A deep stack that the collector shrinks and the next call grows again would collect for ever.
    S->strain = S->allocations - S->rescued < 1000 ? S->strain + 1 : 0;
    S->rescued = S->allocations;
    if (S->limits.instructions > 0) S->budget -= (int64_t)(S->used / 256);
    if (S->used > limit - limit / 20 || S->strain > 50) {
      S->abort = MBLAbortMemory;
    } else {
      mbl_install_hook(S, L);
      return;
    }
  }
  if (S->abort) {
    mbl_arm(S);
    mbl_raise_abort(L);
  }
  if (event->event == LUA_HOOKCOUNT && S->limits.instructions > 0 && lua_gethookcount(L) == MBL_GRANULE) {
    S->budget -= MBL_GRANULE;
    if (S->budget <= 0) {
      S->abort = MBLAbortInstructions;
      mbl_arm(S);
      mbl_raise_abort(L);
    }
  } else if (lua_gethookcount(L) != MBL_GRANULE) {
    mbl_install_hook(S, L);  // left armed by an earlier run
  }
}

void mbl_install_hook(MBLState *S, lua_State *L) {
  if (S->limits.instructions > 0) {
    lua_sethook(L, hook, LUA_MASKCOUNT, MBL_GRANULE);
  } else {
    lua_sethook(L, NULL, 0, 0);
  }
}

// Safe in a signal handler on the state's own thread: it only sets fields.
void mbl_arm(MBLState *S) {
  S->armed = 1;
  lua_sethook(S->running, hook, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET, 1);
}

int mbl_raise_abort(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&mbl_key_abort);
  return lua_error(L);
}

void mbl_charge(lua_State *L, int64_t instructions) {
  MBLState *S = mbl_of(L);
  if (S->limits.instructions > 0) {
    S->budget -= instructions;
    if (S->budget <= 0 && !S->abort) S->abort = MBLAbortInstructions;
  }
  if (S->abort) {
    mbl_arm(S);
    mbl_raise_abort(L);
  }
}

// MARK: Memory

static void memory_passed(MBLState *S, bool hard) {
  if (S->main == NULL || S->depth == 0) return;
  if (hard) {
    if (!S->abort) S->abort = MBLAbortMemory;
  } else {
    S->crowded = 1;
  }
  mbl_arm(S);
}

void *mbl_allocate(void *context, void *block, size_t old, size_t size) {
  MBLState *S = context;
  size_t before = block != NULL ? old : 0;
  if (size == 0) {
    free(block);
    S->used -= before;
    return NULL;
  }
  if (size > before) {
    uint64_t after = S->used - before + size;
    S->allocations++;
    if (S->failAfter > 0) {
      S->failAfter--;
    } else if (S->failAfter == 0) {
      if (--S->failTimes <= 0) S->failAfter = -1;
      return NULL;
    }
    if (S->limits.hardMemory > 0 && after > S->limits.hardMemory + S->baseline) {
      memory_passed(S, true);
      return NULL;
    }
    if (S->limits.softMemory > 0 && after > S->limits.softMemory + S->baseline && !S->crowded && !S->abort) {
      memory_passed(S, false);
    }
  }
  void *moved = realloc(block, size);
  if (moved != NULL) {
    S->used += size - before;
    if (S->used > S->peak) S->peak = S->used;
  }
  return moved;
}

uint64_t mbl_memory_used(MBLState *S) { return S->used; }
uint64_t mbl_memory_peak(MBLState *S) { return S->peak; }
void mbl_fail_allocation(MBLState *S, int64_t after, int64_t times) {
  S->failAfter = after;
  S->failTimes = times;
}
uint64_t mbl_allocations(MBLState *S) { return S->allocations; }

// MARK: Runs

void mbl_set_limits(MBLState *S, const MBLLimits *limits) {
  S->limits = *limits;
  if (S->depth == 0) mbl_install_hook(S, S->main);
}

MBLAbort mbl_abort(MBLState *S) { return (MBLAbort)S->abort; }

void mbl_set_abort(MBLState *S, MBLAbort reason) {
  if (!S->abort) S->abort = reason;
  mbl_arm(S);
}

int64_t mbl_remaining(MBLState *S) { return S->limits.instructions > 0 ? S->budget : INT64_MAX; }
void mbl_set_remaining(MBLState *S, int64_t instructions) { S->budget = instructions; }

void mbl_charge_budget(MBLState *S, int64_t instructions) {
  if (S->limits.instructions <= 0) return;
  S->budget -= instructions;
  if (S->budget <= 0) mbl_set_abort(S, MBLAbortInstructions);
}

bool mbl_is_running(MBLState *S) { return S->depth > 0; }
MBLState *mbl_running(void) { return current; }
uint64_t mbl_output_add(MBLState *S, uint64_t bytes) { return S->written += bytes; }
int64_t mbl_exit_status(MBLState *S) { return S->exitStatus; }
void mbl_set_exit_status(MBLState *S, int64_t status) { S->exitStatus = status; }

void mbl_begin(MBLState *S) {
  if (S->depth++ > 0) return;
  S->abort = MBLAbortNone;
  S->crowded = 0;
  S->strain = 0;
  S->budget = S->limits.instructions > 0 ? S->limits.instructions : INT64_MAX;
  S->exitStatus = 0;
  S->written = 0;
  S->parent = current;
  atomic_signal_fence(memory_order_seq_cst);
  current = S;
  mbl_queue_apply(S);
  mbl_control_enter(S);
}

void mbl_end(MBLState *S) {
  if (--S->depth > 0) return;
  mbl_control_leave(S);
  current = S->parent;
  S->abort = MBLAbortNone;
  S->crowded = 0;
  S->scratchTop = 0;
  S->closeDepth = 0;
  if (S->armed) {
    S->armed = 0;
    mbl_install_hook(S, S->main);
  }
  if (S->scratchCapacity > (1 << 20)) {
    free(S->scratch);
    S->scratch = NULL;
    S->scratchCapacity = 0;
  }
  if (S->garbageCount > 0) mbl_drain(S);
}

// MARK: Ending a run from elsewhere

enum { IDLE, RUNNING, SIGNALLING };

struct MBLControl {
  atomic_int references;
  atomic_int phase;
  atomic_ulong serial;
  atomic_int reason;  // an MBLAbort, delivered to the running thread
  atomic_int inHost;
  atomic_int watched;
  pthread_t thread;
  double deadline;
  // The watchdog's own.
  MBLControl *next;
  unsigned long seen;
  double spent;
  double looked;
  int idle;
};

MBLControl *mbl_control_new(MBLState *S) {
  (void)S;
  MBLControl *control = calloc(1, sizeof(MBLControl));
  if (control != NULL) atomic_init(&control->references, 1);
  return control;
}

void mbl_control_retain(MBLControl *control) { atomic_fetch_add(&control->references, 1); }

void mbl_control_release(MBLControl *control) {
  if (atomic_fetch_sub(&control->references, 1) == 1) free(control);
}

static struct sigaction previous;

// Runs on the thread that runs the state, so that nothing moves under it (lua.c does the same for SIGINT).
static void on_signal(int number, siginfo_t *information, void *context) {
  int saved = errno;
  MBLState *hit = NULL;
  for (MBLState *S = current; S != NULL; S = S->parent) {
    if (atomic_load(&S->control->reason) != MBLAbortNone) hit = S;
  }
  if (hit != NULL) {
    int reason = atomic_load(&hit->control->reason);
    // States above it run on its behalf.
    for (MBLState *S = current; S != NULL; S = S->parent) {
      if (!S->abort) S->abort = reason;
      mbl_arm(S);
      if (S == hit) break;
    }
  }
  if (previous.sa_flags & SA_SIGINFO) {
    if (previous.sa_sigaction != NULL) previous.sa_sigaction(number, information, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  }
  errno = saved;
}

// SIGURG: ignored by default, so that a stray one harms nobody; an earlier handler is called too.
static void install_signal(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGURG, &action, &previous);
}

static pthread_once_t signalOnce = PTHREAD_ONCE_INIT;

static void deliver(MBLControl *control, MBLAbort reason, bool anySerial, unsigned long serial) {
  pthread_once(&signalOnce, install_signal);
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

void mbl_control_interrupt(MBLControl *control) { deliver(control, MBLAbortInterrupted, true, 0); }

static _Atomic(MBLControl *) sigintControl;
static struct sigaction sigintBefore;

static void on_sigint(int number) {
  signal(number, SIG_DFL);
  MBLControl *control = atomic_load(&sigintControl);
  if (control != NULL) mbl_control_interrupt(control);
}

void mbl_control_on_sigint(MBLControl *control) {
  pthread_once(&signalOnce, install_signal);
  atomic_store(&sigintControl, control);
  if (control == NULL) {
    sigaction(SIGINT, &sigintBefore, NULL);
    return;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_sigint;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &sigintBefore);
}

// MARK: The watchdog: one thread that samples every state with a deadline

static pthread_mutex_t watchLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchSignal;
static pthread_once_t watchOnce = PTHREAD_ONCE_INIT;
static MBLControl *watched;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double tick_of(const MBLControl *control) {
  double tick = control->deadline / 10;
  return tick < 0.001 ? 0.001 : tick > 0.05 ? 0.05 : tick;
}

// Time passed in the host is not the script's: only looks that find Lua at work count.
static void look(MBLControl *control, double time) {
  unsigned long serial = atomic_load(&control->serial);
  bool running = atomic_load(&control->phase) != IDLE;
  if (!running || serial != control->seen) {
    control->idle = running ? 0 : control->idle + 1;
    control->seen = serial;
    control->spent = 0;
  } else {
    control->idle = 0;
    if (!atomic_load(&control->inHost)) control->spent += time - control->looked;
    if (control->spent >= control->deadline) deliver(control, MBLAbortDeadline, false, serial);
  }
  control->looked = time;
}

static void *watch(void *unused) {
  (void)unused;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_mutex_lock(&watchLock);
  for (;;) {
    if (watched == NULL) {
      pthread_cond_wait(&watchSignal, &watchLock);
      continue;
    }
    double time = now(), tick = 0.05;
    for (MBLControl **link = &watched; *link != NULL;) {
      MBLControl *control = *link;
      look(control, time);
      if (control->idle > 20) {
        atomic_store(&control->watched, 0);
        if (atomic_load(&control->phase) == IDLE) {
          *link = control->next;
          mbl_control_release(control);
          continue;
        }
        atomic_store(&control->watched, 1);
      }
      if (tick_of(control) < tick) tick = tick_of(control);
      link = &control->next;
    }
    pthread_mutex_unlock(&watchLock);
    struct timespec pause = {0, (long)(tick * 1e9)};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&watchLock);
  }
  return NULL;
}

static void start_watch(void) {
  pthread_cond_init(&watchSignal, NULL);
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 * 1024);
  pthread_create(&thread, &attributes, watch, NULL);
  pthread_attr_destroy(&attributes);
}

static void begin_watch(MBLControl *control, double deadline) {
  pthread_once(&watchOnce, start_watch);
  pthread_mutex_lock(&watchLock);
  if (!atomic_load(&control->watched)) {
    control->deadline = deadline;
    control->seen = atomic_load(&control->serial);
    control->spent = 0;
    control->looked = now();
    control->idle = 0;
    control->next = watched;
    watched = control;
    mbl_control_retain(control);
    atomic_store(&control->watched, 1);
    pthread_cond_signal(&watchSignal);
  }
  pthread_mutex_unlock(&watchLock);
}

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
  atomic_store_explicit(&control->inHost, 0, memory_order_relaxed);
  atomic_store_explicit(&control->serial, atomic_load_explicit(&control->serial, memory_order_relaxed) + 1,
                        memory_order_relaxed);
  atomic_store(&control->phase, RUNNING);
  if (S->limits.deadline > 0) {
    if (!atomic_load(&control->watched)) begin_watch(control, S->limits.deadline);
  }
}

void mbl_control_leave(MBLState *S) {
  int expected = RUNNING;
  while (!atomic_compare_exchange_strong(&S->control->phase, &expected, IDLE)) {
    expected = RUNNING;
    sched_yield();
  }
}

bool mbl_control_set_in_host(MBLState *S, bool inHost) {
  bool before = atomic_load_explicit(&S->control->inHost, memory_order_relaxed);
  atomic_store_explicit(&S->control->inHost, inHost, memory_order_relaxed);
  return before;
}
