#include <stdlib.h>

#include "limits/blocks.h"
#include "limits/limits.h"
#include "limits/table_growth.h"

// Lua's allocator. Counts bytes, and ends the run when a limit is exceeded.

#define LARGE 4096
// Lua doubles a stack, except for some extra slots at its end.
#define LARGE_STACK (1024 * 16)
#define STACK_EXTRA (5 * 16)

// A value called through `__call` becomes a further argument of the call. If `__call` is not a function either, Lua 5.4
// continues with that value's `__call`: a circle of such values fills the stack, in time quadratic in its size and
// without running a hook. Only such a stack doubles several times for the same frame, which never happens otherwise
// outside of the host.
static bool calls_in_circles(MBLState *S, size_t size) {
  lua_Debug frame;
  if (S->main == NULL || S->run.depth == 0 || S->run.inHost) return false;
  // In such a circle the values that fill the stack belong to the top frame.
  if ((size_t)lua_gettop(S->running) < size / 64 || !lua_getstack(S->running, 0, &frame)) return false;
  bool isSame = S->growth.frame == (const void *)frame.i_ci;
  if (!isSame || size != S->growth.size) {
    S->growth.doublings = isSame && size == 2 * S->growth.size - STACK_EXTRA ? S->growth.doublings + 1 : 0;
    S->growth.frame = frame.i_ci;
    S->growth.size = size;
    if (S->growth.doublings == 3) {
      mbl_end_run(S, MBLAbortCallDepth);
      mbl_arm(S);
    }
  }
  return S->growth.doublings >= 3;  // Lua tries again after a collection
}

static void memory_passed(MBLState *S, bool hard) {
  if (S->main == NULL || S->run.depth == 0) return;
  if (hard) {
    mbl_end_run(S, MBLAbortMemory);
  } else {
    S->shortage.isFelt = 1;
  }
  mbl_arm(S);
}

static void check_soft(MBLState *S, uint64_t after) {
  if (after > S->memory.soft && !S->shortage.isFelt && !S->run.abort) {
    memory_passed(S, false);
  }
}

// The host's memory counts like Lua's own. Its hard limit is lower, twice the soft limit, because a collection needs no
// room there.
void mbl_weigh(MBLState *S, int64_t bytes) {
  S->memory.used += (uint64_t)bytes;
  S->hosted.bytes += bytes;
  if (bytes <= 0) return;
  S->hosted.added += (uint64_t)bytes;
  if (S->memory.used > S->memory.hosted) memory_passed(S, true);
  check_soft(S, S->memory.used);
}

int64_t mbl_memory_room(MBLState *S) {
  if (S->memory.soft == UINT64_MAX) return INT64_MAX;
  int64_t room = (int64_t)S->memory.soft - (int64_t)S->memory.used;
  return room > 0 ? room : 0;
}

void mbl_weigh_for_run(MBLState *S, int64_t bytes) {
  if (S->run.depth == 0) return;
  // Memory kept by the host before the run may be freed within it, which does not count for the run.
  if (bytes < -S->hosted.ofRun) bytes = -S->hosted.ofRun;
  S->hosted.ofRun += bytes;
  mbl_weigh(S, bytes);
}

void mbl_weigh_running(int64_t bytes) {
  if (mbl_current != NULL) mbl_weigh(mbl_current, bytes);
}

void *mbl_allocate(void *context, void *block, size_t old, size_t size) {
  MBLState *S = context;
  size_t before = block != NULL ? old : 0;
  // Hash parts of tables are never resized. For a new block Lua passes the object's type in `old`, which is 0 for hash
  // parts.
  bool isPart = size >= MBL_LEAST_PART && block == NULL && old == 0;
  if (size == 0) {
    if (before >= MBL_LEAST_PART) mbl_part_remove(S, block, before);
    mbl_block_free(&S->memory.blocks, block, before);
    S->memory.used -= before;
    return NULL;
  }
  if (size > before) {
    // An instruction that allocates much memory costs more, by the size.
    if (size >= LARGE) S->run.budget -= (int64_t)(size / 64);
    uint64_t after = S->memory.used - before + size;
    S->memory.allocations++;
    if (S->memory.failAfter > 0) {
      S->memory.failAfter--;
    } else if (S->memory.failAfter == 0) {
      if (--S->memory.failTimes <= 0) S->memory.failAfter = -1;
      return NULL;
    }
    if (size >= LARGE_STACK && calls_in_circles(S, size)) return NULL;
    if (after > S->memory.hard) {
      memory_passed(S, true);
      return NULL;
    }
    if (isPart && (mbl_growth_is_refused(S, size) || !mbl_part_reserve(S, size))) return NULL;
    check_soft(S, after);
  }
  if (before >= MBL_LEAST_PART) mbl_part_remove(S, block, before);
  void *moved = mbl_block_resize(&S->memory.blocks, block, before, size);
  if (moved != NULL) {
    if (isPart) mbl_part_add(S, moved, size);
    S->memory.used += size - before;
    if (S->memory.used > S->memory.peak) S->memory.peak = S->memory.used;
  }
  return moved;
}

uint64_t mbl_memory_used(MBLState *S) { return S->memory.used; }
uint64_t mbl_memory_peak(MBLState *S) { return S->memory.peak; }
void mbl_fail_allocation(MBLState *S, int64_t after, int64_t times) {
  S->memory.failAfter = after;
  S->memory.failTimes = times;
}
uint64_t mbl_allocations(MBLState *S) { return S->memory.allocations; }

// MARK: Lists

void *mbl_grown(void *items, int *capacity, size_t size) {
  int larger = *capacity == 0 ? 16 : *capacity * 2;
  void *grown = realloc(items, (size_t)larger * size);
  if (grown != NULL) *capacity = larger;
  return grown;
}

bool mbl_list_add(MBLList *list, void *item) {
  if (list->count == list->capacity) {
    void **grown = mbl_grown(list->items, &list->capacity, sizeof(void *));
    if (grown == NULL) return false;
    list->items = grown;
  }
  list->items[list->count++] = item;
  return true;
}

void mbl_limits_free(MBLState *S) {
  mbl_drain(S);
  mbl_coverage_free(S);
  free(S->garbage.items);
  free(S->parts.items);
  if (S->control != NULL) mbl_control_release(S->control);
  if (S->queue != NULL) mbl_queue_release(S->queue);
  mbl_blocks_release(&S->memory.blocks);
}
