#ifndef MOONBASE_LUA_SHIM_H
#define MOONBASE_LUA_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The one door between Swift and Lua. No function here raises a Lua error over its caller: whatever can raise runs in C
// under lua_pcall and answers with a status. Lua's own headers stay behind this file, so that Swift cannot see them.

typedef struct lua_State lua_State;
typedef struct MBLState MBLState;
typedef struct MBLType MBLType;
typedef struct MBLControl MBLControl;
typedef struct MBLQueue MBLQueue;

#if defined(__clang__)
#define MBL_ENUM __attribute__((enum_extensibility(closed)))
#else
#define MBL_ENUM
#endif

typedef enum MBLTag : uint32_t {
  MBLTagNil = 0,
  MBLTagBoolean,
  MBLTagInteger,
  MBLTagNumber,
  MBLTagString,     // pointer, length
  MBLTagNull,       // the sentinel that stands for "no value" inside lists and maps
  MBLTagObject,     // pointer: the Swift object, length: its MBLType
  MBLTagTable,      // integer: a stack index, or a reference when pushed
  MBLTagFunction,
  MBLTagUserdata,
  MBLTagThread,
  MBLTagReference,  // integer: a registry reference (only into Lua)
} MBL_ENUM MBLTag;

// A plain value on its way between the languages. It owns nothing.
typedef struct MBLValue {
  union {
    int64_t integer;
    double number;
    const void *_Nullable pointer;
  };
  uint64_t length;
  MBLTag tag;
  uint32_t extra;  // of an object: whether its handle is scoped, and what it weighs
} MBLValue;

enum {
  MBL_SCOPED = 1,
  MBL_WEIGHT_UNIT = 2,    // what a grain of weight is in `extra`
  MBL_WEIGHT_GRAIN = 16,  // bytes
};

typedef enum MBLStatus : int32_t {
  MBLStatusOK = 0,
  MBLStatusYield = 1,
  MBLStatusRuntime = 2,
  MBLStatusSyntax = 3,
  MBLStatusMemory = 4,
  MBLStatusHandler = 5,
  MBLStatusStack = 6,  // no room on the Lua stack
  MBLStatusIdle = 7,   // no run is under way
} MBL_ENUM MBLStatus;

// Why a run is being ended. It is kept outside of Lua, so that no script can swallow it.
typedef enum MBLAbort : int32_t {
  MBLAbortNone = 0,
  MBLAbortInstructions,
  MBLAbortDeadline,
  MBLAbortMemory,
  MBLAbortOutput,
  MBLAbortCoroutines,
  MBLAbortCallDepth,
  MBLAbortInterrupted,
  MBLAbortExit,
} MBL_ENUM MBLAbort;

// One call from Lua into Swift.
typedef struct MBLFrame {
  MBLState *_Nonnull state;
  lua_State *_Nonnull thread;
  int32_t count;     // arguments on the stack, from index 1
  int32_t pushed;    // results already on the stack
  bool hasResult;    // a last result waits in `result`; C pushes it once the Swift frame has gone
  MBLValue result;
} MBLFrame;

// What Swift does for C. Every function returns; 0 is success, 1 an error kept with mbl_fail.
typedef struct MBLHost {
  int32_t (*_Nonnull call)(void *_Nonnull function, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull get)(void *_Nonnull type, void *_Nonnull object, int32_t slot, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull set)(void *_Nonnull type, void *_Nonnull object, int32_t slot, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull missing)(void *_Nonnull type, void *_Nonnull object, bool writing, MBLFrame *_Nonnull frame);
  void (*_Nonnull retain)(void *_Nonnull object);
  void (*_Nonnull release)(void *_Nonnull object);
  // Writes to a stream (1 output, 2 error); false when the output limit is passed.
  bool (*_Nonnull output)(void *_Nonnull host, int32_t stream, const char *_Nonnull bytes, size_t length);
  // The text of a crossed Swift error, for tostring; copied into `buffer`, returns its full length.
  size_t (*_Nonnull describe)(void *_Nonnull error, char *_Nullable buffer, size_t capacity);
} MBLHost;

typedef enum MBLPreset : int32_t {
  MBLPresetPure = 0,
  MBLPresetStandard,
  MBLPresetCompat,
  MBLPresetTrusted,
} MBL_ENUM MBLPreset;

