#ifndef MOONBASE_LUA_STATE_H
#define MOONBASE_LUA_STATE_H

#include <lauxlib.h>
#include <lua.h>
#include <signal.h>

#include "MBLTypes.h"

// What a state consists of: a part for each subject. The rooms of the shim build on each other in this order, and each includes
// headers of its own and of rooms before it only: parser, limits, host, library, run.

// MARK: limits

#define MBL_BLOCK_GRAIN 16
#define MBL_BLOCK_LARGEST 512

// The memory of one state, see limits/blocks.h.
typedef struct MBLBlocks {
  void *vacant[MBL_BLOCK_LARGEST / MBL_BLOCK_GRAIN];
  char *fresh, *end;  // what the last slab has left
  void *slabs;
  size_t slabSize;
} MBLBlocks;

typedef struct MBLMemory {
  MBLBlocks blocks;
  uint64_t used;      // bytes of Lua's, and what the host keeps
  uint64_t peak;
  uint64_t baseline;  // what the libraries take, which is not the script's
  uint64_t soft, hosted, hard;  // where `used` ends a run: see limits/allowance.c; UINT64_MAX without a limit
  uint64_t size;                // what the soft limit is without what was used before
  bool isOfAllowance;           // whether these are an allowance's
  uint64_t allocations;
  int64_t failAfter, failTimes;  // for tests
} MBLMemory;

// What the host keeps for scripts.
typedef struct MBLHosted {
  int64_t bytes;
  int64_t mark;    // where `bytes` calls for a collection
  uint64_t added;  // all that ever came to it
  int64_t ofRun;   // what of it counts for this run only
} MBLHosted;

// Collections for want of memory.
typedef struct MBLShortage {
  volatile sig_atomic_t isFelt;  // the soft memory limit was passed; the hook collects, then decides
  uint64_t allocations;          // how many there were at the last such collection
  uint64_t added;                // MBLHosted.added then
  int inARow;                    // such collections in quick succession
} MBLShortage;

// The frame for which Lua's stack grew last.
typedef struct MBLStackGrowth {
  const void *frame;
  size_t size;
  int doublings;
} MBLStackGrowth;

// Large hash parts of tables, in no order.
typedef struct MBLPart MBLPart;
typedef struct MBLParts {
  MBLPart *items;
  int count, capacity;
} MBLParts;

// The call depth, as it was looked at last.
typedef struct MBLCalls {
  lua_State *thread;
  int skippable;  // looks that may be left out
} MBLCalls;

// The lines that ran, where they are counted.
typedef struct MBLCoverage {
  bool isOn;
  bool isShort;  // there was no memory for some of them
  MBLCoveredFile *files;
  int32_t count, capacity;
} MBLCoverage;

typedef struct MBLRun {
  int depth;                     // runs within runs
  MBLState *parent;              // the state that ran on this thread before
  int64_t budget;                // instructions that are left
  int64_t floor;                 // where `budget` ends the run: 0, or more within an allowance
  int64_t excluded;              // what allowances used up of it
  MBLAllowance *allowance;       // the innermost one of this state
  MBLAllowance *ending;          // whose end `abort` is; NULL: the run's
  volatile sig_atomic_t abort;   // an MBLAbort: why the run must end
  volatile sig_atomic_t armed;   // the hook fires at every instruction
  bool inHost;                   // a host function runs, and Lua does not
  int64_t exitStatus;
  uint64_t written;              // bytes of output
} MBLRun;

// MARK: host

// Swift objects.
typedef struct MBLList {
  void **items;
  int count, capacity;
} MBLList;

// Every Swift object that Lua holds, by place. Lua loses a finalizer when memory runs out while it calls it; what is left here
// when the state closes is released then.
typedef struct MBLOwned {
  void **objects;
  int32_t *vacant;
  int32_t count, capacity, vacantCount;
} MBLOwned;

// Bytes that host functions return, until C takes them.
typedef struct MBLScratch {
  char *bytes;
  size_t top, capacity;
} MBLScratch;

// What a host function failed with, until C raises it.
typedef struct MBLFailure {
  void *error;  // a retained Swift error
  int64_t weight;
  int reference;  // of the Lua value to raise
  bool isText;
  size_t text, length;  // in the scratch
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
  int closeDepth;      // coroutines that close coroutines
  int64_t coroutines;  // those alive, or more
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
  lua_State *running;  // the coroutine that runs
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
  MBLQueue *queue;   // references that the host let go
  MBLList garbage;   // Swift objects whose handles Lua has collected

  MBLList pending;   // Swift objects that wait for their Swift frame to go
  MBLScratch scratch;
  MBLFailure failure;
  MBLOwned owned;
  MBLScopes scopes;
  MBLType *types;
  int interned;          // the reference of the table that has the handle of each object, by its address
  int64_t lastIdentity;  // of the tables, functions and their like whose text was asked for

  MBLLibrary library;
  MBLTrace trace;
};

static inline MBLState *mbl_of(lua_State *L) { return *(MBLState **)lua_getextraspace(L); }
static inline bool mbl_sandboxed(const MBLState *S) { return S->preset != MBLPresetTrusted; }

#endif
