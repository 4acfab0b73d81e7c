#include <string.h>

#include "host/host.h"

// Calls of boolean and text properties of host objects as methods: `object:name()` gives `object.name`.

// Whether a list of words, separated by spaces, contains a word.
static bool is_listed(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = strstr(names, name); at != NULL && length > 0; at = strstr(at + 1, name)) {
    if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  }
  return false;
}

// `__call` of booleans and strings. The upvalue holds the names. All other calls raise Lua's usual error.
static int call_value(lua_State *L) {
  lua_Debug frame;
  const char *name = NULL, *kind = "";
  if (lua_getstack(L, 0, &frame) && lua_getinfo(L, "n", &frame)) {
    name = frame.name;
    kind = frame.namewhat;
  }
  if (name != NULL && strcmp(kind, "method") == 0 && lua_gettop(L) == 2 && lua_type(L, 2) == LUA_TUSERDATA &&
      is_listed(lua_tostring(L, lua_upvalueindex(1)), name)) {
    lua_getfield(L, 2, name);
    if (lua_rawequal(L, 1, -1)) return 1;
  }
  const char *type = luaL_typename(L, 1);
  if (name != NULL && *kind != 0) return luaL_error(L, "attempt to call a %s value (%s '%s')", type, kind, name);
  return luaL_error(L, "attempt to call a %s value", type);
}

static int call_properties_body(lua_State *L) {
  const char *names = lua_touserdata(L, 1);
  lua_pushstring(L, names);
  lua_pushcclosure(L, call_value, 1);
  lua_pushboolean(L, 1);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__call");
  // Hides the metatable from scripts.
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_settop(L, -2);
  lua_pushliteral(L, "");
  if (!lua_getmetatable(L, -1)) return 0;
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__call");
  return 0;
}

MBLStatus mbl_call_properties(MBLState *S, const char *names) {
  return mbl_protect(S, call_properties_body, (void *)names, 0);
}
