#ifndef MOONBASE_LUA_LIMITS_H
#define MOONBASE_LUA_LIMITS_H

#include "MBLLimits.h"
#include "state.h"

// The limits of a run: instructions, time, memory, work of the host, call depth; and ending a run.

// The number of instructions between two checks of the budget.
#define MBL_GRANULE 1000
// The number of keys or elements that a walk in C visits between two checks. Finding a key may take long if many keys
// have the same hash.
#define MBL_STRIDE 256

// The state of the innermost run on this thread; `run.parent` is the next one.
extern _Thread_local MBLState *mbl_current;

// MARK: hook.c

void mbl_install_hook(MBLState *S, lua_State *L);
void mbl_arm(MBLState *S);
int mbl_raise_abort(lua_State *L);
void mbl_check_abort(lua_State *L);
void mbl_charge(lua_State *L, int64_t instructions);

// MARK: coverage.c

// Records the lines of the loaded function on the top.
void mbl_coverage_load(MBLState *S, lua_State *L);
void mbl_coverage_line(MBLState *S, lua_State *L, lua_Debug *event);
void mbl_coverage_free(MBLState *S);

// MARK: allowance.c

// The innermost allowance of this thread.
extern _Thread_local MBLAllowance *volatile mbl_allowance;
// Ends the run, or the allowance whose limit was exceeded. Does nothing if either is ending already.
void mbl_end_run(MBLState *S, MBLAbort reason);
// Ends the innermost allowance of this thread if it is out of time.
void mbl_end_overdue(void);
// Whether fewer seconds remain; the allowance is then ended.
bool mbl_allowance_lacks(double seconds);
// Computes the memory use at which a run or an allowance ends.
void mbl_set_ceilings(MBLState *S);

// MARK: work.c

// Charges the host's work to the state that ran, and attributes further work to `next`, the new innermost state.
void mbl_work_for(MBLState *next);
void mbl_work_prepare(void);

// MARK: memory.c, collection.c

void *mbl_allocate(void *state, void *block, size_t old, size_t size);
// The items with room for more; NULL without memory, leaving the list unchanged.
void *mbl_grown(void *items, int *capacity, size_t size);
bool mbl_list_add(MBLList *list, void *item);
MBLQueue *mbl_queue_new(void);
void mbl_queue_apply(MBLState *S);
// Receives a Swift object that Lua released.
void mbl_discard(MBLState *S, void *object);
// Releases the Swift objects that Lua released.
void mbl_drain(MBLState *S);
void mbl_collect_in(MBLState *S, lua_State *L);
// The growth of the host's memory before a collection.
#define MBL_LEAST_GROWTH (8 << 20)
void mbl_collect_hosted(MBLState *S, lua_State *L);
// Frees the resources of a state's limits, including Lua's memory.
void mbl_limits_free(MBLState *S);

// MARK: control.c, watchdog.c, stack.c

MBLControl *mbl_control_new(void);
void mbl_control_enter(MBLState *S);
void mbl_control_leave(MBLState *S);
// Ends the run at the deadline of the state's limits.
void mbl_watch(MBLState *S);
// Ends an allowance at `control->allowance`.
void mbl_watch_allowance(MBLState *S);
bool mbl_stack_is_low(void);

#endif
