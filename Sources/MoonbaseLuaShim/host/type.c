#include <stdlib.h>
#include <string.h>

#include "host/host.h"

// Types of Swift objects: which slot or method a key is, and what an access does.

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
  MBLPassage passage;
  mbl_passage_begin(&passage, S, L, writing ? 3 : 2);
  int32_t failed = kind != LUA_TNUMBER ? S->host->missing(type->owner, object->object, writing, &passage.frame)
                   : writing           ? S->host->set(type->owner, object->object, slot, &passage.frame)
                                       : S->host->get(type->owner, object->object, slot, &passage.frame);
  return mbl_passage_end(&passage, failed);
}

static int object_index(lua_State *L) { return access_object(L, false); }
static int object_newindex(lua_State *L) { return access_object(L, true); }

// Preset `trusted` can call it with anything.
static int object_collect(lua_State *L) {
  MBLObject *object = mbl_test_object(mbl_of(L), L, 1);
  if (object == NULL) return luaL_typeerror(L, 1, "object");
  if (object->object != NULL) mbl_disown(object->state, object->place, object->weight);
  object->object = NULL;
  return 0;
}

static int object_text(lua_State *L) {
  MBLType *type = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushstring(L, type->name);
  return 1;
}

// The bytes of a method and the closure in it.
#define METHOD_WEIGHT 128

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
    // The tables that were made for it in Lua are garbage.
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
    mbl_push_function(mbl_of(L), L, request->function, METHOD_WEIGHT);
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
  mbl_push_function(mbl_of(L), L, request->function, METHOD_WEIGHT);
  lua_setfield(L, -2, request->key);
  return 0;
}

MBLStatus mbl_type_add_operator(MBLType *type, const char *name, void *function) {
  TypeRequest request = {type, name, 0, 0, function};
  return mbl_protect(type->state, operator_body, &request, 0);
}
