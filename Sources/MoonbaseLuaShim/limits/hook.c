#include <stdlib.h>

#include "state.h"

// The thread's record of running states, innermost first: calls nest across states.
_Thread_local MBLState *mbl_current;

// MARK: The hook

// The thread sanitizer holds signals back until a function of C's library is called, which a loop in Lua never does.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <time.h>
#define HOLDS_SIGNALS 1
#endif
#endif
#ifndef HOLDS_SIGNALS
#define HOLDS_SIGNALS 0
#endif

static void let_signals_in(void) {
#if HOLDS_SIGNALS
  nanosleep(&(struct timespec){0, 0}, NULL);
#endif
}

// How deep the calls of a coroutine are is only known by walking them. A look walks at most to the limit, and tells how many
// looks may be left out, since a call takes an instruction at least.
static bool calls_too_deep(MBLState *S, lua_State *L) {
  int limit = S->limits.callDepth < INT32_MAX ? (int)S->limits.callDepth : INT32_MAX;
  if (S->deepest == L && --S->granules > 0) return false;
  S->deepest = L;
  lua_Debug frame;
  for (int part = 2; part <= 16; part *= 2) {
    int level = limit - limit / part;
    S->budget -= level / 64;
    S->granules = (limit - level) / MBL_GRANULE;
    if (!lua_getstack(L, level, &frame)) return false;
  }
  return lua_getstack(L, limit, &frame);
}

// Memory is short: a collection helps, or the run ends.
static void relieve(MBLState *S, lua_State *L) {
  uint64_t limit = S->limits.softMemory + S->baseline;
  mbl_queue_apply(S);
  lua_gc(L, LUA_GCCOLLECT);
  mbl_drain(S);
  S->crowded = 0;
  // A deep stack that the collector shrinks and the next call grows again would collect for ever.
  bool isIdle = S->allocations - S->rescued < 1000 && S->weighed - S->rescuedWeight < limit / 8;
  S->strain = isIdle ? S->strain + 1 : 0;
  S->rescued = S->allocations;
  S->rescuedWeight = S->weighed;
  S->budget -= (int64_t)(S->used / 256);
  if (S->used > limit - limit / 20 || S->strain > 50) S->abort = MBLAbortMemory;
}

// Lua's count hook at every MBL_GRANULE instructions, or, once a run is to end, at every instruction and call.
static void hook(lua_State *L, lua_Debug *event) {
  MBLState *S = mbl_of(L);
  let_signals_in();
  if (S->crowded && !S->abort) relieve(S, L);
  mbl_check_abort(L);
  if (lua_gethookcount(L) != MBL_GRANULE) {
    mbl_install_hook(S, L);  // armed for a moment, or left armed by an earlier run
  } else if (event->event == LUA_HOOKCOUNT) {
    S->budget -= MBL_GRANULE;
    if (S->limits.callDepth > 0 && calls_too_deep(S, L)) S->abort = MBLAbortCallDepth;
  }
  if (S->limits.instructions > 0 && S->budget <= 0) S->abort = MBLAbortInstructions;
  mbl_check_abort(L);
}

void mbl_install_hook(MBLState *S, lua_State *L) {
  if (S->limits.instructions > 0 || S->limits.callDepth > 0 || HOLDS_SIGNALS) {
    lua_sethook(L, hook, LUA_MASKCOUNT, MBL_GRANULE);
  } else {
    lua_sethook(L, NULL, 0, 0);
  }
}

// Safe in a signal handler on the state's own thread: it only sets fields.
void mbl_arm(MBLState *S) {
  S->armed = 1;
  // Setting a hook visits every call under way: once is enough.
  if (lua_gethookcount(S->running) == 1 && lua_gethook(S->running) == hook) return;
  lua_sethook(S->running, hook, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET, 1);
}

int mbl_raise_abort(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&mbl_key_abort);
  return lua_error(L);
}

void mbl_check_abort(lua_State *L) {
  MBLState *S = mbl_of(L);
  if (!S->abort) return;
  mbl_arm(S);
  mbl_raise_abort(L);
}

void mbl_charge(lua_State *L, int64_t instructions) {
  MBLState *S = mbl_of(L);
  let_signals_in();
  if (S->limits.instructions > 0) {
    S->budget -= instructions;
    if (S->budget <= 0 && !S->abort) S->abort = MBLAbortInstructions;
  }
  mbl_check_abort(L);
}

// MARK: Runs

void mbl_set_limits(MBLState *S, const MBLLimits *limits) {
  S->limits = *limits;
  if (S->depth == 0) {
    mbl_install_hook(S, S->main);
  } else {
    mbl_control_set_deadline(S);
  }
}

bool mbl_run_is_ending(void) { return mbl_current != NULL && mbl_current->abort; }

MBLAbort mbl_abort(MBLState *S) {
  if (S->abort == MBLAbortInterrupted) mbl_control_seen(S);
  return (MBLAbort)S->abort;
}

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
MBLState *mbl_running(void) { return mbl_current; }
uint64_t mbl_output_add(MBLState *S, uint64_t bytes) { return S->written += bytes; }
int64_t mbl_exit_status(MBLState *S) { return S->exitStatus; }
void mbl_set_exit_status(MBLState *S, int64_t status) { S->exitStatus = status; }

// Calls nest across states, and each state knows its own only: what is left of the C stack bounds them all.
static void check_nesting(MBLState *S) {
  if (mbl_current != NULL && mbl_stack_is_low()) mbl_set_abort(S, MBLAbortCallDepth);
}

// A run on behalf of one that must end has to end as well.
static void inherit_end(MBLState *S) {
  if (S->parent == NULL || !S->parent->abort) return;
  S->exitStatus = S->parent->exitStatus;
  mbl_set_abort(S, (MBLAbort)S->parent->abort);
}

void mbl_begin(MBLState *S) {
  if (S->depth++ > 0) {
    check_nesting(S);
    return;
  }
  S->abort = MBLAbortNone;
  S->crowded = 0;
  S->strain = 0;
  S->granules = 0;
  S->budget = S->limits.instructions > 0 ? S->limits.instructions : INT64_MAX;
  S->exitStatus = 0;
  S->written = 0;
  S->inHost = false;
  check_nesting(S);
  S->parent = mbl_current;
  atomic_signal_fence(memory_order_seq_cst);
  mbl_work_for(S);
  inherit_end(S);
  mbl_queue_apply(S);
  mbl_control_enter(S);
}

void mbl_end(MBLState *S) {
  if (--S->depth > 0) return;
  mbl_control_leave(S);
  mbl_work_for(S->parent);
  S->parent = NULL;  // which may go before this one is used again
  mbl_weigh(S, -S->runWeight);
  S->runWeight = 0;
  S->abort = MBLAbortNone;
  S->crowded = 0;
  S->scratchTop = 0;
  S->closeDepth = 0;
  if (S->armed) {
    S->armed = 0;
    mbl_install_hook(S, S->main);
  }
  mbl_scratch_trim(S);
  if (S->garbageCount > 0) mbl_drain(S);
}
