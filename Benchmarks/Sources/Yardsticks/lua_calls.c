#include "yardsticks.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

static int64_t failed(lua_State *state) {
  fprintf(stderr, "yardstick: %s\n", lua_tostring(state, -1));
  lua_close(state);
  return -1;
}

/* Calls the loaded script with what was pushed above it, and gives its one integer. */
static int64_t result(lua_State *state, int arguments) {
  if (lua_pcall(state, arguments, 1, 0)) return failed(state);
  int64_t answer = lua_tointeger(state, -1);
  lua_close(state);
  return answer;
}

static int host_function(lua_State *state) {
  lua_pushinteger(state, luaL_checkinteger(state, 1) + 1);
  return 1;
}

int64_t yardstick_lua_calls_host(const char *script, int64_t count) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  if (luaL_loadstring(state, script)) return failed(state);
  lua_pushcfunction(state, host_function);
  lua_pushinteger(state, count);
  return result(state, 2);
}

static const char type_key = 0;

/* A getter that checks its object by the pointer of the metatable, and finds the field by its name. */
static int property(lua_State *state) {
  const int64_t *object = lua_touserdata(state, 1);
  if (object == NULL || !lua_getmetatable(state, 1)) return luaL_error(state, "not an object");
  lua_rawgetp(state, LUA_REGISTRYINDEX, &type_key);
  if (!lua_rawequal(state, -1, -2)) return luaL_error(state, "not an object");
  if (strcmp(luaL_checkstring(state, 2), "age") != 0) return luaL_error(state, "no such field");
  lua_pushinteger(state, *object);
  return 1;
}

int64_t yardstick_lua_reads_property(const char *script, int64_t count) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  if (luaL_loadstring(state, script)) return failed(state);
  *(int64_t *)lua_newuserdatauv(state, sizeof(int64_t), 0) = 7;
  lua_newtable(state);
  lua_pushcfunction(state, property);
  lua_setfield(state, -2, "__index");
  lua_pushvalue(state, -1);
  lua_rawsetp(state, LUA_REGISTRYINDEX, &type_key);
  lua_setmetatable(state, -2);
  lua_pushinteger(state, count);
  return result(state, 2);
}

static int add_traceback(lua_State *state) {
  luaL_traceback(state, state, lua_tostring(state, 1), 1);
  return 1;
}

/* What a host that calls functions of scripts cannot leave out, whatever its language: it keeps the function by reference, since
   it has many and calls them from anywhere; makes sure of the stack; has a message handler, as lua.c does, for a traceback
   cannot be had later; and looks whether the result is a number. */
static int call_script(lua_State *state, int function, int64_t first, int64_t second, int64_t *answer) {
  int base = lua_gettop(state), isNumber = 0;
  if (!lua_checkstack(state, 4)) return LUA_ERRMEM;
  lua_pushcfunction(state, add_traceback);
  lua_rawgeti(state, LUA_REGISTRYINDEX, function);
  lua_pushinteger(state, first);
  lua_pushinteger(state, second);
  int status = lua_pcall(state, 2, 1, base + 1);
  if (status != LUA_OK) return status;
  *answer = lua_tointegerx(state, -1, &isNumber);
  lua_settop(state, base);
  return isNumber ? LUA_OK : LUA_ERRRUN;
}

int64_t yardstick_host_calls_lua(const char *script, int64_t count) {
  lua_State *state = luaL_newstate();
  int64_t sum = 0;
  luaL_openlibs(state);
  if (luaL_loadstring(state, script) || lua_pcall(state, 0, 1, 0)) return failed(state);
  int function = luaL_ref(state, LUA_REGISTRYINDEX);
  for (int64_t i = 0; i < count; i++) {
    int64_t answer;
    if (call_script(state, function, i, 2, &answer)) return failed(state);
    sum += answer;
  }
  lua_close(state);
  return sum;
}

static void bare_hook(lua_State *state, lua_Debug *activation) {
  (void)state;
  (void)activation;
}

int64_t yardstick_lua_runs(const char *script, int64_t count, int step) {
  lua_State *state = luaL_newstate();
  luaL_openlibs(state);
  if (luaL_loadstring(state, script)) return failed(state);
  if (step > 0) lua_sethook(state, bare_hook, LUA_MASKCOUNT, step);
  lua_pushinteger(state, count);
  return result(state, 1);
}

int64_t yardstick_new_states(int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    lua_State *state = luaL_newstate();
    if (state == NULL) return -1;
    luaL_openlibs(state);
    lua_close(state);
  }
  return count;
}
