#include "host/host.h"

// Access to tables by the host.

const char mbl_key_value = 0;

// Pushes the error text for changes if the value at `index` is frozen.
bool mbl_push_refusal(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
  if (lua_rawgetp(L, -1, &mbl_key_value) == LUA_TSTRING) {
    lua_replace(L, -2);
    return true;
  }
  lua_settop(L, -3);
  return false;
}

// Replaces a frozen value on the stack by the table behind it.
bool mbl_thaw_value(lua_State *L, int index) {
  if (!mbl_push_refusal(L, index)) return false;
  lua_settop(L, -2);
  index = lua_absindex(L, index);
  lua_rawgetp(L, index, &mbl_key_value);
  lua_replace(L, index);
  return true;
}

// Pushes the table of a reference.
static void push_table(lua_State *L, int32_t table) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  mbl_thaw_value(L, -1);
}

typedef struct TableRequest {
  int32_t table, metatable;
  const MBLValue *key;
  const MBLValue *value;
  bool raw;
  int32_t arrayCount, hashCount;
  uint64_t size;
} TableRequest;

static int new_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_createtable(L, request->arrayCount, request->hashCount);
  return 1;
}

MBLStatus mbl_table_new(MBLState *S, int32_t arrayCount, int32_t hashCount) {
  TableRequest request = {.arrayCount = arrayCount, .hashCount = hashCount};
  return mbl_protect(S, new_body, &request, 1);
}

static int get_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  push_table(L, request->table);
  mbl_push_value(mbl_of(L), L, request->key);
  if (request->raw && lua_type(L, -2) == LUA_TTABLE) {
    lua_rawget(L, -2);
  } else {
    lua_gettable(L, -2);
  }
  return 1;
}

MBLStatus mbl_table_get(MBLState *S, int32_t table, const MBLValue *key, bool raw) {
  TableRequest request = {.table = table, .key = key, .raw = raw};
  return mbl_protect(S, get_body, &request, 1);
}

static int set_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  if (mbl_push_refusal(L, -1)) return luaL_error(L, "%s", lua_tolstring(L, -1, NULL));
  mbl_push_value(S, L, request->key);
  mbl_push_value(S, L, request->value);
  if (request->raw && lua_type(L, -3) == LUA_TTABLE) {
    lua_rawset(L, -3);
  } else {
    lua_settable(L, -3);
  }
  return 0;
}

MBLStatus mbl_table_set(MBLState *S, int32_t table, const MBLValue *key, const MBLValue *value, bool raw) {
  TableRequest request = {.table = table, .key = key, .value = value, .raw = raw};
  return mbl_protect(S, set_body, &request, 0);
}

typedef struct RowRequest {
  int32_t table, keys, count;
  int64_t index;
  const MBLValue *values;
} RowRequest;

static int row_body(lua_State *L) {
  RowRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->keys);
  int present = 0;
  for (int32_t place = 0; place < request->count; place++) present += request->values[place].tag != MBLTagNil;
  lua_createtable(L, 0, present);
  for (int32_t place = 0; place < request->count; place++) {
    if (request->values[place].tag == MBLTagNil) continue;
    lua_rawgeti(L, -2, place + 1);
    mbl_push_value(S, L, &request->values[place]);
    lua_rawset(L, -3);
  }
  lua_rawseti(L, -3, request->index);
  return 0;
}

MBLStatus mbl_table_set_row(MBLState *S, int32_t table, int64_t index, int32_t keys, const MBLValue *values,
                            int32_t count) {
  RowRequest request = {.table = table, .keys = keys, .count = count, .index = index, .values = values};
  return mbl_protect(S, row_body, &request, 0);
}

uint64_t mbl_table_length(MBLState *S, int32_t table) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return 0;
  push_table(L, table);
  uint64_t length = lua_rawlen(L, -1);
  lua_settop(L, -2);
  return length;
}

static int size_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  push_table(L, request->table);
  for (lua_pushnil(L); lua_next(L, -2); lua_settop(L, -2)) {
    if (++request->size % MBL_STRIDE == 0) mbl_check_abort(L);
  }
  return 0;
}

MBLStatus mbl_table_size(MBLState *S, int32_t table, uint64_t *size) {
  TableRequest request = {.table = table};
  MBLStatus status = mbl_protect(S, size_body, &request, 0);
  *size = request.size;
  return status;
}

bool mbl_push_element(MBLState *S, int64_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return false;
  mbl_thaw_value(L, -1);
  if (lua_rawgeti(L, -1, index) != LUA_TNIL) return true;
  lua_settop(L, -2);
  return false;
}

