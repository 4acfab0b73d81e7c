#ifndef MOONBASE_LUA_STATE_H
#define MOONBASE_LUA_STATE_H

#include <lauxlib.h>
#include <lua.h>
#include <signal.h>

#include "MBLTypes.h"

// The parts of a state, a struct for each subject. The folders of the shim build on each other in this order, and each
// includes only its own headers and those of earlier folders: parser, limits, host, library, run.

// MARK: limits

#define MBL_BLOCK_GRAIN 16
#define MBL_BLOCK_LARGEST 512

// The memory of a state, see limits/blocks.h.
typedef struct MBLBlocks {
  void *vacant[MBL_BLOCK_LARGEST / MBL_BLOCK_GRAIN];
  char *fresh, *end;  // the rest of the last slab
  void *slabs;
  size_t slabSize;
} MBLBlocks;

typedef struct MBLMemory {
  MBLBlocks blocks;
  uint64_t used;      // bytes of Lua and of the host
  uint64_t peak;
  uint64_t baseline;  // bytes of the libraries, not charged to the script
  uint64_t soft, hosted, hard;  // where `used` ends a run: see limits/allowance.c; UINT64_MAX without a limit
  uint64_t size;                // the soft limit without the bytes used before
  bool isOfAllowance;           // whether these are an allowance's
  uint64_t allocations;
  int64_t failAfter, failTimes;  // for tests
} MBLMemory;

// The host's memory for scripts.
typedef struct MBLHosted {
  int64_t bytes;
  int64_t mark;    // the value of `bytes` that triggers a collection
  uint64_t added;  // all bytes ever added
  int64_t ofRun;   // the bytes that count for this run only
} MBLHosted;

// Collections due to lack of memory.
typedef struct MBLShortage {
  volatile sig_atomic_t isFelt;  // the soft memory limit was exceeded; the hook collects, then decides
  uint64_t allocations;          // their number at the last collection
  uint64_t added;                // MBLHosted.added then
  int inARow;                    // collections in quick succession
} MBLShortage;

// The frame for which Lua's stack grew last.
typedef struct MBLStackGrowth {
  const void *frame;
  size_t size;
  int doublings;
} MBLStackGrowth;

// Large hash parts of tables, unordered.
typedef struct MBLPart MBLPart;
typedef struct MBLParts {
  MBLPart *items;
  int count, capacity;
} MBLParts;

// The call depth at the last check.
typedef struct MBLCalls {
  lua_State *thread;
  int skippable;  // checks that can be skipped
} MBLCalls;

// The executed lines, if they are recorded.
typedef struct MBLCoverage {
  bool isOn;
  bool isShort;  // memory was insufficient for some lines
  MBLCoveredFile *files;
  int32_t count, capacity;
} MBLCoverage;

typedef struct MBLRun {
  int depth;                     // nested runs
  MBLState *parent;              // the state that ran on this thread before
  int64_t budget;                // remaining instructions
  int64_t floor;                 // where `budget` ends the run: 0, or more within an allowance
  int64_t excluded;              // instructions that allowances used of it
  MBLAllowance *allowance;       // the innermost one of this state
  MBLAllowance *ending;          // the allowance that `abort` ends; NULL: the run
  volatile sig_atomic_t abort;   // an MBLAbort: the reason why the run must end
  volatile sig_atomic_t armed;   // the hook runs at every instruction
  bool inHost;                   // a host function runs instead of Lua
  int64_t exitStatus;
  uint64_t written;              // bytes of output
} MBLRun;

// MARK: host

// Swift objects.
typedef struct MBLList {
  void **items;
  int count, capacity;
} MBLList;

// Every Swift object that Lua holds, by place. Lua loses a finalizer if memory runs out during its call; objects that
// remain here are released when the state closes.
typedef struct MBLOwned {
  void **objects;
  int32_t *vacant;
  int32_t count, capacity, vacantCount;
} MBLOwned;

// Bytes that host functions return, until C consumes them.
typedef struct MBLScratch {
  char *bytes;
  size_t top, capacity;
} MBLScratch;

// The error of a host function, until C raises it.
typedef struct MBLFailure {
  void *error;  // a retained Swift error
  int64_t weight;
  int reference;  // of the Lua value to raise
  bool isText;
  size_t text, length;  // in the scratch buffer
} MBLFailure;

typedef struct MBLScopes {
  uint64_t *open;
  int count, capacity;
  uint64_t last;
} MBLScopes;

// MARK: library

typedef struct MBLLibrary {
  bool warns, warningContinues;
  bool plainOutput;
  int closeDepth;      // nesting of coroutines that close coroutines
  int64_t coroutines;  // an upper bound of the live coroutines
} MBLLibrary;

// MARK: run

#define MBL_TRACE_ENTRIES 24

typedef struct MBLTraceSlot {
  char source[LUA_IDSIZE];
  char name[LUA_IDSIZE];
  const char *kind;
  int line;
  int defined;
} MBLTraceSlot;

typedef struct MBLTrace {
  MBLTraceSlot slots[MBL_TRACE_ENTRIES];
  int count;
} MBLTrace;

// MARK: All of it

struct MBLState {
  lua_State *main;
  lua_State *running;  // the running coroutine
  const MBLHost *host;
  void *owner;
  MBLPreset preset;
  bool closing;
  MBLLimits limits;

  MBLRun run;
  MBLMemory memory;
  MBLHosted hosted;
  MBLShortage shortage;
  MBLStackGrowth growth;
  MBLParts parts;
  MBLCalls calls;
  MBLCoverage coverage;
  MBLControl *control;
  MBLQueue *queue;   // references released by the host
  MBLList garbage;   // Swift objects whose handles Lua has collected

  MBLList pending;   // Swift objects that wait for their Swift frame to return
  MBLScratch scratch;
  MBLFailure failure;
  MBLOwned owned;
  MBLScopes scopes;
  MBLType *types;
  int interned;          // the reference of the table from addresses of objects to their handles
  int64_t lastIdentity;  // of the tables, functions and the like whose text was requested

  MBLLibrary library;
  MBLTrace trace;
};

static inline MBLState *mbl_of(lua_State *L) { return *(MBLState **)lua_getextraspace(L); }
static inline bool mbl_sandboxed(const MBLState *S) { return S->preset != MBLPresetTrusted; }

#endif
