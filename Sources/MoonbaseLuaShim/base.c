#include <stdlib.h>
#include <string.h>

#include "internal.h"

// MARK: Text of a value

// Tables, functions and their like are numbered by first appearance: an address would help an attacker and make two runs differ.
static int64_t identity(lua_State *L, int index) {
  MBLState *S = mbl_of(L);
  index = lua_absindex(L, index);
  if (lua_type(L, index) == LUA_TLIGHTUSERDATA) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_identities);
  lua_pushvalue(L, index);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_settop(L, -2);
    lua_pushvalue(L, index);
    lua_pushinteger(L, ++S->nextIdentity);
    lua_rawset(L, -3);
    lua_settop(L, -2);
    return S->nextIdentity;
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

int mbl_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  mbl_push_text(L, 1);
  return 1;
}

// MARK: Protected calls that let the end of a run pass

static int finish_pcall(lua_State *L, int status, lua_KContext extra) {
  if (status != LUA_OK && status != LUA_YIELD) {
    MBLState *S = mbl_of(L);
    if (S->abort) {
      mbl_arm(S);
      return mbl_raise_abort(L);
    }
    lua_pushboolean(L, 0);
    lua_pushvalue(L, -2);
    return 2;
  }
  return lua_gettop(L) - (int)extra;
}

static int base_pcall(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  return finish_pcall(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_pcall), 0);
}

// An error raised by the hook reaches the handler while hooks are off: a script's handler could run for ever there.
static int guarded_handler(lua_State *L) {
  if (mbl_of(L)->abort) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, 1, 0, NULL);
  return 1;
}

static int base_xpcall(lua_State *L) {
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

// MARK: Tables

bool mbl_is_frozen(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) return false;
  bool frozen = lua_rawgetp(L, -1, &mbl_key_frozen) == LUA_TTABLE;
  lua_settop(L, -3);
  return frozen;
}

static int frozen_write(lua_State *L) { return luaL_error(L, "attempt to change a frozen table"); }

static int frozen_next(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_replace(L, 1);
  if (lua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

static int frozen_pairs(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, frozen_next, 1);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

static int frozen_length(lua_State *L) {
  lua_pushinteger(L, luaL_len(L, lua_upvalueindex(1)));
  return 1;
}

// Replaces the table on the top by a proxy that reads it and refuses every change.
int mbl_freeze_top(lua_State *L) {
  int table = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, table);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, frozen_write);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, table);
  lua_pushcclosure(L, frozen_pairs, 1);
  lua_setfield(L, -2, "__pairs");
  lua_pushvalue(L, table);
  lua_pushcclosure(L, frozen_length, 1);
  lua_setfield(L, -2, "__len");
  lua_pushvalue(L, table);
  lua_rawsetp(L, -2, &mbl_key_frozen);
  // A callable module stays callable.
  if (luaL_getmetafield(L, table, "__call") != LUA_TNIL) lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  lua_replace(L, table);
  return 1;
}

static int base_rawset(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  luaL_checkany(L, 3);
  lua_settop(L, 3);
  if (mbl_is_frozen(L, 1)) return frozen_write(L);
  lua_rawset(L, 1);
  return 1;
}

// Finalizers run with hooks off, at any time: sandboxed scripts have none.
static int base_setmetatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) return luaL_error(L, "cannot change a protected metatable");
  if (type == LUA_TTABLE) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "'__gc' is not available in a sandbox");
  }
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

// MARK: Loading

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

// load(chunk [, name [, mode [, environment]]]); the environment of the script is an upvalue, so that no other is reached.
static int base_load(lua_State *L) {
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
  const char *name = luaL_optstring(L, 2, lua_type(L, 1) == LUA_TSTRING ? bytes : "=(load)");
  const char *mode = luaL_optstring(L, 3, "bt");
  if (mbl_sandboxed(S)) {
    if (strchr(mode, 't') == NULL) {
      lua_pushnil(L);
      lua_pushliteral(L, "attempt to load a binary chunk (only text is allowed)");
      return 2;
    }
    mode = "t";
  }
  if (luaL_loadbufferx(L, bytes, length, name, mode) != LUA_OK) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  lua_pushvalue(L, hasEnvironment ? 4 : lua_upvalueindex(1));
  if (lua_setupvalue(L, -2, 1) == NULL) lua_settop(L, -2);
  return 1;
}

// MARK: The rest

