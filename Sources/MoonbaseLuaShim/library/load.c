#include <string.h>

#include "library/library.h"
#include "parser/parser.h"

// `load` for sandboxed scripts: text only, in the environment of the calling script.

typedef struct Source {
  const char *bytes;
  size_t length;
} Source;

static void check_source_size(lua_State *L, size_t length) {
  MBLState *S = mbl_of(L);
  if (S->limits.sourceSize > 0 && length > S->limits.sourceSize) {
    luaL_error(L, "source is too large (more than %d bytes)", (int)S->limits.sourceSize);
  }
}

// load(chunk [, name [, mode [, environment]]]). The script's environment is an upvalue, so that no other is
// accessible.
int mbl_load_text(lua_State *L) {
  MBLState *S = mbl_of(L);
  bool hasEnvironment = !lua_isnone(L, 4);
  lua_settop(L, 4);
  size_t length;
  const char *bytes;
  if (lua_type(L, 1) == LUA_TSTRING) {
    bytes = lua_tolstring(L, 1, &length);
  } else {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (;;) {
      lua_pushvalue(L, 1);
      lua_callk(L, 0, 1, 0, NULL);
      size_t piece = 0;
      if (lua_type(L, -1) == LUA_TNIL) break;
      if (lua_type(L, -1) != LUA_TSTRING) {
        lua_pushnil(L);
        lua_pushliteral(L, "reader function must return a string");
        return 2;
      }
      lua_tolstring(L, -1, &piece);
      if (piece == 0) break;
      check_source_size(L, luaL_bufflen(&buffer) + piece);
      luaL_addvalue(&buffer);
    }
    lua_settop(L, -2);
    luaL_pushresult(&buffer);
    lua_replace(L, 1);
    bytes = lua_tolstring(L, 1, &length);
  }
  check_source_size(L, length);
  mbl_charge(L, (int64_t)length / 4);
  const char *problem;
  int line = mbl_unfit_source(bytes, length, &problem);
  if (line > 0) {
    lua_pushnil(L);
    lua_pushfstring(L, "line %d: %s", line, problem);
    return 2;
  }
  const char *name = luaL_optstring(L, 2, lua_type(L, 1) == LUA_TSTRING ? bytes : "=(load)");
  const char *mode = luaL_optstring(L, 3, "bt");
  // The version for scopes refuses bytecode in preset `trusted` too.
  if (mbl_sandboxed(S) || lua_toboolean(L, lua_upvalueindex(2))) {
    if (strchr(mode, 't') == NULL) {
      lua_pushnil(L);
      lua_pushliteral(L, "attempt to load a binary chunk (only text is allowed)");
      return 2;
    }
    mode = "t";
  }
  if (luaL_loadbufferx(L, bytes, length, name, mode) != LUA_OK) {
    mbl_tell_overflow(L);
    const char *message = lua_tostring(L, -1);
    // The parser's message contains no place and nothing that a reader could act on.
    if (message != NULL && strcmp(message, "C stack overflow") == 0) {
      lua_pushliteral(L, "the source nests too deeply (more than 200 levels)");
    }
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  lua_pushvalue(L, hasEnvironment ? 4 : lua_upvalueindex(1));
  if (lua_setupvalue(L, -2, 1) == NULL) lua_settop(L, -2);
  return 1;
}
