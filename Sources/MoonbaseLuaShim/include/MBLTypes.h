#ifndef MBL_TYPES_H
#define MBL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The types exchanged between the languages: values, statuses, limits and presets.

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
  MBLTagNull,       // the sentinel for null within lists and maps
  MBLTagObject,     // pointer: the Swift object, length: its MBLType
  MBLTagTable,      // integer: a stack index, or a reference when pushed
  MBLTagFunction,
  MBLTagUserdata,
  MBLTagThread,
  MBLTagReference,  // integer: a registry reference (only into Lua)
  MBLTagInline,     // pointer: the bytes of a value of the host, length: its MBLType
} MBL_ENUM MBLTag;

// A plain value passed between the languages. It owns nothing.
typedef struct MBLValue {
  union {
    int64_t integer;
    double number;
    const void *_Nullable pointer;
  };
  uint64_t length;
  MBLTag tag;
  uint32_t extra;  // objects: scoped flag and weight; strings: whether the bytes are borrowed
} MBLValue;

enum {
  MBL_INLINE_WORDS = 3,  // the most words of an inline value
  MBL_BORROWED = 1,  // the bytes are valid until the call has ended, so they are not copied first
  MBL_SCOPED = 1,
  MBL_WEIGHT_UNIT = 2,    // the unit of weight in `extra`
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
  MBLStatusIdle = 7,   // no run is in progress
} MBL_ENUM MBLStatus;

// The reason why a run must end. Kept outside of Lua, so that no script can catch it.
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

// A call from Lua into Swift.
typedef struct MBLFrame {
  MBLState *_Nonnull state;
  lua_State *_Nonnull thread;
  int32_t count;     // arguments on the stack, from index 1
  int32_t pushed;    // results already on the stack
  bool hasResult;    // a last result waits in `result`; C pushes it after the Swift frame has returned
  MBLValue result;
  uint64_t words[MBL_INLINE_WORDS];  // the bytes of an inline result
} MBLFrame;

// Flags of a chunk's lines: a line has code, and its code ran.
enum {
  MBL_LINE_CAN_RUN = 1,
  MBL_LINE_RAN = 2,
};
typedef struct MBLCoveredFile {
  char *_Nonnull name;      // including the leading mark
  uint8_t *_Nullable lines;
  int32_t count;
} MBLCoveredFile;

// The Swift functions that C calls. Each returns 0 for success or 1 for an error passed to mbl_fail.
typedef struct MBLHost {
  int32_t (*_Nonnull call)(void *_Nonnull function, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull get)(void *_Nonnull type, void *_Nonnull object, int32_t slot, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull set)(void *_Nonnull type, void *_Nonnull object, int32_t slot, MBLFrame *_Nonnull frame);
  int32_t (*_Nonnull missing)(void *_Nonnull type, void *_Nonnull object, bool writing, MBLFrame *_Nonnull frame);
  void (*_Nonnull retain)(void *_Nonnull object);
  void (*_Nonnull release)(void *_Nonnull object);
  // Writes to a stream (1 output, 2 error). Returns false if the output limit is exceeded.
  bool (*_Nonnull output)(void *_Nonnull host, int32_t stream, const char *_Nonnull bytes, size_t length);
  // The text of a crossed Swift error, for tostring. Copied into `buffer`; returns its full length.
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
  int64_t callDepth;     // 0: only Lua's own
} MBLLimits;

// The resources that the functions of an owner may use within a run, and what remains of them. Nested calls of the same
// owner share an allowance.
typedef struct MBLAllowance {
  int64_t instructions;  // INT64_MAX: unlimited
  double seconds;        // MBL_NO_SECONDS: unlimited
  uint64_t memory;       // bytes; 0: unlimited
  // Private to limits/allowance.c.
  MBLState *_Nullable state;
  const void *_Nullable owner;
  struct MBLAllowance *_Nullable outer;      // of this thread
  struct MBLAllowance *_Nullable enclosing;  // of this state
  struct MBLAllowance *_Nullable account;    // the outermost of this owner
  int64_t before;
  double since;
  volatile double end;
  uint64_t entered, ceiling;
} MBLAllowance;

#define MBL_NO_SECONDS 1e15

#endif
