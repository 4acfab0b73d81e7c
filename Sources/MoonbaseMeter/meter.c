#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <unistd.h>

#include "MoonbaseMeter.h"

#include <stdatomic.h>
#include <stdlib.h>

_Thread_local int64_t moonbase_meter_rest = INT64_MAX;
_Thread_local int64_t moonbase_meter_greatest_value = INT64_MAX;
_Thread_local int32_t moonbase_function_depth = 0;
_Thread_local int64_t moonbase_function_refusals = 0;

static bool (*_Atomic looks)(void);

void moonbase_meter_set_look(bool (*look)(void)) { atomic_store_explicit(&looks, look, memory_order_relaxed); }

struct moonbase_errand {
  _Atomic(int64_t) units;
  _Atomic(bool) is_stopped;
  int64_t greatest_value;
};

// The errand of this thread, if it works for another thread's run.
static _Thread_local struct moonbase_errand *errand;
// Units of work for another thread before the next check.
static const int64_t errand_stride = 1000;

static bool look_for_errand(void) {
  atomic_fetch_add_explicit(&errand->units, errand_stride - moonbase_meter_rest, memory_order_relaxed);
  moonbase_meter_rest = errand_stride;
  return atomic_load_explicit(&errand->is_stopped, memory_order_relaxed);
}

struct moonbase_errand *moonbase_errand_make(void) {
  struct moonbase_errand *made = malloc(sizeof *made);
  if (made == NULL) abort();
  atomic_init(&made->units, 0);
  atomic_init(&made->is_stopped, false);
  made->greatest_value = moonbase_meter_greatest_value;
  return made;
}

void moonbase_errand_free(struct moonbase_errand *freed) { free(freed); }

void moonbase_errand_enter(struct moonbase_errand *entered) {
  errand = entered;
  moonbase_meter_rest = errand_stride;
  moonbase_meter_greatest_value = entered->greatest_value;
}

void moonbase_errand_leave(void) {
  look_for_errand();
  errand = NULL;
  moonbase_meter_rest = INT64_MAX;
  moonbase_meter_greatest_value = INT64_MAX;
}

int64_t moonbase_errand_take(struct moonbase_errand *asked) {
  return atomic_exchange_explicit(&asked->units, 0, memory_order_relaxed);
}

void moonbase_errand_stop(struct moonbase_errand *stopped) {
  atomic_store_explicit(&stopped->is_stopped, true, memory_order_relaxed);
}

bool moonbase_meter_look(void) {
  if (errand != NULL) return look_for_errand();
  bool (*look)(void) = atomic_load_explicit(&looks, memory_order_relaxed);
  if (look != NULL) return look();
  moonbase_meter_rest = INT64_MAX;
  return false;
}

int moonbase_core_count(void) {
#ifdef __linux__
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
#endif
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