typedef struct MBLLimits {
  int64_t instructions;  // 0: none
  double deadline;       // seconds; 0: none
  uint64_t softMemory;   // 0: none
  uint64_t hardMemory;   // 0: none
  uint64_t sourceSize;   // 0: none
  uint64_t outputSize;   // 0: none
  int64_t coroutines;    // 0: none
  int64_t callDepth;     // 0: none but Lua's own
} MBLLimits;

// MARK: State

MBLState *_Nullable mbl_open(const MBLHost *_Nonnull host, void *_Nonnull owner, MBLPreset preset);
void mbl_close(MBLState *_Nonnull state);
// Whether output goes to the streams of C, so that finalizers can still write as the state closes.
void mbl_set_plain_output(MBLState *_Nonnull state, bool isPlain);
void *_Nonnull mbl_owner(MBLState *_Nonnull state);
MBLState *_Nonnull mbl_state_of(lua_State *_Nonnull thread);
lua_State *_Nonnull mbl_thread(MBLState *_Nonnull state);
MBLQueue *_Nonnull mbl_queue(MBLState *_Nonnull state);
MBLControl *_Nonnull mbl_control(MBLState *_Nonnull state);
const char *_Nonnull mbl_version(void);

// MARK: Limits

void mbl_set_limits(MBLState *_Nonnull state, const MBLLimits *_Nonnull limits);
uint64_t mbl_memory_used(MBLState *_Nonnull state);
// Bytes before the soft limit; INT64_MAX without one.
int64_t mbl_memory_room(MBLState *_Nonnull state);
// Counts memory that the host keeps on behalf of scripts, or lets go.
void mbl_weigh(MBLState *_Nonnull state, int64_t bytes);
// The same until the run that is under way ends; nothing without one.
void mbl_weigh_for_run(MBLState *_Nonnull state, int64_t bytes);
// The same for the state whose run is innermost on this thread, if there is one.
void mbl_weigh_running(int64_t bytes);
uint64_t mbl_memory_peak(MBLState *_Nonnull state);
void mbl_fail_allocation(MBLState *_Nonnull state, int64_t after, int64_t times);
uint64_t mbl_allocations(MBLState *_Nonnull state);
// Whether the run that this thread is in is about to end.
bool mbl_run_is_ending(void);
MBLAbort mbl_abort(MBLState *_Nonnull state);
void mbl_set_abort(MBLState *_Nonnull state, MBLAbort reason);
int64_t mbl_remaining(MBLState *_Nonnull state);
void mbl_set_remaining(MBLState *_Nonnull state, int64_t instructions);
void mbl_charge_budget(MBLState *_Nonnull state, int64_t instructions);
bool mbl_is_running(MBLState *_Nonnull state);
MBLState *_Nullable mbl_running(void);
// Begins and ends a run: the time for which limits are counted. Runs nest; the outermost sets the counters.
void mbl_begin(MBLState *_Nonnull state);
void mbl_end(MBLState *_Nonnull state);
// Counts bytes written in this run; all of them so far.
uint64_t mbl_output_add(MBLState *_Nonnull state, uint64_t bytes);
int64_t mbl_exit_status(MBLState *_Nonnull state);
void mbl_set_exit_status(MBLState *_Nonnull state, int64_t status);

// Stops and restarts the clocks of this thread's runs, where the host waits for the user.
void mbl_pause_deadlines(bool paused);

// Ends the run of a state from any thread.
void mbl_control_retain(MBLControl *_Nonnull control);
void mbl_control_release(MBLControl *_Nonnull control);
void mbl_control_interrupt(MBLControl *_Nonnull control);
// Lets the next SIGINT interrupt the run; the one after that ends the process. NULL: SIGINT as before.
void mbl_control_on_sigint(MBLControl *_Nullable control);

// MARK: References

// Keeps the value at `index`; 0 when memory ran out.
MBLStatus mbl_reference(MBLState *_Nonnull state, int32_t index, int32_t *_Nonnull reference);
void mbl_queue_retain(MBLQueue *_Nonnull queue);
void mbl_queue_release(MBLQueue *_Nonnull queue);
void mbl_queue_unref(MBLQueue *_Nonnull queue, int32_t reference);

