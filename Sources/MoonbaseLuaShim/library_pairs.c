#include <stdlib.h>
#include <string.h>

#include "internal.h"

// Lua walks a table by the hashes of its keys, and those of texts differ from run to run. In preset `pure` a walk has an order:
// numbers, then texts by their bytes, then booleans. Other keys (tables, functions) have none that two runs share; they come
// last. A table without texts is walked as Lua does.

typedef struct Key {
  int type;
  lua_Integer index;  // its place in the list of keys
  lua_Number number;
  const char *text;
  size_t length;
} Key;

static int rank(int type) {
  return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
}

static Key key_at(lua_State *L, int place, lua_Integer index) {
  Key key = {.type = lua_type(L, place), .index = index};
  if (key.type == LUA_TNUMBER) {
    key.number = lua_tonumberx(L, place, NULL);
    if (lua_isinteger(L, place)) key.length = (size_t)lua_tointegerx(L, place, NULL) ^ ((size_t)1 << 63);
  } else if (key.type == LUA_TSTRING) {
    key.text = lua_tolstring(L, place, &key.length);
  } else if (key.type == LUA_TBOOLEAN) {
    key.number = lua_toboolean(L, place);
  }
  return key;
}

static int compare(const void *first, const void *second) {
  const Key *a = first, *b = second;
  if (rank(a->type) != rank(b->type)) return rank(a->type) - rank(b->type);
  if (a->type == LUA_TSTRING) {
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    if (order != 0) return order;
  } else if (a->number != b->number) {
    return a->number < b->number ? -1 : 1;
  } else if (rank(a->type) == 3) {
    return a->index < b->index ? -1 : 1;
  }
  // Integers too large for a number, and texts of which one begins the other.
  return a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

// Whether the table at `place` has keys whose places in it differ from run to run; counts them all.
static bool needs_order(lua_State *L, int place, size_t *count) {
  bool found = false;
  *count = 0;
  for (lua_pushnil(L); lua_next(L, place); lua_settop(L, -2)) {
    int type = lua_type(L, -2);
    found = found || (type != LUA_TNUMBER && type != LUA_TBOOLEAN);
    ++*count;
  }
  mbl_charge(L, (int64_t)(*count / 2));
  return found;
}

typedef struct Walk {
  size_t next, count;
  Key keys[];
} Walk;

// Upvalues: the walk, the list of keys, the table.
static int walk_next(lua_State *L) {
  Walk *walk = lua_touserdata(L, lua_upvalueindex(1));
  while (walk->next < walk->count) {
    lua_rawgeti(L, lua_upvalueindex(2), walk->keys[walk->next++].index);
    lua_pushvalue(L, -1);
    // What has gone meanwhile is left out.
    if (lua_rawget(L, lua_upvalueindex(3)) != LUA_TNIL) return 2;
    lua_settop(L, -3);
  }
  lua_pushnil(L);
  return 1;
}

// Pushes an iterator over the table at `place`.
void mbl_push_walk(lua_State *L, int place) {
  place = lua_absindex(L, place);
  size_t count;
  needs_order(L, place, &count);
  Walk *walk = lua_newuserdatauv(L, sizeof(Walk) + count * sizeof(Key), 0);
  walk->next = 0;
  walk->count = count;
  lua_createtable(L, (int)(count < 1 << 26 ? count : 0), 0);
  int list = lua_gettop(L);
  lua_Integer index = 0;
  for (lua_pushnil(L); lua_next(L, place); lua_settop(L, -2)) {
    walk->keys[index] = key_at(L, -2, index + 1);
    lua_pushvalue(L, -2);
    lua_rawseti(L, list, ++index);
  }
  qsort(walk->keys, count, sizeof(Key), compare);
  lua_pushvalue(L, place);
  lua_pushcclosure(L, walk_next, 3);
}

// pairs; the upvalue is Lua's own.
int mbl_ordered_pairs(lua_State *L) {
  luaL_checkany(L, 1);
  size_t count;
  if (lua_type(L, 1) != LUA_TTABLE || luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL || !needs_order(L, 1, &count)) {
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, 1, 3, 0, NULL);
    return 3;
  }
  lua_settop(L, 1);
  mbl_push_walk(L, 1);
  lua_insert(L, 1);
  lua_pushnil(L);
  return 3;
}

// The first key after `after` in the order, on the top with its value; false if there is none.
static bool push_successor(lua_State *L, const Key *after) {
  Key best = {.type = LUA_TNONE};
  lua_settop(L, 2);
  lua_pushnil(L);  // the best so far
  for (lua_pushnil(L); lua_next(L, 1); lua_settop(L, -2)) {
    Key key = key_at(L, -2, 0);
    if (rank(key.type) == 3 || (after != NULL && compare(&key, after) <= 0)) continue;
    if (best.type != LUA_TNONE && compare(&key, &best) >= 0) continue;
    best = key;
    lua_pushvalue(L, -2);
    lua_replace(L, 3);
  }
  if (best.type == LUA_TNONE) return false;
  lua_pushvalue(L, 3);
  lua_rawget(L, 1);
  return true;
}

// next; each step looks at all keys.
int mbl_ordered_next(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  size_t count;
  bool isOther = rank(lua_type(L, 2)) == 3 && lua_type(L, 2) != LUA_TNIL;
  if (!isOther) {
    if (needs_order(L, 1, &count)) {
      Key after = key_at(L, 2, 0);
      if (push_successor(L, lua_type(L, 2) == LUA_TNIL ? NULL : &after)) return 2;
      lua_settop(L, 1);
      lua_pushnil(L);
    } else {
      return lua_next(L, 1) ? 2 : (lua_pushnil(L), 1);
    }
  }
  // Keys without an order, as Lua has them.
  while (lua_next(L, 1)) {
    if (rank(lua_type(L, -2)) == 3) return 2;
    lua_settop(L, -2);
  }
  lua_pushnil(L);
  return 1;
}
