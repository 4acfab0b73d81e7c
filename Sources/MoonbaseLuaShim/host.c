#include <stdlib.h>
#include <string.h>

#include "internal.h"

// MARK: Objects on their way out

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
static void reserve_place(MBLState *S, lua_State *L) {
  if (S->vacantCount > 0 || S->ownedCount < S->ownedCapacity) return;
  int32_t capacity = S->ownedCapacity == 0 ? 64 : S->ownedCapacity * 2;
  void **owned = realloc(S->owned, (size_t)capacity * sizeof(void *));
  if (owned != NULL) S->owned = owned;
  int32_t *vacant = realloc(S->vacant, (size_t)capacity * sizeof(int32_t));
  if (vacant != NULL) S->vacant = vacant;
  if (owned == NULL || vacant == NULL) luaL_error(L, "not enough memory");
  S->ownedCapacity = capacity;
}

static int32_t own(MBLState *S, void *object) {
  int32_t place = S->vacantCount > 0 ? S->vacant[--S->vacantCount] : S->ownedCount++;
  S->owned[place] = object;
  return place;
}

static void disown(MBLState *S, int32_t place) {
  mbl_discard(S, S->owned[place]);
  S->owned[place] = NULL;
  S->vacant[S->vacantCount++] = place;
}

static bool pending_push(MBLState *S, void *object) {
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
    S->scratchCapacity = capacity;
  }
  size_t offset = S->scratchTop;
  if (length > 0) memcpy(S->scratch + offset, bytes, length);
  S->scratchTop += length;
  return offset;
}

// MARK: The unref queue: references let go by any thread

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

// MARK: Failing

static void failure_clear(MBLState *S) {
  if (S->failure != NULL) S->host->release(S->failure);
  S->failure = NULL;
  S->failureIsText = false;
  S->failureReference = LUA_NOREF;
}

void mbl_fail(MBLState *S, void *error) {
  failure_clear(S);
  S->failure = error;
}

void mbl_fail_text(MBLState *S, const char *bytes, size_t length) {
  failure_clear(S);
  S->failureText = mbl_scratch_copy(S, bytes, length);
  S->failureLength = S->failureText == SIZE_MAX ? 0 : length;
  S->failureIsText = true;
}

void mbl_fail_value(MBLState *S, int32_t reference, void *error) {
  failure_clear(S);
  S->failure = error;
  S->failureReference = reference;
}

// The error goes into a userdata first made empty: were memory to run out, the state would still own it.
static void push_error_box(MBLState *S, lua_State *L) {
  MBLErrorBox *box = lua_newuserdatauv(L, sizeof(MBLErrorBox), 1);
  box->state = S;
  box->error = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_error_metatable);
  lua_setmetatable(L, -2);
  luaL_where(L, 1);
  lua_setiuservalue(L, -2, 1);
  reserve_place(S, L);
  box->error = S->failure;
  box->place = own(S, S->failure);
  S->failure = NULL;
}

static int raise_failure(MBLState *S, lua_State *L) {
  if (S->abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  if (S->failureIsText) {
    luaL_where(L, 1);
    lua_pushlstring(L, S->failureLength > 0 ? S->scratch + S->failureText : "", S->failureLength);
    lua_concat(L, 2);
    S->failureIsText = false;
    return lua_error(L);
  }
  if (S->failureReference != LUA_NOREF) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, S->failureReference);
    luaL_unref(L, LUA_REGISTRYINDEX, S->failureReference);
    S->failureReference = LUA_NOREF;
    int type = lua_type(L, -1);
    if (S->failure != NULL && (type == LUA_TTABLE || type == LUA_TUSERDATA)) {
      lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_errors);
      lua_pushvalue(L, -2);
      push_error_box(S, L);
      lua_rawset(L, -3);
      lua_settop(L, -2);
    }
    failure_clear(S);
    return lua_error(L);
  }
  if (S->failure == NULL) return luaL_error(L, "the host function failed");
  push_error_box(S, L);
  return lua_error(L);
}

static MBLErrorBox *test_error_box(MBLState *S, lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(MBLErrorBox)) return NULL;
  MBLErrorBox *box = lua_touserdata(L, index);
  return box->state == S ? box : NULL;
}

void *mbl_crossed_error(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return NULL;
  MBLErrorBox *box = test_error_box(S, L, index);
  if (box != NULL) return box->error;
  int type = lua_type(L, index);
  if (type != LUA_TTABLE && type != LUA_TUSERDATA) return NULL;
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_errors);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  box = test_error_box(S, L, -1);
  lua_settop(L, -3);
  return box != NULL ? box->error : NULL;
}

