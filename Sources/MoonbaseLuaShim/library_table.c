#include "internal.h"

// Lua's table functions walk in C, where no hook looks: they are charged by the length of the walk beforehand.

static int charged(lua_State *L, lua_Integer steps) {
  int count = lua_gettop(L);
  if (steps > 0) mbl_charge(L, steps / 4);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, count, LUA_MULTRET, 0, NULL);
  return lua_gettop(L);
}

static lua_Integer span(lua_Integer from, lua_Integer to) {
  return to < from ? 0 : (lua_Integer)((((lua_Unsigned)to - (lua_Unsigned)from) >> 1) * 2);
}

static int tab_move(lua_State *L) { return charged(L, span(luaL_checkinteger(L, 2), luaL_checkinteger(L, 3))); }

static int tab_insert(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_gettop(L) != 3) return charged(L, 0);
  lua_Integer position = luaL_checkinteger(L, 2), length = luaL_len(L, 1);
  return charged(L, length - position);
}

static int tab_remove(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_gettop(L) < 2) return charged(L, 0);
  lua_Integer length = luaL_len(L, 1), position = luaL_optinteger(L, 2, length);
  return charged(L, length - position);
}

static int tab_length(lua_State *L) {
  return charged(L, lua_type(L, 1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, 1) : 0);
}

static int tab_concat(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer from = luaL_optinteger(L, 3, 1);
  lua_Integer to = lua_isnoneornil(L, 4) ? luaL_len(L, 1) : luaL_checkinteger(L, 4);
  return charged(L, span(from, to));
}

static int tab_unpack(lua_State *L) {
  lua_Integer from = luaL_optinteger(L, 2, 1);
  lua_Integer to = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
  lua_Integer steps = span(from, to);
  // More than fit the stack are refused before a step is done.
  return charged(L, steps >= 0 && steps < LUAI_MAXSTACK ? steps : 0);
}

void mbl_open_tables(lua_State *L) {
  static const luaL_Reg entries[] = {{"move", tab_move}, {"insert", tab_insert}, {"remove", tab_remove},
                                     {"sort", tab_length}, {"concat", tab_concat}, {"unpack", tab_unpack},
                                     {NULL, NULL}};
  for (const luaL_Reg *entry = entries; entry->name != NULL; entry++) {
    lua_getfield(L, -1, entry->name);
    lua_pushcclosure(L, entry->func, 1);
    lua_setfield(L, -2, entry->name);
  }
}
