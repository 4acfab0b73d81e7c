#include <stdlib.h>
#include <string.h>

#include "host/host.h"

// The Swift objects that Lua holds, and those being passed in or out.

void mbl_reserve_place(MBLState *S, lua_State *L) {
  if (S->owned.vacantCount > 0 || S->owned.count < S->owned.capacity) return;
  int32_t capacity = S->owned.capacity == 0 ? 64 : S->owned.capacity * 2;
  void **owned = realloc(S->owned.objects, (size_t)capacity * sizeof(void *));
  if (owned != NULL) S->owned.objects = owned;
  int32_t *vacant = realloc(S->owned.vacant, (size_t)capacity * sizeof(int32_t));
  if (vacant != NULL) S->owned.vacant = vacant;
  if (owned == NULL || vacant == NULL) luaL_error(L, "not enough memory");
  S->owned.capacity = capacity;
}

int32_t mbl_own(MBLState *S, void *object, int64_t weight) {
  mbl_weigh(S, weight);
  int32_t place = S->owned.vacantCount > 0 ? S->owned.vacant[--S->owned.vacantCount] : S->owned.count++;
  S->owned.objects[place] = object;
  return place;
}

void mbl_disown(MBLState *S, int32_t place, int64_t weight) {
  mbl_weigh(S, -weight);
  mbl_discard(S, S->owned.objects[place]);
  S->owned.objects[place] = NULL;
  S->owned.vacant[S->owned.vacantCount++] = place;
}

void mbl_pending_unwind(MBLState *S, int count) {
  while (S->pending.count > count) S->host->release(S->pending.items[--S->pending.count]);
}

size_t mbl_scratch_copy(MBLState *S, const void *bytes, size_t length) {
  if (length > S->scratch.capacity - S->scratch.top) {
    size_t capacity = S->scratch.capacity == 0 ? 256 : S->scratch.capacity;
    while (capacity - S->scratch.top < length) {
      if (capacity > SIZE_MAX / 4) return SIZE_MAX;
      capacity *= 2;
    }
    char *grown = realloc(S->scratch.bytes, capacity);
    if (grown == NULL) return SIZE_MAX;
    S->scratch.bytes = grown;
    mbl_weigh(S, (int64_t)(capacity - S->scratch.capacity));
    S->scratch.capacity = capacity;
  }
  size_t offset = S->scratch.top;
  if (length > 0) memcpy(S->scratch.bytes + offset, bytes, length);
  S->scratch.top += length;
  return offset;
}

void mbl_scratch_trim(MBLState *S) {
  if (S->scratch.top > 0 || S->scratch.capacity <= MBL_SCRATCH_KEPT) return;
  mbl_weigh(S, -(int64_t)S->scratch.capacity);
  free(S->scratch.bytes);
  S->scratch.bytes = NULL;
  S->scratch.capacity = 0;
}
