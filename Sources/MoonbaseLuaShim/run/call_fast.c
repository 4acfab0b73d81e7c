#include <string.h>

#include "run/run.h"

// A version of mbl_call for scalars, strings and a single result, with minimal work around lua_pcall.

// Pops a scalar. Any other result stays on the stack until it was read.
static inline MBLFastResult take_result(lua_State *L, int base) {
  MBLFastResult result = {0, -1, MBLTagNil, MBLStatusOK};
  if (lua_isinteger(L, -1)) {
    result.tag = MBLTagInteger;
    result.word = lua_tointegerx(L, -1, NULL);
  } else {
    MBLValue value;
    mbl_get(L, -1, &value);
    result.tag = (uint16_t)value.tag;
    if (value.tag > MBLTagNumber) {
      result.top = base;
      lua_copy(L, -1, -2);  // into the handler's slot
      lua_settop(L, -2);
      return result;
    }
    if (value.tag != MBLTagNil) memcpy(&result.word, &value.integer, sizeof result.word);
  }
  lua_settop(L, -3);
  return result;
}

// Several results all stay on the stack until they were read.
static MBLFastResult take_first(lua_State *L, int base) {
  MBLFastResult result = {0, base, MBLTagNil, MBLStatusOK};
  MBLValue value;
  lua_rotate(L, base + 1, -1);  // removes the handler
  lua_settop(L, -2);
  mbl_get(L, base + 1, &value);
  result.tag = (uint16_t)value.tag;
  if (value.tag != MBLTagNil && value.tag <= MBLTagNumber) memcpy(&result.word, &value.integer, sizeof result.word);
  return result;
}

static MBLFastResult take_none(lua_State *L, int base) {
  lua_settop(L, base);
  return (MBLFastResult){MBLNoResult, -1, MBLTagNil, MBLStatusOK};
}

MBLFastResult mbl_fast_call(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count) {
  if (S->run.depth == 0) return (MBLFastResult){0, -1, MBLTagNil, MBLStatusIdle};
  lua_State *L = S->running;
  int base = lua_gettop(L);
  // Lua guarantees LUA_MINSTACK free slots above the arguments of a call.
  if (base + count + 4 > LUA_MINSTACK && !lua_checkstack(L, count + 8)) {
    return (MBLFastResult){0, base, MBLTagNil, MBLStatusStack};
  }
  bool allocates = false;
  for (int32_t i = 0; i < count; i++) allocates |= !mbl_is_plain(&arguments[i]);
  MBLCallRequest request = {function, arguments, count};
  lua_pushcfunction(L, mbl_handler);
  if (allocates) {
    lua_pushcfunction(L, mbl_call_body);
    lua_pushlightuserdata(L, &request);
    count = 1;
  } else {
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int32_t i = 0; i < count; i++) mbl_push_scalar(L, &arguments[i]);
  }
  MBLStatus status = mbl_call_lua(S, L, count, LUA_MULTRET, -count - 2);
  if (status == MBLStatusOK) {
    int results = lua_gettop(L) - base - 1;
    if (results == 1) return take_result(L, base);
    return results > 1 ? take_first(L, base) : take_none(L, base);
  }
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  return (MBLFastResult){0, base, MBLTagNil, (int16_t)status};
}
