#include <stdlib.h>
#include <string.h>

#include "library/library.h"

// Lua iterates a table by the hashes of its keys, and the hashes of texts differ between runs. In preset `pure`
// iteration is ordered: numbers, then texts by their bytes, then booleans. Keys of other types (tables, functions)
// follow in an order that differs between runs. A table with only numbers and booleans as keys is iterated by Lua.

typedef struct Key {
  int type;
  lua_Integer index;  // its index in the list of keys
  lua_Number number;
  const char *text;
  size_t length;
} Key;

static void pause_at(lua_State *L, size_t done, int64_t price) {
  if (done % MBL_STRIDE == 0) mbl_charge(L, price);
}

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
  // The remaining cases are integers that are equal as floats, and texts that are prefixes of each other.
  return a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

// The number of keys of the table at `place`. Sets `*ordered` if Lua's own order is the same in every run.
static size_t count_keys(lua_State *L, int place, bool *ordered) {
  size_t count = 0;
  *ordered = true;
  for (lua_pushnil(L); lua_next(L, place); lua_settop(L, -2)) {
    int type = lua_type(L, -2);
    *ordered = *ordered && (type == LUA_TNUMBER || type == LUA_TBOOLEAN);
    pause_at(L, ++count, MBL_STRIDE / 2);
  }
  mbl_charge(L, (int64_t)(count % MBL_STRIDE / 2));
  return count;
}

typedef struct Walk {
  size_t next, count;
  Key keys[];
} Walk;

// Pushes a key that still exists, and its value. Returns false at the end.
static bool push_next(lua_State *L, Walk *walk, int list, int table) {
  while (walk->next < walk->count) {
    pause_at(L, walk->next, 0);
    lua_rawgeti(L, list, walk->keys[walk->next++].index);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, table) != LUA_TNIL) return true;
    lua_settop(L, -3);
  }
  return false;
}

// Pushes a walk over the table at `place`, which had `count` keys, and the list of its keys. Pushing allocates memory,
// so a collection may remove keys from a weak table meanwhile; the walk contains the remaining keys.
static Walk *push_walk(lua_State *L, int place, size_t count) {
  Walk *walk = lua_newuserdatauv(L, sizeof(Walk) + count * sizeof(Key), 0);
  walk->next = 0;
  lua_createtable(L, (int)(count < 1 << 26 ? count : 0), 0);
  int list = lua_gettop(L);
  size_t index = 0;
  lua_pushnil(L);
  while (index < count && lua_next(L, place)) {
    pause_at(L, index, 0);
    walk->keys[index] = key_at(L, -2, (lua_Integer)index + 1);
    lua_pushvalue(L, -2);
    lua_rawseti(L, list, (lua_Integer)++index);
    lua_settop(L, -2);
  }
  lua_settop(L, list);
  walk->count = index;
  qsort(walk->keys, index, sizeof(Key), compare);
  return walk;
}

// Upvalues: the walk, the list of keys, the table.
static int walk_next(lua_State *L) {
  Walk *walk = lua_touserdata(L, lua_upvalueindex(1));
  if (push_next(L, walk, lua_upvalueindex(2), lua_upvalueindex(3))) return 2;
  lua_pushnil(L);
  return 1;
}

static void push_iterator(lua_State *L, int place, size_t count) {
  lua_pushvalue(L, place);
  int table = lua_gettop(L);
  push_walk(L, table, count);
  lua_pushvalue(L, table);
  lua_pushcclosure(L, walk_next, 3);
  lua_remove(L, table);
}

// Pushes an iterator over the table at `place`.
void mbl_push_walk(lua_State *L, int place) {
  bool ordered;
  push_iterator(L, place, count_keys(L, place, &ordered));
}

// pairs; the upvalue is Lua's own.
int mbl_ordered_pairs(lua_State *L) {
  luaL_checkany(L, 1);
  bool ordered = true;
  size_t count = 0;
  if (lua_type(L, 1) == LUA_TTABLE && luaL_getmetafield(L, 1, "__pairs") == LUA_TNIL) count = count_keys(L, 1, &ordered);
  lua_settop(L, 1);
  if (ordered) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_callk(L, 1, 3, 0, NULL);
    return 3;
  }
  push_iterator(L, 1, count);
  lua_insert(L, 1);
  lua_pushnil(L);
  return 3;
}

// MARK: next

// The indexes in the upvalue of `next`, which caches a walk in progress.
enum { CACHED_WALK = 1, CACHED_LIST, CACHED_TABLE };

static void keep(lua_State *L, int place, int kind) {
  lua_pushvalue(L, place);
  lua_rawseti(L, lua_upvalueindex(1), kind);
}

// The first key and its value. Visits all keys and caches no walk.
static int first_of(lua_State *L) {
  Key best = {.type = LUA_TNONE};
  lua_settop(L, 1);
  lua_pushnil(L);  // the best so far
  lua_Integer index = 0;
  for (lua_pushnil(L); lua_next(L, 1); lua_settop(L, -2)) {
    Key key = key_at(L, -2, ++index);
    pause_at(L, (size_t)index, MBL_STRIDE / 2);
    if (best.type != LUA_TNONE && compare(&key, &best) >= 0) continue;
    best = key;
    lua_pushvalue(L, -2);
    lua_replace(L, 2);
  }
  mbl_charge(L, index % MBL_STRIDE / 2);
  if (best.type == LUA_TNONE) return 1;
  lua_pushvalue(L, 2);
  lua_rawget(L, 1);
  return 2;
}

// Puts the walk that continues after the key at 2 into 3, and its list of keys into 4.
static Walk *walk_after(lua_State *L) {
  lua_settop(L, 2);
  lua_rawgeti(L, lua_upvalueindex(1), CACHED_WALK);
  lua_rawgeti(L, lua_upvalueindex(1), CACHED_LIST);
  Walk *walk = lua_touserdata(L, 3);
  lua_rawgeti(L, lua_upvalueindex(1), CACHED_TABLE);
  if (walk != NULL && walk->next > 0 && lua_rawequal(L, 5, 1)) {
    lua_rawgeti(L, 4, walk->keys[walk->next - 1].index);
    if (lua_rawequal(L, -1, 2)) return walk;
  }
  lua_settop(L, 2);
  bool ordered;
  walk = push_walk(L, 1, count_keys(L, 1, &ordered));
  Key last = key_at(L, 2, 0);
  while (walk->next < walk->count) {
    const Key *key = &walk->keys[walk->next];
    pause_at(L, walk->next, 0);
    // If the key itself was removed, the first key after it is found.
    if (rank(last.type) < 3 && compare(key, &last) > 0) break;
    walk->next++;
    lua_rawgeti(L, 4, key->index);
    bool isLast = lua_rawequal(L, -1, 2);
    lua_settop(L, 4);
    if (isLast) break;
  }
  keep(L, 3, CACHED_WALK);
  keep(L, 4, CACHED_LIST);
  keep(L, 1, CACHED_TABLE);
  return walk;
}

int mbl_ordered_next(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_isnoneornil(L, 2)) return first_of(L);
  Walk *walk = walk_after(L);
  if (push_next(L, walk, 4, 1)) return 2;
  lua_pushnil(L);
  for (int kind = CACHED_WALK; kind <= CACHED_TABLE; kind++) keep(L, -1, kind);
  return 1;
}
