#ifndef MBL_RUN_H
#define MBL_RUN_H

#include "MBLTypes.h"

// MARK: States

MBLState *_Nullable mbl_open(const MBLHost *_Nonnull host, void *_Nonnull owner, MBLPreset preset);
void mbl_close(MBLState *_Nonnull state);
// Whether output uses C's streams, so that finalizers can still write while the state closes.
void mbl_set_plain_output(MBLState *_Nonnull state, bool isPlain);
void *_Nonnull mbl_owner(MBLState *_Nonnull state);
const char *_Nonnull mbl_version(void);

// MARK: Runs

// Begins and ends a run, to which limits apply. Runs nest; the outermost sets the counters.
void mbl_begin(MBLState *_Nonnull state);
void mbl_end(MBLState *_Nonnull state);
bool mbl_is_running(MBLState *_Nonnull state);
// The state of the innermost run on this thread.
MBLState *_Nullable mbl_running(void);
// Within a run, changed limits of instructions and call depth apply from the next run, other limits immediately.
void mbl_set_limits(MBLState *_Nonnull state, const MBLLimits *_Nonnull limits);
// Counts bytes written in this run and returns their sum.
uint64_t mbl_output_add(MBLState *_Nonnull state, uint64_t bytes);
int64_t mbl_exit_status(MBLState *_Nonnull state);

// MARK: Calls (results stay on the stack above `mbl_top` as it was before)

MBLStatus mbl_load(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length, const char *_Nonnull name,
                   int32_t environment, bool binary);
// Loads a part of a source that follows earlier lines. The part may be an expression, whose values are then returned.
MBLStatus mbl_load_part(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length,
                        const char *_Nonnull name, int32_t environment, bool binary, int64_t lines_before,
                        bool is_expression);
MBLStatus mbl_dump(MBLState *_Nonnull state, int32_t function, bool strip);
MBLStatus mbl_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                   int32_t results);
// The number in a nil that represents a missing result.
#define MBLNoResult (-1)
// Calls a function for a single result: `*result` is valid until mbl_set_top.
MBLStatus mbl_call_one(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                       MBLValue *_Nonnull result);
// The result of mbl_fast_call.
typedef struct MBLFastResult {
  int64_t word;      // a number or a boolean
  int32_t top;       // for mbl_set_top once the result, or the error on the top of the stack, was read; -1: not needed
  uint16_t tag;      // an MBLTag
  int16_t status;    // an MBLStatus
} MBLFastResult;
// The version of mbl_call_one for fast calls within a run. Objects and references are not allowed as arguments.
MBLFastResult mbl_fast_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nonnull arguments, int32_t count);

// A function in the form that a store calls for each row. `home` refers to the state, or NULL after it is closed.
// `home` and the reference outlive the call.
typedef struct MBLRowCall MBLRowCall;
MBLRowCall *_Nullable mbl_row_call_make(MBLState *_Nullable const *_Nonnull home, int32_t function);
void mbl_row_call_free(MBLRowCall *_Nonnull call);
// Calls the function within a run for its first result, a scalar or a string that is valid until the next call. Cells
// are values with borrowed strings. Returns the result's tag, or a negative number.
int32_t mbl_row_call(void *_Nonnull call, const void *_Nonnull cells, int32_t count, uint64_t *_Nonnull word,
                     intptr_t *_Nonnull size);

// MARK: Tracebacks of the last call that failed

typedef struct MBLTraceEntry {
  const char *_Nonnull source;
  const char *_Nullable name;
  const char *_Nonnull kind;
  int32_t line;
  int32_t defined;
} MBLTraceEntry;
int32_t mbl_trace_count(MBLState *_Nonnull state);
MBLTraceEntry mbl_trace_entry(MBLState *_Nonnull state, int32_t index);
// Records the active calls, innermost first.
void mbl_trace_here(MBLState *_Nonnull state);
void mbl_trace_clear(MBLState *_Nonnull state);

// MARK: Coroutines

MBLStatus mbl_thread_new(MBLState *_Nonnull state, int32_t function);
MBLStatus mbl_thread_resume(MBLState *_Nonnull state, int32_t thread, const MBLValue *_Nullable arguments, int32_t count,
                            int32_t *_Nonnull results);
// 0 suspended, 1 running or waiting for a coroutine that it resumed, 2 dead.
int32_t mbl_thread_status(MBLState *_Nonnull state, int32_t thread);
MBLStatus mbl_thread_close(MBLState *_Nonnull state, int32_t thread);

#endif
