#include <stdio.h>
#include <string.h>

#include "MoonbaseMeter.h"
#include "library/library.h"

// Replacements for functions of the base library and of `math` and `os`, and warnings.

int mbl_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  mbl_push_text(L, 1);
  return 1;
}

// From this number of bytes, writing a text is charged by its length.
#define LONG_TEXT 4096

int mbl_print(lua_State *L) {
  MBLState *S = mbl_of(L);
  int count = lua_gettop(L);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (int i = 1; i <= count; i++) {
    if (i > 1) luaL_addchar(&buffer, '\t');
    if (i % MBL_STRIDE == 0) mbl_charge(L, MBL_STRIDE);
    if (mbl_sandboxed(S)) {
      mbl_push_text(L, i);
    } else {
      luaL_tolstring(L, i, NULL);
    }
    size_t length = lua_rawlen(L, -1);
    if (length >= LONG_TEXT) mbl_charge(L, (int64_t)(length / 64));
    luaL_addvalue(&buffer);
  }
  luaL_addchar(&buffer, '\n');
  luaL_pushresult(&buffer);
  size_t length;
  const char *bytes = lua_tolstring(L, -1, &length);
  if (!S->closing) {
    S->host->output(S->owner, 1, bytes, length);
  } else if (S->library.plainOutput) {
    moonbase_stream_write(stdout, bytes, length);
  }
  if (S->run.abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  return 0;
}

int mbl_collectgarbage(lua_State *L) {
  static const char *const options[] = {"collect", "count", "step", "isrunning", "stop", "restart",
                                        "incremental", "generational", "setpause", "setstepmul", NULL};
  switch (luaL_checkoption(L, 1, "collect", options)) {
    case 1:
      lua_pushnumber(L, mbl_of(L)->preset == MBLPresetPure ? 0 : (lua_Number)mbl_of(L)->memory.used / 1024);
      return 1;
    case 2:
    case 3: lua_pushboolean(L, 1); return 1;
    case 6:
    case 7: lua_pushliteral(L, "incremental"); return 1;
    default: lua_pushinteger(L, 0); return 1;
  }
}

// The time to parse a numeral grows with its length.
int mbl_tonumber(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    lua_Unsigned length = lua_rawlen(L, 1);
    if (length > 64) mbl_charge(L, (int64_t)(length / 4));
  }
  return mbl_call_original(L);
}

int mbl_os_exit(lua_State *L) {
  MBLState *S = mbl_of(L);
  S->run.exitStatus = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? 0 : 1) : luaL_optinteger(L, 1, 0);
  mbl_end_run(S, MBLAbortExit);
  mbl_arm(S);
  return mbl_raise_abort(L);
}

// In Lua 5.4.4 math.randomseed returns the address of the state. The replacement returns nothing; without a seed it
// uses the count of allocations.
int mbl_randomseed(lua_State *L) {
  int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (count == 0) {
    MBLState *S = mbl_of(L);
    lua_pushinteger(L, (lua_Integer)S->memory.allocations * 0x2545F4914F6CDD1D + (S->preset == MBLPresetPure ? 0 : 0x9E37));
    count = 1;
  }
  lua_callk(L, count, 0, 0, NULL);
  return 0;
}

// MARK: Warnings

static void write_warning(MBLState *S, const char *text) { S->host->output(S->owner, 2, text, strlen(text)); }

// As in Lua's interpreter, warnings are off initially; "@on" and "@off" switch them.
void mbl_warn(void *state, const char *text, int more) {
  MBLState *S = state;
  if (S->closing) return;
  if (!S->library.warningContinues && !more && text[0] == '@') {
    if (strcmp(text, "@on") == 0) S->library.warns = true;
    if (strcmp(text, "@off") == 0) S->library.warns = false;
    return;
  }
  if (S->library.warns) {
    if (!S->library.warningContinues) write_warning(S, "Lua warning: ");
    write_warning(S, text);
    if (!more) write_warning(S, "\n");
  }
  S->library.warningContinues = more != 0;
}
