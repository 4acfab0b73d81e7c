#ifndef MBL_RUN_H
#define MBL_RUN_H

#include "MBLTypes.h"

// MARK: States

MBLState *_Nullable mbl_open(const MBLHost *_Nonnull host, void *_Nonnull owner, MBLPreset preset);
void mbl_close(MBLState *_Nonnull state);
// Whether output goes to the streams of C, so that finalizers can still write as the state closes.
void mbl_set_plain_output(MBLState *_Nonnull state, bool isPlain);
void *_Nonnull mbl_owner(MBLState *_Nonnull state);
const char *_Nonnull mbl_version(void);

// MARK: Runs

// Begins and ends a run: the time for which limits are counted. Runs nest; the outermost sets the counters.
void mbl_begin(MBLState *_Nonnull state);
void mbl_end(MBLState *_Nonnull state);
bool mbl_is_running(MBLState *_Nonnull state);
// The state whose run is innermost on this thread.
MBLState *_Nullable mbl_running(void);
// Within a run, new counts of instructions and of the call depth hold from the next run on, all else at once.
void mbl_set_limits(MBLState *_Nonnull state, const MBLLimits *_Nonnull limits);
// Counts bytes written in this run; gives their sum.
uint64_t mbl_output_add(MBLState *_Nonnull state, uint64_t bytes);
int64_t mbl_exit_status(MBLState *_Nonnull state);

// MARK: Calls (results stay on the stack above `mbl_top` as it was before)

MBLStatus mbl_load(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length, const char *_Nonnull name,
                   int32_t environment, bool binary);
// Loads a part of a source that has lines before it. The part may be an expression: then its values are returned.
MBLStatus mbl_load_part(MBLState *_Nonnull state, const char *_Nullable bytes, size_t length,
                        const char *_Nonnull name, int32_t environment, bool binary, int64_t lines_before,
                        bool is_expression);
MBLStatus mbl_dump(MBLState *_Nonnull state, int32_t function, bool strip);
MBLStatus mbl_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                   int32_t results);
// The number in a nil that stands for no result at all.
#define MBLNoResult (-1)
// Calls a function for one result: `*result` stays valid until mbl_set_top.
MBLStatus mbl_call_one(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nullable arguments, int32_t count,
                       MBLValue *_Nonnull result);
// The result of mbl_fast_call.
typedef struct MBLFastResult {
  int64_t word;      // a number or a truth value
  int32_t top;       // what mbl_set_top is given once the result, or the error on the top of the stack, was read; -1: no need
  uint16_t tag;      // an MBLTag
  int16_t status;    // an MBLStatus
} MBLFastResult;
// mbl_call_one within a run, for calls that are made often; objects and references are not among the arguments.
MBLFastResult mbl_fast_call(MBLState *_Nonnull state, int32_t function, const MBLValue *_Nonnull arguments, int32_t count);

// A function as one that a store calls for each row. `home` is where the state is found, or NULL once it is closed; it and the reference outlive the call.
typedef struct MBLRowCall MBLRowCall;
MBLRowCall *_Nullable mbl_row_call_make(MBLState *_Nullable const *_Nonnull home, int32_t function);
void mbl_row_call_free(MBLRowCall *_Nonnull call);
// Calls it within a run, for the first result, a scalar or a string that is kept until the next call. Cells are values
// with strings that are borrowed. Gives the result's tag, or a negative number.
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
// Notes the calls that are under way, the innermost first.
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
