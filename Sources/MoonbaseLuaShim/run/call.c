#include "limits/control.h"

// What the host has Lua do: calls, loading, texts of values.

typedef struct CallRequest {
  int32_t function;
  const MBLValue *arguments;
  int32_t count;
} CallRequest;

static int call_body(lua_State *L) {
  CallRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  luaL_checkstack(L, request->count + 8, NULL);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->function);
  for (int32_t i = 0; i < request->count; i++) mbl_push_value(S, L, &request->arguments[i]);
  lua_callk(L, request->count, LUA_MULTRET, 0, NULL);
  return lua_gettop(L);
}

bool mbl_is_call_body(lua_CFunction function) { return function == call_body; }

MBLStatus mbl_call(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, int32_t results) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, count + 8)) return MBLStatusStack;
  bool plain = true;
  for (int32_t i = 0; i < count && plain; i++) plain = mbl_is_plain(&arguments[i]);
  int base = lua_gettop(L), pending = S->pendingCount, status;
  bool inHost = mbl_set_in_host(S, false);
  lua_pushcfunction(L, mbl_handler);
  if (plain) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int32_t i = 0; i < count; i++) mbl_push_value(S, L, &arguments[i]);
    status = lua_pcall(L, count, results, base + 1);
  } else {
    CallRequest request = {function, arguments, count};
    lua_pushcfunction(L, call_body);
    lua_pushlightuserdata(L, &request);
    status = lua_pcall(L, 1, results, base + 1);
  }
  mbl_set_in_host(S, inHost);
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  if (status != LUA_OK) {
    S->running = L;
    mbl_pending_unwind(S, pending);
  }
  return (MBLStatus)status;
}

MBLStatus mbl_call_one(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, MBLValue *result) {
  int base = lua_gettop(S->running);
  MBLStatus status = mbl_call(S, function, arguments, count, LUA_MULTRET);
  if (status != MBLStatusOK) return status;
  lua_State *L = S->running;
  bool none = lua_gettop(L) == base;
  lua_settop(L, base + 1);
  mbl_get(L, -1, result);
  if (none) result->integer = MBLNoResult;
  return status;
}

typedef struct LoadRequest {
  const char *bytes;
  size_t length;
  const char *name;
  int32_t environment;
  bool binary;
} LoadRequest;

static int load_body(lua_State *L) {
  LoadRequest *request = lua_touserdata(L, 1);
  const char *problem;
  int line = request->binary ? 0 : mbl_unfit_source(request->bytes, request->length, &problem);
  if (line > 0) {
    // The name begins with what marks it as a name.
    lua_pushfstring(L, "%s:%d: %s", request->name + 1, line, problem);
    lua_pushinteger(L, LUA_ERRSYNTAX);
    return 2;
  }
  int status = luaL_loadbufferx(L, request->bytes != NULL ? request->bytes : "", request->length, request->name, request->binary ? "b" : "t");
  if (status == LUA_OK) {
    if (request->environment != LUA_NOREF) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, request->environment);
      if (lua_setupvalue(L, -2, 1) == NULL) lua_settop(L, -2);
    }
    lua_pushinteger(L, status);
    return 2;
  }
  lua_pushinteger(L, status);
  return 2;
}

MBLStatus mbl_load(MBLState *S, const char *bytes, size_t length, const char *name, int32_t environment, bool binary) {
  LoadRequest request = {bytes, length, name, environment, binary};
  MBLStatus status = mbl_protect(S, load_body, &request, 2);
  if (status != MBLStatusOK) return status;
  status = (MBLStatus)lua_tointegerx(S->running, -1, NULL);
  lua_settop(S->running, -2);
  return status;
}

static int dump_writer(lua_State *L, const void *bytes, size_t size, void *buffer) {
  (void)L;
  luaL_addlstring(buffer, bytes, size);
  return 0;
}

static int dump_body(lua_State *L) {
  int32_t *request = lua_touserdata(L, 1);
  luaL_Buffer buffer;
  lua_rawgeti(L, LUA_REGISTRYINDEX, request[0]);
  // The function must be on the top, and luaL_Buffer moves the top: dump through a second stack.
  lua_State *side = lua_newthread(L);
  lua_pushvalue(L, -2);
  lua_xmove(L, side, 1);
  luaL_buffinit(L, &buffer);
  if (lua_dump(side, dump_writer, &buffer, request[1]) != 0) return luaL_error(L, "unable to dump the function");
  luaL_pushresult(&buffer);
  return 1;
}

MBLStatus mbl_dump(MBLState *S, int32_t function, bool strip) {
  int32_t request[2] = {function, strip};
  return mbl_protect(S, dump_body, request, 1);
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

// The text that an error value has, of a number or by __tostring, else nil; a hostile __tostring is an error status, not a crash.
MBLStatus mbl_to_text(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  index = lua_absindex(L, index);
  lua_pushcfunction(L, text_body);
  lua_pushvalue(L, index);
  bool inHost = mbl_set_in_host(S, false);
  int status = lua_pcall(L, 1, 1, 0);
  mbl_set_in_host(S, inHost);
  return (MBLStatus)status;
}
