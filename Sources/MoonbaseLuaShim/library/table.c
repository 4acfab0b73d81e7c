#include <limits.h>

#include "library/library.h"

// The table functions iterate in C without hooks, so they are charged beforehand by the number of steps.

static int charged(lua_State *L, lua_Integer steps) {
  if (steps > 0) mbl_charge(L, steps / 4);
  return mbl_call_original(L);
}

static lua_Integer span(lua_Integer from, lua_Integer to) {
  if (to < from) return 0;
  lua_Unsigned length = (lua_Unsigned)to - (lua_Unsigned)from;
  return length < LUA_MAXINTEGER ? (lua_Integer)length : LUA_MAXINTEGER;
}

static void pause_at(lua_State *L, lua_Integer done) {
  if (done % MBL_STRIDE == MBL_STRIDE - 1) mbl_charge(L, MBL_STRIDE / 4);
}

// Checks the limits during a walk that was charged beforehand.
static void look_at(lua_State *L, lua_Integer done) {
  if (done % MBL_STRIDE == MBL_STRIDE - 1) mbl_charge(L, 0);
}

// Accepts a table, or a value with the metamethods of a table.
static void check_sequence(lua_State *L) {
  if (lua_type(L, 1) == LUA_TTABLE) return;
  if (luaL_getmetafield(L, 1, "__len") == LUA_TNIL) luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, -2);
}

// Calls Lua's own function for parts of the range, in the direction that Lua would use.
static int tab_move(lua_State *L) {
  lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3), at = luaL_checkinteger(L, 4);
  lua_Integer length = span(from, to);
  if (length < MBL_STRIDE) return charged(L, length);
  if (from <= 0 && to >= LUA_MAXINTEGER + from) return charged(L, 0);  // Lua's own function raises the error
  if (at > LUA_MAXINTEGER - length) return charged(L, 0);
  int target = lua_isnoneornil(L, 5) ? 1 : 5;
  lua_settop(L, 5);
  bool upwards = at > to || at <= from || (target == 5 && !lua_compare(L, 1, 5, LUA_OPEQ));
  for (lua_Integer done = 0; done <= length; done += MBL_STRIDE) {
    mbl_charge(L, MBL_STRIDE / 4);
    lua_Integer last = done + MBL_STRIDE - 1 < length ? done + MBL_STRIDE - 1 : length;
    lua_Integer first = upwards ? done : length - last;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, from + first);
    lua_pushinteger(L, from + (upwards ? last : length - done));
    lua_pushinteger(L, at + first);
    lua_pushvalue(L, target);
    lua_callk(L, 5, 0, 0, NULL);
  }
  lua_pushvalue(L, target);
  return 1;
}

static int tab_insert(lua_State *L) {
  check_sequence(L);
  int count = lua_gettop(L);
  if (count != 3) return charged(L, 0);
  lua_Integer position = luaL_checkinteger(L, 2);
  lua_Integer end = (lua_Integer)((lua_Unsigned)luaL_len(L, 1) + 1);
  luaL_argcheck(L, (lua_Unsigned)position - 1U < (lua_Unsigned)end, 2, "position out of bounds");
  mbl_charge(L, (end - position) / 4);
  for (lua_Integer i = end; i > position; i--) {
    pause_at(L, end - i);
    lua_geti(L, 1, i - 1);
    lua_seti(L, 1, i);
  }
  lua_settop(L, 3);
  lua_seti(L, 1, position);
  return 0;
}

// Lua's own function would read the length again, and a script could answer differently.
static int tab_remove(lua_State *L) {
  check_sequence(L);
  if (lua_gettop(L) < 2) return charged(L, 0);
  lua_Integer length = luaL_len(L, 1), position = luaL_optinteger(L, 2, length), i = position;
  luaL_argcheck(L, position == length || (lua_Unsigned)position - 1U <= (lua_Unsigned)length, 2, "position out of bounds");
  mbl_charge(L, span(position, length) / 4);
  lua_settop(L, 1);
  lua_geti(L, 1, position);
  for (; i < length; i++) {
    pause_at(L, i - position);
    lua_geti(L, 1, i + 1);
    lua_seti(L, 1, i);
  }
  lua_pushnil(L);
  lua_seti(L, 1, i);
  return 1;
}

static int tab_concat(lua_State *L) {
  check_sequence(L);
  lua_settop(L, 4);
  size_t separatorLength;
  const char *separator = luaL_optlstring(L, 2, "", &separatorLength);
  lua_Integer from = luaL_optinteger(L, 3, 1);
  lua_Integer to = lua_isnoneornil(L, 4) ? luaL_len(L, 1) : luaL_checkinteger(L, 4);
  lua_Integer steps = span(from, to), length = lua_type(L, 1) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, 1) : 0;
  // A plain table fails at its first hole.
  if (length < steps && !lua_getmetatable(L, 1)) steps = length;
  lua_settop(L, 3);
  mbl_charge(L, steps / 4);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (lua_Integer i = from; i <= to; i++) {
    look_at(L, i - from);
    lua_geti(L, 1, i);
    if (!lua_isstring(L, -1)) {
      return luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1), (LUAI_UACINT)i);
    }
    luaL_addvalue(&buffer);
    if (i == to) break;  // `to` may be the largest integer
    luaL_addlstring(&buffer, separator, separatorLength);
  }
  luaL_pushresult(&buffer);
  return 1;
}

static int tab_unpack(lua_State *L) {
  lua_Integer from = luaL_optinteger(L, 2, 1);
  lua_Integer to = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
  if (to < from) return 0;
  lua_Integer steps = span(from, to);
  if (steps >= INT_MAX || !lua_checkstack(L, (int)steps + 1)) return luaL_error(L, "too many results to unpack");
  mbl_charge(L, steps / 4);
  for (lua_Integer done = 0; done <= steps; done++) {
    look_at(L, done);
    lua_geti(L, 1, from + done);
  }
  return (int)steps + 1;
}

static int tab_sort(lua_State *L) {
  check_sequence(L);
  return mbl_table_sort(L);
}

void mbl_open_tables(lua_State *L) {
  static const luaL_Reg entries[] = {{"move", tab_move}, {"insert", tab_insert}, {"remove", tab_remove},
                                     {"concat", tab_concat}, {"unpack", tab_unpack}, {"sort", tab_sort},
                                     {NULL, NULL}};
  mbl_cover(L, entries);
}