static int error_text(lua_State *L) {
  MBLState *S = mbl_of(L);
  MBLErrorBox *box = test_error_box(S, L, 1);
  if (box == NULL || box->error == NULL) {
    lua_pushliteral(L, "host error");
    return 1;
  }
  char buffer[512];
  size_t length = S->host->describe(box->error, buffer, sizeof buffer);
  lua_getiuservalue(L, 1, 1);
  if (length <= sizeof buffer) {
    lua_pushlstring(L, buffer, length);
  } else {
    char *large = lua_newuserdatauv(L, length, 0);
    S->host->describe(box->error, large, length);
    lua_pushlstring(L, large, length);
    lua_remove(L, -2);
  }
  lua_concat(L, 2);
  return 1;
}

// `message` is the text without the place.
static int error_index(lua_State *L) {
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (strcmp(key, "message") != 0) return 0;
  lua_settop(L, 1);
  lua_pushliteral(L, "");
  lua_setiuservalue(L, 1, 1);
  return error_text(L);
}

static int error_collect(lua_State *L) {
  MBLErrorBox *box = lua_touserdata(L, 1);
  if (box->error != NULL) disown(box->state, box->place);
  box->error = NULL;
  return 0;
}

// MARK: Functions

void mbl_frame_return(MBLFrame *frame, const MBLValue *value) {
  MBLState *S = frame->state;
  if (frame->hasResult && mbl_frame_flush(frame) != MBLStatusOK) return;
  frame->result = *value;
  frame->hasResult = true;
  if (value->tag == MBLTagString) {
    size_t offset = mbl_scratch_copy(S, value->pointer, value->length);
    if (offset == SIZE_MAX) {
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    } else {
      frame->result.integer = (int64_t)offset;
    }
  } else if (value->tag == MBLTagObject) {
    S->host->retain((void *)value->pointer);
    if (!pending_push(S, (void *)value->pointer)) {
      S->host->release((void *)value->pointer);
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    }
  }
}

static MBLValue frame_value(MBLFrame *frame) {
  MBLValue value = frame->result;
  if (value.tag == MBLTagString) value.pointer = frame->state->scratch + frame->result.integer;
  return value;
}

MBLStatus mbl_frame_flush(MBLFrame *frame) {
  if (!frame->hasResult) return MBLStatusOK;
  frame->hasResult = false;
  MBLValue value = frame_value(frame);
  MBLStatus status = mbl_push(frame->state, &value);
  if (status == MBLStatusOK) {
    frame->pushed++;
  } else {
    mbl_set_abort(frame->state, MBLAbortMemory);
  }
  return status;
}

// The Swift frame has gone: from here on raising is allowed.
static int finish(MBLState *S, lua_State *L, MBLFrame *frame, int32_t failed, int pending, size_t scratch) {
  if (failed || S->abort) {
    mbl_pending_unwind(S, pending);
    return raise_failure(S, L);
  }
  int count = frame->pushed;
  if (frame->hasResult) {
    MBLValue value = frame_value(frame);
    mbl_push_value(S, L, &value);
    count++;
  }
  if (S->pendingCount > pending) mbl_pending_unwind(S, pending);
  S->scratchTop = scratch;
  if (S->garbageCount >= 64) mbl_drain(S);
  return count;
}

static int function_call(lua_State *L) {
  MBLState *S = mbl_of(L);
  MBLFunctionBox *box = lua_touserdata(L, lua_upvalueindex(1));
  if (S->closing) return luaL_error(L, "the state is closing");
  MBLFrame frame;
  frame.state = S;
  frame.thread = L;
  frame.count = lua_gettop(L);
  frame.pushed = 0;
  frame.hasResult = false;
  int pending = S->pendingCount;
  size_t scratch = S->scratchTop;
  bool inHost = mbl_control_set_in_host(S, true);
  int32_t failed = S->host->call(box->function, &frame);
  mbl_control_set_in_host(S, inHost);
  return finish(S, L, &frame, failed, pending, scratch);
}

static int function_collect(lua_State *L) {
  MBLFunctionBox *box = lua_touserdata(L, 1);
  if (box->function != NULL) disown(mbl_of(L), box->place);
  box->function = NULL;
  return 0;
}

// Leaves a closure on the stack; retains the Swift function.
static void push_function(MBLState *S, lua_State *L, void *function) {
  MBLFunctionBox *box = lua_newuserdatauv(L, sizeof(MBLFunctionBox), 0);
  box->function = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
  lua_setmetatable(L, -2);
  reserve_place(S, L);
  S->host->retain(function);
  box->function = function;
  box->place = own(S, function);
  lua_pushcclosure(L, function_call, 1);
}

