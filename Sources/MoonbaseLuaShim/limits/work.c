#include "MoonbaseMeter.h"
#include "limits/limits.h"

// Work of the host for a script. Each layer of the host counts its work (HostWork in Swift). Here it is charged to the
// innermost run, whose limits are checked.

// Units of work between two checks.
#define STRIDE 1000
// The instructions charged per unit of work. A unit, such as visiting an object, takes about as long as this number of
// instructions.
#define UNIT 10

_Thread_local MBLState *mbl_current;

static _Thread_local int64_t granted = INT64_MAX;

int64_t mbl_remaining(MBLState *S) { return S->limits.instructions > 0 ? S->run.budget - S->run.floor : INT64_MAX; }

int64_t mbl_budget(MBLState *S) { return S->limits.instructions > 0 ? S->run.budget : INT64_MAX; }

void mbl_charge_budget(MBLState *S, int64_t instructions) {
  if (S->limits.instructions <= 0) return;
  S->run.budget -= instructions;
  if (S->run.budget <= S->run.floor) mbl_set_abort(S, MBLAbortInstructions);
}

static void charge(MBLState *S, int64_t units) {
  mbl_charge_budget(S, units < INT64_MAX / UNIT ? units * UNIT : INT64_MAX / 2);
}

// A value from the host exists twice, in the host's form and in Lua's.
static int64_t greatest_value(const MBLState *S) {
  return S == NULL || S->memory.size == UINT64_MAX ? INT64_MAX : (int64_t)(S->memory.size / 2);
}

void mbl_work_for(MBLState *next) {
  if (mbl_current != NULL && granted > moonbase_meter_rest) charge(mbl_current, granted - moonbase_meter_rest);
  mbl_current = next;
  moonbase_meter_greatest_value = greatest_value(next);
  granted = next == NULL ? INT64_MAX : next->run.abort ? 0 : STRIDE;
  moonbase_meter_rest = granted;
}

static bool look(void) {
  mbl_work_for(mbl_current);
  return mbl_current != NULL && mbl_current->run.abort;
}

void mbl_work_prepare(void) { moonbase_meter_set_look(look); }