static int base_print(lua_State *L) {
  MBLState *S = mbl_of(L);
  int count = lua_gettop(L);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (int i = 1; i <= count; i++) {
    if (i > 1) luaL_addchar(&buffer, '\t');
    mbl_push_text(L, i);
    luaL_addvalue(&buffer);
  }
  luaL_addchar(&buffer, '\n');
  luaL_pushresult(&buffer);
  size_t length;
  const char *bytes = lua_tolstring(L, -1, &length);
  if (!S->closing) S->host->output(S->owner, 1, bytes, length);
  if (S->abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  return 0;
}

static int base_collectgarbage(lua_State *L) {
  static const char *const options[] = {"collect", "count", "step", "isrunning", "stop", "restart",
                                        "incremental", "generational", "setpause", "setstepmul", NULL};
  switch (luaL_checkoption(L, 1, "collect", options)) {
    case 1:
      lua_pushnumber(L, mbl_of(L)->preset == MBLPresetPure ? 0 : (lua_Number)mbl_of(L)->used / 1024);
      return 1;
    case 2:
    case 3: lua_pushboolean(L, 1); return 1;
    case 6:
    case 7: lua_pushliteral(L, "incremental"); return 1;
    default: lua_pushinteger(L, 0); return 1;
  }
}

static int os_exit(lua_State *L) {
  MBLState *S = mbl_of(L);
  S->exitStatus = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? 0 : 1) : luaL_optinteger(L, 1, 0);
  S->abort = MBLAbortExit;
  mbl_arm(S);
  return mbl_raise_abort(L);
}

// math.randomseed gives the address of the state on 5.4.4: seeds are taken, never given or invented.
static int math_randomseed(lua_State *L) {
  int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (count == 0) {
    MBLState *S = mbl_of(L);
    lua_pushinteger(L, (lua_Integer)S->allocations * 0x2545F4914F6CDD1D + (S->preset == MBLPresetPure ? 0 : 0x9E37));
    count = 1;
  }
  lua_callk(L, count, 0, 0, NULL);
  return 0;
}

// MARK: Opening

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

static int open_math(lua_State *L) {
  luaopen_math(L);
  lua_getfield(L, -1, "randomseed");
  if (mbl_of(L)->preset == MBLPresetPure) {
    lua_pushvalue(L, -1);
    lua_pushinteger(L, 1);
    lua_callk(L, 1, 0, 0, NULL);
  }
  lua_pushcclosure(L, math_randomseed, 1);
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
    set_function(L, all, "exit", os_exit);
    return 1;
  }
  lua_createtable(L, 0, 6);
  int table = lua_gettop(L);
  copy_fields(L, all, table, clock);
  set_function(L, table, "exit", os_exit);
  set_function(L, table, "getenv", stub_nil);
  return 1;
}

static int open_package_stub(lua_State *L) {
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
  return 1;
}

static int open_debug_stub(lua_State *L) {
  lua_createtable(L, 0, 1);
  return 1;
}

// Lua's own functions under ours are called from C, where messages find their names in this table.
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
  static const char *const plain[] = {"assert", "error", "getmetatable", "ipairs", "next", "pairs", "rawequal", "rawget",
                                      "rawlen", "select", "tonumber", "type", "_VERSION", NULL};
  // First, since opening the string library gives all strings their methods: the last one opened must be ours.
  name_originals(L);
  lua_createtable(L, 0, 40);
  int base = lua_gettop(L);
  lua_pushcfunction(L, luaopen_base);
  lua_callk(L, 0, 1, 0, NULL);
  copy_fields(L, lua_gettop(L), base, plain);
  lua_settop(L, base);
  set_function(L, base, "pcall", base_pcall);
  set_function(L, base, "xpcall", base_xpcall);
  set_function(L, base, "rawset", base_rawset);
  set_function(L, base, "setmetatable", base_setmetatable);
  set_function(L, base, "tostring", mbl_tostring);
  set_function(L, base, "print", base_print);
  set_function(L, base, "collectgarbage", base_collectgarbage);
  open_library(L, "string", open_string, true, base);
  open_library(L, "table", open_table, true, base);
  open_library(L, "math", open_math, true, base);
  open_library(L, "utf8", luaopen_utf8, true, base);
  open_library(L, "coroutine", mbl_open_coroutine, true, base);
  if (S->preset != MBLPresetPure) open_library(L, "os", open_os, true, base);
  if (S->preset == MBLPresetCompat) {
    open_library(L, "package", open_package_stub, false, base);
    open_library(L, "debug", open_debug_stub, false, base);
  }
  // The metatable of strings is shared by all scripts.
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_settop(L, base);
  // Nobody reaches the real globals; they hold nothing.
  lua_createtable(L, 0, 0);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
}

static void open_trusted(lua_State *L) {
  luaL_openlibs(L);
  lua_pushglobaltable(L);
  int base = lua_gettop(L);
  set_function(L, base, "pcall", base_pcall);
  set_function(L, base, "xpcall", base_xpcall);
  set_function(L, base, "print", base_print);
  open_library(L, "coroutine", mbl_open_coroutine, false, base);
  lua_getfield(L, base, "package");
  lua_getfield(L, -1, "loaded");
  lua_getfield(L, base, "coroutine");
  lua_setfield(L, -2, "coroutine");
  lua_settop(L, base);
  lua_getfield(L, base, "os");
  set_function(L, lua_gettop(L), "exit", os_exit);
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

// MARK: Environments

// The globals of one script: a copy of the base, so that reading a global costs one look and writing one touches nobody.
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
  lua_pushcclosure(L, base_load, 1);
  lua_setfield(L, environment, "load");
  return 1;
}

MBLStatus mbl_environment_new(MBLState *S) { return mbl_protect(S, environment_body, NULL, 1); }

MBLStatus mbl_globals(MBLState *S) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return MBLStatusStack;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_base);
  return MBLStatusOK;
}
