#include "library/library.h"

// Lists and maps from the graph: read-only proxies for scripts. All values of an attribute share a metatable with the
// error text for changes. A proxy stores its table under a key that scripts cannot access.

// The upvalue is the error text.
static int value_write(lua_State *L) { return luaL_error(L, "%s", lua_tolstring(L, lua_upvalueindex(1), NULL)); }

static int value_index(lua_State *L) {
  lua_settop(L, 2);
  lua_rawgetp(L, 1, &mbl_key_value);
  lua_insert(L, 2);
  lua_rawget(L, 2);
  return 1;
}

static int value_length(lua_State *L) {
  lua_settop(L, 1);
  lua_rawgetp(L, 1, &mbl_key_value);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 2));
  return 1;
}

static int value_pairs(lua_State *L) {
  lua_settop(L, 1);
  lua_rawgetp(L, 1, &mbl_key_value);
  if (mbl_of(L)->preset == MBLPresetPure) {
    mbl_push_walk(L, 2);
  } else {
    lua_pushcclosure(L, mbl_frozen_next, 1);
  }
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

// Takes the error text for changes; returns the metatable.
static int value_metatable_body(lua_State *L) {
  const MBLValue *refusal = lua_touserdata(L, 1);
  mbl_push_value(mbl_of(L), L, refusal);
  int text = lua_gettop(L);
  lua_createtable(L, 0, 8);
  lua_pushcfunction(L, value_index);
  lua_setfield(L, -2, "__index");
  lua_pushvalue(L, text);
  lua_pushcclosure(L, value_write, 1);
  lua_setfield(L, -2, "__newindex");
  lua_pushcfunction(L, value_length);
  lua_setfield(L, -2, "__len");
  lua_pushcfunction(L, value_pairs);
  lua_setfield(L, -2, "__pairs");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, text);
  lua_rawsetp(L, -2, &mbl_key_value);
  return 1;
}

MBLStatus mbl_value_metatable(MBLState *S, const MBLValue *refusal) {
  return mbl_protect(S, value_metatable_body, (void *)refusal, 1);
}

typedef struct FreezeRequest {
  int32_t table, metatable;
} FreezeRequest;

static int freeze_value_body(lua_State *L) {
  FreezeRequest *request = lua_touserdata(L, 1);
  lua_createtable(L, 0, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  lua_rawsetp(L, -2, &mbl_key_value);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->metatable);
  lua_setmetatable(L, -2);
  return 1;
}

MBLStatus mbl_value_freeze(MBLState *S, int32_t table, int32_t metatable) {
  FreezeRequest request = {.table = table, .metatable = metatable};
  return mbl_protect(S, freeze_value_body, &request, 1);
}
