#ifndef MOONBASE_LUA_INTERNAL_H
#define MOONBASE_LUA_INTERNAL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "MoonbaseLuaShim.h"
#include "limits/blocks.h"

// How many instructions pass between two looks at the budget.
#define MBL_GRANULE 1000
// How many keys or elements a walk in C passes between two looks: finding one may take a while where many keys have one hash.
#define MBL_STRIDE 256
// Coroutines closing coroutines: deeper than this ends the process in Lua 5.4.4.
#define MBL_CLOSE_DEPTH 64
#define MBL_TRACE_ENTRIES 24
#define MBL_CHUNK_NAME 60

typedef struct MBLTraceSlot {
  char source[LUA_IDSIZE];
  char name[LUA_IDSIZE];
  const char *kind;
  int line;
  int defined;
} MBLTraceSlot;

typedef struct MBLPart MBLPart;

struct MBLState {
  lua_State *main;
  lua_State *running;
  const MBLHost *host;
  void *owner;
  MBLPreset preset;
  bool closing;
  bool warns, warningContinues;
  bool plainOutput;

  // Runs.
  int depth;
  MBLState *parent;
  MBLControl *control;
  MBLLimits limits;
  int64_t budget;
  volatile sig_atomic_t abort;
  volatile sig_atomic_t crowded;  // the soft memory limit was passed; the hook collects, then decides
  volatile sig_atomic_t armed;
  bool inHost;    // a host function runs, and Lua does not
  int closeDepth;
  int granules;           // looks at the call depth that may be left out
  lua_State *deepest;    // the coroutine they were counted for
  int64_t exitStatus;
  uint64_t written;

  // Memory.
  MBLBlocks blocks;
  uint64_t used, peak, baseline, allocations;
  int64_t hosted, hostedMark;  // what the host keeps for scripts, and where that calls for a collection
  uint64_t weighed;            // all that ever came to it
  int64_t runWeight;           // of it, what counts for this run only
  uint64_t rescued;  // allocations at the last collection for want of memory
  uint64_t rescuedWeight;
  int strain;        // such collections in quick succession
  int64_t failAfter, failTimes;
  const void *grownFrame;  // the frame for which a stack grew last
  size_t grownSize;
  int doublings;
  MBLPart *parts;  // large hash parts of tables, in no order
  int partCount, partCapacity;

  // Values that wait for their Swift frame to go.
  void **pending;
  int pendingCount, pendingCapacity;
  void *failure;      // a retained Swift error
  int failureReference;
  bool failureIsText;
  size_t failureText, failureLength;
  int64_t failureWeight;
  char *scratch;
  size_t scratchTop, scratchCapacity;

  // Swift objects whose handles Lua has collected.
  void **garbage;
  int garbageCount, garbageCapacity;
  MBLQueue *queue;

  // Every Swift object that Lua holds, by place. Lua loses a finalizer when memory runs out while it calls it; what is left
  // here when the state closes is released then.
  void **owned;
  int32_t *vacant;
  int32_t ownedCount, ownedCapacity, vacantCount;

  uint64_t *scopes;
  int scopeCount, scopeCapacity;
  uint64_t scopeSerial;

  MBLType *types;
  int64_t coroutines;
  int64_t nextIdentity;

  MBLTraceSlot trace[MBL_TRACE_ENTRIES];
  int traceCount;
};

struct MBLType {
  MBLState *state;
  void *owner;
  MBLType *next;
  char *name;
  int keys;       // registry reference: key -> slot or method
  int metatable;  // registry reference
  bool interned;
};

typedef struct MBLObject {
  MBLState *state;  // tells our handles from any other userdata
  void *object;     // null once dead
  MBLType *type;
  uint64_t scope;
  int64_t weight;
  int32_t place;
} MBLObject;

typedef struct MBLErrorBox {
  MBLState *state;
  void *error;
  int64_t weight;
  int32_t place;
} MBLErrorBox;

typedef struct MBLFunctionBox {
  void *function;
  int64_t weight;
  int32_t place;
} MBLFunctionBox;

// Keys of the registry, by address.
extern const char mbl_key_null, mbl_key_abort, mbl_key_interned, mbl_key_error_metatable, mbl_key_function_metatable,
    mbl_key_errors, mbl_key_base, mbl_key_frozen, mbl_key_identities, mbl_key_threads, mbl_key_list, mbl_key_system,
    mbl_key_memory_text;

static inline MBLState *mbl_of(lua_State *L) { return *(MBLState **)lua_getextraspace(L); }
static inline bool mbl_is_plain(const MBLValue *value) {
  return value->tag != MBLTagString && value->tag != MBLTagObject;
}
static inline bool mbl_sandboxed(const MBLState *S) { return S->preset != MBLPresetTrusted; }

// The thread's record of running states, innermost first.
extern _Thread_local MBLState *mbl_current;

static inline bool mbl_set_in_host(MBLState *S, bool inHost) {
  bool before = S->inHost;
  S->inHost = inHost;
  return before;
}

// chain.c, parsing_time.c
int mbl_long_chain(const char *bytes, size_t length);
// The line for which a source is refused, and why; 0 if it is not.
int mbl_unfit_source(const char *bytes, size_t length, const char **problem);

