#include <stdlib.h>

#include "internal.h"

// The allocator: counts, and says when a limit is passed.

static void memory_passed(MBLState *S, bool hard) {
  if (S->main == NULL || S->depth == 0) return;
  if (hard) {
    if (!S->abort) S->abort = MBLAbortMemory;
  } else {
    S->crowded = 1;
  }
  mbl_arm(S);
}

void *mbl_allocate(void *context, void *block, size_t old, size_t size) {
  MBLState *S = context;
  size_t before = block != NULL ? old : 0;
  if (size == 0) {
    free(block);
    S->used -= before;
    return NULL;
  }
  if (size > before) {
    uint64_t after = S->used - before + size;
    S->allocations++;
    if (S->failAfter > 0) {
      S->failAfter--;
    } else if (S->failAfter == 0) {
      if (--S->failTimes <= 0) S->failAfter = -1;
      return NULL;
    }
    if (S->limits.hardMemory > 0 && after > S->limits.hardMemory + S->baseline) {
      memory_passed(S, true);
      return NULL;
    }
    if (S->limits.softMemory > 0 && after > S->limits.softMemory + S->baseline && !S->crowded && !S->abort) {
      memory_passed(S, false);
    }
  }
  void *moved = realloc(block, size);
  if (moved != NULL) {
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
