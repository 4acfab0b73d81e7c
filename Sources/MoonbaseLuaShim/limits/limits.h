#ifndef MOONBASE_LUA_LIMITS_H
#define MOONBASE_LUA_LIMITS_H

#include "MBLLimits.h"
#include "state.h"

// What bounds a run: instructions, time, memory, work of the host, the depth of calls; and how a run is ended.

// How many instructions pass between two looks at the budget.
#define MBL_GRANULE 1000
// How many keys or elements a walk in C passes between two looks: finding one may take a while where many keys have one hash.
#define MBL_STRIDE 256

// The state whose run is innermost on this thread; `run.parent` is the next one.
extern _Thread_local MBLState *mbl_current;

// MARK: hook.c

void mbl_install_hook(MBLState *S, lua_State *L);
void mbl_arm(MBLState *S);
int mbl_raise_abort(lua_State *L);
void mbl_check_abort(lua_State *L);
void mbl_charge(lua_State *L, int64_t instructions);

// MARK: coverage.c

// Notes the lines of the function on the top, which was loaded.
void mbl_coverage_load(MBLState *S, lua_State *L);
void mbl_coverage_line(MBLState *S, lua_State *L, lua_Debug *event);
void mbl_coverage_free(MBLState *S);

// MARK: allowance.c

// The innermost one of this thread.
extern _Thread_local MBLAllowance *volatile mbl_allowance;
// Ends the run, or the allowance whose limit it is; nothing where one ends already.
void mbl_end_run(MBLState *S, MBLAbort reason);
// Ends the innermost allowance of this thread, if it is out of time.
void mbl_end_overdue(void);
// Whether it lacks so many seconds; then it is ended.
bool mbl_allowance_lacks(double seconds);
// Computes where the use of memory ends a run or an allowance.
void mbl_set_ceilings(MBLState *S);

// MARK: work.c

// Charges what the host did to the state that ran, and lets it work for `next` from now on, the new innermost one.
void mbl_work_for(MBLState *next);
void mbl_work_prepare(void);

// MARK: memory.c, collection.c

void *mbl_allocate(void *state, void *block, size_t old, size_t size);
// A list with room for more items; NULL without memory, and then the list is as it was.
void *mbl_grown(void *items, int *capacity, size_t size);
bool mbl_list_add(MBLList *list, void *item);
MBLQueue *mbl_queue_new(void);
void mbl_queue_apply(MBLState *S);
// Takes a Swift object that Lua let go.
void mbl_discard(MBLState *S, void *object);
// Releases the Swift objects that Lua let go.
void mbl_drain(MBLState *S);
void mbl_collect_in(MBLState *S, lua_State *L);
// How much has to come to what the host keeps before a collection.
#define MBL_LEAST_GROWTH (8 << 20)
void mbl_collect_hosted(MBLState *S, lua_State *L);
// Frees what the limits of a state hold, the memory of Lua among it.
void mbl_limits_free(MBLState *S);

// MARK: control.c, watchdog.c, stack.c

MBLControl *mbl_control_new(void);
void mbl_control_enter(MBLState *S);
void mbl_control_leave(MBLState *S);
// Has the run end at the deadline of the state's limits.
void mbl_watch(MBLState *S);
// Has an allowance end at `control->allowance`.
void mbl_watch_allowance(MBLState *S);
bool mbl_stack_is_low(void);

#endif