static int function_body(lua_State *L) {
  push_function(mbl_of(L), L, lua_touserdata(L, 1));
  return 1;
}

MBLStatus mbl_function_new(MBLState *S, void *function) { return mbl_protect(S, function_body, function, 1); }

// MARK: Types

MBLObject *mbl_test_object(MBLState *S, lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(MBLObject)) return NULL;
  MBLObject *object = lua_touserdata(L, index);
  return object->state == S ? object : NULL;
}

bool mbl_object_alive(MBLState *S, const MBLObject *object) {
  if (object->object == NULL) return false;
  if (object->scope == 0) return true;
  for (int i = S->scopeCount; i > 0; i--) {
    if (S->scopes[i - 1] == object->scope) return true;
  }
  return false;
}

static MBLObject *check_object(MBLState *S, lua_State *L, MBLType *type) {
  MBLObject *object = mbl_test_object(S, L, 1);
  if (object == NULL || object->type != type) {
    luaL_error(L, "%s expected, got %s", type->name, mbl_type_name(L, 1));
    return NULL;
  }
  if (!mbl_object_alive(S, object)) luaL_error(L, "%s used outside of its callback", type->name);
  return object;
}

static int access_object(lua_State *L, bool writing) {
  MBLState *S = mbl_of(L);
  MBLType *type = lua_touserdata(L, lua_upvalueindex(1));
  MBLObject *object = check_object(S, L, type);
  if (S->closing) return luaL_error(L, "the state is closing");
  lua_pushvalue(L, 2);
  int kind = lua_rawget(L, lua_upvalueindex(2));
  if (kind == LUA_TFUNCTION && !writing) return 1;
  int32_t slot = kind == LUA_TNUMBER ? (int32_t)lua_tointegerx(L, -1, NULL) : 0;
  lua_settop(L, writing ? 3 : 2);
  MBLFrame frame;
  frame.state = S;
  frame.thread = L;
  frame.count = writing ? 3 : 2;
  frame.pushed = 0;
  frame.hasResult = false;
  int pending = S->pendingCount;
  size_t scratch = S->scratchTop;
  bool inHost = mbl_control_set_in_host(S, true);
  int32_t failed = kind != LUA_TNUMBER ? S->host->missing(type->owner, object->object, writing, &frame)
                   : writing           ? S->host->set(type->owner, object->object, slot, &frame)
                                       : S->host->get(type->owner, object->object, slot, &frame);
  mbl_control_set_in_host(S, inHost);
  return finish(S, L, &frame, failed, pending, scratch);
}

static int object_index(lua_State *L) { return access_object(L, false); }
static int object_newindex(lua_State *L) { return access_object(L, true); }

static int object_collect(lua_State *L) {
  MBLObject *object = lua_touserdata(L, 1);
  if (object->object != NULL) disown(object->state, object->place);
  object->object = NULL;
  return 0;
}

static int object_text(lua_State *L) {
  MBLType *type = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushstring(L, type->name);
  return 1;
}

typedef struct TypeRequest {
  MBLType *type;
  const char *key;
  size_t length;
  int32_t slot;
  void *function;
} TypeRequest;

static int type_body(lua_State *L) {
  MBLType *type = ((TypeRequest *)lua_touserdata(L, 1))->type;
  lua_createtable(L, 0, 8);
  lua_createtable(L, 0, 16);
  lua_pushstring(L, type->name);
  lua_setfield(L, 2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, 2, "__metatable");
  lua_pushcfunction(L, object_collect);
  lua_setfield(L, 2, "__gc");
  const struct {
    const char *name;
    lua_CFunction function;
  } entries[] = {{"__index", object_index}, {"__newindex", object_newindex}, {"__tostring", object_text}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    lua_pushlightuserdata(L, type);
    lua_pushvalue(L, 3);
    lua_pushcclosure(L, entries[i].function, 2);
    lua_setfield(L, 2, entries[i].name);
  }
  lua_pushvalue(L, 3);
  type->keys = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, 2);
  type->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

MBLType *mbl_type_new(MBLState *S, void *owner, const char *name, bool interned) {
  MBLType *type = calloc(1, sizeof(MBLType));
  if (type == NULL) return NULL;
  type->state = S;
  type->owner = owner;
  type->interned = interned;
  type->name = strdup(name);
  TypeRequest request = {.type = type};
  if (type->name == NULL || mbl_protect(S, type_body, &request, 0) != MBLStatusOK) {
    // What was made of it in Lua is garbage that nobody can reach.
    free(type->name);
    free(type);
    return NULL;
  }
  S->host->retain(owner);
  type->next = S->types;
  S->types = type;
  return type;
}

