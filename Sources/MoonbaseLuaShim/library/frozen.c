#include "library/library.h"

// Read-only tables for scripts.

const char mbl_key_frozen = 0;

static bool is_frozen(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) return false;
  bool frozen = lua_rawgetp(L, -1, &mbl_key_frozen) == LUA_TTABLE;
  lua_settop(L, -3);
  return frozen;
}

// Raw access reads the table behind the proxy, because scripts may read its content.
static void thaw(lua_State *L, int index) {
  if (mbl_thaw_value(L, index) || !is_frozen(L, index)) return;
  lua_getmetatable(L, index);
  lua_rawgetp(L, -1, &mbl_key_frozen);
  lua_replace(L, index);
  lua_settop(L, -2);
}

void mbl_thaw_top(MBLState *S) {
  lua_State *L = S->running;
  if (lua_checkstack(L, 4)) thaw(L, lua_gettop(L));
}

static int frozen_write(lua_State *L) { return luaL_error(L, "attempt to change a frozen table"); }

// The upvalue is the table behind the proxy.
int mbl_frozen_next(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_replace(L, 1);
  if (lua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

static int frozen_pairs(lua_State *L) {
  if (mbl_of(L)->preset == MBLPresetPure) {
    lua_settop(L, 1);
    mbl_push_walk(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_pushnil(L);
    return 3;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, mbl_frozen_next, 1);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

static int frozen_length(lua_State *L) {
  lua_pushinteger(L, luaL_len(L, lua_upvalueindex(1)));
  return 1;
}

// Replaces the table on the top by a proxy that reads it and refuses changes.
int mbl_freeze_top(lua_State *L) {
  int table = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, table);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, frozen_write);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, table);
  lua_pushcclosure(L, frozen_pairs, 1);
  lua_setfield(L, -2, "__pairs");
  lua_pushvalue(L, table);
  lua_pushcclosure(L, frozen_length, 1);
  lua_setfield(L, -2, "__len");
  lua_pushvalue(L, table);
  lua_rawsetp(L, -2, &mbl_key_frozen);
  // A callable module stays callable, and its `__tostring` is kept.
  if (luaL_getmetafield(L, table, "__call") != LUA_TNIL) lua_setfield(L, -2, "__call");
  if (luaL_getmetafield(L, table, "__tostring") != LUA_TNIL) lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
  lua_replace(L, table);
  return 1;
}

static int freeze_body(lua_State *L) {
  int32_t *table = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, *table);
  return mbl_freeze_top(L);
}

MBLStatus mbl_table_freeze(MBLState *S, int32_t table) { return mbl_protect(S, freeze_body, &table, 1); }

int mbl_rawset(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  if (mbl_push_refusal(L, 1)) return luaL_error(L, "%s", lua_tolstring(L, -1, NULL));
  if (is_frozen(L, 1)) return frozen_write(L);
  lua_rawset(L, 1);
  return 1;
}

int mbl_rawget(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  thaw(L, 1);
  lua_rawget(L, 1);
  return 1;
}

int mbl_rawlen(lua_State *L) {
  int type = lua_type(L, 1);
  luaL_argexpected(L, type == LUA_TTABLE || type == LUA_TSTRING, 1, "table or string");
  if (type == LUA_TTABLE) thaw(L, 1);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
  return 1;
}

// next; the upvalues are a table for the ordered walk, and whether walks are ordered.
int mbl_next(lua_State *L) {
  // Host objects are iterated by their own iterator.
  if (lua_type(L, 1) == LUA_TUSERDATA && luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
    return luaL_argerror(L, 1, "table expected: 'next' walks over tables alone, 'pairs' over this as well");
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  thaw(L, 1);
  if (lua_toboolean(L, lua_upvalueindex(2))) return mbl_ordered_next(L);
  if (lua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

// Finalizers run at any time, without hooks, so sandboxed scripts have none.
int mbl_setmetatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
  if (type == LUA_TTABLE) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "'__gc' is not available in a sandbox");
  }
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}
