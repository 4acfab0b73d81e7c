#include <limits.h>

#include "library/library.h"

// table.sort. Lua's own version reads the table's length and iterates without running the hook, and its pivots depend
// on the clock. This version merges copies of the elements: the sort is stable, whatever the comparison returns.

enum { TABLE = 1, COMPARE = 2, FROM = 3, TO = 4, LEFT = 5, RIGHT = 6 };

static void pause_at(lua_State *L, lua_Integer done) {
  if (done % MBL_STRIDE == MBL_STRIDE - 1) mbl_charge(L, MBL_STRIDE / 4);
}

// Whether the head of the right run precedes the head of the left run.
static bool right_is_less(lua_State *L) {
  if (lua_isnil(L, COMPARE)) return lua_compare(L, RIGHT, LEFT, LUA_OPLT);
  lua_pushvalue(L, COMPARE);
  lua_pushvalue(L, RIGHT);
  lua_pushvalue(L, LEFT);
  lua_callk(L, 2, 1, 0, NULL);
  bool less = lua_toboolean(L, -1);
  lua_settop(L, RIGHT);
  return less;
}

static void load(lua_State *L, int head, lua_Integer index) {
  lua_rawgeti(L, FROM, index);
  lua_replace(L, head);
}

static void copy(lua_State *L, lua_Integer from, lua_Integer end, lua_Integer to) {
  for (; from < end; from++, to++) {
    pause_at(L, to);
    lua_rawgeti(L, FROM, from);
    lua_rawseti(L, TO, to);
  }
}

static void merge(lua_State *L, lua_Integer left, lua_Integer middle, lua_Integer end) {
  lua_Integer right = middle, to = left;
  load(L, RIGHT, right);
  load(L, LEFT, middle - 1);
  if (!right_is_less(L)) {
    copy(L, left, end, left);  // already in order
    return;
  }
  load(L, LEFT, left);
  while (left < middle && right < end) {
    pause_at(L, to);
    if (right_is_less(L)) {
      lua_pushvalue(L, RIGHT);
      if (++right < end) load(L, RIGHT, right);
    } else {
      lua_pushvalue(L, LEFT);
      if (++left < middle) load(L, LEFT, left);
    }
    lua_rawseti(L, TO, to++);
  }
  copy(L, left, middle, to);
  copy(L, right, end, to + middle - left);
}

static lua_Integer least(lua_Integer a, lua_Integer b) { return a < b ? a : b; }

int mbl_table_sort(lua_State *L) {
  lua_Integer count = luaL_len(L, TABLE);
  if (count < 2) return 0;
  luaL_argcheck(L, count < INT_MAX, 1, "array too big");
  if (!lua_isnoneornil(L, COMPARE)) luaL_checktype(L, COMPARE, LUA_TFUNCTION);
  lua_settop(L, COMPARE);
  // The `__len` of a table may exceed its size.
  int size = (int)least(count, lua_type(L, TABLE) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, TABLE) : 0);
  mbl_charge(L, size / 4);
  lua_createtable(L, size, 0);
  lua_createtable(L, size, 0);
  lua_settop(L, RIGHT);
  for (lua_Integer i = 1; i <= count; i++) {
    pause_at(L, i);
    lua_geti(L, TABLE, i);
    lua_rawseti(L, FROM, i);
  }
  for (lua_Integer width = 1; width < count; width *= 2) {
    for (lua_Integer left = 1; left <= count; left += 2 * width) {
      lua_Integer middle = least(left + width, count + 1), end = least(middle + width, count + 1);
      if (middle < end) {
        merge(L, left, middle, end);
      } else {
        copy(L, left, end, left);
      }
    }
    lua_pushvalue(L, FROM);
    lua_copy(L, TO, FROM);
    lua_replace(L, TO);
  }
  for (lua_Integer i = 1; i <= count; i++) {
    pause_at(L, i);
    lua_rawgeti(L, FROM, i);
    lua_seti(L, TABLE, i);
  }
  return 0;
}
