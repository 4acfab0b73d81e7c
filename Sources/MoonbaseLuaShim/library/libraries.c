#include "library/library.h"

// Opens the libraries of a preset.

const char mbl_key_base = 0;
const char mbl_key_clock = 0;
static const char key_sandbox = 0;

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

// Each letter of a format may expand to a line of text.
#define LONGEST_DATE_FORMAT (1 << 14)

static int os_date(lua_State *L) {
  size_t length = 0;
  luaL_optlstring(L, 1, "", &length);
  luaL_argcheck(L, length <= LONGEST_DATE_FORMAT, 1, "the format is too long");
  return mbl_call_original(L);
}

static int open_os(lua_State *L) {
  static const char *const clock[] = {"clock", "date", "difftime", "time", NULL};
  luaopen_os(L);
  int all = lua_gettop(L);
  lua_createtable(L, 0, 6);
  int table = lua_gettop(L);
  copy_fields(L, all, table, clock);
  mbl_cover(L, (const luaL_Reg[]){{"date", os_date}, {NULL, NULL}});
  set_function(L, table, "exit", mbl_os_exit);
  set_function(L, table, "getenv", stub_nil);
  return 1;
}

// The wrapped original functions of Lua are called from C. Messages find their names in this table.
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

// Lua's safe base functions, and replacements for the others.
static void open_base(lua_State *L, int base) {
  static const char *const plain[] = {"assert", "error", "getmetatable", "ipairs", "pairs", "rawequal",
                                      "select", "tonumber", "type", "warn", "_VERSION", NULL};
  static const luaL_Reg covered[] = {{"tonumber", mbl_tonumber}, {NULL, NULL}};
  static const luaL_Reg ours[] = {{"pcall", mbl_pcall}, {"xpcall", mbl_xpcall}, {"rawget", mbl_rawget},
                                  {"rawlen", mbl_rawlen}, {"rawset", mbl_rawset}, {"setmetatable", mbl_setmetatable},
                                  {"tostring", mbl_tostring}, {"print", mbl_print},
                                  {"collectgarbage", mbl_collectgarbage}, {NULL, NULL}};
  lua_pushcfunction(L, luaopen_base);
  lua_callk(L, 0, 1, 0, NULL);
  copy_fields(L, lua_gettop(L), base, plain);
  lua_settop(L, base);
  mbl_cover(L, covered);
  luaL_setfuncs(L, ours, 0);
}

// `next` in every sandbox, and `pairs` in preset `pure`, both with ordered walks there.
static void open_walks(lua_State *L, int base, bool isOrdered) {
  if (isOrdered) {
    lua_getfield(L, base, "pairs");
    lua_pushcclosure(L, mbl_ordered_pairs, 1);
    lua_setfield(L, base, "pairs");
  }
  lua_createtable(L, 3, 0);
  lua_pushboolean(L, isOrdered);
  lua_pushcclosure(L, mbl_next, 2);
  lua_setfield(L, base, "next");
}

// All scripts share the metatable of strings, so none may access it.
static void lock_strings(lua_State *L) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_settop(L, -3);
}

// Fills a table with the functions and libraries of a sandbox. Stores the clock of `os` for scopes, before functions
// for files are added.
static void fill_sandbox(lua_State *L, int base, bool isPure) {
  static const luaL_Reg libraries[] = {{"string", open_string}, {"table", open_table}, {"math", open_math},
                                       {"utf8", mbl_open_utf8}, {"coroutine", mbl_open_coroutine},
                                       {"debug", mbl_open_debug}, {NULL, NULL}};
  open_base(L, base);
  for (const luaL_Reg *library = libraries; library->name != NULL; library++) {
    open_library(L, library->name, library->func, true, base);
  }
  if (!isPure) open_library(L, "os", open_os, true, base);
  open_walks(L, base, isPure);
  lua_getfield(L, base, "os");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_clock);
}

static void open_sandbox(lua_State *L) {
  // Must come first: opening the string library sets the methods of all strings, and the last one opened must be ours.
  name_originals(L);
  lua_createtable(L, 0, 40);
  fill_sandbox(L, lua_gettop(L), mbl_of(L)->preset == MBLPresetPure);
  lock_strings(L);
  // No script accesses the real globals; they are empty.
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

// In preset `trusted` a sandbox is made for the first scope. Making it replaces the globals and the metatable of
// strings, so both are restored afterwards.
static void make_sandbox(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  int globals = lua_gettop(L);
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_createtable(L, 0, 0);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_createtable(L, 0, 40);
  fill_sandbox(L, lua_gettop(L), false);
  lua_insert(L, globals);
  // Below it are the globals, a string and its metatable.
  lua_setmetatable(L, globals + 2);
  lua_pushvalue(L, globals + 1);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_settop(L, globals);
}

void mbl_push_sandbox(lua_State *L) {
  if (mbl_sandboxed(mbl_of(L))) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  } else if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_sandbox) != LUA_TTABLE) {
    lua_settop(L, -2);
    make_sandbox(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_sandbox);
  }
}

void mbl_open_libraries(lua_State *L) {
  if (mbl_sandboxed(mbl_of(L))) {
    open_sandbox(L);
  } else {
    open_trusted(L);
  }
}
