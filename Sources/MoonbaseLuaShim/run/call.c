#include "run/run.h"

// Calls of Lua functions by the host.

int mbl_call_body(lua_State *L) {
  MBLCallRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  luaL_checkstack(L, request->count + 8, NULL);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->function);
  for (int32_t i = 0; i < request->count; i++) mbl_push_value(S, L, &request->arguments[i]);
  lua_callk(L, request->count, LUA_MULTRET, 0, NULL);
  return lua_gettop(L);
}

MBLStatus mbl_call(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, int32_t results) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, count + 8)) return MBLStatusStack;
  bool plain = true;
  for (int32_t i = 0; i < count && plain; i++) plain = mbl_is_plain(&arguments[i]);
  int base = lua_gettop(L);
  MBLStatus status;
  lua_pushcfunction(L, mbl_handler);
  if (plain) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int32_t i = 0; i < count; i++) mbl_push_value(S, L, &arguments[i]);
    status = mbl_call_lua(S, L, count, results, base + 1);
  } else {
    MBLCallRequest request = {function, arguments, count};
    lua_pushcfunction(L, mbl_call_body);
    lua_pushlightuserdata(L, &request);
    status = mbl_call_lua(S, L, 1, results, base + 1);
  }
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  return status;
}

MBLStatus mbl_call_one(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, MBLValue *result) {
  int base = lua_gettop(S->running);
  MBLStatus status = mbl_call(S, function, arguments, count, LUA_MULTRET);
  if (status != MBLStatusOK) return status;
  lua_State *L = S->running;
  bool none = lua_gettop(L) == base;
  if (none) lua_pushnil(L);
  mbl_get(L, base + 1, result);
  if (none) result->integer = MBLNoResult;
  return status;
}
