#include "library/library.h"

// The globals of scripts.

// Pushes what third-party modules expect to find as `package`.
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

// Replaces a frozen library by a table of the script's own with the same functions.
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

// The globals of one script: a copy of the base, so that reading a global costs one look and writing one changes no other script.
static int environment_body(lua_State *L) {
  MBLState *S = mbl_of(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  if (!mbl_sandboxed(S)) return 1;
  int base = lua_gettop(L);
  lua_createtable(L, 0, 48);
  int environment = base + 1;
  for (lua_pushnil(L); lua_next(L, base);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, environment);
  }
  lua_pushvalue(L, environment);
  lua_setfield(L, environment, "_G");
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

MBLStatus mbl_environment_new(MBLState *S) { return mbl_protect(S, environment_body, NULL, 1); }

MBLStatus mbl_globals(MBLState *S) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return MBLStatusStack;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  return MBLStatusOK;
}
