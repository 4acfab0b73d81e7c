#include "library/library.h"

// The globals of scripts.

// Pushes the table that third-party modules expect as `package`.
static void push_package_stub(lua_State *L) {
  lua_createtable(L, 0, 6);
  lua_pushliteral(L, "/\n;\n?\n!\n-\n");
  lua_setfield(L, -2, "config");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  static const char *const tables[] = {"loaded", "preload", "searchers", NULL};
  for (int i = 0; tables[i] != NULL; i++) {
    lua_createtable(L, 0, 0);
    lua_setfield(L, -2, tables[i]);
  }
}

// Replaces a frozen library by the script's own table with the same functions.
static void copy_library(lua_State *L, int base, int environment, const char *name) {
  int top = lua_gettop(L);
  lua_getfield(L, base, name);
  if (lua_getmetatable(L, -1) && lua_rawgetp(L, -1, &mbl_key_frozen) == LUA_TTABLE) {
    int library = lua_gettop(L);
    lua_createtable(L, 0, 12);
    for (lua_pushnil(L); lua_next(L, library);) {
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, library + 1);
    }
    lua_setfield(L, environment, name);
  }
  lua_settop(L, top);
}

// Leaves a copy of a base with `_G` on the stack.
static int copy_base(lua_State *L, int base) {
  lua_createtable(L, 0, 48);
  int environment = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, base);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, environment);
  }
  lua_pushvalue(L, environment);
  lua_setfield(L, environment, "_G");
  return environment;
}

// The globals of a script: a copy of the base, so that reading a global takes a single lookup and writing it affects no
// other script.
static int environment_body(lua_State *L) {
  MBLState *S = mbl_of(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  if (!mbl_sandboxed(S)) return 1;
  int base = lua_gettop(L);
  int environment = copy_base(L, base);
  lua_pushvalue(L, environment);
  lua_pushcclosure(L, mbl_load_text, 1);
  lua_setfield(L, environment, "load");
  // Third-party modules read and change `package`, so each script has its own.
  if (S->preset == MBLPresetCompat) {
    push_package_stub(L);
    lua_setfield(L, environment, "package");
    copy_library(L, base, environment, "os");
    // The modules that the script requires share its globals.
    mbl_bind_function(L, base, environment, "require");
  }
  return 1;
}

// `getmetatable` of a scope. The upvalues are the proxies of classes by their tables, and the scope's own classes. For
// other classes it returns the read-only proxy.
static int scope_getmetatable(lua_State *L) {
  luaL_checkany(L, 1);
  lua_settop(L, 1);
  if (lua_type(L, 1) == LUA_TSTRING) return lua_pushboolean(L, 0), 1;
  if (!lua_getmetatable(L, 1)) return lua_pushnil(L), 1;
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return 1;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(2)) == LUA_TNIL) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  }
  lua_settop(L, 2);
  return 1;
}

typedef struct ScopeRequest {
  int32_t proxies, own;
} ScopeRequest;

// The globals of an extension: in every preset a sandbox without files, whatever scripts have.
static int scope_body(lua_State *L) {
  ScopeRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  mbl_push_sandbox(L);
  int environment = copy_base(L, lua_gettop(L));
  lua_pushnil(L);
  lua_setfield(L, environment, "io");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_clock);
  lua_setfield(L, environment, "os");
  lua_pushvalue(L, environment);
  lua_pushboolean(L, 1);
  lua_pushcclosure(L, mbl_load_text, 2);
  lua_setfield(L, environment, "load");
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->proxies);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->own);
  lua_pushcclosure(L, scope_getmetatable, 2);
  lua_setfield(L, environment, "getmetatable");
  if (S->preset == MBLPresetCompat) {
    push_package_stub(L);
    lua_setfield(L, environment, "package");
    copy_library(L, environment, environment, "os");
    copy_library(L, environment, environment, "debug");
    lua_getfield(L, environment, "debug");
    lua_getfield(L, environment, "getmetatable");
    lua_setfield(L, -2, "getmetatable");
    lua_settop(L, environment);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  mbl_bind_function(L, lua_gettop(L), environment, "require");
  lua_settop(L, environment);
  return 1;
}

MBLStatus mbl_scope_new(MBLState *S, int32_t proxies, int32_t own) {
  ScopeRequest request = {proxies, own};
  return mbl_protect(S, scope_body, &request, 1);
}

MBLStatus mbl_environment_new(MBLState *S) { return mbl_protect(S, environment_body, NULL, 1); }

MBLStatus mbl_globals(MBLState *S) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return MBLStatusStack;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  return MBLStatusOK;
}
