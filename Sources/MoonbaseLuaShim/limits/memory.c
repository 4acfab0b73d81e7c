#include "state.h"

// The allocator: counts, and says when a limit is passed.

#define LARGE 4096
// Lua doubles a stack but for some places at its end.
#define LARGE_STACK (1024 * 16)
#define STACK_EXTRA (5 * 16)

// Lua 5.4 calls what is called through `__call` with itself as one more argument, again and again if `__call` is no function:
// a circle of them fills the stack in a time that grows with its square, and no hook is looked at. Such a stack doubles again
// and again for one and the same frame, which nothing else does that is not in the host.
static bool calls_in_circles(MBLState *S, size_t size) {
  lua_Debug frame;
  if (S->main == NULL || S->depth == 0 || S->inHost) return false;
  // The values that fill the stack are the frame's own.
  if ((size_t)lua_gettop(S->running) < size / 64 || !lua_getstack(S->running, 0, &frame)) return false;
  bool isSame = S->grownFrame == (const void *)frame.i_ci;
  if (!isSame || size != S->grownSize) {
    S->doublings = isSame && size == 2 * S->grownSize - STACK_EXTRA ? S->doublings + 1 : 0;
    S->grownFrame = frame.i_ci;
    S->grownSize = size;
    if (S->doublings == 3) {
      S->abort = MBLAbortCallDepth;
      mbl_arm(S);
    }
  }
  return S->doublings >= 3;  // Lua asks a second time, after a collection
}

static void memory_passed(MBLState *S, bool hard) {
  if (S->main == NULL || S->depth == 0) return;
  if (hard) {
    if (!S->abort) S->abort = MBLAbortMemory;
  } else {
    S->crowded = 1;
  }
  mbl_arm(S);
}

static void check_soft(MBLState *S, uint64_t after) {
  if (S->limits.softMemory > 0 && after > S->limits.softMemory + S->baseline && !S->crowded && !S->abort) {
    memory_passed(S, false);
  }
}

// What the host keeps counts as Lua's own memory does, but that the hard limit is nearer: no collection needs room in it.
void mbl_weigh(MBLState *S, int64_t bytes) {
  S->used += (uint64_t)bytes;
  S->hosted += bytes;
  if (bytes <= 0) return;
  S->weighed += (uint64_t)bytes;
  uint64_t soft = S->limits.softMemory;
  if (soft > 0 && S->used > soft + soft + S->baseline) memory_passed(S, true);
  check_soft(S, S->used);
}

// Lua's collector knows nothing of what the host keeps: it would let handles pile up that are small to Lua and large to the
// host. So it is called whenever much has come since the last time, as measured by what there is: the work of a collection
// goes with what Lua holds.
void mbl_collect_hosted(MBLState *S, lua_State *L) {
  if (lua_gc(L, LUA_GCISRUNNING)) {
    mbl_queue_apply(S);
    lua_gc(L, LUA_GCCOLLECT);
    mbl_drain(S);
  }
  int64_t lua = (int64_t)S->used - S->hosted, larger = lua > S->hosted ? lua : S->hosted;
  S->hostedMark = S->hosted + (larger / 2 > MBL_LEAST_GROWTH ? larger / 2 : MBL_LEAST_GROWTH);
}

int64_t mbl_memory_room(MBLState *S) {
  if (S->limits.softMemory == 0) return INT64_MAX;
  int64_t room = (int64_t)(S->limits.softMemory + S->baseline) - (int64_t)S->used;
  return room > 0 ? room : 0;
}

void mbl_weigh_for_run(MBLState *S, int64_t bytes) {
  if (S->depth == 0) return;
  // What was there before the run may go in it.
  if (bytes < -S->runWeight) bytes = -S->runWeight;
  S->runWeight += bytes;
  mbl_weigh(S, bytes);
}

void mbl_weigh_running(int64_t bytes) {
  if (mbl_current != NULL) mbl_weigh(mbl_current, bytes);
}

void *mbl_allocate(void *context, void *block, size_t old, size_t size) {
  MBLState *S = context;
  size_t before = block != NULL ? old : 0;
  // Hash parts of tables are never grown in place; of what is new, `old` tells the type: texts and other objects have one.
  bool isPart = size >= MBL_LEAST_PART && block == NULL && old == 0;
  if (size == 0) {
    if (before >= MBL_LEAST_PART) mbl_part_remove(S, block, before);
    mbl_block_free(&S->blocks, block, before);
    S->used -= before;
    return NULL;
  }
  if (size > before) {
    // What fills much memory in one instruction is paid for by its size.
    if (size >= LARGE) S->budget -= (int64_t)(size / 64);
    uint64_t after = S->used - before + size;
    S->allocations++;
    if (S->failAfter > 0) {
      S->failAfter--;
    } else if (S->failAfter == 0) {
      if (--S->failTimes <= 0) S->failAfter = -1;
      return NULL;
    }
    if (size >= LARGE_STACK && calls_in_circles(S, size)) return NULL;
    if (S->limits.hardMemory > 0 && after > S->limits.hardMemory + S->baseline) {
      memory_passed(S, true);
      return NULL;
    }
    if (isPart && (mbl_growth_is_refused(S, size) || !mbl_part_reserve(S, size))) return NULL;
    check_soft(S, after);
  }
  if (before >= MBL_LEAST_PART) mbl_part_remove(S, block, before);
  void *moved = mbl_block_resize(&S->blocks, block, before, size);
  if (moved != NULL) {
    if (isPart) mbl_part_add(S, moved, size);
    S->used += size - before;
    if (S->used > S->peak) S->peak = S->used;
  }
  return moved;
}

uint64_t mbl_memory_used(MBLState *S) { return S->used; }
uint64_t mbl_memory_peak(MBLState *S) { return S->peak; }
void mbl_fail_allocation(MBLState *S, int64_t after, int64_t times) {
  S->failAfter = after;
  S->failTimes = times;
}
uint64_t mbl_allocations(MBLState *S) { return S->allocations; }