// MARK: The stack

int32_t mbl_top(MBLState *_Nonnull state);
void mbl_set_top(MBLState *_Nonnull state, int32_t top);
void mbl_get(lua_State *_Nonnull thread, int32_t index, MBLValue *_Nonnull value);
bool mbl_to_integer(lua_State *_Nonnull thread, int32_t index, int64_t *_Nonnull value);
bool mbl_to_number(lua_State *_Nonnull thread, int32_t index, double *_Nonnull value);
bool mbl_to_boolean(lua_State *_Nonnull thread, int32_t index);
bool mbl_is_none_or_nil(lua_State *_Nonnull thread, int32_t index);
const char *_Nonnull mbl_type_name(lua_State *_Nonnull thread, int32_t index);
const void *_Nullable mbl_pointer(lua_State *_Nonnull thread, int32_t index);
bool mbl_push_reference(MBLState *_Nonnull state, int32_t reference);
bool mbl_raw_equal(MBLState *_Nonnull state, int32_t first, int32_t second);
MBLStatus mbl_push(MBLState *_Nonnull state, const MBLValue *_Nonnull value);

// MARK: Calls (results stay on the stack above `mbl_top` as it was before)

MBLStatus mbl_load(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length, const char *_Nonnull name,
                   int32_t environment, bool binary);
MBLStatus mbl_dump(MBLState *_Nonnull state, int32_t function, bool strip);
MBLStatus mbl_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                   int32_t results);
// The number in a nil that stands for no result at all.
#define MBLNoResult (-1)
// Calls a function for one result: `*result` stays valid until mbl_set_top.
MBLStatus mbl_call_one(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                       MBLValue *_Nonnull result);
// The same within a run, for calls that are made often; strings, objects and references are not among the arguments.
typedef struct MBLFastResult {
  int64_t word;      // a number or a truth value
  int32_t top;       // what mbl_set_top is given once the result, or the error on the top of the stack, was read; -1: no need
  uint16_t tag;      // an MBLTag
  int16_t status;    // an MBLStatus
} MBLFastResult;
MBLFastResult mbl_fast_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nonnull arguments, int32_t count);
MBLStatus mbl_to_text(MBLState *_Nonnull state, int32_t index);

typedef struct MBLTraceEntry {
  const char *_Nonnull source;
  const char *_Nullable name;
  const char *_Nonnull kind;
  int32_t line;
  int32_t defined;
} MBLTraceEntry;
int32_t mbl_trace_count(MBLState *_Nonnull state);
MBLTraceEntry mbl_trace_entry(MBLState *_Nonnull state, int32_t index);
void mbl_trace_clear(MBLState *_Nonnull state);
void mbl_trace_capture(MBLState *_Nonnull state, lua_State *_Nonnull thread, int32_t level);

// MARK: Tables (raw unless said otherwise)

MBLStatus mbl_table_new(MBLState *_Nonnull state, int32_t arrayCount, int32_t hashCount);
MBLStatus mbl_table_get(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key, bool raw);
MBLStatus mbl_table_set(MBLState *_Nonnull state, int32_t table, const MBLValue *_Nonnull key,
                        const MBLValue *_Nonnull value, bool raw);
// Sets the element at an index to a new table: each value under the key at its place in the list `keys`. Nil values leave
// their keys out.
MBLStatus mbl_table_set_row(MBLState *_Nonnull state, int32_t table, int64_t index, int32_t keys,
                            const MBLValue *_Nonnull values, int32_t count);
uint64_t mbl_table_length(MBLState *_Nonnull state, int32_t table);
// How many keys a table has.
MBLStatus mbl_table_size(MBLState *_Nonnull state, int32_t table, uint64_t *_Nonnull size);
// Pushes an element of the table on the top; false, and nothing pushed, where it is nil.
bool mbl_push_element(MBLState *_Nonnull state, int64_t index);
// Replaces the key on the top by the next key and value; false at the end (and on a key that is gone: *ok is false).
bool mbl_table_next(MBLState *_Nonnull state, int32_t table, bool *_Nonnull ok);
// Takes a key from the stack and pushes the last of up to `most` keys after it, nil at the end, and then their values. `slots`
// gets each key's slot in the type; a key that has none gets -1 and is the last.
MBLStatus mbl_table_slots(MBLState *_Nonnull state, int32_t table, const MBLType *_Nonnull type, int32_t *_Nonnull slots,
                          int32_t most, int32_t *_Nonnull count);
