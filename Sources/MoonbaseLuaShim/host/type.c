#include <stdlib.h>
#include <string.h>

#include "host/host.h"

// Types of Swift objects: the slot or method of a key, and property access.

// MARK: Slots

// The entry of the key, or the vacant entry where it would be.
static MBLSlot *find_slot(const MBLType *type, const void *key) {
  uint32_t index = (uint32_t)((uintptr_t)key / MBL_BLOCK_GRAIN);
  MBLSlot *slot;
  do slot = &type->slots[index++ & type->slotMask];
  while (slot->key != key && slot->key != NULL);
  return slot;
}

// Returns false without memory, leaving the type unchanged.
static bool grow_slots(MBLType *type) {
  uint32_t capacity = type->slots == NULL ? 16 : (type->slotMask + 1) * 2;
  MBLType grown = {.slots = malloc(capacity * sizeof(MBLSlot)), .slotMask = capacity - 1};
  if (grown.slots == NULL) return false;
  for (uint32_t i = 0; i < capacity; i++) grown.slots[i] = (MBLSlot){NULL, -1};
  for (uint32_t i = 0; type->slots != NULL && i <= type->slotMask; i++) {
    if (type->slots[i].key != NULL) *find_slot(&grown, type->slots[i].key) = type->slots[i];
  }
  free(type->slots);
  type->slots = grown.slots;
  type->slotMask = grown.slotMask;
  return true;
}

// MARK: Access

static void refuse_object(MBLState *S, lua_State *L, MBLObject *object) {
  if (object == NULL) luaL_typeerror(L, 1, "object");
  if (!mbl_object_alive(S, object)) luaL_error(L, "%s used outside of its callback", object->type->name);
  luaL_error(L, "the state is closing");
}

static inline MBLObject *check_object(MBLState *S, lua_State *L) {
  MBLObject *object = mbl_test_object(S, L, 1);
  if (object == NULL || !mbl_object_alive(S, object) || S->closing) refuse_object(S, L, object);
  return object;
}

static inline MBLInline *check_inline(MBLState *S, lua_State *L) {
  MBLInline *value = mbl_test_inline(S, L, 1);
  if (value == NULL) luaL_typeerror(L, 1, "value");
  if (S->closing) luaL_error(L, "the state is closing");
  return value;
}

// Pushes the value of the key in Lua's table: a method, or the slot of a long key.
static int push_known(lua_State *L, const MBLType *type) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, type->keys);
  lua_pushvalue(L, 2);
  return lua_rawget(L, -2);
}

// The metatables of all types share two functions, for reading and for writing. The type of the handle knows the keys.
__attribute__((always_inline)) static inline int access_key(MBLState *S, lua_State *L, MBLType *type, void *object, bool writing) {
  int count = writing ? 3 : 2;
  if (lua_gettop(L) != count) lua_settop(L, count);
  int32_t slot = find_slot(type, lua_topointer(L, 2))->slot;
  if (slot < 0) {
    int kind = push_known(L, type);
    if (kind == LUA_TFUNCTION && !writing) return 1;
    if (kind == LUA_TNUMBER) slot = (int32_t)lua_tointegerx(L, -1, NULL);
    lua_settop(L, count);
  }
  MBLPassage passage;
  mbl_passage_begin(&passage, S, L, count);
  int32_t failed = -1;
  if (!writing && slot >= 0 && type->reader != NULL) failed = type->reader(object, slot, &passage.frame, type->readerContext);
  if (failed < 0) {
    failed = slot < 0  ? S->host->missing(type->owner, object, writing, &passage.frame)
             : writing ? S->host->set(type->owner, object, slot, &passage.frame)
                       : S->host->get(type->owner, object, slot, &passage.frame);
  }
  return mbl_passage_end(&passage, failed);
}

__attribute__((always_inline)) static inline int access_object(lua_State *L, bool writing) {
  MBLState *S = mbl_of(L);
  MBLObject *object = check_object(S, L);
  return access_key(S, L, object->type, object->object, writing);
}

static int access_inline(lua_State *L, bool writing) {
  MBLState *S = mbl_of(L);
  MBLInline *value = check_inline(S, L);
  return access_key(S, L, value->type, value->words, writing);
}

static int object_index(lua_State *L) { return access_object(L, false); }
static int object_newindex(lua_State *L) { return access_object(L, true); }
static int inline_index(lua_State *L) { return access_inline(L, false); }
static int inline_newindex(lua_State *L) { return access_inline(L, true); }

// Preset `trusted` can call it with any value.
static int object_collect(lua_State *L) {
  MBLObject *object = mbl_test_object(mbl_of(L), L, 1);
  if (object == NULL) return luaL_typeerror(L, 1, "object");
  if (object->object != NULL) mbl_disown(object->state, object->place, object->weight);
  object->object = NULL;
  return 0;
}