static int next_body(lua_State *L) {
  // on the stack: table, key
  mbl_check_abort(L);
  return lua_next(L, 1) ? 2 : 0;
}

bool mbl_table_next(MBLState *S, int32_t table, bool *ok) {
  lua_State *L = S->running;
  *ok = false;
  if (!lua_checkstack(L, 8)) return false;
  int base = lua_gettop(L) - 1;  // below the key
  lua_pushcfunction(L, next_body);
  push_table(L, table);
  lua_pushvalue(L, base + 1);
  MBLStatus status = mbl_call_lua(S, L, 2, LUA_MULTRET, 0);
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  if (status != MBLStatusOK) return false;
  *ok = true;
  return lua_gettop(L) == base + 2;
}

typedef struct SlotsRequest {
  int32_t keys;
  int32_t *slots;
  int32_t most, count;
} SlotsRequest;

// Arguments: the request, a table and a key. Returns the key of the last value, or nil at the end, followed by the
// values.
static int slots_body(lua_State *L) {
  SlotsRequest *request = lua_touserdata(L, 1);
  luaL_checkstack(L, request->most + 8, NULL);
  mbl_thaw_value(L, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->keys);
  lua_rotate(L, 3, 1);  // request, table, keys, key
  int32_t slot = 0;
  while (slot >= 0 && request->count < request->most) {
    if (!lua_next(L, 2)) {
      lua_pushnil(L);
      break;
    }
    lua_pushvalue(L, -2);
    lua_rawget(L, 3);
    slot = lua_isinteger(L, -1) ? (int32_t)lua_tointegerx(L, -1, NULL) : -1;
    lua_settop(L, -2);
    lua_rotate(L, -2, 1);
    request->slots[request->count++] = slot;
  }
  lua_rotate(L, -(request->count + 1), 1);
  return request->count + 1;
}

MBLStatus mbl_table_slots(MBLState *S, int32_t table, const MBLType *type, int32_t *slots, int32_t most, int32_t *count) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, most + 8)) return MBLStatusStack;
  SlotsRequest request = {.keys = type->keys, .slots = slots, .most = most};
  lua_pushcfunction(L, slots_body);
  lua_pushlightuserdata(L, &request);
  lua_pushvalue(L, table);
  lua_rotate(L, -4, 3);  // function, request, table, key
  MBLStatus status = mbl_call_lua(S, L, 3, LUA_MULTRET, 0);
  *count = request.count;
  return status == MBLStatusOK ? MBLStatusOK : MBLStatusRuntime;
}

static int metatable_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->metatable);
  // A script may have added a finalizer to the metatable, which Lua would register now.
  if (mbl_sandboxed(mbl_of(L)) && lua_type(L, -1) == LUA_TTABLE) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, -2) != LUA_TNIL) return luaL_error(L, "'__gc' is not available in a sandbox");
    lua_settop(L, -2);
  }
  lua_setmetatable(L, -2);
  return 0;
}

MBLStatus mbl_table_set_metatable(MBLState *S, int32_t table, int32_t metatable) {
  TableRequest request = {.table = table, .metatable = metatable >= 0 ? metatable : LUA_NOREF};
  return mbl_protect(S, metatable_body, &request, 0);
}

bool mbl_table_metatable(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return false;
  // A frozen value counts as plain, like the table behind it.
  if (mbl_push_refusal(L, index)) {
    lua_settop(L, -2);
    return false;
  }
  return lua_getmetatable(L, index);
}

const void *mbl_metatable_address(MBLState *S, int32_t table) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return NULL;
  int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  const void *address = mbl_table_metatable(S, -1) ? lua_topointer(L, -1) : NULL;
  lua_settop(L, top);
  return address;
}

const void *mbl_table_address(MBLState *S, int32_t table) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return NULL;
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  const void *address = lua_topointer(L, -1);
  lua_settop(L, -2);
  return address;
}

// A weak set in the registry contains the tables marked as lists, so that scripts can neither remove nor forge the
// mark.
static int mark_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_list);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  return 0;
}

MBLStatus mbl_mark_list(MBLState *S, int32_t table) {
  TableRequest request = {.table = table};
  return mbl_protect(S, mark_body, &request, 0);
}

bool mbl_is_list(lua_State *L, int32_t index) {
  if (!lua_checkstack(L, 8)) return false;
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_list);
  lua_pushvalue(L, index);
  mbl_thaw_value(L, -1);
  lua_rawget(L, -2);
  bool marked = lua_toboolean(L, -1);
  lua_settop(L, -3);
  return marked;
}