MBLStatus mbl_table_freeze(MBLState *_Nonnull state, int32_t table);
// A negative reference takes the metatable away.
MBLStatus mbl_table_set_metatable(MBLState *_Nonnull state, int32_t table, int32_t metatable);
bool mbl_table_metatable(MBLState *_Nonnull state, int32_t index);
MBLStatus mbl_environment_new(MBLState *_Nonnull state);
MBLStatus mbl_globals(MBLState *_Nonnull state);
// Marks a table as a list, so that an empty one is told from an empty map.
MBLStatus mbl_mark_list(MBLState *_Nonnull state, int32_t table);
bool mbl_is_list(lua_State *_Nonnull thread, int32_t index);

// MARK: Host functions and objects

// `weight`: the bytes that the function keeps alive.
MBLStatus mbl_function_new(MBLState *_Nonnull state, void *_Nonnull function, int64_t weight);
MBLType *_Nullable mbl_type_new(MBLState *_Nonnull state, void *_Nonnull type, const char *_Nonnull name, bool interned);
MBLStatus mbl_type_add_slot(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, int32_t slot);
MBLStatus mbl_type_add_method(MBLType *_Nonnull type, const char *_Nonnull key, size_t length, void *_Nonnull function);
MBLStatus mbl_type_add_operator(MBLType *_Nonnull type, const char *_Nonnull name, void *_Nonnull function);
void *_Nonnull mbl_type_owner(const MBLType *_Nonnull type);
bool mbl_object_kill(MBLState *_Nonnull state, const void *_Nonnull object);
uint64_t mbl_scope_begin(MBLState *_Nonnull state);
void mbl_scope_end(MBLState *_Nonnull state, uint64_t scope);
// Sets the last result of a call; strings are copied, objects retained until pushed.
void mbl_frame_return(MBLFrame *_Nonnull frame, const MBLValue *_Nonnull value);
MBLStatus mbl_frame_flush(MBLFrame *_Nonnull frame);
// Hands over an error (retained) that will be raised when the Swift frame has gone.
void mbl_fail(MBLState *_Nonnull state, void *_Nonnull error, int64_t weight);
void mbl_fail_text(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length);
void mbl_fail_value(MBLState *_Nonnull state, int32_t reference, void *_Nullable error, int64_t weight);
// The Swift error behind the Lua error value at `index`, if one crossed.
void *_Nullable mbl_crossed_error(MBLState *_Nonnull state, int32_t index);
void mbl_where(lua_State *_Nonnull thread, int32_t level, char *_Nonnull buffer, size_t capacity);
// Where a mistake in a call is to be sought: past the modules on board.
void mbl_blame(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity);
// Pushes the environment of the script whose function was called; false, and nothing pushed, where it is that of all scripts.
bool mbl_frame_environment(MBLFrame *_Nonnull frame);
void mbl_function_name(lua_State *_Nonnull thread, char *_Nonnull buffer, size_t capacity, bool *_Nonnull isMethod);
// Where a function is defined, as "script.lua:12"; empty for what is no Lua function.
void mbl_function_place(MBLState *_Nonnull state, int32_t function, char *_Nonnull buffer, size_t capacity);

// MARK: Coroutines

MBLStatus mbl_thread_new(MBLState *_Nonnull state, int32_t function);
MBLStatus mbl_thread_resume(MBLState *_Nonnull state, int32_t thread, const MBLValue *_Nullable arguments, int32_t count,
                            int32_t *_Nonnull results);
int32_t mbl_thread_status(MBLState *_Nonnull state, int32_t thread);
MBLStatus mbl_thread_close(MBLState *_Nonnull state, int32_t thread);

// MARK: Collection

void mbl_collect(MBLState *_Nonnull state);
void mbl_step_collector(MBLState *_Nonnull state, int32_t kilobytes);
void mbl_drain(MBLState *_Nonnull state);

#endif
