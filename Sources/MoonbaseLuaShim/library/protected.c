#include "library/library.h"

// pcall and xpcall, which do not catch the end of a run.

static int finish_pcall(lua_State *L, int status, lua_KContext extra) {
  if (status != LUA_OK && status != LUA_YIELD) {
    MBLState *S = mbl_of(L);
    if (S->run.abort) {
      mbl_arm(S);
      // A coroutine may be within a hundred thousand calls of pcall, and an error would visit each of them. A yield
      // leaves them all at once.
      return lua_isyieldable(L) ? lua_yield(L, 0) : mbl_raise_abort(L);
    }
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
  }
  return lua_gettop(L) - (int)extra;
}

int mbl_pcall(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  return finish_pcall(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_pcall), 0);
}

// An error raised by the hook reaches the handler without hooks, so a script's handler could run forever.
static int guarded_handler(lua_State *L) {
  if (mbl_of(L)->run.abort) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, 1, 0, NULL);
  return 1;
}

int mbl_xpcall(lua_State *L) {
  int count = lua_gettop(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, guarded_handler, 1);
  lua_replace(L, 2);
  lua_pushboolean(L, 1);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);
  return finish_pcall(L, lua_pcallk(L, count - 2, LUA_MULTRET, 2, 2, finish_pcall), 2);
}
