#include <string.h>

#include "host/host.h"

// The text of values.

// Tables, functions and the like are numbered in the order in which their text is first requested. Addresses would help
// an attacker and differ between runs.
static int64_t identity(lua_State *L, int index) {
  MBLState *S = mbl_of(L);
  index = lua_absindex(L, index);
  if (lua_type(L, index) == LUA_TLIGHTUSERDATA) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_identities);
  lua_pushvalue(L, index);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_settop(L, -2);
    lua_pushvalue(L, index);
    lua_pushinteger(L, ++S->lastIdentity);
    lua_rawset(L, -3);
    lua_settop(L, -2);
    return S->lastIdentity;
  }
  int64_t number = lua_tointegerx(L, -1, NULL);
  lua_settop(L, -3);
  return number;
}

static void hexadecimal(int64_t number, char *digits) {
  memcpy(digits, "0x00000000", 11);
  for (int i = 9; i >= 2 && number > 0; i--, number >>= 4) digits[i] = "0123456789abcdef"[number & 15];
}

void mbl_push_text(lua_State *L, int index) {
  index = lua_absindex(L, index);
  if (luaL_callmeta(L, index, "__tostring")) {
    if (!lua_isstring(L, -1)) luaL_error(L, "'__tostring' must return a string");
    return;
  }
  switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TBOOLEAN:
    case LUA_TNUMBER:
    case LUA_TSTRING: luaL_tolstring(L, index, NULL); return;
    default: break;
  }
  if (lua_type(L, index) == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == (void *)&mbl_key_null) {
    lua_pushliteral(L, "null");
    return;
  }
  char digits[16];
  hexadecimal(identity(L, index), digits);
  int named = luaL_getmetafield(L, index, "__name");
  const char *kind = named == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, index);
  lua_pushfstring(L, "%s: %s", kind, digits);
  if (named != LUA_TNIL) lua_remove(L, -2);
}

static int text_body(lua_State *L) {
  if (lua_type(L, 1) != LUA_TNUMBER && luaL_getmetafield(L, 1, "__tostring") == LUA_TNIL) {
    lua_pushnil(L);
  } else {
    lua_settop(L, 1);
    mbl_push_text(L, 1);
  }
  return 1;
}

MBLStatus mbl_to_text(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  index = lua_absindex(L, index);
  lua_pushcfunction(L, text_body);
  lua_pushvalue(L, index);
  return mbl_call_lua(S, L, 1, 1, 0);
}
