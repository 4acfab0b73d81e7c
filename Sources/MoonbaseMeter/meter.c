#include "MoonbaseMeter.h"

#include <stdatomic.h>

_Thread_local int64_t moonbase_meter_rest = INT64_MAX;
_Thread_local int64_t moonbase_meter_greatest_value = INT64_MAX;

static bool (*_Atomic looks)(void);

void moonbase_meter_set_look(bool (*look)(void)) { atomic_store_explicit(&looks, look, memory_order_relaxed); }

bool moonbase_meter_look(void) {
  bool (*look)(void) = atomic_load_explicit(&looks, memory_order_relaxed);
  if (look != NULL) return look();
  moonbase_meter_rest = INT64_MAX;
  return false;
}
