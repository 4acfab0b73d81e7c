#include <stdlib.h>
#include <string.h>

#include "state.h"

// The Swift objects that Lua holds, and those on their way in or out.

// Swift objects are released outside of the collector, so that no Swift code runs inside of it.
void mbl_discard(MBLState *S, void *object) {
  if (S->garbageCount == S->garbageCapacity) {
    int capacity = S->garbageCapacity == 0 ? 64 : S->garbageCapacity * 2;
    void **grown = realloc(S->garbage, (size_t)capacity * sizeof(void *));
    if (grown == NULL) {
      S->host->release(object);
      return;
    }
    S->garbage = grown;
    S->garbageCapacity = capacity;
  }
  S->garbage[S->garbageCount++] = object;
}

void mbl_drain(MBLState *S) {
  while (S->garbageCount > 0) S->host->release(S->garbage[--S->garbageCount]);
}

// Makes room for one more object; may raise, before anything is owned.
void mbl_reserve_place(MBLState *S, lua_State *L) {
  if (S->vacantCount > 0 || S->ownedCount < S->ownedCapacity) return;
  int32_t capacity = S->ownedCapacity == 0 ? 64 : S->ownedCapacity * 2;
  void **owned = realloc(S->owned, (size_t)capacity * sizeof(void *));
  if (owned != NULL) S->owned = owned;
  int32_t *vacant = realloc(S->vacant, (size_t)capacity * sizeof(int32_t));
  if (vacant != NULL) S->vacant = vacant;
  if (owned == NULL || vacant == NULL) luaL_error(L, "not enough memory");
  S->ownedCapacity = capacity;
}

int32_t mbl_own(MBLState *S, void *object, int64_t weight) {
  mbl_weigh(S, weight);
  int32_t place = S->vacantCount > 0 ? S->vacant[--S->vacantCount] : S->ownedCount++;
  S->owned[place] = object;
  return place;
}

void mbl_disown(MBLState *S, int32_t place, int64_t weight) {
  mbl_weigh(S, -weight);
  mbl_discard(S, S->owned[place]);
  S->owned[place] = NULL;
  S->vacant[S->vacantCount++] = place;
}

bool mbl_pending_push(MBLState *S, void *object) {
  if (S->pendingCount == S->pendingCapacity) {
    int capacity = S->pendingCapacity == 0 ? 16 : S->pendingCapacity * 2;
    void **grown = realloc(S->pending, (size_t)capacity * sizeof(void *));
    if (grown == NULL) return false;
    S->pending = grown;
    S->pendingCapacity = capacity;
  }
  S->pending[S->pendingCount++] = object;
  return true;
}

void mbl_pending_unwind(MBLState *S, int count) {
  while (S->pendingCount > count) S->host->release(S->pending[--S->pendingCount]);
}

size_t mbl_scratch_copy(MBLState *S, const void *bytes, size_t length) {
  if (length > S->scratchCapacity - S->scratchTop) {
    size_t capacity = S->scratchCapacity == 0 ? 256 : S->scratchCapacity;
    while (capacity - S->scratchTop < length) {
      if (capacity > SIZE_MAX / 4) return SIZE_MAX;
      capacity *= 2;
    }
    char *grown = realloc(S->scratch, capacity);
    if (grown == NULL) return SIZE_MAX;
    S->scratch = grown;
    mbl_weigh(S, (int64_t)(capacity - S->scratchCapacity));
    S->scratchCapacity = capacity;
  }
  size_t offset = S->scratchTop;
  if (length > 0) memcpy(S->scratch + offset, bytes, length);
  S->scratchTop += length;
  return offset;
}

void mbl_scratch_trim(MBLState *S) {
  if (S->scratchTop > 0 || S->scratchCapacity <= (1 << 20)) return;
  mbl_weigh(S, -(int64_t)S->scratchCapacity);
  free(S->scratch);
  S->scratch = NULL;
  S->scratchCapacity = 0;
}
