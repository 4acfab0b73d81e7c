#include <stdlib.h>

#include "state.h"

// References let go by any thread wait here until their state runs again.

struct MBLQueue {
  atomic_int references;
  atomic_int waiting;
  pthread_mutex_t lock;
  int32_t *items;
  int count, capacity;
};

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
    int capacity = queue->capacity == 0 ? 64 : queue->capacity * 2;
    int32_t *grown = realloc(queue->items, (size_t)capacity * sizeof(int32_t));
    if (grown != NULL) {
      queue->items = grown;
      queue->capacity = capacity;
    }
  }
  if (queue->count < queue->capacity) queue->items[queue->count++] = reference;
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
  atomic_store_explicit(&queue->waiting, 0, memory_order_relaxed);
  pthread_mutex_unlock(&queue->lock);
}