static int object_text(lua_State *L) {
  MBLObject *object = mbl_test_object(mbl_of(L), L, 1);
  if (object == NULL) return luaL_typeerror(L, 1, "object");
  lua_pushstring(L, object->type->name);
  return 1;
}

static int inline_text(lua_State *L) {
  MBLInline *value = mbl_test_inline(mbl_of(L), L, 1);
  if (value == NULL) return luaL_typeerror(L, 1, "value");
  lua_pushstring(L, value->type->name);
  return 1;
}

// The bytes of a method and its closure.
#define METHOD_WEIGHT 128

typedef struct TypeRequest {
  MBLType *type;
  const char *key;
  size_t length;
  int32_t slot;
  void *function;
  const void *string;  // the key, as Lua holds it
} TypeRequest;

static int type_body(lua_State *L) {
  MBLType *type = ((TypeRequest *)lua_touserdata(L, 1))->type;
  lua_createtable(L, 0, 8);
  lua_createtable(L, 0, 16);
  lua_pushstring(L, type->name);
  lua_setfield(L, 2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, 2, "__metatable");
  const luaL_Reg ofObjects[] = {{"__index", object_index},
                                {"__newindex", object_newindex},
                                {"__tostring", object_text},
                                {"__gc", object_collect},
                                {NULL, NULL}};
  const luaL_Reg ofInline[] = {
      {"__index", inline_index}, {"__newindex", inline_newindex}, {"__tostring", inline_text}, {NULL, NULL}};
  for (const luaL_Reg *entry = type->inlineSize > 0 ? ofInline : ofObjects; entry->name != NULL; entry++) {
    lua_pushcfunction(L, entry->func);
    lua_setfield(L, 2, entry->name);
  }
  lua_pushvalue(L, 3);
  type->keys = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, 2);
  type->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static MBLType *make_type(MBLState *S, void *owner, const char *name, bool interned, uint32_t inlineSize) {
  MBLType *type = calloc(1, sizeof(MBLType));
  if (type == NULL) return NULL;
  type->state = S;
  type->owner = owner;
  type->interned = interned;
  type->inlineSize = inlineSize;
  type->name = strdup(name);
  TypeRequest request = {.type = type};
  if (type->name == NULL || !grow_slots(type) || mbl_protect(S, type_body, &request, 0) != MBLStatusOK) {
    // The tables made for it in Lua are garbage.
    mbl_type_free(type);
    return NULL;
  }
  S->host->retain(owner);
  type->next = S->types;
  S->types = type;
  return type;
}

MBLType *mbl_type_new(MBLState *S, void *owner, const char *name, bool interned) {
  return make_type(S, owner, name, interned, 0);
}

MBLType *mbl_inline_type_new(MBLState *S, void *owner, const char *name, int32_t size) {
  return make_type(S, owner, name, false, (uint32_t)size);
}

void mbl_type_free(MBLType *type) {
  free(type->name);
  free(type->slots);
  free(type);
}

void mbl_type_set_reader(MBLType *type, MBLReader reader, void *context) {
  type->reader = reader;
  type->readerContext = context;
}

void *mbl_type_owner(const MBLType *type) { return type->owner; }

static int slot_body(lua_State *L) {
  TypeRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->type->keys);
  lua_pushlstring(L, request->key, request->length);
  if (request->function != NULL) {
    mbl_push_function(mbl_of(L), L, request->function, METHOD_WEIGHT);
  } else {
    request->string = lua_topointer(L, -1);
    lua_pushinteger(L, request->slot);
  }
  lua_rawset(L, -3);
  return 0;
}

MBLStatus mbl_type_add_slot(MBLType *type, const char *key, size_t length, int32_t slot) {
  if (type->slotCount * 2 > type->slotMask && !grow_slots(type)) return MBLStatusMemory;
  TypeRequest request = {type, key, length, slot, NULL, NULL};
  MBLStatus status = mbl_protect(type->state, slot_body, &request, 0);
  if (status != MBLStatusOK) return status;
  *find_slot(type, request.string) = (MBLSlot){request.string, slot};
  type->slotCount++;
  return status;
}

MBLStatus mbl_type_add_method(MBLType *type, const char *key, size_t length, void *function) {
  TypeRequest request = {type, key, length, 0, function, NULL};
  return mbl_protect(type->state, slot_body, &request, 0);
}

static int operator_body(lua_State *L) {
  TypeRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->type->metatable);
  mbl_push_function(mbl_of(L), L, request->function, METHOD_WEIGHT);
  lua_setfield(L, -2, request->key);
  return 0;
}

MBLStatus mbl_type_add_operator(MBLType *type, const char *name, void *function) {
  TypeRequest request = {type, name, 0, 0, function, NULL};
  return mbl_protect(type->state, operator_body, &request, 0);
}