// limits.c, memory.c, control.c
void mbl_install_hook(MBLState *S, lua_State *L);
void mbl_arm(MBLState *S);
int mbl_raise_abort(lua_State *L);
void mbl_check_abort(lua_State *L);
bool mbl_stack_is_low(void);
void mbl_charge(lua_State *L, int64_t instructions);
// How much has to come to what the host keeps before a collection.
#define MBL_LEAST_GROWTH (8 << 20)
void mbl_collect_hosted(MBLState *S, lua_State *L);
void *mbl_allocate(void *state, void *block, size_t old, size_t size);
MBLControl *mbl_control_new(MBLState *S);
void mbl_control_enter(MBLState *S);
void mbl_control_leave(MBLState *S);
// Within a run: the deadline is the one of the state's limits.
void mbl_control_set_deadline(MBLState *S);
void mbl_control_seen(MBLState *S);

// host_work.c: charges what the host did to the state that ran, and lets it work for `next` from now on, the new innermost one.
void mbl_work_for(MBLState *next);
void mbl_work_prepare(void);

// table_growth.c: hash parts of tables, of so many bytes and more. Smaller ones take a few milliseconds to grow at worst.
#define MBL_LEAST_PART ((size_t)24 << 12)
bool mbl_part_reserve(MBLState *S, size_t size);
void mbl_part_add(MBLState *S, const void *block, size_t size);
void mbl_part_remove(MBLState *S, const void *block, size_t size);
// Whether the run ends here, since a table's growth would take too long. Looks at requests for hash parts only.
bool mbl_growth_is_refused(MBLState *S, size_t size);

// trace.c
void mbl_push_blame(lua_State *L);

// call.c, function.c
bool mbl_is_call_body(lua_CFunction function);
void mbl_bind_function(lua_State *L, int from, int to, const char *name);

// values.c
void mbl_push_value(MBLState *S, lua_State *L, const MBLValue *value);
MBLStatus mbl_protect(MBLState *S, lua_CFunction body, void *request, int results);
int mbl_handler(lua_State *L);

// ownership.c
void mbl_reserve_place(MBLState *S, lua_State *L);
int32_t mbl_own(MBLState *S, void *object, int64_t weight);
void mbl_disown(MBLState *S, int32_t place, int64_t weight);
bool mbl_pending_push(MBLState *S, void *object);

// failure.c, function.c
int mbl_raise_failure(MBLState *S, lua_State *L);
int mbl_finish(MBLState *S, lua_State *L, MBLFrame *frame, int32_t failed, int pending, size_t scratch);
void mbl_push_function(MBLState *S, lua_State *L, void *function, int64_t weight);
void mbl_failure_setup(lua_State *L);
void mbl_function_setup(lua_State *L);

// object.c and the rest of the host's side
void mbl_push_object_value(MBLState *S, lua_State *L, MBLType *type, void *object, uint32_t extra);
MBLObject *mbl_test_object(MBLState *S, lua_State *L, int index);
bool mbl_object_alive(MBLState *S, const MBLObject *object);
void mbl_pending_unwind(MBLState *S, int count);
void mbl_discard(MBLState *S, void *object);
MBLQueue *mbl_queue_new(void);
void mbl_queue_apply(MBLState *S);
size_t mbl_scratch_copy(MBLState *S, const void *bytes, size_t length);
// Gives much back where nothing waits in it.
void mbl_scratch_trim(MBLState *S);

// libraries
int mbl_pcall(lua_State *L);
int mbl_xpcall(lua_State *L);
int mbl_rawset(lua_State *L);
int mbl_setmetatable(lua_State *L);
int mbl_load_text(lua_State *L);
int mbl_print(lua_State *L);
int mbl_collectgarbage(lua_State *L);
int mbl_os_exit(lua_State *L);
int mbl_randomseed(lua_State *L);
void mbl_open_libraries(lua_State *L);
int mbl_open_coroutine(lua_State *L);
int mbl_open_debug(lua_State *L);
int mbl_ordered_pairs(lua_State *L);
int mbl_ordered_next(lua_State *L);
int mbl_next(lua_State *L);
int mbl_rawget(lua_State *L);
int mbl_rawlen(lua_State *L);
// Where the `count` bytes at `wanted` stand first, or NULL.
const char *mbl_find_bytes(const char *s, size_t length, const char *wanted, size_t count);
void mbl_push_walk(lua_State *L, int place);
int mbl_tostring(lua_State *L);
void mbl_push_text(lua_State *L, int index);
int mbl_freeze_top(lua_State *L);
void mbl_cover(lua_State *L, const luaL_Reg *entries);
int mbl_table_sort(lua_State *L);
int mbl_tonumber(lua_State *L);
int mbl_open_utf8(lua_State *L);
void mbl_open_strings(lua_State *L);
void mbl_open_tables(lua_State *L);
void mbl_open_patterns(lua_State *L);

// Lua's own function under one of ours, which is its upvalue. It runs in the same frame, so that messages tell its name.
static inline int mbl_call_original(lua_State *L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

bool mbl_is_frozen(lua_State *L, int index);
int mbl_resume(lua_State *L, lua_State *co, int arguments, int *results);
int mbl_close_thread(lua_State *L, lua_State *co);

#endif
