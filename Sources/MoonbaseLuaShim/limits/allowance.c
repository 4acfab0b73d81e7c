#include <stdlib.h>
#include <time.h>

#include "MoonbaseMeter.h"
#include "limits/control.h"

// The resources that an owner's functions may use within a run. Exceeding them ends the call and not the run.
// Allowances nest, also across states: only a thread's innermost allowance is charged.

_Thread_local MBLAllowance *volatile mbl_allowance;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// MARK: Ceilings of memory

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

void mbl_set_ceilings(MBLState *S) {
  const MBLLimits *limits = &S->limits;
  const MBLAllowance *own = S->run.allowance;
  MBLMemory *memory = &S->memory;
  uint64_t soft = limits->softMemory, base = memory->baseline;
  memory->soft = soft > 0 ? sum(soft, base) : UINT64_MAX;
  memory->hosted = soft > 0 ? sum(sum(soft, soft), base) : UINT64_MAX;
  memory->hard = limits->hardMemory > 0 ? sum(limits->hardMemory, base) : UINT64_MAX;
  memory->size = soft > 0 ? soft : UINT64_MAX;
  memory->isOfAllowance = own != NULL && own->memory > 0 && own->ceiling < memory->soft;
  if (!memory->isOfAllowance) return;
  uint64_t size = own->memory;
  memory->soft = own->ceiling;
  memory->size = size;
  if (sum(own->ceiling, size) < memory->hosted) memory->hosted = sum(own->ceiling, size);
  if (sum(own->ceiling, sum(size, sum(size, size))) < memory->hard) memory->hard = sum(own->ceiling, sum(size, sum(size, size)));
}

// MARK: The end

// Safe in a signal handler on the state's own thread.
void mbl_end_run(MBLState *S, MBLAbort reason) {
  if (S->run.abort) return;
  MBLAllowance *own = S->run.allowance;
  bool isOwn = own != NULL && ((reason == MBLAbortInstructions && S->run.budget > 0) ||
                               (reason == MBLAbortMemory && S->memory.isOfAllowance));
  S->run.ending = isOwn ? own : NULL;
  S->run.abort = reason;
}

void mbl_end_overdue(void) {
  MBLAllowance *own = mbl_allowance;
  if (own == NULL || !(own->end > 0) || now() < own->end) return;
  MBLState *hit = own->state;
  if (hit->run.abort) return;
  hit->run.ending = own;
  hit->run.abort = MBLAbortDeadline;
  // States whose runs began within its run work on its behalf.
  for (MBLState *S = mbl_current; S != NULL; S = S->run.parent) {
    mbl_end_run(S, MBLAbortDeadline);
    mbl_arm(S);
    if (S == hit) break;
  }
  moonbase_meter_rest = -1;
}

bool mbl_allowance_lacks(double seconds) {
  MBLAllowance *own = mbl_allowance;
  if (own == NULL || !(own->end > 0) || now() + seconds < own->end) return false;
  own->end = 1e-9;
  mbl_end_overdue();
  return true;
}

// MARK: Begin and end

// The use since the allowance was resumed is charged to it alone.
static void suspend(MBLAllowance *own) {
  own->end = 0;
  atomic_signal_fence(memory_order_seq_cst);
  int64_t used = own->before - own->state->run.budget;
  own->account->instructions -= used;
  own->state->run.excluded += used;
  if (own->account->seconds < MBL_NO_SECONDS) own->account->seconds -= now() - own->since;
  atomic_store_explicit(&own->state->control->allowance, 0, memory_order_relaxed);
}

static void resume(MBLAllowance *own) {
  MBLState *S = own->state;
  own->before = S->run.budget;
  int64_t floor = own->account->instructions < INT64_MAX / 2 ? own->before - own->account->instructions : 0;
  S->run.floor = floor > 0 ? floor : 0;
  mbl_set_ceilings(S);
  if (own->account->seconds >= MBL_NO_SECONDS) return;
  own->since = now();
  double end = own->since + (own->account->seconds > 0 ? own->account->seconds : 1e-9);
  atomic_store_explicit(&S->control->allowance, end, memory_order_relaxed);
  mbl_watch_allowance(S);
  atomic_signal_fence(memory_order_seq_cst);
  own->end = end;
}

static MBLAllowance *account_of(const void *owner, MBLAllowance *outer) {
  for (; outer != NULL; outer = outer->outer) {
    if (outer->owner == owner) return outer->account;
  }
  return NULL;
}

void mbl_allowance_begin(MBLState *S, MBLAllowance *own, const void *owner) {
  mbl_work_for(mbl_current);
  own->state = S;
  own->owner = owner;
  own->outer = mbl_allowance;
  own->enclosing = S->run.allowance;
  if (own->outer != NULL) suspend(own->outer);
  MBLAllowance *account = account_of(owner, own->outer);
  own->account = account != NULL ? account : own;
  own->entered = S->memory.used;
  own->ceiling = own->memory > 0 ? sum(S->memory.used, own->memory) : UINT64_MAX;
  if (account != NULL && account->state == S && account->ceiling < own->ceiling) own->ceiling = account->ceiling;
  own->end = 0;
  // The current run may have begun when nothing was counted.
  if (lua_gethookcount(S->running) == 0) mbl_install_hook(S, S->running);
  S->run.allowance = own;
  atomic_signal_fence(memory_order_seq_cst);
  mbl_allowance = own;
  resume(own);
}

static MBLAbort take_end(MBLState *S, MBLAllowance *own) {
  if (!S->run.abort || S->run.ending != own) return MBLAbortNone;
  MBLAbort reason = (MBLAbort)S->run.abort;
  S->run.abort = MBLAbortNone;
  S->run.ending = NULL;
  S->shortage.isFelt = 0;
  if (S->run.armed) {
    S->run.armed = 0;
    mbl_install_hook(S, S->running);
  }
  return reason;
}

// Memory that a call keeps is charged to its own extension, and not to that of the outer call.
static void raise_ceiling(MBLAllowance *enclosing, const MBLAllowance *own) {
  if (enclosing == NULL || enclosing->owner == own->owner || own->state->memory.used <= own->entered) return;
  uint64_t growth = own->state->memory.used - own->entered;
  for (MBLAllowance *each = enclosing; each != NULL; each = each->enclosing) each->ceiling = sum(each->ceiling, growth);
}

MBLAbort mbl_allowance_end(MBLAllowance *own) {
  MBLState *S = own->state;
  mbl_work_for(mbl_current);
  suspend(own);
  MBLAbort reason = take_end(S, own);
  raise_ceiling(own->enclosing, own);
  S->run.allowance = own->enclosing;
  S->run.floor = 0;
  mbl_set_ceilings(S);
  mbl_allowance = own->outer;
  if (own->outer != NULL) resume(own->outer);
  mbl_work_for(mbl_current);
  return reason;
}

const void *mbl_allowance_owner(void) { return mbl_allowance != NULL ? mbl_allowance->owner : NULL; }

int64_t mbl_excluded(MBLState *S) { return S->run.excluded; }

void mbl_charge_excluding(MBLState *S, int64_t instructions, int64_t excluded) {
  if (S->run.allowance != NULL) {
    S->run.allowance->before -= excluded;
    int64_t floor = S->run.floor - excluded;
    S->run.floor = floor > 0 ? floor : 0;
  }
  mbl_charge_budget(S, instructions);
}
