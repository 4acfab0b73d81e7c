#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "limits/limits.h"

// Garbage collections, and the objects that wait for them: references released by the host, and Swift objects released
// by Lua.

// MARK: References and memory, let go on any thread

struct MBLQueue {
  atomic_int references;
  atomic_int waiting;
  pthread_mutex_t lock;
  int32_t *items;
  int count, capacity;
  int64_t weight;
};

MBLQueue *mbl_queue(MBLState *S) { return S->queue; }

MBLQueue *mbl_queue_new(void) {
  MBLQueue *queue = calloc(1, sizeof(MBLQueue));
  if (queue == NULL) return NULL;
  atomic_init(&queue->references, 1);
  pthread_mutex_init(&queue->lock, NULL);
  return queue;
}

void mbl_queue_retain(MBLQueue *queue) { atomic_fetch_add(&queue->references, 1); }

void mbl_queue_release(MBLQueue *queue) {
  if (atomic_fetch_sub(&queue->references, 1) != 1) return;
  pthread_mutex_destroy(&queue->lock);
  free(queue->items);
  free(queue);
}

void mbl_queue_unref(MBLQueue *queue, int32_t reference) {
  pthread_mutex_lock(&queue->lock);
  if (queue->count == queue->capacity) {
    int32_t *grown = mbl_grown(queue->items, &queue->capacity, sizeof(int32_t));
    if (grown != NULL) queue->items = grown;
  }
  if (queue->count < queue->capacity) queue->items[queue->count++] = reference;
  pthread_mutex_unlock(&queue->lock);
  atomic_store_explicit(&queue->waiting, 1, memory_order_release);
}

void mbl_queue_weigh(MBLQueue *queue, int64_t bytes) {
  pthread_mutex_lock(&queue->lock);
  queue->weight += bytes;
  pthread_mutex_unlock(&queue->lock);
  atomic_store_explicit(&queue->waiting, 1, memory_order_release);
}

void mbl_queue_apply(MBLState *S) {
  MBLQueue *queue = S->queue;
  if (!atomic_load_explicit(&queue->waiting, memory_order_acquire)) return;
  if (!lua_checkstack(S->running, 8)) return;
  pthread_mutex_lock(&queue->lock);
  for (int i = 0; i < queue->count; i++) luaL_unref(S->running, LUA_REGISTRYINDEX, queue->items[i]);
  queue->count = 0;
  int64_t weight = queue->weight;
  queue->weight = 0;
  atomic_store_explicit(&queue->waiting, 0, memory_order_relaxed);
  pthread_mutex_unlock(&queue->lock);
  mbl_weigh(S, weight);
}

// MARK: Swift objects, released outside of the collector, so that no Swift code runs inside of it

void mbl_discard(MBLState *S, void *object) {
  if (!mbl_list_add(&S->garbage, object)) S->host->release(object);
}

void mbl_drain(MBLState *S) {
  while (S->garbage.count > 0) S->host->release(S->garbage.items[--S->garbage.count]);
}

// MARK: Collections

void mbl_collect_in(MBLState *S, lua_State *L) {
  mbl_queue_apply(S);
  lua_gc(L, LUA_GCCOLLECT);
  mbl_drain(S);
}

void mbl_collect(MBLState *S) { mbl_collect_in(S, S->running); }

// Lua's collector does not know the host's memory, so handles that are small in Lua and large in the host would pile
// up. A collection therefore runs whenever the host's memory has grown much since the last one. The threshold depends
// on the memory of Lua and the host, because a collection's work grows with Lua's memory.
void mbl_collect_hosted(MBLState *S, lua_State *L) {
  if (lua_gc(L, LUA_GCISRUNNING)) mbl_collect_in(S, L);
  int64_t lua = (int64_t)S->memory.used - S->hosted.bytes, larger = lua > S->hosted.bytes ? lua : S->hosted.bytes;
  S->hosted.mark = S->hosted.bytes + (larger / 2 > MBL_LEAST_GROWTH ? larger / 2 : MBL_LEAST_GROWTH);
}
