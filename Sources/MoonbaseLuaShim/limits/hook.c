#include "limits/limits.h"

// The hook in which Lua checks the limits, and ending a run. The reason is kept outside of Lua, so that no script can
// catch it.

// A run that must end raises the address of this variable.
static const char ending = 0;

// The thread sanitizer delays signals until a C library function is called, which a loop in Lua never does.
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

// The call depth of a coroutine is found only by walking its calls. A check walks at most to the limit. It also
// computes how many of the next checks can be skipped, because each call takes at least an instruction.
static bool calls_too_deep(MBLState *S, lua_State *L) {
  int limit = S->limits.callDepth < INT32_MAX ? (int)S->limits.callDepth : INT32_MAX;
  if (S->calls.thread == L && --S->calls.skippable > 0) return false;
  S->calls.thread = L;
  lua_Debug frame;
  for (int part = 2; part <= 16; part *= 2) {
    int level = limit - limit / part;
    S->run.budget -= level / 64;
    S->calls.skippable = (limit - level) / MBL_GRANULE;
    if (!lua_getstack(L, level, &frame)) return false;
  }
  return lua_getstack(L, limit, &frame);
}

// Memory is short: a collection helps, or the run ends.
static void relieve(MBLState *S, lua_State *L) {
  mbl_collect_in(S, L);
  S->shortage.isFelt = 0;
  uint64_t limit = S->memory.soft;
  // A deep stack that the collector shrinks and the next call grows again would collect forever.
  bool isIdle = S->memory.allocations - S->shortage.allocations < 1000 && S->hosted.added - S->shortage.added < limit / 8;
  S->shortage.inARow = isIdle ? S->shortage.inARow + 1 : 0;
  S->shortage.allocations = S->memory.allocations;
  S->shortage.added = S->hosted.added;
  S->run.budget -= (int64_t)(S->memory.used / 256);
  if (S->memory.used > limit - S->memory.size / 20 || S->shortage.inARow > 50) mbl_end_run(S, MBLAbortMemory);
}

static int line_mask(const MBLState *S) { return S->coverage.isOn ? LUA_MASKLINE : 0; }

// Lua calls the hook every MBL_GRANULE instructions, at every line if lines are recorded, and at every instruction and
// call once a run must end.
static void hook(lua_State *L, lua_Debug *event) {
  MBLState *S = mbl_of(L);
  let_signals_in();
  if (S->shortage.isFelt && !S->run.abort) relieve(S, L);
  mbl_check_abort(L);
  if (event->event == LUA_HOOKLINE) mbl_coverage_line(S, L, event);
  if (lua_gethookcount(L) != MBL_GRANULE) {
    mbl_install_hook(S, L);  // armed for a moment, or left armed by an earlier run
  } else if (event->event == LUA_HOOKCOUNT) {
    S->run.budget -= MBL_GRANULE;
    if (S->limits.callDepth > 0 && calls_too_deep(S, L)) mbl_end_run(S, MBLAbortCallDepth);
  }
  if (S->limits.instructions > 0 && S->run.budget <= S->run.floor) mbl_end_run(S, MBLAbortInstructions);
  mbl_check_abort(L);
}

void mbl_install_hook(MBLState *S, lua_State *L) {
  if (S->limits.instructions > 0 || S->limits.callDepth > 0 || S->coverage.isOn || HOLDS_SIGNALS) {
    lua_sethook(L, hook, LUA_MASKCOUNT | line_mask(S), MBL_GRANULE);
  } else {
    lua_sethook(L, NULL, 0, 0);
  }
}

// Safe in a signal handler on the state's own thread: it only sets fields.
void mbl_arm(MBLState *S) {
  S->run.armed = 1;
  // Setting a hook visits every active call, so it is set once.
  if (lua_gethookcount(S->running) == 1 && lua_gethook(S->running) == hook) return;
  lua_sethook(S->running, hook, LUA_MASKCOUNT | LUA_MASKCALL | LUA_MASKRET | line_mask(S), 1);
}

int mbl_raise_abort(lua_State *L) {
  lua_pushlightuserdata(L, (void *)&ending);
  return lua_error(L);
}

void mbl_check_abort(lua_State *L) {
  MBLState *S = mbl_of(L);
  if (!S->run.abort) return;
  mbl_arm(S);
  mbl_raise_abort(L);
}

void mbl_charge(lua_State *L, int64_t instructions) {
  MBLState *S = mbl_of(L);
  let_signals_in();
  if (S->limits.instructions > 0) {
    S->run.budget -= instructions;
    if (S->run.budget <= S->run.floor) mbl_end_run(S, MBLAbortInstructions);
  }
  mbl_check_abort(L);
}

// MARK: The host's side

bool mbl_run_is_ending(void) { return mbl_current != NULL && mbl_current->run.abort; }

void mbl_set_abort(MBLState *S, MBLAbort reason) {
  mbl_end_run(S, reason);
  mbl_arm(S);
}
