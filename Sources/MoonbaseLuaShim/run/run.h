#ifndef MOONBASE_LUA_RUN_H
#define MOONBASE_LUA_RUN_H

#include "MBLRun.h"
#include "library/library.h"

// States, runs, and what the host has Lua do in them.

// The message handler of the host's calls: keeps the traceback.
int mbl_handler(lua_State *L);
void mbl_trace_capture(MBLState *S, lua_State *L, int32_t level);
bool mbl_is_call_body(lua_CFunction function);

#endif
