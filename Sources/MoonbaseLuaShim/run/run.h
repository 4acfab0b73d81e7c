#ifndef MOONBASE_LUA_RUN_H
#define MOONBASE_LUA_RUN_H

#include "MBLRun.h"
#include "library/library.h"

// States, runs, and the host's calls in them.

// The message handler of the host's calls. Records the traceback.
int mbl_handler(lua_State *L);
void mbl_trace_capture(MBLState *S, lua_State *L, int32_t level);

// A call whose arguments can be pushed only within it, because memory may be exhausted.
typedef struct MBLCallRequest {
  int32_t function;
  const MBLValue *arguments;
  int32_t count;
} MBLCallRequest;

// Calls the function of a request, its only argument.
int mbl_call_body(lua_State *L);

// Pushes a plain value.
static inline void mbl_push_scalar(lua_State *L, const MBLValue *value) {
  if (value->tag == MBLTagInteger) {
    lua_pushinteger(L, value->integer);
  } else if (value->tag == MBLTagNumber) {
    lua_pushnumber(L, value->number);
  } else if (value->tag == MBLTagBoolean) {
    lua_pushboolean(L, value->integer != 0);
  } else if (value->tag == MBLTagNull) {
    lua_pushlightuserdata(L, (void *)&mbl_key_null);
  } else {
    lua_pushnil(L);
  }
}

#endif
