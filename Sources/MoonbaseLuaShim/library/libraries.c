#include "library/library.h"

// Opens the libraries that a preset has.

const char mbl_key_base = 0;

static void copy_fields(lua_State *L, int from, int to, const char *const *names) {
  for (; *names != NULL; names++) {
    lua_getfield(L, from, *names);
    lua_setfield(L, to, *names);
  }
}

static void set_function(lua_State *L, int table, const char *name, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, table, name);
}

static void open_library(lua_State *L, const char *name, lua_CFunction open, bool frozen, int base) {
  lua_pushcfunction(L, open);
  lua_pushstring(L, name);
  lua_callk(L, 1, 1, 0, NULL);
  if (frozen) mbl_freeze_top(L);
  lua_setfield(L, base, name);
}

void mbl_cover(lua_State *L, const luaL_Reg *entries) {
  for (; entries->name != NULL; entries++) {
    lua_getfield(L, -1, entries->name);
    lua_pushcclosure(L, entries->func, 1);
    lua_setfield(L, -2, entries->name);
  }
}

static int open_math(lua_State *L) {
  luaopen_math(L);
  lua_getfield(L, -1, "randomseed");
  if (mbl_of(L)->preset == MBLPresetPure) {
    lua_pushvalue(L, -1);
    lua_pushinteger(L, 1);
    lua_callk(L, 1, 0, 0, NULL);
  }
  lua_pushcclosure(L, mbl_randomseed, 1);
  lua_setfield(L, -2, "randomseed");
  return 1;
}

static int open_string(lua_State *L) {
  luaopen_string(L);
  mbl_open_strings(L);
  return 1;
}

static int open_table(lua_State *L) {
  luaopen_table(L);
  mbl_open_tables(L);
  return 1;
}

static int stub_nil(lua_State *L) {
  (void)L;
  return 0;
}

static int open_os(lua_State *L) {
  static const char *const clock[] = {"clock", "date", "difftime", "time", NULL};
  MBLState *S = mbl_of(L);
  luaopen_os(L);
  int all = lua_gettop(L);
  if (!mbl_sandboxed(S)) {
    set_function(L, all, "exit", mbl_os_exit);
    return 1;
  }
  lua_createtable(L, 0, 6);
  int table = lua_gettop(L);
  copy_fields(L, all, table, clock);
  set_function(L, table, "exit", mbl_os_exit);
  set_function(L, table, "getenv", stub_nil);
  return 1;
}

// Lua's own functions below ours are called from C. Messages find the names of such functions in this table.
static void name_originals(lua_State *L) {
  static const struct {
    const char *name;
    lua_CFunction open;
  } libraries[] = {{"string", luaopen_string}, {"table", luaopen_table}};
  int top = lua_gettop(L);
  lua_createtable(L, 0, 2);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushcfunction(L, libraries[i].open);
    lua_callk(L, 0, 1, 0, NULL);
    lua_setfield(L, top + 1, libraries[i].name);
    lua_settop(L, top + 1);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
}

static void open_sandbox(lua_State *L) {
  MBLState *S = mbl_of(L);
  static const char *const plain[] = {"assert", "error", "getmetatable", "ipairs", "pairs", "rawequal",
                                      "select", "tonumber", "type", "warn", "_VERSION", NULL};
  // This comes first: opening the string library sets the methods of all strings, and the last one opened must be ours.
  name_originals(L);
  lua_createtable(L, 0, 40);
  int base = lua_gettop(L);
  lua_pushcfunction(L, luaopen_base);
  lua_callk(L, 0, 1, 0, NULL);
  copy_fields(L, lua_gettop(L), base, plain);
  lua_settop(L, base);
  static const luaL_Reg covered[] = {{"tonumber", mbl_tonumber}, {NULL, NULL}};
  mbl_cover(L, covered);
  set_function(L, base, "pcall", mbl_pcall);
  set_function(L, base, "xpcall", mbl_xpcall);
  set_function(L, base, "rawget", mbl_rawget);
  set_function(L, base, "rawlen", mbl_rawlen);
  set_function(L, base, "rawset", mbl_rawset);
  set_function(L, base, "setmetatable", mbl_setmetatable);
  set_function(L, base, "tostring", mbl_tostring);
  set_function(L, base, "print", mbl_print);
  set_function(L, base, "collectgarbage", mbl_collectgarbage);
  open_library(L, "string", open_string, true, base);
  open_library(L, "table", open_table, true, base);
  open_library(L, "math", open_math, true, base);
  open_library(L, "utf8", mbl_open_utf8, true, base);
  open_library(L, "coroutine", mbl_open_coroutine, true, base);
  if (S->preset == MBLPresetPure) {
    lua_getfield(L, base, "pairs");
    lua_pushcclosure(L, mbl_ordered_pairs, 1);
    lua_setfield(L, base, "pairs");
  }
  lua_createtable(L, 3, 0);
  lua_pushboolean(L, S->preset == MBLPresetPure);
  lua_pushcclosure(L, mbl_next, 2);
  lua_setfield(L, base, "next");
  if (S->preset != MBLPresetPure) open_library(L, "os", open_os, true, base);
  open_library(L, "debug", mbl_open_debug, true, base);
  // The metatable of strings is shared by all scripts.
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_settop(L, base);
  // No script reaches the real globals; they hold nothing.
  lua_createtable(L, 0, 0);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
}

static void open_trusted(lua_State *L) {
  luaL_openlibs(L);
  lua_pushglobaltable(L);
  int base = lua_gettop(L);
  set_function(L, base, "pcall", mbl_pcall);
  set_function(L, base, "xpcall", mbl_xpcall);
  set_function(L, base, "print", mbl_print);
  open_library(L, "coroutine", mbl_open_coroutine, false, base);
  lua_getfield(L, base, "package");
  lua_getfield(L, -1, "loaded");
  lua_getfield(L, base, "coroutine");
  lua_setfield(L, -2, "coroutine");
  lua_settop(L, base);
  lua_getfield(L, base, "os");
  set_function(L, lua_gettop(L), "exit", mbl_os_exit);
  lua_settop(L, base);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
}

void mbl_open_libraries(lua_State *L) {
  if (mbl_sandboxed(mbl_of(L))) {
    open_sandbox(L);
  } else {
    open_trusted(L);
  }
}