void *mbl_type_owner(const MBLType *type) { return type->owner; }

static int slot_body(lua_State *L) {
  TypeRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->type->keys);
  lua_pushlstring(L, request->key, request->length);
  if (request->function != NULL) {
    push_function(mbl_of(L), L, request->function);
  } else {
    lua_pushinteger(L, request->slot);
  }
  lua_rawset(L, -3);
  return 0;
}

MBLStatus mbl_type_add_slot(MBLType *type, const char *key, size_t length, int32_t slot) {
  TypeRequest request = {type, key, length, slot, NULL};
  return mbl_protect(type->state, slot_body, &request, 0);
}

MBLStatus mbl_type_add_method(MBLType *type, const char *key, size_t length, void *function) {
  TypeRequest request = {type, key, length, 0, function};
  return mbl_protect(type->state, slot_body, &request, 0);
}

static int operator_body(lua_State *L) {
  TypeRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->type->metatable);
  push_function(mbl_of(L), L, request->function);
  lua_setfield(L, -2, request->key);
  return 0;
}

MBLStatus mbl_type_add_operator(MBLType *type, const char *name, void *function) {
  TypeRequest request = {type, name, 0, 0, function};
  return mbl_protect(type->state, operator_body, &request, 0);
}

// MARK: Objects

// May raise: out of memory. The caller keeps `object` alive meanwhile.
void mbl_push_object_value(MBLState *S, lua_State *L, MBLType *type, void *object, bool scoped) {
  if (type->interned) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_interned);
    if (lua_rawgetp(L, -1, object) == LUA_TUSERDATA) {
      MBLObject *known = lua_touserdata(L, -1);
      if (known->object == object && known->type == type && mbl_object_alive(S, known)) {
        lua_remove(L, -2);
        return;
      }
    }
    lua_settop(L, -2);
  }
  MBLObject *handle = lua_newuserdatauv(L, sizeof(MBLObject), 0);
  handle->state = S;
  handle->object = NULL;
  handle->type = type;
  handle->scope = scoped && S->scopeCount > 0 ? S->scopes[S->scopeCount - 1] : 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, type->metatable);
  lua_setmetatable(L, -2);
  if (type->interned) {
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, object);
    lua_remove(L, -2);
  }
  reserve_place(S, L);
  S->host->retain(object);
  handle->object = object;
  handle->place = own(S, object);
}

MBLStatus mbl_object_push(MBLState *S, MBLType *type, void *object, bool scoped) {
  MBLValue value = {.pointer = object, .length = (uint64_t)(uintptr_t)type, .tag = MBLTagObject, .extra = scoped};
  return mbl_push(S, &value);
}

bool mbl_object_kill(MBLState *S, const void *object) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return false;
  bool found = false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_interned);
  if (lua_rawgetp(L, -1, object) == LUA_TUSERDATA) {
    MBLObject *handle = lua_touserdata(L, -1);
    if (handle->object == object) {
      disown(S, handle->place);
      handle->object = NULL;
      found = true;
    }
  }
  lua_settop(L, -3);
  return found;
}

uint64_t mbl_scope_begin(MBLState *S) {
  if (S->scopeCount == S->scopeCapacity) {
    int capacity = S->scopeCapacity == 0 ? 8 : S->scopeCapacity * 2;
    uint64_t *grown = realloc(S->scopes, (size_t)capacity * sizeof(uint64_t));
    if (grown == NULL) return 0;
    S->scopes = grown;
    S->scopeCapacity = capacity;
  }
  S->scopes[S->scopeCount++] = ++S->scopeSerial;
  return S->scopeSerial;
}

void mbl_scope_end(MBLState *S, uint64_t scope) {
  while (S->scopeCount > 0 && S->scopes[S->scopeCount - 1] >= scope) S->scopeCount--;
}

// MARK: Setup

static void weak_table(lua_State *L, const char *key, const char *mode) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void mbl_host_setup(lua_State *L) {
  weak_table(L, &mbl_key_interned, "v");
  weak_table(L, &mbl_key_errors, "k");
  weak_table(L, &mbl_key_identities, "k");
  weak_table(L, &mbl_key_threads, "k");
  weak_table(L, &mbl_key_list, "k");

  lua_createtable(L, 0, 5);
  lua_pushliteral(L, "error");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, error_collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, error_text);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, error_index);
  lua_setfield(L, -2, "__index");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_error_metatable);

  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, function_collect);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
}
