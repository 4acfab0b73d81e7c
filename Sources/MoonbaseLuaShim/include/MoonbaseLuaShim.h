#ifndef MOONBASE_LUA_SHIM_H
#define MOONBASE_LUA_SHIM_H

// Everything that Swift calls: a header for each room of the shim. No function here raises a Lua error over its caller: whatever
// can raise runs in C under lua_pcall and answers with a status. Lua's own headers are not included, so that Swift cannot see them.

#include "MBLHost.h"
#include "MBLLibrary.h"
#include "MBLLimits.h"
#include "MBLRun.h"
#include "MBLTypes.h"

#endif
