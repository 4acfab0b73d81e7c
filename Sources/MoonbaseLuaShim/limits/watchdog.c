#include <time.h>

#include "limits/control.h"

// A single thread checks every state with a deadline periodically.

static pthread_mutex_t watchLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watchSignal;
static pthread_once_t watchOnce = PTHREAD_ONCE_INIT;
static MBLControl *watched;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double tick_of(MBLControl *control) {
  double deadline = atomic_load_explicit(&control->deadline, memory_order_relaxed);
  double tick = deadline > 0 ? deadline / 10 : 0.05;
  if (atomic_load_explicit(&control->allowance, memory_order_relaxed) > 0 && tick > 0.005) tick = 0.005;
  return tick < 0.001 ? 0.001 : tick > 0.05 ? 0.05 : tick;
}

// Counts the time of a run: in Lua and in the host, but not while the host waits for the user.
static void look(MBLControl *control, double time) {
  unsigned long serial = atomic_load(&control->serial);
  bool running = atomic_load(&control->phase) != IDLE;
  if (!running || serial != control->seen) {
    control->idle = running ? 0 : control->idle + 1;
    control->seen = serial;
    control->spent = 0;
  } else {
    control->idle = 0;
    if (!atomic_load(&control->paused)) control->spent += time - control->looked;
    double deadline = atomic_load_explicit(&control->deadline, memory_order_relaxed);
    if (deadline > 0 && control->spent >= deadline) mbl_control_deliver(control, MBLAbortDeadline, false, serial);
  }
  control->looked = time;
  double end = atomic_load_explicit(&control->allowance, memory_order_relaxed);
  if (running && end > 0 && time >= end && !atomic_load(&control->paused)) mbl_control_deliver_overdue(control);
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

static void begin(MBLControl *control) {
  pthread_once(&watchOnce, start_watch);
  pthread_mutex_lock(&watchLock);
  if (!atomic_load(&control->watched)) {
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

void mbl_watch(MBLState *S) {
  atomic_store_explicit(&S->control->deadline, S->limits.deadline, memory_order_relaxed);
  if (S->limits.deadline > 0 && !atomic_load(&S->control->watched)) begin(S->control);
}

void mbl_watch_allowance(MBLState *S) {
  if (!atomic_load(&S->control->watched)) begin(S->control);
}

double mbl_watch_rest(MBLControl *control) {
  pthread_mutex_lock(&watchLock);
  double rest = atomic_load_explicit(&control->deadline, memory_order_relaxed);
  if (control->seen == atomic_load(&control->serial)) {
    rest -= control->spent;
    if (!atomic_load(&control->paused)) rest -= now() - control->looked;
  }
  pthread_mutex_unlock(&watchLock);
  return rest;
}
